"""Broken on purpose: each mutant must make the checker that guards against it fail. A surviving mutant is a failure."""

import dataclasses
import math

import numpy as np
import pytest

import privcov
from privcov.attacks.raw_tuning import chosen_on_raw_rows
from privcov.estimators.papers.dp_thresholding import DpThresholding
from privcov.ledger import Ledger
from privcov.measurements.exact import integer_gram
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact import reading as exact_reading
from privcov.releases import private as release_steps
from privcov.releases.public import build_method
from tests.privacy import checkers
from tests.privacy.test_replay import tables

real = {
    name: getattr(module, name)
    for module, name in [
        (exact_noise, "add_discrete_gaussian"),
        (exact_noise, "add_discrete_laplace"),
        (exact_noise, "add_wishart_difference"),
        (exact_noise, "add_coupled_wishart"),
        (exact_moment, "_noisy"),
        (exact_moment, "_scale"),
        (exact_moment, "planned_event"),
        (exact_moment, "noiseless_gram"),
        (exact_reading, "_over"),
        (integer_gram, "integer_rows"),
    ]
}

DRAWN = ("add_discrete_gaussian", "add_discrete_laplace", "add_wishart_difference", "add_coupled_wishart")


@pytest.mark.parametrize("shape", list(checkers.SHARES))
def test_half_the_noise(shape, monkeypatch):
    for name in DRAWN:
        monkeypatch.setattr(exact_noise, name, lambda values, scale, name=name: real[name](values, scale / 2))
    with pytest.raises(AssertionError, match="another scale"):
        checkers.check_noise_size(shape)


@pytest.mark.parametrize("shape", list(checkers.SHARES))
def test_no_clip(shape, monkeypatch):
    monkeypatch.setattr(
        integer_gram, "integer_rows", lambda y, bound, most, left=None: np.trunc(y / bound * 2**20).astype(np.int64)
    )
    long, short = tables(2, "flat", "zero")
    longer = dataclasses.replace(long, _rows=long._rows * 3)
    short = dataclasses.replace(short, _rows=np.vstack([longer._rows[:-1], np.zeros((1, 2))]))
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(longer, short, shape, monkeypatch)


def test_clip_after_use(monkeypatch):
    """The rows are clipped, and the sum is made of the rows as they came."""

    def wrong(y, bound, most, left=None):
        real["integer_rows"](y, bound, most)
        return np.trunc(np.clip(y, -50, 50) / bound * 2**20).astype(np.int64)

    monkeypatch.setattr(integer_gram, "integer_rows", wrong)
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*tables(3, "extreme", "zero"), "isotropic", monkeypatch)


def test_asymmetric_output(monkeypatch):
    def wrong(*measured):
        total, sums = real["_noisy"](*measured)
        return total + np.triu(np.ones_like(total), 1), sums

    monkeypatch.setattr(exact_moment, "_noisy", wrong)
    with pytest.raises(AssertionError):
        checkers.check_structure(tables(3, "axis", "flat")[0], "isotropic")


@pytest.mark.parametrize("off", [-1, 1])
def test_wrong_n(off, monkeypatch):
    monkeypatch.setattr(exact_reading, "_over", lambda whole, divisor, rows: real["_over"](whole, divisor, rows + off))
    rows = np.random.default_rng(5).normal(size=(30, 2)) / 9
    z = np.hstack([rows, np.full((30, 1), np.sqrt(0.5))])
    with pytest.raises(AssertionError):
        checkers.check_unbiased(privcov.PrivateDataset.from_rows(rows, row_bound=1.0), z.T @ z / 30, monkeypatch)


@pytest.mark.parametrize("shape", list(checkers.SHARES))
def test_the_sensitivity_of_one_column_taken_for_many(shape, monkeypatch):
    """As if a replaced row only left: 1/n in place of sqrt(2)/n or 2/n."""
    bound, other = exact_moment.norm_bound, {"free-groups": "isotropic"}
    small = lambda facts, *a: bound(dataclasses.replace(facts, n=None), *a)  # noqa: E731
    monkeypatch.setattr(exact_moment, "norm_bound", lambda f, s, *a: small(f, other.get(s, s), *a))
    d = 12 if shape == "wishart-difference" else 2  # fewer columns have the coupled law, whose bound is this one
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*tables(d, "axis", "other axis"), shape, monkeypatch)


def test_half_the_bound_of_coupled_noise(monkeypatch):
    bound = exact_moment.norm_bound
    monkeypatch.setattr(exact_moment, "norm_bound", lambda *a: bound(*a) // 4)
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*tables(2, "axis", "other axis"), "wishart-difference", monkeypatch)


def test_coupled_noise_where_the_number_of_rows_is_hidden():
    """The coupled law has no bound there, so nothing can be measured with it."""
    facts = tables(2, "axis", "zero", n_public=False)[0].facts
    assert exact_moment.settle_shape(facts, "coupled-wishart", 1) == "wishart-difference"
    with pytest.raises(KeyError):
        exact_moment.norm_bound(facts, "coupled-wishart", 1)


def test_rows_of_a_person_forgotten(monkeypatch):
    bound = exact_moment.norm_bound
    one = lambda facts, *a: bound(dataclasses.replace(facts, rows_per_person=1), *a)  # noqa: E731
    monkeypatch.setattr(exact_moment, "norm_bound", one)
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*tables(2, "axis", "other axis", k=3), "isotropic", monkeypatch)


def test_too_little_off_the_diagonal(monkeypatch):
    honest = exact_moment.scale_over
    monkeypatch.setattr(exact_moment, "scale_over", lambda scale, k: honest(scale, 2 * k if k == 2 else k))
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*tables(2, "flat", "signs"), "isotropic", monkeypatch)


def test_free_groups_where_they_are_not_free(monkeypatch):
    monkeypatch.setattr(exact_moment, "settle_shape", lambda facts, shape, n_anchors: "free-groups")
    bound = exact_moment.norm_bound
    monkeypatch.setattr(exact_moment, "norm_bound", lambda f, s, *a: bound(f, "isotropic", *a))
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*tables(2, "axis", "zero", n_public=False), "isotropic", monkeypatch)


@pytest.mark.parametrize("shape", list(checkers.SHARES))
def test_a_seed_used_again(shape, monkeypatch):
    def seeded(values, scale):
        noise = np.random.default_rng(0).normal(size=values.shape) * scale
        return values + np.round(noise + noise.T if values.ndim == 2 else noise).astype(np.int64)

    for name in DRAWN:
        monkeypatch.setattr(exact_noise, name, seeded)
    with pytest.raises(AssertionError, match="share their noise"):
        checkers.check_fresh_noise(shape)


def test_a_threshold_chosen_from_raw_rows(monkeypatch):
    method = build_method("dp-thresholding", {})
    facts = tables(3, "axis", "flat")[0].facts
    checkers.check_only_measures(method, facts, privcov.ZCDP(1.0))
    honest = DpThresholding.finish

    def tuned(self, ask, measured):
        chosen_on_raw_rows(ask.dataset, ask.rng)
        return honest(self, ask, measured)

    monkeypatch.setattr(DpThresholding, "finish", tuned)
    with pytest.raises(AssertionError, match="wants more"):
        checkers.check_only_measures(method, facts, privcov.ZCDP(1.0))


def test_paid_after_the_measurement(tmp_path, monkeypatch):
    checkers.check_spent_first(Ledger(tmp_path / "right.sqlite"), monkeypatch)
    honest = release_steps._reserve

    def late(plan):
        noisy = release_steps._measure(plan)
        monkeypatch.setattr(release_steps, "_measure", lambda plan: noisy)
        return honest(plan)

    monkeypatch.setattr(release_steps, "_reserve", late)
    with pytest.raises(AssertionError, match="before it was paid"):
        checkers.check_spent_first(Ledger(tmp_path / "wrong.sqlite"), monkeypatch)


@pytest.mark.parametrize("shape", list(checkers.SHARES))
def test_a_statement_of_another_scale(shape, monkeypatch):
    def boast(*args, **how):
        event = real["planned_event"](*args, **how)
        return dataclasses.replace(event, scale=event.scale * math.sqrt(2))

    def quiet(gram, d, shape, scale, groups):
        return real["_noisy"](gram, d, shape, scale / math.sqrt(2), groups)

    monkeypatch.setattr(exact_moment, "planned_event", boast)
    monkeypatch.setattr(exact_moment, "_noisy", quiet)
    with pytest.raises(AssertionError, match="smaller than the event says"):
        checkers.check_replay(*tables(2, "axis", "other axis"), shape, monkeypatch)


def test_a_way_that_depends_on_the_rows(monkeypatch):
    def impatient(gram, d, shape, scale, groups):
        return real["_noisy"](gram, d, shape, scale if gram[0, 0] else scale * 1.5, groups)

    monkeypatch.setattr(exact_moment, "_noisy", impatient)
    one, other = tables(2, "axis", "zero")
    one, other = (dataclasses.replace(p, _rows=p._rows[-1:]) for p in (one, other))
    with pytest.raises(AssertionError, match="depends on the rows"):
        checkers.check_replay(one, other, "isotropic", monkeypatch)
