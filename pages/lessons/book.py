"""The ten lessons, in order; a lesson's number is its place."""

from __future__ import annotations

import streamlit as st

from pages.lessons.entry import Lesson
from pages.lessons.first import FIRST
from pages.lessons.second import SECOND

BOOK: tuple[Lesson, ...] = (*FIRST, *SECOND)


def answers() -> dict[int, int]:
    """What this visitor picked last and had checked: place of the choice, by number of the lesson."""
    return st.session_state.setdefault("lesson_answers", {})


def answered(number: int) -> bool:
    """Whether the question of a lesson was answered rightly."""
    chosen = answers().get(number)
    return chosen is not None and BOOK[number - 1].choices[chosen].right
