"""What every slider of the site has in common: round values on a log scale, and words at both ends."""

from __future__ import annotations

import functools

import streamlit as st

_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


def log_grid(low: float, high: float, *also: float, whole: bool = False) -> list:
    """Round numbers about evenly spaced on a log scale from low to high, and the extra values."""
    return list(_log_grid(low, high, whole, *also))


@functools.lru_cache(maxsize=256, typed=True)
def _log_grid(low: float, high: float, whole: bool, *also: float) -> list:
    decade = -16
    values = set(also)
    while 10.0**decade <= high:
        values |= {float(f"{m * 10.0**decade:.6g}") for m in _STEPS}
        decade += 1
    kept = sorted(v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9) or v in also)
    return sorted({int(v) for v in kept if v == int(v)}) if whole else kept


def ends(left: str, right: str, where=st) -> None:
    """Words at the two ends of the slider above."""
    where.html(f'<div class="pc-ends"><span>{left}</span><span>{right}</span></div>')
