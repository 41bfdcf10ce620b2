"""What Estimate shows of a covariance: correlations where columns have units, the strongest pairs, and a verdict."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.shell import address, show
from pages.shell.show import CORRELATIONS, COVARIANCES
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.figures.words import percent
from privcov.metrics.errors import answers_to_beat, reference_matrix
from privcov.postprocess.correlation import correlation
from privcov.releasing.release import Release

_USEFUL, _WORTH = 1 / 3, 0.75  # of the error of the better of zero and the diagonal, which release no relation
_SMALL = 0.1  # an error below a tenth is of use, whatever else is as good
_NEAR = 0.05  # an error of correlations that is of use, however small these are
_MOST = 3
_WEAK = 0.1  # a correlation below it is no strong one
_STILL = 1e-24  # a variance that rounding alone may leave, in working units


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
        return correlation(matrix, floor=_STILL)
    return matrix * np.outer(data.scale, data.scale) if how == COVARIANCES else matrix


def colours(data: Dataset, rel: Release, how: str) -> str:
    """Return what the colours mean."""
    if how == CORRELATIONS:
        floor = 0.0 if rel.raw is None else rel.raw.distribution.diagonal_std * rel.row_bound**2
        low = int((np.diag(rel.matrix) / rel.scale**2 < floor).sum())
        raised = f". {low} of {data.d} released variances are below the noise and raised to it" if low else ""
        return f"correlation, from -1 (orange: columns move apart) over 0 to 1 (teal: they move together){raised}"
    if how == COVARIANCES:
        return "covariance in the columns' own units"
    return f"{rel.target}, columns in units of their public half-range" if data.bounds is not None else rel.target


def strongest(data: Dataset, released: np.ndarray, noise: float) -> str:
    """Return the strongest correlations of the sample and what the release says of them, as text.

    ``noise``: its deviation on a covariance before repairs, in working units. Empty where no pair correlates.
    """
    covariance = reference_matrix(data, "covariance", "sample")
    sample, spread = of_rows(covariance, data, CORRELATIONS), np.sqrt(np.diag(covariance))
    strong = np.argsort(-np.abs(np.triu(sample, 1)), axis=None, kind="stable")[:_MOST]
    pairs = [
        f"{data.columns[i]} and {data.columns[j]} {sample[i, j]:.2f}, "
        f"{_told(released[i, j], noise / (spread[i] * spread[j]))}"
        for i, j in zip(*np.unravel_index(strong, sample.shape), strict=True)
        if i < j and abs(sample[i, j]) >= _WEAK and min(covariance[i, i], covariance[j, j]) > _STILL
    ]
    note = " (±: deviation of the noise before repairs)" if any("±" in pair for pair in pairs) else ""
    return f"Strongest pairs of the sample: {'; '.join(pairs)}{note}." if pairs else ""


def _told(released: float, noise: float) -> str:
    """Return a released correlation with its noise, as far as there is anything to tell."""
    if released == 0:
        return "released as 0"
    return f"released {released:.2f}" + (f" ± {noise:.2g}" if noise < 1 else ", lost in the noise")


def _correlations(data: Dataset, rel: Release) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations of the sample, and the error of the released ones."""
    sample = of_rows(reference_matrix(data, "covariance", "sample"), data, CORRELATIONS)
    return sample, show.released(rel, CORRELATIONS) - sample


def _word(wrong: float, best: float, small: float) -> str:
    """Return a word for an error, where ``best`` is that of an answer without relations and ``small`` always of use."""
    if wrong <= max(_USEFUL * best, small):
        return "Useful"
    return "Rough" if wrong < max(_WORTH * best, 2 * small) else "Useless"


def _off_diagonal(matrix: np.ndarray) -> float:
    """Return the root mean square of the entries off the diagonal."""
    return float(np.sqrt(np.mean(matrix[np.triu_indices(len(matrix), 1)] ** 2)))


def verdict(wrong: float, data: Dataset, rel: Release, how: str = "") -> str:
    """Return in words whether the release is of use, with the answers that need no noise, as markdown.

    Where correlations are shown their own error counts: in a covariance a few columns may have all the weight.
    """
    others = answers_to_beat(data, rel.target)
    if np.trace(reference_matrix(data, rel.target, "sample")) <= data.d * _STILL:
        return "**Nothing varies in these rows.**"
    trivial = others[:1] if data.d == 1 else others[:2]  # the diagonal of one column is all of the sample
    best = min(level for _, level in trivial)
    word, lost = _word(wrong, best, _SMALL), ""
    if how == CORRELATIONS:
        size, off = (_off_diagonal(matrix) for matrix in _correlations(data, rel))
        word = _word(off, size, _NEAR)
        lost = f" Correlations err by {off:.2g}, where they are {size:.2g} (root mean squares)."
    helps = word != "Useful" and METHODS.get(rel.method).standing != "reference"
    remedy = " More rows, fewer columns or a weaker guarantee would help." if helps else ""
    more = f" It is {show.WORSE}." if wrong > 1 else ""
    if word == "Useful" and data.truth is not None and wrong < others[-1][1]:
        more = " Closer to the truth than the sample: patterns and shrinkage remove sampling error too."
    zero, *rest = (f"{name.removesuffix(' (not private)')} {percent(level)}" for name, level in others)
    return f"**{word} here.**{lost}{more}{remedy} Other errors: {zero}; not private: {', '.join(rest)}."
