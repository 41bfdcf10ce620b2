"""What the lessons show of neighbours, of sensitivity, and of noise against n, d and the row bound.

Every number comes from a source, a measurement and a release of the package, at a fixed seed; a lesson only asks for
them in an order that teaches. All data are simulated, so exact matrices may stand beside released ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from privcov import accounting, checks
from privcov._running import release
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.measurements.clipping import share_clipped
from privcov.measurements.moment import clipped_moment, sensitivity
from privcov.measurements.noise import NoiseLaw
from privcov.metrics.errors import error, matrix_norm, reference_matrix
from privcov.parameters import build
from privcov.privacy import ZCDP
from privcov.randomness import stream

SEED = 1  # of the noise; the rows have seed 0, as they have on every page
DELTA = 1e-6  # at which a class that knows epsilon is told it


def made(source: str, **parameters) -> Dataset:
    """The rows that any page draws for this source and these parameters."""
    card = SOURCES.get(source)
    return make_dataset(build(card.cls, f"Source {source!r}", parameters), seed=0)


def epsilon(rho: float) -> float:
    """Exact epsilon at DELTA of Gaussian noise that is just rho-zCDP, which has mu = sqrt(2 rho)."""
    return accounting.epsilon_of_gaussian(DELTA, math.sqrt(2 * checks.positive("rho", rho)))


# --- 1: one row changed -------------------------------------------------------------------------------------

TABLE = {"n": 8, "d": 4}
PERSON = 2  # the row that is replaced


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two tables (n x d) that differ in row PERSON, their second moments (d x d), and what bounds the difference.

    size, bound: Frobenius norm of the difference, and the largest it can be for any two neighbours.
    """

    tables: tuple[np.ndarray, np.ndarray]
    moments: tuple[np.ndarray, np.ndarray]
    size: float
    bound: float
    row_bound: float


def neighbours(way: float) -> Neighbours:
    """way: share of the way (0..1) from the person's row to one of full length at right angles to it."""
    way = checks.in_range("way", way, 0.0, 1.0)
    first = made("ar1-covariance", **TABLE)
    own = first.rows[PERSON]
    other = stream(SEED, "lesson", "neighbour").standard_normal(first.d)
    other -= (other @ own) / (own @ own) * own
    rows = first.rows.copy()
    rows[PERSON] = (1 - way) * own + way * first.row_bound * other / np.linalg.norm(other)
    second = Dataset.from_rows(rows, first.row_bound, columns=first.columns, provenance="simulated")
    r2 = first.row_bound**2
    one, two = (r2 * clipped_moment(data, joint=0) for data in (first, second))
    return Neighbours(
        (np.asarray(first.rows), np.asarray(second.rows)),
        (one, two),
        matrix_norm(two - one, "frobenius"),
        r2 * sensitivity(first.d, first.n, norm="l2", joint=0),
        first.row_bound,
    )


# --- 2: the largest change one row can make -----------------------------------------------------------------

ROWS, COLUMNS, PAIRS, STEPS = 10, 3, 60, 400


@dataclass(frozen=True, eq=False)
class Changes:
    """At each row bound: the change that each random pair makes, that of the worst pair found, and the proved bound.

    bounds: k row bounds. random: k x PAIRS. worst, proved: length k. All are Frobenius norms of a difference of two
    second moments.
    """

    bounds: np.ndarray
    random: np.ndarray
    worst: np.ndarray
    proved: np.ndarray


def changes(bounds: tuple[float, ...]) -> Changes:
    """A search over pairs of rows that knows nothing of the proof: random pairs, then small steps from the best."""
    rng = stream(SEED, "lesson", "search")
    pairs = rng.uniform(-1.0, 1.0, (PAIRS, 2, COLUMNS))
    found = max(pairs, key=lambda pair: _change(pair, 1.0))
    best = _change(found, 1.0)
    for step in range(STEPS):
        tried = found + rng.standard_normal(found.shape) * 0.5 * 0.985**step
        if (reached := _change(tried, 1.0)) > best:
            found, best = tried, reached
    return Changes(
        np.array(bounds),
        np.array([[_change(r * pair, r) for pair in pairs] for r in bounds]),
        np.array([_change(r * found, r) for r in bounds]),
        np.array([r**2 * sensitivity(COLUMNS, ROWS, norm="l2", joint=0) for r in bounds]),
    )


def _change(pair: np.ndarray, row_bound: float) -> float:
    """How far replacing one row by the other moves the second moment of clipped rows; the other rows are zero."""
    found = []
    for row in pair:
        rows = np.zeros((ROWS, COLUMNS))
        rows[0] = row
        found.append(clipped_moment(Dataset.from_rows(rows, row_bound), joint=0))
    return row_bound**2 * matrix_norm(found[1] - found[0], "frobenius")


# --- 3: noise against n -------------------------------------------------------------------------------------


N_RHO, N_D = 0.1, 10
N_DATA = {"d": N_D}
WIDE = 1.681793  # of the public row bound: hardly a row is shortened, so that noise is all there is to see


@dataclass(frozen=True, eq=False)
class Released:
    """Sample covariance and what was released (d x d); error: relative Frobenius, of the one against the other."""

    sample: np.ndarray
    released: np.ndarray
    error: float


def of_many(n: int) -> Released:
    """The Gaussian mechanism on n simulated rows."""
    data = _widened(made("ar1-covariance", n=n, **N_DATA))
    rel = release("gaussian-cov", data, ZCDP(N_RHO), seed=SEED)
    return Released(reference_matrix(data, "covariance", "sample"), rel.covariance, error(rel, data, relative=True))


def _widened(data: Dataset) -> Dataset:
    return data.with_row_bound(data.row_bound * WIDE)


def deviations(ns: tuple[int, ...]) -> tuple[tuple[float, float], ...]:
    """At each n: (deviation of the privacy noise on a covariance, sampling deviation of one whose truth is 0)."""
    r2 = _widened(made("ar1-covariance", n=1, **N_DATA)).row_bound ** 2
    found = []
    for n in ns:
        scale = accounting.gaussian_scale(ZCDP(N_RHO), sensitivity(N_D, n, norm="triangle", joint=0))
        found.append((r2 * NoiseLaw("upper-triangle", scale, N_D).off_diagonal_std, 1 / math.sqrt(n)))
    return tuple(found)


# --- 4: why d hurts and sparsity helps ----------------------------------------------------------------------

D_RHO, D_N = 0.3, 10_000
DENSE, SPARSE = "gaussian-cov", "dp-thresholding"


@dataclass(frozen=True, eq=False)
class Wide:
    """d columns of a banded truth: truth, and the releases of DENSE and SPARSE (d x d).

    errors: relative Frobenius errors against the truth of DENSE, of SPARSE and of the sample itself.
    """

    d: int
    truth: np.ndarray
    dense: np.ndarray
    sparse: np.ndarray
    errors: tuple[float, float, float]


def of_width(d: int) -> Wide:
    """The same n and the same guarantee for every d; both methods start from the same noisy matrix."""
    data = _widened(made("banded-covariance", n=D_N, d=d))
    truth = data.truth.covariance
    dense, sparse = (release(method, data, ZCDP(D_RHO), seed=SEED) for method in (DENSE, SPARSE))
    one, two = (error(rel, data, relative=True, against="truth") for rel in (dense, sparse))
    sample = matrix_norm(reference_matrix(data, "covariance", "sample") - truth, "frobenius")
    own = sample / matrix_norm(truth, "frobenius")
    return Wide(d, truth, dense.covariance, sparse.covariance, (one, two, own))


# --- 5: the row bound ---------------------------------------------------------------------------------------

CLIP_RHO = 0.02
CLIP_DATA: dict[str, Any] = {"n": 2_000, "d": 10, "family": "t5"}


@dataclass(frozen=True)
class Clipped:
    """At one row bound: relative Frobenius sizes of the bias, of the noise, and of the error of the release.

    bias: clipped against the sample. noise: what was added. total: the release against the sample. share: of rows that
    are shortened (0..1).
    """

    multiple: float
    row_bound: float
    bias: float
    noise: float
    total: float
    share: float


@lru_cache(maxsize=1)
def public_bound() -> float:
    """Row bound that the source of these rows names from public facts, whatever n is."""
    return made("ar1-covariance", **{**CLIP_DATA, "n": 1}).row_bound


def clipped(multiples: tuple[float, ...], n: int = CLIP_DATA["n"]) -> tuple[Clipped, ...]:
    """The same heavy-tailed rows and the same unit noise under each bound, a multiple of the source's public one."""
    base = made("ar1-covariance", **{**CLIP_DATA, "n": n})
    sample = reference_matrix(base, "covariance", "sample")
    size = matrix_norm(sample, "frobenius")
    found = []
    for multiple in multiples:
        data = base.with_row_bound(base.row_bound * multiple)
        r2 = data.row_bound**2
        rel = release("gaussian-cov", data, ZCDP(CLIP_RHO), seed=SEED)
        exact = r2 * clipped_moment(data, joint=0)
        found.append(
            Clipped(
                multiple,
                data.row_bound,
                matrix_norm(exact - sample, "frobenius") / size,
                matrix_norm(r2 * rel.raw.matrix - exact, "frobenius") / size,
                error(rel, data, relative=True),
                share_clipped(data),
            )
        )
    return tuple(found)


def best_bound(found: tuple[Clipped, ...]) -> Clipped:
    """The one with the smallest error. It reads the rows: for simulated data only."""
    return min(found, key=lambda one: one.total)
