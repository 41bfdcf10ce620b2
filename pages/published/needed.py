"""What n a sound calibration needs for a published accuracy: of one table, and of every curve of the five papers."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from pages.published import summary
from pages.shell import address, show
from pages.shell.papers import place_in
from privcov.figures.words import plain
from privcov.papers.catalogue import TABLES
from privcov.papers.curves import every_curve
from privcov.papers.needed import Crossing, Needed

MEANS = (
    "In brackets a 95 % interval for the scatter of the runs. Where fewer rows than the smallest n computed may do, "
    "that n is an upper limit."
)


@st.cache_data(show_spinner="Reading every curve ...", max_entries=2)
def _every(stamp: tuple) -> pd.DataFrame:
    """Return every curve, cached until a stored number changes."""
    return every_curve()


def words(one: Crossing, least: float, most: float = math.inf) -> str:
    """Return a number of rows, or a multiple of n, with its interval.

    ``least`` is the smallest that was computed, ``most`` the largest.
    """
    if math.isnan(one.rows):
        return "-"
    beyond = f"more than {plain(most)}" if math.isfinite(most) else "more than computed"
    if not math.isfinite(one.rows):
        return beyond if not math.isfinite(one.low) else f"{beyond} (from {plain(one.low)})"
    if one.rows <= least:
        return f"at most {plain(least if one.high <= least else one.high)}"
    low = f"{plain(one.low)}" if one.low > least else f"at most {plain(least)}"
    return f"{plain(one.rows)} ({low} to {plain(one.high) if math.isfinite(one.high) else beyond})"


def section(needed: list[Needed]) -> None:
    """Show what n one table's errors need."""
    if not needed:
        return
    st.markdown(f"**What n the same error really needs**, from n = {needed[0].start:,.0f}:")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Estimator": one.method,
                    "Norm": one.metric,
                    "At": one.where,
                    "Error as published": plain(one.goal),
                    "Sound error": plain(one.sound),
                    "Rows for the published error": words(one.published, one.start, one.tried),
                    "Rows for half the error without data": words(one.half, one.start, one.tried),
                    "Error falls like n to the": f"{one.falls:.2f}",
                }
                for one in needed
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption(MEANS)


def every() -> None:
    """Show, when asked, every curve of the five papers: whether it survives, and what n it needs."""
    asked = address.bound(
        st.toggle, "Every published curve: what survives a sound calibration, and what n it needs", name="needed",
        default=False, key="published.needed",
    )  # fmt: skip
    if not asked:
        return
    found = _every(summary.stored_at())
    st.markdown(
        f"**{int(found['survives'].sum())} of {len(found)} curves survive**: the sound error is at most a tenth above "
        "the published one, and a tenth below an answer without data."
    )
    rows = []
    for one in found.to_dict("records"):
        times, half = (
            Crossing(one[name], one[f"{name}_low"], one[f"{name}_high"]) for name in ("times", "half")
        )  # fmt: skip
        table = TABLES[one["table"]]
        rows.append(
            {
                "Table or figure": place_in(table.paper, table.where),
                "Curve": one["curve"],
                "Survives": "yes" if one["survives"] else "no",
                "Sound / as published": plain(one["ratio"]),
                "Times n for the published error": words(times, one["least"]),
                "Times n for half the error without data": words(half, one["least"]),
            }
        )
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(
        f"{MEANS} Along n the rows were drawn; along epsilon or rho the noise falls like 1/n on a fixed sample matrix. "
        "A dash: n does not vary there, or there is no answer without data to compare with."
    )
    show.download("Every curve (CSV)", lambda: found.to_csv(index=False), "curves.csv", key="published-curves-csv")
