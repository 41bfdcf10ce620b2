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
from replication.checks import Check
from replication.su2019.checks import BOTH as CORRECTED
from replication.su2019.checks import CORRECTIONS, corrected

REPRODUCED_WELL, SHAPE, NOT = "reproduced", "same shape, other level", "not reproducible as described"
NOTHING = "not computed yet"
WORDS = (REPRODUCED_WELL, SHAPE, NOT, NOTHING)
AFTER = {REPRODUCED_WELL: "reproduced after corrections", SHAPE: "same shape after corrections"}
HEADLINES = (REPRODUCED_WELL, AFTER[REPRODUCED_WELL], SHAPE, AFTER[SHAPE], NOT, NOTHING)
ORDERED = 0.9  # rank correlation for "same shape"
SCATTER = 1.5  # and how far ours over printed may vary, as a factor


@dataclass(frozen=True)
class Verdict:
    """The result for a printed table.

    word: one of `WORDS`. within, close, order: fractions of the printed cells within Monte-Carlo error, within that or
    10 %, and within a factor sqrt(10). rank: Spearman correlation of printed and ours. ratio: median of ours over
    printed. worst: the cell with the largest ratio either way. reasons: of the checks that hold. explained: the word
    once the reasons of the checks are put into our numbers, or "". methods: per estimator its name, word, fraction
    within error and median ratio. errors: what the printed plus-minus signs were read as, see
    `replication.base.read_errors`. corrections: how many reasons are put into our numbers for ``explained``.
    """

    table: str
    word: str
    cells: int
    within: float
    close: float
    order: float
    rank: float
    ratio: float
    worst: str
    reasons: tuple[str, ...]
    checks: tuple[Check, ...]
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

    reproduced: at least ENOUGH of the cells within error or within CLOSE. same shape, other level: cells in the same
    order (rank correlation at least ORDERED), ours over printed nearly constant (geometric standard deviation at most
    SCATTER), and at most a quarter without a number of ours. Else not reproducible as described.
    """
    if cells["ours_replicates"].isna().any():
        return NOTHING
    near = (cells["agreement"] == "within error") | ((cells["ratio"] - 1).abs() <= CLOSE)
    if near.mean() >= ENOUGH:
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
    checks = tuple(checks_of(table.key, folder))
    word = word_of(counted)
    near = (counted["agreement"] == "within error") | ((counted["ratio"] - 1).abs() <= CLOSE)
    return Verdict(
        table.key,
        word,
        len(counted),
        float((counted["agreement"] == "within error").mean()),
        float(near.mean()),
        float(counted["agreement"].isin(("within error", "same order")).mean()),
        spearman(both["value"], both["ours"]),
        float(both["ratio"].median()) if len(both) else math.nan,
        _worst(both),
        tuple(check.reason for check in checks if check.holds and check.reason),
        checks,
        word_of(corrected(table.key, folder)) if table.key in CORRECTED and word != NOTHING else "",
        tuple(_of_method(name, group) for name, group in counted.groupby("method", sort=False)),
        str(counted["errors"].iloc[0]),
        CORRECTIONS if table.key in CORRECTED else 0,
    )


def _of_method(name: str, group: pd.DataFrame) -> tuple[str, str, float, float]:
    """Return name, word, fraction within error and median ratio of one estimator."""
    return (
        name,
        word_of_one(group),
        float((group["agreement"] == "within error").mean()),
        float(group["ratio"].median()),
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

    ratio: geometric mean over cells of sound over as-published error (ours; the printed one where ours has no number).
    cells: how many. level: geometric mean of the sound error; trivial: error of an answer that needs no data (inf where
    it differs by cell). What n the same error needs: `replication.needed`.
    """

    table: str
    method: str
    metric: str
    cells: int
    ratio: float
    level: float
    trivial: float

    @property
    def survives(self) -> bool:
        """Whether the sound error is at most a tenth larger, and at least a tenth below that of no data."""
        return self.ratio <= 1 + CLOSE and self.level <= (1 - CLOSE) * self.trivial


def survival(table: Table, folder: Path = REPRODUCED) -> list[Survival]:
    """Compare sound with as published, by estimator and metric."""
    cells = join_printed(table, folder)
    cells["reached"] = cells["ours"].fillna(cells["value"])
    cells = cells.dropna(subset=["sound", "reached"])
    answer = []
    for (method, metric), group in cells.groupby(["method", "metric"], sort=False):
        ratio = float(np.exp(np.log(group["sound"] / group["reached"]).mean()))
        level = float(np.exp(np.log(group["sound"]).mean()))
        answer.append(Survival(table.key, method, metric, len(group), ratio, level, table.trivial))
    return answer
