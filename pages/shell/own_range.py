"""The sentence that stays on whatever is made from a public table whose bounds are the file's own range."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.shell import visitor_files
from privcov.data_sources.csv_file import PublicTable
from privcov.dataset import Dataset

if TYPE_CHECKING:
    from privcov.bundle.front import Front

IF_PUBLIC = "With bounds from this file there is no guarantee: what is said of an attacker holds if they were public."
WIDE = 2.0  # times the file's own range, on request
_FAR = 20  # times the range of all but a hundredth of the values on either side


def of_column(table: PublicTable, name: str, times: float = 1.0) -> tuple[float, float]:
    """Return the range of the finite cells of a column, or one about its middle that is so many times as wide."""
    cells = table.frame[name].to_numpy()
    cells = cells[np.isfinite(cells)]
    low, high = (float(cells.min()), float(cells.max())) if len(cells) else (0.0, 0.0)
    more = (times - 1) * (high / 2 - low / 2)
    return low - more, high + more


def sentence(data: Dataset | None) -> str:
    """Return what has to be said of these rows, or "" where no bound comes from the file."""
    upload, held = visitor_files.upload(), visitor_files.table()
    if upload is None or held is None or data is None or data.bounds is None:
        return ""
    if data.name != held.name or data.columns != held.columns:
        return ""
    limits = zip(data.columns, data.bounds.tolist(), strict=True)
    count = sum(
        upload.ranged.get((name, "low")) == low or upload.ranged.get((name, "high")) == high
        for name, (low, high) in limits
    )
    if not count:
        return ""
    return (
        f"Bounds of {count} of {data.d} columns are the file's own range, so this is a preview and no release of "
        "these rows: one row alone can change a bound. Such a preview flatters: publicly known bounds are wider, and "
        "the error is usually larger with them."
    )


def mark(data: Dataset | None) -> str:
    """Return what stands beside every picture and in every file that is made from these rows, or ""."""
    return "not private, bounds from this file" if sentence(data) else ""


def far(cells: np.ndarray) -> bool:
    """Return whether a few values set the range of a column."""
    low, lower, upper, high = np.nanquantile(np.where(np.isfinite(cells), cells, np.nan), (0, 0.01, 0.99, 1))
    return lower < upper and high - low > _FAR * (upper - lower)


def warn(data: Dataset | None) -> None:
    """Show the sentence, with the way to mend it."""
    if words := sentence(data):
        st.warning(
            f"**Not private.** {words} Replace them by what is publicly known of each quantity: on Estimate, in "
            "**Your own table**, under **Columns and limits**."
        )


def marked(front: Front, words: str) -> Front:
    """Return the first side of a report with the sentence among its assumptions, and what it means for its risk.

    ``words`` is that of `sentence`, from when the page was drawn: a report is made on click, outside the visit.
    """
    if not words:
        return front
    assumptions = [("Not private", words), *front.assumptions]
    return dataclasses.replace(front, assumptions=assumptions, risk=f"{IF_PUBLIC} {front.risk}")
