"""What every source has: a card, checked parameters, a public row bound and a way to make rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privcov.dataset import Dataset
from privcov.parameters import Checked, Spec, specs
from privcov.randomness import stream
from privcov.registry import Registry


@dataclass(frozen=True)
class SourceCard:
    """What the gallery and the select box say about a source."""

    key: str
    label: str
    group: str  # "Simulated", "Public data" or "Papers' own data"
    summary: str
    reference: str = ""
    order: int = 50
    cls: type[Any] = field(default=object, repr=False)

    @property
    def parameters(self) -> tuple[Spec, ...]:
        """Its settings, in the order of the form."""
        return specs(self.cls)


class Source(Checked):
    """Base of all sources. Subclasses are frozen dataclasses whose fields are `parameter`s."""

    card: SourceCard

    def default_row_bound(self, seed: int) -> float:
        """R from public parameters alone, never from drawn rows."""
        raise NotImplementedError

    @classmethod
    def state(cls) -> str:
        """What rows depend on beside parameters and seed, for cache keys: "" here, the files where there are some."""
        return ""

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """The rows. rng draws rows; a random truth depends on ``seed`` only, so it is public and stays put."""
        raise NotImplementedError


SOURCES = Registry("source", "privcov.data_sources", SourceCard)


def make_dataset(source: Source, *, seed: int, row_bound: float | None = None, repeat: int = 0) -> Dataset:
    """Rows of a source, from the stream (seed, "data", repeat, source key)."""
    bound = source.default_row_bound(seed) if row_bound is None else row_bound
    return source.make(stream(seed, "data", repeat, source.card.key), seed, bound)
