"""Show Published results: what holds of five papers, and every printed table beside what PrivCov computes for it."""

from __future__ import annotations

import streamlit as st

from pages.common import frame, show
from pages.common.glossary import term
from pages.published import front, table_view

frame.page("Published results", keeps=("table", "tab", "norm", "panel", "shown"))
st.title("Published results")
st.markdown(f"Five papers, computed again **as published** and with a **{term('sound', 'sound')}** calibration.")
with show.problems():
    front.section(frame.palette())
    st.header("A table or figure")
    table_view.section(frame.palette())
