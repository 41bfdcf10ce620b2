"""Lesson on thresholding: entries that may be noise alone are set to zero, which costs no privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.common import show
from pages.lessons.lesson import ESTIMATE, Control, Lesson, Option, Screen, compute_once, study
from pages.lessons.simulated import SEED, guarantee, simulate
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain
from privcov.metrics.errors import matrix_norm
from privcov.metrics.graphs import noisy_matrix
from privcov.plots.lessons import panels
from privcov.plots.matrices import colour_limit
from privcov.postprocess.threshold import cut_off_diagonal
from privcov.releases.public import release

RHO = 0.01
DATA = {"n": 5_000, "d": 20}


@dataclass(frozen=True, eq=False)
class ThresholdedNoise:
    """Truth, noisy matrix and kept entries (d x d each).

    ``pairs``: numbers of true non-zero and true zero pairs; ``true``, ``false``: how many of each were kept.
    ``error`` is the relative Frobenius error of ``cut_matrix`` against the truth; ``noise_std`` is of an entry.
    """

    truth: np.ndarray
    noisy: np.ndarray
    cut_matrix: np.ndarray
    pairs: tuple[int, int]
    true: int
    false: int
    error: float
    noise_std: float


def cut(level: float, seed: int = SEED) -> ThresholdedNoise:
    """Set off-diagonal entries below ``level`` standard deviations of the known noise to zero."""
    data = simulate("banded-covariance", **DATA)
    rel = release(data, ZCDP(RHO), "gaussian-cov", random_state=seed, repair="none")
    assert data.truth is not None  # simulated
    assert rel.noisy_moment is not None  # one matrix is measured
    noisy, truth = noisy_matrix(rel), data.truth.covariance
    std = rel.noisy_moment.distribution.off_diagonal_std * rel.row_bound**2
    cut_matrix = cut_off_diagonal(noisy, level * std)
    upper = np.triu_indices(data.d, 1)
    real, nonzero = truth[upper] != 0, cut_matrix[upper] != 0
    return ThresholdedNoise(
        truth,
        noisy,
        cut_matrix,
        (int(real.sum()), int((~real).sum())),
        int((real & nonzero).sum()),
        int((~real & nonzero).sum()),
        matrix_norm(cut_matrix - truth, "frobenius") / matrix_norm(truth, "frobenius"),
        std,
    )


def draw(level: float, screen: Screen) -> str:
    """Show the truth, the release and the kept entries; how many pairs those are."""
    result = compute_once(cut, level, screen.seed)
    screen.tag("Simulated", f"{DATA['n']:,} pupils, {DATA['d']} questions, {guarantee(RHO)}, one noisy matrix")
    three = [("truth", result.truth), ("released", result.noisy), (f"cut at {level:g}", result.cut_matrix)]
    screen.put(panels(three, colour_limit(result.truth), screen.palette), "three-cut")
    real, absent = result.pairs
    return (
        f"Correlated pairs kept: **{result.true} of {real}**; uncorrelated: **{result.false} of {absent}**; error "
        f"against the truth: **{show.percent(result.error)}**. Noise of an entry (standard deviation): "
        f"{plain(result.noise_std)}; real entries: 0.6 and 0.3."
    )


LESSON = Lesson(
    title="Thresholding",
    aim=(
        "The school's questionnaire again, once released. The size of the noise is public, so entries within a few of "
        "its standard deviations may be noise: set them to zero. Too high a cut removes real ones. Teal is above "
        "zero, orange below."
    ),
    control=Control(
        "Cut below, in standard deviations of the noise",
        tuple(round(0.5 * k, 1) for k in range(13)),
        1.0,
        "keep everything",
        "keep the strongest only",
        lambda v: f"{v:g}",
    ),
    draw=draw,
    question=("You try twenty thresholds on one release and keep the best picture. What does it cost in privacy?"),
    choices=(
        Option("Twenty times epsilon: every try is a query", "A query reads the rows; these read a released matrix."),
        Option("Nothing", "No row is read again: post-processing. (The best picture may be less accurate.)", True),
        Option("About epsilon times sqrt(20)", "That is for twenty noisy answers from the rows; here there was one."),
    ),
    remember="Anything computed from a release without the rows is free.",
    onward=(
        ESTIMATE,
        "Estimate: a threshold from the noise distribution",
        lambda v: study("banded-covariance", DATA, RHO, "dp-thresholding"),
    ),
)
