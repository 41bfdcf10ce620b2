"""What a lesson is: an aim, a control, a picture, a question with reasons, a sentence to remember, a link onward.

A lesson is one file of this folder that ends in `LESSON`; its number is that of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from pages.common import study_results
from pages.common.study import Study
from pages.lessons.simulated import SEED, epsilon, multiple
from privcov.core.parameters import build
from privcov.core.words import plain
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.plots.look import Picture
from privcov.plots.palette import LIGHT, Palette

ESTIMATE, GRAPHS, SPECTRA = "pages/1_Estimate.py", "pages/3_Graph_recovery.py", "pages/4_Spectra.py"
METHODS, AUDIT = "pages/7_Methods.py", "pages/9_Privacy_audit.py"
RHO_HELP = "The guarantee is rho-zCDP: the smaller rho, the smaller epsilon. Runs add up in rho, not in epsilon."

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Control:
    """The control of a lesson, with ascending or teaching order of the options and words at the two ends."""

    label: str
    options: tuple
    start: Any
    left: str
    right: str
    to_text: Callable[[Any], str] = plain
    help: str = ""


@dataclass(frozen=True)
class Option:
    """One answer of a question, and the reason why it is right or wrong."""

    text: str
    reason: str
    right: bool = False


@dataclass
class Screen:
    """What a lesson shows at a place of its control: lines of provenance, (key, title or "", picture), one sentence.

    ``draw`` counts draws of the noise from 0.
    """

    palette: Palette = LIGHT
    draw: int = 0
    tags: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str, Picture]] = field(default_factory=list)
    sentence: str = ""

    @property
    def seed(self) -> int:
        """The seed of the noise."""
        return SEED + 1000 * self.draw

    def tag(self, provenance: str, text: str) -> None:
        """Say where the numbers below come from."""
        self.tags.append(f"{provenance}: {text}")

    def side_by_side(self, pictures: Sequence[tuple[str, Picture, str]]) -> None:
        """Show (title, picture, key) side by side; the keys begin with ``graph-``."""
        self.pictures.extend((key, title, picture) for title, picture, key in pictures)

    def put(self, picture: Picture, key: str) -> None:
        """Show a picture below the others."""
        self.pictures.append((key, "", picture))


@dataclass(frozen=True)
class Lesson:
    """A lesson.

    ``draw`` shows the pictures at a value of the control and returns one sentence on them; ``draws`` is whether they
    have noise that can be drawn again. ``onward`` is (page file, label of the link, the study at a value).
    """

    title: str
    aim: str
    control: Control
    draw: Callable[[Any, Screen], str]
    question: str
    choices: tuple[Option, ...]
    remember: str
    onward: tuple[str, str, Callable[[Any], Study]]
    draws: bool = True


def compute_once(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return ``function(*args)``, computed once for all visitors; the function may not depend on the page."""
    key = (f"{function.__module__}.{function.__qualname__}", *args, *sorted(kwargs.items()))
    return study_results.SHARED.get(key, lambda: function(*args, **kwargs))


def content(lesson: Lesson, value: Any, palette: Palette = LIGHT, draw: int = 0) -> Screen:
    """Return what a lesson shows at a value of its control, with one of the draws of its noise."""
    screen = Screen(palette, draw)
    screen.sentence = lesson.draw(value, screen)
    return screen


def study(source: str, data: dict, rho: float, method: str, bound: float = 1.0, **more) -> Study:
    """Return a study of a lesson's rows, ``bound`` times their row bound, under rho-zCDP."""
    usual = {spec.name: spec.default for spec in SOURCES.get(source).parameters}
    differ = tuple(sorted((name, value) for name, value in data.items() if value != usual[name]))
    one = make_dataset(build(SOURCES.get(source).cls, f"Source {source!r}", {**data, "n": 1}), seed=0)
    return Study(source=source, data=differ, method=method, rho=rho, bound=bound * multiple(one), **more)


def by_both_names(rho: float) -> str:
    """Return a rho with the epsilon that a class is more likely to know."""
    return f"{plain(rho)} (epsilon {epsilon(rho):.3g})"


def count(value: Any) -> str:
    """Return a whole number with commas."""
    return f"{value:,}"
