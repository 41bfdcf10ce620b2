"""Show Trade-offs: the error at an epsilon, the epsilon for an error, or the rows for an error."""

from __future__ import annotations

import streamlit as st

from pages.common import frame, show, study_form
from pages.common.glossary import term
from pages.trade_offs import answer

study = frame.page("Trade-offs", keeps=answer.SETTING_NAMES)
st.title(
    "Trade-offs",
    help=f"The error against the guarantee, and whether it beats a {term('zero-matrix', 'trivial answer')}.",
)
study_form.show_guarantee(study)

with show.problems():
    answer.section(study)
