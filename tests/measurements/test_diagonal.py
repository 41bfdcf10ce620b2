"""The diagonal measurement: a part of the moment, with its own l1 sensitivity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, GaussianDP, NoPrivacy, PureDP, ZCDP
from privcov.measurements.diagonal import measure_diagonal
from privcov.measurements.moment import clipped_moment
from privcov.tables.dataset import Dataset

N, D = 6, 4


def measure(data, share, centre, seed=0):
    return measure_diagonal(data, share, centre=centre, rng=np.random.default_rng(seed))


def statistic(rows, centre):
    """What is measured, without noise, as a vector: the diagonal, then the mean part."""
    matrix = measure(Dataset.from_rows(rows), NoPrivacy(), centre).matrix
    d = rows.shape[1]
    return np.concatenate([np.diag(matrix)[:d], matrix[d, :d] if centre == "joint" else []])


def declared(d, centre, share):
    return measure(Dataset.from_rows(np.zeros((N, d))), share, centre).event.sensitivity


@pytest.mark.parametrize("centre", ["none", "joint"])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 20])
def test_neighbours_stay_below_the_declared_sensitivities(d, centre):
    rng = np.random.default_rng(d)
    fixed = rng.standard_normal((N, d))
    l1, l2 = declared(d, centre, PureDP(1.0)), declared(d, centre, ZCDP(1.0))
    flat, axis = np.full(d, 1 / math.sqrt(d)), np.eye(d)[0]
    found = []
    candidates = [(axis, -axis), (axis, 0 * axis), (flat, -flat), (axis, flat), (axis, np.eye(d)[-1])]
    candidates += [tuple(rng.standard_normal((2, d)) * 2) for _ in range(200)]
    # Rows on different halves, each with some of its length against the other: near the largest l1 change with a mean.
    half = (np.arange(d) < d / 2).astype(float)
    for long, short in [(2, 1), (4, 1), (8, 1), (16, 1)]:
        x, y = long * half + short * (1 - half), -short * half - long * (1 - half)
        candidates.append((x / np.linalg.norm(x), y / np.linalg.norm(y)))
    if d > 1:
        candidates.append((half / math.sqrt(half.sum()), -(1 - half) / math.sqrt(d - half.sum())))
    for x, y in candidates:
        a, b = (statistic(np.vstack([row, fixed[1:]]), centre) for row in (x, y))
        # Noise has deviation sigma on the diagonal and sigma/sqrt(2) on the mean part: that counts double.
        weight = np.where(np.arange(len(a)) < d, 1.0, 2.0)
        found.append((np.abs(a - b).sum(), math.sqrt(weight @ (a - b) ** 2)))
    largest = np.max(found, axis=0)
    assert largest[0] <= l1 + 1e-14
    assert largest[1] <= l2 + 1e-14
    if centre == "none":  # attained by two axes
        assert largest == pytest.approx([l1, l2], rel=1e-12)
    else:
        assert largest[0] >= 0.9 * l1


@pytest.mark.parametrize("centre", ["none", "zero", "joint"])
@pytest.mark.parametrize("share", [PureDP(0.5), ZCDP(0.5), ApproxDP(0.5, 1e-6)])
def test_event_matrix_and_law_agree(centre, share):
    data = Dataset.from_rows(np.random.default_rng(0).standard_normal((N, D)))
    measured = measure(data, share, centre, seed=5)
    joint = centre == "joint"
    assert accounting.covers(share, accounting.compose((measured.event,), share))
    assert measured.event.scale == measured.distribution.scale
    assert measured.distribution.shape == ("laplace" if isinstance(share, PureDP) else "isotropic")
    keep = np.eye(D + joint, dtype=bool)
    keep[D:] = keep[:, D:] = True
    whole = clipped_moment(data, n_anchors=joint, anchor_squared=1 / D) + measured.distribution.draw(
        np.random.default_rng(5)
    )
    assert np.array_equal(measured.matrix, np.where(keep, whole, 0.0))
    assert np.all(
        (measured.matrix - clipped_moment(data, n_anchors=joint, anchor_squared=1 / D))[np.arange(D), np.arange(D)] != 0
    )


def test_multiplier_is_exactly_what_was_asked():
    data = Dataset.from_rows(np.zeros((N, D)))
    assert measure(data, PureDP(0.25), "joint").event.multiplier == pytest.approx(4.0, rel=1e-15)
    assert measure(data, GaussianDP(0.25), "joint").event.multiplier == pytest.approx(4.0, rel=1e-15)


def test_one_row_one_column_and_no_privacy():
    data = Dataset.from_rows([[0.5]])
    assert measure(data, NoPrivacy(), "none").matrix.tolist() == [[0.25]]
    assert measure(data, NoPrivacy(), "none").event is None
    assert measure(data, NoPrivacy(), "joint").matrix == pytest.approx(np.array([[0.25, 0.5], [0.5, 1.0]]))
    assert measure(data, PureDP(1.0), "none").event.sensitivity == pytest.approx(1.0)
