"""Show Trade-offs: how the error moves with the guarantee, the data and the bound, for several methods."""

from __future__ import annotations

import streamlit as st

from pages.common import address, cached, frame, own_range, show, strip
from pages.common.glossary import term
from pages.trade_offs import answer, curves, form

study = frame.page("Trade-offs", keeps=("tab", *answer.KEEPS, *form.KEEPS))
st.title(
    "Trade-offs",
    help=f"The error against the guarantee, and whether it beats a {term('zero-matrix', 'trivial answer')}.",
)
strip.draw(study, method=False)

with show.problems():
    answer.section(study)

first, last = address.tabs(form.TABS, name="tab", key="tradeoffs.tab")

if first.open:
    with first, show.problems():
        data = cached.dataset(study)
        own_range.warn(data)
        curves.section(form.own_form(study, data), data, study)

if last.open:
    with last:
        curves.pinned()
