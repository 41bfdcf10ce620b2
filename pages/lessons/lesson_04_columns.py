"""Lesson on columns and sparsity: the same people and guarantee, more and more columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.common import show
from pages.lessons.lesson import ESTIMATE, Control, Lesson, Option, Screen, compute_once, count, study
from pages.lessons.simulated import SEED, WIDE, guarantee, simulate, widened
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain
from privcov.metrics.errors import matrix_norm, reference_matrix
from privcov.metrics.graphs import noisy_matrix
from privcov.plots.lessons import over_control, panels
from privcov.plots.matrices import colour_limit
from privcov.postprocess.spectrum import clip_psd
from privcov.releases.public import release

DS = (5, 10, 20, 40, 80, 120)
RHO, N = 0.3, 10_000
DENSE, SPARSE = "gaussian-cov", "dp-thresholding"


@dataclass(frozen=True, eq=False)
class Wide:
    """Truth, and two answers from one noisy matrix, for d columns of a banded truth (d x d each).

    ``dense`` keeps every entry of the noisy matrix, ``sparse`` is what SPARSE makes of it; both are projected on the
    positive semidefinite matrices. ``errors`` are relative Frobenius, of both and of the sample, against the truth.
    """

    d: int
    truth: np.ndarray
    dense: np.ndarray
    sparse: np.ndarray
    noisy: np.ndarray
    errors: tuple[float, float, float]
    noise_std: float
    row_bound: float


def release_of_columns(d: int, seed: int = SEED) -> Wide:
    """Release d columns once, with the same n and guarantee for every d, and finish the noisy matrix in two ways."""
    data = widened(simulate("banded-covariance", n=N, d=d))
    assert data.truth is not None  # simulated
    truth = data.truth.covariance
    # With its diagonal kept, so that the answers differ in what is dropped alone.
    rel = release(data, ZCDP(RHO), SPARSE, random_state=seed, diagonal="keep")
    assert rel.noisy_moment is not None  # it measures one matrix
    noisy = noisy_matrix(rel)
    dense, size = clip_psd(noisy), matrix_norm(truth, "frobenius")
    sample = reference_matrix(data, "covariance", "sample")
    one, two, own = (matrix_norm(m - truth, "frobenius") / size for m in (dense, rel.covariance, sample))
    std = rel.noisy_moment.distribution.off_diagonal_std * rel.row_bound**2
    return Wide(d, truth, dense, rel.covariance, noisy, (one, two, own), std, rel.row_bound)


def draw(d: int, screen: Screen) -> str:
    """Show the truth and both releases, and the errors against d."""
    result, palette = compute_once(release_of_columns, d, screen.seed), screen.palette
    screen.tag("Simulated", f"{N:,} pupils for every d, {guarantee(RHO)}")
    three = [("truth", result.truth), ("every entry", result.dense), ("large entries", result.sparse)]
    screen.put(panels(three, colour_limit(result.truth), palette), "three-wide")
    names = {DENSE: "every entry", SPARSE: "large entries", "sample": "sample, not private"}
    picture = over_control(
        [(at, compute_once(release_of_columns, at, screen.seed).errors) for at in DS],
        names,
        palette,
        x="d",
        x_label="Columns d",
        y_label="Error against truth", references=[("zero matrix", 1)], mark=float(d),
    )  # fmt: skip
    screen.put(picture, "curve-wide")
    dense, sparse, sample = result.errors
    return (
        f"Error of this draw with {d} columns: **{show.percent(dense)}** with every entry, "
        f"**{show.percent(sparse)}** with large entries, {show.percent(sample)} in the sample without privacy"
        f"{', which keeps its small wrong entries' if sparse < sample else ''}. The row bound has "
        f"R² = {result.row_bound**2 / d:.3g} d, so the noise grows: an entry's standard deviation is now "
        f"{plain(result.noise_std)}."
    )


LESSON = Lesson(
    title="Why columns hurt and sparsity helps",
    aim=(
        "A longer questionnaire for the pupils of a city. Only questions at most two places apart are correlated. "
        "Two answers from one noisy matrix: every entry, or large entries, with zeros for the others. "
        "Teal is above zero, orange below."
    ),
    control=Control("Columns d", DS, 40, "few columns", "many columns", count),
    draw=draw,
    question="Why is dropping small entries better with many columns?",
    choices=(
        Option("Its noise is smaller", "Both start from the same noisy matrix."),
        Option(
            "It knows which pairs are really zero",
            "It sees only the noisy matrix, the size of the noise and the number of rows.",
        ),
        Option(
            "Most entries are noise only, and it drops them",
            "2d-3 of the d(d-1)/2 pairs are correlated: 7 of 10 at the left end, 3 % at the right. "
            "At the right end some real correlations are dropped too.",
            True,
        ),
    ),
    remember=(
        "More columns mean more noisy entries and, with longer rows, more noise on each; sparsity helps where "
        "few matter."
    ),
    onward=(
        ESTIMATE,
        "Estimate: the thresholded release",
        lambda v: study(
            "banded-covariance", {"n": N, "d": v}, RHO, SPARSE, bound=WIDE, options=(("diagonal", "keep"),)
        ),
    ),
)
