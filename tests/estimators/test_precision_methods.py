"""The precision methods in their sound form: what they choose, what they say, and what bad tables do to them."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import toeplitz

import privcov
from privcov.core.guarantees import ApproxDP, PureDP, ZCDP
from privcov.estimators.precision import fission_halves, target
from privcov.measurements.moment import measure_moment
from privcov.metrics.graphs import compare, edges
from privcov.postprocess.lambda_choice import choices
from privcov.tables.dataset import Dataset, Truth

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
LASSOS = ["auto-precision", "glasso-gaussian", "glasso-laplace", "glasso-wishart-approx"]
ASKED = {"glasso-laplace": PureDP(2.0)}


def asked(key: str):
    return ASKED.get(key, ApproxDP(1.0, 1e-6))


def rows(n: int = 2000, d: int = 6, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * rng.random((d, d)))
    return Dataset.from_rows(x, 4.0, mean_is_zero=True)


def ar2(d: int, n: int, seed: int) -> Dataset:
    """Gaussian rows whose precision has 1, 0.5 and 0.25 at distances 0, 1, 2; few rows exceed the bound."""
    row = np.zeros(d)
    row[:3] = (1.0, 0.5, 0.25)
    theta = toeplitz(row)
    covariance = np.linalg.inv(theta)
    x = np.random.default_rng(seed).standard_normal((n, d)) @ np.linalg.cholesky(covariance).T
    truth = Truth(covariance, theta)
    return Dataset.from_rows(x, 1.3 * np.sqrt(np.trace(covariance)), truth=truth, mean_is_zero=True)


# --- the row bound that a graph needs -----------------------------------------------------------------------


def test_a_search_finds_more_of_the_graph_and_keeps_the_scale():
    """Means of 20 draws: a third less error of the precision, and a third fewer wrong edges, at least."""
    found = {"auto": [], "off": []}
    for seed in range(20):
        data = ar2(20, 2000, seed)
        for search, errors in found.items():
            rel = privcov.release(data, ZCDP(0.1), "auto-precision", random_state=seed, row_bound_search=search)
            c = compare(edges(rel.precision), edges(data.truth.precision))
            errors.append((privcov.error(rel, data, relative=True), c.fp + c.fn))
    of_search, plain = (np.mean(found[k], axis=0) for k in ("auto", "off"))
    assert of_search[0] < 0.7 * plain[0]
    assert of_search[1] < 0.7 * plain[1]


# --- the path and its rules ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", LASSOS)
def test_the_path_holds_every_lambda_and_the_release_is_one_of_them(key):
    rel = privcov.release(rows(), asked(key), key, rule="ebic", random_state=0)
    assert len(rel.path) == 20
    assert all(fit.status == "ok" and fit.gap <= 1e-6 and fit.solver for fit in rel.path)
    lambdas = [fit.lam for fit in rel.path]
    assert lambdas == sorted(lambdas, reverse=True)
    chosen = [i for i, fit in enumerate(rel.path) if np.array_equal(fit.precision, rel.precision)]
    assert f"{rel.path[chosen[0]].lam:.4g} (point {chosen[0] + 1} of 20), by rule ebic." in rel.notes[-1]
    assert "repair" in rel.notes[0] or "eigenvalues" in rel.notes[0]


def test_the_chosen_point_is_that_of_the_rule_on_the_released_matrix():
    """From the release alone, as a page does it: the noisy matrix, its law, and the path."""
    for centre in ("zero", "joint"):
        for rule in ("ebic",):
            rel = privcov.release(rows(), ZCDP(0.05), "glasso-gaussian", rule=rule, centre=centre, random_state=0)
            s = target(rel.noisy_moment.matrix, centre) * rel.row_bound**2
            assert np.linalg.eigvalsh(s)[0] > 0.01 * np.trace(s) / 6  # so that the repair did nothing
            noise = rel.noisy_moment.distribution.off_diagonal_std * rel.row_bound**2
            found = choices(rel.path, s, noise, rel.noisy_moment.n_rows)
            np.testing.assert_array_equal(rel.path[found[rule]].precision, rel.precision)


def test_the_tunings():
    ds = rows()
    fixed = privcov.release(ds, ZCDP(0.5), "glasso-gaussian", tuning="fixed", penalty=0.5, random_state=0)
    at = next(i for i, fit in enumerate(fixed.path) if np.array_equal(fit.precision, fixed.precision))
    assert fixed.path[at].lam == pytest.approx(0.5 * fixed.path[0].lam, rel=0.15)  # twenty points over two decades
    fission = privcov.release(ds, ZCDP(0.5), "glasso-gaussian", rule="fission", random_state=0)
    assert "rule fission" in fission.notes[-1]
    assert (
        fission.to_json() == privcov.release(ds, ZCDP(0.5), "glasso-gaussian", rule="fission", random_state=0).to_json()
    )


def test_units_of_the_row_bound_change_nothing():
    """Rows and bound times 1,000: every precision is divided by a million, every lambda multiplied by it."""
    ds = rows()
    big = Dataset.from_rows(1000 * ds.rows, 4000.0, mean_is_zero=True)
    for key in ("auto-precision", "ridge-precision", "output-perturbation"):
        one, two = (privcov.release(data, ZCDP(0.5), key, random_state=0) for data in (ds, big))
        np.testing.assert_allclose(two.precision * 1e6, one.precision, rtol=1e-6, atol=1e-9)
    lambdas = [
        [fit.lam for fit in privcov.release(data, ZCDP(0.5), "auto-precision", random_state=0).path]
        for data in (ds, big)
    ]
    np.testing.assert_allclose(lambdas[1], 1e6 * np.array(lambdas[0]), rtol=1e-9)


def test_repair_none_keeps_the_penalties_without_a_solution_in_the_path():
    """Noise makes the matrix indefinite: small penalties have no solution, and the choice is among the others."""
    ds = rows(150)
    some = 0
    for seed in range(8):
        with contextlib.suppress(ValueError):
            rel = privcov.release(ds, ZCDP(0.05), "glasso-gaussian", random_state=seed, repair="none")
            lost = [fit for fit in rel.path if fit.status == "infeasible"]
            assert all(fit.precision is None for fit in lost)
            assert rel.precision.size
            assert "was not repaired" in rel.notes[0]
            some += bool(lost)
    assert some >= 3
    with pytest.raises(ValueError, match=r"The graphical lasso failed on the noisy matrix: .* diagonal entr.*\.$"):
        privcov.release(rows(60, 20), ZCDP(0.05), "glasso-gaussian", repair="none", random_state=0)
    for repair in ("psd", "ridge"):
        rel = privcov.release(ds, ZCDP(0.05), "glasso-gaussian", repair=repair, random_state=0)
        assert {fit.status for fit in rel.path} == {"ok"}


# --- fission ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("centre", ["zero", "joint"])
def test_the_halves_of_a_fission_are_uncorrelated_given_the_rows(centre):
    """4,000 noisy matrices of the same rows, one split each: the correlation of an entry of T1 with one of T2 is within
    four deviations (0.063) of zero, and their variances are (1 + g^2) and (1 + 1/g^2) times the noise.

    Half of the correlation would be 0.25 if the second half were made with + Z / g. So many rows that the sampling part
    is nothing.
    """
    x = np.random.default_rng(0).standard_normal((40, 3))
    ds = Dataset.from_rows(x, 3.0, mean_is_zero=True)
    rng = np.random.default_rng(1)
    upper = np.triu_indices(3)
    first, second = [], []
    for _ in range(4000):
        measured = measure_moment(ds, ZCDP(2000.0), centre=centre, shape="free-trace", rng=rng)
        object.__setattr__(measured, "n", 10**12)  # the sampling part aims at the population; here the rows are fixed
        halves = fission_halves(measured, rng)()
        first.append(halves[0][upper])
        second.append(halves[1][upper])
    first, second = np.array(first), np.array(second)
    between = np.corrcoef(first.T, second.T)[:6, 6:]
    assert np.abs(between).max() < 0.063
    np.testing.assert_allclose(second.std(axis=0) / first.std(axis=0), 2.0, rtol=0.06)


# --- how good they are --------------------------------------------------------------------------------------


# --- tables that are awkward --------------------------------------------------------------------------------


def test_print_accuracy_holds_for_the_fits_that_choose_lambda_too(monkeypatch):
    from privcov.estimators import glasso

    ds, asked, real = privcov.source("precision-ar2", n=2_000, d=5, random_state=0), [], glasso.solve_path

    def noted(*args, **named):
        asked.append(named["tol"])
        return real(*args, **named)

    monkeypatch.setattr(glasso, "solve_path", noted)
    privcov.release(ds, ApproxDP(2.0, 1e-3), "glasso-gaussian", random_state=1, accuracy="print", rule="fission")
    assert asked == [1e-7] * 6  # the path, and five splits


def test_no_coverage_is_claimed_for_rows_that_a_graph_shortened():
    """Measured is a search that shortens hardly a row; that of a graph takes half of the squares here."""
    said = {}
    for method in ("auto-cov", "auto-precision"):
        rel = privcov.release(ar2(20, 2000, 0).with_row_bound(40.0), ZCDP(0.1), method, random_state=0)
        said[method] = rel.noisy_moment.bound_search.kept_square, privcov.answers(rel)._coverage("correlations")
    (full, measured), (part, unmeasured) = said.values()
    assert part < 0.9 < full
    assert measured != unmeasured
