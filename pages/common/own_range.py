"""The warning on everything made from a public table whose bounds are the file's own range."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import streamlit as st

from pages.common import visitor_files
from privcov.tables.dataset import Dataset

if TYPE_CHECKING:
    from privcov.bundle.summary import ReportSummary

IF_PUBLIC = "Bounds from this file give no guarantee: the chance of an attacker assumes public bounds."


def sentence(data: Dataset | None) -> str:
    """Return what has to be said of these rows, or "" where no bound comes from the file."""
    upload, table = visitor_files.upload(), visitor_files.table()
    if upload is None or table is None or data is None or not upload.from_file:
        return ""
    if data.name != table.name or data.columns != table.columns:
        return ""
    assert upload.declared is not None  # the rows are held under it
    return (
        f"The range of {upload.from_file} of {len(upload.declared.columns)} columns comes from the file, so this is a "
        "preview and no release of these rows: one row alone can change a bound. Such a preview flatters: nobody knows "
        "a range as well without the file."
    )


def mark(data: Dataset | None) -> str:
    """Return what stands beside every picture and in every file that is made from these rows, or ""."""
    return "not private, bounds from this file" if sentence(data) else ""


def warn(data: Dataset | None) -> None:
    """Show the sentence, with the way to mend it."""
    if words := sentence(data):
        st.warning(
            f"**Not private.** {words} Replace them by what is publicly known of each quantity: on Estimate, in "
            "**Your own table**, under **Columns and limits**."
        )


def with_warning(front: ReportSummary, words: str) -> ReportSummary:
    """Return the first side of a report with the sentence among its assumptions, and what it means for its risk.

    ``words`` is that of `sentence`, from when the page was drawn: a report is made on click, outside the visit.
    """
    if not words:
        return front
    assumptions = [("Not private", words), *front.assumptions]
    return dataclasses.replace(front, assumptions=assumptions, risk=f"{IF_PUBLIC} {front.risk}")
