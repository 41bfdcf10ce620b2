"""How the error moves with the guarantee, the data and the bound, for several methods on the same rows."""

from __future__ import annotations

import streamlit as st

from pages.parts import (
    cached,
    controls,
    frame,
    show,
    tradeoffs_form,
    tradeoffs_pins,
    tradeoffs_view,
    which_epsilon,
    who_wins,
)

study = frame.page("Trade-offs")
controls.sidebar(study, method=False)
st.title("Trade-offs")
st.markdown(
    "Choose methods, draw the curves, and read off where one overtakes another, or where none beats a trivial answer."
)

first, epsilon, winner, last = st.tabs(
    ["Curves", "Which epsilon?", "Who wins where?", "Pinned"], key="tradeoffs.tab", on_change="rerun"
)

if first.open:
    with first, show.problems():
        preset = tradeoffs_form.presets()
        if preset is not None:
            made, metric = tradeoffs_form.preset_form(preset)
            tradeoffs_view.section(made, metric, None, study)
        else:
            data = cached.dataset(study)
            made, metric = tradeoffs_form.own_form(study, data)
            tradeoffs_view.section(made, metric, data, study)

for tab, part in ((epsilon, which_epsilon), (winner, who_wins)):
    if tab.open:
        with tab, show.problems():
            part.section(study, cached.dataset(study))

if last.open:
    with last:
        tradeoffs_pins.section()
