"""Estimates of the off-diagonal entries of a noisy covariance, each a plain function of these entries.

R is the noisy matrix without its diagonal, U_ij = sqrt(k_i k_j) for the shrunk variances k, and r_ij = R_ij / U_ij a
noisy correlation. Every estimate is zero on the diagonal. That by eigenvalues reads the whole matrix.

    equal correlations  every correlation is their mean, <R, U> / <U, U>
    band                the mean correlation of every distance |i - j|, up to the distances 1, 2, 4, ...
    tree                on the spanning tree of largest |r| (Chow and Liu 1968): the product of r along the path
    steps on the tree   the mean correlation of every number of edges on that tree, with the sign of the path
    similar columns     the mean over columns whose covariances with all others are alike, see `similar`
    factors             the eigenvalues that leave the noise, of R with communalities on its diagonal
    eigenvalues         those of the whole matrix, shrunk for the noise (spectrum.py)
    pairs alone         the mean of every correlation given its own r, under a mixture of normal distributions that is
                        fitted to all of them (Stephens 2017)
    as measured         R itself

Only `band` uses the order of the columns. A tree needs no order: on it the columns of an autoregression form a path.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.postprocess.spectrum import shrunk_values, shrunk_values_wishart

MOST_CORRELATED = 0.98  # a noisy correlation counts as no more along a path
_HALF, _POWER = 2.0, 4  # standard deviations at which a column counts half as similar, and how soon it counts no more
_SPREADS = np.array([0.0, 0.05, 0.1, 0.2, 0.4, 0.8])  # of correlations, in the mixture of `entries`
_FITS, _ZEROS = 30, 2.0  # steps of its fit, and correlations of zero that it begins with
_AXES = 4  # steps of the communalities
_EDGE, _EDGE_WISHART = 2.04, 2.45  # of the eigenvalues of noise, in sqrt(d) times its deviation


def distances(rest: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return <R, U> and <U, U> over the entries of each distance |i - j|; 0 and 1 on the diagonal."""
    d = len(unit)
    lag = np.abs(np.subtract.outer(np.arange(d), np.arange(d))).ravel()
    products = np.bincount(lag, (rest * unit).ravel(), minlength=d)
    squares = np.bincount(lag, (unit**2).ravel(), minlength=d)
    squares[0] = 1.0
    return products, squares


def on_tree(correlations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the products along the paths of the spanning tree of each matrix, and the number of edges of each path.

    correlations: b x d x d, zero on the diagonal. Prim's algorithm, on all matrices at the same time.
    """
    b, d, _ = correlations.shape
    strength, batch, diagonal = np.abs(correlations), np.arange(b), np.arange(d)
    product, steps = np.zeros((b, d, d)), np.zeros((b, d, d), dtype=np.int64)
    product[:, 0, 0] = 1.0
    in_tree = np.zeros((b, d), dtype=bool)
    in_tree[:, 0] = True
    # Of every column outside the tree: its strongest correlation with one inside, -1 for a column inside; and which.
    strongest, parents = strength[:, 0].copy(), np.zeros((b, d), dtype=np.int64)
    strongest[:, 0] = -1.0
    for _ in range(d - 1):
        new = strongest.argmax(axis=1)
        parent = parents[batch, new]
        products = correlations[batch, parent, new][:, None] * product[batch, parent]
        lengths = np.where(in_tree, steps[batch, parent] + 1, 0)
        product[batch, new], product[batch, :, new] = products, products
        steps[batch, new], steps[batch, :, new] = lengths, lengths
        product[batch, new, new] = 1.0
        in_tree[batch, new], strongest[batch, new] = True, -1.0
        stronger = (strength[batch, new] > strongest) & ~in_tree
        strongest = np.where(stronger, strength[batch, new], strongest)
        parents = np.where(stronger, new[:, None], parents)
    product[:, diagonal, diagonal] = 0.0
    return product, steps


def by_steps(correlations: np.ndarray, product: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return the mean correlation of every number of edges on the tree, with the sign of the path."""
    b, d, _ = correlations.shape
    sign = np.sign(product)
    place = (steps + d * np.arange(b)[:, None, None]).ravel()
    sums = np.bincount(place, (correlations * sign).ravel(), minlength=b * d)
    means = sums / np.maximum(np.bincount(place, minlength=b * d), 1)
    return means[place].reshape(b, d, d) * sign


def similar(rest: np.ndarray, std: float) -> np.ndarray:
    """Return the means over similar columns of each matrix, b x d x d; std: deviation of an entry's error.

    Two columns are similar where their entries with all others are the same up to the error. With
    q_ij = sum_{k != i, j} (R_ik - R_jk)^2 and z_ij = (q_ij - 2 v (d - 2)) / (v sqrt(8 (d - 2))), of mean 0 and variance
    1 where the two columns do not differ,
        a_ij = 1 / (1 + (max(z_ij, 0) / 2)^4),   a_ii = 1,
        F_ij = sum_{k != l} a_ik a_jl R_kl / sum_{k != l} a_ik a_jl,   i != j.
    Blocks of related columns and columns that are all alike are such; nothing in it depends on their order.
    """
    d, diagonal = rest.shape[-1], np.arange(rest.shape[-1])
    squares = np.sum(rest**2, axis=2)
    apart = squares[:, :, None] + squares[:, None, :] - 2 * rest @ rest - 2 * rest**2  # R_ij is in both, not in q
    z = np.maximum(apart - 2 * std**2 * (d - 2), 0.0) / (std**2 * math.sqrt(8 * (d - 2)) * _HALF)
    alike = 1 / (1 + z**_POWER)
    alike[:, diagonal, diagonal] = 1.0
    total = alike.sum(axis=2)
    weight = total[:, :, None] * total[:, None, :] - alike @ alike
    weight[:, diagonal, diagonal] = 1.0  # nothing is read there
    means = alike @ (rest @ alike) / weight
    means[:, diagonal, diagonal] = 0.0
    return (means + means.transpose(0, 2, 1)) / 2


def factors(rest: np.ndarray, variances: np.ndarray, std: float, gaussian: bool) -> tuple[np.ndarray, ...]:
    """Return eigenvalues, eigenvectors, what becomes of the eigenvalues, and how that moves with them.

    The principal axes of R + diag(h): h begins with the largest covariance of each column, and becomes what the axes
    explain of its variance. An eigenvalue l above the edge of the noise becomes sqrt(l^2 - 4 d std^2), the least error
    under noise of a semicircle (Benaych-Georges and Nadakuditi 2011; Gavish and Donoho 2017). D holds h as it is.
    """
    square = 4 * len(rest) * std**2
    edge = (_EDGE if gaussian else _EDGE_WISHART) * math.sqrt(square / 4)
    explained = np.minimum(np.abs(rest).max(axis=1), variances)
    for _ in range(_AXES):
        values, vectors = np.linalg.eigh(rest + np.diag(explained))
        new_values = np.where(values > edge, np.sqrt(np.maximum(values**2 - square, 0.0)), 0.0)
        explained = np.minimum(vectors**2 @ new_values, variances)
    slope = np.where(new_values > 0, values / np.where(new_values > 0, new_values, 1.0), 0.0)
    return values, vectors, new_values, slope


def eigenvalues(matrix: np.ndarray, std: float, gaussian: bool) -> tuple[np.ndarray, ...]:
    """Return the same of the whole matrix, its eigenvalues shrunk as for a matrix that is all noise."""
    values, vectors = np.linalg.eigh(matrix)
    if gaussian:
        shrunk, slope = shrunk_values(values, std)
    else:
        shrunk, slope = shrunk_values_wishart(values, std / math.sqrt(2 * (len(values) + 1)))
    return values, vectors, np.maximum(shrunk, 0.0), np.where(shrunk > 0, slope, 0.0)


def entries(correlations: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of every correlation given its noisy value, and how that moves with it.

    correlations, variances: those above the diagonal, the variances of their errors above zero.
    """
    spread = _SPREADS[:, None] ** 2
    total = spread + variances
    likely = -0.5 * (np.log(total) + correlations**2 / total)
    likely = np.exp(likely - likely.max(axis=0))
    weights = np.full(len(_SPREADS), 1 / len(_SPREADS))
    first = _ZEROS * (_SPREADS == 0)
    for _ in range(_FITS):
        chance = weights[:, None] * likely
        chance /= chance.sum(axis=0)
        weights = (chance.sum(axis=1) + first) / (len(correlations) + _ZEROS)
    share = spread / total
    mean = (chance * share).sum(axis=0) * correlations
    square = (chance * (share * variances + (share * correlations) ** 2)).sum(axis=0)
    return mean, (square - mean**2) / variances
