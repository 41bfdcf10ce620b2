"""Show Trade-offs: how the error moves with the guarantee, the data and the bound, for several methods."""

from __future__ import annotations

import streamlit as st

from pages.shell import address, cached, frame, own_range, show, strip
from pages.shell.glossary import term
from pages.trade_offs import curves, form, sentence

study = frame.page("Trade-offs", keeps=("tab", *sentence.KEEPS, *form.KEEPS))
st.title(
    "Trade-offs",
    help=f"The error against the guarantee, and whether it beats a {term('zero-matrix', 'trivial answer')}.",
)
strip.draw(study, method=False)

methods: list[str] = []
with show.problems():
    data = cached.dataset(study)
    own_range.warn(data)
    brief = frame.page_setting("tab") not in ("", address.word(form.TABS[0]))
    methods = sentence.methods_of(sentence.section(study, data, brief=brief))

first, last = address.tabs(form.TABS, name="tab", key="tradeoffs.tab")

if first.open:
    with first, show.problems():
        data = cached.dataset(study)
        curves.section(form.own_form(study, data, methods), data, study)

if last.open:
    with last:
        curves.pinned()
