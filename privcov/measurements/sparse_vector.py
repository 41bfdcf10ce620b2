"""The sparse vector technique and its two uses here: a private radius and a clipping threshold.

Queries f_1, f_2, ... of sensitivity 1 each are read in order. The threshold gets noise Lap(2/epsilon) once and every
query its own Lap(4/epsilon); only the index of the first noisy query at or above the noisy threshold is released:
epsilon-DP however many queries are read (Dwork and Roth 2014, Theorem 3.23, for one answer).

Both kinds of query are linear in the counts c_j of rows whose norm lies in (2^(-j-1), 2^-j], in units of the bound of
the rows. With n public, replacing a row lowers one count by 1 and raises another, so a query sum_j a_j c_j changes by
at most max a_j - min a_j (rows below the grid have a = 0):

  radius     #{|x| <= 2^-k}: coefficients 0 and 1.
  threshold  n (B(tau) - noise(tau)), B(tau) = (1/n) sum c_j (4^-j - tau^2)_+, Dong et al. 2022, Section 5.2:
             coefficients in [0, 1 - tau^2]. noise(tau) is computed from public constants and an already private trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import BudgetShare, Event
from privcov.measurements.clipping import blocks, clip_rows
from privcov.tables.dataset import Dataset

# The paper's grid of d n halvings is theoretical: 2^-40 of the public bound is below any rounding of data.
HALVINGS = 40
_PROOF = "privcov/measurements/sparse_vector.py"


def unit_norms(dataset: Dataset) -> np.ndarray:
    """Return the norms of the clipped rows in unit-ball units: NOT private. They are kept with the data set."""

    def compute() -> np.ndarray:
        parts = []
        for block in blocks(dataset):
            u = clip_rows(dataset.to_working(block), dataset.row_bound) / dataset.row_bound
            with np.errstate(under="ignore"):
                parts.append(np.sqrt(np.einsum("ij,ij->i", u, u)))
        return np.minimum(np.concatenate(parts), 1.0)

    return dataset.cache.once(("unit norms", dataset.row_bound), compute)


def norm_bins(dataset: Dataset) -> np.ndarray:
    """Return the counts of rows with norm in (2^(-j-1), 2^-j], unit-ball units, kept with the data set: NOT private."""

    def compute() -> np.ndarray:
        fraction, exponent = np.frexp(unit_norms(dataset))  # norm = fraction 2^exponent, fraction in [1/2, 1)
        upper = np.where(fraction == 0.5, exponent - 1, exponent)  # 2^upper is the upper end of the bin
        index = np.where(fraction == 0, HALVINGS + 1, np.clip(-upper, 0, HALVINGS + 1))
        return np.bincount(index, minlength=HALVINGS + 2)[:-1]

    return dataset.cache.once(("norm bins", dataset.row_bound), compute)


def clipping_bias(bins: np.ndarray) -> np.ndarray:
    """Return n B(tau) for tau = 1, 1/2, ..., 2^-HALVINGS: at least the Frobenius bias, times n, of clipping at tau."""
    fourth = 4.0 ** -np.arange(len(bins))
    return np.maximum(fourth[None, :] - fourth[:, None], 0.0) @ bins


def rows_within(bins: np.ndarray, n: int) -> np.ndarray:
    """Return #{|x| <= 2^-k} for k = 0..HALVINGS."""
    return n - np.concatenate([[0], np.cumsum(bins)[:-1]])


def first_above(queries: np.ndarray, scale: float, rng: np.random.Generator) -> int | None:
    """Return the index of the first noisy query at or above the noisy threshold 0, None when there is none.

    It is (1 / scale)-DP where each query has sensitivity at most 1 (Dong et al. 2022, Lemma 5 and Appendix A).
    """
    unit = rng.laplace(size=len(queries) + 1)  # all of them at once: the draws do not depend on the answer
    above = np.flatnonzero(queries + 4 * scale * unit[1:] >= 2 * scale * unit[0])
    return int(above[0]) if len(above) else None


def _event(name: str, statistic: str, scale: float) -> Event | None:
    """Return the event of one use of the technique; None without noise."""
    if scale == 0:
        return None
    return Event(
        share=name,
        statistic=statistic,
        mechanism="sparse-vector",
        norm="queries, each",
        sensitivity=1.0,
        scale=scale,
        proof=_PROOF,
        unit="a count of rows",
    )


def measure_radius(
    dataset: Dataset, share: BudgetShare, *, miss: float, rng: np.random.Generator
) -> tuple[float, Event | None]:
    """Return a private radius 2^-k, in units of R, that few rows exceed (PrivRadius).

    With probability 1 - miss it is at most twice the largest norm, or 2^-40, and at most
    (12/epsilon) log(2 (HALVINGS + 1)/miss) rows lie outside.

    Guarantee: the share, replace-one. Spends: the whole share. Source: Dong et al. 2022, Lemma 9; Dong and Yi (2021).
    """
    scale = accounting.laplace_scale(share, 1.0)
    if scale == 0:
        return 1.0, None
    within = rows_within(norm_bins(dataset), dataset.n)[::-1]  # from the smallest radius up
    slack = 6 * scale * math.log(2 * len(within) / miss)
    index = first_above(within - (dataset.n - slack), scale, rng)
    radius = 1.0 if index is None else 2.0 ** (index - HALVINGS)
    return radius, _event("radius", "smallest radius that holds nearly all rows", scale)


def measure_threshold(
    dataset: Dataset, noise: Callable[[np.ndarray], np.ndarray], share: BudgetShare, *, rng: np.random.Generator
) -> tuple[float, Event | None]:
    """Return a private clipping norm tau, in units of the bound, that balances bias and noise.

    It is one step above the first tau at which the bias reaches the noise.

    Guarantee: the share, replace-one. Spends: the whole share. Source: Dong et al. 2022, Algorithm 2, line 6, and
    Section 5.2.
    """
    scale = accounting.laplace_scale(share, 1.0)
    if scale == 0:
        return 1.0, None
    taus = 2.0 ** -np.arange(HALVINGS + 1)
    index = first_above(clipping_bias(norm_bins(dataset)) - dataset.n * noise(taus), scale, rng)
    step = len(taus) if index is None else index
    return 2.0 ** -max(step - 1, 0), _event("threshold", "clipping norm at which bias and noise balance", scale)
