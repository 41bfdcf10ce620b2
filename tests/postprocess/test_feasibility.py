"""Where the graphical lasso has a solution: both bounds against their witnesses, the analytic case and solvers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privcov.postprocess.admm import solve_admm
from privcov.postprocess.feasibility import certainly_definite, diagnose, quick_psd
from privcov.postprocess.glasso import solve_path

SMALL = st.integers(1, 4).flatmap(lambda d: arrays(float, (d, d), elements=st.integers(-50, 50).map(float)))
BOTH = pytest.mark.parametrize("free", [True, False])


def indefinite(d: int, seed: int) -> np.ndarray:
    """Unequal variances plus symmetric noise off the diagonal; the largest eigenvalue of that is about sqrt(2 d)."""
    rng = np.random.default_rng(seed)
    e = np.triu(rng.standard_normal((d, d)), 1)
    return np.diag(rng.uniform(0.5, 1.5, d)) + 0.7 * (e + e.T)


def exact_definite(a: np.ndarray, strict: bool) -> bool:
    """Positive (semi-)definite in rational arithmetic: symmetric elimination, a zero pivot needs a zero row."""
    m = [[Fraction(x) for x in row] for row in a.tolist()]
    d = len(m)
    for k in range(d):
        if m[k][k] < 0 or (m[k][k] == 0 and (strict or any(m[i][k] for i in range(k + 1, d)))):
            return False
        for i in range(k + 1, d):
            ratio = m[i][k] / m[k][k] if m[k][k] else Fraction(0)
            for j in range(k + 1, d):
                m[i][j] -= ratio * m[k][j]
    return True


def objective(s, t, lam, free):
    size = np.abs(t).sum() - (0 if free else np.abs(np.diag(t)).sum())
    return float(-np.linalg.slogdet(t)[1] + np.sum(s * t) + lam * size)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(SMALL, st.booleans())
def test_both_witnesses_hold_in_rational_arithmetic(a, free):
    s = (a + a.T) / 2
    found = diagnose(s, penalise_diagonal=free)
    assert found.below <= found.smallest
    if found.anchor is not None:
        assert exact_definite(found.anchor, strict=False)
        far = max(abs(Fraction(x) - Fraction(y)) for x, y in zip(found.anchor.ravel(), s.ravel(), strict=True))
        assert far <= Fraction(found.smallest)
        if not free:
            assert np.array_equal(np.diag(found.anchor), np.diag(s))
    if found.ray is not None:
        assert exact_definite(found.ray, strict=False)
        assert found.ray.any()
        below = Fraction(0) if np.isinf(found.below) else Fraction(found.below)
        total = sum(Fraction(x) * Fraction(y) for x, y in zip(s.ravel(), found.ray.ravel(), strict=True))
        norm = sum(abs(Fraction(x)) for (i, j), x in np.ndenumerate(found.ray) if free or i != j)
        assert total + below * norm <= 0
        if np.isinf(found.below):
            assert norm == 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SMALL)
def test_certainly_definite_never_says_yes_wrongly(a):
    s = (a + a.T) / 2
    if certainly_definite(s):
        assert exact_definite(s, strict=True)
    gram = a @ a.T  # integers: exact, and often singular
    assert certainly_definite(gram) <= exact_definite(gram, strict=True)
    assert certainly_definite(gram + np.eye(len(a)) * 1e-3 * (1 + np.trace(gram)))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(0.05, 3), st.floats(0.05, 3), st.floats(-4, 4))
def test_two_columns_against_the_formula(a, b, c):
    """Held: |c| - sqrt(ab). Free: (a + t)(b + t) = (|c| - t)^2, so t = (c^2 - ab) / (a + b + 2|c|)."""
    s = np.array([[a, c], [c, b]])
    excess = c * c - a * b
    for free, want in ((False, abs(c) - np.sqrt(a * b)), (True, excess / (a + b + 2 * abs(c)))):
        found = diagnose(s, penalise_diagonal=free)
        if excess < -1e-9:
            assert found.smallest == 0.0
        elif excess > 1e-6:
            assert found.below <= want * (1 + 1e-9)
            assert found.smallest >= want * (1 - 1e-9)
            assert found.smallest - found.below <= 2e-3 * found.smallest + 1e-9


@BOTH
@pytest.mark.parametrize(("d", "seed"), [(4, 0), (12, 1), (25, 2)])
def test_just_above_a_solver_certifies_and_just_below_the_objective_falls(d, seed, free):
    s = indefinite(d, seed)
    found = diagnose(s, penalise_diagonal=free)
    assert 0 < found.below <= found.smallest <= found.below * 1.002
    # at most the distance that raises all eigenvalues or clears the off-diagonal
    assert found.smallest <= (-np.linalg.eigvalsh(s)[0] if free else np.abs(s - np.diag(np.diag(s))).max()) * 1.0001
    answer = solve_admm(s, 1.01 * found.smallest, penalise_diagonal=free)
    assert answer.status == "ok"
    lam = found.below * (1 - 1e-6)
    falls = [objective(s, np.eye(d) + t * found.ray, lam, free) for t in 10.0 ** np.arange(2, 12)]
    steps = np.diff(falls)
    assert (steps < -1).all()  # each tenfold step gains at least rank(D) log 10, for ever
    assert solve_admm(s, 0.95 * found.below, penalise_diagonal=free, most=1500).status == "not converged"


def test_the_anchor_leads_into_the_box_of_every_larger_penalty():
    s = indefinite(15, 3)
    found = diagnose(s)
    for lam in found.smallest * np.array([1.0001, 1.1, 2.0]):
        t = (lam - found.smallest) / (2 * np.abs(s).max())
        inside = (1 - t) * found.anchor + t * np.diag(np.diag(s))
        assert np.linalg.eigvalsh(inside)[0] > 0
        assert np.abs(inside - s).max() <= lam


@BOTH
def test_wide_samples_and_repaired_matrices_count_as_semi_definite(free):
    x = np.random.default_rng(4).standard_normal((6, 30))
    s = x.T @ x / 6
    assert quick_psd(s)
    found = diagnose(s, penalise_diagonal=free)
    assert found.below == 0.0
    assert found.smallest <= 1e-9
    assert found.ray is None
    assert diagnose(s + 0.01 * np.eye(30), penalise_diagonal=free).smallest == 0.0


def test_a_diagonal_entry_that_is_not_positive_stops_the_held_form_only():
    s = np.diag([1.0, -0.25, 0.0, 2.0])
    held = diagnose(s)
    assert np.isinf(held.smallest)
    assert held.anchor is None
    assert "2 diagonal entries" in held.reason
    falls = [objective(s, np.eye(4) + t * held.ray, 100.0, False) for t in (1e1, 1e3, 1e5)]
    assert np.diff(falls).max() < -4
    free = diagnose(s, penalise_diagonal=True)
    assert free.below == pytest.approx(0.25, rel=1e-3)
    assert free.smallest == pytest.approx(0.25, rel=1e-3)


@BOTH
def test_what_is_asked_about_one_penalty_is_answered_as_by_the_whole_diagnosis(free):
    """Penalties from far below to far above the critical one; both witnesses hold by multiplication."""
    for seed in range(12):
        s = 10.0 ** (seed % 5 - 2) * indefinite(4 + seed, seed)
        whole = diagnose(s, penalise_diagonal=free)
        for factor in (0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 10.0):
            lam = factor * (whole.below if factor < 1 else whole.smallest)
            found = diagnose(s, penalise_diagonal=free, lambda_range=(lam, lam))
            assert (found.smallest < lam) == (factor > 1), "lam has a solution exactly above the critical penalty"
            assert (found.below >= lam) == (factor < 1)
            assert np.abs(found.anchor - s).max() <= found.smallest
            assert np.linalg.eigvalsh(found.anchor)[0] >= 0
            assert np.linalg.eigvalsh(found.ray)[0] >= -1e-12 * np.abs(found.ray).max()
            size = np.abs(found.ray).sum() - (0 if free else np.trace(np.abs(found.ray)))
            assert np.sum(s * found.ray) + found.below * size <= 1e-9 * size
        wide = diagnose(s, penalise_diagonal=free, lambda_range=(whole.below / 2, 2 * whole.smallest))
        assert wide.smallest == whole.smallest, "a range that holds the critical penalty needs all of it"
        (fit,) = solve_path(s, [2 * whole.smallest], penalise_diagonal=free, tol=1e-8)
        (known,) = solve_path(s, [2 * whole.smallest], penalise_diagonal=free, tol=1e-8, diagnosis=whole)
        size = np.abs(known.precision).max()
        np.testing.assert_allclose(fit.precision, known.precision, rtol=1e-3, atol=1e-5 * size)
