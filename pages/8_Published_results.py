"""Every printed table of the papers beside what the project computes for it, with a verdict and its reasons."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, published_figures, published_summary, published_table, show
from pages.parts.glossary import term

frame.page("Published results", keeps=published_summary.KEEPS)
st.title("Published results")
st.markdown(
    "What the papers print, beside what comes out when it is computed again **as published** and with a "
    f"**{term('sound', 'sound')}** calibration. Choose a table to see its cells, why they agree or not, and what is "
    "left of it under a guarantee."
)
with show.problems():
    table = published_summary.section(frame.palette())
    st.divider()
    published_table.section(table, frame.palette())
    st.divider()
    published_figures.section(frame.palette())
