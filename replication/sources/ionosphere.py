"""Ionosphere: 351 radar returns from free electrons in the upper air, good or bad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import BundledColumn
from replication.sources import tables
from replication.sources.papers import GROUP, OpenML, PaperData, Raw, facts

if TYPE_CHECKING:
    import pandas as pd

WORDS = {"g": "good", "b": "bad", "good": "good", "bad": "bad"}


@SOURCES.add(
    key="ionosphere",
    label="Ionosphere (Su 2019)",
    group=GROUP,
    listed=False,
    order=210,
    summary="351 radar returns of 17 pulses each, real and imaginary part: 34 columns, good or bad. One is constant.",
    reference="Su et al. 2019, Section 5.2.1. Sigillito and others (1989); UCI Machine Learning Repository "
    "(CC BY 4.0).",
)
@dataclass(frozen=True)
class Ionosphere(PaperData):
    """351 x 34, labels "good" (225) and "bad" (126). V2 is 0 in every row, V1 is 0 or 1, and one row occurs twice.

    All of it is kept, as in the paper. That V2 is constant is known from the rows only, so no method may use it.

    Notes
    -----
    Limits: the autocorrelation of a pulse is normalised, so each part lies in [-1, 1]. Row bound: R = sqrt(34), the
    length of a row with every part at a limit; the paper divides by the longest row instead, which is a query of the
    data that its guarantee does not cover. No cell is clipped and no row scaled down.
    """

    title: ClassVar = "Ionosphere"
    size: ClassVar = "351 rows, 34 columns and a label"
    files: ClassVar = (("ionosphere.csv",), ("ionosphere.data",))
    openml: ClassVar = OpenML("ionosphere", 1, 1)
    table: ClassVar = tuple(
        BundledColumn(f"V{k}", -1, 1, 0, "share", f"{'imaginary' if k % 2 == 0 else 'real'} part, normalised")
        for k in range(1, 35)
    )

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read the table with the label in its last column, with or without names."""
        rows = tables.lines(tables.only(parts, cls.title))
        body = rows[1:] if tables.header_of(rows) else rows
        tables.check_shape((len(body), len(rows[0][1])), (351, 35), cls.title)
        return cls._checked(tables.numbers(body, range(34), 35), tables.spelled(body, 34, WORDS))

    @classmethod
    def from_openml(cls, values: pd.DataFrame, labels: pd.Series) -> Raw:
        """Take OpenML's table."""
        tables.check_shape(values.shape, (351, 34), cls.title)
        words = np.array([WORDS.get(str(label), str(label)) for label in labels])
        return cls._checked(np.asarray(values, dtype=np.float64), words)

    @classmethod
    def pack(cls, raw: Raw) -> tuple[str, bytes]:
        """Return the table as CSV with its label."""
        assert raw.labels is not None, "the set has labels"
        return "ionosphere.csv", tables.write_csv(raw.columns, raw.values, "Class", raw.labels)

    @classmethod
    def _checked(cls, values: np.ndarray, labels: np.ndarray) -> Raw:
        """Return the set where labels and values are those of the set, else raise ValueError."""
        tables.check_counts(labels, {"bad": 126, "good": 225}, cls.title)
        if values[:, 1].any() or np.abs(values).max() > 1:
            raise ValueError(
                "its second column is not 0 throughout, or a value lies beyond -1 and 1: the columns are in another "
                "order, or were scaled."
            )
        return Raw(values, labels, tuple(column.name for column in cls.table))

    def default_row_bound(self, seed: int) -> float:
        """Return sqrt(34)."""
        return math.sqrt(34)

    def arrange(self, raw: Raw) -> dict:
        """Return the rows with labels and limits."""
        return {"X": raw.values, "labels": raw.labels, **facts(self.table)}
