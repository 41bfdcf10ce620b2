"""What a check of a printed table returns, and what all checks share.

A check asks one question about a printed table, answers it with numbers that can be computed again, and gives the
conclusion in a sentence. It reads only data/published and data/reproduced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from replication.base import DEVIATIONS, KEYS, LITERAL, Table, error_factor, join_printed, stored

NOT_COMPUTED = "Not computed yet."  # the verdict of a check whose numbers are not there
HOLDS = {True: "holds", False: "does not hold", None: "not computed"}
WEAKER = "weaker than claimed"  # the direction of a finding holds, its extent does not
OTHER_DATA = "not tested on their data"  # it fails on rows that stand in for the paper's


@dataclass(frozen=True)
class Check:
    """The answer to one question.

    holds: whether the suspicion is borne out; None where what it needs was not computed yet.
    reason: the short phrase a verdict quotes when it holds. numbers: name -> value. word: what is said of a finding of
    the text where neither of "holds" and "does not hold" would be fair, such as `WEAKER` or `OTHER_DATA`.
    """

    key: str
    tables: tuple[str, ...]
    question: str
    holds: bool | None
    verdict: str
    numbers: Mapping[str, float]
    reason: str = ""
    word: str = ""

    @property
    def headline(self) -> str:
        """What is said of a finding of the text in a word or a few."""
        return self.word or HOLDS[self.holds]


@dataclass(frozen=True)
class Question:
    """A check that can be made of the numbers in a folder: its key, the tables it is about, and how it is answered."""

    key: str
    tables: tuple[str, ...]
    answer: Callable[[Path], Check]

    def __call__(self, folder: Path) -> Check:
        """Return the answer from the numbers that are stored in ``folder``."""
        return self.answer(folder)


def check(key: str, *tables: str) -> Callable[[Callable[[Path], Check]], Question]:
    """Make a `Question` of a function folder -> Check. The paper's module lists it in its ``CHECKS``."""
    return lambda answer: Question(key, tables, answer)


def cells(tables: Iterable[Table], *keys: str, folder: Path) -> pd.DataFrame:
    """Return `join_printed` of the tables with these keys under each other, with a column "table"."""
    known = {table.key: table for table in tables}
    return pd.concat([join_printed(known[key], folder).assign(table=key) for key in keys], ignore_index=True)


def spread_of(key: str, tables: Iterable[Table], keys: Sequence[str], folder: Path) -> Check:
    """Answer whether printed standard errors are standard deviations; ``tables`` are all of the paper's."""
    question = "Are the printed standard errors standard deviations?"
    known = {table.key: table for table in tables}
    factors = {k: error_factor(join_printed(known[k], folder), stored(k, folder)) for k in keys}
    factors = {k: factor for k, factor in factors.items() if np.isfinite(factor)}
    if not factors:
        return Check(key, tuple(keys), question, None, NOT_COMPUTED, {})
    read = {k: str(join_printed(known[k], folder)["errors"].iloc[0]) for k in factors}
    phrases = ", ".join(f"{factor:.2f} in {known[k].where}" for k, factor in factors.items())
    verdict = (
        f"Relative to the error itself, a printed standard error is {phrases} of our standard deviation over "
        f"replicates (medians); a standard error of {known[keys[0]].replicates} runs would be "
        f"{1 / math.sqrt(known[keys[0]].replicates):.2f} of it. What is nearer to a deviation is read as one."
    )
    numbers = {f"printed over our deviation, {k}": factor for k, factor in factors.items()}
    holds, all_of_them = DEVIATIONS in read.values(), set(read.values()) == {DEVIATIONS}
    reason = "the printed standard errors look like deviations" if all_of_them else ""  # else a table says it itself
    return Check(key, tuple(keys), question, holds, verdict, numbers, reason)


def literal(key: str, folder: Path) -> pd.DataFrame:
    """Return the as-published rows of a computed table."""
    known = stored(key, folder)
    return known[known["variant"] == LITERAL]


def curve_cells(key: str, folder: Path, variant: str, panel: str = "") -> pd.DataFrame:
    """Return stored cells of a figure with n, d, epsilon as numbers; ``panel`` is kept in "model"."""
    cells = stored(key, folder)
    cells = cells[(cells["variant"] == variant) & cells["model"].str.startswith(panel)].copy()
    for name in ("n", "d", "epsilon"):
        cells[name] = pd.to_numeric(cells[name], errors="coerce")
    return cells


def wide(table: pd.DataFrame, along: str, value: str = "value") -> pd.DataFrame:
    """Return one row per cell, one column per value of ``along``."""
    index = [name for name in ("table", *KEYS, "metric") if name != along and name in table]
    return table.pivot_table(index=index, columns=along, values=value, dropna=True, sort=False, observed=True)


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the slope of the least-squares line through (log x, log y)."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def middle(values: ArrayLike) -> float:
    """Return the median of the finite values, NaN where there is none."""
    values = np.asarray(values, float)
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else float("nan")
