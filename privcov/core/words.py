"""Numbers and names as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from html import escape
from typing import Literal

SCALED = "columns scaled by their public bounds"  # the unit of a matrix whose columns have half-range 1
NEARLY = 0.9999  # an attacker's chance; beyond, more digits tell nothing
_ROUNDINGS = {"": ROUND_HALF_EVEN, "at most": ROUND_CEILING, "at least": ROUND_FLOOR}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_EXPONENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?![\w.])")


def plain(value: float) -> str:
    """Return a number with three significant digits, without needless zeros; far from 1 as a power of ten."""
    if value == 0 or 1e-3 <= abs(value) < 1e5 or not math.isfinite(value):
        return f"{value:.3g}" if not abs(value) >= 1000 else f"{value:,.0f}"
    return powers(value, 2)


def percent(value: float, bound: Literal["", "at most", "at least"] = "") -> str:
    """Return a fraction in percent, such as "27.6 %" or "10 %", with a space that no line breaks at.

    One decimal, and none for a whole number or from 1,000 % on. A fraction closer to 0 or to 1 keeps the first digit of
    the difference, so that only 0 is "0 %" and only 1 is "100 %". ``bound`` says on which side of the value the text
    stays. "undefined" where the value is not finite.
    """
    if not math.isfinite(value):
        return "undefined"
    exact = Decimal(f"{100 * value:.12g}")
    edge = min(abs(exact), abs(abs(exact) - 100))
    digits = 0 if abs(exact) >= 1000 else 1 if edge == 0 else min(max(1, -edge.adjusted()), 9)
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=_ROUNDINGS[bound])
    text = f"{rounded or 0:,f}"  # a zero without its sign
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "\u00a0%"


def chance(success: float, *, most: bool = False, exact: bool = False) -> str:
    """Return an attacker's chance of a right guess in percent, rounded up; "over 99.99 %" where it is nearly certain.

    ``most`` says that it is a bound: "at most 73.2 %". ``exact`` is for a closed form, rounded to the nearest.
    """
    if NEARLY < success < 1:
        return ("a bound " if most else "") + "over 99.99\u00a0%"
    return ("at most " if most else "") + percent(success, "" if exact else "at most")


def powers(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, and a power of ten (2.5 × 10⁻⁷) where Python has an exponent."""
    return to_powers(f"{value:.{digits}g}")


def to_powers(text: str) -> str:
    """Return the text with every number such as 1e-06 written as a power of ten."""

    def one(match: re.Match[str]) -> str:
        power = f"10{str(int(match[2])).translate(_RAISED)}"
        return power if float(match[1]) == 1 else f"{match[1]} × {power}"

    return _EXPONENT.sub(one, text)


def safe(text: object) -> str:
    """Return text, such as a column name, with its markup escaped: plotly would interpret it."""
    return escape(str(text), quote=False)


def brief(name: str, letters: int = 26) -> str:
    """Return a name as a label: cut short, and without invisible letters that would reverse the words beside it."""
    visible_name = "".join(c for c in name if unicodedata.category(c) not in ("Cc", "Cf"))
    return visible_name if len(visible_name) <= letters else visible_name[: letters - 1].rstrip() + "…"


def labels(names: Iterable[str], letters: int) -> dict[str, str]:
    """Return a short label for each name: its beginning, or its end where several names begin alike."""
    short_names = {name: brief(name, letters) for name in names}
    for label in [label for label, count in Counter(short_names.values()).items() if count > 1]:
        alike = [name for name, short in short_names.items() if short == label]
        first, last = min(alike), max(alike)
        same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first) - 1)
        start = max(alike[0].rfind(mark, 0, same) for mark in " _-.") + 1 or same
        short_names |= {name: brief(f"…{name[start:]}", letters) for name in alike}
    return short_names


def duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours."""
    if seconds < 1.5:
        return "about a second"
    for limit, unit, name in ((90, 1, "seconds"), (5400, 60, "minutes"), (math.inf, 3600, "hours")):
        if seconds < limit:
            return f"about {round(seconds / unit):,} {name}"
    return ""
