"""What every source has: a card, checked parameters, a public row bound and a way to make rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privcov.core.parameters import Checked, ParameterSpec, specs
from privcov.core.randomness import stream
from privcov.core.registry import Registry
from privcov.tables.dataset import Dataset


@dataclass(frozen=True)
class SourceCard:
    """Description of a source for menus: its key, its name on the pages, its rows in a sentence or two, its place."""

    key: str
    label: str
    group: str  # "Simulated" or "Public data"
    summary: str
    reference: str = ""
    order: int = 50
    cls: type[Any] = object

    def __repr__(self) -> str:
        return f"SourceCard({self.key!r}: {self.group})"

    @property
    def parameters(self) -> tuple[ParameterSpec, ...]:
        """The settings of the source, in the order of the form."""
        return specs(self.cls)


class Source(Checked):
    """Base of all sources. Subclasses are frozen dataclasses whose fields are declared with `parameter`.

    The registration sets ``card``.
    """

    card: SourceCard

    def default_row_bound(self, seed: int) -> float:
        """Return R from public parameters alone, never from drawn rows."""
        raise NotImplementedError

    @classmethod
    def state(cls) -> str:
        """Return what rows depend on besides parameters and seed, for cache keys: "" here, or the state of files."""
        return ""

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """Make the rows from the stream ``rng``; a random truth depends on ``seed`` alone, so it is public."""
        raise NotImplementedError


SOURCES = Registry("source", "privcov.data_sources", SourceCard)


def make_dataset(source: Source, *, seed: int, row_bound: float | None = None, repeat: int = 0) -> Dataset:
    """Make the rows of a source, from the stream (seed, "data", repeat, source key)."""
    bound = source.default_row_bound(seed) if row_bound is None else row_bound
    return source.make(stream(seed, "data", repeat, source.card.key), seed, bound)
