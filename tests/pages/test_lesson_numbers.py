"""The numbers of the lessons, computed without a page: identities, limits, and Monte-Carlo bounds at fixed seeds."""

import math
import re

import numpy as np
import pytest

import privcov
from pages.common import show
from pages.lessons import (
    clipping,
    columns,
    graphs,
    guess,
    neighbours,
    reruns,
    rows,
    sensitivity,
    shrinkage,
    simulated,
    thresholding,
)
from pages.lessons.lesson import content
from privcov.core import accounting
from privcov.core.guarantees import GaussianDP, ZCDP
from privcov.measurements.moment import clipped_moment, measure_moment
from privcov.metrics.errors import reference_matrix
from privcov.metrics.graphs import edges, without_noise_at
from privcov.plots.palette import DARK, LIGHT
from privcov.plots.words import percent


def test_neighbours_differ_in_one_row_by_at_most_the_bound():
    for way in (0.0, 0.3, 1.0):
        found = neighbours.neighbours(way)
        first, second = found.tables
        changed = np.flatnonzero((first != second).any(axis=1))
        assert changed.tolist() == ([neighbours.PERSON] if way else [])
        assert np.linalg.norm(second, axis=1)[neighbours.PERSON] <= found.row_bound * (1 + 1e-12)
        assert found.size <= found.bound
        for table, moment in zip(found.tables, found.moments, strict=True):  # of the tables that are shown
            np.testing.assert_allclose(moment, table.T @ table / len(table), rtol=1e-12, atol=1e-12)
        x, y = first[neighbours.PERSON], second[neighbours.PERSON]
        literal = (np.outer(y, y) - np.outer(x, x)) / len(first)
        assert np.linalg.norm(x) < found.row_bound, "this row is not shortened, so the formula holds as it stands"
        np.testing.assert_allclose(found.moments[1] - found.moments[0], literal, atol=1e-12)


def test_the_worst_pair_found_attains_the_proved_sensitivity_and_grows_with_the_square_of_the_bound():
    found = sensitivity.changes((0.5, 1.0, 2.0))
    assert (found.worst <= found.proved).all()
    assert (found.random <= found.proved[:, None]).all()
    np.testing.assert_allclose(found.worst, found.proved, rtol=1e-3)
    np.testing.assert_allclose(found.proved, math.sqrt(2) * found.bounds**2 / sensitivity.ROWS, rtol=1e-12)
    assert found.random.max() < found.worst.max(), "chance alone does not find it, so the search is worth showing"


def test_privacy_noise_falls_like_one_over_n_and_sampling_error_like_its_root():
    (noise, sampling), (less, smaller) = rows.standard_deviations((1_000, 10_000))
    assert noise / less == pytest.approx(10)
    assert sampling / smaller == pytest.approx(math.sqrt(10))
    # What is told is the deviation of the noise that a release carries: 45 entries, seen to 25 % at two deviations.
    data = simulated.widened(simulated.made("ar1-covariance", n=1_000, **rows.DATA))
    rel = privcov.release(data, ZCDP(rows.RHO), "gaussian-cov", random_state=3, repair="none")
    off = (rel.covariance - rows.of_many(1_000).sample)[np.triu_indices(rows.D, 1)]
    assert np.std(off) == pytest.approx(noise, rel=0.25)


def test_the_sampling_error_of_a_true_zero_is_one_over_the_root_of_n():
    """The root mean square over pairs of independent columns: 1,225 pairs, so one standard error is 2 %."""
    data = simulated.made("ar1-covariance", n=1_000, d=50, rho=0.0)
    off = reference_matrix(data, "covariance", "sample")[np.triu_indices(50, 1)]
    ((_, sampling),) = rows.standard_deviations((1_000,))
    assert sampling == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.08)
    # Two columns of correlation c have sqrt(1 + c^2) of it: 4,000 tables of 50 rows, standard error 1.1 %.
    pairs = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], (4_000, 50))
    spread = np.std(np.prod(pairs, axis=2).mean(axis=1))
    assert spread == pytest.approx(math.sqrt((1 + 0.8**2) / 50), rel=0.06)


def test_both_answers_of_the_lesson_on_columns_come_from_one_noisy_matrix():
    found = columns.of_width(20)
    off = ~np.eye(20, dtype=bool)
    # One is the noisy matrix without its negative eigenvalues; the other has the same entries, or none.
    values, vectors = np.linalg.eigh(found.noisy)
    np.testing.assert_allclose(found.dense, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    kept = off & (np.abs(found.sparse) > 1e-12)
    assert 0 < kept.sum() < off.sum() / 2
    assert np.abs(found.sparse - found.noisy)[kept].max() < found.noise_std, "hardly moved by what follows the cut"


def test_the_noise_on_an_entry_grows_with_the_columns_because_the_row_bound_does():
    """R squared is the source's 1.69 d, widened; the noise follows it, entry by entry."""
    narrow, wide = columns.of_width(10), columns.of_width(40)
    for found in (narrow, wide):
        assert found.row_bound**2 == pytest.approx(1.69 * simulated.WIDE**2 * found.d)
    assert wide.noise_std / narrow.noise_std == pytest.approx(4)
    # 780 entries of one free-trace draw: one standard error of their spread is 2.5 %.
    data = simulated.widened(simulated.made("banded-covariance", n=columns.N, d=40))
    exact = data.row_bound**2 * clipped_moment(data, n_anchors=0)
    assert np.std((wide.noisy - exact)[np.triu_indices(40, 1)]) == pytest.approx(wide.noise_std, rel=0.1)
    pairs = np.triu(wide.truth, 1) != 0
    assert pairs.sum() == 2 * wide.d - 3, "as many correlated pairs as the answer says"


def test_the_two_answers_of_a_width_differ_in_what_is_dropped_alone():
    found = columns.of_width(10)
    np.testing.assert_allclose(np.diag(found.sparse), np.diag(found.noisy), rtol=1e-9)


def test_more_columns_hurt_and_thresholding_helps():
    narrow, wide = columns.of_width(10), columns.of_width(40)
    assert wide.errors[0] > 2 * narrow.errors[0]
    assert wide.errors[1] < wide.errors[0] / 2
    far = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) > 2
    assert not wide.truth[far].any()
    assert (wide.sparse[far] == 0).mean() > 0.9
    assert (wide.dense[far] != 0).all()


def test_a_larger_bound_means_less_bias_and_more_noise_and_the_best_one_grows_with_n():
    multiples = tuple(round(2 ** (k / 4), 6) for k in range(-12, 6))
    few, many = clipping.clipped(multiples), clipping.clipped(multiples, 10 * clipping.N)
    assert (np.diff([one.bias for one in few]) < 0).all()
    noise = np.array([one.noise for one in few])
    np.testing.assert_allclose(noise / noise[0], np.square(multiples) / multiples[0] ** 2, rtol=1e-9)
    best, later = clipping.best_bound(few), clipping.best_bound(many)
    assert multiples[0] < best.multiple < later.multiple < multiples[-1], "inside the lever, and the answer is 'larger'"


def test_no_cut_keeps_all_and_a_high_one_nothing():
    whole, none = thresholding.cut(0.0), thresholding.cut(1e9)
    assert (whole.true, whole.false) == whole.pairs == (37, 153)
    assert (none.true, none.false) == (0, 0)
    np.testing.assert_array_equal(whole.kept, whole.noisy)
    between = thresholding.cut(2.0)
    # 153 entries of noise alone, each beyond two deviations with probability 4.55 %: 7.0 expected, deviation 2.6.
    assert abs(between.false - 153 * 0.0455) < 3 * 2.6
    assert between.error < min(whole.error, none.error)


def test_noise_pushes_eigenvalues_apart_and_shrinkage_pulls_them_in():
    found = shrinkage.shrunk(0.01)
    rows = np.asarray(privcov.source("ar1-covariance", **shrinkage.DATA, random_state=1).rows)
    assert found.own == pytest.approx(np.linalg.eigvalsh(rows.T @ rows / len(rows))[-1], rel=0.01)
    assert found.own != found.truth[-1]
    assert found.noisy[-1] > found.truth[-1]
    assert found.noisy[0] < 0 <= found.shrunk[0] + 1e-12
    assert abs(found.shrunk[-1] - found.truth[-1]) < abs(found.noisy[-1] - found.truth[-1])
    assert found.errors[1] < found.errors[0]


def test_shrinkage_says_where_chance_beats_its_rule():
    """Noise pushes the largest eigenvalue up on average; where it is small one draw may have it lower."""
    told = {}
    for rho in shrinkage.LESSON.control.options:
        found = shrinkage.shrunk(rho)
        told[rho] = "by chance" in content(shrinkage.LESSON, rho).sentence
        assert told[rho] == (found.noisy[-1] < found.own)
        assert not told[rho] or found.edge < found.own / 10, "the noise is small"
    assert set(told.values()) == {False, True}


def test_edges_of_independent_columns_are_those_of_the_release():
    found = graphs.false_edges(4)
    data = simulated.made("ar1-covariance", **graphs.DATA)
    rel = privcov.release(data, ZCDP(graphs.RHO), "glasso-gaussian", random_state=simulated.SEED)
    np.testing.assert_array_equal(found.released, edges(rel.path[4].precision))
    noisy, exact = found.counts
    assert noisy > 2 * exact
    assert np.array_equal(data.truth.covariance, np.eye(data.d)), "every edge is false"


def test_edges_that_two_releases_share_are_more_often_those_of_the_sample():
    """Eight releases of the same rows, 56 ordered pairs: noise alone would treat both kinds of edges alike."""
    data, upper = simulated.made("ar1-covariance", **graphs.DATA), np.triu_indices(graphs.DATA["d"], 1)
    drawn, sample = [], []
    for seed in range(1, 9):
        rel = privcov.release(data, ZCDP(graphs.RHO), graphs.METHOD, random_state=seed)
        drawn.append(edges(rel.path[4].precision)[upper])
        sample.append(edges(without_noise_at(rel, data, rel.path[4].lam))[upper])
    shared = [(drawn[i] & drawn[j], sample[i]) for i in range(8) for j in range(8) if i != j]
    assert min(both.sum() for both, _ in shared) > 0, "false edges survive in every pair of releases"
    of_sample = sum((both & s).sum() for both, s in shared) / sum(s.sum() for _, s in shared)
    of_noise = sum((both & ~s).sum() for both, s in shared) / sum((~s).sum() for _, s in shared)
    assert of_sample > 2 * of_noise


def test_independent_columns_give_no_upper_limit_for_dependent_ones():
    """At a penalty that leaves independent columns without an edge, dependent ones have many false edges."""
    rel = privcov.release(
        simulated.made("ar1-covariance", **graphs.DATA), ZCDP(graphs.RHO), graphs.METHOD, random_state=1
    )
    assert not edges(rel.path[0].precision).any()
    data = simulated.made("ar1-covariance", **{**graphs.DATA, "rho": 0.8})
    chain = np.abs(np.subtract.outer(np.arange(data.d), np.arange(data.d))) == 1
    other = privcov.release(data, ZCDP(graphs.RHO), graphs.METHOD, random_state=1)
    fit = next(fit for fit in other.path if fit.lam <= 1.5 * rel.path[0].lam)
    assert fit.lam >= rel.path[0].lam
    assert (edges(fit.precision) & ~chain).sum() / 2 > 5


def test_private_selection_can_cost_less_than_nine_runs():
    """Randomised response at epsilon, the better of the runs shown: exactly, from the chance of a bad run.

    Nine runs lose nine epsilon where all are bad. A number of runs that is geometric with mean nine loses at most three
    (Liu and Talwar 2019).
    """
    epsilon = 0.5
    bad = 1 / (1 + math.exp(epsilon))
    chances = np.array([bad, 1 - bad])  # of a bad run, on either of two neighbours
    fixed = chances**9
    stop = 1 / 9
    random = stop * chances / (1 - (1 - stop) * chances)  # every one of the geometrically many runs is bad
    assert np.log(fixed[1] / fixed[0]) == pytest.approx(9 * epsilon)
    losses = [abs(np.log(p[1] / p[0])) for p in (random, 1 - random)]
    assert max(losses) <= 3 * epsilon


def test_the_average_of_k_runs_approaches_the_exact_matrix_while_the_guarantee_goes():
    ks = (1, 4, 16, 64)
    found = reruns.reruns(ks)
    one = found[0]
    for run in found:
        assert run.expected == pytest.approx(one.expected / math.sqrt(run.k))
        # 55 independent entries: the relative deviation of such a norm is about 1/sqrt(110); four of them.
        assert run.error == pytest.approx(run.expected, rel=4 / math.sqrt(110))
        assert run.rho == pytest.approx(run.k * reruns.RHO)
        mu = math.sqrt(2 * run.k * reruns.RHO)
        assert run.attacker == pytest.approx(accounting.attacker_success(GaussianDP(mu)))
        assert run.epsilon == simulated.epsilon(run.rho)
    assert [run.epsilon for run in found] == sorted(run.epsilon for run in found)
    np.testing.assert_array_equal(found[0].average, found[0].one)


# --- guess the neighbour ------------------------------------------------------------------------------------


def test_the_two_tables_are_the_worst_neighbours_there_are():
    first, second = guess.tables()
    assert (first.rows != second.rows).any(axis=1).sum() == 1
    a, b = guess.exact_moments()
    measured = measure_moment(first, ZCDP(0.5), centre="zero", shape="upper-triangle", rng=np.random.default_rng(0))
    distance = np.linalg.norm((a - b)[np.triu_indices(guess.D)])
    assert distance == pytest.approx(measured.event.sensitivity, rel=1e-12)
    assert distance <= measured.event.sensitivity


@pytest.mark.parametrize("rho", [0.05, 0.5, 2.0])
def test_the_optimal_attacker_converges_to_the_attacker_meter(rho):
    """4,000 rounds: three standard errors are at most 0.024, so a score off by more than that would be seen."""
    rounds = 4_000
    hits = sum(guess.play(rho, 7, k).optimal_is_right for k in range(1, rounds + 1))
    limit = guess.limit(rho)
    assert limit == pytest.approx(accounting.attacker_success(GaussianDP(math.sqrt(2 * rho))), rel=1e-12)
    assert limit <= accounting.attacker_success(ZCDP(rho)) + 1e-12
    assert abs(hits / rounds - limit) < 3 * math.sqrt(limit * (1 - limit) / rounds)


def test_the_game_tells_the_limit_of_its_noise_from_that_of_its_guarantee():
    gauss, every = (accounting.attacker_success(given) for given in (GaussianDP(1.0), ZCDP(0.5)))
    own, general = content(guess.LESSON, 0.5).sentence.split("Any method under 0.5-zCDP: ")
    assert show.chance(gauss) in own
    assert "this noise" in own
    assert show.chance(every, most=True) in general


def test_the_likelihood_ratio_is_that_of_the_densities():
    """Against scipy's normal density, entry by entry of the upper triangle."""
    from scipy.stats import norm

    a, b = guess.exact_moments()
    measured = measure_moment(
        guess.tables()[1], ZCDP(0.3), centre="zero", shape="upper-triangle", rng=np.random.default_rng(5)
    )
    upper = np.triu_indices(len(a))
    literal = sum(
        norm.logpdf(measured.matrix[i, j], a[i, j], measured.event.scale)
        - norm.logpdf(measured.matrix[i, j], b[i, j], measured.event.scale)
        for i, j in zip(*upper, strict=True)
    )
    assert guess.likelihood_ratio(measured, a, b) == pytest.approx(literal)
    isotropic = measure_moment(
        guess.tables()[1], ZCDP(0.3), centre="zero", shape="isotropic", rng=np.random.default_rng(5)
    )
    with pytest.raises(ValueError, match="isotropic"):
        guess.likelihood_ratio(isotropic, a, b)


def test_rounds_repeat_and_both_tables_come_up():
    again = [guess.play(0.5, 3, 11) for _ in range(2)]
    np.testing.assert_array_equal(again[0].release, again[1].release)
    truths = [guess.play(0.5, 3, k).truth for k in range(1, 201)]
    assert 70 < sum(truths) < 130, "a fair coin: 100 of 200, deviation 7"


def test_the_delta_in_words_is_the_delta_of_the_numbers():
    digits = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b", "0123456789-")
    base, power = re.fullmatch("delta = (10)(\\D+)", simulated.AT_DELTA).groups()
    assert float(base) ** int(power.translate(digits)) == pytest.approx(simulated.DELTA)


@pytest.mark.parametrize("rho", [0.005, 0.1, 5.0])
def test_the_epsilon_told_beside_rho_is_that_of_any_method(rho):
    """One number everywhere: 2.14 for 0.1-zCDP, in lessons as under Words and on Your data."""
    mu = math.sqrt(2 * rho)
    assert simulated.epsilon(rho) == accounting.zcdp_to_approx(rho, simulated.DELTA)
    assert accounting.delta_of_gaussian(simulated.epsilon(rho), mu) < simulated.DELTA, "the noise shown has less"
    measured = measure_moment(
        guess.tables()[0], ZCDP(rho), centre="zero", shape="upper-triangle", rng=np.random.default_rng(0)
    )
    assert measured.event.sensitivity / measured.event.scale == pytest.approx(mu), "the noise of the game is no smaller"


def test_the_bound_that_the_lever_begins_at_does_not_depend_on_the_number_of_rows():
    (many,) = clipping.clipped((1.0,), n=50)
    assert many.row_bound == clipping.public_bound()


def test_the_new_row_of_the_first_lesson_is_of_full_length_and_at_right_angles():
    start, half, end = (neighbours.neighbours(way) for way in (0.0, 0.5, 1.0))
    own, new = (tables[neighbours.PERSON] for tables in end.tables)
    assert np.linalg.norm(new) == pytest.approx(end.row_bound)
    assert own @ new == pytest.approx(0, abs=1e-12 * end.row_bound**2)
    assert half.tables[1][neighbours.PERSON] == pytest.approx((own + new) / 2)
    assert (start.tables[1] == start.tables[0]).all()


# --- pictures that one lesson alone has -------------------------------------------------------------------


def test_the_picture_of_sensitivity_draws_every_pair_and_names_the_numbers():
    bounds, random = np.array([1.0, 2.0]), np.array([[0.1, 0.2], [0.4, 0.8]])
    found = sensitivity.picture(
        sensitivity.Changes(bounds, random, np.array([0.3, 1.2]), np.array([0.31, 1.21])), DARK, marked=2.0
    )
    dots, line, worst = found.figure.data
    assert sorted(zip(dots.x, dots.y, strict=True)) == [(1.0, 0.1), (1.0, 0.2), (2.0, 0.4), (2.0, 0.8)]
    assert list(line.y) == [0.31, 1.21]
    assert list(worst.y) == [0.3, 1.2]
    assert found.figure.layout.shapes[0].x0 == 2.0
    assert "At R = 2 the worst of the pairs found moves it by 1.2; the proved bound is 1.21" in found.alt


def test_running_scores_are_running_means():
    found = guess.running_scores([True, False, True], 0.7, LIGHT)
    _, scores, most = found.figure.data
    assert list(scores.x) == [1, 2, 3]
    assert list(scores.y) == pytest.approx([100, 50, 200 / 3])
    assert list(most.y) == pytest.approx([70, 70])
    assert most.name == f"limit {percent(0.7, 'at most')}"
    assert "optimal attacker: 2 of 3 right" in found.alt


@pytest.mark.parametrize("rate", [0.55, 0.6915, 0.97])
def test_the_funnel_holds_95_per_cent_of_the_guessers_at_the_limit(rate):
    """By the binomial sum itself; one guess less at either end would be too few."""
    rounds = np.array([1, 2, 10, 20, 103, 1000])
    low, high = guess.funnel(rate, rounds)
    for n, a, b in zip(rounds, np.round(low * rounds), np.round(high * rounds), strict=True):
        chances = np.array([math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)])
        assert chances[int(a) : int(b) + 1].sum() >= 0.95
        assert chances[: int(a)].sum() < 0.025
        assert chances[int(b) + 1 :].sum() <= 0.025 + 1e-12
        assert chances[: int(b)].sum() < 0.975
    assert (np.diff((high - low)[2:]) < 0).all()


def test_a_score_beyond_the_limit_lies_in_the_funnel_as_long_as_chance_explains_it():
    """77 of 103 beside a limit of 69 %: above it, and within the funnel."""
    limit = guess.limit(0.5)
    low, high = guess.funnel(limit, np.array([103]))
    assert low[0] < limit < 77 / 103 <= high[0]
