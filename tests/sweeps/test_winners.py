"""Who wins a cell, when that is clear, and what a map is made of."""

import math

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov.metrics.oracle import oracle_error
from privcov.sweeps.plan import Plan, run
from privcov.sweeps.winners import TRIVIAL, count, in_words, map_plans, run_map, winners

KW = {"methods": ["auto-cov", "gaussian-cov"], "guarantees": [privcov.ZCDP(0.1)], "replicates": 3, "seed": 2}


def table(**errors: list) -> pd.DataFrame:
    """One cell at n = 10, d = 2: method -> errors by replicate."""
    return pd.DataFrame(
        [
            {"n": 10, "d": 2, "method": m.replace("_", "-"), "replicate": r, "value": v}
            for m, values in errors.items()
            for r, v in enumerate(values)
        ]
    )


def one(**errors: list) -> dict:
    return winners(table(**errors)).iloc[0].to_dict()


def test_the_smallest_mean_wins_with_its_margin():
    found = one(a=[1.0, 1.1, 0.9], b=[2.0, 2.1, 1.9], c=[5.0, 5.0, 5.1])
    assert (found["winner"], found["runner_up"], found["clear"], found["rivals"]) == ("a", "b", True, ())
    assert found["ratio"] == pytest.approx(2.0)


def test_the_comparison_is_paired():
    """Errors that vary by a factor of nine between replicates, but by the same amount for both: clear only in pairs."""
    base = np.array([1.0, 3.0, 9.0, 2.0])
    found = one(a=list(base), b=list(base + np.array([0.1, 0.11, 0.12, 0.1])))
    assert found["clear"]
    shuffled = one(a=list(base), b=list(base[::-1] + 0.1))
    assert not shuffled["clear"]


def test_nobody_wins_where_the_interval_of_the_difference_holds_zero():
    found = one(a=[1.0, 2.0, 1.5], b=[1.2, 1.7, 1.7])
    assert not found["clear"]
    assert found["rivals"] == ("b",)


def test_equal_answers_have_no_winner():
    found = one(a=[1.0, 2.0], b=[1.0, 2.0])
    assert not found["clear"]
    assert found["ratio"] == 1.0


def test_a_third_method_with_wild_errors_may_spoil_a_win():
    found = one(a=[1.0, 1.0, 1.0], b=[1.1, 1.11, 1.1], c=[0.1, 9.0, 0.1])
    assert found["winner"] == "a"
    assert found["rivals"] == ("c",)


def test_a_single_replicate_decides_nothing():
    assert not one(a=[1.0], b=[9.0])["clear"]


def test_a_method_that_failed_once_does_not_compete_there():
    found = one(a=[0.1, math.nan], b=[1.0, 1.1], c=[2.0, 2.1])
    assert found["absent"] == ("a",)
    assert found["winner"] == "b"
    nobody = one(a=[math.nan, math.nan])
    assert nobody["winner"] == ""
    assert not nobody["clear"]


def test_one_method_alone_and_an_error_of_zero():
    assert math.isnan(one(a=[1.0, 1.0])["ratio"])
    assert one(a=[0.0, 0.0], b=[1.0, 1.1])["ratio"] == math.inf


def test_words_count_the_cells_and_give_the_widest_margin():
    cells = pd.concat([table(a=[1.0, 1.1], b=[3.0, 3.1]).assign(n=n) for n in (10, 20)])
    tie = table(a=[1.0, 1.0], b=[1.0, 1.0]).assign(n=30)
    found = winners(pd.concat([cells, tie]))
    assert count(found) == {"a": 2}
    text = in_words(found, {"a": "Alpha", "b": "Beta"})
    assert text.startswith("Of 3 cells: Alpha wins 2, 1 without a clear winner.")
    assert "Alpha with an error of 1.05, against 3.05 of Beta" in text
    assert in_words(winners(tie), {}) == "Of 1 cells: 1 without a clear winner."


def test_the_bound_follows_d_and_the_trivial_answers_take_part():
    plans = map_plans("ar1-covariance", {"rho": 0.3}, **KW, ns=[50, 100], ds=[2, 8], bound=2.0)
    assert [p.row_bound for p in plans] == pytest.approx([2.6 * math.sqrt(2), 2.6 * math.sqrt(8)])
    assert plans[0].methods == ["auto-cov", "gaussian-cov", *TRIVIAL]
    assert plans[0].source_params == {"rho": 0.3, "d": 2}


def test_the_table_is_that_of_the_plans():
    plans = map_plans("ar1-covariance", {}, **KW, ns=[50, 100], ds=[2, 4])
    told = []
    found = run_map(plans, lambda done, total: told.append((done, total)))
    assert told[-1] == (len(told), sum(p.steps for p in plans))
    alone = run(Plan("ar1-covariance", {"n": 100, "d": 4}, ["gaussian-cov"], KW["guarantees"], seed=2, replicates=3,
                     metrics=["relative-frobenius-to-truth"]))  # fmt: skip
    here = found[(found["n"] == 100) & (found["d"] == 4) & (found["method"] == "gaussian-cov")]
    here = here[here["metric"] == "relative-frobenius-to-truth"]
    assert here["value"].to_list() == alone["value"].to_list()
    assert len(winners(found)) == 4


def test_over_n_and_rho_the_trivial_answer_wins_where_noise_drowns_everything():
    plans = map_plans(
        "ar1-covariance", {"d": 6}, methods=["gaussian-cov"], ns=[50, 20_000], replicates=12,
        guarantees=[privcov.ZCDP(1e-6), privcov.ZCDP(1.0)],
    )  # fmt: skip
    found = winners(run_map(plans), y="rho").set_index(["n", "rho"])
    assert found.loc[(50, 1e-6), "winner"] == "zero"
    assert found.loc[(50, 1e-6), "clear"]
    assert found.loc[(20_000, 1.0), "winner"] == "gaussian-cov"
    assert found.loc[(20_000, 1.0), "clear"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": "wine"}, "has one n"),
        ({"replicates": 1}, "replicates must be >= 2"),
        ({"guarantees": [privcov.ZCDP(0.1), privcov.ZCDP(1.0)]}, "one guarantee, got 2"),
        ({"bound": 0.0}, "bound must be > 0"),
        ({"ns": []}, "at least one"),
    ],
)
def test_a_map_without_sense_gets_a_sentence(changes, sentence):
    asked = {"source": "ar1-covariance", "source_params": {}, **KW, "ns": [50], "ds": [2]} | changes
    with pytest.raises(ValueError, match=sentence):
        map_plans(**asked)


# --- the oracle of the eigenvalues ---------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", [privcov.ZCDP(0.02), privcov.PureDP(1.0)], ids=["gaussian", "wishart"])
def test_no_change_of_eigenvalues_alone_passes_the_oracle(guarantee):
    """Against every repair of the same noisy matrix, and 200 random eigenvalues; the best ones reach it exactly."""
    data = privcov.source("ar1-covariance", n=400, d=6, random_state=3)
    key = "wishart-difference" if isinstance(guarantee, privcov.PureDP) else "gaussian-cov"
    rel = privcov.release(key, data, guarantee, random_state=5, repair="none")
    least, size = oracle_error(rel, data), np.linalg.norm(data.truth.covariance)
    for repair in ("none", "psd", "shrink"):
        other = privcov.release(key, data, guarantee, random_state=5, repair=repair)
        assert oracle_error(other, data) == pytest.approx(least, rel=1e-9)
        assert privcov.error(other, data, relative=True, against="truth") >= least
    vectors = np.linalg.eigh(rel.covariance)[1]
    best = np.diag(vectors.T @ data.truth.covariance @ vectors)
    rng = np.random.default_rng(0)
    for step in range(200):
        tried = best + (step > 0) * rng.normal(0, 0.1, 6)
        distance = np.linalg.norm((vectors * tried) @ vectors.T - data.truth.covariance) / size
        assert distance >= least - 1e-12
        assert step or distance == pytest.approx(least, rel=1e-9)


def test_the_map_has_the_oracle_of_every_cell_and_it_competes_with_nobody():
    plans = map_plans("ar1-covariance", {}, ns=[200, 2_000], ds=[4, 8], **KW)
    rows = run_map(plans)
    found = winners(rows)
    assert set(found["winner"]) <= {*KW["methods"], *TRIVIAL}
    assert (found["oracle"] > 0).all()
    kept = rows[(rows["metric"] == "relative-oracle-to-truth") & (rows["n"] == 200) & (rows["d"] == 4)]
    literal = kept.groupby("method")["value"].mean().min()
    assert found.iloc[0]["oracle"] == pytest.approx(literal)
    without = winners(rows[rows["metric"] == "relative-frobenius-to-truth"])
    assert without["oracle"].isna().all()
    assert without.drop(columns="oracle").equals(found.drop(columns="oracle"))


def test_another_norm_has_no_oracle():
    plan, *_ = map_plans("ar1-covariance", {}, ns=[200], ds=[4], metric="relative-spectral-to-truth", **KW)
    assert plan.metrics == ["relative-spectral-to-truth"]
