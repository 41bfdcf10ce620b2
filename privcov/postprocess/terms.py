"""Noisy means in the terms in which a table was declared: shares of levels, dates, and values before a transform.

The mean of measured numbers has one meaning for each kind of column:

    number, integer   the mean
    yes-no, category  the share of the rows with this level; the levels of a category and its missing cells add up to 1
    ordinal           the mean position, 1 for the first level: between the two nearest levels
    date              the mean day
    log               exp(mean of log x): the geometric mean
    log1p             exp(mean of log(1 + x)) - 1: the geometric mean of 1 + x, less 1
    sqrt              (mean of the root of x)^2: the mean of x less the variance of its root

The last three are not the mean of x, which no mean of transformed numbers gives, and lie below it. Where the
transformed values lie symmetrically around their mean, they are the median of x. A missing cell of any other column
than a category counts as the typical value, or under the rule "pairs" not at all; this holds for the share of yes too.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcov.tables.declared_columns import Kinds
from privcov.tables.readers.kinds import CATEGORY, DATE, FIRST_DAY, ORDINAL, YES_NO, Kind, natural_exp

_BACK = {"log": "geometric mean", "log1p": "geometric mean of 1 + x, less 1", "sqrt": "squared mean of the root"}


@dataclass(frozen=True)
class Term:
    """The mean of one measured column, in the owner's terms.

    level: of a category and of yes-no the level whose share this is, else "". what: "mean", "share", "mean position",
    "mean day", or what a transform makes of the mean. value: in the data's units; of a date days since 1970-01-01.
    text: the value as the owner would write it.
    """

    column: str
    level: str
    what: str
    value: float
    text: str


def mean_terms(kinds: Kinds, mean: Sequence[float] | np.ndarray) -> tuple[Term, ...]:
    """Return noisy means in the terms of their declaration."""
    values, at = [float(x) for x in mean], 0
    terms: list[Term] = []
    for name, kind in kinds:
        levels = kind.levels if kind.kind == CATEGORY else kind.values[1:] if kind.kind == YES_NO else ("",)
        for level, (low, high) in zip(levels, kind.limits, strict=True):
            terms.append(
                _term(name, level, kind, min(max(values[at], low), high) if values[at] == values[at] else math.nan)
            )
            at += 1
    if at != len(values):
        raise ValueError(f"mean must have one number for each of {at} measured columns, got {len(values)}.")
    return tuple(terms)


def _term(name: str, level: str, kind: Kind, x: float) -> Term:
    """Return one mean, which is within the limits of its column or NaN."""
    if x != x:
        return Term(name, level, "unknown", x, "too few rows")
    if level:
        return Term(name, level, "share", x, f"{x:.1%}".replace("%", " %"))
    if kind.kind == DATE:
        return Term(name, "", "mean day", x, datetime.date.fromordinal(round(x) + FIRST_DAY).isoformat())
    if kind.kind == ORDINAL:
        below = min(math.floor(x), len(kind.values) - 1)
        near = (
            kind.values[round(x) - 1]
            if abs(x - round(x)) < 0.05
            else f"{kind.values[below - 1]} to {kind.values[below]}"
        )
        return Term(name, "", "mean position", x, f"{x:.2f} ({near})")
    if kind.transform is None:
        return Term(name, "", "mean", x, f"{x:.4g}")
    back = x * x if kind.transform == "sqrt" else natural_exp(x) - (kind.transform == "log1p")
    return Term(name, "", _BACK[kind.transform], back, f"{back:.4g}")
