"""What the texts say of whole tables and figures, counted: in how many comparisons it holds, printed and computed.

A sentence such as "the errors fall as epsilon grows" is a comparison of two cells that differ in one thing only, made
for every such pair of the tables it is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from privcov.core import accounting
from replication.base import KEYS, LITERAL, REPRODUCED, SOUND, stored
from replication.catalogue import TABLES
from replication.checks import cells
from replication.mdpi2023.tables import printed_scales

PRINTED = "printed"
COLUMNS = {PRINTED: "value", LITERAL: "ours", SOUND: "sound"}

Pairs = list[tuple[float, float]]


@dataclass(frozen=True)
class Count:
    """One sentence: by side of the tables, the comparisons that hold, and how many could be made."""

    tables: tuple[str, ...]
    counts: Mapping[str, tuple[int, int]]


def number(text: str) -> float:
    """Return a key of a cell as a number: "0.5", "1/400" or "200"."""
    return float(Fraction(text))


def _counted(pairs: Pairs) -> tuple[int, int]:
    """Return how many pairs (smaller, larger) are in that order, and how many have two numbers."""
    known = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    return sum(a < b for a, b in known), len(known)


def _count(tables: tuple[str, ...], rows: pd.DataFrame, pairs: Callable[[pd.DataFrame, str], Pairs]) -> Count:
    counts = {}
    for side, column in COLUMNS.items():
        if column in rows:
            counts[side] = _counted(pairs(rows, column))
    return Count(tables, counts)


def _rest(rows: pd.DataFrame, *without: str) -> list[str]:
    return [name for name in ("table", *KEYS, "metric") if name in rows and name not in without]


def along(tables: tuple[str, ...], key: str, *, falls: bool = True, folder: Path = REPRODUCED) -> Count:
    """Count neighbours along a key whose errors fall (or rise) as the key grows."""

    def pairs(rows: pd.DataFrame, column: str) -> Pairs:
        found: Pairs = []
        for _, group in rows.groupby(_rest(rows, key), sort=False):
            ordered = group.assign(at=group[key].map(number)).sort_values("at")[column].tolist()
            found += pairwise(ordered[::-1] if falls else ordered)
        return found

    return _count(tables, _printed(tables, folder), pairs)


def below(tables: tuple[str, ...], key: str, orders: Iterable[tuple[str, str]], *, folder: Path = REPRODUCED) -> Count:
    """Count cells in which one value of a key errs less than another, all else equal."""
    orders = tuple(orders)

    def pairs(rows: pd.DataFrame, column: str) -> Pairs:
        found: Pairs = []
        for _, group in rows.groupby(_rest(rows, key), sort=False):
            at = dict(zip(group[key], group[column], strict=True))
            found += [(at[a], at[b]) for a, b in orders if a in at and b in at]
        return found

    return _count(tables, _printed(tables, folder), pairs)


def useful(tables: tuple[str, ...], *, folder: Path = REPRODUCED) -> Count:
    """Count cells below 1, the error of an answer that needs no data."""
    return _count(tables, _printed(tables, folder), lambda rows, column: [(value, 1.0) for value in rows[column]])


def across(one: str, other: str, orders: Iterable[tuple[str, str]], *, folder: Path = REPRODUCED) -> Count:
    """Count cells in which a method of one table errs less than a method of another, all else equal."""
    orders = tuple(orders)
    tables = (one, other)

    def pairs(rows: pd.DataFrame, column: str) -> Pairs:
        names = ["table", "method", "data", "r", "epsilon"]
        at = dict(zip(rows[names].itertuples(index=False, name=None), rows[column], strict=True))
        return [
            (value, at[other, b, *rest])
            for (table, method, *rest), value in at.items()
            for a, b in orders
            if table == one and method == a and (other, b, *rest) in at
        ]

    return _count(tables, _printed(tables, folder), pairs)


def _printed(tables: tuple[str, ...], folder: Path) -> pd.DataFrame:
    return cells((TABLES[key] for key in tables), *tables, folder=folder)


def drawn(tables: tuple[str, ...], better: str, than: str, *, folder: Path = REPRODUCED) -> Count:
    """Count points of figures, which print no numbers, in which one method errs less than another."""
    counts = {}
    for variant in (LITERAL, SOUND):
        pairs: Pairs = []
        for key in tables:
            rows = stored(key, folder)
            rows = rows[rows["variant"] == variant]
            names = [name for name in (*KEYS, "metric") if name != "method"]
            for _, group in rows.groupby(names, sort=False):
                at = dict(zip(group["method"], group["value"], strict=True))
                if better in at and than in at:
                    pairs.append((at[better], at[than]))
        counts[variant] = _counted(pairs)
    return Count(tables, counts)


def gain(variant: str, pure: bool, folder: Path) -> float:
    """Return the geometric mean of EMCov's error over SeparateCov's at the setting of Figure 3 (d), pure or zCDP."""
    rows = stored("5-pure" if pure else "5-figure-3", folder)
    rows = rows[(rows["variant"] == variant) & (rows["model"] == ("pure epsilon" if pure else "3-d"))]
    level = "epsilon" if pure else "data"
    wide = rows.pivot_table(index=level, columns="method", values="value")
    if not {"em-cov", "separate-cov"} <= set(wide):
        return math.nan
    return float(np.exp(np.log(wide["em-cov"] / wide["separate-cov"]).mean()))


def lesser(*, folder: Path = REPRODUCED) -> Count:
    """Count two things: under pure DP SeparateCov gains on EMCov, and less than under zCDP."""
    counts = {}
    for variant in (LITERAL, SOUND):
        pure, mixed = gain(variant, True, folder), gain(variant, False, folder)
        counts[variant] = _counted([(1.0, pure), (pure, mixed)])
    return Count(("5-figure-3", "5-pure"), counts)


def samples(*, folder: Path = REPRODUCED) -> Count:
    """Count neighbours along epsilon (paper 1, Figure 1, right) whose errors differ by half the factor of epsilon."""
    counts = {}
    for variant in (LITERAL, SOUND):
        rows = stored("1-figure-1", folder)
        rows = rows[(rows["variant"] == variant) & (rows["model"] == "right")]
        pairs: Pairs = []
        for _, group in rows.groupby("n", sort=False):
            ordered = sorted(zip(group["epsilon"].map(number), group["value"], strict=True))
            pairs += [(high / low / 2, error / less) for (low, error), (high, less) in pairwise(ordered)]
        counts[variant] = _counted(pairs)
    return Count(("1-figure-1",), counts)


def better(*, folder: Path = REPRODUCED) -> Count:
    """Count the settings of the simulation "1-better" in which thresholding errs less than the noisy matrix."""
    rows = stored("1-bounds", folder)
    ratios = rows.loc[(rows["model"] == "1-better") & (rows["metric"] == "ratio"), "value"]
    return Count(("1-bounds",), {LITERAL: _counted([(ratio, 1.0) for ratio in ratios])})


def same_noise(*, folder: Path = REPRODUCED) -> Count:
    """Compare the printed noise of Algorithm 2 of paper 2 with that of paper 3: one comparison, without data."""
    mine, other = (accounting.classical_gaussian_scale(1.0, 1e-3, change) for change in (math.sqrt(2), 1.0))
    return Count(("2-table-2", "3-table-2"), {PRINTED: (int(math.isclose(mine, other)), 1)})


def threshold(*, folder: Path = REPRODUCED) -> Count:
    """Compare the noise parts of the two printed central thresholds of paper 4: one comparison, without data."""
    modified, original = (printed_scales(method, 0.5, 1 / 400, 200)[1] for method in ("modified-dp", "dp"))
    return Count(_SIZES, {PRINTED: (int(modified < original), 1)})


_SIZES = ("4-table-1", "4-table-2")
_SIX = tuple(f"4-table-{k}" for k in range(1, 7))
_MODIFIED = (("modified-dp", "dp"), ("modified-ldp", "ldp"))
_CENTRAL = (("modified-dp", "modified-ldp"), ("dp", "ldp"))
_LOSSES = ("2-table-1", "2-table-2")
_PURE, _APPROX = "3-table-1", "3-table-2"
_FIGURES = ("5-figure-2", "5-figure-3", "5-figure-5")

COUNTS: dict[str, Callable[..., Count]] = {
    "4-modified": partial(below, _SIX, "method", _MODIFIED),
    "4-central": partial(below, _SIX, "method", _CENTRAL),
    "4-model": partial(below, _SIZES, "model", (("2", "1"),)),
    "4-p": partial(along, _SIZES, "d", falls=False),
    "4-n": partial(along, _SIZES, "n"),
    "4-epsilon": partial(along, ("4-table-3", "4-table-4"), "epsilon"),
    "4-delta": partial(along, ("4-table-5", "4-table-6"), "delta"),
    "4-classes": partial(below, ("4-table-7",), "method", _MODIFIED),
    "2-epsilon": partial(along, _LOSSES, "epsilon"),
    "2-n": partial(along, _LOSSES, "n"),
    "2-useful": partial(useful, _LOSSES),
    "3-wishart": partial(below, (_PURE,), "method", (("Wishart", "Laplace"),)),
    "3-output": partial(below, (_PURE,), "method", (("Wishart", "Output"), ("Laplace", "Output"))),
    "3-gaussian": partial(below, (_APPROX,), "method", (("Gaussian", "Wishart"), ("Gaussian", "SQLU"))),
    "3-approx": partial(across, _APPROX, _PURE, (("Wishart", "Wishart"), ("Gaussian", "Laplace"))),
    "1-better": better,
    "1-samples": samples,
    "2-same-noise": same_noise,
    "4-threshold": threshold,
    "5-em": partial(drawn, _FIGURES, "separate-cov", "em-cov"),
    "5-lesser": lesser,
}
