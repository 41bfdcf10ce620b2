"""Which links between variables survive the noise, and which are drawn from it."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from pages.parts import cached, controls, frame, roc, show
from privcov.estimators.base import METHODS
from privcov.figures.graphs import network
from privcov.figures.graphs import roc as roc_figure
from privcov.metrics.graphs import edges

DEFAULT = "precision-ar2"

study = frame.page("Graph recovery")
palette = frame.palette()
frame.freeze_after("sklearn.covariance")
controls.sidebar(study, default_source=DEFAULT, method=False)
st.title("Graph recovery")
st.markdown(
    "Two variables are linked when their entry in the precision matrix is not zero. The graphical lasso draws a graph "
    "from the noisy matrix; its penalty lambda decides how many edges."
)
card = METHODS.get("glasso-gaussian")

with show.problems():
    if card.refuses(study.kind):
        raise ValueError(f"{card.refuses(study.kind)} Choose zCDP or approximate DP in the sidebar.")
    data = cached.dataset(study, DEFAULT)
    asked = dataclasses.replace(study, method=card.key, options=(("rule", "half-universal"),))
    rel = cached.release(asked, default_source=DEFAULT)
    truth = data.truth.precision if data.truth is not None else None
    show.tag(data.provenance.capitalize(), f"{data.n:,} rows, {data.d} columns; {card.label}, {rel.given}")

    left, right = st.columns(2, gap="large")
    with right:
        st.subheader("The recovered network")
        solved = [i for i, fit in enumerate(rel.path) if fit.precision is not None]
        chosen = next(i for i in solved if np.array_equal(rel.path[i].precision, rel.precision))
        at = (
            st.select_slider(
                "Penalty lambda",
                solved,
                value=chosen,
                key=f"lambda-{rel.guarantee}-{study.seed}",
                format_func=lambda i: f"{rel.path[i].lam:.3g}" + (" (chosen)" if i == chosen else ""),
                help="Moving it only reads the path again: free, and no new computation.",
            )
            if len(solved) > 1
            else chosen
        )
        controls.ends("fewer edges", "more edges")
        found = edges(rel.path[at].precision)
        true = edges(truth) if truth is not None else None
        show.picture(network(found, true, data.columns, palette), "network")
        if true is not None:
            hits, total = int(np.triu(found & true).sum()), int(np.triu(found).sum())
            st.caption(
                f"{hits} of {int(np.triu(true).sum())} true edges found; {total - hits} of {total} drawn edges are "
                "false."
            )
        else:
            st.caption("The true graph of these data is not known, so edges cannot be checked.")
        for note in rel.notes:
            st.caption(note)
    with left:
        st.subheader("Found against false")
        if truth is None:
            st.info("A ROC curve needs a known graph. Choose the AR(2) graph under Data set.")
        else:
            roc_curves = roc.section(study, data, DEFAULT)
            if roc_curves:
                show.picture(roc_figure(roc_curves, palette), "roc")
                st.caption(
                    f"Each line: mean over {len(roc_curves[0][1])} replicates (fresh rows, fresh noise) along 20 "
                    "values of lambda; bands: 10 % to 90 % of replicates. A curve ends where the path ends."
                )
