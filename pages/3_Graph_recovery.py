"""Show Graph recovery: which links between variables survive the noise, and which are drawn from it."""

from __future__ import annotations

import streamlit as st

from pages.common import follow, frame, own_range, show, study_form, study_results
from pages.common.glossary import term
from pages.graphs import board, settings
from privcov.estimators.base import METHODS

study = frame.page("Graph recovery", keeps=board.SETTING_NAMES)
st.title("Graph recovery")
st.caption(
    f"Two variables are linked where the {term('precision')} is not zero. Which {term('edge', 'edges')} survive the "
    "noise?"
)
with show.problems():
    study = settings.effective(study)
    able, left_out = settings.methods_for(study.kind)
    show_answers = study_form.draw(study, default_source=settings.SOURCE, methods=able, left_out=left_out)
    data = study_results.dataset(study, settings.SOURCE)
    settings.ask_first(study, data)
    with st.spinner("Solving the path ..."):
        rel = study_results.release(study, default_source=settings.SOURCE)
    show_answers(rel, data)
    show.made_from(data, rel, METHODS.get(rel.method).label, own_range.mark(data))
    own_range.warn(data)
    settings.choose_reference(data)
    board.show_all(study, data, rel, settings.reference(data))
    follow.blur(study)
