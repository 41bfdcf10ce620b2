"""The run sheets: which lessons a class takes in 20, 50 or 90 minutes, and what the lecturer does in each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from pages.lessons.catalogue import LESSONS
from pages.lessons.lesson import Lesson, Screen, content
from privcov.core import paths


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

    def end_screen(self) -> Screen:
        """Return what the screen shows at the end of the step."""
        return content(self.lesson, self.lesson.control.start if self.value is None else self.value)


# What the lecturer does in a lesson, and where the control then stands.
_DO = {
    1: ("Draw a few: the ratio never exceeds e^epsilon. Move epsilon to 0.1, to 5, then to 2; ask.", 2.0),
    2: ("Ask first. Then double R and compare the proved bounds.", 2.0),
    3: ("Ask first. Then move n right until the lines have crossed.", 50_000),
    4: ("Move d right and compare the two errors; then ask.", 120),
    5: ("Move R far left, then to the least error; then ask.", 1.189207),
    6: ("Raise the cut step by step to the least error.", 2.5),
    7: ("Move rho to the left until eigenvalues fall far below zero.", 0.002),
    8: ("Draw a few: privacy noise makes most links. Then take the smallest penalty: sampling does too; ask.", 10),
    9: ("Ask first. Then move to 100 runs; read epsilon and the attacker's chance.", 100),
    10: ("Five rounds by show of hands; then the optimal attacker plays a hundred.", None),
}
_MINUTES = {
    20: {1: 4, 3: 5, 9: 5, 10: 6},
    50: {1: 5, 2: 6, 3: 6, 5: 7, 6: 6, 7: 6, 9: 6, 10: 8},
    90: dict.fromkeys(_DO, 9),
}
SHEETS = {
    length: tuple(Step(number, minutes, *_DO[number]) for number, minutes in steps.items())
    for length, steps in _MINUTES.items()
}


def link(base: str, number: int, value: Any = None) -> str:
    """Return the whole address of a lesson, at a value of its control, on the workbench or the files at ``base``."""
    control, as_file = LESSONS[number].control, base == os.environ.get(paths.LESSONS)
    query = {"lesson": str(number)} if number != 1 and not as_file else {}
    if value is not None and value != control.start:
        query["lever"] = str(value)
    page = f"lesson-{number}.html" if as_file else "Lessons"
    return f"{base.rstrip('/')}/{page}" + (f"?{urlencode(query)}" if query else "")


def is_local(address: str) -> bool:
    """Return whether an address opens on this machine alone."""
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1", "", None)


def title(number: int) -> str:
    """Return the title of a lesson with its number."""
    return f"{number}. {LESSONS[number].title}"
