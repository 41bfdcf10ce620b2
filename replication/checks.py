"""What a check of a printed table returns, and what all checks share.

A check answers one question about a table with numbers that can be computed again, and reads only data/published and
data/reproduced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
    """The answer to one question, which `Question` puts in: whether a suspicion is borne out, or a finding holds.

    ``holds`` is None where what it needs was not computed yet, and ``reason`` the phrase that a verdict quotes when it
    holds. ``word`` replaces "holds" and "does not hold" where neither would be fair, such as `WEAKER`.
    """

    holds: bool | None
    verdict: str
    numbers: Mapping[str, float]
    reason: str = ""
    word: str = ""
    key: str = ""
    tables: tuple[str, ...] = ()
    question: str = ""

    @property
    def headline(self) -> str:
        """What is said of a finding of the text."""
        return self.word or HOLDS[self.holds]


@dataclass(frozen=True)
class Question:
    """A check that can be made of the numbers in a folder."""

    key: str
    question: str
    tables: tuple[str, ...]
    answer: Callable[[Path], Check]

    def __call__(self, folder: Path) -> Check:
        """Return the answer from the numbers that are stored in ``folder``."""
        return replace(self.answer(folder), key=self.key, question=self.question, tables=self.tables)


def check(key: str, question: str, *tables: str) -> Callable[[Callable[[Path], Check]], Question]:
    """Make a `Question` of a function folder -> Check. The paper's module lists it in its ``CHECKS``."""
    return lambda answer: Question(key, question, tables, answer)


def spread_question(key: str, tables: Iterable[Table], keys: Sequence[str]) -> Question:
    """Ask whether printed standard errors are standard deviations; ``tables`` are all of the paper's."""
    question = "Are the printed standard errors standard deviations?"
    return Question(key, question, tuple(keys), partial(_spread, {table.key: table for table in tables}, keys))


def cells(tables: Iterable[Table], *keys: str, folder: Path) -> pd.DataFrame:
    """Return `join_printed` of the tables with these keys under each other, with a column "table"."""
    known = {table.key: table for table in tables}
    return pd.concat([join_printed(known[key], folder).assign(table=key) for key in keys], ignore_index=True)


def _spread(known: Mapping[str, Table], keys: Sequence[str], folder: Path) -> Check:
    factors = {k: error_factor(join_printed(known[k], folder), stored(k, folder)) for k in keys}
    factors = {k: factor for k, factor in factors.items() if np.isfinite(factor)}
    if not factors:
        return Check(None, NOT_COMPUTED, {})
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
    return Check(holds, verdict, numbers, reason)


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
