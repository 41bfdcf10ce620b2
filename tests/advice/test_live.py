"""An answer measured on its rows: the number is that of a slow loop, and the level is the smallest that is enough."""

import dataclasses

import numpy as np
import pytest
from scipy.special import stdtrit

import privcov
from privcov.advice import ask, live
from privcov.advice.answer import Question
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, PureDP, ZCDP
from privcov.releasing.run import run_method

KINDS = [ZCDP(0.1), ApproxDP(1.0, 1e-6), PureDP(1.0)]


def rows_of(key: str = "ar1-covariance", **sizes):
    source = SOURCES.get(key).cls(**sizes)
    return lambda r: make_dataset(source, seed=0, repeat=r)


def literal(method: str, rows, guarantee, releases: int, draws: int) -> np.ndarray:
    made = METHODS.get(method).cls()
    found = []
    for r in range(releases):
        data = rows(r % draws)
        rel = run_method(made, data, guarantee, seed=0, repeat=r)
        truth = data.sample_covariance if data.truth is None else data.truth.covariance
        found.append(np.linalg.norm(rel.covariance - truth) / np.linalg.norm(truth))
    return np.array(found)


@pytest.mark.parametrize("guarantee", KINDS, ids=str)
def test_how_far_is_the_mean_and_the_deviation_of_a_slow_loop(guarantee):
    rows = rows_of(n=800, d=6)
    stored = ask.how_far(Question(800, 6, guarantee, structure="fading", mean_known=True))
    found = live.measured(stored, rows, releases=9, draws=4)
    errors = literal(stored.line.key, rows, guarantee, 9, 4)
    assert found.error == pytest.approx(errors.mean(), rel=1e-9)
    assert found.spread == pytest.approx(errors.std(ddof=1), rel=1e-9)
    assert (found.releases, found.draws, found.line.key) == (9, 4, stored.line.key)


def test_the_curve_is_the_same_for_every_level_and_goes_through_the_answer():
    rows = rows_of(n=800, d=6)
    curves = []
    for rho in (0.1, 0.37):
        stored = ask.how_far(Question(800, 6, ZCDP(rho), structure="fading", mean_known=True))
        curves.append(live.curve_of(stored, rows))
        found = live.with_curve(live.measured(stored, rows, releases=9, draws=4), curves[-1])
        levels = [level for level, _ in found.curve]
        assert levels == sorted(levels)
        assert dict(found.curve)[rho] == found.error
        beside = {level for level, _ in curves[-1]} - set(levels)
        assert all(rho / live.APART < level < rho * live.APART for level in beside)
    assert curves[0] == curves[1]
    assert len(curves[0]) == live.POINTS
    for level, error in curves[0][::4]:
        errors = literal("auto-cov", rows, ZCDP(level), live.SURELY, live.SURELY)
        assert error == pytest.approx(errors.mean(), rel=1e-9)


@pytest.mark.parametrize("guarantee", KINDS, ids=str)
@pytest.mark.parametrize("wanted", [0.2, 0.4])
def test_the_level_is_the_smallest_that_is_enough(guarantee, wanted):
    rows = rows_of(n=2000, d=6)
    stored = ask.which_level(Question(2000, 6, guarantee, structure="fading", mean_known=True), wanted)
    found = live.measured(stored, rows, releases=20, draws=20)
    assert found.reached
    assert found.error <= wanted
    if found.least:
        return
    for share, enough in ((1.0, True), (0.95, False)):
        there = privcov.privacy.with_level(guarantee, share * found.level)
        assert (literal(found.line.key, rows, there, 20, 20).mean() <= wanted) == enough


def test_a_wrong_stored_level_does_not_matter():
    rows = rows_of(n=2000, d=6)
    stored = ask.which_level(Question(2000, 6, ZCDP(0.1), structure="fading", mean_known=True), 0.3)
    levels = [
        live.measured(dataclasses.replace(stored, level=level), rows, releases=20, draws=20).level
        for level in (stored.level, 1e-5, 10.0)
    ]
    assert max(levels) <= 1.03 * min(levels)


def test_an_error_below_that_of_sampling_is_not_reached_and_the_nearest_is_said():
    stored = ask.which_level(Question(300, 6, ZCDP(0.1), structure="fading", mean_known=True), 0.01)
    found = live.measured(stored, rows_of(n=300, d=6), releases=4, draws=4)
    assert not found.reached
    assert ask.sentence(found).startswith("No rho up to 10, the largest measured, gives 1 % error. ")
    few = dataclasses.replace(found, error=0.0101, spread=0.001, standard_error=0.0005)
    assert "4 releases do not tell" in ask.sentence(few)
    assert "No rho" not in ask.sentence(few)


def test_about_is_said_of_a_mean_that_few_releases_leave_open():
    stored = ask.how_far(Question(5000, 40, ZCDP(0.1), structure="fading", mean_known=True))
    for spread, about in ((0.02, False), (0.2, True)):
        found = dataclasses.replace(stored, error=0.2, spread=spread, standard_error=spread / 4, releases=16, draws=16)
        assert ("about" in ask.sentence(found)) is about


def test_of_levels_that_are_as_near_the_smallest_is_said():
    """Within two per cent of the smallest error, which is at the end; a level just beyond that is passed over."""

    class Runs:
        def __init__(self) -> None:
            self.guarantee, self.seen = ZCDP(0.1), {}

        def mean(self, level: float) -> float:
            return self.seen.setdefault(level, 0.103 if level < 0.5 else 0.1019 if level < 9 else 0.1)

    level, least = live._smallest(Runs(), 0.1, 0.05)
    assert not least
    assert 0.5 <= level < 0.5 * live.STEP


def test_the_standard_error_is_that_of_releases_or_of_tables_whichever_is_larger():
    """Beside little noise four tables differ more than the releases of each; Student's factor is for so few."""
    rows, few = rows_of(n=300, d=3), stdtrit(3, 0.975) / stdtrit(np.inf, 0.975)
    stored = ask.how_far(Question(300, 3, ZCDP(10.0), structure="fading", mean_known=True))
    found = live.measured(stored, rows, releases=40, draws=4)
    errors = literal(stored.line.key, rows, ZCDP(10.0), 40, 4)
    of_tables = few * np.std(errors.reshape(-1, 4).mean(axis=0), ddof=1) / 2
    assert of_tables > np.std(errors, ddof=1) / 40**0.5
    assert found.standard_error == pytest.approx(of_tables, rel=1e-9)
    equal = np.repeat([1.0, 3.0, 2.0], 4)  # the same mean in every table
    assert live._standard_error(equal, 4) == pytest.approx(np.std(equal, ddof=1) / 12**0.5)
    assert live._standard_error(equal, 1) == pytest.approx(np.std(equal, ddof=1) / 12**0.5)


def test_releases_end_where_the_mean_is_sure_or_as_sure_as_the_tables_can_make_it(monkeypatch):
    """Three tables that are apart: more releases do not help where there is no room for more tables."""
    stored = ask.how_far(Question(2000, 20, ZCDP(10.0), structure="fading", mean_known=True))
    runs, rng = live._Runs(stored, rows_of(n=2000, d=20), 0, 0, 0, lambda: False), np.random.default_rng(0)
    runs.tables = [rows_of(n=2000, d=20)(0)] * 3
    apart, noise = np.tile([0.9, 1.0, 1.1], 20), rng.normal(0, 0.2, 60)
    assert runs.enough(1 + 0.01 * noise)
    assert not runs.enough(1 + 0.01 * noise[: live.SURELY - 1])
    assert not runs.enough(1 + noise)
    assert not runs.enough(apart + 0.01 * noise)
    monkeypatch.setattr(live, "CELLS", 3 * 2000 * 20)
    assert runs.enough(apart + 0.01 * noise)
    assert not runs.enough(apart + noise)
    found = live.measured(stored, rows_of(n=2000, d=20))
    assert found.draws == 3
    assert live.SURELY <= found.releases < live.MOST


def test_a_table_is_compared_with_its_own_sample():
    data = privcov.source("wine")
    stored = ask.how_far(Question(data.n, data.d, ZCDP(1.0)))
    found = live.measured(stored, lambda _: data, releases=5, draws=1)
    rels = [run_method(METHODS.get(stored.line.key).cls(), data, ZCDP(1.0), seed=0, repeat=r) for r in range(5)]
    errors = [privcov.error(rel, data, relative=True, against="sample") for rel in rels]
    assert found.error == pytest.approx(np.mean(errors))


def test_it_takes_a_few_releases_at_least_and_a_hundred_at_most_and_is_stopped():
    stored = ask.how_far(Question(300, 3, ZCDP(1.0), structure="fading", mean_known=True))
    found = live.measured(stored, rows_of(n=300, d=3))
    assert live.FEWEST <= found.releases <= live.MOST
    with pytest.raises(ValueError, match=r"Stopped\."):
        live.measured(stored, rows_of(n=300, d=3), stop=lambda: True)


def test_what_would_change_it_fits_what_was_measured():
    """Where the evidence is far off, half of the measured error needs a larger level than the one in hand."""
    question = Question(20_000, 200, PureDP(2.0), structure="fading", mean_known=True)
    stored = ask.how_far(question)
    measured = dataclasses.replace(stored, error=2.2 * stored.error, releases=3, draws=3)
    (said,) = ask.changed(measured)
    (same,) = ask.changed(stored)
    assert said == same
    level = float(said.split("epsilon = ")[1].split()[0])
    assert level > 2.0


def test_a_measured_error_that_rises_again_is_said_with_its_level():
    """A rise that a few releases may be wrong about says nothing."""
    question = Question(1_000, 40, ApproxDP(4.0, 1e-6), "covariance", "fading", mean_known=True)
    reply = ask.how_far(question)
    risen = dataclasses.replace(reply, curve=((0.4, 0.2), (4.0, 0.085), (10.0, 0.105)), releases=60)
    assert any("Beyond about epsilon = 4 the error rises" in note for note in ask.rising(risen))
    fallen = dataclasses.replace(reply, curve=((0.4, 0.2), (4.0, 0.085), (10.0, 0.09)), releases=60)
    assert ask.rising(fallen) == ()
