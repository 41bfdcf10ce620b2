"""Repairs of the spectrum: projections against their definition, shrinkage against what it claims."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from privcov.postprocess.spectrum import clip_box, clip_psd, project_trace, shrink_spectrum


def symmetric(d: int, seed: int) -> np.ndarray:
    a = np.random.default_rng(seed).standard_normal((d, d))
    return (a + a.T) / 2


def turn(d: int, seed: int) -> np.ndarray:
    """A rotation drawn uniformly."""
    q, r = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))
    return q * np.sign(np.diag(r))


def frobenius(a: np.ndarray) -> float:
    return float(np.linalg.norm(a))


squares = st.integers(1, 5).flatmap(lambda d: st.tuples(*[arrays(float, (d, d), elements=st.floats(-100, 100))] * 2))
REPAIRS = {
    "psd": clip_psd,
    "floor": lambda a: clip_psd(a, 0.3),
    "box": lambda a: clip_box(a, 0.8),
    "trace": lambda a: project_trace(a, 1.0),
    "shrink": lambda a: shrink_spectrum(a, 0.1),
}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(squares)
def test_clip_never_moves_away_from_any_psd_matrix(pair):
    noisy, root = pair
    noisy, truth = (noisy + noisy.T) / 2, root @ root.T
    assert frobenius(clip_psd(noisy) - truth) <= frobenius(noisy - truth) * (1 + 1e-12) + 1e-9


@settings(max_examples=200, deadline=None, derandomize=True)
@given(squares)
def test_clip_is_the_projection(pair):
    """P projects on the cone iff P >= 0, A - P <= 0 and <A - P, P> = 0 (Moreau)."""
    noisy = (pair[0] + pair[0].T) / 2
    clipped = clip_psd(noisy)
    size = 1 + frobenius(noisy)
    assert np.linalg.eigvalsh(clipped)[0] >= -1e-12 * size
    assert np.linalg.eigvalsh(noisy - clipped)[-1] <= 1e-12 * size
    assert abs(np.sum((noisy - clipped) * clipped)) <= 1e-12 * size**2


@pytest.mark.parametrize("seed", range(5))
def test_box_is_nearer_than_any_other_point_of_the_box(seed):
    """KKT of the projection on {0 <= P <= t}: <A - P, Q - P> <= 0 for every Q in the set."""
    a, t = symmetric(4, seed) * 2, 0.8
    p = clip_box(a, t)
    values = np.linalg.eigvalsh(p)
    assert values[0] >= -1e-14
    assert values[-1] <= t + 1e-14
    rng = np.random.default_rng(seed)
    for k in range(200):
        q = turn(4, k)
        other = (q * rng.choice([0.0, t], 4)) @ q.T  # the corners of the set
        assert np.sum((a - p) * (other - p)) <= 1e-12


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("trace", [0.1, 1.0, 3.0])
def test_trace_simplex_against_a_slow_solver(seed, trace):
    """P = L L' with penalty-free SLSQP on the trace, a different route to the same minimiser."""
    a, d = symmetric(3, seed) * 2, 3
    upper = np.triu_indices(d)

    def build(v):
        root = np.zeros((d, d))
        root[upper] = v
        return root.T @ root

    slow = min(
        (
            minimize(
                lambda v: np.sum((build(v) - a) ** 2),
                np.random.default_rng(k).standard_normal(6) / 2,
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 1000},
                constraints={"type": "ineq", "fun": lambda v: trace - np.trace(build(v))},
            )
            for k in range(4)
        ),
        key=lambda found: found.fun if np.trace(build(found.x)) <= trace + 1e-9 else np.inf,
    )
    fast = project_trace(a, trace)
    assert np.trace(fast) <= trace + 1e-12
    assert np.linalg.eigvalsh(fast)[0] >= -1e-13
    assert np.sum((fast - a) ** 2) == pytest.approx(slow.fun, abs=1e-7)
    np.testing.assert_allclose(fast, build(slow.x), atol=1e-4)


@pytest.mark.parametrize("name", REPAIRS)
def test_repairs_turn_with_the_matrix_and_keep_the_input(name):
    a, q = symmetric(6, 3), turn(6, 4)
    before = a.copy()
    turned = q @ a @ q.T
    np.testing.assert_allclose(REPAIRS[name]((turned + turned.T) / 2), q @ REPAIRS[name](a) @ q.T, atol=1e-12)
    np.testing.assert_array_equal(a, before)
    once = REPAIRS[name](a)
    assert (once == once.T).all()
    if name != "shrink":  # a projection changes nothing the second time
        np.testing.assert_allclose(REPAIRS[name](once), once, atol=1e-13)


def test_shrinkage_against_the_formula():
    """The formula, in loops."""
    a, s = symmetric(5, 8), 0.2
    values, vectors = np.linalg.eigh(a)
    d, v, eta = 5, 5 * s**2, s
    want = []
    for i in range(d):
        h = sum((values[i] - values[j]) / ((values[i] - values[j]) ** 2 + eta**2) for j in range(d)) / d
        want.append(max(values[i] - 2 * v * h, 0.0))
    np.testing.assert_allclose(shrink_spectrum(a, s), vectors @ np.diag(want) @ vectors.T, atol=1e-12)
