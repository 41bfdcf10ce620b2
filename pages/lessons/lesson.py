"""What a lesson is: an aim, a control, a picture, a question with reasons, a sentence to remember, a link onward.

A lesson is one file of this folder that ends in `LESSON`, and one row in `pages/lessons/catalogue.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from pages.common import frame, show
from pages.common.study import Study
from pages.lessons.simulated import multiple
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.plots.lessons import enlarged
from privcov.plots.look import Picture
from privcov.plots.palette import Palette
from privcov.plots.words import plain

LARGER = 1.3  # type of a picture in the lecture hall
ESTIMATE, GRAPHS, SPECTRA = "pages/1_Estimate.py", "pages/3_Graph_recovery.py", "pages/4_Spectra.py"
METHODS, AUDIT = "pages/7_Methods.py", "pages/9_Privacy_audit.py"
RHO_HELP = "The guarantee is rho-zCDP: the smaller rho, the smaller epsilon. Runs add up in rho, not in epsilon."

P = ParamSpec("P")
R = TypeVar("R")


def _same(option: Any) -> Any:
    return option


@dataclass(frozen=True)
class Control:
    """The control of a lesson, with ascending or teaching order of the options and words at the two ends.

    Where ``is_rho``, options are values of rho, so the class may choose epsilon (`pages.lessons.scale`). ``meaning``
    turns an option into the value that the lesson is drawn at.
    """

    label: str
    options: tuple
    start: Any
    left: str
    right: str
    shown: Callable[[Any], str] = plain
    help: str = ""
    is_rho: bool = False
    meaning: Callable[[Any], Any] = _same

    def read(self, text: str) -> Any | None:
        """Return the option that an address names, or None."""
        return next((option for option in self.options if str(option) == text), None)


@dataclass(frozen=True)
class Option:
    """One answer of a question, and the reason why it is right or wrong."""

    text: str
    reason: str
    right: bool = False


@dataclass(frozen=True)
class Screen:
    """The screen of a lesson: ``full`` in the lecture hall; ``answered``: whether this visitor's answer was right."""

    full: bool
    answered: bool = False

    @property
    def palette(self) -> Palette:
        """The colours of the visitor's theme."""
        return frame.palette()

    def tag(self, provenance: str, text: str) -> None:
        """Show where the numbers below come from."""
        show.tag(provenance, text)

    def side_by_side(self, pictures: Sequence[tuple[str, Picture, str]]) -> None:
        """Show (title, picture, key) side by side."""
        for side, (title, picture, key) in zip(st.columns(len(pictures)), pictures, strict=True):
            with side:
                st.markdown(f"**{title}**")
                self.put(picture, key)

    def put(self, picture: Picture, key: str) -> None:
        """Show a picture, larger in the lecture hall.

        ``key`` begins with the space that the picture takes: ``two-`` or ``three-`` for matrices in a row, ``tables-``,
        ``curve-`` below matrices, ``graph-``, or ``large-`` for a picture alone (the style in `pages/lessons/view.py`).
        """
        show.picture(sized(picture, self.full), f"lesson-{key}")


@dataclass(frozen=True)
class Lesson:
    """A lesson.

    ``draw`` shows the pictures at a value of the control and returns one sentence on them; ``beside`` is drawn in place
    of that sentence, ``printed`` in place of ``draw`` where there are no buttons. ``idea`` is a moving drawing
    (`pages.lessons.ideas`). ``onward`` is (page file, label of the link, the study at a value).
    """

    title: str
    aim: str
    control: Control
    draw: Callable[[Any, Screen], str]
    question: str
    choices: tuple[Option, ...]
    remember: str
    onward: tuple[str, str, Callable[[Any], Study]]
    beside: Callable[[Any, Screen], None] | None = None
    printed: Callable[[Any, Screen], str] | None = None
    idea: Callable[[Palette], str] | None = None


def computed(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return ``function(*args)``, computed once for all visitors; the function may not depend on the page."""
    return _computed(f"{function.__module__}.{function.__qualname__}", args, kwargs, function)


@st.cache_resource(max_entries=144, show_spinner="Computing ...")
def _computed(name: str, args: tuple, kwargs: dict, _function: Callable) -> Any:
    """Call the function, cached by its name and arguments."""
    return _function(*args, **kwargs)


def sized(picture: Picture, full: bool) -> Picture:
    """Return the picture, with larger type in the lecture hall."""
    return enlarged(picture, LARGER) if full else picture


def study(source: str, data: dict, rho: float, method: str, bound: float = 1.0, **more) -> Study:
    """Return a study of a lesson's rows, ``bound`` times their row bound, under rho-zCDP."""
    usual = {spec.name: spec.default for spec in SOURCES.get(source).parameters}
    differ = tuple(sorted((name, value) for name, value in data.items() if value != usual[name]))
    one = make_dataset(build(SOURCES.get(source).cls, f"Source {source!r}", {**data, "n": 1}), seed=0)
    return Study(source=source, data=differ, method=method, rho=rho, bound=bound * multiple(one), **more)


def count(value: Any) -> str:
    """Return a whole number with commas."""
    return f"{value:,}"
