"""The study and its address: there and back, defaults leave no trace, nonsense gets a sentence, uploads stay out."""

import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privcov
from pages.common.study import CSV, Study, from_query, means_study, opening, study_query, to_query
from privcov.estimators.base import METHODS


def test_the_default_study_is_named_by_its_kind():
    assert to_query(Study()) == {"kind": "zcdp"}
    assert from_query(to_query(Study())) == (Study(), [])


@pytest.mark.parametrize("page", ["Home", "Estimate", "Trade-offs", "Graph recovery", "Spectra", "Lessons"])
def test_an_address_means_the_opening_only_where_it_says_nothing_else(page):
    assert study_query(opening(page), page) == {}
    assert not means_study({"utm_source": "x"})
    for study in (Study(), Study(epsilon=2.0), opening("Graph recovery"), opening("Estimate")):
        for own in ({}, {"tab": "x"}):
            query = study_query(study, page) | own
            read = from_query(query)[0] if means_study(query) else opening(page)
            assert read == study


numbers = st.floats(1e-5, 100, allow_nan=False).map(lambda v: float(f"{v:.10g}"))
studies = st.builds(
    Study,
    source=st.sampled_from(["", "zipf-norms", "wine"]),
    method=st.sampled_from(["", "gaussian-cov", "glasso-gaussian"]),
    kind=st.sampled_from(["zcdp", "approx", "pure"]),
    rho=numbers, epsilon=numbers.map(lambda v: max(v, 1e-3)),
    delta=st.sampled_from([1e-10, 1e-6, 0.01]), bound=st.sampled_from([0.25, 1.0, 2.378414]),
    seed=st.integers(0, 10**6), rows=st.integers(0, 10**6),
    neighbours=st.sampled_from(["replace-one", "add-remove"]),
)  # fmt: skip


@given(studies)
def test_every_study_survives_its_own_address(study):
    study = study.with_method(study.method)  # a relation that the method does not offer falls back
    assert from_query(to_query(study)) == (study, [])


@pytest.mark.parametrize("card", METHODS.all(), ids=lambda card: card.key)
def test_every_calibration_and_relation_of_every_method_survives(card):
    for calibration, neighbours in itertools.product(card.calibrations, card.relations):
        study = Study(method=card.key, calibration=calibration, neighbours=neighbours)
        assert from_query(to_query(study)) == (study, [])
        assert study.settings(card) == {"calibration": calibration, "neighbours": neighbours}


def test_parameters_of_data_and_method_are_in_the_address():
    study = Study(
        source="zipf-norms",
        data=(("bins", 8), ("n", 1000), ("skew", 2.5)),
        method="gaussian-cov",
        options=(("repair", "box"),),
    )
    query = to_query(study)
    assert query["data.n"] == "1000"
    assert query["method.repair"] == "box"
    found, problems = from_query(query)
    assert not problems
    assert dict(found.data) == dict(study.data)
    assert found.options == study.options


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"source": "no-such"}, "no-such"),
        ({"method": "<b>x</b>"}, "There is no method"),
        ({"kind": "perfect"}, "zcdp"),
        ({"rho": "banana"}, "number"),
        ({"epsilon": "-1"}, "0.0001"),
        ({"epsilon": "inf"}, "number"),
        ({"epsilon": "nan"}, "number"),
        ({"delta": "1"}, "0.5"),
        ({"seed": "1.5"}, "whole"),
        ({"bound": "0"}, "0.01"),
        ({"data.n": "0"}, "n must be"),
        ({"data.n": "ten"}, "number"),
        ({"data.n": "1e99"}, "n must be"),
        ({"data.d": "2.5"}, "whole"),
        ({"method": "gaussian-cov", "method.shape": "round"}, "shape must be"),
        ({"calibration": "hopeful"}, "noise calibration"),
        ({"neighbours": ""}, "neighbouring relation"),
        ({"neighbours": "local"}, "replace-one"),
    ],
)
def test_nonsense_is_left_out_with_one_sentence(query, word):
    study, problems = from_query(query)
    assert len(problems) == 1
    assert word in problems[0]
    method = query.get("method", "")
    kind = "zcdp" if "rho" in query else "approx"  # what the pages begin with
    assert study == Study(method=method if method == "gaussian-cov" else "", kind=kind)


def test_an_upload_leaves_no_trace_in_the_address():
    study = Study(source=CSV, data=(("n", 12345),), bound=0.777, method="gaussian-cov")
    assert to_query(study) == {"table": "own", "method": "gaussian-cov", "kind": "zcdp"}
    assert from_query(to_query(study)) == (Study(source=CSV, method="gaussian-cov"), [])


def test_a_link_cannot_ask_for_the_upload():
    study, problems = from_query({"source": CSV})
    assert study.source == ""
    assert len(problems) == 1


def test_another_source_starts_from_its_own_defaults():
    study = Study(source="zipf-norms", data=(("n", 10),), bound=3.0).with_source("wine")
    assert (study.data, study.bound) == ((), 1.0)


@pytest.mark.parametrize("key", ["zipf-norms", "sparse-covariance", "precision-ar2"])
def test_another_simulated_source_keeps_the_rows_and_columns(key):
    study = Study(source="ar1-covariance", data=(("d", 40), ("n", 5_000), ("rho", 0.3)), bound=2.0).with_source(key)
    assert (study.data, study.bound) == ((("d", 40), ("n", 5_000)), 1.0)
    before = privcov.source("ar1-covariance", random_state=0)
    after = privcov.source(key, **dict(Study(source="ar1-covariance").with_source(key).data))
    assert (after.n, after.d) == (before.n, before.d)
    assert Study(source="ar1-covariance", data=(("n", 5_000),)).with_source("wine").data == ()
    assert Study(source=CSV, data=(("n", 5_000),)).with_source(key).data == ()


def test_the_lever_and_the_guarantee_agree():
    for kind in ("zcdp", "approx", "pure"):
        study = Study(kind=kind)
        moved = dataclasses.replace(study, **{study.level_name: 2 * getattr(study, study.level_name)})
        assert math.isclose(getattr(moved.guarantee, study.level_name), 2 * getattr(study.guarantee, study.level_name))
