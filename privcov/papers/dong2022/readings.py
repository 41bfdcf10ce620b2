"""Dong et al. 2022 (paper 5), Figures 2 and 3: AdaptiveCov as the authors' public code computes it.

Algorithm 2 as printed compares the two ways of measuring by bounds that are several times too large, and keeps noisy
spectra as they are; the public code of the experiments divides SeparateCov's bound by 6 and clips both spectra. The
text says neither. Rows are those of "5-figure-2" and "5-figure-3", so that the curves can be compared.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from privcov import accounting
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.estimators.adaptive_cov import ExpectedNoise, shares_of
from privcov.estimators.separate_cov import PUBLISHED, assemble, eigenvectors, measure_both, tidy
from privcov.measurements import eigenvalues
from privcov.measurements.moment import clipped_moment, measure_moment, sensitivity
from privcov.measurements.noise_constants import closed_form
from privcov.measurements.sparse_vector import measure_threshold
from privcov.measurements.trace import measure_trace
from privcov.metrics.errors import matrix_norm
from privcov.papers.base import LITERAL, Number, Point, Table
from privcov.papers.checks import curve_cells
from privcov.papers.dong2022.checks import ADAPTIVE, GAUSS, SEPARATE
from privcov.papers.dong2022.figures import FROBENIUS, SIMULATED, read_simulated, simulated_plan
from privcov.papers.readings import STATED, Found, Reading
from privcov.postprocess.spectrum import clip_box
from privcov.privacy import BudgetShare, Guarantee, ZCDP
from privcov.randomness import stream

DISCOUNT, BETA = 6.0, 0.1
CODE, CODE_SVD = "adaptive-cov (authors' code)", "adaptive-cov (authors' code, svd)"


def expected(d: int, n: int, share: BudgetShare, trace: float) -> ExpectedNoise:
    """Return the bounds that steer the code: the printed ones at its own share and beta, one of them divided by 6."""
    sizes = closed_form(d, 0.75 * BETA / 2, laplace=False)
    half = accounting.split(share, values=1, vectors=1)["vectors"]
    return ExpectedNoise(
        frobenius=accounting.gaussian_scale(share, sensitivity(d, n, norm="triangle", n_anchors=0)) * sizes.frobenius,
        spectral=accounting.gaussian_scale(half, sensitivity(d, n, norm="triangle", n_anchors=0)) * sizes.spectral,
        vector=eigenvalues.noise_scale(d, n, half, joint=False) * sizes.vector,
        trace=trace,
        discount=DISCOUNT,
        corner=0.0,
        capped=False,
    )


def adaptive(data: Dataset, guarantee: Guarantee, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return AdaptiveCov's matrix by the code's steps, with eigenvectors in the right order and in the code's."""
    shares = shares_of(guarantee, "public")
    noisy, scale, _ = measure_trace(data, shares["trace"], rng=rng)
    trace = float(np.clip(noisy + scale * np.sqrt(2 * np.log(8 / BETA)), 1e-16, 1.0))
    noise = expected(data.d, data.n, shares["matrix"], trace)
    tau, _ = measure_threshold(data, noise.smaller, shares["threshold"], rng=rng)
    clipped = data.with_row_bound(tau * data.row_bound)
    # The code compares one halving below the norm at which it clips.
    if noise.separate(tau / 2) >= noise.gauss(tau / 2):
        measured = measure_moment(clipped, shares["matrix"], centre="zero", shape="upper-triangle", rng=rng)
        both = dict.fromkeys((CODE, CODE_SVD), clip_box(measured.matrix, 1.0))
    else:
        halves = accounting.split(shares["matrix"], values=1, vectors=1)
        spectrum, measured = measure_both(clipped, halves, centre="zero", calibration=PUBLISHED, rng=rng)
        values = tidy(spectrum.values, 1.0)
        orders = {CODE: "eigh", CODE_SVD: "svd-authors"}
        both = {name: assemble(values, eigenvectors(measured.matrix, order)) for name, order in orders.items()}
    return {name: tau**2 * matrix for name, matrix in both.items()}


def as_in_code(panel: str, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate of a panel: its rows, and the noise from a stream of its own."""
    plan = simulated_plan(panel, True, 1, seed + replicate)
    numbers = []
    for varied in plan.points():
        source = {**plan.source_params, **varied}
        data = make_dataset(SOURCES.get(plan.source).cls(**source), seed=seed + replicate)
        target = clipped_moment(data, n_anchors=0)
        for guarantee in plan.guarantees:
            assert isinstance(guarantee, ZCDP)  # Figures 2 and 3 have no other
            rng = stream(seed, "published", 5, "code", panel, str(varied), f"{guarantee.rho:g}", replicate)
            keys, _ = read_simulated(panel, {**source, "rho": guarantee.rho, "method": CODE})
            for method, matrix in adaptive(data, guarantee, rng).items():
                error = matrix_norm(matrix - target, FROBENIUS)
                numbers.append(Number(keys | {"method": method}, FROBENIUS, error))
    return numbers


TABLES = (
    Table(
        "5-code", 5, "Figures 2 and 3, the code", "AdaptiveCov as in the authors' code", "Frobenius error",
        tuple(Point(panel, {}, partial(as_in_code, panel)) for panel in SIMULATED), replicates=50, small=(3, 0),
    ),
)  # fmt: skip


def against_better(folder: Path, keys: tuple[str, ...], method: str) -> pd.Series:
    """Return a method's error over the better of GaussCov and SeparateCov as published, by panel and point.

    The points of AdaptiveCov as in the code are in "5-code". Empty where one of them was not computed.
    """
    own = pd.concat([curve_cells(key, folder, LITERAL) for key in (*keys, "5-code")])
    index = ["model", "data", "n", "d"]
    table = own.pivot_table(index=index, columns="method", values="value")
    needed = (GAUSS, SEPARATE, method)
    if not set(needed) <= set(table):
        return pd.Series(dtype=float)
    table = table.dropna(subset=list(needed))
    return table[method] / table[[GAUSS, SEPARATE]].min(axis=1)


def _code(key: str, folder: Path) -> Found | None:
    phrases = []
    for method, words in ((CODE, "with the eigenvectors in the right order"), (CODE_SVD, "in the code's order")):
        ratio = against_better(folder, (key,), method)
        if ratio.empty:
            return None
        phrases.append(f"{ratio.median():.2f} times {words} ({ratio.min():.2f} to {ratio.max():.2f})")
    printed = against_better(folder, (key,), ADAPTIVE)
    sentence = (
        f"AdaptiveCov errs {' and '.join(phrases)} as much as the better of GaussCov and SeparateCov (medians over the "
        f"points); by Algorithm 2 as printed {printed.median():.2f} times ({printed.min():.2f} to {printed.max():.2f})."
    )
    return Found(pd.DataFrame(), {}, sentence)


READINGS = (
    Reading(
        "5-code", ("5-figure-2", "5-figure-3"),
        f"AdaptiveCov as in the authors' public code: SeparateCov's bound divided by {DISCOUNT:g} in the choice, which "
        "is made one halving below the clipping norm, and spectra clipped.",
        STATED, 0, ("5-code",), _code,
    ),
)  # fmt: skip
