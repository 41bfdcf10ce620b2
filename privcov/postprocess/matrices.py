"""The matrices that a data owner gets from one noisy moment matrix, in the data's units. Spends nothing.

Only operations whose every bit is fixed are used (plain_algebra.py), so the page, the bundle and the bundle's own
script have the same doubles on every machine. In "working units" the public half-range of each column is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core import checks
from privcov.postprocess.available_cases import AvailableCases, available_cases
from privcov.postprocess.binary_columns import BinaryColumns, with_identities, within_values
from privcov.postprocess.moments import unpack
from privcov.postprocess.plain_algebra import eigen, rebuild
from privcov.postprocess.threshold import noise_variance
from privcov.tables.public_facts import Flags

LEAST_EIGENVALUE = 0.01  # of a correlation matrix, before it is inverted


@dataclass(frozen=True, eq=False)
class MeasuredMoment:
    """The noisy measurement and the public facts about it.

    matrix: noisy moment in unit-ball units (rows divided by R), p x p, p = d + 1, the mean last.
    row_bound: R, in working units, which are (data - origin) / scale. n_rows: public or noisy. entry_std, diagonal_std:
    standard deviation of the noise on an entry off the diagonal, also of the extra row, and on a diagonal entry (on
    each, where they differ), in the unit of ``matrix``. flags: the positions of the flags of missing cells in
    ``matrix``, whose p is then larger by the number of flags; None without flags. binary: the columns of two values.
    """

    matrix: np.ndarray
    row_bound: float
    scale: np.ndarray
    origin: np.ndarray
    n_rows: float
    entry_std: float
    diagonal_std: float | np.ndarray
    flags: Flags | None = None
    binary: BinaryColumns | None = None

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.scale)


@dataclass(frozen=True, eq=False)
class Matrices:
    """The matrices, in the data's units; symmetric unless said otherwise.

    noisy: covariance before any repair, unbiased up to the noise on the mean; it may have negative eigenvalues.
    noise_std: standard deviation of the privacy noise on each entry of ``noisy``. Both are NaN where too few rows have
    both cells, and every other matrix has zero there.

    covariance: positive semi-definite, the whole noisy moment without its negative eigenvalues; its diagonal is that of
    ``noisy`` where variances are less noisy than covariances. correlation: a variance below its own noise counts as
    that noise. eigenvalues, loadings: of ``covariance`` in working units, largest first; eigenvectors in columns.

    regular: ``covariance`` with the eigenvalues of its correlation raised to ``floor``. precision, partial: its
    inverse, and the partial correlations. floor: the typical noise on a correlation, at least 0.01. shares, shares_std:
    noisy share of rows that have both cells, and the deviation of its noise; None where missing cells are not measured.
    """

    mean: np.ndarray
    noisy: np.ndarray
    noise_std: np.ndarray
    covariance: np.ndarray
    correlation: np.ndarray
    eigenvalues: np.ndarray
    loadings: np.ndarray
    regular: np.ndarray
    precision: np.ndarray
    partial: np.ndarray
    floor: float
    shares: np.ndarray | None = None
    shares_std: np.ndarray | None = None


def derive(noisy: MeasuredMoment) -> Matrices:
    """Compute all matrices from the noisy moment."""
    mean, raw, variance = unbiased(noisy)
    available = _available(noisy)
    usable = np.ones(raw.shape, dtype=bool) if available is None else ~available.refused
    stated, stated_std = raw, np.sqrt(variance)
    raw, variance = np.where(usable, raw, 0.0), np.where(usable, variance, 0.0)
    if available is None:
        repaired = unpack(_psd(noisy.matrix), centre="joint", row_bound=noisy.row_bound).target
    else:
        repaired = _psd(raw)
        mean = np.where(np.diag(usable), mean, 0.0)
    std = np.sqrt(variance)
    if available is None:
        accurate = np.full(noisy.d, noisy.diagonal_std < noisy.entry_std)
    else:  # a column that is refused has no variance to keep
        some = bool(usable.all()) and noisy.d > 1 and np.diag(std).max() < std[~np.eye(noisy.d, dtype=bool)].min()
        accurate = np.full(noisy.d, some)
    if accurate.any():
        repaired = _with_diagonal(repaired, np.where(accurate, np.diag(raw), np.diag(repaired)), np.diag(std))
    bounded_mean = within_values(np.where(np.diag(usable), mean, np.nan), noisy.binary)
    repaired = with_identities(repaired, bounded_mean, noisy.binary)
    units = noisy.scale[:, None] * noisy.scale[None, :]

    least = float(np.diag(std).max())
    corr = correlation(repaired, floor=max(least, 1e-300))
    spread = np.sqrt(np.maximum(np.diag(repaired), max(least, 1e-300)))
    off = ~np.eye(noisy.d, dtype=bool)
    typical = float(np.median((std / (spread[:, None] * spread[None, :]))[off])) if noisy.d > 1 else 0.0
    floor = min(max(typical, LEAST_EIGENVALUE), 1.0)
    low, axes = eigen(corr)
    low = np.maximum(low, floor)
    inverse = rebuild(1 / low, axes)
    values, vectors = eigen(repaired)
    data_spread = spread * noisy.scale
    data_units = data_spread[:, None] * data_spread[None, :]
    root = np.sqrt(np.diag(inverse))
    partial = -inverse / (root[:, None] * root[None, :])
    np.fill_diagonal(partial, 1.0)
    return Matrices(
        mean=noisy.origin + noisy.scale * mean,
        noisy=stated * units,
        noise_std=stated_std * units,
        covariance=repaired * units,
        correlation=corr,
        eigenvalues=np.maximum(values[::-1], 0.0),
        loadings=vectors[:, ::-1].copy(),
        regular=rebuild(low, axes) * data_units,
        precision=inverse / data_units,
        partial=partial,
        floor=floor,
        shares=None if available is None else available.shares,
        shares_std=None if available is None else available.share_std,
    )


def _psd(matrix: np.ndarray) -> np.ndarray:
    values, vectors = eigen(matrix)
    return matrix if values[0] >= 0 else rebuild(np.maximum(values, 0.0), vectors)


def _available(noisy: MeasuredMoment) -> AvailableCases | None:
    if noisy.flags is None:
        return None
    return available_cases(noisy.matrix, noisy.flags, row_bound=noisy.row_bound)


def unbiased(noisy: MeasuredMoment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, unrepaired covariance (NaN where refused), and its noise variance, in working units."""
    if (available := _available(noisy)) is not None:
        return available.mean, available.covariance, available.variance
    r2 = noisy.row_bound * noisy.row_bound
    moments = unpack(noisy.matrix, centre="joint", row_bound=noisy.row_bound)
    raw = moments.target
    block, diagonal = noisy.entry_std * r2, noisy.diagonal_std * r2
    assert moments.mean is not None, "the centre is joint"
    edge = noisy.entry_std * noisy.row_bound / math.sqrt(noisy.matrix[-1, -1])
    variance = np.array(noise_variance(moments.mean, block, edge))
    # The square of a noisy mean: Var[w - 2 mu e - e^2] = diagonal^2 + 4 mu^2 edge^2 + 2 edge^4.
    e2 = edge * edge
    mu2 = np.maximum(moments.mean * moments.mean - e2, 0.0)
    np.fill_diagonal(variance, diagonal * diagonal + 4 * mu2 * e2 + 2 * e2 * e2)
    return moments.mean, raw, variance


def _with_diagonal(matrix: np.ndarray, diagonal: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return the matrix with this diagonal, but at least ``least``; its correlations stay.

    Setting negative eigenvalues to zero raises every variance, by far more than accurate ones are off. Rows and columns
    are scaled, so a positive semi-definite matrix stays one.
    """
    factor = np.sqrt(np.maximum(diagonal, least) / np.maximum(np.diag(matrix), least))
    return matrix * (factor[:, None] * factor[None, :])


def correlation(covariance: np.ndarray, floor: float) -> np.ndarray:
    """Return the correlation matrix D^-1/2 C D^-1/2, with variances below ``floor`` raised to it."""
    checks.positive("floor", floor, "Use the noise deviation of a diagonal entry.")
    c = checks.square("covariance", covariance)
    spread = np.sqrt(np.maximum(np.diag(c), floor))
    r = np.clip(c / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(r, 1.0)
    return r
