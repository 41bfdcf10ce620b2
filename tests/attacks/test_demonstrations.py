"""Every habit is broken and every repair holds, by closed forms and by attacks that do not use them.

Simulated shares come from fixed seeds; each test says how many attacks it made and what that can see.
"""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from privcov.attacks import catalogue
from privcov.attacks import demonstrations as shown
from privcov.attacks.demonstrations import DEMONSTRATIONS
from privcov.attacks.demonstrations_cases import CLAIM, ROWS, GaussianCase
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP
from privcov.core.randomness import stream

KEYS = [d.key for d in DEMONSTRATIONS]
GAUSSIAN = [d for d in DEMONSTRATIONS if isinstance(d.case, GaussianCase)]
# By how much the attacker is right more often than the claim permits, at the lever's default.
MARGINS = {"longest-row": 0.35, "sample-mean": 0.15, "raw-tuning": 0.35, "re-runs": 0.2, "outside": 0.3}


@pytest.mark.parametrize("key", MARGINS)
def test_the_attack_succeeds(key):
    """8,000 attacks (200 for tuning): the interval is at most 0.02 wide on either side."""
    found = shown.run(key)
    assert found.done.success > found.done.limit + MARGINS[key]
    assert found.done.low > found.done.limit
    assert found.done.refutes_claim
    assert found.done.limit == accounting.attacker_success(CLAIM)


@pytest.mark.parametrize("key", KEYS)
def test_the_repair_holds(key):
    """The same number of attacks, and over the whole lever by the closed form."""
    found = shown.run(key)
    assert found.repaired.success <= found.repaired.limit
    assert found.repaired.low <= found.repaired.limit
    assert not found.repaired.refutes_claim
    if not shown.find(key).certain:
        curve = shown.curve(key)
        assert (curve.repaired <= curve.permitted).all()
        assert found.repaired.limit == accounting.attacker_success(CLAIM)


@pytest.mark.parametrize("made", GAUSSIAN, ids=lambda d: d.key)
def test_simulated_attacks_agree_with_the_closed_form(made):
    """40,000 attacks (20,000 for re-runs): five standard deviations are at most 0.018."""
    options = made.control.options
    for value in (options[0], options[len(options) // 3], made.control.default):
        for side in made.case.run(value, 20_000, 5):
            assert side.exact
            assert side.hits / side.guesses == pytest.approx(side.success, abs=2.5 / math.sqrt(side.guesses))
            assert side.low <= side.hits / side.guesses <= side.high


@pytest.mark.parametrize("made", GAUSSIAN, ids=lambda d: d.key)
def test_the_distance_is_the_mahalanobis_distance_of_the_noise_that_is_drawn(made):
    """Against the sample covariance of 20,000 draws of the law itself, read as vectors: within 5 %."""
    for attack in made.case.attacks(made.control.default):
        upper = np.triu_indices(attack.distribution.size)
        rng = stream(1, "law")
        draws = np.array([attack.distribution.draw(rng)[upper] for _ in range(20_000)])
        moving = draws.std(axis=0) > 0
        gap = (attack.first - attack.second)[upper]
        assert not gap[~moving].any()
        literal = math.sqrt(gap[moving] @ np.linalg.solve(np.cov(draws[:, moving].T), gap[moving]))
        assert attack.mu == pytest.approx(literal * math.sqrt(attack.looks), rel=0.05)


@pytest.mark.parametrize("key", KEYS)
def test_the_curve_is_that_of_the_demonstration(key):
    """Its own closed forms at every position, and its own limit."""
    case, curve = shown.find(key).case, shown.curve(key)
    assert tuple(curve.values) == shown.find(key).control.options
    for value, done, repaired, permitted in zip(curve.values, curve.done, curve.repaired, curve.permitted, strict=True):
        assert (done, repaired) == case.exact(value)
        assert permitted == case.limit(value)


@pytest.mark.parametrize(
    ("success", "exact", "low", "limit", "broken"),
    [(0.8, True, 0.6, 0.7, True), (0.7, True, 0.8, 0.7, False), (0.8, False, 0.6, 0.7, False),
     (0.8, False, 0.75, 0.7, True), (0.8, False, 0.7, 0.7, False)],
)  # fmt: skip
def test_broken_is_beyond_what_chance_explains(success, exact, low, limit, broken):
    """The closed form where there is one; else the lower end of the interval."""
    side = dataclasses.replace(
        shown.run("outside", count=100).done, success=success, exact=exact, low=low, high=0.9, limit=limit
    )
    assert side.refutes_claim == broken
    assert not side.worthless
    assert not dataclasses.replace(side, limit=math.nextafter(1.0, 0.0)).worthless
    assert dataclasses.replace(side, limit=1.0).worthless


@pytest.mark.parametrize("made", GAUSSIAN, ids=lambda d: d.key)
def test_a_claim_is_exceeded_where_the_two_tables_need_more_rho_than_was_claimed(made):
    """rho spent against rho claimed, at every position; a broken claim is an exceeded one."""
    for value in made.control.options:
        done, repaired = made.case.attacks(value)
        sides = made.case.run(value, 100, 1)
        assert [side.rho for side in sides] == [done.rho, repaired.rho]
        assert sides[0].exceeded == (done.rho > CLAIM.rho * (1 + 1e-9))
        assert sides[0].exceeded or not sides[0].refutes_claim
        assert not sides[1].exceeded
    weak = shown.find("sample-mean").case.run(0.1, 100, 1)[0]
    assert weak.exceeded
    assert not weak.refutes_claim, "the attacker alone would not show it"
    assert shown.find("re-runs").case.run(2.0, 100, 1)[0].rho == pytest.approx(2 * CLAIM.rho)


@pytest.mark.parametrize("key", [d.key for d in GAUSSIAN])
def test_more_of_the_lever_never_helps_the_victim(key):
    assert (np.diff(shown.curve(key).done) >= -1e-12).all()


def test_draws_add_up_in_rho_and_the_ledger_charges_them():
    case = shown.find("re-runs").case
    for k in (1.0, 20.0, 500.0):
        done, repaired = case.attacks(k)
        assert done.rho == pytest.approx(k * CLAIM.rho, rel=1e-9)
        assert repaired.rho == pytest.approx(CLAIM.rho, rel=1e-9)
        assert done.success <= case.charged(k)


def test_the_answers_before_noise_are_what_the_habits_compute():
    """Literal covariances of literal tables."""
    done, _ = shown.find("sample-mean").case.attacks(0.6)
    rows = np.tile([-0.6, 0.0], (ROWS, 1))
    assert done.second == pytest.approx(np.cov(rows.T, bias=True), abs=1e-12)
    rows[-1] = (1.0, 0.0)
    assert done.first == pytest.approx(np.cov(rows.T, bias=True), abs=1e-12)
    edge = shown.find("sample-mean").case.attacks(1.0)[0]
    assert np.linalg.norm(edge.difference) == pytest.approx(catalogue.by_the_sample_mean(ROWS), rel=1e-9)

    done, _ = shown.find("longest-row").case.attacks(5.0)
    rows = np.tile(np.eye(2), (ROWS // 2, 1))
    assert done.second == pytest.approx(rows.T @ rows / ROWS)
    rows[-1] = (5.0, 0.0)
    assert done.first == pytest.approx(rows.T @ rows / 25 / ROWS)


def test_tuning_on_rows_gives_the_row_away_whatever_the_folds():
    """Five assignments to folds at every position of the lever."""
    made = shown.find("raw-tuning")
    for value in made.control.options:
        first, second = made.case.draw_gammas(value, 5, seed=9)
        assert (first > 0).all()
        assert (second == 0).all()


def test_a_random_row_in_the_clear_is_exactly_what_delta_one_over_n_permits():
    """All outputs of a table of n rows, enumerated: two neighbours differ in total variation by 1/n, no more."""
    for n in (2, 5, 50):
        tables = [[(i, 0) for i in range(n)], [(i, int(i == 3 % n)) for i in range(n)]]
        chances = [dict.fromkeys(table, 1 / n) for table in tables]
        outputs = set(itertools.chain(*tables))
        apart = sum(max(chances[0].get(o, 0) - chances[1].get(o, 0), 0) for o in outputs)
        assert apart == pytest.approx(1 / n)
        assert (1 + apart) / 2 == pytest.approx(accounting.attacker_success(ApproxDP(1e-300, 1 / n)), rel=1e-12)


@pytest.mark.parametrize("key", KEYS)
def test_every_position_of_the_lever_runs_and_the_seed_decides(key):
    made = shown.find(key)
    for value in {made.control.options[0], made.control.options[-1]}:
        one, two = (shown.run(key, value, seed=3, count=100) for _ in range(2))
        for a, b in ((one.done, two.done), (one.repaired, two.repaired)):
            assert a.hits == b.hits
            assert 0.5 <= a.success <= 1
            assert a.histogram.first.sum() == pytest.approx(1)
            assert a.finding.endswith(".")
    assert made.control.default in made.control.options
    assert list(made.control.options) == sorted(made.control.options)


def test_what_is_not_offered_is_refused():
    with pytest.raises(ValueError, match="demonstration must be one of"):
        shown.run("nothing")
    with pytest.raises(ValueError, match=r"must be one of 1, 1\.25"):
        shown.run("outside", 1.3)
    with pytest.raises(ValueError, match="count"):
        shown.run("outside", count=1)
