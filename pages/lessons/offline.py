"""A lesson without a page: its pictures, numbers and words at a value of its control, for print and for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pages.lessons.lesson import Lesson, Screen
from privcov.plots.look import Picture
from privcov.plots.palette import LIGHT, Palette


@dataclass
class Content:
    """What a lesson shows: lines of provenance, (key, title or "", picture), and one sentence."""

    tags: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str, Picture]] = field(default_factory=list)
    sentence: str = ""


@dataclass(frozen=True)
class Paper(Screen):
    """A screen that keeps what a lesson shows, in the colours of paper."""

    content: Content = field(default_factory=Content)

    @property
    def palette(self) -> Palette:
        """The colours of a light ground."""
        return LIGHT

    def tag(self, provenance: str, text: str) -> None:
        """Keep a line of provenance."""
        self.content.tags.append(f"{provenance}: {text}")

    def side_by_side(self, pictures: Sequence[tuple[str, Picture, str]]) -> None:
        """Keep (title, picture, key)."""
        self.content.pictures.extend((key, title, picture) for title, picture, key in pictures)

    def put(self, picture: Picture, key: str) -> None:
        """Keep a picture."""
        self.content.pictures.append((key, "", picture))


def content(lesson: Lesson, value: Any) -> Content:
    """Return what a lesson shows at a value of its control."""
    paper = Paper(full=False)
    paper.content.sentence = (lesson.printed or lesson.draw)(value, paper)
    return paper.content
