"""How the error moves with the guarantee, the data and the bound, for several methods on the same rows."""

from __future__ import annotations

import importlib.util

import streamlit as st

from pages.parts import cached, controls, frame, show, tradeoffs_form, tradeoffs_pins, tradeoffs_view

TABS = {"Which epsilon?": "pages.parts.which_epsilon", "Who wins where?": "pages.parts.who_wins"}

study = frame.page("Trade-offs")
controls.sidebar(study, method=False)
st.title("Trade-offs")
st.markdown(
    "Choose methods, draw the curves, and read off where one overtakes another, or where none beats a trivial answer."
)

there = {title: module for title, module in TABS.items() if importlib.util.find_spec(module)}
opened = st.tabs(["Curves", *there, "Pinned"], key="tradeoffs.tab", on_change="rerun")
first, *middle, last = opened

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

for tab, module in zip(middle, there.values(), strict=True):
    if tab.open:
        with tab, show.problems():
            importlib.import_module(module).section(study, cached.dataset(study))

if last.open:
    with last:
        tradeoffs_pins.section()
