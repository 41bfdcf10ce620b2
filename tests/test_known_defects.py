"""Defects that covariance tools in the wild have had, one test each, so that none of them can come back here.

The rest of the list has its tests where the method is: the Wishart claim (test_wishart_methods.py), the congruence and
the in-place clip of CoinPress (test_coinpress.py), the basis order of SeparateCov (test_separate.py).
"""

from __future__ import annotations

import numpy as np
import pytest

import privcov
from privcov.measurements.moment import sensitivity
from privcov.postprocess.correlation import correlation

RHO = privcov.ZCDP(0.1)
RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((500, 3)) @ RNG.standard_normal((3, 3))
CENTRAL = [
    c.key for c in privcov.methods() if c.trust == "central" and "sound" in c.calibrations and c.target == "covariance"
]


def usual(key: str):
    card = next(c for c in privcov.methods() if c.key == key)
    return (
        RHO
        if not card.refuses("zcdp")
        else privcov.PureDP(1.0)
        if not card.refuses("pure")
        else privcov.ApproxDP(1.0, 1e-6)
    )


@pytest.mark.parametrize("key", CENTRAL)
def test_clipped_rows_are_what_is_measured(key):
    """A synthesizer clipped its data and then computed the covariance of the unclipped original."""
    outlier = ROWS.copy()
    outlier[0] = [1e6, -1e6, 1e6]
    clipped = outlier.copy()
    clipped[0] *= 5.0 / np.linalg.norm(outlier[0])
    found = [
        privcov.release(privcov.Dataset.from_rows(x, 5.0), usual(key), key, random_state=1).covariance
        for x in (outlier, clipped)
    ]
    assert np.allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


def test_bounds_far_from_zero_protect_as_well_as_bounds_around_zero():
    """A cross-product step dropped the origin of its norm ball, so bounds away from zero were wrong."""
    shift = np.array([1000.0, -500.0, 0.0])
    near = privcov.Dataset.from_rows(ROWS, bounds=[(-4, 4)] * 3)
    far = privcov.Dataset.from_rows(ROWS + shift, bounds=[(s - 4, s + 4) for s in shift])
    one, two = (privcov.release(ds, RHO, "auto-cov", random_state=1) for ds in (near, far))
    assert one.events == two.events
    assert np.allclose(one.covariance, two.covariance, atol=1e-9)
    assert np.allclose(one.mean + shift, two.mean)


def test_a_lower_bound_of_zero_does_not_switch_the_noise_off():
    """A regression used the lower bound twice in its sensitivity, which became zero where that bound was zero."""
    for low in (-8.0, 0.0):
        rel = privcov.release(
            privcov.Dataset.from_rows(np.abs(ROWS), bounds=[(low, 8.0)] * 3), RHO, "gaussian-cov", random_state=0
        )
        assert rel.events[0].sensitivity == sensitivity(3, 500, norm="triangle", n_anchors=1)
        assert rel.events[0].scale > 0


@pytest.mark.parametrize("key", CENTRAL)
def test_what_comes_out_is_symmetric(key):
    """Asymmetric noise was added to a symmetric matrix."""
    released = privcov.release(privcov.Dataset.from_rows(ROWS, 5.0), usual(key), key, random_state=1).covariance
    assert np.abs(released - released.T).max() <= 1e-12 * max(np.abs(released).max(), 1e-300)


@pytest.mark.parametrize("key", CENTRAL)
def test_no_hidden_generator_and_no_bound_from_the_data(key):
    """Noise from a global generator; a norm bound assumed, or read off the data's own largest row."""
    np.random.seed(7)  # noqa: NPY002 - the global generator is what must not be touched
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    data = privcov.Dataset.from_rows(ROWS, 5.0)
    first = privcov.release(data, usual(key), key, random_state=1)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    longer = np.vstack([ROWS[:-1], [[4.9, 0.0, 0.0]]])
    second = privcov.release(privcov.Dataset.from_rows(longer, 5.0), usual(key), key, random_state=1)
    assert [(e.mechanism, e.sensitivity) for e in first.events[:1]] == [
        (e.mechanism, e.sensitivity) for e in second.events[:1]
    ]


def test_the_sensitivity_has_its_square_root():
    """One library left the root out of an l2 sensitivity, another an axis."""
    a, b = (privcov.Dataset.from_rows(x) for x in (np.eye(2), np.array([[0.0, 1.0], [0.0, 1.0]])))
    exact = [ds.rows.T @ ds.rows / 2 for ds in (a, b)]
    assert np.linalg.norm(exact[0] - exact[1]) == pytest.approx(sensitivity(2, 2, norm="l2", n_anchors=0), rel=1e-12)


def test_a_negative_variance_never_becomes_a_correlation():
    """Noisy variances came out negative, and raising epsilon was the remedy."""
    noisy = np.array([[-0.1, 0.5], [0.5, 1.0]])
    r = correlation(noisy, floor=0.05)
    assert np.isfinite(r).all()
    assert np.abs(r).max() <= 1
    assert (np.diag(r) == 1).all()


def test_one_matrix_is_one_event_for_all_its_entries():
    """Users accounted a jointly released matrix entry by entry."""
    rel = privcov.release(privcov.Dataset.from_rows(ROWS, 5.0), RHO, "gaussian-cov", random_state=0)
    assert len(rel.events) == 1
    assert rel.given.rho == pytest.approx(0.1)


def test_the_same_epsilon_under_another_relation_is_not_the_same_noise_and_both_say_which():
    """Numbers calibrated for add-or-remove were compared with numbers for replace-one."""
    data = privcov.Dataset.from_rows(ROWS, 5.0)
    scales = {}
    for relation in ("replace-one", "add-remove"):
        rel = privcov.release(data, RHO, "gaussian-cov", centre="none", neighbours=relation, random_state=0)
        scales[relation] = rel.events[0].scale
        assert rel.neighbours.key == relation
        assert rel.neighbours.sentence in rel.statement["Neighbours"]
    # Of a triangle: sqrt(2) / n alone, and sqrt(1 + s^2 + s^4) of the sum with its count, s^2 = 1/2.
    assert len(ROWS) * scales["replace-one"] / scales["add-remove"] == pytest.approx(np.sqrt(2 / 1.75))
