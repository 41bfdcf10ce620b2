"""What Estimate shows of a covariance: correlations where columns have units, the strongest pairs, and a verdict."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.common import address
from pages.common.show import CORRELATIONS, COVARIANCES
from privcov.bundle.verdict import STILL
from privcov.bundle.verdict import verdict as in_words
from privcov.metrics.errors import reference_matrix
from privcov.plots.words import SCALED
from privcov.postprocess.correlation import correlation
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

_MAX_PAIRS = 3
_WEAK = 0.1  # a correlation below it is no strong one


def choose(data: Dataset, rel: Release) -> str:
    """Return how the matrices are shown; where columns have units, the person chooses."""
    if data.bounds is None or rel.target != "covariance" or data.d == 1:
        return ""
    return address.bound(
        st.segmented_control, "Matrices", [CORRELATIONS, COVARIANCES], name="shown", default=CORRELATIONS,
        key="estimate.shown", required=True, label_visibility="collapsed",
    )  # fmt: skip


def of_rows(matrix: np.ndarray, data: Dataset, how: str) -> np.ndarray:
    """Return a matrix of the rows in working units as it is shown."""
    if how == CORRELATIONS:
        return correlation(matrix, floor=STILL)
    return matrix * np.outer(data.scale, data.scale) if how == COVARIANCES else matrix


def colours(data: Dataset, rel: Release, how: str) -> str:
    """Return what the colours mean."""
    if how == CORRELATIONS:
        floor = 0.0 if rel.raw is None else rel.raw.distribution.diagonal_std * rel.row_bound**2
        low = int((np.diag(rel.matrix) / rel.scale**2 < floor).sum())
        raised = (
            f". {low} of {data.d} released variances are below the noise, which takes their place here" if low else ""
        )
        return f"correlation, from -1 (orange: columns move apart) over 0 to 1 (teal: they move together){raised}"
    if how == COVARIANCES:
        return "covariance in the columns' own units"
    return f"{rel.target}, {SCALED}" if data.bounds is not None else rel.target


def strongest(data: Dataset, released: np.ndarray, noise: float) -> str:
    """Return the strongest correlations of the sample and what the release says of them, as text.

    ``noise``: its deviation on a covariance before repairs, in working units. Empty where no pair correlates.
    """
    covariance = reference_matrix(data, "covariance", "sample")
    sample, spread = of_rows(covariance, data, CORRELATIONS), np.sqrt(np.diag(covariance))
    strong = np.argsort(-np.abs(np.triu(sample, 1)), axis=None, kind="stable")[:_MAX_PAIRS]
    pairs = [
        f"{data.columns[i]} and {data.columns[j]} {sample[i, j]:.2f}, "
        f"{_as_released(released[i, j], noise / (spread[i] * spread[j]))}"
        for i, j in zip(*np.unravel_index(strong, sample.shape), strict=True)
        if i < j and abs(sample[i, j]) >= _WEAK and min(covariance[i, i], covariance[j, j]) > STILL
    ]
    note = " (±: deviation of the noise before repairs)" if any("±" in pair for pair in pairs) else ""
    return f"Strongest pairs of the sample: {'; '.join(pairs)}{note}." if pairs else ""


def _as_released(released: float, noise: float) -> str:
    """Return a released correlation with its noise, as far as there is anything to tell."""
    if released == 0:
        return "released as 0"
    return f"released {released:.2f}" + (f" ± {noise:.2g}" if noise < 1 else ", lost in the noise")


def verdict(wrong: float, data: Dataset, rel: Release, how: str = "") -> str:
    """Return whether the release is of use as it is shown, as markdown."""
    word, why = in_words(wrong, data, rel, correlations=how == CORRELATIONS)
    alone = " One column has a variance and no covariance: give two or more." * (data.d == 1)
    return f"**{word}** {why}".strip() + alone
