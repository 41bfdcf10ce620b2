"""Which of two series is better where, in words: only where paired replicates show it, else "no clear winner"."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from privcov import checks


@dataclass(frozen=True)
class Comparison:
    """Two series compared at every x where both have values.

    xs: increasing. signs: -1 where ``first`` has the clearly smaller mean error, 1 where ``second`` has, 0 where the
    paired interval holds zero. crossings: (last x of the old order, first x of the new, the series that overtakes).
    """

    first: str
    second: str
    xs: tuple[float, ...]
    signs: tuple[int, ...]
    crossings: tuple[tuple[float, float, str], ...]


def paired_interval(differences: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return Student's t interval for the mean of paired differences, unbounded for fewer than two replicates."""
    checks.strictly_between("level", level, 0.0, 1.0, "0.95 is usual.")
    d = np.asarray(differences, dtype=float)
    if d.size < 2:
        return -math.inf, math.inf
    half = float(stdtrit(d.size - 1, (1 + level) / 2)) * float(d.std(ddof=1)) / math.sqrt(d.size)
    return float(d.mean()) - half, float(d.mean()) + half


def compare(table: pd.DataFrame, first: str, second: str, level: float = 0.95) -> Comparison:
    """Compare two series of a table with the columns series, x, replicate and value.

    Replicates of one number share their rows, so they are paired. Cells without a value leave their pair out.
    """
    wide = [
        table[table["series"] == name].dropna(subset=["value"]).set_index(["x", "replicate"])["value"]
        for name in (first, second)
    ]
    paired = pd.concat(wide, axis=1, keys=["one", "two"], join="inner")
    difference = paired["one"] - paired["two"]
    xs, signs = [], []
    for x, part in difference.groupby(level="x", sort=True):
        low, high = paired_interval(part.to_numpy(), level)
        xs.append(float(x))
        signs.append(-1 if high < 0 else 1 if low > 0 else 0)
    crossings, last = [], None
    for x, sign in zip(xs, signs, strict=True):
        if sign:
            if last is not None and last[1] != sign:
                crossings.append((last[0], x, first if sign < 0 else second))
            last = (x, sign)
    return Comparison(first, second, tuple(xs), tuple(signs), tuple(crossings))


def all_pairs(table: pd.DataFrame, level: float = 0.95) -> list[Comparison]:
    """Compare every pair of series, in the order in which they first appear, except pairs that share no x."""
    comparisons = (compare(table, *pair, level) for pair in itertools.combinations(table["series"].unique(), 2))
    return [c for c in comparisons if c.xs]


def sentence(
    comparison: Comparison,
    x_name: str,
    number: Callable[[float], str] = lambda v: f"{v:.3g}",
    labels: dict | None = None,
) -> str:
    """Describe a comparison in one sentence. number: how an x is written; labels: names of the series."""
    name = {k: (labels or {}).get(k, k) for k in (comparison.first, comparison.second)}
    if comparison.crossings:
        parts = []
        for low, high, winner in comparison.crossings:
            loser = comparison.second if winner == comparison.first else comparison.first
            parts.append(f"{name[winner]} overtakes {name[loser]} between {x_name} = {number(low)} and {number(high)}")
        return _capital("; ".join(parts)) + "." + _unclear(comparison)
    clear = [s for s in comparison.signs if s]
    if not clear:
        return f"No clear winner between {name[comparison.first]} and {name[comparison.second]}."
    winner, loser = (comparison.first, comparison.second) if clear[0] < 0 else (comparison.second, comparison.first)
    won = [x for x, s in zip(comparison.xs, comparison.signs, strict=True) if s]
    if len(won) == len(comparison.xs):
        where = "everywhere" if len(won) > 1 else f"at {x_name} = {number(won[0])}"
        return f"{_capital(name[winner])} is better than {name[loser]} {where}."
    at = f"at {x_name} = {number(won[0])}" if len(won) == 1 else f"at {len(won)} of {len(comparison.xs)} points"
    span = "" if len(won) == 1 else f" ({x_name} from {number(won[0])} to {number(won[-1])})"
    return f"{_capital(name[winner])} is better than {name[loser]} {at}{span}; no clear winner at the others."


def _unclear(comparison: Comparison) -> str:
    """Return a sentence on the points without a clear winner, or ""."""
    unclear = comparison.signs.count(0)
    if not unclear:
        return ""
    return f" No clear winner at {unclear} of {len(comparison.signs)} points."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
