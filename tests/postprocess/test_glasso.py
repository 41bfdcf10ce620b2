"""The graphical lasso: optimality conditions taken literally, certificates, and who is refused."""

import builtins
import warnings

import numpy as np
import pytest

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP
from privcov.postprocess.feasibility import Infeasible, diagnose
from privcov.postprocess.glasso import lambda_max, solve, solve_path, warm_up
from privcov.postprocess.spectrum import clip_psd

N = 2000


def moment(model, d, epsilon, seed, raw=False):
    """Second moment of 2000 Gaussian rows of norm at most 1, with the noise of (epsilon, 1e-3)-DP, maybe made PSD."""
    rng = np.random.default_rng([seed, d])
    if model == "ar2":
        theta = np.eye(d) + 0.5 * (np.eye(d, k=1) + np.eye(d, k=-1)) + 0.25 * (np.eye(d, k=2) + np.eye(d, k=-2))
    else:
        upper = np.triu(np.where(rng.random((d, d)) < 3 / d, rng.uniform(-0.6, 0.6, (d, d)), 0.0), 1)
        theta = upper + upper.T
        theta += (0.3 - np.linalg.eigvalsh(theta)[0]) * np.eye(d)
    x = rng.standard_normal((N, d)) @ np.linalg.cholesky(np.linalg.inv(theta)).T
    x /= np.sqrt((x**2).sum(axis=1).max())
    s = x.T @ x / N
    if epsilon is not None:
        noise = np.triu(rng.normal(0.0, accounting.gaussian_scale(ApproxDP(epsilon, 1e-3), np.sqrt(2) / N), (d, d)))
        s = s + noise + np.triu(noise, 1).T
        if not raw:
            s = clip_psd(s, 1e-3 * np.trace(s) / d)
    return (s + s.T) / 2


def objective(s, lam, t, penalise_diagonal=False):
    size = np.abs(t).sum() - (0 if penalise_diagonal else np.trace(t))
    return -np.linalg.slogdet(t)[1] + np.sum(s * t) + lam * size


def dual_value(s, lam, t):
    """log det W + d at a W in the box beside inv(t): on its border where t is not zero. -inf unless W is definite."""
    w = np.where(t != 0, s + lam * np.sign(t), np.clip(np.linalg.inv(t), s - lam, s + lam))
    np.fill_diagonal(w, np.diag(s))
    assert np.all(np.abs(w - s) <= lam * (1 + 1e-12))
    return np.linalg.slogdet(w)[1] + len(s) if np.linalg.eigvalsh(w)[0] > 0 else -np.inf


def well_formed(fit):
    t = fit.precision
    np.linalg.cholesky(t)
    return np.array_equal(t, t.T)


# --- the answer is right ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["ar2", "random"])
@pytest.mark.parametrize("epsilon", [1.0, None])
@pytest.mark.parametrize("d", [2, 3, 11])
def test_optimality_conditions(model, epsilon, d):
    """W = inv(T): W_ii = S_ii, |S_ij - W_ij| <= lam, and W_ij - S_ij = lam sign(T_ij) on every edge."""
    s = moment(model, d, epsilon, 1)
    unit = np.trace(s) / d
    for fit in solve_path(s, tol=1e-13, points=6):
        t, slack = fit.precision, 1e-5 * unit
        w = np.linalg.inv(t)
        off = ~np.eye(d, dtype=bool)
        assert fit.status == "ok"
        assert well_formed(fit)
        assert np.abs(np.diag(w) - np.diag(s)).max() <= slack
        assert np.abs(w - s)[off].max() <= fit.lam + slack
        edge = off & (t != 0)
        assert np.abs(w - s - fit.lam * np.sign(t))[edge].max(initial=0.0) <= slack


@pytest.mark.parametrize("ridged", [False, True])
@pytest.mark.parametrize("epsilon", [1.0, None])
def test_gap_bounds_the_distance_to_the_optimum(ridged, epsilon):
    """f(T) <= f* + gap d with f* from a solve to 1e-12; and weak duality at a W made here from T alone."""
    s = moment("ar2", 15, epsilon, 2)
    for fit in solve_path(s, penalise_diagonal=ridged):
        best = solve(s, fit.lam, penalise_diagonal=ridged, tol=1e-12)
        value = objective(s, fit.lam, fit.precision, ridged)
        optimum = objective(s, fit.lam, best.precision, ridged)
        assert 0 <= fit.gap <= 1e-6
        assert -1e-11 <= (value - optimum) / 15 <= fit.gap + 1e-11
        full = s + (fit.lam * np.eye(15) if ridged else 0)
        own = (objective(full, fit.lam, fit.precision) - dual_value(full, fit.lam, fit.precision)) / 15
        assert own >= -1e-11
        assert (objective(full, fit.lam, best.precision) - dual_value(full, fit.lam, best.precision)) / 15 < 1e-9


def test_two_variables_in_closed_form():
    """d = 2: the optimum has W_12 = soft(S_12, lam), whatever the diagonal."""
    s = np.array([[2.0, -0.9], [-0.9, 0.5]])
    for lam in (0.05, 0.4, 0.9, 3.0):
        w = s.copy()
        w[0, 1] = w[1, 0] = -max(0.9 - lam, 0.0)
        assert solve(s, lam, tol=1e-14).precision == pytest.approx(np.linalg.inv(w), rel=1e-6)


@pytest.mark.parametrize("factor", [1e-30, 2.0**-7, 1e30])
def test_scaling(factor):
    s = moment("ar2", 12, 1.0, 4)
    for ridged in (False, True):
        plain = solve_path(s, penalise_diagonal=ridged)
        scaled = solve_path(factor * s, penalise_diagonal=ridged)
        for a, b in zip(plain, scaled, strict=True):
            assert b.lam == pytest.approx(factor * a.lam, rel=1e-12)
            assert b.status == a.status
            assert b.gap == pytest.approx(a.gap, abs=1e-8)
            assert b.precision * factor == pytest.approx(a.precision, rel=1e-5, abs=1e-5 / np.trace(s))


def test_lambda_that_empties_the_graph():
    s = moment("random", 12, None, 8)
    top = lambda_max(s)
    assert np.array_equal(solve(s, top).precision, np.diag(1 / np.diag(s)))
    assert np.count_nonzero(solve(s, 0.98 * top, tol=1e-10).precision) > 12
    path = solve_path(s, points=9, depth=0.1)
    assert path[0].lam == top
    assert path[-1].lam == pytest.approx(0.1 * top)


# --- special matrices ---------------------------------------------------------------------------------------


def test_zero_column():
    """Nothing holds T_ii back unless the diagonal is penalised; then it is 1 / lam."""
    s = moment("ar2", 6, None, 9)
    s[2] = s[:, 2] = 0.0
    assert {fit.status for fit in solve_path(s)} == {"infeasible"}
    for fit in solve_path(s, penalise_diagonal=True):
        assert fit.status == "ok"
        assert fit.precision[2, 2] == pytest.approx(1 / fit.lam)
    zero = solve(np.zeros((3, 3)), 0.5, penalise_diagonal=True)
    assert np.array_equal(zero.precision, 2 * np.eye(3))


@pytest.mark.parametrize("ridged", [False, True])
def test_singular_matrices(ridged):
    """Duplicated columns, and fewer rows than columns: singular, yet every lambda has a solution."""
    rng = np.random.default_rng(10)
    x = rng.standard_normal((40, 6))
    twice = np.hstack([x, x[:, :3]])
    few = rng.standard_normal((10, 30))
    for rows in (twice, few):
        for fit in solve_path(rows.T @ rows / len(rows), penalise_diagonal=ridged):
            assert fit.status == "ok"
            assert fit.gap <= 1e-6
            assert well_formed(fit)


# --- nobody fails, and who has no solution is told ------------------------------------------------------------


def test_no_failure_on_a_thousand_feasible_problems():
    """Every feasible lambda is certified to 1e-6, every other one has no matrix. Fixed seeds, no retry."""
    cases = [(m, d, e, r) for m in ("ar2", "random") for d in (11, 20) for e in (1.0, 2.0, None) for r in range(4)]
    cases += [("ar2", 50, 2.0, 0), ("random", 50, 1.0, 1), ("ar2", 100, 2.0, 0), ("random", 200, None, 0)]
    feasible = refused = 0
    for model, d, epsilon, seed in cases:
        for ridged in (False, True):
            for raw in (False, True) if epsilon is not None and d <= 20 else (False,):
                s = moment(model, d, epsilon, seed, raw)
                found = diagnose(s, penalise_diagonal=ridged)
                for fit in solve_path(s, penalise_diagonal=ridged, points=20 if d <= 50 else 8):
                    if fit.lam > found.smallest:
                        assert fit.status == "ok", (model, d, epsilon, seed, ridged, raw, fit)
                        assert 0 <= fit.gap <= 1e-6
                        assert well_formed(fit)
                        feasible += 1
                    else:
                        assert (fit.status, fit.precision) == ("infeasible", None)
                        refused += 1
    assert feasible >= 1000
    assert refused >= 60


@pytest.mark.parametrize("ridged", [False, True])
def test_down_to_the_smallest_lambda_of_an_indefinite_matrix(ridged):
    s = moment("ar2", 12, 1.0, 12, raw=True)
    found = diagnose(s, penalise_diagonal=ridged)
    assert 0 < found.smallest < lambda_max(s)
    for share in (1.02, 1.1, 1.5):  # single lambdas: cold
        fit = solve(s, share * found.smallest, penalise_diagonal=ridged)
        assert fit.status == "ok"
        assert well_formed(fit)
    with pytest.raises(Infeasible, match="no solution") as caught:
        solve(s, 0.9 * found.below, penalise_diagonal=ridged)
    assert caught.value.diagnosis.smallest == found.smallest
    path = solve_path(s, penalise_diagonal=ridged)
    assert path[0].status == "ok"
    assert path[-1].status == "infeasible"
    assert np.isnan(path[-1].gap)


@pytest.mark.parametrize(
    ("s", "given", "words"),
    [
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), {}, "NaN"),
        (np.array([[1.0, np.inf], [np.inf, 1.0]]), {}, "infinite"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), {}, "symmetric"),
        (np.ones((2, 3)), {}, "square"),
        (np.eye(2), {"lambdas": [0.1, 0.0]}, "lambda must be > 0"),
        (np.eye(2), {"lambdas": [-1.0]}, "lambda must be > 0"),
        (np.eye(2), {"lambdas": [np.nan]}, "finite"),
        (np.eye(2), {"lambdas": []}, "at least one"),
        (np.eye(2), {"tol": 0.0}, "tol must be > 0"),
        (np.eye(2), {"points": 0}, "points"),
        (np.eye(2), {"depth": 2.0}, "depth"),
        (1e-200 * np.eye(2), {}, "Rescale"),
    ],
)
def test_bad_input_is_named(s, given, words):
    with pytest.raises(ValueError, match=words):
        solve_path(s, **given)


# --- other programs, and the solver behind --------------------------------------------------------------------


@pytest.mark.parametrize("model", ["ar2", "random"])
def test_scikit_learn_agrees(model):
    from sklearn.covariance import graphical_lasso

    s = moment(model, 12, None, 13)
    s = s * (12 / np.trace(s))
    for fit in solve_path(s, tol=1e-12, points=5, depth=0.05):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where rounding keeps it from its own tolerance
            _, theirs = graphical_lasso(s, fit.lam, tol=1e-9, enet_tol=1e-9, max_iter=1000)
        assert fit.precision == pytest.approx(theirs, abs=2e-4)
        assert objective(s, fit.lam, fit.precision) <= objective(s, fit.lam, theirs) + 1e-9


@pytest.fixture
def without_numba(monkeypatch):
    real = builtins.__import__

    def refuse(name, globals=None, locals=None, fromlist=(), level=0):
        if name.startswith("numba") or "glasso_kernel" in name or "glasso_kernel" in (fromlist or ()):
            raise ImportError(name)
        return real(name, globals, locals, fromlist, level)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize("ridged", [False, True])
@pytest.mark.parametrize("raw", [False, True])
def test_without_numba(without_numba, ridged, raw):
    s = moment("ar2", 8, 1.0, 15, raw)
    fits = solve_path(s, penalise_diagonal=ridged, tol=1e-9, points=6)
    assert {fit.solver for fit in fits if fit.status == "ok"} <= {"admm", "closed form"}
    assert "admm" in {fit.solver for fit in fits}
    for fit in fits:
        assert fit.status != "not converged"
        if fit.status == "ok":
            assert fit.gap <= 1e-9
            assert well_formed(fit)
    warm_up()


def test_a_release_without_numba_says_which_solver_it_used(without_numba):
    import privcov

    ds = privcov.source("precision-ar2", n=2_000, d=5, random_state=0)
    notes = " ".join(privcov.release(ds, privcov.ApproxDP(2.0, 1e-3), "glasso-gaussian", random_state=1).notes)
    assert "Solved by ADMM" in notes
    assert "numba" in notes


def test_a_descent_that_fails_hands_over_and_goes_on(monkeypatch):
    """At one lambda the kernel claims to have lost W; ADMM answers there, block descent before and after."""
    kernel = pytest.importorskip("privcov.postprocess.glasso_kernel")
    s = moment("ar2", 10, 1.0, 17)
    real, calls = kernel.descend_path, []

    def failing(matrix, lams, *rest):
        thetas, gaps, sweeps, codes = real(matrix, lams, *rest)
        calls.append(len(lams))
        if len(calls) == 1:
            codes[2:] = kernel.LOST
        return thetas, gaps, sweeps, codes

    monkeypatch.setattr(kernel, "descend_path", failing)
    fits = solve_path(s, points=8, tol=1e-9)
    assert [fit.solver for fit in fits] == ["closed form", *["block descent"] * 2, "admm", *["block descent"] * 4]
    assert all(fit.status == "ok" and fit.gap <= 1e-9 for fit in fits)
    assert calls == [7, 4]


def test_a_variance_below_zero_to_rounding_needs_a_penalty_above_it():
    """W_ii = s_ii + lam: at and below 1e-17 there is no positive definite W, so no answer."""
    s = np.diag([1.0, -1e-17])
    for lam in (1e-18, 1e-17):
        with pytest.raises(Infeasible):
            solve(s, lam, penalise_diagonal=True)
    above = solve(s, 3e-17, penalise_diagonal=True)
    assert above.status == "ok"
    np.testing.assert_allclose(np.diag(above.precision), [1.0, 5e16], rtol=1e-9)
    path = solve_path(s, [1e-3, 3e-17, 1e-17, 1e-18], penalise_diagonal=True)
    assert [fit.status for fit in path] == ["ok", "ok", "infeasible", "infeasible"]
    assert all(np.isfinite(fit.precision).all() for fit in path[:2])
