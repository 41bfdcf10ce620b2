"""Show Published results: every printed table beside what PrivCov computes for it, with a verdict and its reasons."""

from __future__ import annotations

import streamlit as st

from pages.published import figures, summary
from pages.published import table as published_table
from pages.shell import frame, show
from pages.shell.glossary import term

frame.page("Published results", keeps=summary.KEEPS)
st.title("Published results")
st.markdown(
    "What the papers print, beside what comes out when it is computed again **as published** and with a "
    f"**{term('sound', 'sound')}** calibration. Choose a table to see its cells, why they agree or not, and what is "
    "left of it under a guarantee."
)
with show.problems():
    table = summary.section(frame.palette())
    st.divider()
    published_table.section(table, frame.palette())
    st.divider()
    figures.section(frame.palette())
