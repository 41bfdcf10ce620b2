"""Numbers and names as people read them, in text and on figures.

Imports nothing but Python's own library, so that a bundle's script can carry it.
"""

from __future__ import annotations

import unicodedata
from html import escape, unescape


def plain(value: float) -> str:
    """A number with three significant digits, without needless zeros or exponents."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"


def safe(text: object) -> str:
    """Column names as text: plotly would read markup in them."""
    return escape(str(text), quote=False)


def brief(name: str, letters: int = 26) -> str:
    """A name as a label: cut short, and without the invisible letters that would turn the words beside it."""
    seen = "".join(c for c in name if unicodedata.category(c) not in ("Cc", "Cf"))
    return seen if len(seen) <= letters else seen[: letters - 1] + "…"


def cut(name: str, letters: int) -> str:
    """An escaped name, longer than ``letters``, of that many letters."""
    return safe(unescape(name)[: letters - 1].rstrip() + "…")
