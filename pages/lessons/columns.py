"""Lesson on columns and sparsity: the same people and guarantee, more and more columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.lessons.lesson import ESTIMATE, Choice, Control, Lesson, Screen, computed, count, study
from pages.lessons.simulated import SEED, WIDE, guarantee, made, widened
from pages.shell import show
from privcov.figures.lessons import over_control, panels
from privcov.figures.matrices import colour_limit
from privcov.metrics.errors import error, matrix_norm, reference_matrix
from privcov.privacy import ZCDP
from privcov.releasing.run import release

DS = (5, 10, 20, 40, 80, 120)
RHO, N = 0.3, 10_000
DENSE, SPARSE = "gaussian-cov", "dp-thresholding"


@dataclass(frozen=True, eq=False)
class Wide:
    """Truth, and the releases of DENSE and SPARSE, for d columns of a banded truth (d x d each).

    ``errors`` are the relative Frobenius errors against the truth of DENSE, of SPARSE and of the sample itself.
    """

    d: int
    truth: np.ndarray
    dense: np.ndarray
    sparse: np.ndarray
    errors: tuple[float, float, float]


def of_width(d: int) -> Wide:
    """Release d columns with the same n and guarantee for every d; both methods start from the same noisy matrix."""
    data = widened(made("banded-covariance", n=N, d=d))
    assert data.truth is not None  # simulated
    truth = data.truth.covariance
    dense, sparse = (release(method, data, ZCDP(RHO), seed=SEED) for method in (DENSE, SPARSE))
    one, two = (error(rel, data, relative=True, against="truth") for rel in (dense, sparse))
    sample = matrix_norm(reference_matrix(data, "covariance", "sample") - truth, "frobenius")
    own = sample / matrix_norm(truth, "frobenius")
    assert dense.covariance is not None  # the target of both methods
    assert sparse.covariance is not None
    return Wide(d, truth, dense.covariance, sparse.covariance, (one, two, own))


def draw(d: int, screen: Screen) -> str:
    """Show the truth and both releases, and the errors against d."""
    result, palette = computed(of_width, d), screen.palette
    show.tag("Simulated", f"{N:,} rows for every d, {guarantee(RHO)}")
    three = [("truth", result.truth), ("every entry kept", result.dense), ("small entries dropped", result.sparse)]
    screen.put(panels(three, colour_limit(result.truth), palette), "three-wide")
    names = {DENSE: "every entry kept", SPARSE: "small entries dropped", "sample": "sample, not private"}
    picture = over_control(
        [(at, computed(of_width, at).errors) for at in DS], names, palette, x="d", x_label="Columns d",
        y_label="Error against truth", references=[("zero matrix", 1)], marked=float(d),
    )  # fmt: skip
    screen.put(picture, "curve-wide")
    dense, sparse, sample = result.errors
    return (
        f"With {d} columns: **{show.percent(dense)}** wrong with every entry, **{show.percent(sparse)}** with the "
        f"small ones dropped; the sample itself {show.percent(sample)}."
    )


LESSON = Lesson(
    title="Why columns hurt and sparsity helps",
    aim="More columns, the same people and the same guarantee. In truth only columns at most two places apart are "
    "correlated. One release keeps every entry, the other sets the small ones to zero.",
    control=Control("Columns d", DS, 40, "few columns", "many columns", count),
    draw=draw,
    question="Why is the release without the small entries so much better at 20 columns and more?",
    choices=(
        Choice(
            "Its noise is smaller",
            "Both start from the very same noisy matrix. No method gets less noise for the same guarantee by "
            "hoping for zeros.",
        ),
        Choice(
            "It knows which pairs are really zero and spends nothing on them",
            "It does not know. It sees the noisy matrix and the law of the noise, nothing else.",
        ),
        Choice(
            "Most entries are noise only, and it drops them; few entries are left to be wrong",
            "There are about d squared pairs and about 2 d real ones. At the right end the noise is so large that "
            "real entries are dropped too.",
            True,
        ),
    ),
    remember="Noise comes with every one of the d squared entries; sparsity helps because few of them matter.",
    onward=(
        ESTIMATE,
        "Estimate: the thresholded release",
        lambda v: study("banded-covariance", {"n": N, "d": v}, RHO, SPARSE, bound=WIDE),
    ),
)
