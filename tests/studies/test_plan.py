"""A plan is a value, and its table depends on nothing else."""

import json

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov.studies.plan import Plan, column_of, run

SOURCE = {"n": 200, "d": 3}


def plan(**changes) -> Plan:
    fields = {
        "source": "ar1-covariance",
        "source_params": SOURCE,
        "methods": ["gaussian-cov"],
        "guarantees": [privcov.ZCDP(0.1)],
        "replicates": 3,
        "seed": 4,
    }
    return Plan(**(fields | changes))


def test_json_there_and_back():
    one = plan(
        methods=["auto-cov", ("gaussian-cov", {"repair": "none", "centre": "none"})],
        guarantees=[privcov.PureDP(1.0), privcov.ApproxDP(0.1, 1e-7), privcov.ZCDP(1 / 3), privcov.NoPrivacy()],
        vary={"n": np.array([10, 20]), "row_bound": (1, 2.5)},
        metrics=["max-to-truth"],
        row_bound=0.7,
    )
    back = Plan.from_json(one.to_json())
    assert back == one
    assert back.to_json() == one.to_json()
    pd.testing.assert_frame_equal(run(plan()), run(Plan.from_json(plan().to_json())), check_exact=True)


def test_one_row_per_cell():
    table = run(
        plan(
            methods=["gaussian-cov", "laplace-cov", "zero"],
            guarantees=[privcov.ZCDP(0.1), privcov.PureDP(1.0), privcov.ApproxDP(2.0, 1e-6)],
            vary={"n": [50, 100]},
            metrics=["relative-frobenius-to-sample", "spectral-to-truth"],
        )
    )
    # gaussian-cov gives two of the three kinds, laplace-cov one, zero all; 2 n, 3 replicates, 2 metrics.
    assert len(table) == (2 + 1 + 3) * 2 * 3 * 2
    assert set(table["n"]) == {50, 100}
    assert table["value"].notna().all()
    row = table[(table["method"] == "laplace-cov")].iloc[0]
    assert (row["guarantee"], row["epsilon"], row["source"]) == ("pure", 1.0, "ar1-covariance")
    assert np.isnan(row["rho"])
    assert (table[table["method"] == "zero"].query("metric == 'relative-frobenius-to-sample'")["value"] == 1).all()


def test_the_table_holds_the_errors_of_releases():
    """A cell is the error of `release` on the rows of `source`, replicate 0, same seed."""
    table = run(plan(replicates=1, metrics=["frobenius-to-truth"]))
    data = privcov.source("ar1-covariance", random_state=4, **SOURCE)
    rel = privcov.release(data, privcov.ZCDP(0.1), "gaussian-cov", random_state=4)
    assert table["value"].tolist() == [privcov.error(rel, data, against="truth")]


def test_two_runs_are_identical_and_seeds_differ():
    one = run(plan())
    pd.testing.assert_frame_equal(one, run(plan()), check_exact=True)
    assert (one["value"] != run(plan(seed=5))["value"]).all()


def test_adding_a_method_or_a_guarantee_changes_no_other_row():
    alone = run(plan(vary={"n": [50, 200]}))
    more = run(
        plan(
            methods=["diagonal", "auto-cov", "gaussian-cov"],
            vary={"n": [50, 200]},
            guarantees=[privcov.ZCDP(9.0), privcov.ZCDP(0.1)],
        )
    )
    same = more[(more["method"] == "gaussian-cov") & (more["rho"] == 0.1)].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, same, check_exact=True)


def test_replicates_have_fresh_rows_and_fresh_noise():
    rows = run(plan(guarantees=[privcov.NoPrivacy()], metrics=["frobenius-to-truth"]))["value"]
    assert rows.nunique() == 3
    noise = run(plan(guarantees=[privcov.ZCDP(1e-4)], metrics=["frobenius-to-nonprivate"]))["value"]
    assert noise.nunique() == 3


def test_methods_of_a_replicate_see_the_same_rows():
    table = run(
        plan(methods=["gaussian-cov", "auto-cov"], guarantees=[privcov.NoPrivacy()], metrics=["frobenius-to-truth"])
    )
    by_method = [g["value"].to_numpy() for _, g in table.groupby("method")]
    np.testing.assert_allclose(*by_method, rtol=1e-12)


def test_vary_the_row_bound():
    """R so small that every row is clipped keeps an error; a generous R leaves the exact sample."""
    table = run(plan(vary={"row_bound": [0.1, 100.0]}, guarantees=[privcov.NoPrivacy()]))
    assert (table.loc[table["row_bound"] == 0.1, "value"] > 0.9).all()
    assert (table.loc[table["row_bound"] == 100.0, "value"] < 1e-12).all()


def test_a_varied_name_never_hides_under_a_guarantee():
    """AR(1) has a rho, and so has zCDP."""
    assert [column_of(name) for name in ("rho", "n", "row_bound")] == ["source_rho", "n", "row_bound"]
    table = run(plan(vary={"rho": [0.0, 0.9]}, replicates=1))
    assert table["source_rho"].tolist() == [0.0, 0.9]
    assert table["rho"].tolist() == [0.1, 0.1]


def test_progress_is_called_once_per_step():
    seen = []
    one = plan(methods=["zero", "laplace-cov"], guarantees=[privcov.ZCDP(1.0), privcov.PureDP(1.0)], vary={"n": [5, 6]})
    table = run(one, lambda done, total, rows: seen.append((done, total, len(rows))))
    assert one.steps == 3 * 2 * 3
    assert seen == [(k, one.steps, 1) for k in range(1, one.steps + 1)]
    assert len(table) == one.steps


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": "nothing"}, "There is no source 'nothing'"),
        ({"source_params": {"colour": 1}}, "has no parameter 'colour'"),
        ({"source_params": {"n": 0}}, "n must be"),
        ({"source_params": [1]}, "source_params must be a dict"),
        ({"methods": []}, "methods must hold at least one"),
        ({"methods": "auto-cov"}, "methods must be a list"),
        ({"methods": ["best"]}, "There is no method 'best'"),
        ({"methods": [("gaussian-cov",)]}, "methods must hold keys or"),
        ({"methods": [("gaussian-cov", {"colour": 1})]}, "has no parameter 'colour'"),
        ({"methods": [("gaussian-cov", {"repair": "hope"})]}, "repair must be one of"),
        ({"methods": ["zero", "zero"]}, "'zero' more than once"),
        ({"guarantees": []}, "guarantees must hold at least one"),
        ({"guarantees": privcov.ZCDP(1.0)}, "guarantees must be a list"),
        ({"vary": {"colour": [1]}}, "vary names 'colour'"),
        ({"vary": {"n": []}}, "must hold at least one value"),
        ({"vary": {"n": 5}}, "must be a list"),
        ({"vary": {"n": "100"}}, "must be a list"),
        ({"vary": {"n": [10, 0]}}, "n must be"),
        ({"vary": {"row_bound": [-1.0]}}, "row_bound must be > 0"),
        ({"row_bound": 0}, "row_bound must be > 0"),
        ({"metrics": []}, "metrics must hold at least one"),
        ({"metrics": ["accuracy"]}, "metric must be one of"),
        ({"replicates": 0}, "replicates must be in 1..1000000"),
        ({"seed": -1}, "seed must be >= 0"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_bad_plans_are_sentences_before_anything_runs(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        plan(**changes)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hello", "A plan must be JSON"),
        ("[1]", "A plan must be a JSON object"),
        ("{}", "must name its source"),
        ('{"source": "wine"}', "guarantees must hold at least one"),
        ('{"source": "wine", "colour": 1}', "A plan has no field 'colour'"),
        ('{"source": "wine", "guarantees": [{"kind": "wish"}]}', "guarantee kind must be one of"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp"}]}', "guarantees must hold entries such as"),
        ('{"source": "wine", "guarantees": ["zcdp"]}', "guarantees must hold entries such as"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": -1}]}', "rho must be > 0"),
    ],
)
def test_bad_json_is_a_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        Plan.from_json(text)
    assert "\n" not in str(caught.value)


def test_seeds_beyond_float_precision_stay_different():
    one, two = (plan(seed=2**60 + k, replicates=1) for k in (0, 1))
    assert json.loads(one.to_json())["seed"] == 2**60
    assert run(one)["value"][0] != run(two)["value"][0]


def test_a_cell_that_cannot_be_filled_says_why_and_costs_no_other():
    """Two columns, hardly any rows and hardly any epsilon: the lasso often finds no variance left."""
    plan = privcov.Plan(
        source="ar1-covariance",
        source_params={"n": 20, "d": 2},
        methods=["glasso-gaussian", "auto-cov"],
        guarantees=[privcov.ZCDP(1e-5)],
        metrics=["frobenius-to-truth"],
        replicates=30,
    )
    table = privcov.run(plan)
    assert len(table) == 60
    lasso = table[table["method"] == "glasso-gaussian"]
    failed = lasso["value"].isna()
    assert 0 < failed.sum() < 30
    assert lasso.loc[failed, "problem"].str.contains("larger epsilon").all()
    assert (table.loc[table["value"].notna(), "problem"] == "").all()
