"""The plan: at the scale of the very release that follows, and right about what survives."""

from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from privcov import Kind
from privcov.bundle.derived import noisy_of
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP, with_level
from privcov.measurements.exact.moment import NoisySum, measure_exactly
from privcov.measurements.exact.reading import read_sum
from privcov.postprocess.matrices import derive
from privcov.releases.private_request import private_request, usual_request
from privcov.steward.choices import with_fraction
from privcov.steward.example_rows import STRUCTURES, ExampleRows, Invention, invented, planned_anchor
from privcov.steward.preview import (
    noise_for,
    planned_noise,
    planned_trade_off,
    preview,
    searched,
    seen_from,
    smallest_level,
    survival,
)
from privcov.steward.view import owner_look
from privcov.tables.private_dataset import PrivateDataset

CASES = [ZCDP(0.1), ApproxDP(1.0, 1e-6), PureDP(1.0)]
LEVELS = tuple(f"level {k}" for k in range(30))
KINDS = {
    "age": Kind("number", 0, 100),
    "ward": Kind("category", values=LEVELS),
    "town": Kind("category", values=LEVELS),
}


def private(n: int = 500, d: int = 4, **how) -> PrivateDataset:
    x = np.random.default_rng(0).uniform(0, 1, (n, d))
    return PrivateDataset.from_rows(x, bounds=[(0, 1)] * d, **how)


def table(d: int, n: int, *more, seed: int = 0) -> ExampleRows:
    return invented(private(d=d).facts, Invention(n, *more), seed=seed)


def measured(data: PrivateDataset, guarantee: Guarantee) -> NoisySum:
    """Measure what a release that names no method would."""
    return measure_exactly(data, **vars(usual_request(data.facts, guarantee).wanted))


@pytest.mark.parametrize("guarantee", CASES)
@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("more", [{}, {"rows_per_person": 3}, {"labels": True}, {"missing": "pairs"}])
def test_the_plan_has_the_noise_and_the_anchor_of_the_release(guarantee, n_public, more):
    how = {"labels": ["a", "b"] * 250, "classes": ["a", "b"]} if "labels" in more else more
    data = private(n_public=n_public, **how)
    released = read_sum(measured(data, guarantee), "joint")
    planned = planned_noise(data.facts, guarantee, 500)
    assert planned.shape == released.distribution.shape
    assert planned.scale * 500 == pytest.approx(released.distribution.scale * released.rows, rel=1e-12)
    assert planned_anchor(data.facts) ** 2 == pytest.approx(released.matrix[-1, -1], rel=1e-12)


@pytest.mark.parametrize("n_public", [True, False])
def test_the_plan_of_a_table_with_laplace_noise_has_its_anchor(n_public):
    """Another method measures such a table, with a larger anchor; the rows that stand in for it have that too."""
    frame = pd.DataFrame({"age": range(50), "ward": LEVELS[:1] * 50, "town": LEVELS[1:2] * 50})
    data = PrivateDataset.from_rows(frame, kinds=KINDS, n_public=n_public)
    released = read_sum(measured(data, PureDP(1.0)), "joint")
    noise = planned_noise(data.facts, PureDP(1.0), 50)
    assert (noise.shape, released.distribution.shape) == ("laplace", "laplace")
    assert released.anchor_squared == 0.5
    assert ExampleRows(data, 50, "rows").noisy(noise, None).matrix[-1, -1] == pytest.approx(0.5)
    assert noise.scale * 50 == pytest.approx(released.distribution.scale * released.rows)


def test_page_and_shell_measure_with_the_least_noise():
    """A public number of rows costs no more than a hidden one, as the larger anchor of gaussian-cov does."""
    for guarantee in CASES[:2]:
        public, hidden = (private(d=24, n_public=public).facts for public in (True, False))
        noise, other = planned_noise(public, guarantee, 500), planned_noise(hidden, guarantee, 500)
        assert noise.off_diagonal_std < 1.04 * other.off_diagonal_std
        larger = private_request("gaussian-cov", public, guarantee).noise(500)
        assert larger.off_diagonal_std > 1.35 * noise.off_diagonal_std


def test_few_categories_of_many_levels_have_laplace_noise_under_pure_privacy():
    """A row has three entries that are not zero, and 61 columns: the l1 norm is small, the Wishart matrices large."""
    typed = PrivateDataset.from_rows(pd.DataFrame({"age": ["1"], "ward": [""], "town": [""]}), kinds=KINDS).facts
    for facts, key in ((typed, "laplace-cov"), (private(d=24).facts, "auto-cov")):
        asked = usual_request(facts, PureDP(1.0))
        assert asked.method.card.key == key
        assert asked.noise(1.0).off_diagonal_std == min(
            private_request(name, facts, PureDP(1.0)).noise(1.0).off_diagonal_std
            for name in ("auto-cov", "laplace-cov", "wishart-difference")
        )
    assert usual_request(typed, ZCDP(0.1)).method.card.key == "auto-cov"


def test_the_plan_draws_the_law_of_the_release():
    """Same groups, weights and scale, and 600 planned measurements with the spread of the stated law, within 12 %."""
    data = private()
    released = read_sum(measured(data, ZCDP(0.1)), "joint")
    planned = planned_noise(data.facts, ZCDP(0.1), 500)
    assert planned == released.distribution
    square = released.anchor_squared
    rows = table(4, 500, "neighbours")
    exact = rows.noisy(planned, None).matrix
    drawn = [rows.noisy(planned, 3, k).matrix - exact for k in range(600)]
    std = np.std(drawn, axis=0)
    assert std[0, 0] == pytest.approx(planned.diagonal_std, rel=0.12)
    assert std[0, 1] == pytest.approx(planned.off_diagonal_std, rel=0.12)
    assert std[0, 4] == pytest.approx(planned.off_diagonal_std, rel=0.12)
    assert exact[-1, -1] == pytest.approx(square)
    plan = preview(rows, ZCDP(0.1), planned, replicates=2)
    block, edge = planned.off_diagonal_std * 4, planned.off_diagonal_std * 2 / np.sqrt(square)  # R = 2
    assert plan.correlation_std == pytest.approx(np.hypot(block, edge**2) / 0.3**2, rel=0.1)


@pytest.mark.parametrize("guarantee", CASES)
def test_the_plan_has_the_attacker_of_the_release(guarantee):
    data = private()
    made = measured(data, guarantee)
    assert planned_trade_off(data.facts, guarantee) == accounting.trade_off_of((made.event,), guarantee)


def test_a_person_with_more_rows_costs_more_noise():
    one, three = (planned_noise(private(rows_per_person=k).facts, ZCDP(0.1), 500).scale for k in (1, 3))
    assert three == pytest.approx(3 * one, rel=1e-9)


@pytest.mark.parametrize("structure", list(STRUCTURES))
def test_the_invented_rows_have_the_structure_they_say(structure):
    """5,000 rows: an entry that is wrong by 0.08 lies four standard errors off."""
    wanted = Invention(200_000, structure, 0.6)
    assert np.linalg.eigvalsh(wanted.correlation(6))[0] > 0
    rows = table(6, 200_000, structure, 0.6)
    assert rows.covariance / 0.3**2 == pytest.approx(wanted.correlation(6), abs=0.08)
    law = planned_noise(rows.facts, ZCDP(1.0), 10)
    assert derive(rows.noisy(law, None)).covariance == pytest.approx(rows.covariance, abs=1e-6)


def test_answers_of_few_levels_fill_more_of_their_range():
    """A deviation of 1.1 on a scale from 1 to 5, and of 30 on one from 0 to 200; the sheet's slider moves both."""
    kinds = {
        "item": Kind("integer", 1, 5),
        "level": Kind("ordinal", values=tuple("12345")),
        "age": Kind("integer", 0, 200),
    }
    facts = PrivateDataset.from_rows(pd.DataFrame({"item": [1], "level": ["2"], "age": [3]}), kinds=kinds).facts
    for spread, few in ((0.3, 1.0), (0.15, 0.57)):
        stand = invented(facts, Invention(1000, spread=spread))
        found = np.std(np.asarray(stand.table._rows), axis=0)
        assert found == pytest.approx([few, few, 100 * spread], rel=0.08)


def test_the_chance_to_be_seen_is_that_of_a_pair_beyond_what_noise_reaches():
    """400 tables: a chance that is wrong by 0.1 lies four standard errors off."""
    distribution = planned_noise(private(d=6).facts, ZCDP(0.03), 3000)
    kept = []
    for k in range(400):
        drawn = derive(table(6, 3000, "blocks", 0.45, seed=k).noisy(distribution, 1, k))
        variances = np.diag(drawn.covariance)
        error = np.hypot(drawn.noise_std, np.sqrt(np.outer(variances, variances) / 3000))
        found = np.abs(drawn.noisy) > seen_from(6) * error
        kept.append([found[0, 1], found[0, 5]])
    plan = preview(table(6, 3000, "blocks", 0.45), ZCDP(0.03), distribution, replicates=1)
    assert np.mean(kept, axis=0) == pytest.approx([plan.survives(0.45), plan.survives(0.0)], abs=0.1)
    assert 0.3 < plan.survives(0.45) < 0.9  # where the test can see something


def test_visible_means_a_chance_of_eighty_percent():
    distribution = planned_noise(private(d=10).facts, ZCDP(0.5), 4000)
    plan = preview(table(10, 4000), ZCDP(0.5), distribution, replicates=1)
    assert plan.survives(plan.visible) == pytest.approx(0.8, abs=0.01)
    assert survival(0.3, 0.0, 0.0, 2.0) == 1.0
    assert survival(0.3, np.inf, 0.1, 2.0) == pytest.approx(2 * NormalDist().cdf(-2)), "nothing but noise"


@pytest.mark.parametrize("d", [2, 3, 20])
def test_without_correlations_a_pair_is_rarely_seen(d):
    """Also where sampling is most of the error: in one table of 20 any of its pairs, by the sum of their chances."""
    plan = preview(table(d, 4000, "independent"), ZCDP(1e3), planned_noise(private(d=d).facts, ZCDP(1e3), 4000))
    assert plan.correlation_std < plan.sampling_std / 10
    assert plan.survives(0.0) * d * (d - 1) / 2 == pytest.approx(0.05)


def test_more_privacy_means_a_larger_error():
    facts, rows = private(d=8).facts, table(8, 2000)
    errors = [preview(rows, ZCDP(r), planned_noise(facts, ZCDP(r), 2000)).error for r in (0.01, 0.1, 1.0)]
    assert errors == sorted(errors, reverse=True)
    assert preview(rows, ZCDP(1.0), planned_noise(facts, ZCDP(1.0), 2000)).clipped == 0.0


def test_the_smallest_level_brackets():
    assert smallest_level(lambda x: x >= 0.37) == pytest.approx(0.37, rel=0.02)
    assert smallest_level(lambda x: False) is None
    assert smallest_level(lambda x: True) == 1e-4
    assert with_level(ApproxDP(1.0, 1e-6), 2.0) == ApproxDP(2.0, 1e-6)
    assert with_level(ZCDP(1.0), 2.0) == ZCDP(2.0)


@pytest.mark.parametrize(("name", "value"), [("n", 1), ("structure", "?"), ("strength", 1.0), ("spread", 0.0)])
def test_a_table_that_cannot_be_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Invention(**({"n": 10} | {name: value}))


# --- the owner's view ---------------------------------------------------------------------------------------


def test_the_owner_sees_the_exact_answer_and_what_clipping_does():
    rng = np.random.default_rng(0)
    x = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 5000)
    x[:, 1] *= 10
    data = PrivateDataset.from_rows(x, bounds=[(-1, 1), (-100, 100)])
    look = owner_look(data, ZCDP(0.1), np.random.default_rng(1))
    assert look.raw == pytest.approx(np.corrcoef(x, rowvar=False))
    clipped = np.clip(x, [-1, -100], [1, 100])
    assert look.kept == pytest.approx(np.corrcoef(clipped, rowvar=False))
    assert look.clipped == pytest.approx([(np.abs(x[:, 0]) > 1).mean(), 0])
    assert look.bias > 0.1
    assert look.rows == 5000


def test_two_looks_are_two_draws_and_a_look_says_nothing_of_its_rows():
    data = private()
    one, other = (owner_look(data, ZCDP(0.1), np.random.default_rng(s)) for s in (1, 2))
    assert not np.array_equal(one.draw, other.draw)
    assert np.array_equal(one.raw, other.raw)
    assert "array" not in repr(one)


def test_the_owner_sees_the_rows_that_the_release_uses():
    x = np.array([[0.1, np.nan], [0.2, 0.3], [0.5, 0.9], [0.7, 0.2]])
    data = PrivateDataset.from_rows(x, bounds=[(0, 1)] * 2, n_public=False, missing="drop-row")
    assert owner_look(data, ZCDP(1.0), np.random.default_rng(0)).rows == 3
    filled = PrivateDataset.from_rows(x, bounds=[(0, 1)] * 2)
    look = owner_look(filled, ZCDP(1.0), np.random.default_rng(0))
    assert look.missing == pytest.approx([0, 0.25])
    assert look.raw == pytest.approx(np.corrcoef(np.nan_to_num(x, nan=0.5), rowvar=False))


def test_the_exact_answer_by_pairs_is_over_the_rows_that_have_both():
    rng = np.random.default_rng(4)
    x = rng.multivariate_normal([0.5] * 3, 0.02 * (np.eye(3) + 1), 400).clip(0.01, 0.99)
    x[rng.random(x.shape) < 0.2] = np.nan
    look = owner_look(PrivateDataset.from_rows(x, bounds=[(0, 1)] * 3, missing="pairs"), ZCDP(1.0), rng)
    assert look.kept == pytest.approx(look.raw, abs=1e-3)
    both = np.isfinite(x[:, 0]) & np.isfinite(x[:, 1])
    a, b = x[both, 0], x[both, 1]
    deviations = [np.nanstd(x[:, j]) for j in (0, 1)]
    assert look.raw[0, 1] == pytest.approx(np.cov(a, b, bias=True)[0, 1] / np.prod(deviations), rel=1e-6)
    assert look.raw[0, 1] > 0.4


def test_the_owner_sees_the_noise_of_a_table_whose_persons_have_several_rows():
    """As many persons as weigh, not as many rows: 300 with one row to nine. 60 draws tell a factor of 1.4."""
    rng = np.random.default_rng(5)
    ids = np.repeat(np.arange(300), rng.integers(1, 10, 300))
    x = rng.uniform(-1, 1, (len(ids), 3)) + 0.05 * (ids[:, None] % 7)
    data = PrivateDataset.from_rows(x, bounds=[(-2, 2)] * 3, persons=ids)
    looks = [owner_look(data, ZCDP(0.5), np.random.default_rng(s)) for s in range(60)]
    real = [read_sum(measured(data, ZCDP(0.5)), "joint") for _ in range(5)]
    noise = np.mean([one.distribution.off_diagonal_std for one in real]) * real[0].row_bound ** 2
    seen = np.std([one.draw[0, 1] for one in looks]) * np.prod(np.std(x[:, :2], axis=0) / 2)
    assert seen == pytest.approx(noise, rel=0.35)
    each = np.bincount(ids)[ids]
    weight = 1 / each
    assert looks[0].raw == pytest.approx(np.cov(x.T, aweights=weight, bias=True) / np.sqrt(np.outer(
        *[np.diag(np.cov(x.T, aweights=weight, bias=True))] * 2)))  # fmt: skip
    assert looks[0].bias < 1e-4, "nothing is clipped, so nothing changes"


@pytest.mark.parametrize("declared", [
    {"missing": "drop-row", "n_public": False}, {"missing": "drop-row", "n_public": False, "persons": True},
    {"missing": "pairs", "persons": True}, {"labels": True, "classes": ["a", "b"], "n_public": False},
], ids=str)  # fmt: skip
def test_the_weight_of_rows_is_what_the_noise_of_their_release_is_divided_by(declared):
    """Rows that are left out, several rows of a person, classes; a noisy count moves it by less than two per cent."""
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, (1500, 4))
    given = dict(declared)
    if "labels" in given:
        given["labels"] = np.where(x[:, 0] > 0, "a", np.where(x[:, 1] > 0, "b", "none"))
    if "persons" in given:
        given["persons"] = np.repeat(np.arange(300), 5)
    if "missing" in given:
        x[rng.random(x.shape) < 0.1] = np.nan
    data = PrivateDataset.from_rows(x, bounds=[(-1, 1)] * 4, **given)
    planned = planned_noise(data.facts, ZCDP(0.5), ExampleRows(data, 1500, "rows").weight)
    real = [read_sum(measured(data, ZCDP(0.5)), "joint").distribution.off_diagonal_std for _ in range(6)]
    assert planned.off_diagonal_std == pytest.approx(np.mean(real), rel=0.04)


def with_gaps(declared: dict) -> tuple[PrivateDataset, ExampleRows]:
    """A table of which a third of the cells of two columns is missing, and the table of the plan: all its rows."""
    rng = np.random.default_rng(8)
    x = 0.3 * (rng.standard_normal((4800, 4)) + rng.standard_normal((4800, 1)))
    gone = rng.random((4800, 2)) < 1 / 3
    given = dict(declared)
    times = given.pop("times", 1)
    if "labels" in given:
        given["labels"] = np.where(x[:, 3] > 0.2, "a", np.where(x[:, 3] < -0.2, "b", "none"))
    if given.pop("persons", False):
        given["persons"] = np.repeat(np.arange(1600), 3)
    x[:, :2][gone] = np.nan
    data = PrivateDataset.from_rows(times * x, bounds=[(-times, times)] * 4, **given)
    stand = ExampleRows.of_public(data, 1600 if "persons" in declared else 4800)
    return data, stand


@pytest.mark.parametrize("declared", [
    {"missing": "drop-row", "n_public": False}, {"missing": "typical"}, {"missing": "pairs"},
    {"missing": "typical", "row_bound_fraction": 0.4}, {"missing": "pairs", "persons": True},
    {"missing": "drop-row", "n_public": False, "persons": True},
    {"missing": "typical", "labels": True, "classes": ["a", "b"], "n_public": False},
], ids=str)  # fmt: skip
def test_the_planned_noise_on_a_correlation_is_that_of_the_release(declared):
    """A third of the cells of two columns is missing: a table planned on itself, beside three of its releases.

    A figure that forgets the rows left out (.44 of them count), the cells filled, the rows shortened or those without a
    listed class is wrong by a fifth at least.
    """
    data, stand = with_gaps(declared)
    x = data._rows
    law = noise_for(stand, ZCDP(0.5))
    plan = preview(stand, ZCDP(0.5), law, replicates=4)
    off, real, left = ~np.eye(4, dtype=bool), [], []
    whole = stand.correlation[off]
    for _ in range(3):
        found = derive(noisy_of(measured(data, ZCDP(0.5)))[1])
        spread = np.sqrt(np.diag(found.covariance))
        real.append(np.median((found.noise_std / np.outer(spread, spread))[off]))
        left.append(np.sum(whole * found.correlation[off]) / np.sum(whole**2))
    assert plan.correlation_std == pytest.approx(np.mean(real), rel=0.06)
    assert plan.correlation_ends[0] <= plan.correlation_std <= plan.correlation_ends[1]
    assert plan.fade == pytest.approx(np.mean(left), abs=0.1)  # five standard errors of persons, whose noise is largest
    noise, sampling, level = plan.correlation_std, plan.sampling_std, NormalDist().inv_cdf(1 - 0.025 / 6)
    left = (level + NormalDist().inv_cdf(0.8)) * np.hypot(noise, sampling)  # of the correlation, when released
    assert plan.visible * plan.fade == pytest.approx(left)
    there = 1 - stand.missing if data.facts.flagged else 1.0
    assert plan.survives(plan.visible) == pytest.approx(survival(left, noise, sampling, level, there))
    both = len(x) * (1 - np.isnan(x).mean()) ** 2 if declared.get("missing") == "pairs" else len(x)
    if declared.get("missing") == "drop-row":
        both = int(np.isfinite(x).all(axis=1).sum())
    if not {"persons", "labels"} & set(declared):  # of whom not each row is one that counts
        assert plan.sampling_std == pytest.approx(both**-0.5, rel=0.02)
    if declared == {"missing": "typical"}:  # both filled, one, none: 2/3, sqrt(2/3), 1 of the correlation
        share = np.array([2 / 3, 2 / 3, 1, 1])
        left = np.sqrt(np.outer(share, share))[off]
        assert plan.fade == pytest.approx(np.sum(whole**2 * left) / np.sum(whole**2), abs=0.03)


def test_a_rule_that_leaves_no_row_is_refused_with_the_reason():
    facts = private(d=10, n_public=False, missing="drop-row").facts
    stand = invented(facts, Invention(5000, missing=0.9))
    with pytest.raises(ValueError, match=r"No row counts .* another rule for\s+missing cells"):
        preview(stand, ZCDP(0.1), noise_for(stand, ZCDP(0.1)))


def test_the_exact_answer_stands_far_from_zero_and_with_few_cells():
    """Typing errors of eight digits leave the correlation, and 98 % of missing cells are no reason to show nothing."""
    rng = np.random.default_rng(7)
    x = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 4_000)
    look = owner_look(PrivateDataset.from_rows(x + 1e8, bounds=[(0, 1)] * 2), ZCDP(1.0), rng)
    assert look.raw == pytest.approx(np.corrcoef(x.T), abs=1e-6)
    x[rng.random(x.shape) < 0.98] = np.nan
    look = owner_look(PrivateDataset.from_rows(x, bounds=[(-5, 5)] * 2), ZCDP(1.0), rng)
    assert look.missing.min() > 0.95
    assert np.isfinite(look.kept).all()


# --- rows that are shortened --------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.2, 0.3])
def test_invented_rows_lose_what_shortening_takes(fraction):
    """Shortened one by one, as the release does; working units of bounds 0 and 1 are half a unit about 1/2."""
    facts = with_fraction(private(d=6).facts, fraction)
    rows = invented(facts, Invention(5_000))
    found = derive(rows.noisy(planned_noise(facts, ZCDP(1.0), 10), None)).covariance
    x = 2 * np.asarray(rows.table._rows) - 1
    length = np.linalg.norm(x, axis=1, keepdims=True)
    short = x * np.minimum(1, fraction * np.sqrt(6) / length)
    assert found == pytest.approx(np.cov(short.T, bias=True), abs=1e-5)
    assert np.linalg.norm(found) < 0.95 * np.linalg.norm(np.cov(x.T))
    assert rows.clipped == pytest.approx((length > fraction * np.sqrt(6)).mean())
    assert rows.covariance == pytest.approx(np.cov(x.T, bias=True), abs=1e-5)


@pytest.mark.parametrize("declared", [
    {"missing": "typical", "times": 3}, {"missing": "pairs"}, {"missing": "drop-row", "n_public": False},
    {"missing": "pairs", "persons": True}, {"missing": "typical", "labels": True, "classes": ["a", "b"]},
], ids=str)  # fmt: skip
def test_the_planned_error_is_that_of_the_release(declared):
    """400 releases of the table that stands in for itself; a plan of another matrix is wrong by half (ZCDP .005)."""
    data, stand = with_gaps(declared)
    guarantee, facts = ZCDP(0.005), data.facts
    plan = preview(stand, guarantee, noise_for(stand, guarantee), replicates=400)
    scale, sample = np.outer(facts.units.scale, facts.units.scale), stand.covariance
    request, found = usual_request(facts, guarantee), []
    for _ in range(400):  # of all rows, also where there are classes
        covariance = request.of_measured(read_sum(measured(data, guarantee), "joint"), facts).covariance / scale
        found.append(np.linalg.norm(covariance - sample) / np.linalg.norm(sample))
    se = np.std(found, ddof=1) * np.sqrt(2 / 400)
    assert abs(plan.error - np.mean(found)) < 4.5 * se
    assert se < 0.1 * plan.error, "else the test could not fail"


@pytest.mark.parametrize("guarantee", CASES)
@pytest.mark.parametrize("more", [{}, {"n_public": False}, {"missing": "pairs"}, {"rows_per_person": 2}])
def test_the_noise_of_a_plan_with_a_search_is_that_of_the_release_under_its_bound(guarantee, more):
    """Whatever bound the release finds; and the plan of a table that needs a twentieth of it is the better."""
    rows = np.random.default_rng(1).normal(0, 0.05, (5000, 12))
    data = PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * 12, **more)
    request = usual_request(data.facts, guarantee, search=True)
    noisy = measure_exactly(data, **vars(request.wanted))
    released = read_sum(noisy, "joint")
    assert request.noise(released.rows, noisy.facts) == released.distribution
    stands = ExampleRows.of_public(data, 5000)
    under, law = searched(stands, guarantee)
    assert under.facts.row_bound < data.facts.row_bound / 3
    assert under.clipped < 0.1
    plain = preview(stands, guarantee, noise_for(stands, guarantee), replicates=4)
    assert preview(under, guarantee, law, replicates=4).error < 0.7 * plain.error


def test_a_search_is_planned_for_ten_columns_and_more_only():
    for d in (9, 10):
        facts = private(d=d).facts
        assert bool(usual_request(facts, ZCDP(0.1), search=True).wanted.search) == (d == 10)
        assert not usual_request(facts, ZCDP(0.1)).wanted.search
