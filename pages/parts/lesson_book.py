"""The ten lessons, in order; a lesson's number is its place."""

from __future__ import annotations

from pages.parts.lesson_entry import Lesson
from pages.parts.lesson_first import FIRST
from pages.parts.lesson_second import SECOND

BOOK: tuple[Lesson, ...] = (*FIRST, *SECOND)
