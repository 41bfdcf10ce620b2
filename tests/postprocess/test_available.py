"""Available cases: the law of their noise entry by entry, what is refused, and what methods, answers and plans say."""

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov.bundle.derived import noisy_of
from privcov.bundle.read import OpenedBundle
from privcov.core.guarantees import PureDP, ZCDP
from privcov.estimators.additive import available_of
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact.private_moment import measure_exactly
from privcov.measurements.exact.reading import count_std, read_sum
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.available_cases import available_cases
from privcov.postprocess.matrices import derive
from privcov.releases.private_request import default_request, private_request, release_from_measurement
from privcov.steward.example_rows import Invention, invented
from privcov.steward.preview import planned_noise, preview
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import Flags

D = 4
DRAWS = 600


def table(seed: int = 1, rows: int = 4000, missing=(0.3, 0.1, 0.0, 0.5)) -> np.ndarray:
    """Rows with large means and variances, so that every term of the law matters, and cells missing at random."""
    rng = np.random.default_rng(seed)
    corr = 0.6 ** np.abs(np.subtract.outer(np.arange(D), np.arange(D)))
    x = rng.multivariate_normal([0.6, -0.5, 0.0, 0.7], 0.25 * corr, rows).clip(-1, 1)
    x[rng.random(x.shape) < missing] = np.nan
    return x


def private(x: np.ndarray, **facts) -> PrivateDataset:
    limits = {} if "row_bound" in facts else {"bounds": [(-1, 1)] * x.shape[1]}
    return PrivateDataset.from_rows(x, missing="pairs", name="t", **limits, **facts)


def redrawn(exact: NoisyMoment, like: NoisyMoment, rng: np.random.Generator, count: float) -> NoisyMoment:
    """The exact moment with another draw of the noise, divided by a noisy number of rows where that is hidden."""
    matrix = exact.matrix + like.distribution.draw(rng)
    if count:
        matrix = matrix / (1 + count * rng.standard_normal())
        matrix[-1, -1] = exact.matrix[-1, -1]
    return dataclasses.replace(like, matrix=matrix)


CASES = {
    "groups of two": ({}, ZCDP(0.05), "isotropic", "free-groups"),
    "one group": ({"row_bound": 1.7}, ZCDP(0.05), "isotropic", "free-groups"),
    "hidden n": ({"n_public": False}, ZCDP(0.05), "isotropic", "isotropic"),
    "laplace": ({}, PureDP(2.0), "laplace", "laplace"),
    "coupled": ({}, PureDP(2.0), "wishart-difference", "coupled-wishart"),
    "wishart, hidden n": ({"n_public": False}, PureDP(2.0), "wishart-difference", "wishart-difference"),
    "classes": ({"classes": ["a", "b"]}, ZCDP(0.05), "isotropic", "free-groups"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_entry_has_its_own_deviation(case):
    """600 draws around the exact moment: the deviation of each entry is known within 3 %, so 15 % off is 5 sigma.

    Without the noise of the shares, of the pair means or of the number of rows, or with one deviation for all entries,
    some entry is off by more; the mean is within .2 deviations, and the 95 % interval holds between 93 and 97 %.
    """
    facts, guarantee, shape, drawn = CASES[case]
    x, labels = table(), {"labels": ["a", "b"] * 2000} if "classes" in facts else {}
    rows = private(x, **facts, **labels)
    exact = read_sum(measure_exactly(rows, ZCDP(1e12), shape="isotropic"), "joint")
    noisy = measure_exactly(rows, guarantee, shape=shape)
    like = read_sum(noisy, "joint")
    assert like.distribution.shape == drawn
    truth = available_of(exact)
    rng, count = np.random.default_rng(2), 0.0 if like.count is None else count_std(noisy) / like.n_rows
    found = [available_of(redrawn(exact, like, rng, count)) for _ in range(DRAWS)]
    for value, std in (("covariance", None), ("shares", "share_std"), ("mean", "mean_std")):
        there = getattr(truth, value)
        off = np.array([getattr(f, value) - there for f in found])
        stated = np.array([np.sqrt(f.variance) if std is None else getattr(f, std) for f in found])
        z = np.divide(off, stated, out=np.zeros_like(off), where=stated > 0)
        used = stated[0] > 0
        assert np.abs(z.std(axis=0)[used] - 1).max() < 0.15, value
        assert np.abs(z.mean(axis=0)[used]).max() < 0.2, value
        assert 0.93 < (np.abs(z) < 1.96).mean(where=np.broadcast_to(used, z.shape)) < 0.97
        assert not np.any(np.abs(off[:, ~used]) > 1e-9)  # what is said to be exact is


def by_hand(m: np.ndarray, flags: Flags, i: int, j: int) -> tuple[float, float, float, float]:
    """(share, its variance, covariance, its variance) of one pair, as the module has it, for noise without groups."""
    flag_value = {column: flags.d + k for k, column in enumerate(flags.columns)}
    e2, c, corner, c2 = flags.entry_std**2, flags.weight, m[-1, -1], flags.weight**2
    s, t2 = math.sqrt(corner), flags.count_std**2

    def gone(k: int) -> tuple[float, float]:
        return (m[flag_value[k], -1] / (c * s), e2 / (c * s) ** 2) if k in flag_value else (0.0, 0.0)

    def total(k: int, other: int) -> tuple[float, float]:
        """A_k,other and its variance."""
        beside = k != other and other in flag_value
        value = m[k, -1] / s - (m[k, flag_value[other]] / c if beside else 0.0)
        return value, e2 / corner + (e2 / c2 if beside else 0.0)

    (q_i, of_i), (q_j, of_j) = gone(i), gone(j)
    p, of_p = (1 - q_i, of_i) if i == j else (1 - q_i - q_j, of_i + of_j)
    if i != j and i in flag_value and j in flag_value:
        p, of_p = p + m[flag_value[i], flag_value[j]] / c2, of_p + e2 / c2**2
    (a, of_a), (b, of_b) = total(i, j), total(j, i)
    share_variance, of_p = of_p + (1 - p) ** 2 * t2, of_p + t2
    product = a * b / p**2
    square_a, square_b = (max((x / p) ** 2 - of_x / p**2, 0.0) for x, of_x in ((a, of_a), (b, of_b)))
    if i == j:
        covariance = m[i, i] / p - product + of_a / p**2
        noise = flags.diagonal_stds[i] ** 2 + 4 * square_a * of_a + 2 * of_a**2 / p**2
    else:
        covariance = m[i, j] / p - product
        noise = e2 + square_b * of_a + square_a * of_b + of_a * of_b / p**2
    return p, share_variance, covariance, (noise + (covariance - product) ** 2 * of_p) / p**2


@pytest.mark.parametrize("columns", [(0, 1, 2, 3), (1, 3), (2,)])
@pytest.mark.parametrize("count_std", [0.0, 0.02])
def test_every_entry_is_that_of_the_formula(columns, count_std):
    """By a loop over pairs; among the means are ones below their noise, whose squares are not taken for a signal."""
    rng, width, below = np.random.default_rng(3), D + len(columns), 0
    stds = tuple(rng.uniform(0.004, 0.02, width))
    flags = Flags(D, columns, 0.5, 0.01, stds, count_std=count_std)
    for _ in range(5):
        g = rng.normal(0, 0.01, (width + 1, width + 1)) + 0.3 * np.eye(width + 1)
        m = g + g.T
        m[D:width, -1] = m[-1, D:width] = rng.uniform(0.02, 0.1, len(columns))
        m[-1, :D] = m[:D, -1] = rng.normal(0, 0.02, D)
        m[-1, -1] = 0.4
        found = available_cases(m, flags, row_bound=1.5)
        for i, j in itertools.product(range(D), repeat=2):
            share, share_variance, covariance, variance = by_hand(m, flags, i, j)
            assert found.shares[i, j] == pytest.approx(share, rel=1e-9)
            assert found.share_std[i, j] ** 2 == pytest.approx(share_variance, rel=1e-9)
            assert found.covariance[i, j] == pytest.approx(1.5**2 * covariance, rel=1e-9, abs=1e-12)
            assert found.variance[i, j] == pytest.approx(1.5**4 * variance, rel=1e-9)
        below += int((np.diag(found.covariance) > 1.5**2 * np.diag(m)[:D] / np.diag(found.shares)).sum())
    assert below > 0


@pytest.mark.parametrize("deviations", [3.02, 2.98, 1.5, 0.5, 0.0, -2.0])
def test_a_share_is_refused_below_three_deviations(deviations):
    """One column, whose share follows from the anchor; noise may take it anywhere, also below zero."""
    s, c, entry_std = 0.6, 0.5, 0.01
    std = entry_std / (c * s)
    flags = Flags(1, (0,), c, entry_std, (entry_std, entry_std))
    m = np.diag([0.2, 0.1, s * s])
    m[1, 2] = m[2, 1] = c * s * (1 - deviations * std)
    m[0, 2] = m[2, 0] = 0.03
    found = available_cases(m, flags, row_bound=1.0)
    assert found.shares[0, 0] == pytest.approx(deviations * std)
    assert bool(found.refused[0, 0]) is (deviations < 3)


def test_the_bias_of_a_noisy_square_is_taken_out():
    """Noise on the mean as large as a half-range: without the correction the variance of a level is .5 deviations low.

    A category has no flag, so its entries are there under any noise. 600 draws know the mean within .04 deviations.
    """
    x = table()
    frame = pd.DataFrame({"x1": x[:, 0], "level": np.where(x[:, 2] > 0, "a", "b")})
    kinds = {"x1": privcov.Kind("number", -9, 9), "level": privcov.Kind("category", values=("a", "b"))}
    rows = PrivateDataset.from_rows(frame, kinds=kinds, missing="pairs", name="t")
    exact = read_sum(measure_exactly(rows, ZCDP(1e12), shape="isotropic"), "joint")
    like = read_sum(measure_exactly(rows, ZCDP(1e-6), shape="isotropic"), "joint")
    rng = np.random.default_rng(9)
    again = [available_of(redrawn(exact, like, rng, 0.0)) for _ in range(DRAWS)]
    off = np.array([f.covariance[2, 2] for f in again]) - available_of(exact).covariance[2, 2]
    assert abs(off.mean()) < 0.15 * off.std()


def test_what_too_few_rows_have_is_refused_and_named(monkeypatch):
    """Without noise, whose law decides: drawn, it lifts such an entry above three deviations in one of 200 runs."""
    monkeypatch.setattr(exact_noise, "add_discrete_gaussian", lambda values, scale: values)
    x = table(missing=(0.0, 0.0, 0.0, 0.999))
    x[::2, 0], x[1::2, 1] = np.nan, np.nan  # never together
    noisy = measure_exactly(private(x), ZCDP(0.05), shape="isotropic")
    release = release_from_measurement("auto-cov", noisy, ZCDP(0.05))
    _, given = noisy_of(noisy)
    answers = derive(given)
    assert np.isnan(answers.noisy[0, 1])
    assert np.isnan(answers.noise_std[0, 1])
    assert np.isnan(answers.noisy[3]).all()
    assert np.isfinite(answers.noisy[np.ix_([0, 2], [0, 2])]).all()
    for name in ("covariance", "correlation", "precision", "partial"):
        assert np.isfinite(getattr(answers, name)).all(), name
    assert any("x1 with x2" in note for note in release.notes)
    assert any("columns that too few rows have" in note and "x4 (share" in note for note in release.notes)
    assert not release.covariance[3].any()
    assert np.linalg.eigvalsh(release.covariance).min() > -1e-12
    found = privcov.answers(OpenedBundle(noisy, {}, {}, ())).correlations().set_index(["first", "second"])
    assert found.loc[("x1", "x2"), "reason"] == "too few rows have both cells"
    assert np.isfinite(found.loc[("x1", "x3"), "estimate"])


def test_methods_that_expect_one_noise_for_all_entries_are_refused():
    facts = private(table()).facts
    for key in ("auto-cov", "gaussian-cov", "wishart-difference", "laplace-cov"):
        private_request(key, facts, PureDP(1.0) if key in ("wishart-difference", "laplace-cov") else ZCDP(1.0))
    for key in ("auto-precision", "dp-thresholding", "projection"):
        with pytest.raises(ValueError, match=r"the same noise in every entry.*auto-cov"):
            private_request(key, facts, ZCDP(1.0))
    labelled = private(table(), labels=["a", "b"] * 2000, classes=["a", "b"]).facts
    assert private_request("auto-cov", labelled, ZCDP(1.0)).input.centre == "joint"
    with pytest.raises(ValueError, match="Use centre='joint'"):
        private_request("auto-cov", labelled, ZCDP(1.0), "classes")


_SHAPES = {"gaussian-cov": "isotropic", "wishart-difference": "wishart-difference", "laplace-cov": "laplace"}


# --- plans --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", [ZCDP(0.5), PureDP(1.0)])
def test_a_plan_states_the_noise_of_the_release(guarantee):
    rng, q, n, spread = np.random.default_rng(5), 0.2, 20_000, 0.3
    wanted = Invention(n, spread=spread, missing=q)
    x = rng.multivariate_normal(np.zeros(D), spread**2 * wanted.correlation(D), n).clip(-1, 1)
    x[rng.random(x.shape) < q] = np.nan
    rows = private(x)
    plan = preview(invented(rows.facts, wanted), guarantee, planned_noise(rows.facts, guarantee, n), replicates=2)
    wanted = default_request(rows.facts, guarantee).measurement_request
    found = available_of(read_sum(measure_exactly(rows, **vars(wanted)), "joint"))
    off = ~np.eye(D, dtype=bool)
    assert plan.entry_std == pytest.approx(np.sqrt(found.variance[off].mean()), rel=0.05)
    assert np.diag(plan.noise) == pytest.approx(np.sqrt(np.diag(found.variance)), rel=0.05)


def test_plans_without_missing_cells_are_what_they_were_and_pairs_help_where_cells_are_missing():
    n, d = 30_000, 6
    errors = {}
    for rule, q in itertools.product(("typical", "pairs"), (0.0, 0.1)):
        facts = PrivateDataset.from_rows(np.zeros((n, d)), bounds=[(-1, 1)] * d, missing=rule).facts
        noise = planned_noise(facts, ZCDP(0.5), n)
        errors[rule, q] = preview(invented(facts, Invention(n, missing=q)), ZCDP(0.5), noise, replicates=4).error
    assert errors["pairs", 0.1] < 0.3 * errors["typical", 0.1]
    assert 0.9 * errors["typical", 0.0] < errors["pairs", 0.0] < 3 * errors["typical", 0.0]
    with pytest.raises(ValueError, match="missing"):
        Invention(n, missing=0.99)
