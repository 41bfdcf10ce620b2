"""One draw of an error and of the bound that a paper prints for it; numpy alone, as the theorems describe it.

The rows are Gaussian with a trace of 1/4, so that one leaves the unit ball about never; their second moment is drawn at
once (Bartlett), which lets n be as large as a theorem needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ZCDP
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.thresholding import papers_threshold
from privcov.measurements.clipping import clip_rows
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_constants import closed_form
from privcov.metrics.errors import matrix_norm
from privcov.postprocess.feasibility import Infeasible
from privcov.postprocess.glasso import solve
from privcov.postprocess.ridge import ridge_precision
from privcov.postprocess.spectrum import clip_psd
from privcov.releases.public import release
from privcov.tables.dataset import Dataset
from replication.mdpi2023.tables import XI
from replication.wang2018 import noise as slides_noise

BETA = 0.05  # with which an explicit bound may fail
TRACE = 0.25
MODEL = (1.0, 0.6, 0.3)  # bands of Model 2 of Mathematics 2023


@dataclass(frozen=True)
class Setting:
    """One point of a grid. s: of the sparsity, as the theorem counts it. delta: 1/n where it is 0."""

    n: int = 100_000
    d: int = 32
    s: int = 4
    epsilon: float = 1.0
    delta: float = 1e-3


# --- rows and noise -------------------------------------------------------------------------------------------


def moment(covariance: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return XX'/n for n >= d Gaussian rows of this covariance, without drawing the rows (Bartlett's decomposition)."""
    d = len(covariance)
    factor = np.tril(rng.standard_normal((d, d)), -1)
    factor[np.diag_indices(d)] = np.sqrt(rng.chisquare(n - np.arange(d)))
    root = np.linalg.cholesky(covariance) @ factor
    return root @ root.T / n


def symmetric(scale: float, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return Gaussian noise on the upper triangle, copied to the lower."""
    return NoiseDistribution("upper-triangle", scale, d).draw(rng)


def spectral(matrix: np.ndarray) -> float:
    """Return the largest absolute eigenvalue."""
    return matrix_norm(matrix, "spectral")


def frobenius(matrix: np.ndarray) -> float:
    """Return the root of the sum of squares."""
    return matrix_norm(matrix, "frobenius")


def gauss(at: Setting, change: float = 1.0) -> float:
    """Return the printed scale of Gaussian noise on the average of n rows whose sensitivity is change/n."""
    return accounting.classical_gaussian_scale(at.epsilon, at.delta or 1 / at.n, change) / at.n


def blocks(at: Setting, value: float) -> np.ndarray:
    """Return variances TRACE/d, and covariances ``value`` in blocks of s + 1 columns: s-sparse columns."""
    group = np.arange(at.d) // (at.s + 1)
    matrix = np.where(group[:, None] == group[None, :], value, 0.0)
    np.fill_diagonal(matrix, TRACE / at.d)
    return matrix


# --- paper 1: thresholding ------------------------------------------------------------------------------------


def _threshold(at: Setting) -> float:
    """Return the printed threshold; gamma is the least with which (6) holds for Gaussian rows, sqrt(32) variances."""
    logs = math.sqrt(math.log(at.d))
    return math.sqrt(32) * TRACE / at.d * logs / math.sqrt(at.n) + 4 * gauss(at) * logs


def _hidden(at: Setting) -> tuple[np.ndarray, float]:
    """Return a covariance whose entries are half the threshold, which removes them, and the threshold."""
    cut = _threshold(at)
    return blocks(at, min(cut / 2, 0.9 * TRACE / at.d)), cut


def direct(sampling: bool, at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Equation (8): the spectral error of the noisy matrix itself; sampling: whether its rate is added to the bound."""
    covariance, _ = _hidden(at)
    noisy = moment(covariance, at.n, rng) + symmetric(gauss(at), at.d, rng)
    rate = math.sqrt(at.d * math.log(1 / at.delta)) / (at.n * at.epsilon)
    if sampling:
        rate += math.sqrt(spectral(covariance) * math.log(at.d) / at.n)
    return spectral(noisy - covariance), rate


def entries(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Lemma 3: the largest |error| of an entry over 4 min(|sigma|, threshold)."""
    covariance, cut = _hidden(at)
    noisy = moment(covariance, at.n, rng) + symmetric(gauss(at), at.d, rng)
    kept = np.where(np.abs(noisy) > cut, noisy, 0.0)
    allowed = 4 * np.minimum(np.abs(covariance), cut)
    wrong = np.abs(kept - covariance)
    return float(np.max(wrong[allowed > 0] / allowed[allowed > 0], initial=0.0) + (wrong[allowed == 0] > 0).any()), 1.0


def thresholded(power: int, at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorem 2: the squared spectral error of the thresholded matrix; power: of s, printed as 1."""
    covariance, cut = _hidden(at)
    noisy = moment(covariance, at.n, rng) + symmetric(gauss(at), at.d, rng)
    error = spectral(np.where(np.abs(noisy) > cut, noisy, 0.0) - covariance)
    bound = at.s**power * math.log(at.d) * math.log(1 / at.delta) / (at.n * at.epsilon**2)
    return error**2, bound


def improvement(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Return the spectral errors of the thresholded and of the noisy matrix, for the covariances of Figure 1."""
    source = SOURCES.get("sparse-covariance").cls(n=at.n, d=at.d, sparsity=0.2)
    covariance = source.truth(int(rng.integers(2**31))).covariance
    scale = gauss(at)
    noisy = moment(covariance, at.n, rng) + symmetric(scale, at.d, rng)
    cut = papers_threshold(0.5, scale, at.d, at.n)
    return spectral(clip_psd(np.where(np.abs(noisy) > cut, noisy, 0.0)) - covariance), spectral(noisy - covariance)


# --- paper 2: precision matrices ------------------------------------------------------------------------------


def _chain(at: Setting) -> np.ndarray:
    """Return a precision matrix with s entries beside the diagonal: s/2 separate pairs, and ones on it."""
    matrix = np.eye(at.d)
    for pair in range(at.s // 2):
        matrix[2 * pair, 2 * pair + 1] = matrix[2 * pair + 1, 2 * pair] = 0.4
    return matrix


def _ridges(at: Setting, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ridge estimates with and without noise, and the noise; lambda is 1/n of the scale of the rows."""
    s = moment(np.eye(at.d) * TRACE / at.d, at.n, rng)
    added = symmetric(gauss(at, math.sqrt(2)), at.d, rng)
    lam = (TRACE / at.d) ** 2 / math.sqrt(at.n)
    return ridge_precision(s + added, lam), ridge_precision(s, lam), added


def ridge_step(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Inequality (4.6): the difference of the two estimates against the noise."""
    noisy, clean, added = _ridges(at, rng)
    return frobenius(noisy - clean), max(spectral(clean), spectral(noisy)) ** 2 * frobenius(added)


def ridge_rate(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Bound (4.7): the same against the rate."""
    noisy, clean, _ = _ridges(at, rng)
    rate = at.d * math.sqrt(math.log(1 / at.delta)) * max(spectral(clean), spectral(noisy)) ** 2 / (at.epsilon * at.n)
    return frobenius(noisy - clean), rate


def ridge_limit(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorem 4.1: the squared distance to the truth, relative to its norm, with a penalty that goes to zero."""
    noisy, *_ = _ridges(at, rng)
    truth = np.eye(at.d) * at.d / TRACE
    return (frobenius(noisy - truth) / frobenius(truth)) ** 2, 1.0


def lasso_rate(diagonal: bool, at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorem 4.4 with the printed penalty, its constant 1; ``diagonal`` counts the p entries of the diagonal."""
    truth = _chain(at)
    private = at.d**2 * math.sqrt(math.log(1 / at.delta)) / (at.epsilon * at.n)
    sampling = math.sqrt(math.log(at.d) / at.n)
    noisy = moment(np.linalg.inv(truth), at.n, rng) + symmetric(gauss(at, math.sqrt(2)), at.d, rng)
    fit = solve(noisy, private + sampling, penalise_diagonal=True, tol=1e-10).precision
    assert fit is not None  # the noise is far smaller than the penalty
    return frobenius(fit - truth), math.sqrt(at.s + at.d * diagonal) * (private + sampling)


# --- paper 3: slides ------------------------------------------------------------------------------------------

_NOISES = {"laplace": ("Laplace", True), "wishart-pure": ("Wishart", True), "wishart": ("Wishart", False)}
_NOISES |= {"gaussian": ("Gaussian", False), "output": ("Output", True)}


def _rate(name: str, at: Setting) -> float:
    """Return the printed rate, with delta' = BETA."""
    d, per = at.d, at.n * at.epsilon
    rates = {
        "laplace": d**2 / per,
        "wishart-pure": math.log(d / BETA) * d**1.5 / per,
        "wishart": math.log(1 / at.delta) * math.log(1 / BETA) * d**1.5 / (per * at.epsilon),
        "gaussian": d * math.sqrt(math.log(1 / at.delta)) / per,
        "output": math.log(d / BETA) * d**4 / (per * _PENALTY**2),
    }
    return rates[name]


_PENALTY = 0.01


def perturbed(name: str, at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Return the theorem of one noise: the change of the lasso over the squared norms, against the rate."""
    method, pure = _NOISES[name]
    distribution, mean = slides_noise(method, at.epsilon, at.n, at.d, _PENALTY, pure)
    added = distribution.draw(rng) + mean * np.eye(at.d)
    if name == "output":
        return frobenius(added), _rate(name, at)
    s = moment(blocks(at, 0.5 * TRACE / at.d), at.n, rng)
    try:
        clean, noisy = (solve(m, _PENALTY, penalise_diagonal=True).precision for m in (s, s + added))
    except Infeasible:
        return math.nan, _rate(name, at)
    if clean is None or noisy is None:
        return math.nan, _rate(name, at)
    return frobenius(noisy - clean) / max(spectral(clean), spectral(noisy)) ** 2, _rate(name, at)


# --- paper 4: modified thresholding ---------------------------------------------------------------------------


def modified(norm: str, local: str, at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorems 1 and 2, q = 0, Model 2 (s = 5); local: "" for central, or the threshold "printed" or "of the mean"."""
    lag = np.abs(np.subtract.outer(np.arange(at.d), np.arange(at.d)))
    truth = np.select([lag == k for k in range(len(MODEL))], MODEL, 0.0)
    mean_scale = accounting.classical_gaussian_scale(at.epsilon, at.delta, 1.0) / math.sqrt(at.n)
    scale = mean_scale if local else gauss(at, math.sqrt(2))
    std = mean_scale * math.sqrt(at.n) if local == "printed" else scale
    cut = (XI / math.sqrt(at.n) + 4 * std) * math.sqrt(math.log(at.d))
    noisy = moment(truth, at.n, rng) + symmetric(scale, at.d, rng)
    off = clip_psd(np.where(np.abs(noisy) > cut, noisy, 0.0)) - truth
    logs = math.log(1 / at.delta) * math.log(at.d)
    rate = math.sqrt(logs / (at.n * at.epsilon**2))
    if not local:
        rate = math.sqrt(math.log(at.d) / at.n) + math.sqrt(logs) / (at.n * at.epsilon)
    if norm == "spectral":
        return spectral(off), 5 * rate
    return frobenius(off) / math.sqrt(at.d), math.sqrt(5) * rate


# --- paper 5: traces and tails --------------------------------------------------------------------------------

RHO = 0.1


def _separate(s: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Algorithm 1: noisy eigenvalues on the eigenvectors of a noisy matrix, half of rho each."""
    scale = math.sqrt(2) / (math.sqrt(RHO) * n)
    values = np.linalg.eigvalsh(s)[::-1] + scale * rng.standard_normal(len(s))
    vectors = np.linalg.eigh(s + symmetric(scale, len(s), rng))[1][:, ::-1]
    return (vectors * values) @ vectors.T


def trace_bound(trace: float, d: int, n: int, rho: float, beta: float) -> float:
    """Return the bound of Theorem 1, with its constants."""
    sizes = closed_form(d, beta / 2, laplace=False)
    first = 2**1.25 * math.sqrt(trace * sizes.spectral) / (rho**0.25 * math.sqrt(n))
    return first + math.sqrt(2) / (math.sqrt(rho) * n) * sizes.vector


def _skewed(at: Setting, rng: np.random.Generator) -> Dataset:
    """Return rows of the paper's generator, s the number of its bins."""
    source = SOURCES.get("zipf-norms").cls(n=at.n, d=at.d, bins=at.s, skew=3.0)
    return make_dataset(source, seed=int(rng.integers(2**31)))


def separate(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorem 1: SeparateCov on the paper's generator."""
    rows = np.asarray(_skewed(at, rng).rows)
    s = rows.T @ rows / at.n
    return frobenius(_separate(s, at.n, rng) - s), trace_bound(float(np.trace(s)), at.d, at.n, RHO, BETA)


def worst_case(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorem 2: the same at trace 1 against d^(1/4)/sqrt(n)."""
    spectrum = 1 / np.arange(1, at.d + 1)
    s = moment(np.diag(spectrum / spectrum.sum()), at.n, rng)
    return frobenius(_separate(s, at.n, rng) - s), at.d**0.25 / math.sqrt(at.n)


def size(which: str, at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Lemmas 6 and 7: norms of noise of scale 1."""
    bounds = closed_form(at.d, BETA, laplace=False)._asdict()
    if which == "vector":
        return float(np.linalg.norm(rng.standard_normal(at.d))), bounds[which]
    return matrix_norm(symmetric(1.0, at.d, rng), which), bounds[which]


def _tail(norms: np.ndarray, tau: float) -> float:
    """Return gamma(X, tau): the mean squared norm of the rows beyond tau."""
    return float(np.mean(np.where(norms > tau, norms**2, 0.0)))


def clipping(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Lemma 8 at the worst of eight tau: the change of the matrix by clipping against the tail."""
    rows = np.asarray(_skewed(at, rng).rows)
    s, norms = rows.T @ rows / at.n, np.linalg.norm(rows, axis=1)
    worst = (0.0, 1.0)
    for tau in 2.0 ** -np.arange(1, 9):
        clipped = clip_rows(rows, float(tau))
        pair = frobenius(s - clipped.T @ clipped / at.n), _tail(norms, float(tau))
        if pair[1] > 0 and pair[0] / pair[1] > worst[0] / worst[1]:
            worst = pair
    return worst


def adaptive(at: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """Theorem 3: AdaptiveCov as published against the least over tau of Noise and gamma with their printed factors."""
    data = _skewed(at, rng)
    rows = np.asarray(data.rows)
    s, norms = rows.T @ rows / at.n, np.linalg.norm(rows, axis=1)
    sizes, trace = closed_form(at.d, BETA, laplace=False), float(np.trace(s))
    vector = math.sqrt(2) * sizes.vector
    wide = (math.log(1 / BETA) / RHO) ** 0.25 * math.log(at.n)
    long = math.log(at.d * at.n / BETA) / math.sqrt(RHO)
    best = math.inf
    for tau in 2.0 ** -np.arange(0, 20):
        both = tau**2 * sizes.frobenius / (math.sqrt(RHO) * at.n)
        apart = tau * 2**1.25 * math.sqrt(trace * sizes.spectral) / (RHO**0.25 * math.sqrt(at.n))
        apart += tau**2 * vector / (math.sqrt(RHO) * at.n)
        best = min(best, wide * min(both, apart) + long * _tail(norms, float(tau)))
    seed = int(rng.integers(2**31))
    answer = release(data, ZCDP(RHO), "adaptive-cov", random_state=seed, calibration="as-published-5", centre="none")
    return frobenius(answer.matrix - s), best
