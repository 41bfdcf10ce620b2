"""What follows from "most people lie between a and b", which is known of a quantity without looking at the rows.

Most is taken for nine in ten of a normal variable, in the measured scale. From it follow, where they are not declared:
the limits, three times as far; the typical value, the middle; the weight of the column, sqrt(h / s) for the farther
limit h and the standard deviation s, so that columns which use little of their range get less noise; and the row bound
R, which about 5 % of rows exceed; in it answers of few levels vary by `OF_FEW` of half their range at least, because
"2 to 4" is said of half of the answers from 1 to 5 as well. The squared length of k normal columns alike with
correlations of a half has the mean and the variance of a multiple of chi square with f = 4 k / (k + 3) degrees of
freedom; its quantile is that of Wilson and Hilferty (1931). A column of which no range is known counts with all of its
length.

Everything is rounded to what people would write, and computed by operations that are alike on every machine, so that a
declaration has the same facts everywhere.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from privcov.tables.declared_columns import LEAST_FRACTION
from privcov.tables.readers.kinds import (
    DATE,
    FIRST_DAY,
    INTEGER,
    ISO,
    NUMBER,
    ORDINAL,
    YES_NO,
    Kind,
    Transform,
    day_of,
    natural_exp,
)

NINE_IN_TEN = 1.645  # standard deviations
TIMES = 3.0  # limits not declared are this many times the range
MAX_DERIVED_WEIGHT = 10.0  # weight of a column
SELDOM = 0.1  # share of rows that differ from the typical value of a yes-no column
FEW, OF_FEW = 10, 0.45  # steps between the limits; answers from 1 to 5 have a deviation near 1
LONGER = 1.645  # standard deviations that 5 % of a normal variable exceed
_BETWEEN = r"(?:\s+(?:to|-)\s+|\s*(?:\.\.|\N{EN DASH})\s*)"
_RANGE = re.compile(rf"(\S.*?){_BETWEEN}(\S.*)|(\d[\d.,]*)-(\d[\d.,]*)")


def ends_in(text: str) -> tuple[str, str] | None:
    """Return the two ends in a text such as "20 to 70", or None where it is one value."""
    match = _RANGE.fullmatch(text.strip())
    return (match[1] or match[3], match[2] or match[4]) if match else None


def range_in(text: str, fields: dict[str, Any]) -> tuple[str, str] | None:
    """Return the two ends in the text of a typical value, or None where it is one value of the kind in ``fields``."""
    levels = fields.get("values") or ()
    dates = {fields.get("format") or ISO, ISO} if fields["kind"] == DATE else set()
    if text in levels or any(day_of(text, form) is not None for form in dates):
        return None
    for low in (level for level in levels if text.startswith(level)):
        for high in (level for level in levels if text.endswith(level)):
            if re.fullmatch(_BETWEEN, text[len(low) : len(text) - len(high)]):
                return low, high
    return ends_in(text)


def completed(fields: dict[str, Any], usual: tuple[Any, Any]) -> dict[str, Any]:
    """Return the range and the typical value of a column, and limits and weight where ``fields`` leave them out.

    ``fields`` are those of its `Kind`. Raises ValueError for a range that cannot be.
    """
    try:
        return _completed(fields, usual)
    except (TypeError, LookupError, ArithmeticError) as problem:  # such as the end of the calendar, or of the numbers
        raise ValueError(
            f"nothing follows from the range {usual!a:.60} ({type(problem).__name__}): give two values, the lower one "
            "first, and the limits."
        ) from None


def _completed(fields: dict[str, Any], usual: tuple[Any, Any]) -> dict[str, Any]:
    usual = (usual[0], usual[1])
    range_text = " to ".join(f"{end:g}" if isinstance(end, float) else str(end) for end in usual)
    wrong = f"most people must lie between two values, the lower one first, got {range_text}."
    kind, entries = fields["kind"], dict(fields)
    if kind not in (NUMBER, INTEGER, DATE, ORDINAL):
        raise ValueError(f"a {kind} column has no range in which most people lie: give one typical value, or none.")
    numeric = kind in (NUMBER, INTEGER)
    if numeric:
        if not all(isinstance(end, Real) and not isinstance(end, bool) for end in usual):
            raise ValueError(f"the range of numbers has two numbers, got {usual!a:.60}. Correct it.")
        usual = (float(usual[0]), float(usual[1]))
        if not -math.inf < usual[0] < usual[1] < math.inf:
            raise ValueError(wrong)
        least = {"log": 0.0, "log1p": -1.0, "sqrt": 0.0}.get(entries["transform"] or "", -math.inf)
        if usual[0] < least or (usual[0] == least and entries["transform"] in ("log", "log1p")):
            raise ValueError(f"{entries['transform']} needs a range from above {least:g}, got {range_text}.")
    if kind != ORDINAL and None in (entries["low"], entries["high"]):
        for name, end in zip(("low", "high"), _limits(usual, entries), strict=True):
            entries[name] = end if entries[name] is None else entries[name]
    try:
        low, high = _ends(Kind(**entries), usual)
    except ValueError as problem:
        if "typical must be inside" not in str(problem):
            raise
        raise ValueError(
            f"most people lie from {range_text}, beyond the limits {entries['low']} to {entries['high']}. "
            "Widen the limits, or leave them empty."
        ) from None
    if not low < high:
        raise ValueError(wrong)
    middle = (low + high) / 2
    if numeric:
        step = 10.0 ** math.floor(math.log10((usual[1] - usual[0]) / 20))
        step = max(step, 1.0) if kind == INTEGER else step
        typical = float(f"{round(_back(middle, entries['transform']) / step) * step:.12g}")
        entries["typical"] = min(max(typical, _whole(usual[0], kind, 0)), _whole(usual[1], kind, 1))
    elif kind == DATE:
        entries["typical"] = datetime.date.fromordinal(round(middle) + FIRST_DAY).isoformat()
    else:
        entries["typical"] = entries["values"][round(middle) - 1]
    if entries["weight"] == 1:
        entries["weight"] = min(float(f"{1 / math.sqrt(spread(Kind(**entries), usual)):.2g}"), MAX_DERIVED_WEIGHT)
    return {"typical_range": usual} | {name: entries[name] for name in ("low", "high", "typical", "weight")}


def spread(kind: Kind, usual: tuple[Any, Any]) -> float:
    """Return the standard deviation of a column, as a fraction of the way to its farther limit."""
    low, high = _ends(kind, usual)
    return (high - low) / 2 / NINE_IN_TEN / _half(kind)


def row_bound_fraction(columns: Sequence[tuple[Kind, tuple[Any, Any] | None]]) -> float:
    """Return the row bound as a fraction of the longest possible row, rounded up to two digits; 1 without a range."""
    squares, whole, longest = [], 0.0, 0.0
    for kind, usual in columns:
        square = kind.weight**2
        longest += square
        if usual is not None:
            low, high = _ends(kind, usual)
            off = ((low + high) / 2 - kind.origins[0]) / _half(kind)
            least = OF_FEW * float(np.ptp(kind.limits)) / 2 / _half(kind) if is_few(kind) else 0.0
            squares.append(square * (max(spread(kind, usual), least) ** 2 + off**2))
        elif kind.kind == YES_NO and kind.typical is not None:
            squares.append(square * SELDOM)
        else:
            whole += square
    if not any(usual is not None for _, usual in columns):
        return 1.0
    part = 2 * (len(squares) + 3) / (9 * 4 * len(squares))
    share = math.sqrt((whole + (1 - part + LONGER * math.sqrt(part)) ** 3 * math.fsum(squares)) / longest)
    unit = 10.0 ** (math.floor(math.log10(share)) - 1)
    return max(min(float(f"{math.ceil(share / unit - 1e-9) * unit:.2g}"), 1.0), LEAST_FRACTION)


def is_few(kind: Kind) -> bool:
    """Return whether a column has few levels, one step apart."""
    return kind.kind in (ORDINAL, INTEGER) and kind.transform is None and bool(np.ptp(kind.limits) <= FEW)


def _half(kind: Kind) -> float:
    """Return the distance from the typical value to the farther limit, in the measured scale."""
    ((low, high),), (origin,) = kind.limits, kind.origins
    return max(high - origin, origin - low)


def _ends(kind: Kind, usual: tuple[Any, Any]) -> list[float]:
    """Return both ends in the measured scale; for whole numbers, rounded outwards."""
    return [dataclasses.replace(kind, typical=_whole(end, kind.kind, k)).origins[0] for k, end in enumerate(usual)]


def _whole(end: Any, kind: str, upper: int) -> Any:
    """Return an end as a value of the column: of whole numbers the next one outside."""
    return float((math.floor, math.ceil)[upper](end)) if kind == INTEGER else end


def _limits(usual: tuple[Any, Any], fields: dict[str, Any]) -> tuple[Any, Any]:
    """Return limits three times as far from the middle; not below zero for numbers whose range is not."""
    if fields["kind"] == DATE:
        first, last = (datetime.date.fromisoformat(str(end)) for end in _dates(usual, fields["format"]))
        return (first - (last - first)).isoformat(), (last + (last - first)).isoformat()
    transform = fields["transform"]
    low, high = (float(_of(end, transform)) for end in usual)
    middle, half = (low + high) / 2, TIMES * (high - low) / 2
    step = 10.0 ** math.floor(math.log10(usual[1] - usual[0]))
    least = _back(middle - half, transform) if transform != "sqrt" or middle > half else 0.0
    lowest, highest = math.floor(least / step) * step, math.ceil(_back(middle + half, transform) / step - 1e-9) * step
    if transform == "log":
        lowest = 1.0 if fields["kind"] == INTEGER else float(f"{least:.1g}")
    elif transform == "log1p" and usual[0] < 0:
        lowest = float(f"{least:.2g}")
    lowest, highest = float(f"{lowest:.12g}"), float(f"{highest:.12g}")
    return _whole(max(lowest, 0.0) if usual[0] >= 0 else lowest, fields["kind"], 0), _whole(highest, fields["kind"], 1)


def _dates(usual: tuple[Any, Any], form: str) -> tuple[Any, Any]:
    try:
        kind = Kind(DATE, *usual, format=form)
    except ValueError as problem:
        if "must be a date" not in str(problem):
            raise
        raise ValueError(
            f"most people lie between two dates, such as 2024-01-31 or in the format {form!r}, got "
            f"{' to '.join(map(str, usual))}."
        ) from None
    return kind.low, kind.high


def _of(x: float, transform: Transform | None) -> np.float64:
    return Kind(NUMBER, 1.0, 2.0, transform=transform).transformed(np.array([x]))[0]


def _back(x: float, transform: str | None) -> float:
    if transform is None:
        return x
    return x * x if transform == "sqrt" else natural_exp(x) - (transform == "log1p")
