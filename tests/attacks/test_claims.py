"""The table of claims against numbers that are computed here in another way."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from privcov.attacks import catalogue
from privcov.attacks.catalogue import CLAIMS, EMPTY, FALSE, LOOSE, LUCKY, NONE, TRUE
from privcov.attacks.claims import table, true_delta, true_epsilon
from privcov.core.guarantees import Event

BY_KEY = {c.key: c for c in CLAIMS}


def gaussian_delta(epsilon, mu):
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def classical_mu(epsilon, delta, factor):
    """Sensitivity sqrt(2)/n over a scale of factor sqrt(2 ln(1.25/delta)) / (n epsilon)."""
    return math.sqrt(2) * epsilon / (factor * math.sqrt(2 * math.log(1.25 / delta)))


@pytest.fixture(scope="module")
def strict():
    return table(1.0, 1e-5, 1000, 20)


def line(found, paper, mechanism):
    """The one line of a mechanism in the table of claims."""
    ((_, row),) = found[(found["Paper"] == paper) & (found["Mechanism"] == mechanism)].iterrows()
    return row


def test_true_delta_of_the_printed_gaussian_noise(strict):
    found = line(strict, "Wang, Xu & He 2019", "Gaussian noise, sensitivity 1/n")
    assert found["True delta at epsilon"] == pytest.approx(gaussian_delta(1.0, classical_mu(1.0, 1e-5, 1.0)), rel=1e-9)
    assert found["True delta at epsilon"] == pytest.approx(3.7e-5, rel=0.02)  # B(i)
    assert found["Verdict"] == FALSE
    assert found["Noise / needed"] < 1
    assert found["True sensitivity"] / found["Sensitivity used"] == pytest.approx(math.sqrt(2))
    right = line(strict, "Mathematics 2023", "Gaussian noise, classical constant")
    assert right["Verdict"] == LOOSE
    assert right["Sensitivity used"] == pytest.approx(right["True sensitivity"])


def pure_event(epsilon: float, mechanism: str = "laplace") -> Event:
    return Event("x", "statistic", mechanism, "norm", epsilon, 1.0, "here")


def test_no_pure_mechanism_has_more_delta_than_randomised_response_and_that_one_has_it():
    """2,000 pairs of discrete laws with ratios within e^+-E, many at the ends: the hockey-stick divergence, summed."""
    rng = np.random.default_rng(0)
    closest = 0.0
    for _ in range(2000):
        pure, epsilon = rng.uniform(0.05, 4), rng.uniform(0, 4.5)
        size = int(rng.integers(2, 7))
        q = rng.dirichlet(np.ones(size) * rng.choice([0.3, 3.0]))
        ratio = np.exp(pure * np.clip(rng.uniform(-2, 2, size), -1, 1))
        p = q * ratio
        # what is missing to 1 is moved between outcomes within the allowed ratios
        room = q * math.exp(pure) - p if p.sum() < 1 else p - q * math.exp(-pure)
        p = p + (1 - p.sum()) * room / room.sum()
        assert (np.abs(np.log(p / q)) <= pure * (1 + 1e-9)).all()
        found = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        bound = true_delta((pure_event(pure),), epsilon)
        assert found <= bound + 1e-12
        closest = max(closest, found / bound if bound > 1e-3 else 0.0)
        yes = math.exp(pure) / (1 + math.exp(pure))
        response = max(yes - math.exp(epsilon) * (1 - yes), 0.0)
        assert bound == pytest.approx(response, rel=1e-12, abs=1e-15)
        assert bound == 0 if epsilon >= pure else 0 < bound < 1
    assert closest > 0.95


def test_a_discrete_gaussian_has_no_curve_here():
    """It was passed over, and its delta told as 0."""
    for of, level in ((true_delta, 0.5), (true_epsilon, 1e-6)):
        with pytest.raises(TypeError, match="Discrete Gaussian noise has no exact curve"):
            of((pure_event(0.1), pure_event(1.0, "discrete-gaussian")), level)


@pytest.mark.parametrize(
    ("pure", "mu", "epsilon"), [(1.0, 0.5, 0.3), (1.0, 0.5, 1.0), (0.4, 1.5, 2.0), (3.0, 0.1, 0.5)]
)
def test_pure_and_gaussian_steps_together_against_an_integral(pure, mu, epsilon):
    """Randomised response beside a Gaussian, summed over a fine grid: what is told, and never below."""
    x = np.linspace(-12, 14, 400_001)
    yes = math.exp(pure) / (1 + math.exp(pure))
    found = sum(
        np.maximum(p * norm.pdf(x - mu) - math.exp(epsilon) * q * norm.pdf(x), 0).sum() * (x[1] - x[0])
        for p, q in ((yes, 1 - yes), (1 - yes, yes))
    )
    events = (pure_event(pure), pure_event(mu, "gaussian"))
    assert true_delta(events, epsilon) == pytest.approx(found, rel=1e-6)
    assert true_delta(events, epsilon) <= gaussian_delta(max(epsilon - pure, 0), mu) + (
        1 - math.exp(epsilon - pure)
    ) * (epsilon < pure)


def test_at_the_papers_delta_the_same_claim_is_true_with_a_wrong_proof():
    found = table(1.0, 1e-3, 1000, 20)
    assert line(found, "Wang, Xu & He 2019", "Gaussian noise, sensitivity 1/n")["Verdict"] == LUCKY


def test_at_ten_the_classical_constant_is_false():
    found = table(10.0, 1e-5, 1000, 5)
    right = line(found, "Mathematics 2023", "Gaussian noise, classical constant")
    assert right["Verdict"] == FALSE
    assert right["True delta at epsilon"] == pytest.approx(2.27e-5, rel=0.01)  # B(iv)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.5])
def test_the_wishart_claim_is_false_at_every_epsilon(epsilon):
    """B(v), by the mean of an exponential variable: P(Exp(2C) < 1/n) with 2C = 3/(n epsilon)."""
    found = table(epsilon, 1e-5, 500, 7)
    pure = line(found, "Wang et al. 2018", "Wishart noise, m = d + 1")
    assert pure["True delta at epsilon"] == pytest.approx(1 - math.exp(-epsilon / 3), rel=1e-9)
    assert pure["True epsilon at delta"] == math.inf
    output = line(found, "Wang et al. 2018", "Wishart noise on the lasso's answer")
    assert output["True delta at epsilon"] == pytest.approx(1 - math.exp(-epsilon / math.sqrt(2)), rel=0.02)
    assert pure["Verdict"] == output["Verdict"] == FALSE


def test_the_approximate_wishart_claim_is_true_and_loose(strict):
    """B(vi): 180 degrees of freedom beyond d where 44 do (replace-one)."""
    found = line(strict, "Wang et al. 2018", "Wishart noise, m = d + 14 ln(4/delta)/epsilon^2")
    assert found["Verdict"] == LOOSE
    printed = math.ceil(14 * math.log(4e5)) + 1
    assert found["Noise / needed"] == pytest.approx(printed / 45, rel=0.01)
    assert found["True epsilon at delta"] < 1


@pytest.mark.parametrize("d", [2, 10, 40])
def test_laplace_claims_are_true_and_loose(d):
    found = table(1.0, 1e-5, 1000, d)
    for paper, name, used in (
        ("Wang et al. 2018", "Laplace noise, scale 2d/(n epsilon)", 2 * d),
        ("Dong et al. 2022", "Laplace noise, scale sqrt(2) d/(n epsilon)", math.sqrt(2) * d),
    ):
        row = line(found, paper, name)
        assert row["Noise / needed"] == pytest.approx(used / math.sqrt(d**2 / 2 + d + 1), rel=1e-9)
        assert row["Verdict"] == LOOSE
        assert row["True delta at epsilon"] == 0


def test_the_missing_1_over_n_is_n_times_too_much():
    found = table(1.0, 1e-3, 700, 5)
    lacking = line(found, "Su et al. 2019", "Gaussian noise, 1/n missing")["Noise / needed"]
    theirs = line(found, "Mathematics 2023", "Gaussian noise, classical constant")["Noise / needed"]
    assert lacking / theirs == pytest.approx(700, rel=1e-6)


def test_paper_5_is_right(strict):
    for name in ("Gaussian noise, zCDP", "Gaussian eigenvalues and eigenvectors"):
        found = line(strict, "Dong et al. 2022", name)
        assert found["Verdict"] == TRUE
        assert found["Noise / needed"] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("n", [10, 1000])
def test_counterexamples_by_the_tables_themselves(n):
    """All rows written out, and the preparing step done as an experimenter would."""
    common = np.tile([0.01, 0.0], (n, 1))
    other = common.copy()
    other[0] = [0.0, 1.0]
    scaled = [x / np.linalg.norm(x, axis=1).max() for x in (other, common)]
    expected = np.linalg.norm(scaled[0].T @ scaled[0] - scaled[1].T @ scaled[1]) / n
    assert catalogue.by_the_longest_row(n) == pytest.approx(expected)
    common = np.tile([-1.0, 0.0], (n, 1))
    other = common.copy()
    other[0] = [1.0, 0.0]
    centred = [np.cov(x.T, bias=True) for x in (other, common)]
    assert catalogue.by_the_sample_mean(n) == pytest.approx(np.linalg.norm(centred[0] - centred[1]))
    assert catalogue.by_the_sample_mean(n) == pytest.approx(4 * (n - 1) / n**2)
    assert catalogue.rows_of_typical_length(9.0, n) == pytest.approx(9 * math.sqrt(2) / n)


def test_preparing_steps_leave_no_guarantee_and_delta_of_one_over_n_is_worthless(strict):
    longest = line(strict, "Su et al. 2019 and Dong et al. 2022", "rows divided by the longest row")
    assert longest["Verdict"] == NONE
    assert longest["True sensitivity"] == pytest.approx(0.9999, abs=1e-4)
    assert longest["True delta at epsilon"] > 0.999
    assert line(strict, "Wang, Xu & He 2019 and Su et al. 2019", "delta = 1/n")["True delta at epsilon"] == 1e-3
    assert line(strict, "Wang, Xu & He 2019 and Su et al. 2019", "delta = 1/n")["Verdict"] == EMPTY


def test_every_verdict_is_one_of_the_list_and_every_claim_a_line():
    found = table()
    assert len(found) == len(CLAIMS) + 2
    assert set(found["Verdict"]) <= set(catalogue.VERDICTS)
    assert len({c.key for c in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("wrong", [{"epsilon": 0.0}, {"delta": 1.0}, {"n": 1}, {"d": 1}])
def test_parameters_that_make_no_claim(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        table(**{"epsilon": 1.0, "delta": 1e-3, "n": 100, "d": 5, **wrong})
