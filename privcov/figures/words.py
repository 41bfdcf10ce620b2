"""Numbers and names as people read them, in text and on figures.

Imports only Python's standard library, so that a bundle's script can contain it.
"""

from __future__ import annotations

import unicodedata
from html import escape, unescape


def plain(value: float) -> str:
    """Return a number with three significant digits, without needless zeros or exponents."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"


def safe(text: object) -> str:
    """Return text, such as a column name, with its markup escaped: plotly would interpret it."""
    return escape(str(text), quote=False)


def brief(name: str, letters: int = 26) -> str:
    """Return a name as a label: cut short, and without invisible letters that would reverse the words beside it."""
    seen = "".join(c for c in name if unicodedata.category(c) not in ("Cc", "Cf"))
    return seen if len(seen) <= letters else seen[: letters - 1] + "…"


def cut(name: str, letters: int) -> str:
    """Return an escaped name, longer than ``letters``, cut to that many letters."""
    return safe(unescape(name)[: letters - 1].rstrip() + "…")
