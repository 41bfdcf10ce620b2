"""Lesson on shrinkage: noise pushes eigenvalues apart, and the noise distribution says how far to pull them back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.common import show
from pages.lessons.lesson import RHO_HELP, SPECTRA, Control, Lesson, Option, Screen, by_both_names, compute_once, study
from pages.lessons.simulated import SEED, guarantee, simulate
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain
from privcov.metrics.errors import matrix_norm, reference_matrix
from privcov.metrics.graphs import noisy_matrix
from privcov.plots.spectra import spectrum
from privcov.releases.public import release

DATA = {"n": 5_000, "d": 40}


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Eigenvalues (ascending, length d) of truth, noisy and shrunken matrix, and the edge of the noise alone.

    ``own`` is the largest one of the rows themselves. ``errors`` are the relative Frobenius errors against the truth
    before and after the shrinkage.
    """

    truth: np.ndarray
    own: float
    noisy: np.ndarray
    shrunk: np.ndarray
    edge: float
    errors: tuple[float, float]


def shrunk(rho: float, seed: int = SEED) -> Shrunk:
    """Run the Gaussian mechanism at rho-zCDP, and shrink its spectrum by the known noise."""
    data = simulate("ar1-covariance", **DATA)
    rel = release(data, ZCDP(rho), "gaussian-cov", random_state=seed, repair="shrink")
    assert data.truth is not None  # simulated
    assert rel.noisy_moment is not None  # the method measures one matrix
    noisy, truth = noisy_matrix(rel), data.truth.covariance
    size = matrix_norm(truth, "frobenius")
    before, after = (matrix_norm(m - truth, "frobenius") / size for m in (noisy, rel.covariance))
    return Shrunk(
        np.linalg.eigvalsh(truth),
        float(np.linalg.eigvalsh(reference_matrix(data, "covariance", "sample"))[-1]),
        np.linalg.eigvalsh(noisy),
        np.linalg.eigvalsh(rel.covariance),
        rel.noisy_moment.distribution.spectral_edge * rel.row_bound**2,
        (before, after),
    )


def draw(rho: float, screen: Screen) -> str:
    """Show the three spectra."""
    result = compute_once(shrunk, rho, screen.seed)
    screen.tag("Simulated", f"{DATA['n']:,} pupils, {DATA['d']} questions, {guarantee(rho)}")
    series = [("Truth", result.truth), ("Noisy", result.noisy), ("Shrunk", result.shrunk)]
    unit = "in squared units of the data"
    picture = spectrum(series, result.edge, screen.palette, unit=unit, height=None)
    screen.put(picture, "large-spectrum")
    before, after = result.errors
    chance = " (by chance smaller than without noise)" if result.noisy[-1] < result.own else ""
    return (
        f"Largest eigenvalue: truth {plain(result.truth[-1])}, of these rows {plain(result.own)}, noisy "
        f"**{plain(result.noisy[-1])}**{chance}, shrunk **{plain(result.shrunk[-1])}**. Error against truth: "
        f"noisy {show.percent(before)}, shrunk **{show.percent(after)}**. Smallest noisy eigenvalue: "
        f"{plain(result.noisy[0])} (a variance is never negative)."
    )


LESSON = Lesson(
    title="Shrinkage of the spectrum",
    aim=(
        "The eigenvalues of the school's covariance. Each noisy entry is right on average, but noise pushes them "
        "apart. **Shrunk**: each is pulled back by what noise of this size adds. No row is read, so it is free."
    ),
    control=Control(
        "Rho",
        (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
        0.01,
        "stronger privacy",
        "more accuracy",
        by_both_names,
        RHO_HELP,
    ),
    draw=draw,
    question="The noise has mean zero in every entry. The largest noisy eigenvalue is, on average,",
    choices=(
        Option("right, because the errors cancel", "They cancel in sums, such as the trace; this is no sum."),
        Option("too small", "A maximum over directions profits from noise."),
        Option(
            "too large",
            "Along the true top direction the noisy variance is right on average; the largest over all directions is "
            "at least that. The smallest falls, often below zero.",
            True,
        ),
    ),
    remember="Unbiased entries have biased eigenvalues; the known noise says how far to pull them back.",
    onward=(
        SPECTRA,
        "Spectra: the same release",
        lambda v: study("ar1-covariance", DATA, v, "gaussian-cov", options=(("repair", "shrink"),)),
    ),
)
