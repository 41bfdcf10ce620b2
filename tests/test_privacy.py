"""The vocabulary of a guarantee: types that cannot be mistaken for each other, and events that add up."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import privcov
from privcov.core import guarantees
from privcov.core.guarantees import ApproxDP, Event, GaussianDP, NoPrivacy, PureDP, ZCDP

ALL = (PureDP(0.5), ApproxDP(0.5, 1e-5), ZCDP(0.5), NoPrivacy())
EVENT = {"share": "matrix", "statistic": "x", "mechanism": "gaussian", "norm": "l2", "proof": "here"}


def test_same_number_different_type_is_not_equal():
    assert len({PureDP(0.5), ZCDP(0.5), GaussianDP(0.5)}) == 3
    assert PureDP(0.5) != ZCDP(0.5)


def test_parameters_have_the_names_of_their_definitions():
    for wrong in (lambda: ZCDP(epsilon=1.0), lambda: PureDP(rho=1.0), lambda: PureDP(1.0, 1e-5), lambda: ApproxDP(1.0)):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("make", [PureDP, ZCDP, GaussianDP, lambda e: ApproxDP(e, 1e-5)])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", True, None])
def test_only_positive_finite_numbers(make, bad):
    with pytest.raises(ValueError, match=r"must be"):
        make(bad)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, math.nan])
def test_delta_strictly_between_zero_and_one(delta):
    with pytest.raises(ValueError, match="delta must be"):
        ApproxDP(1.0, delta)


def test_guarantees_are_frozen_and_normalised():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PureDP(1.0).epsilon = 2.0
    assert isinstance(PureDP(1).epsilon, float)
    assert PureDP(1) == PureDP(1.0)
    assert hash(ZCDP(1)) == hash(ZCDP(1.0))


@pytest.mark.parametrize("guarantee", ALL)
def test_there_and_back_through_a_dictionary(guarantee):
    fields = guarantees.to_dict(guarantee)
    assert guarantees.from_dict(fields) == guarantee
    assert fields["kind"] == guarantee.kind  # and from_dict left its argument alone


def test_unknown_kinds_are_named():
    for fields in ({"kind": "gdp", "mu": 1.0}, {"epsilon": 1.0}):
        with pytest.raises(ValueError, match="guarantee kind"):
            guarantees.from_dict(fields)


def test_names_in_words():
    assert [str(g) for g in ALL[:3]] == ["0.5-DP", "(0.5, 1e-05)-DP", "0.5-zCDP"]
    assert "no guarantee" in str(NoPrivacy())
    assert str(GaussianDP(0.5)) == "0.5-GDP"
    assert "replaced" in guarantees.REPLACE_ONE.sentence
    assert "person" in guarantees.REPLACE_ONE.unit


def test_event_multiplier_is_scale_over_sensitivity():
    assert Event(**EVENT, sensitivity=0.5, scale=2.0).multiplier == 4.0


@pytest.mark.parametrize(
    "change", [{"scale": 0.0}, {"sensitivity": -1.0}, {"mechanism": "uniform"}, {"scale": math.inf}]
)
def test_an_event_without_noise_or_sensitivity_is_refused(change):
    with pytest.raises(ValueError, match="must be"):
        Event(**{**EVENT, "sensitivity": 1.0, "scale": 1.0, **change})


@pytest.mark.parametrize(("guarantee", "text"), [
    (ZCDP(0.1), "0.1-zCDP"), (ZCDP(0.12345601), "0.123457-zCDP"), (PureDP(1.0000001), "1.00001-DP"),
    (ApproxDP(1.0, 1.0001e-6), "(1, 1.01e-06)-DP"), (ZCDP(0.09999999999999998), "0.1-zCDP"),
])  # fmt: skip
def test_a_guarantee_never_prints_stronger_than_it_is(guarantee, text):
    assert str(guarantee) == text


@pytest.mark.parametrize(
    ("given", "secret"),
    [
        ({}, "which of two values one given row has"),
        ({"rows_per_person": 3}, "which of two sets of rows one given person has"),
        ({"persons": [0, 0, 0, 1, 1, 1, 2, 2, 2]}, "which of two sets of rows one given person has"),
        ({"n_public": False}, "whether one given row is in the table"),
        ({"n_public": False, "rows_per_person": 3}, "whether one given person is in the table"),
    ],
)
def test_what_is_guessed_is_what_neighbours_differ_in(given, secret):
    data = privcov.PrivateDataset.from_rows(np.zeros((9, 2)), bounds=[(-1, 1)] * 2, **given)
    assert data.facts.neighbours.secret == secret
