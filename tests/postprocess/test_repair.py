"""Repairs before the lasso: what each promises, by its own definition."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privcov.postprocess.feasibility import diagnose
from privcov.postprocess.repair import REPAIRS, repair_for_lasso
from privcov.postprocess.spectrum import clip_psd

SQUARES = st.integers(1, 6).flatmap(lambda d: arrays(float, (d, d), elements=st.floats(-10, 10)))
REAL = [how for how in REPAIRS if how != "none"]


def noisy(d: int, seed: int) -> np.ndarray:
    a = np.random.default_rng(seed).standard_normal((d, d))
    return np.eye(d) + 0.6 * np.triu(a, 1) + 0.6 * np.triu(a, 1).T


@pytest.mark.parametrize("how", REAL)
@settings(max_examples=80, deadline=None, derandomize=True)
@given(SQUARES, st.sampled_from([0.0, 0.01, 0.3]))
def test_after_the_repair_every_eigenvalue_reaches_the_floor(how, a, floor):
    s = (a + a.T) / 2
    mean = np.trace(s) / len(s)
    size = np.abs(s).max()
    assume(mean > 1e-6)
    done = repair_for_lasso(s, how, floor)
    assert np.array_equal(done.matrix, done.matrix.T)
    assert np.linalg.eigvalsh(done.matrix)[0] >= floor * mean - 1e-12 * size * len(s)
    values = np.linalg.eigvalsh(s)
    assert done.clipped in {np.count_nonzero(values < floor * mean + shift * size) for shift in (-1e-12, 0, 1e-12)}
    assert done.mass == pytest.approx(np.trace(done.matrix - s), abs=1e-12 * size)
    assert done.mass >= -1e-12 * size
    assert done.max_change == pytest.approx(np.abs(done.matrix - s).max(), abs=1e-14 * size)
    if not done.clipped:
        assert np.array_equal(done.matrix, s)
        assert "no repair" in done.sentence


@pytest.mark.parametrize("seed", range(5))
def test_each_repair_is_the_nearest_in_its_own_measure(seed):
    """In Frobenius norm psd wins, ridge keeps the off-diagonal."""
    s = noisy(12, seed)
    done = {how: repair_for_lasso(s, how) for how in REAL}
    frobenius = {how: np.linalg.norm(r.matrix - s) for how, r in done.items()}
    assert min(frobenius, key=frobenius.get) == "psd"
    off = ~np.eye(12, dtype=bool)
    assert np.array_equal(done["ridge"].matrix[off], s[off])
    # the smallest shift: the lowest eigenvalue ends on the floor, not above it
    assert np.linalg.eigvalsh(done["ridge"].matrix)[0] == pytest.approx(0.01 * np.trace(s) / 12, rel=1e-9)


def test_psd_is_the_clip_and_its_mass_is_what_the_eigenvalues_lacked():
    s = noisy(9, 8)
    mean = np.trace(s) / 9
    done = repair_for_lasso(s)
    assert np.array_equal(done.matrix, clip_psd(s, 0.01 * mean))
    lacked = np.maximum(0.01 * mean - np.linalg.eigvalsh(s), 0)
    assert done.clipped == np.count_nonzero(lacked)
    assert done.mass == pytest.approx(lacked.sum(), rel=1e-9)


@pytest.mark.parametrize("how", REAL)
def test_after_the_repair_every_penalty_has_a_solution(how):
    done = repair_for_lasso(noisy(10, 10), how)
    for free in (True, False):
        assert diagnose(done.matrix, penalise_diagonal=free).smallest == 0.0


def test_what_cannot_be_repaired_is_refused():
    with pytest.raises(ValueError, match="no variance left"):
        repair_for_lasso(np.array([[1.0, 0.2], [0.2, -1.0]]))
    with pytest.raises(ValueError, match="no variance left"):
        repair_for_lasso(np.zeros((3, 3)), "ridge")
    with pytest.raises(ValueError, match="how must be one of"):
        repair_for_lasso(np.eye(2), "shrink")
    with pytest.raises(ValueError, match="floor"):
        repair_for_lasso(np.eye(2), floor=1.0)
    with pytest.raises(ValueError, match="NaN or infinite"):
        repair_for_lasso(np.full((2, 2), np.nan))


def test_an_eigenvalue_on_the_floor_is_not_below_it():
    """To rounding: 40 matrices whose smallest eigenvalue is a hundredth of the mean variance are left as they are."""
    values = np.array([0.0, 1.0, 1.0, 2.0])
    values[0] = 0.01 * values[1:].sum() / 3.99
    for seed in range(40):
        q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))
        found = repair_for_lasso((q * values) @ q.T, "psd", 0.01)
        assert found.clipped == 0
        assert abs(found.max_change) < 1e-15
