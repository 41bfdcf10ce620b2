"""Numbers as people read them, for text and figures; it imports nothing, so a bundle's own script can carry it."""

from __future__ import annotations


def plain(value: float) -> str:
    """A number with three significant digits, without needless zeros or exponents."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"
