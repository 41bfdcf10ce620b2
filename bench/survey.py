"""Surveys with missing answers: rows of the section "tables" of the bench.

Answers from 1 to 5 that follow three factors, cells missing at random; zCDP with rho .5 per person, public n. The error
is the root mean square of the released correlations (auto-cov) less those of the whole survey. Fresh rows and noise in
every run; the settings of the methods were chosen on other seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from privcov.core.guarantees import ZCDP
from privcov.measurements.exact.private_moment import measure_exactly
from privcov.releases.private_request import release_from_measurement
from privcov.tables.private_dataset import PrivateDataset

RUNS, FIRST_SEED = 8, 77_000
GUARANTEE = ZCDP(0.5)
UNANSWERED = -9.0  # as many files write it; it is clipped to the lowest answer
WAYS = ("pairs", "typical", "clipped code", "nothing missing")


def answers(n: int, d: int, least: float, most: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The survey, and the same with shares of missing cells from ``least`` to ``most`` by column."""
    rng = np.random.default_rng(seed)
    loadings = rng.uniform(0.4, 0.9, (3, d)) * (rng.random((3, d)) < 0.5)
    y = rng.standard_normal((n, 3)) @ loadings + 0.7 * rng.standard_normal((n, d))
    whole = np.clip(np.round(3 + 1.1 * y / y.std(axis=0) + rng.uniform(-1, 1, d)), 1, 5)
    return whole, np.where(rng.random((n, d)) < np.linspace(least, most, d), np.nan, whole)


def correlation(covariance: np.ndarray) -> np.ndarray:
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-9))
    return covariance / np.outer(spread, spread)


@cache
def errors(n: int, d: int, least: float, most: float) -> dict[str, float]:
    """The error of every way to treat missing answers, mean over the runs."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    upper = np.triu_indices(d, 1)
    for run in range(RUNS):
        whole, holed = answers(n, d, least, most, FIRST_SEED + run)
        truth = np.corrcoef(whole, rowvar=False)
        cells = {"clipped code": np.where(np.isnan(holed), UNANSWERED, holed), "nothing missing": whole}
        for way in WAYS:
            rule = "pairs" if way == "pairs" else "typical"
            private = PrivateDataset.from_rows(cells.get(way, holed), bounds=[(1, 5)] * d, missing=rule)
            noisy = measure_exactly(private, GUARANTEE, shape="free-trace")
            got = correlation(release_from_measurement("auto-cov", noisy, GUARANTEE).covariance)
            found[way].append(float(np.sqrt(np.mean((got - truth)[upper] ** 2))))
    return {way: float(np.mean(values)) for way, values in found.items()}


def survey() -> Iterator[tuple]:
    """Rows (what, found, goal)."""
    likert, small = (30_000, 20, 0.0, 0.3), (5_000, 10, 0.1, 0.1)

    def over(setting: tuple, peer: str) -> str:
        found = errors(*setting)
        details = ", ".join(f"{way} {found[way]:.4f}" for way in WAYS)
        return f"{found['pairs'] / found[peer]:.3f} x {peer} ({details})"

    yield "survey, 0-30 % missing: pairs over -9 clipped", lambda: over(likert, "clipped code"), "<= 0.2"
    yield "survey, 0-30 % missing: pairs over typical", lambda: over(likert, "typical"), "<= 0.35"
    yield "survey of 5,000, 10 % missing: pairs over typical", lambda: over(small, "typical"), "<= 1.05"
