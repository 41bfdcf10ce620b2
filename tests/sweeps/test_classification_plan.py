"""Classification in a plan: the split is part of it, the presets are the papers', the words are computed."""

import json

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov.metrics.classification import Sizes, classification_error, majority_error, split
from privcov.privacy import ApproxDP, NoPrivacy, ZCDP
from privcov.sweeps.guessing import GUESS, against_guessing, without_noise
from privcov.sweeps.plan import CLASSIFICATION, Plan, run, summarise
from privcov.sweeps.presets import RAW_STEP
from privcov.sweeps.published import CLASSIFIERS, PRESETS
from privcov.sweeps.store import Store


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
    ds = privcov.source("wine", seed=3)
    train, test = split(ds, Sizes(100, 20), seed=3)
    rel = privcov.release("auto-cov", train, ApproxDP(5.0, 1e-5), seed=3, centre="classes")
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


def test_best_columns_only():
    table = run(plan(source="breast-cancer", training=300, best=4, replicates=1))
    assert table.query("metric == 'lda-error' and guarantee == 'none'")["value"].max() < 0.2


# --- presets ------------------------------------------------------------------------------------------------


def test_presets_are_the_papers():
    two = CLASSIFIERS["2-figure-2"]
    (made,) = two.plans()
    assert (made.source, made.training, made.validation, made.replicates) == ("ionosphere", 40, 40, 50)
    assert {g.delta for g in two.guarantees} == {1e-3}
    assert "ridge-precision" in made.methods
    for p in (25, 40):
        four = CLASSIFIERS[f"4-table-7-p{p}"]
        (made,) = four.plans()
        assert (made.source, made.training, made.replicates) == ("microbiome", 98 - 20, 20)
        assert made.best == (25 if p == 25 else None)
        assert ApproxDP(0.5, 1 / 196) in made.guarantees
        assert (RAW_STEP in four.left_out()) == (p == 25)
    assert not set(CLASSIFIERS) & set(PRESETS)


@pytest.mark.parametrize("preset", CLASSIFIERS.values(), ids=lambda p: p.key)
def test_every_preset_can_be_run_by_every_method_it_offers(preset):
    (made,) = preset.plans()
    assert NoPrivacy() in made.guarantees
    assert Plan.from_json(made.to_json()) == made
    assert set(preset.methods) <= set(preset.able())
    assert preset.metrics[0] == "lda-error"
    (published,) = preset.plans(published=True)
    assert published.steps == made.steps


@pytest.mark.parametrize("key", ["classify-wine", "classify-breast-cancer", "classify-digits"])
def test_a_preset_runs_and_private_beats_guessing_at_its_largest_epsilon(key):
    """Two replicates; at epsilon 30 the private rule is wrong less than half as often as guessing."""
    (made,) = CLASSIFIERS[key].plans(["auto-cov"], 2)
    table = run(made)
    assert (table["problem"] == "").all()
    mean = summarise(table, ["epsilon"]).set_index(["metric", "epsilon"])["mean"]
    assert mean["lda-error", 30.0] < mean["majority-error", 30.0] / 2


def test_data_that_are_not_there_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PRIVCOV_CACHE_DIR", str(tmp_path))
    (made,) = CLASSIFIERS["2-figure-2"].plans(["auto-cov"], 1)
    with pytest.raises(ValueError, match="Put ionosphere"):
        run(made)


# --- words --------------------------------------------------------------------------------------------------


def errors(levels: dict[float, float], name="Method", replicates=30, seed=0) -> pd.DataFrame:
    """Replicates around a mean error, 5 points apart, per x."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            {"series": name, "x": x, "replicate": r, "value": level + 0.05 * rng.standard_normal()}
            for x, level in levels.items()
            for r in range(replicates)
        ]
    )


def test_words_follow_the_replicates():
    guess = errors({1.0: 0.4, 5.0: 0.4, 20.0: 0.4}, seed=1)
    (mixed,) = against_guessing(errors({1.0: 0.5, 5.0: 0.4, 20.0: 0.1}), guess, "epsilon")
    assert mixed.startswith(f"Method is no better than {GUESS} ({100 * guess['value'].mean():.3g} % wrong)")
    assert "at epsilon = 1 and 5; at 5 it gets 4" in mixed
    assert mixed.endswith("It is better at 20.")
    (never,) = against_guessing(errors({1.0: 0.5, 5.0: 0.45, 20.0: 0.4}), guess, "epsilon")
    assert "at any epsilon drawn; at 20 it gets" in never
    assert "better at" not in never
    (always,) = against_guessing(errors({1.0: 0.2, 5.0: 0.1, 20.0: 0.1}), guess, "epsilon")
    assert always == f"Method is better than {GUESS} ({100 * guess['value'].mean():.3g} % wrong) everywhere."


def test_one_replicate_claims_nothing():
    (text,) = against_guessing(errors({1.0: 0.1}, replicates=1), errors({1.0: 0.4}, replicates=1), "epsilon")
    assert "is no better than" in text


def test_the_worst_comes_first():
    good, bad = errors({1.0: 0.1}, "Good"), errors({1.0: 0.5}, "Bad")
    guess = pd.concat([errors({1.0: 0.4}, name, seed=2) for name in ("Good", "Bad")])
    told = against_guessing(pd.concat([good, bad]), guess, "epsilon")
    assert [t.split()[0] for t in told] == ["Bad", "Good"]


def test_the_best_method_without_noise_is_judged_too():
    good, bad = errors({np.nan: 0.2}, "Good, no noise"), errors({np.nan: 0.5}, "Bad, no noise")
    guess = pd.concat([errors({np.nan: 0.4}, name, seed=2) for name in ("Good, no noise", "Bad, no noise")])
    assert without_noise(pd.concat([good, bad]), guess) == []
    (text,) = without_noise(bad, guess)
    assert text.startswith(f"Even Bad, no noise is no better than {GUESS} (")
    assert without_noise(bad[:0], guess) == []
