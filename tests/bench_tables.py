"""Correlations of whole tables as owners have them, at one guarantee: section "tables" of the bench.

Every row is the root mean square error of the correlations over that of the same release of the same rows with the
facts that a declaration had before: the ratio of two means over fresh rows and fresh noise. The noise is the exact one,
from the operating system, so a run is not repeated to the digit.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

import privcov
from privcov.ledger import Ledger

RUNS = 3
METHOD = "auto-cov"


def tables() -> Iterator[tuple[str, Callable[[], str], str]]:
    yield from bank()


def released(private: privcov.PrivateDataset, guarantee: privcov.ZCDP, **options) -> privcov.Release:
    """One release of a table, on a ledger of its own."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        ledger.limit(private.name, guarantee)
        return privcov.release_private(METHOD, private, guarantee, ledger=ledger, **options)


def correlation(covariance: np.ndarray) -> np.ndarray:
    """The correlations; zero beside a variance that is not positive."""
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.outer(deviation, deviation) > 0, covariance / np.outer(deviation, deviation), 0.0)


def rms(found: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square error off the diagonal."""
    above = np.triu_indices(len(truth), 1)
    return float(np.sqrt(np.mean((found - truth)[above] ** 2)))


# --- a bank: rare yes or no, and amounts with a long tail -------------------------------------------------------------

BANK_ROWS, RARE, AMOUNTS, PLAIN = 45_000, 25, 15, 5
BANK_RHOS = (0.05, 0.5)
BANK = {
    "full R": {},
    "typical declared": {"typical": True},
    "fraction .35": {"row_bound_fraction": 0.35},
    "typical, fraction .35": {"typical": True, "row_bound_fraction": 0.35},
    "norms .05": {"norm_budget": 0.05},
    "typical, norms .05": {"typical": True, "norm_budget": 0.05},
}


def bank_rows(seed: int) -> tuple[np.ndarray, list[tuple[float, float]], list[float | None]]:
    """Rows, bounds and typical values: 25 products that few hold, 15 amounts, 5 ratings; all move together.

    Typical is "no" for a product and 1 for an amount.
    """
    rng = np.random.default_rng([23, seed])
    d = RARE + AMOUNTS + PLAIN
    together, own = rng.standard_normal((BANK_ROWS, 3)), rng.standard_normal((BANK_ROWS, d))
    loads = rng.uniform(0.2, 0.7, size=(d, 3)) / math.sqrt(3)
    latent = together @ loads.T + own * np.sqrt(1 - (loads**2).sum(axis=1))
    shares = rng.uniform(0.003, 0.03, RARE)
    rare = latent[:, :RARE] > -np.quantile(latent[:, :RARE], shares, axis=0).diagonal()
    amounts = np.minimum(np.exp(latent[:, RARE : RARE + AMOUNTS]), 20.0)
    ratings = np.clip(np.rint(3 + latent[:, RARE + AMOUNTS :]), 1, 5)
    bounds = [(0.0, 1.0)] * RARE + [(0.0, 20.0)] * AMOUNTS + [(1.0, 5.0)] * PLAIN
    return np.hstack([rare, amounts, ratings]), bounds, [0.0] * RARE + [1.0] * AMOUNTS + [None] * PLAIN


@cache
def bank_error(how: str, rho: float) -> float:
    """Mean error over fresh tables."""
    facts, errors = dict(BANK[how]), []
    options = {name: facts.pop(name) for name in ("norm_budget",) if name in facts}
    use_typical = facts.pop("typical", False)
    for seed in range(RUNS):
        rows, bounds, typical = bank_rows(seed)
        given = {"typical": typical} if use_typical else {}
        private = privcov.PrivateDataset.from_rows(rows, bounds=bounds, name="bank", **given, **facts)
        errors.append(rms(correlation(released(private, privcov.ZCDP(rho), **options).covariance), np.corrcoef(rows.T)))
    return float(np.mean(errors))


def bank() -> Iterator[tuple[str, Callable[[], str], str]]:
    for rho in BANK_RHOS:
        for how in list(BANK)[1:]:
            goal = "<= 0.40" if how.startswith("typical,") else ""
            yield f"bank, rho {rho:g}: {how}", partial(_over_full, how, rho), goal


def _over_full(how: str, rho: float) -> str:
    mine, full = bank_error(how, rho), bank_error("full R", rho)
    return f"{mine / full:.2f} x full R ({mine:.4f} over {full:.4f}, {RUNS} tables)"
