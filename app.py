"""Show the Home page: one slider for epsilon, a covariance matrix with and without noise, and links to every page."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.common import fields, follow, frame, show, study_form, study_results
from pages.common.glossary import term
from pages.common.study import Study
from pages.home import doors
from privcov.core.words import powers
from privcov.metrics.errors import error, reference_matrix
from privcov.plots.matrices import beyond, colour_limit, still

study = frame.page(frame.HOME)
palette = frame.palette()

st.title("What does privacy cost a covariance matrix?")
st.markdown(
    f"{term('differential-privacy', '**Differential privacy**')} limits what anyone can learn about your row. "
    f"Drag {term('epsilon')}."
)

# The demonstration keeps its own data and method; only epsilon is the study's.
demo = Study(data=(("n", 2000),), kind="approx", epsilon=study.epsilon, delta=study.delta, seed=study.seed)
with st.container(key="strip", horizontal=True, gap="small"):
    with st.container(key="strip-level", gap=None):
        study_form.privacy_slider(study, kind="approx")
    answers = st.container(key="strip-answers")

with show.problems():
    data = study_results.dataset(demo)
    sample = reference_matrix(data, "covariance", "sample")
    limit = colour_limit(sample)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Without privacy**")
        arguments = (sample, data.columns, limit, palette)
        show.still(still(*arguments, what="the sample covariance"), "sample", palette)
    # After the first picture: the browser draws it while the noise is calibrated, which loads scipy on first use.
    rel = study_results.release(demo, method="gaussian-cov")
    with answers:
        fields.show_error_and_attacker(
            rel, demo.epsilon, error(rel, data, relative=True), "sample", fields.THIS_RELEASE
        )
    with right:
        st.markdown("**Released**")
        arguments = (rel.matrix, data.columns, limit, palette)
        show.still(still(*arguments, what="the released covariance"), "released", palette)
    show.colour_note("covariance", beyond(rel.matrix, limit, "released"))
    show.tag(
        "Simulated",
        f"2,000 people, 20 measurements each; Gaussian mechanism, (epsilon, {powers(study.delta)})-DP, one noise draw.",
    )
    follow.draw(demo, limit, palette, "released", method="gaussian-cov")

approx_study = dataclasses.replace(study, kind="approx")
doors.doors(approx_study)
doors.every_page(approx_study)
