"""What Plan recommends: better on rows it has not seen, nothing where nothing helps, the best weights; and a series."""

import dataclasses
import math

import numpy as np
import pytest

from privcov import PrivateDataset, accounting
from privcov.measurements.exact_moment import planned_event
from privcov.owner.choices import choices, weighed
from privcov.owner.preview import after_norms, planned_noise, preview, with_level
from privcov.owner.series import series
from privcov.owner.stand_in import StandIn
from privcov.owner.twin import Twin
from privcov.privacy import ApproxDP, NoPrivacy, PureDP, ZCDP

GUARANTEE = ZCDP(0.1)


def rows(seed: int, n: int = 4_000) -> np.ndarray:
    """Four columns that use much of their range and four that use little of it, all moving together."""
    rng = np.random.default_rng(seed)
    z = np.sqrt(0.5) * rng.standard_normal((n, 1)) + np.sqrt(0.5) * rng.standard_normal((n, 8))
    return z * np.repeat([0.3, 0.06], 4)


def table(cells: np.ndarray, **declared) -> PrivateDataset:
    return PrivateDataset.from_rows(cells, bounds=[(-1, 1)] * cells.shape[1], name="t", **declared)


def after(found, cells: np.ndarray, seed: int) -> float:
    """The error of other rows under the facts of a choice, with other noise."""
    stand = StandIn(table(cells), len(cells), "rows").under(found)
    return preview(
        stand, GUARANTEE, planned_noise(found, GUARANTEE, "isotropic", len(cells)), seed=seed
    ).correlation_error


def test_what_is_recommended_helps_rows_that_were_not_seen():
    """Each choice leaves at most a quarter more than it promises, of other rows with other noise (16 draws)."""
    last = StandIn.of_public(table(rows(1)), 4_000)
    found = choices(last, last.facts, GUARANTEE, "isotropic", weigh=True)
    assert [one.name for one in found] == ["row_bound_fraction", "weight"]
    assert found[0].value < 0.6
    weights = found[1].value
    assert min(weights) == 1
    assert np.mean(weights[4:]) / np.mean(weights[:4]) == pytest.approx(np.sqrt(5), rel=0.1)
    errors = [after(one, rows(2), seed=7) for one in (last.facts, *(one.facts for one in found))]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.35 * errors[0]
    for one, error in zip(found, errors[1:], strict=True):
        assert one.error == pytest.approx(error, rel=0.25)
        assert one.error < 0.95 * one.before
        assert one.why.endswith(".")


def test_the_weights_are_the_best():
    """The sum of squared noise over all pairs, (sum c^2)^2 (sum 1/(c s)^2)^2, at 300 other weights nearby."""
    stand = StandIn.of_public(table(rows(1)), 4_000)
    found = choices(stand, stand.facts, GUARANTEE, "isotropic", weigh=True)[-1]
    s, c, rng = np.sqrt(np.diag(stand.covariance)), np.array(found.value), np.random.default_rng(0)

    def noise(c: np.ndarray) -> float:
        return float(np.sum(c**2) * np.sum(1 / (c * s) ** 2))

    assert all(noise(c * np.exp(0.3 * rng.standard_normal(8))) > 0.999 * noise(c) for _ in range(300))
    assert noise(np.ones(8)) > 1.4 * noise(c)
    heavy = weighed(stand.facts, found.value)
    assert heavy.units.longest == pytest.approx(np.sqrt(np.sum(c**2)))
    assert heavy.scale == pytest.approx(1 / c)


def test_nothing_is_recommended_where_nothing_helps():
    """Rows in corners: to shorten them takes as much of the signal as of the noise, and no cell is missing."""
    rng = np.random.default_rng(3)
    signs = np.where(rng.random((4_000, 1)) < 0.7, 1, -1) * np.where(rng.random((4_000, 5)) < 0.8, 1.0, -1.0)
    stand = StandIn.of_public(table(signs), 4_000)
    assert choices(stand, stand.facts, ZCDP(0.5), "isotropic", weigh=True) == []


@pytest.mark.parametrize(("missing", "names"), [(0.3, True), (0.0, False)])
def test_missing_cells_are_to_be_measured_where_there_are_many(missing, names):
    facts = table(rows(1)).facts
    twin = Twin(8, 40_000, "factor", 0.5, 0.3, facts.row_bound, missing=missing)
    found = choices(twin, dataclasses.replace(facts, n=40_000), ZCDP(0.5), "isotropic")
    assert ("missing" in [one.name for one in found]) is names
    if names:
        assert found[-1].error < 0.5 * found[-1].before


def test_counts_by_length_are_named_where_no_public_share_is_as_good(monkeypatch):
    """With one public share to try, which is too small, the counts find a better one."""
    monkeypatch.setattr("privcov.owner.choices.FRACTIONS", (1.0, 0.02))
    twin = Twin(8, 40_000, "factor", 0.5, 0.1, math.sqrt(8))
    facts = dataclasses.replace(table(rows(1)).facts, n=40_000)
    (one,) = choices(twin, facts, ZCDP(0.02), "isotropic")
    assert one.name == "norm_budget"
    under, chosen, rest = after_norms(twin, facts, ZCDP(0.02), one.value)
    noise = planned_noise(chosen, rest, "isotropic", twin.n)
    assert one.error == preview(under, ZCDP(0.02), noise, replicates=4).correlation_error
    assert one.error < 0.5 * one.before


# --- a series -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guarantee", "shape", "noise"),
    [
        (ZCDP(0.1), "isotropic", math.sqrt(12)),
        (ApproxDP(1.0, 1e-6), "isotropic", math.sqrt(12)),
        (PureDP(1.0), "laplace", 12),
        (PureDP(1.0), "wishart-difference", 12),
    ],
)
def test_a_series_adds_up_and_its_share_is_the_largest(guarantee, shape, noise):
    facts = table(rows(1, 1_000)).facts
    cost = series(facts, guarantee, shape, 1_000, 12)

    def within(level: float) -> bool:
        each = with_level(guarantee, level)
        events = (planned_event(facts, each, centre="joint", shape=shape),) * 12
        return accounting.covers(guarantee, accounting.compose(events, guarantee))

    level = cost.share.rho if isinstance(guarantee, ZCDP) else cost.share.epsilon
    assert within(level)
    assert not within(level * 1.0001)
    assert cost.noise == pytest.approx(noise, rel=1e-4)
    assert cost.pooled == pytest.approx(noise / math.sqrt(12), rel=1e-4)
    assert len(cost.events) == 12
    assert accounting.attacker_success(cost.claim) > accounting.attacker_success(
        accounting.trade_off_of(cost.events[:1], guarantee)
    )
    if not isinstance(guarantee, ApproxDP):
        total = cost.together.rho if isinstance(guarantee, ZCDP) else cost.together.epsilon
        assert total == pytest.approx(12 * (0.1 if isinstance(guarantee, ZCDP) else 1.0))


def test_one_release_is_no_series_and_no_privacy_does_not_add_up():
    facts = table(rows(1, 1_000)).facts
    cost = series(facts, GUARANTEE, "isotropic", 1_000, 1)
    assert (cost.noise, cost.pooled, cost.share) == (1, 1, GUARANTEE)
    with pytest.raises(ValueError, match="count must"):
        series(facts, GUARANTEE, "isotropic", 1_000, 0)
    with pytest.raises(TypeError, match="does not add up"):
        series(facts, NoPrivacy(), "isotropic", 1_000, 2)
