"""Which links between variables survive the noise, and which are drawn from it."""

from __future__ import annotations

import streamlit as st

from pages.parts import cached, controls, frame, graph_board, graph_set, roc_form, show
from pages.parts.glossary import term
from privcov.estimators.base import METHODS

study = frame.page("Graph recovery", keeps=(*graph_board.KEEPS, *roc_form.KEEPS))
st.title("Graph recovery")
st.markdown(
    f"Two variables are linked when their entry in the {term('precision')} is not zero. The "
    f"{term('lambda', 'graphical lasso')} draws a network from the noisy matrix; its penalty lambda decides how many "
    f"{term('edge', 'edges')}. **Move lambda, then the privacy slider, "
    "and watch which edges stay.**"
)
with show.problems():
    study = graph_set.effective(study)
    able, left_out = graph_set.offered(study.kind)
    controls.sidebar(study, default_source=graph_set.SOURCE, methods=able, left_out=left_out)
    graph_set.presets()
    st.caption(graph_set.told(study))
    data = cached.dataset(study, graph_set.SOURCE)
    graph_set.ask_first(study, data)
    with st.spinner("Solving the path ..."):
        rel = cached.release(study, default_source=graph_set.SOURCE)
    show.made_from(data, rel, METHODS.get(rel.method).label)
    graph_set.choose_reference(data)
    graph_board.show_all(study, data, rel, graph_set.reference(data))
