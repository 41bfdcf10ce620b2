"""Clipping: down, never up, and a second time changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from privcov.measurements import clipping
from privcov.measurements.clipping import clip_rows
from privcov.tables.dataset import Dataset


def _rows(d, n=400, seed=0):
    """Norms from 1e-3 to 1e6, and a zero row."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 6, (n, 1))
    rows[0] = 0
    return rows


@pytest.mark.parametrize("d", [1, 2, 5, 50, 3000])
@pytest.mark.parametrize("bound", [1e-3, 1.0, np.pi, 1e4])
def test_clipping_twice_is_clipping_once_bit_for_bit(d, bound):
    once = clip_rows(_rows(d), bound)
    assert np.array_equal(clip_rows(once, bound), once)
    assert np.linalg.norm(once, axis=1).max() <= bound * (1 + 1e-15)


def test_long_rows_come_to_the_bound_and_keep_their_direction():
    rows = _rows(6)
    clipped = clip_rows(rows, 2.0)
    norms = np.linalg.norm(rows, axis=1)
    long = norms > 2.0
    assert 50 < long.sum() < 390
    np.testing.assert_allclose(np.linalg.norm(clipped[long], axis=1), 2.0, rtol=1e-13)
    np.testing.assert_allclose(clipped[long] * norms[long, None] / 2.0, rows[long], rtol=1e-12)


def test_short_rows_are_untouched_and_the_input_too():
    rows = _rows(6)
    before = rows.copy()
    clipped = clip_rows(rows, 2.0)
    short = np.linalg.norm(rows, axis=1) <= 2.0
    assert np.array_equal(clipped[short], rows[short])
    assert np.array_equal(rows, before)
    assert not np.shares_memory(clipped, rows)
    axis = np.eye(4) * 2.0
    assert np.array_equal(clip_rows(axis, 2.0), axis)  # exactly on the bound


def test_extreme_numbers_stay_inside_the_bound():
    assert not clip_rows(np.full((2, 3), 1e200), 1.0).any()  # too long to be squared: zero, without a warning
    assert np.linalg.norm(clip_rows(np.full((1, 3), 1e150), 1.0)) == pytest.approx(1.0)
    for bound in (1e-180, 1e101, 0.0, -1.0, np.nan):  # squares of rows near 1e-180 underflow
        with pytest.raises(ValueError, match="row_bound must"):
            clip_rows(np.full((1, 2), 1e-170), bound)


def test_blocks_cover_every_row_once_and_in_order(monkeypatch):
    monkeypatch.setattr(clipping, "_BLOCK_ENTRIES", 10)
    for n, d in ((1, 1), (7, 3), (9, 3), (5, 100)):
        data = Dataset.from_rows(np.ones((n, d)))
        seen = np.concatenate([np.arange(n)[block] for block in clipping.blocks(data)])
        assert np.array_equal(seen, np.arange(n))


def test_shares_of_what_is_clipped():
    data = Dataset.from_rows([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [0.0, 1.0]], row_bound=1.0)
    np.testing.assert_allclose(clipping.row_norms(data), [5.0, 0.5, 0.0, 1.0])
    assert clipping.share_clipped(data) == 0.25
    assert clipping.share_clipped(data.with_row_bound(0.4)) == 0.75
    assert np.array_equal(clipping.share_out_of_bounds(data), [0, 0])
    bounded = Dataset.from_rows(data.rows, bounds=[[-1, 1], [0, 1]])
    assert np.array_equal(clipping.share_out_of_bounds(bounded), [0.25, 0.25])
    assert clipping.row_norms(bounded).max() <= bounded.row_bound


@pytest.mark.parametrize("typical", [[np.nan, 0.5], [2.0, 0.5], [0.5], 0.5])
def test_typical_values_outside_the_bounds_are_refused(typical):
    with pytest.raises((ValueError, TypeError), match=r"typical (must|takes)"):
        Dataset.from_rows(np.zeros((3, 2)), bounds=[[0, 1], [0, 1]], typical=typical)


def test_working_units_lie_in_the_unit_box_around_the_typical_values():
    rows = np.random.default_rng(0).uniform(-5, 5, (200, 2))
    data = Dataset.from_rows(rows, bounds=[[-1, 3], [0, 1]], typical=[0.0, 0.9])
    work = data.to_working()
    assert np.abs(work).max() <= 1
    assert np.abs(work).max(axis=0) == pytest.approx([1.0, 1.0])
    assert np.abs(np.min(work[:, 0])) == pytest.approx(1 / 3)
    np.testing.assert_allclose(work * data.scale + data.origin, np.clip(rows, [-1, 0], [3, 1]), atol=1e-14)
