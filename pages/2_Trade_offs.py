"""How the error moves with the guarantee, the data and the bound, for several methods on the same rows."""

from __future__ import annotations

import streamlit as st

from pages.parts import (
    cached,
    controls,
    frame,
    share,
    show,
    tradeoffs_form,
    tradeoffs_opened,
    tradeoffs_pins,
    tradeoffs_view,
    which_epsilon,
    who_wins,
    who_wins_set,
)
from pages.parts.glossary import term

study = frame.page(
    "Trade-offs",
    keeps=("tab", *tradeoffs_form.KEEPS, *tradeoffs_opened.KEEPS, *which_epsilon.KEEPS, *who_wins_set.KEEPS),
)
controls.sidebar(study, method=False)
st.title("Trade-offs")
st.markdown(
    "Choose methods, draw the curves, and read off where one overtakes another, or where none beats a "
    f"{term('zero-matrix', 'trivial answer')}."
)

first, epsilon, winner, last = share.tabs(
    ["Curves", "Which epsilon?", "Who wins where?", "Pinned"], name="tab", key="tradeoffs.tab"
)

if first.open:
    with first, show.problems():
        preset = tradeoffs_form.presets()
        plans = tradeoffs_opened.plans()
        if preset is not None:
            made, metric = tradeoffs_form.preset_form(preset)
            tradeoffs_view.section(made, metric, None, study)
        elif plans:
            made, metric = tradeoffs_opened.form(plans)
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
