"""A verdict per printed table, in words, from numbers; and what a sound calibration leaves of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from replication.base import CLOSE, DEVIATIONS, ENOUGH, REPRODUCED, Table, join_printed
from replication.catalogue import checks_of
from replication.readings import met
from replication.su2019.checks import BOTH as CORRECTED
from replication.su2019.checks import CORRECTIONS, corrected

REPRODUCED_WELL, SHAPE, NOT = "reproduced", "same shape, other level", "not reproducible as described"
NOTHING = "not computed yet"
WORDS = (REPRODUCED_WELL, SHAPE, NOT, NOTHING)
AFTER = {REPRODUCED_WELL: "reproduced after corrections", SHAPE: "same shape after corrections"}
ORDERED = 0.9  # rank correlation for "same shape"
SCATTER = 1.5  # and how far ours over printed may vary, as a factor


@dataclass(frozen=True)
class Verdict:
    """The result for a printed table: fractions of cells within error and within a factor sqrt(10).

    ``rank`` is the Spearman correlation of printed and ours, ``ratio`` the median of ours over printed. ``explained``
    is the word once ``corrections`` reasons of the checks are put into our numbers.
    """

    word: str
    cells: int
    within: float
    order: float
    rank: float
    ratio: float
    worst: str
    reasons: tuple[str, ...]
    explained: str
    methods: tuple[tuple[str, str, float, float], ...]
    errors: str = ""
    corrections: int = 0

    @property
    def headline(self) -> str:
        """The word, or the better one that results after corrections, with their number."""
        if self.word == NOT and self.explained in AFTER:
            return f"{AFTER[self.explained]} ({self.corrections})"
        return self.word

    @property
    def sentence(self) -> str:
        """The verdict with its numbers."""
        if self.word == NOTHING:
            return "Nothing was computed yet: run python -m replication reproduce."
        read = " The printed standard errors are as large as standard deviations of the runs, and are read as such."
        return (
            f"{100 * self.within:.0f} % of {self.cells} cells agree within Monte-Carlo error, {100 * self.order:.0f} % "
            "within a factor "
            f"of three; ours are {self.ratio:.2f} times the printed ones (median), rank correlation {self.rank:.2f}."
        ) + (read if self.errors == DEVIATIONS else "")


def spearman(x: Sequence[float] | pd.Series, y: Sequence[float] | pd.Series) -> float:
    """Return the rank correlation; NaN with fewer than three pairs, 0 where one side is constant."""
    if len(x) < 3:
        return math.nan
    ranks = [pd.Series(np.round(np.asarray(values, float), 9)).rank().to_numpy() for values in (x, y)]
    if min(np.ptp(side) for side in ranks) == 0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def word_of(cells: pd.DataFrame) -> str:
    """Return the worst word of an estimator in one norm: a table is no better than its worst part."""
    words = [word_of_one(group) for _, group in cells.groupby(["method", "metric"], sort=False)]
    return max(words, key=WORDS.index)


def word_of_one(cells: pd.DataFrame) -> str:
    """Return the word of one group of cells.

    The same shape has cells in the same order, ours over printed nearly constant, and at most a quarter without ours.
    """
    if cells["ours_replicates"].isna().any():
        return NOTHING
    if met(cells) >= ENOUGH:
        return REPRODUCED_WELL
    both = cells.dropna(subset=["value", "ours"])
    missing = (cells["agreement"] == "no number").mean()
    if (cells["ours_se"] <= 1e-9 * cells["ours"]).mean() > 0.5:
        return NOT  # an answer that no row changes, such as the zero matrix, has no shape
    ordered = spearman(both["value"], both["ours"]) >= ORDERED
    if ordered and missing <= 1 - ENOUGH and math.exp(np.log(both["ratio"]).std()) <= SCATTER:
        return SHAPE
    return NOT


def verdict(table: Table, folder: Path = REPRODUCED) -> Verdict:
    """Return the verdict on a printed table from what is stored."""
    counted = join_printed(table, folder)
    both = counted.dropna(subset=["value", "ours"])
    word = word_of(counted)
    return Verdict(
        word,
        len(counted),
        float((counted["agreement"] == "within error").mean()),
        float(counted["agreement"].isin(("within error", "same order")).mean()),
        spearman(both["value"], both["ours"]),
        float(both["ratio"].median()) if len(both) else math.nan,
        _worst(both),
        tuple(check.reason for check in checks_of(table.key, folder) if check.holds and check.reason),
        word_of(corrected(table.key, folder)) if table.key in CORRECTED and word != NOTHING else "",
        tuple(
            (
                name,
                word_of_one(rows),
                float((rows["agreement"] == "within error").mean()),
                float(rows["ratio"].median()),
            )
            for name, rows in counted.groupby("method", sort=False)
        ),
        str(counted["errors"].iloc[0]),
        CORRECTIONS if table.key in CORRECTED else 0,
    )


def _worst(both: pd.DataFrame) -> str:
    """Return the cell with the largest ratio either way, in words."""
    if both.empty:
        return ""
    row = both.loc[np.log(both["ratio"]).abs().idxmax()]
    return f"{cell_name(row)}: printed {row['printed_value']}, ours {row['ours']:.3g}"


NAMES = {"model": "Model", "epsilon": "epsilon", "delta": "delta", "n": "n", "d": "p", "r": "r"}


def cell_name(row: Mapping) -> str:
    """Name a cell by its KEYS and metric, such as "Model 2, n 100, epsilon 0.1, DP-AGL, frobenius"."""
    parts = [f"{word} {row[key]}" for key, word in NAMES.items() if row[key]]
    parts += [row[key] for key in ("data", "method") if row[key] and row[key] != "synthetic"]
    return ", ".join([*parts, row["metric"]])


# --- what a sound calibration leaves ------------------------------------------------------------------------


@dataclass(frozen=True)
class Survival:
    """One printed estimator in one metric under a sound calibration.

    ``ratio`` is the geometric mean of sound over as-published error (printed where ours is missing), ``level`` that of
    the sound error.
    """

    method: str
    metric: str
    ratio: float
    level: float
    trivial: float


def survives(ratio: float, sound: float, trivial: float) -> bool:
    """Return whether a sound error is at most a tenth larger, and at least a tenth below that of no data."""
    return ratio <= 1 + CLOSE and sound <= (1 - CLOSE) * trivial


def survival(table: Table, folder: Path = REPRODUCED) -> list[Survival]:
    """Compare sound with as published, by estimator and metric."""
    cells = join_printed(table, folder)
    cells["reached"] = cells["ours"].fillna(cells["value"])
    cells = cells.dropna(subset=["sound", "reached"])
    answer = []
    for (method, metric), group in cells.groupby(["method", "metric"], sort=False):
        ratio = float(np.exp(np.log(group["sound"] / group["reached"]).mean()))
        level = float(np.exp(np.log(group["sound"]).mean()))
        answer.append(Survival(method, metric, ratio, level, table.trivial))
    return answer
