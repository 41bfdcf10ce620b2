"""Saved plans: written and read again, refused with one sentence, run in the shell with a report."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privcov
from privcov.bundle import report

PLAN = privcov.Plan(
    source="ar1-covariance", source_params={"n": 30, "d": 2}, guarantees=[privcov.ZCDP(0.1), privcov.PureDP(1.0)],
    methods=["auto-cov", ("gaussian-cov", {"repair": "none"})], replicates=2, seed=3,
)  # fmt: skip


def test_a_plan_survives_a_file():
    assert privcov.Plan.from_json(PLAN.to_json()) == PLAN
    assert privcov.Plan.from_json(PLAN.to_json().encode()) == PLAN


def test_a_run_is_the_release_of_its_seed():
    rows = privcov.source("ar1-covariance", n=30, d=2, random_state=3)
    rel = privcov.release(rows, privcov.ZCDP(0.1), "auto-cov", random_state=3)
    table = privcov.run(PLAN)
    assert table["value"].iloc[0] == privcov.error(rel, rows, relative=True)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\xff\xfe\x00", "must be JSON"),
        ("{", "must be JSON"),
        ("[]", "JSON object"),
        ("3", "JSON object"),
        ('{"source": "x", "guarantees": [{"kind": "zcdp", "rho": 1}]}', "source"),
        ('{"source": "wine"}', "guarantees"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": -1}]}', "rho"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": 1}], "methods": [["a", 1]]}', "methods"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": 1}], "seed": -1}', "seed"),
        ("[" * 100_000, "must be JSON"),
    ],
)
def test_what_is_wrong_is_named_in_one_sentence(content, word):
    with pytest.raises(ValueError, match=r".") as told:
        privcov.Plan.from_json(content)
    assert word in str(told.value)
    assert len(str(told.value)) < 400
    assert "\n" not in str(told.value)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*json.loads(PLAN.to_json()), "other"]), anything)
def test_a_field_with_anything_in_it_is_a_plan_or_a_sentence(name, value):
    text = json.dumps(json.loads(PLAN.to_json()) | {name: value})
    with contextlib.suppress(ValueError):  # nothing else is raised
        assert privcov.Plan.from_json(text)


def test_a_report_fetches_nothing_runs_nothing_and_escapes_names():
    rows = privcov.source("wine").rows[:, :2] * np.pi  # digits that no coordinate of a figure has
    data = privcov.Dataset.from_rows(rows, 50.0, columns=["<img src=x>", "b"], name="<script>alert(1)</script>")
    rel = privcov.release(data, privcov.ZCDP(1.0), "gaussian-cov", random_state=1)
    html = report.report_on_release(rel, data, script="print('<b>')", address="/Estimate?a=1&b=2")
    lowered = html.lower()
    for word in ("<script", "<img", "http://", "https://", 'src="', "<link", "@import", "url("):
        assert word not in lowered.replace("http://www.w3.org/2000/svg", "").replace("url(#c", "")
    assert "declared public" in html
    assert ">Public<" in html
    for line in rows:
        assert not all(repr(float(x)) in html for x in line)
