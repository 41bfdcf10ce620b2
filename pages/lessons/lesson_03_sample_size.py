"""Lesson on noise against n: the same guarantee for more and more people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pages.common import show
from pages.lessons.lesson import ESTIMATE, Control, Lesson, Option, Screen, compute_once, count, study
from pages.lessons.simulated import SEED, WIDE, guarantee, simulate, widened
from privcov.core import accounting
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain
from privcov.measurements.moment import sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.metrics.errors import error, reference_matrix
from privcov.plots.lessons import over_control, panels
from privcov.plots.matrices import colour_limit
from privcov.releases.public import release

NS = (200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
RHO, D = 0.1, 10
DATA = {"d": D}


@dataclass(frozen=True, eq=False)
class Released:
    """Sample covariance and its release (d x d), with the release's relative Frobenius error against the sample."""

    sample: np.ndarray
    released: np.ndarray
    error: float


def release_of_rows(n: int, seed: int = SEED) -> Released:
    """Run the Gaussian mechanism on n simulated rows."""
    data = widened(simulate("ar1-covariance", n=n, **DATA))
    rel = release(data, ZCDP(RHO), "gaussian-cov", random_state=seed)
    return Released(reference_matrix(data, "covariance", "sample"), rel.covariance, error(rel, data, relative=True))


def standard_deviations(ns: tuple[int, ...]) -> tuple[tuple[float, float], ...]:
    """Return two standard deviations at each n: of the privacy noise, and of the sampling error where the truth is 0.

    Both are those of one covariance of columns of variance 1. Where the truth is c, the sampling error of Gaussian
    rows is sqrt(1 + c^2) times as large.
    """
    r2 = widened(simulate("ar1-covariance", n=1, **DATA)).row_bound ** 2
    pairs = []
    for n in ns:
        scale = accounting.gaussian_scale(ZCDP(RHO), sensitivity(D, n, norm="triangle", n_anchors=0))
        pairs.append((r2 * NoiseDistribution("upper-triangle", scale, D).off_diagonal_std, 1 / math.sqrt(n)))
    return tuple(pairs)


def draw(n: int, screen: Screen) -> str:
    """Show one release, and both standard deviations against n."""
    result, palette = compute_once(release_of_rows, n, screen.seed), screen.palette
    points = list(zip(NS, compute_once(standard_deviations, NS), strict=True))
    noise, sampling = dict(points)[n]
    screen.tag("Simulated", f"{n:,} pupils, {D} columns; Gaussian mechanism, {guarantee(RHO)}")
    pair = [("without privacy", result.sample), ("released", result.released)]
    screen.put(panels(pair, colour_limit(result.sample), palette), "two-many")
    # The key "sample" gives the colour of the sample in the lesson on columns.
    names = {"privacy noise": "privacy noise", "sample": "sampling error of a true zero"}
    picture = over_control(points, names, palette, x="n", x_label="Rows n", y_label="Standard deviation", mark=float(n))
    screen.put(picture, "curve-many")
    larger = "the privacy noise" if noise > sampling else "the sampling error"
    return (
        f"Standard deviation of an entry at n = {n:,}: **{plain(noise)}** by privacy noise, **{plain(sampling)}** by "
        f"sampling (where the truth is zero); {larger} is larger. Whole release against the matrix without privacy: "
        f"error **{show.percent(result.error)}** (100 % is as bad as all zeros)."
    )


LESSON = Lesson(
    title="Noise against n",
    aim=(
        "The covariances of ten columns, of more and more pupils. From here on the noise is Gaussian and **rho** "
        "measures it: smaller is stronger. **Sampling error**: other pupils would give other entries. Teal is above "
        "zero, orange below."
    ),
    control=Control("Rows n", NS, 1_000, "one school", "a country", count),
    draw=draw,
    question="Ten times the rows, the same guarantee. The privacy noise on one entry",
    choices=(
        Option("falls by the square root of 10, as sampling error does", "The noise hides one row, which weighs 1/n."),
        Option("falls to a tenth", "Noise is proportional to sensitivity, which falls like 1/n.", True),
        Option("stays, because the guarantee stays", "It fixes the noise relative to one row's weight, 1/n."),
    ),
    remember=("Privacy noise falls like 1/n, sampling error like 1/sqrt(n): with enough rows privacy is nearly free."),
    onward=(
        ESTIMATE,
        "Estimate: this data set",
        lambda v: study("ar1-covariance", DATA | {"n": v}, RHO, "gaussian-cov", bound=WIDE),
    ),
)
