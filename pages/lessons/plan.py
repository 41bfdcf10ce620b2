"""The run sheets: which lessons a class takes in 20 or in 50 minutes, and what the lecturer does in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from pages.lessons.catalogue import LESSONS, place
from pages.lessons.lesson import Lesson, Screen, content


@dataclass(frozen=True)
class Step:
    """One lesson of a run sheet: number, minutes, what to do, and the value that the control then has, or None."""

    number: int
    minutes: int
    do: str
    value: Any = None

    @property
    def lesson(self) -> Lesson:
        """The lesson."""
        return LESSONS[self.number]

    def shown(self) -> Screen:
        """Return what the screen shows at the end of the step."""
        return content(self.lesson, self.lesson.control.start if self.value is None else self.value)


_NEIGHBOUR = "Move the new row to full length."
_ROWS = "Ask first. Then move n right until the lines have crossed."
_RERUNS = "Ask first. Then move to 100 runs; read epsilon and the attacker's chance."
_GUESS = "Five rounds by show of hands; then the optimal attacker plays a hundred."
SHEETS = {
    20: (Step(1, 4, _NEIGHBOUR, 1.0), Step(3, 5, _ROWS, 50_000), Step(9, 5, _RERUNS, 100), Step(10, 6, _GUESS)),
    50: (
        Step(1, 5, _NEIGHBOUR, 1.0),
        Step(2, 6, "Ask first. Then double R and compare the proved bounds.", 2.0),
        Step(3, 6, _ROWS, 50_000),
        Step(5, 7, "Move to the least error; then ask.", 1.189207),
        Step(6, 6, "Raise the cut step by step to the least error.", 2.5),
        Step(7, 6, "Move rho to the left until eigenvalues fall far below zero.", 0.002),
        Step(9, 6, _RERUNS, 100),
        Step(10, 8, _GUESS),
    ),
}


def link(base: str, number: int, value: Any = None) -> str:
    """Return the whole address of a lesson, at a value of its control, on the workbench at ``base``."""
    control = LESSONS[number].control
    query = {"lesson": str(number)} if number != 1 else {}
    if value is not None and value != control.start:
        query["lever"] = str(value)
    return f"{base.rstrip('/')}/Lessons" + (f"?{urlencode(query)}" if query else "")


def title(number: int) -> str:
    """Return the title of a lesson with its place on the screen."""
    return f"{place(number)}. {LESSONS[number].title}"
