"""Classification in a plan: the split is part of it."""

import json

import pandas as pd
import pytest

import privcov
from privcov.core.guarantees import ApproxDP, NoPrivacy, ZCDP
from privcov.metrics.classification import SplitSizes, classification_error, majority_error, split
from privcov.studies.plan import CLASSIFICATION, Plan, run
from privcov.studies.store import Store


def plan(**changes) -> Plan:
    fields = {
        "source": "wine",
        "methods": ["auto-cov", "gaussian-cov"],
        "guarantees": [ApproxDP(5.0, 1e-5), NoPrivacy()],
        "metrics": list(CLASSIFICATION),
        "training": 100,
        "validation": 20,
        "replicates": 2,
        "seed": 3,
    }
    return Plan(**(fields | changes))


def test_a_cell_is_the_error_of_a_release_on_the_test_rows():
    table = run(plan())
    assert len(table) == 2 * 2 * 2 * 2
    assert table["value"].between(0, 1).all()
    assert (table["problem"] == "").all()
    ds = privcov.source("wine", random_state=3)
    train, test = split(ds, SplitSizes(100, 20), seed=3)
    rel = privcov.release(train, ApproxDP(5.0, 1e-5), "auto-cov", random_state=3, centre="classes")
    first = table[(table["method"] == "auto-cov") & (table["replicate"] == 0) & (table["guarantee"] == "approx")]
    assert first["value"].tolist() == [classification_error(rel, test), majority_error(train, test)]
    assert test.n == 178 - 120


def test_methods_share_the_split_and_replicates_do_not():
    guess = run(plan(replicates=6)).query("metric == 'majority-error'")
    assert (guess.groupby("replicate")["value"].nunique() == 1).all()
    assert guess["value"].nunique() > 1
    again = run(plan(methods=["auto-cov"], replicates=6)).query("method == 'auto-cov'").reset_index(drop=True)
    more = run(plan(replicates=6)).query("method == 'auto-cov'").reset_index(drop=True)
    pd.testing.assert_frame_equal(again, more, check_exact=True)


def test_json_there_and_back_and_plans_from_before():
    one = plan(best=None)
    assert Plan.from_json(one.to_json()) == one
    old = json.loads(Plan(source="wine", guarantees=[ZCDP(0.1)]).to_json())
    for name in ("training", "validation", "best"):
        del old[name]
    back = Plan.from_json(json.dumps(old))
    assert back == Plan(source="wine", guarantees=[ZCDP(0.1)])
    assert back.sizes is None


def test_the_store_knows_the_split(tmp_path):
    store = Store(tmp_path / "cells.sqlite")
    first = run(plan(), store=store)
    reused = []
    again = run(plan(), lambda done, total, cell: reused.append(cell.reused), store)
    assert all(reused)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    for other in ({"training": 101}, {"validation": 21}, {"seed": 4}, {"row_bound": 1.5}):
        reused.clear()
        found = run(plan(**other), lambda done, total, cell: reused.append(cell.reused), store)
        assert not any(reused), other
        pd.testing.assert_frame_equal(found, run(plan(**other)), check_exact=True)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"training": None, "validation": 0}, "needs training"),
        ({"metrics": ["lda-error", "l1-to-sample"]}, "need a plan each"),
        ({"metrics": ["l1-to-sample"]}, "belong to classification errors"),
        ({"metrics": ["l1-to-sample"], "training": None, "validation": 0, "best": 3}, "belong to classification"),
        ({"methods": ["em-cov"]}, "must measure class means"),
        ({"methods": [("auto-cov", {"centre": "joint"})]}, "must measure class means"),
        ({"training": 1}, "training must be >= 2"),
        ({"training": 2.5}, "whole number"),
    ],
)
def test_what_a_plan_refuses(changes, says):
    with pytest.raises(ValueError, match=says):
        plan(**changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"training": 178, "validation": 0}, "leave no row"),
        ({"source": "diabetes"}, "needs a label for every row"),
        ({"best": 3}, "t test needs two classes, got 3"),
    ],
)
def test_what_the_rows_refuse(changes, says):
    with pytest.raises(ValueError, match=says):
        run(plan(**changes))
