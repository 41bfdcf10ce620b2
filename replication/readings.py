"""Readings of the printed tables: what may have been computed where the description does not give the print.

Their numbers are computed by `reproduce` like a table's own, and the result is the share of printed cells that come
out. A family is searched as a whole: where its best member misses a column, no reading within it can give it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from replication.base import CLOSE, ENOUGH, KEYS, Table, join_printed, recompute, standard_error

STATED, SEEN, FITTED, SEARCHED = "stated", "seen in the print", "fitted to the print", "best of a family"
CANNOT = "no reading within this family can"


@dataclass(frozen=True)
class Found:
    """What a reading gives for one table: cells as of `join_printed` (none of a figure), and the fitted constants."""

    cells: pd.DataFrame
    constants: Mapping[str, float] = field(default_factory=dict)
    sentence: str = ""


@dataclass(frozen=True)
class Reading:
    """One reading of some tables: what it assumes, on what basis, and how many constants were fitted (``free``).

    ``made`` names the tables it is computed from; ``answer`` gives None where they were not computed yet.
    """

    key: str
    tables: tuple[str, ...]
    assumes: str
    basis: str
    free: int
    made: tuple[str, ...]
    answer: Callable[[str, Path], Found | None]


@dataclass(frozen=True)
class Column:
    """One estimator in one norm under a reading: fractions of its cells, and the median of ours over printed.

    ``described`` is the fraction met as published by us, without the reading.
    """

    method: str
    metric: str
    cells: int
    within: float
    close: float
    met: float
    described: float
    ratio: float


@dataclass(frozen=True)
class Result:
    """A reading of one table with its shares by column."""

    reading: Reading
    table: str
    columns: tuple[Column, ...]
    constants: Mapping[str, float]
    sentence: str

    def share(self, name: str) -> float:
        """Return a fraction of all cells: "within", "close", "met" or "described"."""
        cells = sum(column.cells for column in self.columns)
        return sum(column.cells * getattr(column, name) for column in self.columns) / cells if cells else math.nan

    @property
    def missed(self) -> tuple[Column, ...]:
        """The columns of which fewer than three quarters come out."""
        return tuple(column for column in self.columns if column.met < ENOUGH)

    @property
    def words(self) -> str:
        """What a search found: which columns no member of the family gives."""
        if self.reading.basis != SEARCHED or not self.missed:
            return ""
        if len(self.missed) == len(self.columns):
            return f"{CANNOT[:1].upper()}{CANNOT[1:]} give this table."
        names = ", ".join(f"{column.method} ({column.metric})" for column in self.missed)
        return f"{CANNOT[:1].upper()}{CANNOT[1:]} give {names}."


def result(reading: Reading, table: Table, folder: Path) -> Result | None:
    """Return a reading's result for one table; None where it was not computed yet."""
    found = reading.answer(table.key, folder)
    if found is None:
        return None
    columns: list[Column] = []
    if not found.cells.empty:
        index = [*KEYS, "metric"]
        described = join_printed(table, folder).set_index(index)
        for (method, metric), cells in found.cells.groupby(["method", "metric"], sort=False):
            columns.append(_column(method, metric, cells, described.loc[pd.MultiIndex.from_frame(cells[index])]))
    return Result(reading, table.key, tuple(columns), found.constants, found.sentence)


def _column(method: str, metric: str, cells: pd.DataFrame, described: pd.DataFrame) -> Column:
    within = float((cells["agreement"] == "within error").mean())
    close = float(((cells["ratio"] - 1).abs() <= CLOSE).mean())
    return Column(method, metric, len(cells), within, close, met(cells), met(described), float(cells["ratio"].median()))


def with_ours(table: Table, rows: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return the cells of `join_printed` that the stored ``rows`` have, with their values as ours."""
    cells = join_printed(table, folder).drop(columns=["ours", "ours_se", "ours_replicates"])
    rows = rows.assign(ours=rows["value"], ours_se=standard_error(rows), ours_replicates=rows["replicates"])
    columns = [*KEYS, "metric", "ours", "ours_se", "ours_replicates"]
    return recompute(cells.merge(rows[columns], on=[*KEYS, "metric"], validate="one_to_one"))


def distance(cells: pd.DataFrame) -> float:
    """Return how far ours are from the print: the mean of |log(ours / printed)|, which fits make small."""
    return float(np.abs(np.log(cells["ours"] / cells["value"])).mean())


def met(cells: pd.DataFrame) -> float:
    """Return the fraction of cells within error or within 10 %."""
    return float(((cells["agreement"] == "within error") | ((cells["ratio"] - 1).abs() <= CLOSE)).mean())
