"""What a lesson is: one aim, one lever, one question with reasons, one sentence to remember, one way on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pages.shell.study import Study
from privcov.data_sources.base import SOURCES
from privcov.figures.look import plain


@dataclass(frozen=True)
class Lever:
    """The one thing to move. options: ascending or in teaching order; left, right: words at the two ends."""

    label: str
    options: tuple
    start: Any
    left: str
    right: str
    shown: Callable[[Any], str] = plain
    help: str = ""

    def read(self, text: str) -> Any | None:
        """The option that an address names, or None."""
        return next((option for option in self.options if str(option) == text), None)


@dataclass(frozen=True)
class Choice:
    """One answer of a question, and what is said to whoever picks it."""

    text: str
    reason: str
    right: bool = False


@dataclass(frozen=True)
class Lesson:
    """onward: (page file, what is there, the study at the lever's value)."""

    title: str
    aim: str
    lever: Lever
    question: str
    choices: tuple[Choice, ...]
    remember: str
    onward: tuple[str, str, Callable[[Any], Study]]


ESTIMATE, GRAPHS, SPECTRA = "pages/1_Estimate.py", "pages/3_Graph_recovery.py", "pages/4_Spectra.py"
METHODS, AUDIT = "pages/7_Methods.py", "pages/9_Privacy_audit.py"


def study(source: str, data: dict, rho: float, method: str, **more) -> Study:
    """A study of a source, with what differs from the source's own settings, under rho-zCDP."""
    usual = {spec.name: spec.default for spec in SOURCES.get(source).parameters}
    differ = tuple(sorted((name, value) for name, value in data.items() if value != usual[name]))
    return Study(source=source, data=differ, method=method, rho=rho, **more)


def count(value: Any) -> str:
    """A whole number with commas."""
    return f"{value:,}"
