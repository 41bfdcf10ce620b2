"""The lasso whose distance from the optimum is bounded for every matrix: rate, certificate, Lipschitz constant."""

import math

import numpy as np
import pytest

from privcov.postprocess import smoothed
from privcov.postprocess.smoothed import capped_inverse, duality_gap, smoothed_lasso, steps

LAM, TOP, WIDTH = 0.1, 10.0, 1e-3


def matrices(d: int, count: int, seed: int = 0) -> list[np.ndarray]:
    """Moments of rows in the unit ball, and indefinite matrices of the same size."""
    rng, out = np.random.default_rng(seed), []
    for k in range(count):
        x = rng.standard_normal((max(d // 2, 1) + 3 * k, d)) @ rng.standard_normal((d, d))
        s = x.T @ x / len(x)
        noise = rng.standard_normal((d, d)) * (k % 2) / (2 * d)
        out.append(s / np.trace(s) + (noise + noise.T) / 2)
    return out


def objective(t, s, lam=LAM, width=WIDTH):
    size = np.abs(t)
    h = np.where(size >= width, lam * size - lam * width / 2, lam * size**2 / (2 * width))
    return -np.linalg.slogdet(t)[1] + np.sum(s * t) + h.sum()


def test_the_gap_is_the_difference_of_primal_and_dual():
    """Against both objectives written out; at random U the gap is of the size of the objective."""
    rng = np.random.default_rng(1)
    for s in matrices(4, 6):
        u = rng.uniform(-LAM, LAM, s.shape)
        u = (u + u.T) / 2
        t = capped_inverse(s + u, TOP)
        dual = -np.linalg.slogdet(t)[1] + np.sum((s + u) * t) - WIDTH / LAM * (u**2).sum() / 2
        assert duality_gap(t, u, LAM, WIDTH) == pytest.approx(objective(t, s) - dual, abs=1e-10)
        assert duality_gap(t, u, LAM, WIDTH) > 0.01


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_fixed_number_of_steps_is_enough_without_looking_at_the_gap(d, monkeypatch):
    """The rate of the proof, with the early stop switched off; the reference is solved a hundred times closer."""
    monkeypatch.setattr(smoothed, "LOOK", 10**9)
    monkeypatch.setattr(smoothed, "duality_gap", lambda *rest: math.inf)
    taken = []
    inverse = capped_inverse
    monkeypatch.setattr(smoothed, "capped_inverse", lambda *rest: taken.append(1) or inverse(*rest))
    for s in matrices(d, 5):
        near = smoothed_lasso(s, LAM, TOP, WIDTH, 1e-3)
        assert len(taken) == steps(d, LAM, TOP, WIDTH, 1e-3) + 1  # all of them, and the answer
        assert np.linalg.norm(near - smoothed_lasso(s, LAM, TOP, WIDTH, 1e-5)) <= 1e-3 + 1e-5
        taken.clear()


@pytest.mark.parametrize("d", [2, 5, 12])
def test_the_early_stop_keeps_the_distance(d):
    for s in matrices(d, 6):
        exact = smoothed_lasso(s, LAM, TOP, WIDTH, 1e-5)
        for distance in (1.0, 0.1, 0.01):
            assert np.linalg.norm(smoothed_lasso(s, LAM, TOP, WIDTH, distance) - exact) <= distance + 1e-5
        assert np.linalg.eigvalsh(exact)[-1] <= TOP * (1 + 1e-12)


def test_it_is_the_minimum():
    """No feasible matrix nearby does better; the cap binds in half of the cases."""
    rng = np.random.default_rng(2)
    capped = 0
    for s in matrices(3, 6):
        t = smoothed_lasso(s, LAM, 4.0, WIDTH, 1e-7)
        capped += np.linalg.eigvalsh(t)[-1] > 4 * (1 - 1e-9)
        for size in (1e-3, 1e-2, 0.1):
            for _ in range(50):
                a = rng.standard_normal((3, 3))
                values, vectors = np.linalg.eigh(t + size * (a + a.T))
                other = (vectors * np.clip(values, 1e-9, 4.0)) @ vectors.T
                assert objective(t, s) <= objective(other, s) + 1e-10
    assert capped >= 2


def test_no_pair_of_matrices_moves_more_than_the_lipschitz_constant():
    """Random pairs and pairs along an eigenvector; the constant is nearly reached where the cap binds nowhere."""
    rng = np.random.default_rng(3)
    top, largest = 3.0, 0.0
    for s in matrices(3, 8):
        for size in (1e-3, 0.1):
            a = rng.standard_normal((3, 3))
            v = np.linalg.eigh(s)[1][:, :1]
            for change in (a + a.T, v @ v.T):
                moved = smoothed_lasso(s + size * change, LAM, top, WIDTH, 1e-7)
                moved = moved - smoothed_lasso(s, LAM, top, WIDTH, 1e-7)
                ratio = np.linalg.norm(moved) / np.linalg.norm(size * change)
                assert ratio <= top**2 * (1 + 1e-3)
                largest = max(largest, ratio)
    assert largest > 0.3 * top**2


@pytest.mark.parametrize("name", ["lam", "top", "width", "distance"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_bad_numbers_are_named(name, value):
    good = {"lam": LAM, "top": TOP, "width": WIDTH, "distance": 0.1} | {name: value}
    with pytest.raises(ValueError, match=f"{name} must"):
        smoothed_lasso(np.eye(2), **good)


def test_an_early_stop_has_the_distance_in_its_certificate(monkeypatch):
    """top sqrt(2 gap) <= distance at the last look, and at no earlier one; 40 matrices, so that a factor would show."""
    gaps, real = [], smoothed.duality_gap
    monkeypatch.setattr(smoothed, "duality_gap", lambda *given: gaps.append(real(*given)) or gaps[-1])
    top, ends = 4.0, []
    for seed in range(40):
        gaps.clear()
        a = np.random.default_rng(seed).normal(size=(5, 5)) / 3
        smoothed.smoothed_lasso((a + a.T) / 2 + 0.3 * np.eye(5), 0.3, top, 1e-2, 1e-3)
        certified = [top * math.sqrt(2 * gap) for gap in gaps]
        assert certified[-1] <= 1e-3 < min(certified[:-1], default=math.inf)
        ends.append(certified[-1])
    assert max(ends) > 0.75e-3  # near the limit, or a wrong factor could hide


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("distance", [1e-4, 0.3])
def test_the_number_of_steps_is_that_of_the_rate(d, distance):
    """Beside the rate taken literally: the dual gap shrinks by 1 - 1/sqrt(Q) per step from its bound at the start."""
    lam, top, width = 0.1, 5.0, 1e-2
    gap = lam * np.linalg.norm(np.full(d, top)) * d + lam * width * d * d / 2  # |T|_1 <= d |T|_F for T <= top I
    shrinks, needed = 1 - 1 / math.sqrt(1 + top**2 * lam / width), 0
    while gap > distance**2 / (2 * top**2):
        gap, needed = gap * shrinks, needed + 1
    assert needed <= smoothed.steps(d, lam, top, width, distance) <= 1.1 * needed + 1


def test_the_answer_has_the_cap_that_was_asked_for_and_not_the_one_of_the_steps():
    """The steps use 1 / lam = 10; along (1, 1) this matrix has a negative variance, and the optimum is at the cap."""
    answer = smoothed_lasso(np.array([[0.0, -0.5], [-0.5, 0.0]]), 0.1, 15.0, 1e-3, 1e-3)
    assert np.linalg.eigvalsh(answer)[-1] == pytest.approx(15, abs=2e-3)


def test_without_a_certificate_the_steps_that_need_none_are_taken(monkeypatch):
    caps, real = [], smoothed._ascend

    def uncertain(s, lam, top, cap, width, distance):
        caps.append(cap)
        return real(s, lam, top, cap, width, distance)[0], False

    monkeypatch.setattr(smoothed, "_ascend", uncertain)
    smoothed_lasso(0.5 * np.eye(2), 0.1, 20.0, 1e-2, 1e-2)
    assert caps == [10.0, 20.0]


def test_the_steps_are_those_of_the_proof(monkeypatch):
    """Accelerated projected gradient with constant momentum (Nesterov 2004, 2.2.22), written out; 9 steps, no stop."""
    s, lam, top, width = matrices(4, 2)[1], 0.1, 5.0, 1e-2
    monkeypatch.setattr(smoothed, "steps", lambda *given: 9)
    monkeypatch.setattr(smoothed, "duality_gap", lambda *given: math.inf)
    gamma, u, ahead = width / lam, np.zeros((4, 4)), np.zeros((4, 4))
    smooth, strong = top**2 + gamma, gamma
    rate = (math.sqrt(smooth) - math.sqrt(strong)) / (math.sqrt(smooth) + math.sqrt(strong))
    for _ in range(9):
        fresh = np.clip(ahead + (capped_inverse(s + ahead, top) - gamma * ahead) / smooth, -lam, lam)
        u, ahead = fresh, fresh + rate * (fresh - u)
    answer, certified = smoothed._ascend(s, lam, top, top, width, 1e-3)
    assert not certified
    assert answer == pytest.approx(capped_inverse(s + u, top), rel=1e-10)
