"""Precision matrices side by side on one colour scale, and the losses of Tables 1 and 2 of Su et al. 2019."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

import privcov
from pages.common import address, cached, frame, show
from pages.common.study import Study
from pages.graphs import settings
from privcov.metrics.errors import reference_matrix, working
from privcov.metrics.graphs import losses, partial_correlations, without_noise_at
from privcov.plots.matrices import beyond, colour_limit, heatmap
from privcov.plots.words import SCALED
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

_HEADS = {"l1": "Matrix l1", "frobenius": "Frobenius", "spectral": "Spectral"}


def section(study: Study, data: Dataset, rel: Release, at: int) -> None:
    """Show the tab for the graph at position ``at`` of the path, or of the edge test."""
    private = working(settings.graph_at(rel, at), rel.scale, "precision")
    with st.spinner("Solving without noise ..."):
        quiet = _without_noise(study, data, rel, at)
    same = "same test" if at == settings.TESTED else "same lambda"
    panels = [(f"Non-private, {same}", quiet), ("Private", private)]
    truth = None
    if data.truth is not None:
        truth = reference_matrix(data, "precision", "truth")
        panels = [("Truth", truth), *panels]
    partial = address.bound(
        st.toggle,
        "Partial correlations",
        name="partial",
        default=False,
        quiet=True,
        key="graph.partial",
        help="-theta_ij / sqrt(theta_ii theta_jj): correlation given all other columns, without a unit.",
    )
    shown = [(name, partial_correlations(m) if partial else m) for name, m in panels]
    limit = 1.0 if partial else colour_limit(shown[0][1])
    palette = frame.palette()
    what = "partial correlations" if partial else "precision"
    spots = [place for _ in range(2) for place in st.columns(2)]
    for (name, matrix), place in zip(shown, spots, strict=False):
        with place:
            st.markdown(f"**{name}**")
            key = f"square-graph-{name.split(',')[0].lower()}"
            show.picture(heatmap(matrix, data.columns, limit, palette, what=f"{name.lower()} {what}"), key)
    unit = what if partial or data.bounds is None else f"precision, {SCALED}"
    show.colour_note(unit, beyond(shown[-1][1], limit, "private"))
    st.dataframe(_losses(private, quiet, truth), hide_index=True, width="stretch")
    with st.expander("How to read"):
        st.caption(
            "Distances: the norm of the difference, divided by the norm of the reference, as in Tables 1 and 2 of "
            "Su et al. 2019. Non-private: the clipped rows without noise. The scale follows the links; the diagonal is "
            "often far larger."
        )


def _losses(private: np.ndarray, quiet: np.ndarray, truth: np.ndarray | None) -> pd.DataFrame:
    """Return the relative distances between the matrices as a table."""
    rows = [("Private to non-private", private, quiet)]
    if truth is not None:
        rows += [("Private to truth", private, truth), ("Non-private to truth", quiet, truth)]
    return pd.DataFrame(
        [
            {"Relative distance": name} | {_HEADS[norm]: show.percent(v) for norm, v in losses(a, b).items()}
            for name, a, b in rows
        ]
    )


def _without_noise(study: Study, data: Dataset, rel: Release, at: int) -> np.ndarray:
    """Return the matrix at the same lambda, or by the same test, from the clipped rows without noise."""

    def made() -> np.ndarray:
        if at != settings.TESTED:
            return without_noise_at(rel, data, settings.path_of(rel)[at].lam)
        quiet = privcov.release(data, privcov.NoPrivacy(), rel.method, random_state=0, **study.given)
        return working(quiet.precision, quiet.scale, "precision")

    return cached.of_release(study, ("without noise", at), made, settings.SOURCE)
