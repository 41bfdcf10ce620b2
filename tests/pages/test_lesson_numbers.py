"""The numbers of the lessons, computed without a page: identities, limits, and Monte-Carlo bounds at fixed seeds."""

import math
import re

import numpy as np
import pytest

import privcov
from pages.lessons import (
    lesson_01_epsilon,
    lesson_02_sensitivity,
    lesson_03_sample_size,
    lesson_05_clipping,
    lesson_06_thresholding,
    lesson_08_graphs,
    lesson_09_reruns,
    lesson_10_guess,
    simulated,
)
from pages.lessons.catalogue import LESSONS
from pages.lessons.lesson import content
from privcov.core import accounting
from privcov.core.guarantees import GaussianDP, ZCDP
from privcov.core.words import chance
from privcov.measurements.moment import measure_moment
from privcov.metrics.graphs import edges
from privcov.plots.palette import LIGHT


@pytest.mark.parametrize("level", [0.1, 1.0, 5.0])
def test_the_two_tables_of_lesson_one_differ_in_one_row_and_attain_epsilon(level):
    pair = lesson_01_epsilon.two_tables(level, 3)
    first, second = pair.tables
    assert np.flatnonzero((first != second).any(axis=1)).tolist() == [lesson_01_epsilon.PUPIL]
    assert np.abs(first).max() <= 1
    np.testing.assert_allclose(first[:, 2], first[:, 0] * first[:, 1])
    assert np.abs(np.subtract(*pair.means)) == pytest.approx(2 / len(first)), "products from -1 to 1"
    x = np.linspace(-20 * pair.scale, 20 * pair.scale, 800_001)
    one, other = (lesson_01_epsilon.density(x, mean, pair.scale) for mean in pair.means)
    ratios = one / other
    assert ratios.max() == pytest.approx(math.exp(level))
    assert ratios.min() == pytest.approx(math.exp(-level))
    common = np.minimum(one, other).sum() * (x[1] - x[0])
    assert common == pytest.approx(pair.overlap, abs=1e-3)
    assert np.divide(*pair.heights) == pytest.approx(np.interp(pair.release, x, ratios), rel=1e-2)
    # Guessing the table with the higher density: 1,000 releases of the first, to three standard errors.
    releases = np.array([lesson_01_epsilon.two_tables(level, seed).heights for seed in range(1_000)])
    right = np.mean(releases[:, 0] > releases[:, 1])
    assert abs(right - (1 - pair.overlap / 2)) < 3 * 0.5 / math.sqrt(1_000)


def test_the_worst_pair_found_attains_the_proved_sensitivity_and_grows_with_the_square_of_the_bound():
    found = lesson_02_sensitivity.changes((0.5, 1.0, 2.0))
    assert (found.worst <= found.proved).all()
    assert (found.random <= found.proved[:, None]).all()
    np.testing.assert_allclose(found.worst, found.proved, rtol=1e-3)
    np.testing.assert_allclose(found.proved, math.sqrt(2) * found.bounds**2 / lesson_02_sensitivity.ROWS, rtol=1e-12)
    assert found.random.max() < found.worst.max(), "chance alone does not find it, so the search is worth showing"
    x, y = found.pair  # the pair on the screen: with its numbers a student comes to the same change
    assert np.linalg.norm(found.pair, axis=1) == pytest.approx([1, 1], abs=1e-3)
    assert x @ y == pytest.approx(0, abs=0.05)
    moved = np.linalg.norm(np.outer(x, x) - np.outer(y, y)) / lesson_02_sensitivity.ROWS
    assert moved == pytest.approx(found.worst[1], rel=1e-9)


def test_privacy_noise_falls_like_one_over_n_and_sampling_error_like_its_root():
    (noise, sampling), (less, smaller) = lesson_03_sample_size.standard_deviations((1_000, 10_000))
    assert noise / less == pytest.approx(10)
    assert sampling / smaller == pytest.approx(math.sqrt(10))
    # What is told is the deviation of the noise that a release carries: 45 entries, seen to 25 % at two deviations.
    data = simulated.widened(simulated.simulate("ar1-covariance", n=1_000, **lesson_03_sample_size.DATA))
    rel = privcov.release(data, ZCDP(lesson_03_sample_size.RHO), "gaussian-cov", random_state=3, repair="none")
    off = (rel.covariance - lesson_03_sample_size.release_of_rows(1_000).sample)[
        np.triu_indices(lesson_03_sample_size.D, 1)
    ]
    assert np.std(off) == pytest.approx(noise, rel=0.25)


def test_a_larger_bound_means_less_bias_and_more_noise_and_the_best_one_grows_with_n():
    multiples = tuple(round(2 ** (k / 4), 6) for k in range(-12, 6))
    few, many = lesson_05_clipping.clipped(multiples), lesson_05_clipping.clipped(multiples, 10 * lesson_05_clipping.N)
    assert (np.diff([one.bias for one in few]) < 0).all()
    noise = np.array([one.noise for one in few])
    np.testing.assert_allclose(noise / noise[0], np.square(multiples) / multiples[0] ** 2, rtol=1e-9)
    best, later = lesson_05_clipping.best_bound(few), lesson_05_clipping.best_bound(many)
    assert multiples[0] < best.multiple < later.multiple < multiples[-1], "inside the lever, and the answer is 'larger'"


@pytest.mark.parametrize("multiple", [lesson_05_clipping.MULTIPLES[0], 1.0, lesson_05_clipping.MULTIPLES[-1]])
def test_a_row_is_drawn_as_long_as_it_is_and_cut_at_the_bound(multiple):
    circle, _, kept = lesson_05_clipping.shortening(multiple, LIGHT).figure.data
    rows = np.asarray(simulated.simulate("ar1-covariance", **lesson_05_clipping.DATA).rows)[: lesson_05_clipping.SHOWN]
    lengths, bound = np.linalg.norm(rows, axis=1), lesson_05_clipping.public_bound() * multiple
    assert np.hypot(kept.x, kept.y) == pytest.approx(np.minimum(lengths, bound))
    assert np.hypot(circle.x, circle.y) == pytest.approx(bound)


def test_no_cut_keeps_all_and_a_high_one_nothing():
    whole, none = lesson_06_thresholding.cut(0.0), lesson_06_thresholding.cut(1e9)
    assert (whole.true, whole.false) == whole.pairs == (37, 153)
    assert (none.true, none.false) == (0, 0)
    np.testing.assert_array_equal(whole.cut_matrix, whole.noisy)
    between = lesson_06_thresholding.cut(2.0)
    # 153 entries of noise alone, each beyond two deviations with probability 4.55 %: 7.0 expected, deviation 2.6.
    assert abs(between.false - 153 * 0.0455) < 3 * 2.6
    assert between.error < min(whole.error, none.error)


def test_edges_of_independent_columns_are_those_of_the_release():
    found = lesson_08_graphs.false_edges(4)
    data = simulated.simulate("ar1-covariance", **lesson_08_graphs.DATA)
    rel = privcov.release(data, ZCDP(lesson_08_graphs.RHO), "glasso-gaussian", random_state=simulated.SEED)
    np.testing.assert_array_equal(found.released, edges(rel.path[4].precision))
    noisy, exact = found.counts
    assert noisy > 2 * exact
    assert np.array_equal(data.truth.covariance, np.eye(data.d)), "every edge is false"


def test_the_average_of_k_runs_approaches_the_exact_matrix_while_the_guarantee_goes():
    ks = (1, 4, 16, 64)
    found = lesson_09_reruns.reruns(ks)
    one = found[0]
    for run in found:
        assert run.expected == pytest.approx(one.expected / math.sqrt(run.k))
        # 55 independent entries: the relative deviation of such a norm is about 1/sqrt(110); four of them.
        assert run.error == pytest.approx(run.expected, rel=4 / math.sqrt(110))
        assert run.rho == pytest.approx(run.k * lesson_09_reruns.RHO)
        mu = math.sqrt(2 * run.k * lesson_09_reruns.RHO)
        assert run.attacker == pytest.approx(accounting.attacker_success(GaussianDP(mu)))
        assert run.epsilon == simulated.epsilon(run.rho)
    assert [run.epsilon for run in found] == sorted(run.epsilon for run in found)
    np.testing.assert_array_equal(found[0].average, found[0].one)


# --- guess the neighbour ------------------------------------------------------------------------------------


def test_the_two_tables_are_the_worst_neighbours_there_are():
    first, second = lesson_10_guess.tables()
    assert (first.rows != second.rows).any(axis=1).sum() == 1
    a, b = lesson_10_guess.exact_moments()
    measured = measure_moment(first, ZCDP(0.5), centre="zero", shape="upper-triangle", rng=np.random.default_rng(0))
    distance = np.linalg.norm((a - b)[np.triu_indices(lesson_10_guess.D)])
    assert distance == pytest.approx(measured.event.sensitivity, rel=1e-12)
    assert distance <= measured.event.sensitivity


@pytest.mark.parametrize("rho", [0.05, 0.5, 2.0])
def test_the_optimal_attacker_converges_to_the_attacker_meter(rho):
    """4,000 rounds: three standard errors are at most 0.024, so a score off by more than that would be seen."""
    rounds = 4_000
    hits = sum(lesson_10_guess.play(rho, 7, k).optimal_is_right for k in range(1, rounds + 1))
    limit = lesson_10_guess.limit(rho)
    assert limit == pytest.approx(accounting.attacker_success(GaussianDP(math.sqrt(2 * rho))), rel=1e-12)
    assert limit <= accounting.attacker_success(ZCDP(rho)) + 1e-12
    assert abs(hits / rounds - limit) < 3 * math.sqrt(limit * (1 - limit) / rounds)


def test_the_likelihood_ratio_is_that_of_the_densities():
    """Against scipy's normal density, entry by entry of the upper triangle."""
    from scipy.stats import norm

    a, b = lesson_10_guess.exact_moments()
    measured = measure_moment(
        lesson_10_guess.tables()[1], ZCDP(0.3), centre="zero", shape="upper-triangle", rng=np.random.default_rng(5)
    )
    upper = np.triu_indices(len(a))
    literal = sum(
        norm.logpdf(measured.matrix[i, j], a[i, j], measured.event.scale)
        - norm.logpdf(measured.matrix[i, j], b[i, j], measured.event.scale)
        for i, j in zip(*upper, strict=True)
    )
    assert lesson_10_guess.likelihood_ratio(measured, a, b) == pytest.approx(literal)
    isotropic = measure_moment(
        lesson_10_guess.tables()[1], ZCDP(0.3), centre="zero", shape="isotropic", rng=np.random.default_rng(5)
    )
    with pytest.raises(ValueError, match="isotropic"):
        lesson_10_guess.likelihood_ratio(isotropic, a, b)


@pytest.mark.parametrize("rho", [0.005, 0.1, 5.0])
def test_the_epsilon_told_beside_rho_is_that_of_any_method(rho):
    """One number everywhere: 2.14 for 0.1-zCDP, in lessons as under Words and on Your data."""
    mu = math.sqrt(2 * rho)
    assert simulated.epsilon(rho) == accounting.zcdp_to_approx(rho, simulated.DELTA)
    assert accounting.delta_of_gaussian(simulated.epsilon(rho), mu) < simulated.DELTA, "the noise shown has less"
    measured = measure_moment(
        lesson_10_guess.tables()[0], ZCDP(rho), centre="zero", shape="upper-triangle", rng=np.random.default_rng(0)
    )
    assert measured.event.sensitivity / measured.event.scale == pytest.approx(mu), "the noise of the game is no smaller"


# --- pictures that one lesson alone has -------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.55, 0.6915, 0.97])
def test_the_funnel_holds_95_per_cent_of_the_guessers_at_the_limit(rate):
    """By the binomial sum itself; one guess less at either end would be too few."""
    rounds = np.array([1, 2, 10, 20, 103, 1000])
    low, high = lesson_10_guess.funnel(rate, rounds)
    for n, a, b in zip(rounds, np.round(low * rounds), np.round(high * rounds), strict=True):
        chances = np.array([math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)])
        assert chances[int(a) : int(b) + 1].sum() >= 0.95
        assert chances[: int(a)].sum() < 0.025
        assert chances[int(b) + 1 :].sum() <= 0.025 + 1e-12
        assert chances[: int(b)].sum() < 0.975
    assert (np.diff((high - low)[2:]) < 0).all()


@pytest.mark.parametrize("draw", range(6))
@pytest.mark.parametrize("level", LESSONS[1].control.options)
def test_the_sentence_of_lesson_one_says_the_numbers_of_its_picture(level, draw):
    said = content(LESSONS[1], level, draw=draw).sentence.replace("\xa0", " ")
    times, which = re.search(r"\*\*([\d.,]+) times\*\* as likely from the (first|second) table", said).groups()
    heights = lesson_01_epsilon.two_tables(level, simulated.SEED + 1000 * draw).heights
    assert which == ("first", "second")[int(heights[0] < heights[1])]
    assert 1 <= float(times.replace(",", "")) == pytest.approx(max(heights) / min(heights), rel=5e-3)
    right = float(re.search(r"1 - area/2: \*\*([\d.]+) %\*\*", said)[1])
    assert right == pytest.approx(100 * (1 - math.exp(-level / 2) / 2), abs=0.0501)


def test_a_closed_form_is_rounded_to_the_nearest_and_a_bound_up():
    assert [chance(0.84134, exact=True), chance(0.84134)] == ["84.1\xa0%", "84.2\xa0%"]
    assert chance(0.84134, most=True) == "at most 84.2\xa0%"
    assert chance(0.999999, exact=True) == "over 99.99\xa0%"
