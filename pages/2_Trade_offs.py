"""Show Trade-offs: how the error moves with the guarantee, the data and the bound, for several methods."""

from __future__ import annotations

import streamlit as st

from pages.shell import address, cached, frame, show, sidebar
from pages.shell.glossary import term
from pages.trade_offs import curves, form, saved, which_epsilon, who_wins

study = frame.page(
    "Trade-offs",
    keeps=("tab", *form.KEEPS, *saved.KEEPS, *which_epsilon.KEEPS, *who_wins.KEEPS),
)
sidebar.draw(study, method=False)
st.title("Trade-offs")
st.markdown(
    "Choose methods, draw the curves, and read off where one overtakes another, or where none beats a "
    f"{term('zero-matrix', 'trivial answer')}."
)

first, epsilon, winner, last = address.tabs(
    ["Curves", "Which epsilon?", "Who wins where?", "Pinned"], name="tab", key="tradeoffs.tab"
)

if first.open:
    with first, show.problems():
        preset = form.presets()
        plans = saved.plans()
        if preset is not None:
            sweep, metric = form.preset_form(preset)
            curves.section(sweep, metric, None, study)
        elif plans:
            sweep, metric = saved.form_of(plans)
            curves.section(sweep, metric, None, study)
        else:
            data = cached.dataset(study)
            sweep, metric = form.own_form(study, data)
            curves.section(sweep, metric, data, study)

for tab, part in ((epsilon, which_epsilon), (winner, who_wins)):
    if tab.open:
        with tab, show.problems():
            part.section(study, cached.dataset(study))

if last.open:
    with last:
        curves.pinned()
