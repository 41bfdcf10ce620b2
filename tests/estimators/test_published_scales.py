"""The noise scales that the papers print for gaussian-cov and laplace-cov, and what each really gives."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import privcov
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, PureDP, ZCDP
from privcov.measurements.moment import ANCHOR_SQUARED
from privcov.tables.dataset import Dataset

N = 50


def dataset(d: int = 3) -> Dataset:
    return Dataset.from_rows(np.random.default_rng(d).standard_normal((N, d)), 2.0)


def release(key: str, asked, calibration: str, d: int = 3, **options):
    options = {"centre": "none", "random_state": 0, **options}
    return privcov.release(dataset(d), asked, key, calibration=calibration, **options)


# From this epsilon on the noise of paper 1 no longer gives (epsilon, delta), replacing a row.
# At 1e-5 it says 0.37; the exact point is 0.3647.
STOPS = {1 / 50: 2.07, 1 / 100: 1.88, 1 / 200: 1.69, 1 / 400: 1.50, 1e-3: 1.25, 1e-4: 0.73, 1e-5: 0.36, 1e-6: 0.16}


@pytest.mark.parametrize("delta", STOPS)
@pytest.mark.parametrize("paper", [1, 3])
def test_the_noise_of_papers_1_and_3_stops_giving_the_claim_at_the_printed_epsilon(delta, paper):
    def excess(epsilon):
        mu = math.sqrt(2) * epsilon / math.sqrt(2 * math.log(1.25 / delta))
        return accounting.delta_of_gaussian(epsilon, mu) / delta - 1

    stops = brentq(excess, 0.02, 5.0)
    assert stops == pytest.approx(STOPS[delta], abs=0.0051)
    for factor, false in [(0.999, False), (1.001, True)]:
        rel = release("gaussian-cov", ApproxDP(factor * stops, delta), f"as-published-{paper}")
        assert rel.claim_is_false == false
        words = ("only ", "is false") if false else ("", "the claim was")
        assert rel.statement["Guarantee"].startswith(words[0])
        assert words[1] in rel.statement["Guarantee"]


@pytest.mark.parametrize("paper", [1, 3, 4, 5])
def test_the_printed_gaussian_scales(paper):
    epsilon, delta, rho = 0.6, 1e-4, 0.2
    asked = ZCDP(rho) if paper == 5 else ApproxDP(epsilon, delta)
    want = {
        1: math.sqrt(2 * math.log(1.25 / delta)) / (N * epsilon),
        3: math.sqrt(2 * math.log(1.25 / delta)) / (N * epsilon),
        4: math.sqrt(4 * math.log(1.25 / delta)) / (N * epsilon),
        5: 1 / (math.sqrt(rho) * N),
    }[paper]
    for d in (2, 6):
        rel = release("gaussian-cov", asked, f"as-published-{paper}", d)
        assert rel.events[0].scale == pytest.approx(want, rel=1e-12)
        assert rel.events[0].sensitivity == pytest.approx(math.sqrt(2) / N)  # the true one, whatever the paper says
        assert rel.noisy_moment.distribution.shape == "upper-triangle"
    joint = release("gaussian-cov", asked, f"as-published-{paper}", centre="joint")
    assert joint.events[0].scale == pytest.approx(want * (1 + ANCHOR_SQUARED), rel=1e-12)


def test_paper_5_prints_the_right_scale():
    """Equal to the sound one, so the claim is true to the last digit; eigenvalues are clipped to [0, R^2]."""
    for rho in np.random.default_rng(0).uniform(0.01, 3, 20):
        rel = release("gaussian-cov", ZCDP(float(rho)), "as-published-5")
        assert not rel.claim_is_false
        assert rel.events[0].scale == release("gaussian-cov", ZCDP(float(rho)), "sound").events[0].scale
        assert np.linalg.eigvalsh(rel.second_moment).max() <= 4.0 * (1 + 1e-12)
        assert np.linalg.eigvalsh(rel.second_moment).min() >= -1e-12


@pytest.mark.parametrize("delta", [0.05, 0.01, 1e-3, 1e-5, 1e-10])
def test_the_scale_of_paper_4_holds_until_the_classical_constant_breaks(delta):
    """The classical formula, proved for epsilon < 1, is true up to these epsilons."""
    stops = {0.05: 6.11, 0.01: 6.77, 1e-3: 7.46, 1e-5: 8.42, 1e-10: 9.85}[delta]
    assert not release("gaussian-cov", ApproxDP(stops - 0.01, delta), "as-published-4").claim_is_false
    assert release("gaussian-cov", ApproxDP(stops + 0.01, delta), "as-published-4").claim_is_false


@pytest.mark.parametrize("centre", ["none", "joint"])
@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_the_printed_laplace_scales_are_valid_and_too_large(d, centre):
    """2d/(n epsilon) in paper 3 and sqrt(2) d/(n epsilon) in paper 5, against sqrt(d^2/2 + d + 1) (d = 1: 1)."""
    asked, p = PureDP(0.7), d + (centre == "joint")
    size = 1 + ANCHOR_SQUARED * (centre == "joint")
    for paper, factor in [(3, 2), (5, math.sqrt(2))]:
        rel = release("laplace-cov", asked, f"as-published-{paper}", d, centre=centre)
        assert rel.events[0].scale == pytest.approx(factor * p * size / (N * 0.7), rel=1e-12)
        assert not rel.claim_is_false
        assert rel.actual_guarantee.epsilon <= 0.7
        if centre == "none":
            needed = math.sqrt(d**2 / 2 + d + 1) if d > 1 else 1
            assert rel.actual_guarantee.epsilon == pytest.approx(0.7 * needed / (factor * d))


@pytest.mark.parametrize(
    ("key", "asked", "calibration", "needs"),
    [
        ("gaussian-cov", ZCDP(0.1), "as-published-1", "ApproxDP"),
        ("gaussian-cov", ZCDP(0.1), "as-published-4", "ApproxDP"),
        ("gaussian-cov", ApproxDP(1.0, 1e-5), "as-published-5", "ZCDP"),
    ],
)
def test_a_scale_printed_for_another_guarantee_is_refused(key, asked, calibration, needs):
    with pytest.raises(
        ValueError, match=rf"{calibration} is printed for .*Ask for {needs}, or use calibration='sound'"
    ):
        release(key, asked, calibration)


@pytest.mark.parametrize(("key", "asked"), [("gaussian-cov", ApproxDP(1.0, 1e-5)), ("laplace-cov", PureDP(1.0))])
def test_no_paper_hides_the_number_of_rows(key, asked):
    with pytest.raises(ValueError, match="The papers take the number of rows as public"):
        release(key, asked, "as-published-3", neighbours="add-remove")
