"""The papers at a glance: how many claims of each hold, and what to use instead; every claim and curve folded."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.common import show
from privcov.core import paths
from privcov.core.references import AUTHORS, place_in
from privcov.core.words import percent, plain, to_powers
from privcov.plots import published as pictures
from privcov.plots.palette import Palette


def section(palette: Palette) -> None:
    """Show the counts, and a sentence and the rest of the verdict of every paper."""
    claims = read_results("claims.csv").sort_values("paper", kind="stable")
    claims["paper"] = claims["paper"].map(AUTHORS)
    show.picture(pictures.verdicts(claims, palette), key="published-verdicts")
    for line in read_results("paragraphs.csv").itertuples():
        first, _, rest = line.paragraph.partition(". ")
        with st.expander(f"**{AUTHORS[line.paper]}**: {show.as_text(first)}."):
            st.markdown(show.as_text(to_powers(rest)))
    with st.expander(f"Every claim: {len(claims)} sentences and bounds"):
        columns = ["paper", "place", "claim", "verdict", "printed", "as published", "sound", "evidence", "note"]
        _table(claims[[*columns, "command"]], "claims")
    with st.expander("Every table and figure"):
        every = read_results("tables.csv")
        _table(
            pd.DataFrame(
                {
                    "where": [place_in(int(p), w) for p, w in zip(every["paper"], every["place"], strict=True)],
                    "what": every["title"],
                    "verdict": every["headline"],
                    "agree within error": [percent(round(x, 2)) if x == x else "" for x in every["within"]],
                    "reason found": every["reason"],
                }
            ),
            "tables",
        )
        st.caption(
            "Judged by the worst estimator in its worst norm. *Reproduced*: three quarters of the cells agree within "
            "Monte-Carlo error or 10 %. *Same shape, other level*: same order, and ours over printed nearly constant. "
            "We chose thresholds and open settings with the printed numbers in view."
        )
    with st.expander("Every curve: what survives a sound calibration, and what n it needs"):
        places = {one.table: place_in(int(one.paper), one.place) for one in read_results("tables.csv").itertuples()}
        curves = read_results("curves_kept.csv")
        show_survival(curves.assign(curve=curves["table"].map(places) + ": " + curves["curve"]))
    st.caption("Decided by `python -m replication publish` in the folder of the project.")


def _table(table: pd.DataFrame, name: str) -> None:
    table = table.rename(columns=lambda column: column[:1].upper() + column[1:])
    st.dataframe(table, hide_index=True, width="stretch")
    show.download("As CSV", lambda: table.to_csv(index=False), f"{name}.csv", key=f"published-{name}-csv")


def show_survival(curves: pd.DataFrame) -> None:
    """Show which curves survive a sound calibration, and the n that the same accuracy needs."""
    if curves.empty:
        st.info("No sound numbers are stored.")
        return
    st.markdown(
        f"**{(curves['survives'] == 'True').sum()} of {len(curves)} curves survive a sound calibration**: error at "
        "most a tenth above the published one, and a tenth below an answer without data."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Curve": one["curve"],
                    "Survives": "yes" if one["survives"] == "True" else "no",
                    "Sound / as published": plain(one["ratio"]),
                    "Error as published": plain(one["published"]),
                    "Sound": plain(one["sound"]),
                    "Without data": plain(one["trivial"]),
                    "Times n for the published error": multiple(one, "times"),
                    "Times n for half the error without data": multiple(one, "half"),
                }
                for one in curves.to_dict("records")
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        "In brackets a 95 % interval for the scatter of the runs. Along n the rows were drawn; along epsilon or rho "
        "the noise falls like 1/n on a fixed sample matrix, without sampling error. Edges found are judged by the area "
        "lost, one minus AUC; guessing loses half. A dash: n does not vary, or nothing is there to compare with."
    )


def multiple(one: dict, name: str) -> str:
    """Return a multiple of n with its interval; an upper limit where fewer rows than the smallest n may suffice."""
    least, value, low, high = (float(one[key]) for key in ("least", name, f"{name}_low", f"{name}_high"))
    if value != value:
        return "-"
    beyond = "more than computed"
    if value == float("inf"):
        return beyond if low == value else f"{beyond} (from {plain(low)})"
    if value <= least:
        return f"at most {plain(max(least, high))}"
    return (
        f"{plain(value)} ({plain(low) if low > least else f'at most {plain(least)}'} to "
        f"{plain(high) if high != float('inf') else beyond})"
    )


_NUMBERS = (
    "paper", "value", "se", "printed_se", "ours", "ours_se", "sound", "sound_se", "x", "cells", "ratio", "published",
    "trivial", "least", "times", "times_low", "times_high", "half", "half_low", "half_high", "within", "close", "met",
    "described",
)  # fmt: skip


@st.cache_data(show_spinner=False, max_entries=40)
def _read(name: str, stamp: float) -> pd.DataFrame:
    """Read a file, cached until it changes."""
    table = pd.read_csv(paths.results("replication") / name, dtype=str, keep_default_na=False)
    for column in set(_NUMBERS) & set(table):
        table[column] = pd.to_numeric(table[column], errors="coerce").astype(float)
    return table


def read_results(name: str, table: str = "") -> pd.DataFrame:
    """Return a file, or its lines about one table or figure."""
    lines = _read(name, (paths.results("replication") / name).stat().st_mtime)
    return lines[lines["table"] == table] if table else lines
