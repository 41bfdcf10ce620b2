"""Defects that covariance tools in the wild have had, one test each, so that none of them can come back here.

The rest of the list has its tests where the method is: the Wishart claim (test_wishart_methods.py), the congruence and
the in-place clip of CoinPress (test_coinpress.py), the basis order of SeparateCov (test_separate.py).
"""

from __future__ import annotations

import numpy as np
import pytest

import privcov
from privcov.measurements.moment import sensitivity

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


def test_one_matrix_is_one_event_for_all_its_entries():
    """Users accounted a jointly released matrix entry by entry."""
    rel = privcov.release(privcov.Dataset.from_rows(ROWS, 5.0), RHO, "gaussian-cov", random_state=0)
    assert len(rel.events) == 1
    assert rel.actual_guarantee.rho == pytest.approx(0.1)
