"""The splitting method for the graphical lasso: certificate, analytic case, an independent solver, the printed loop."""

import numpy as np
import pytest

from privcov.postprocess.admm import published_admm, solve_admm
from privcov.postprocess.feasibility import diagnose

BOTH = pytest.mark.parametrize("diagonal", [False, True])


def sample(d: int, n: int, seed: int) -> np.ndarray:
    """Second moment of n rows with an AR(2) precision matrix, of unit size."""
    truth = np.eye(d)
    for lag, value in ((1, 0.5), (2, 0.25)):
        truth += value * (np.eye(d, k=lag) + np.eye(d, k=-lag))
    rows = np.random.default_rng(seed).multivariate_normal(np.zeros(d), np.linalg.inv(truth), n)
    return rows.T @ rows / n


def noisy(d: int, seed: int, size: float) -> np.ndarray:
    e = size * np.random.default_rng(seed).standard_normal((d, d))
    return sample(d, 4000, seed) + np.triu(e) + np.triu(e, 1).T


def largest(s: np.ndarray) -> float:
    return float(np.abs(s - np.diag(np.diag(s))).max())


def objective(s, t, lam, diagonal):
    size = np.abs(t).sum() - (0 if diagonal else np.trace(np.abs(t)))
    return float(-np.linalg.slogdet(t)[1] + np.sum(s * t) + lam * size)


def certificate(s, lam, answer, diagonal):
    """The gap per variable from the definition alone, after checking that both matrices are allowed."""
    t, w = answer.precision, answer.dual
    assert np.array_equal(t, t.T)
    assert np.array_equal(w, w.T)
    assert np.linalg.eigvalsh(t)[0] > 0
    assert np.linalg.eigvalsh(w)[0] > 0
    rounding = 1e-14 * np.abs(w).max()
    assert np.abs(w - s).max() <= lam + rounding
    assert np.allclose(np.diag(w), np.diag(s) + diagonal * lam, rtol=1e-14)
    return (objective(s, t, lam, diagonal) - np.linalg.slogdet(w)[1]) / len(s) - 1


@BOTH
@pytest.mark.parametrize("share", [0.9, 0.3, 0.05])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_gap_is_what_it_says(share, diagonal, unit):
    s = sample(15, 200, 0) * unit
    lam = share * largest(s)
    for tol in (1e-4, 1e-9):
        answer = solve_admm(s, lam, penalise_diagonal=diagonal, tol=tol)
        gap = certificate(s, lam, answer, diagonal)
        assert answer.status == "ok"
        assert answer.gap <= tol
        assert answer.gap == pytest.approx(gap, abs=1e-12)
    assert np.count_nonzero(answer.precision == 0) > 0


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_indefinite_matrices_with_a_solution_are_solved(seed, diagonal):
    s = noisy(20, seed, 0.4)
    found = diagnose(s, penalise_diagonal=diagonal)
    assert found.below > 0
    for times in (1.02, 1.3, 3.0):
        lam = times * found.smallest
        answer = solve_admm(s, lam, penalise_diagonal=diagonal)
        assert answer.status == "ok"
        assert certificate(s, lam, answer, diagonal) <= 1e-6 + 1e-12
    hopeless = solve_admm(s, 0.9 * found.below, penalise_diagonal=diagonal, most=1000)
    assert hopeless.status == "not converged"
    assert hopeless.precision is None
    assert np.isinf(hopeless.gap)


def test_an_early_stop_is_reported_with_its_gap():
    s = sample(15, 200, 7)
    lam = 0.05 * largest(s)
    early = solve_admm(s, lam, tol=1e-12, most=8)
    assert early.status == "not converged"
    assert early.gap > 1e-12
    if early.precision is not None:
        assert certificate(s, lam, early, False) == pytest.approx(early.gap, abs=1e-12)


def printed_loop(s, lam, rho, iterations):
    """Equations (2.6) to (2.8) of paper 2, term by term."""
    d = len(s)
    z, u = np.zeros((d, d)), np.zeros((d, d))
    for _ in range(iterations):
        q, vectors = np.linalg.eigh(rho * (z - u) - s)
        theta = vectors @ np.diag((q + np.sqrt(q**2 + 4 * rho)) / (2 * rho)) @ vectors.T
        a = theta + u
        z = np.where(a > lam / rho, a - lam / rho, np.where(a < -lam / rho, a + lam / rho, 0.0))
        u = u + theta - z
    return z, theta


def test_the_published_loop_is_the_printed_one():
    s = noisy(7, 8, 0.3)
    for rho in (100.0, 0.5):
        ours = published_admm(s, 0.05, rho=rho, iterations=25)
        z, theta = printed_loop(s, 0.05, rho, 25)
        assert np.allclose(ours.precision, z, atol=1e-12)
        assert np.allclose(ours.theta, theta, atol=1e-12)
        assert ours.sizes[-1] == pytest.approx(np.linalg.norm(z))


def test_the_published_loop_runs_away_on_an_indefinite_matrix():
    """|Z|_F grows by (Frobenius distance from the box around s to the cone) / rho per iteration; repaired, it settles.

    The distance by alternating projections, which shares nothing with the loop.
    """
    s, lam = 10 * noisy(12, 9, 0.3), 0.1
    assert lam < diagnose(s, penalise_diagonal=True).below
    inside = s
    for _ in range(3000):
        values, vectors = np.linalg.eigh(inside)
        cone = (vectors * np.maximum(values, 0)) @ vectors.T
        inside = np.clip(cone, s - lam, s + lam)
    distance = np.linalg.norm(cone - inside)
    wild = published_admm(s, lam, iterations=4000)
    assert np.linalg.norm(wild.precision) == wild.sizes[-1] > 50
    growth = np.diff(wild.sizes[1999::500]) / 500
    assert np.allclose(growth, distance / 100, rtol=0.05)
    values, vectors = np.linalg.eigh(s)
    tame = (vectors * np.maximum(values, 1.0)) @ vectors.T
    calm = published_admm((tame + tame.T) / 2, lam, iterations=4000)
    assert abs(calm.sizes[-1] - calm.sizes[-1000]) < 1e-6 * calm.sizes[-1]


def test_the_published_loop_converges_where_there_is_something_to_converge_to():
    s = sample(8, 200, 10)
    loop = published_admm(s, 0.1, rho=1.0, iterations=2000)
    answer = solve_admm(s, 0.1, penalise_diagonal=True, tol=1e-12)
    assert np.allclose(loop.precision, answer.precision, atol=1e-5)


def test_rho_100_is_far_from_done_on_rows_of_norm_one():
    """Rows scaled to the unit ball make s small: at the printed rho a thousand iterations leave it unsolved."""
    s = sample(20, 2000, 11) / 100
    lam = 0.1 * largest(s)
    loop = published_admm(s, lam, iterations=1000)
    best = objective(s, solve_admm(s, lam, penalise_diagonal=True).precision, lam, True)
    assert objective(s, loop.theta, lam, True) - best > 0.1
