"""What a check of a printed table returns, and what all checks share.

A check asks one question about a printed table, answers it with numbers that anybody can compute again, and says in a
sentence what they mean. It reads only data/published and data/reproduced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import privcov.papers.published as catalogue
from privcov.papers.published import KEYS, LITERAL, REPRODUCED


@dataclass(frozen=True)
class Check:
    """The answer to one question.

    holds: whether the suspicion is borne out; None where what it needs was not computed yet.
    reason: the short phrase a verdict quotes when it holds. numbers: name -> value.
    """

    key: str
    tables: tuple[str, ...]
    question: str
    holds: bool | None
    verdict: str
    numbers: Mapping[str, float]
    reason: str = ""


# table key -> the checks about it; the papers' modules register theirs.
CHECKS: dict[str, tuple[tuple[str, ...], Callable[[Path], Check]]] = {}


def check(key: str, *tables: str):
    """Register a function folder -> Check under a key."""

    def add(function):
        CHECKS[key] = (tables, function)
        return function

    return add


def checks_of(table: str, folder: Path = REPRODUCED) -> list[Check]:
    """Every check that speaks about a table, in the order in which they are written."""
    _register()
    return [function(folder) for tables, function in CHECKS.values() if table in tables]


def _register() -> None:
    """Import the files whose checks register themselves."""
    from privcov.papers import (  # noqa: F401
        published_checks_2,
        published_checks_3,
        published_checks_4,
        published_checks_figures,
        published_checks_figures_2,
        published_checks_figures_5,
    )


def run_check(key: str, folder: Path = REPRODUCED) -> Check:
    """One check by its key."""
    _register()
    return CHECKS[key][1](folder)


def cells(*keys: str, folder: Path = REPRODUCED) -> pd.DataFrame:
    """`beside` of several tables under each other, with a column "table"."""
    found = [catalogue.beside(catalogue.TABLES[key], folder).assign(table=key) for key in keys]
    return pd.concat(found, ignore_index=True)


def literal(key: str, folder: Path) -> pd.DataFrame:
    """The as-published rows of a computed table."""
    known = catalogue.computed(catalogue.TABLES[key], folder)
    return known[known["variant"] == LITERAL]


def wide(found: pd.DataFrame, along: str, value: str = "value") -> pd.DataFrame:
    """One row per cell, one column per value of ``along``."""
    index = [name for name in ("table", *KEYS, "metric") if name != along and name in found]
    return found.pivot_table(index=index, columns=along, values=value, dropna=True, sort=False, observed=True)


def slope(x, y) -> float:
    """Of the least-squares line through (log x, log y)."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def middle(values) -> float:
    """The median of the finite values, NaN where there is none."""
    values = np.asarray(values, float)
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else float("nan")
