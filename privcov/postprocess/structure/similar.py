"""Columns of a few kinds, in any order: the covariance of two columns is the mean over columns similar to each.

Two columns are similar where their covariances with all others are the same up to the noise. With R the off-diagonal
entries and their noise variance v,
    q_ij = sum_{k != i, j} (R_ik - R_jk)^2,   z_ij = (q_ij - 2 v (d - 2)) / (v sqrt(8 (d - 2))),
so that z has mean 0 and variance 1 where the two columns do not differ, and
    a_ij = 1 / (1 + (max(z_ij, 0) / 2)^4),   a_ii = 1,
    F_ij = sum_{k != l} a_ik a_jl R_kl / sum_{k != l} a_ik a_jl,   i != j.
Blocks of related columns and columns that are all alike are such; nothing in it depends on their order.

**Its product with the noise** is 2 v sum_{i<j} dF_ij / dR_ij (member.py). R_ij and R_ji are one number, and it moves
a_ik and a_jk for all k other than i and j. With s_i = sum_k a_ik, P = R A, n_ij the denominator and b_ik such that
da_ik / dR_ij = b_ik (R_ij - R_kj),
    dF_ij / dR_ij = (1 + a_ij^2 + T_ij + T_ji) / n_ij,
    T_ij = sum_{k != i, j} b_ik (R_ij - R_kj) (P_kj - F_ij (s_j - a_jk)).
The sum over k is five matrix products.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.postprocess.denoise import BlockNoise
from privcov.postprocess.structure.band import bands
from privcov.postprocess.structure.level import on_one_level
from privcov.postprocess.structure.member import Member, shrink_if_noise

KIND = "similar columns"
_HALF = 2.0  # standard deviations of z at which a column counts half
_POWER = 4
_FEWEST = 5  # columns: below, too few others tell two columns apart


def similar(rest: np.ndarray, noise: BlockNoise) -> list[Member]:
    """Return the means over similar columns, as far as anything off the diagonal leaves the noise."""
    d = len(rest)
    if d < _FEWEST:
        return []
    found = Member(KIND, *_smoothed(rest, noise.std))
    shown = [(on_one_level(rest), 1), *bands(rest), (rest, d * (d - 1) // 2)]
    return [shrink_if_noise(found, shown, noise)]


def _smoothed(rest: np.ndarray, std: float) -> tuple[np.ndarray, float]:
    """Return F and its product with the noise."""
    d, squares = len(rest), np.sum(rest**2, axis=1)
    unit = std**2 * math.sqrt(8 * (d - 2))
    apart = squares[:, None] + squares - 2 * rest @ rest - 2 * rest**2  # R_ij is in both sums, and not in q
    z = np.maximum(apart - 2 * std**2 * (d - 2), 0.0) / (unit * _HALF)
    alike = 1 / (1 + z**_POWER)
    turn = -2 * _POWER * z ** (_POWER - 1) * alike**2 / (unit * _HALF)
    np.fill_diagonal(alike, 1.0)
    np.fill_diagonal(turn, 0.0)
    total, beside = alike.sum(axis=1), rest @ alike
    weight = np.outer(total, total) - alike @ alike
    np.fill_diagonal(weight, 1.0)  # nothing is read there
    found = alike @ beside / weight
    np.fill_diagonal(found, 0.0)
    moved = rest * (turn @ beside - found * (np.outer(turn.sum(axis=1), total) - turn @ alike))
    moved -= turn @ (rest * beside) - found * ((turn @ rest) * total - turn @ (rest * alike))
    moved -= turn * rest * (np.diag(beside) - found * (total - 1))  # k = j
    slopes = (1 + alike**2 + moved + moved.T) / weight
    return (found + found.T) / 2, std**2 * float(slopes.sum() - np.trace(slopes))
