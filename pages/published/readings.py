"""Other readings of one printed table: what each assumes, what was fitted, and how many cells come out."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shell import show
from privcov import places
from privcov.figures.words import percent, plain
from privcov.papers.base import Table
from privcov.papers.readings import FITTED, SEARCHED, SEEN, STATED, Result

COLOURS = {STATED: "green", SEEN: "blue", FITTED: "orange", SEARCHED: "violet"}


def best(results: list[Result]) -> str:
    """Return a line on the reading under which most cells of a table come out; "" where none gives more than described.

    A search chooses for every cell, so it is no reading of the table and is passed over.
    """
    single = [one for one in results if one.columns and one.reading.basis != SEARCHED]
    first = max(single, key=lambda one: one.share("met"), default=None)
    if first is None or first.share("met") <= first.share("described"):
        return ""
    cells = sum(column.cells for column in first.columns)
    return (
        f"Under another reading ({_basis(first)}) {_percent(first.share('met'))} of {cells} cells agree within error "
        f"or 10 %, as described {_percent(first.share('described'))}: see *Readings*."
    )


def section(table: Table, results: list[Result]) -> None:
    """Show every reading of a table."""
    if not results:
        st.info("No other reading of this table was computed.")
        return
    for one in results:
        with st.container(border=True):
            st.markdown(f":{COLOURS[one.reading.basis]}-badge[{_basis(one)}] {show.as_text(one.reading.assumes)}")
            for sentence in filter(None, (_shares(one), one.words, one.sentence)):
                st.markdown(show.as_text(sentence))
            if one.columns:
                st.dataframe(_columns(one), hide_index=True, width="stretch", height="content")
            if one.constants:
                values = "; ".join(f"{name} = {plain(value)}" for name, value in one.constants.items())
                st.caption(show.as_text(f"Fitted: {values}."))
            st.caption(f"`{places.command()} reproduce {' '.join(one.reading.made)}`")
    st.caption(
        "Within error: inside a 95 % interval of the difference. A fit was made with the printed numbers in view, so "
        "that its agreement is weaker evidence than that of a stated reading. Of a family the best member is shown, or "
        "the best for every pair of cells."
    )


def _basis(one: Result) -> str:
    """Return the basis of a reading with the number of its fitted constants."""
    free = one.reading.free
    return one.reading.basis + (f", {free} free constant{'s' if free > 1 else ''}" if free else "")


def _percent(share: float) -> str:
    return percent(round(share, 2))


def _shares(one: Result) -> str:
    if not one.columns:
        return ""
    cells = sum(column.cells for column in one.columns)
    return (
        f"Of {cells} cells {_percent(one.share('within'))} are within error, {_percent(one.share('close'))} within "
        f"10 % and {_percent(one.share('met'))} within one or the other, where as described "
        f"{_percent(one.share('described'))} are."
    )


def _columns(one: Result) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Estimator": column.method,
                "Norm": column.metric,
                "Cells": column.cells,
                "Within error": _percent(column.within),
                "Within 10 %": _percent(column.close),
                "One or the other": _percent(column.met),
                "As described": _percent(column.described),
                "Ours / printed (median)": plain(column.ratio),
            }
            for column in one.columns
        ]
    )
