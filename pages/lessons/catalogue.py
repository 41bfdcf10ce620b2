"""The lessons, in the order of the screen."""

from __future__ import annotations

from importlib import import_module

from pages.lessons.lesson import Lesson

# A lesson's number in links, and its file in this folder. The order of the rows is the order on the screen; a new
# lesson takes the next free number wherever it is put, so that saved links go on opening the same lessons.
FILES = {
    1: "epsilon",
    2: "sensitivity",
    3: "rows",
    4: "columns",
    5: "clipping",
    6: "thresholding",
    7: "shrinkage",
    8: "graphs",
    9: "reruns",
    10: "guess",
}
LESSONS: dict[int, Lesson] = {number: import_module(f"pages.lessons.{name}").LESSON for number, name in FILES.items()}
NUMBERS = list(LESSONS)


def place(number: int) -> int:
    """Return the position of a lesson on the screen, from 1."""
    return NUMBERS.index(number) + 1
