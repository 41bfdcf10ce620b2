"""Show Published results: what holds in words, and every printed table beside what PrivCov computes for it."""

from __future__ import annotations

import streamlit as st

from pages.published import figures, front, needed, summary
from pages.published import table as published_table
from pages.shell import address, frame, show
from pages.shell.glossary import term

WORDS, ALL, ONE, FIGURES = "In words", "All tables", "One table", "Figures"
_PARTS = {address.word(label): label for label in (WORDS, ALL, ONE, FIGURES)}


def opened() -> str:
    """Return the tab that the address asks for; that of its table or figure where it names no tab."""
    if frame.own("part") in _PARTS:
        return _PARTS[frame.own("part")]
    return FIGURES if frame.own("figure") else ONE if frame.own("table") else WORDS


def part_changed() -> None:
    """Write the tab that was chosen by hand into the address."""
    frame.put(part=address.word(st.session_state["published.part"] or WORDS))


frame.page("Published results", keeps=("part", *summary.KEEPS))
st.title("Published results")
st.markdown(f"Printed results, computed again **as published** and with a **{term('sound', 'sound')}** calibration.")
if st.session_state.get("published.part") != opened():
    st.session_state["published.part"] = opened()
words, every, one, drawn = st.tabs([WORDS, ALL, ONE, FIGURES], key="published.part", on_change=part_changed)
with show.problems():
    with words:
        front.section()
    with every:
        table = summary.section(address.word(ONE))
        needed.every()
    with one:
        published_table.section(table, frame.palette())
    with drawn:
        figures.section(frame.palette())
