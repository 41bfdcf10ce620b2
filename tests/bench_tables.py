"""Three simulated tables as owners have them, released with what is declared about them, over how it was done before.

hospital   20,000 patients with one to ten visits, 2.8 on average, and one id each. Before: a promise of at most ten
           rows per person, rho = 0.5 for all of them together. With ids the weights make it 0.5 for the patient.

survey     Answers from 1 to 5 with missing ones, see bench_survey.py. Before: the code -9 for no answer, clipped.

Found is the root mean square error of the correlations to those of the population, over that of the way before, at
the same guarantee for a person; every table is drawn a few times, with seeds of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import privcov
from privcov import PrivateDataset, ZCDP
from tests.bench_bank import bank
from tests.bench_survey import survey

TIMES = 6
FIRST_SEED = 71_000  # seen by no test, and by nothing that was tuned
RHO = 0.5
Drawn = tuple[PrivateDataset, np.ndarray]  # a table, and the correlations of its population


def hospital(seed: int, holes: float = 0.0, **declared: object) -> Drawn:
    """Visits: half of the variance of a measure is the patient's, half the visit's, with the same correlations.

    holes: share of the cells that are missing, at random.
    """
    rng, d, patients = np.random.default_rng(seed), 10, 20_000
    visits = np.minimum(rng.geometric(0.345, patients), 10)
    whose = np.repeat(np.arange(patients), visits)
    truth = 0.6 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    root = np.linalg.cholesky(truth / 2)
    rows = (rng.standard_normal((patients, d)) @ root.T)[whose] + rng.standard_normal((len(whose), d)) @ root.T
    if holes:
        rows[rng.random(rows.shape) < holes] = np.nan
    ids = {"persons": whose} if "rows_per_person" not in declared else {}
    return PrivateDataset.from_rows(rows, bounds=[(-3.0, 3.0)] * d, name="t", **ids, **declared), truth


def error(made: Drawn) -> float:
    """Mean squared error of the released correlations off the diagonal."""
    table, truth = made
    with tempfile.TemporaryDirectory() as folder:
        ledger = privcov.Ledger(Path(folder) / "ledger.sqlite")
        ledger.limit("t", ZCDP(RHO))
        found = privcov.release_private("auto-cov", table, ZCDP(RHO), ledger=ledger).covariance
    spread = np.sqrt(np.maximum(np.diag(found), 1e-12))
    off = ~np.eye(len(truth), dtype=bool)
    return float(np.mean((found / np.outer(spread, spread) - truth)[off] ** 2))


def over(now: Callable[[int], Drawn], before: Callable[[int], Drawn], what: str) -> str:
    """The error of one way over that of another, with both."""
    ours, theirs = (
        float(np.sqrt(np.mean([error(way(FIRST_SEED + k)) for k in range(TIMES)]))) for way in (now, before)
    )
    return f"{ours / theirs:.3f} x {what} ({ours:.4f} over {theirs:.4f}, {TIMES} tables)"


def tables() -> Iterator[tuple[str, Callable[[], str], str]]:
    """The rows of the section."""
    yield (
        "hospital: ids",
        lambda: over(hospital, lambda seed: hospital(seed, rows_per_person=10), "ten rows per person promised"),
        "<= 0.35",
    )
    yield (
        "hospital, 15 % of the cells missing: ids and pairs",
        lambda: over(
            lambda seed: hospital(seed, 0.15, missing="pairs"),
            lambda seed: hospital(seed, 0.15, rows_per_person=10),
            "ten rows per person promised, missing cells typical",
        ),
        "<= 0.35",
    )
    yield from bank()
    yield from survey()
