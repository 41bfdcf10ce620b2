"""Show the Home page: one slider for epsilon, a covariance matrix with and without noise, and links to every page."""

from __future__ import annotations

import dataclasses
from functools import partial

import streamlit as st

from pages.home import doors
from pages.shell import cached, frame, show, strip
from pages.shell.glossary import term
from pages.shell.study import Study
from privcov.figures.matrices import beyond, colour_limit, heatmap, still
from privcov.figures.words import percent, powers
from privcov.metrics.errors import error, reference_matrix

study = frame.page(frame.HOME)
palette = frame.palette()

st.title("What does privacy cost a covariance matrix?")
st.markdown(
    f"{term('differential-privacy', '**Differential privacy**')} limits what anyone can learn about your row. "
    f"Drag {term('epsilon')}."
)

# The demonstration keeps its own data and method; only epsilon is the study's.
demo = Study(data=(("n", 2000),), kind="approx", epsilon=study.epsilon, delta=study.delta, seed=study.seed)
_, middle, _ = st.columns([1, 4, 1])
with middle:
    strip.privacy_slider(study, kind="approx")

with show.problems():
    data = cached.dataset(demo)
    sample = reference_matrix(data, "covariance", "sample")
    limit = colour_limit(sample)
    left, right, story = st.columns([5, 5, 4], gap="medium")
    with left, st.container(border=True):
        st.markdown("**Without privacy**")
        arguments = (sample, data.columns, limit, palette)
        show.still(
            still(*arguments, what="the sample covariance"),
            "sample",
            palette,
            partial(heatmap, *arguments, what="the sample covariance"),
        )
    # After the first picture: the browser draws it while the noise is calibrated, which loads scipy on first use.
    rel = cached.release(demo, method="gaussian-cov")
    with right, st.container(border=True):
        st.markdown(f"**Released with epsilon = {study.epsilon:g}**")
        arguments = (rel.matrix, data.columns, limit, palette)
        show.still(
            still(*arguments, what="the released covariance"),
            "released",
            palette,
            partial(heatmap, *arguments, what="the released covariance"),
        )
    with story:
        wrong = error(rel, data, relative=True)
        st.metric(
            "Error of the release",
            percent(wrong),
            border=True,
            help="Relative Frobenius error against the sample; 100 % is as bad as zero.",
        )
        with st.container(border=True):
            st.markdown(f"**Attacker's best chance, this release: {show.chance(rel.attacker_success)}**")
            show.attacker_meter(rel.attacker_success, palette)
            st.caption(f"Best guess at one person's row, by an {term('attacker', 'attacker')} who knows all others.")
    show.colour_note("covariance", beyond(rel.matrix, limit, "released"))
    show.tag(
        "Simulated",
        f"2,000 people, 20 measurements each; Gaussian mechanism, (epsilon, {powers(study.delta)})-DP, one noise draw.",
    )

doors.doors()
doors.every_page(dataclasses.replace(study, kind="approx"))
