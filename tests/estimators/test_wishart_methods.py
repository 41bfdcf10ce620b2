"""The Wishart methods and MOD-SULQ: what they promise, what they really give, and the printed steps themselves.

KS tests compare 1,500 releases with 1,500 literal draws; they see a scale that is off by about 8 % (p < 0.005 is a
failure; seeds are fixed).
"""

import math

import numpy as np
import pytest
from scipy import stats

import privcov
from privcov.core import accounting
from privcov.core.guarantees import RELATIONS, ApproxDP, PureDP, ZCDP
from privcov.estimators.base import METHODS
from privcov.releases.public import build_method, run_method
from privcov.tables.dataset import Dataset

DRAWS = 1500


def dataset(n: int = 60, d: int = 3, row_bound: float = 1.0, seed: int = 0, **more) -> Dataset:
    x = np.random.default_rng(seed).standard_normal((n, d)) / 2
    return Dataset.from_rows(x, row_bound, **more)


def moment(ds: Dataset) -> np.ndarray:
    norms = np.linalg.norm(ds.rows, axis=1)
    rows = ds.rows * np.minimum(1, ds.row_bound / norms)[:, None]
    return rows.T @ rows / ds.n


def released(key: str, ds: Dataset, asked, draws: int = DRAWS, **options) -> np.ndarray:
    """Released second moments, uncentred, one per seed."""
    method = build_method(key, options.pop("own", {}))
    runs = (run_method(method, ds, asked, seed=seed, centre="none", **options) for seed in range(draws))
    return np.array([rel.second_moment for rel in runs])


def assert_same_law(one: np.ndarray, two: np.ndarray) -> None:
    for pick in (lambda w: w[:, 0, 1], lambda w: w[:, 1, 1], lambda w: np.linalg.eigvalsh(w)[:, -1]):
        assert stats.ks_2samp(pick(one), pick(two)).pvalue > 0.005


def literal_wishart(ds: Dataset, m: int, c: float) -> np.ndarray:
    """Definition of paper 3: S plus the sum of m outer products of N(0, C) vectors."""
    rng = np.random.default_rng(99)
    g = rng.standard_normal((DRAWS, ds.d, m)) * math.sqrt(c)
    return moment(ds) + g @ g.transpose(0, 2, 1)


# --- wishart-pure: the false claim --------------------------------------------------------------------------


@pytest.mark.parametrize("centre", ["none", "joint"])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.5, 10.0])
def test_wishart_pure_says_what_it_really_gives(epsilon, centre):
    """diffprivlib#23, #42: this noise was believed to be pure DP. Here delta = 1 - e^(-epsilon/3), at every epsilon."""
    rel = privcov.release(
        dataset(), PureDP(epsilon), "wishart-pure", calibration="as-published", centre=centre, random_state=0
    )
    assert rel.actual_guarantee.delta == pytest.approx(1 - math.exp(-epsilon / 3))
    assert rel.actual_guarantee.delta == pytest.approx(accounting.delta_of_wishart_event(rel.events[0], 400.0))
    assert (
        rel.statement["Guarantee"] == f"only {rel.actual_guarantee} as published; the claim of {rel.guarantee} is false"
    )
    assert rel.claim_is_false


def test_wishart_pure_is_the_printed_mechanism():
    """W_d(d + 1, 3/(2 n epsilon) I), its mean left in."""
    ds, epsilon = dataset(), 0.8
    fast = released("wishart-pure", ds, PureDP(epsilon))
    assert_same_law(fast, literal_wishart(ds, ds.d + 1, 3 / (2 * ds.n * epsilon)))


def test_wishart_pure_proves_which_table_it_was():
    """4,000 releases of a table of zeros: the share that no table with the row (1, 0, 0) could have given is
    1 - e^(-epsilon/3), within 5 standard errors; an epsilon-DP mechanism would have none."""
    epsilon, n = 1.5, 50
    ds = Dataset.from_rows(np.zeros((n, 3)), 1.0)
    out = released("wishart-pure", ds, PureDP(epsilon), draws=4000) - np.diag([1 / n, 0, 0])
    share = np.mean(np.linalg.eigvalsh(out)[:, 0] < 0)
    want = 1 - math.exp(-epsilon / 3)
    assert abs(share - want) < 5 * math.sqrt(want * (1 - want) / 4000)


@pytest.mark.parametrize(("key", "asked"), [("wishart-pure", PureDP(1.0)), ("sulq", ApproxDP(1.0, 1e-5))])
def test_a_method_without_a_sound_form(key, asked):
    """`release` refuses "sound", also when it is the default; a comparison that names no calibration runs it."""
    card = METHODS.get(key)
    assert card.default_calibration == "as-published"
    for options in ({}, {"calibration": "sound"}):
        with pytest.raises(ValueError, match=r"has no sound form.*calibration='as-published'"):
            privcov.release(dataset(), asked, key, **options)
    rel = run_method(build_method(key, {}), dataset(), asked, seed=0)
    assert rel.parameters["calibration"] == "as-published"
    assert not rel.is_sound
    assert METHODS.get("auto-cov").default_calibration == "sound"


# --- wishart-approx -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "more"), [(ApproxDP(0.5, 1e-3), 50), (ApproxDP(1.0, 1e-5), 44)])
def test_wishart_approx_uses_the_fewest_degrees_of_freedom(asked, more):
    for centre in ("none", "joint"):
        rel = privcov.release(dataset(), asked, "wishart-approx", centre=centre, random_state=0)
        assert rel.events[0].freedom - 1 == more
        assert accounting.covers(asked, rel.actual_guarantee)
        assert rel.statement["Guarantee"].endswith(f"asked for {asked}")


def test_wishart_approx_as_published_is_the_printed_mechanism_and_a_true_claim():
    ds, asked = dataset(), ApproxDP(1.0, 1e-5)
    more = math.ceil(14 * math.log(4 / asked.delta) / asked.epsilon**2)
    fast = released("wishart-approx", ds, asked, calibration="as-published")
    assert_same_law(fast, literal_wishart(ds, ds.d + more, 1 / ds.n))
    rel = privcov.release(ds, asked, "wishart-approx", calibration="as-published", random_state=0)
    assert not rel.claim_is_false
    assert rel.actual_guarantee.delta < 1e-12
    assert "as published; the claim was" in rel.statement["Guarantee"]
    bias = (ds.d + 1 + more) * 1.5 / ds.n  # with the mean measured too: size d + 1 and C = 1.5/n
    assert f"{bias:.4g}" in rel.notes[0]


# --- wishart-difference -------------------------------------------------------------------------------------


def test_wishart_difference_is_two_wishart_matrices():
    """S + A - B, A and B sums of d + 1 outer products with C = R^2/(n epsilon)."""
    ds, epsilon = dataset(), 0.8
    fast = released("wishart-difference", ds, PureDP(epsilon), own={"repair": "none"})
    rng = np.random.default_rng(98)
    g = rng.standard_normal((2, DRAWS, ds.d, ds.d + 1)) / math.sqrt(ds.n * epsilon)
    a, b = g @ g.transpose(0, 1, 3, 2)
    assert_same_law(fast, moment(ds) + a - b)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("centre", ["none", "joint"])
@pytest.mark.parametrize("asked", [PureDP(0.3), ZCDP(0.1)])
def test_wishart_difference_under_every_relation(relation, centre, asked):
    rel = privcov.release(dataset(300), asked, "wishart-difference", centre=centre, neighbours=relation, random_state=0)
    assert accounting.covers(asked, rel.actual_guarantee)
    assert vars(rel.actual_guarantee) == pytest.approx(vars(asked), rel=1e-12)
    assert (rel.n is None) == (relation == "add-remove")
    back = privcov.Release.from_json(rel.to_json())
    assert back.to_json() == rel.to_json()
    assert back.noisy_moment.distribution == rel.noisy_moment.distribution


# --- MOD-SULQ -----------------------------------------------------------------------------------------------


def test_sulq_is_the_printed_mechanism():
    ds, asked = dataset(), ApproxDP(0.7, 1e-4)
    d, n, epsilon, delta = ds.d, ds.n, asked.epsilon, asked.delta
    beta = (d + 1) / (n * epsilon) * math.sqrt(2 * math.log((d * d + d) / (delta * 2 * math.sqrt(2 * math.pi))))
    beta += 1 / (n * math.sqrt(epsilon))
    rel = privcov.release(ds, asked, "sulq", calibration="as-published", centre="none", random_state=0)
    assert rel.events[0].scale == pytest.approx(beta)
    upper = np.triu(np.random.default_rng(97).standard_normal((DRAWS, d, d)) * beta)
    literal = moment(ds) + upper + np.triu(upper, 1).transpose(0, 2, 1)
    assert_same_law(released("sulq", ds, asked), literal)


@pytest.mark.parametrize("centre", ["none", "joint"])
@pytest.mark.parametrize("d", [1, 2, 10, 50])
def test_the_claim_of_sulq_is_true_and_about_d_times_too_careful(d, centre):
    for epsilon in (0.01, 1.0, 10.0, 100.0):
        for delta in (1e-2, 1e-6, 1e-12):
            asked = ApproxDP(epsilon, delta)
            rel = privcov.release(
                dataset(d=d), asked, "sulq", calibration="as-published", centre=centre, random_state=0
            )
            assert not rel.claim_is_false
            if epsilon <= 1:
                needed = accounting.gaussian_scale(asked, rel.events[0].sensitivity)
                assert rel.events[0].scale > 0.7 * d * needed


def test_sulq_refuses_a_delta_without_a_scale():
    with pytest.raises(ValueError, match=r"has no value at delta=0\.45"):
        privcov.release(
            dataset(d=1), ApproxDP(1.0, 0.45), "sulq", calibration="as-published", centre="none", random_state=0
        )
