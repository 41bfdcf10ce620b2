"""The lessons by number: the files lesson_01_... of this folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pages.lessons.lesson import Lesson

# A lesson's number, in links and on the screen, is that of its file.
LESSONS: dict[int, Lesson] = {
    int(file.stem.split("_")[1]): import_module(f"pages.lessons.{file.stem}").LESSON
    for file in sorted(Path(__file__).parent.glob("lesson_[0-9][0-9]_*.py"))
}
NUMBERS = list(LESSONS)
