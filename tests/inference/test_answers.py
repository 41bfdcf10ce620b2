"""`privcov.answers`: labels, units, the same numbers by every way to them, coverage, and refusals in one sentence."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov.core.guarantees import PureDP, ZCDP
from privcov.inference import answers as answering
from privcov.inference import coverage_record, regression
from privcov.inference.unbiased import NO_INVERSE, ONE_COLUMN, REASONS, Intervals
from privcov.postprocess.edge_test import discoveries

COLUMNS = ["age", "height", "weight", "pulse"]
BOUNDS = [(0, 100), (100, 220), (20, 180), (30, 190)]


def table(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 14, n)
    height = 165 + 9 * rng.standard_normal(n) - 0.08 * (age - 50)
    weight = 75 + 0.8 * (height - 165) + 10 * rng.standard_normal(n)
    pulse = 100 + 0.3 * (weight - 75) - 0.2 * (age - 50) + 20 * rng.standard_normal(n)
    return pd.DataFrame({"age": age, "height": height, "weight": weight, "pulse": pulse})


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A private release and its bundle; its noise is the system's, so tests ask for what no noise changes."""
    folder = tmp_path_factory.mktemp("answers")
    rows = table()
    private = privcov.PrivateDataset.from_rows(
        rows,
        bounds=BOUNDS,
        columns=COLUMNS,
        name="survey",
        labels=np.where(rows["age"] > 50, "old", "young"),
        classes=("old", "young"),
    )
    ledger = privcov.Ledger(folder / "ledger.sqlite")
    ledger.set_limit("survey", ZCDP(rho=10.0))
    rel = privcov.release_private(private, ZCDP(rho=5.0), "auto-cov", ledger=ledger)
    rel.save_bundle(folder / "out.zip")
    return rel, folder / "out.zip"


@pytest.fixture(scope="module")
def simulated():
    """A seeded release with strong noise, so that some answers are refused."""
    data = privcov.source("ar1-covariance", n=3000, d=6, random_state=0)
    return privcov.release(data, ZCDP(rho=0.0001), "auto-cov", random_state=1, centre="joint")


def test_levels_of_one_column_are_no_pair_that_could_be_real():
    """They exclude each other; tested with the others, they would also let false ones through."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"x": rng.uniform(0, 1, 5000), "ward": rng.choice(list("ABC"), 5000)})
    rows["y"] = rows["x"] / 2 + rng.uniform(0, 0.5, 5000)
    kinds = {"x": privcov.Kind("number", 0, 1), "ward": privcov.Kind("category", values=["A", "B", "C"])}
    kinds["y"] = kinds["x"]
    data = privcov.Dataset.from_rows(rows[list(kinds)], kinds=kinds)
    found = privcov.answers(privcov.release(data, ZCDP(rho=5.0), "auto-cov", random_state=1, centre="joint"))
    pairs = found.correlations()
    levels = pairs["first"].str.startswith("ward") & pairs["second"].str.startswith("ward")
    assert levels.sum() == 3
    assert set(pairs.loc[levels, "reason"]) == {REASONS[ONE_COLUMN]}
    assert not (pairs["reject"] | pairs["identified"] | pairs["p_value"].notna())[levels].any()
    assert pairs.loc[levels, ["ci_low", "ci_high"]].isna().all(axis=None)
    others = pairs[~levels]
    assert others["identified"].all()
    assert list(others["reject"]) == list(discoveries(others["p_value"].to_numpy(), 0.05))
    assert list(zip(others["first"], others["second"], strict=True))[others["reject"].to_list().index(True)] == (
        "x",
        "y",
    )


def test_levels_are_no_pair_under_test_however_rare_or_shortened_they_are():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"ward": rng.choice(list("ABC"), 3000, p=[0.985, 0.01, 0.005]), "x": rng.uniform(0, 1, 3000)})
    kinds = {"ward": privcov.Kind("category", values=["A", "B", "C"]), "x": privcov.Kind("number", 0, 1)}
    for fraction, level in ((1.0, 0.001), (0.5, 5.0)):
        data = privcov.Dataset.from_rows(rows, kinds=kinds)
        data = data.with_row_bound(fraction * data.row_bound)
        pairs = privcov.answers(
            privcov.release(data, ZCDP(level), "auto-cov", random_state=1, centre="joint")
        ).correlations()
        assert (pairs["reason"] == REASONS[ONE_COLUMN]).sum() == 3


def test_what_is_not_identified_has_no_estimate(simulated):
    """Noise over noise is a number too, and often at the ends of [-1, 1]."""
    found = privcov.answers(simulated)
    for table_ in (found.correlations(), found.partial_correlations()):
        lacking = ~table_["identified"]
        assert lacking.any()
        assert table_.loc[lacking, ["estimate", "p_value"]].isna().all(axis=None)
        assert not table_.loc[lacking, "reject"].any()


def test_a_partial_correlation_drowned_in_noise_has_no_estimate_and_a_refused_one_keeps_it(monkeypatch):
    why = np.array([[0, 3, 10], [3, 0, 4], [10, 4, 0]])  # too noisy, columns of two values, no inverse
    half = np.full((3, 3), 0.5)
    assert [REASONS[k].split()[:3] for k in (3, 10, 4)] == [
        ["the", "noise", "is"], ["columns", "of", "two"], ["the", "covariance", "has"],
    ]  # fmt: skip
    monkeypatch.setattr(regression, "partial_correlations", lambda *_: Intervals(half, half, half, why, half))
    data = privcov.source("ar1-covariance", n=300, d=3, random_state=0)
    found = privcov.answers(privcov.release(data, ZCDP(rho=1.0), "auto-cov", random_state=1, centre="joint"))
    assert list(found.partial_correlations()["estimate"].notna()) == [False, True, False]


def test_a_bundle_gives_the_answers_of_its_release(stored):
    rel, place = stored
    here, there = privcov.answers(rel), privcov.answers(privcov.open_bundle(place))
    assert here.columns == tuple(COLUMNS)
    for name in ("means", "variances", "covariances", "correlations", "partial_correlations", "edges", "eigenvalues"):
        pd.testing.assert_frame_equal(getattr(here, name)(), getattr(there, name)())
    pd.testing.assert_frame_equal(here.regress("weight", ["age", "height"]), there.regress("weight", ["age", "height"]))
    pd.testing.assert_frame_equal(here.components(2), there.components(2))
    pd.testing.assert_frame_equal(here.contrast("old", "young"), there.contrast("old", "young"))


def test_every_answer_is_labelled_and_ordered(stored):
    found = privcov.answers(stored[0])
    for frame in (found.means(), found.variances(), found.contrast("old", "young")):
        assert frame["column"].tolist() == COLUMNS
    for frame in (found.covariances(), found.correlations(), found.partial_correlations(), found.edges()):
        assert len(frame) == 6
        assert frame.columns[:2].tolist() == ["first", "second"]
    frames = (found.means(), found.correlations(), found.regress("weight"), found.eigenvalues(), found.components())
    for frame in frames:
        shown = frame[frame["identified"]]
        assert (shown["ci_low"] <= shown["estimate"]).all()
        assert (shown["estimate"] <= shown["ci_high"]).all()
        assert set(frame["reason"]) <= set(REASONS)
        assert (frame["reason"] == "").equals(frame["identified"])
        assert {"method", "population", "coverage", "level", "assumes"} <= set(frame.attrs)


def test_what_the_noise_hides_is_refused_with_a_reason(simulated):
    found = privcov.answers(simulated).regress("x1")
    assert not found["identified"].any()
    assert set(found["reason"]) == {REASONS[NO_INVERSE]}
    assert found[["ci_low", "ci_high"]].isna().all(axis=None)
    assert not found.attrs["r_squared"]["identified"]
    ridge = privcov.answers(simulated).regress("x1", ridge=10 * float(simulated.row_bound) ** 2)
    assert ridge["identified"].all()
    assert "r_squared" not in ridge.attrs


def test_the_standard_error_of_a_slope_that_is_not_identified_is_none(simulated):
    fit = privcov.answers(simulated).regress("x1")
    assert fit["std_error"].isna().all()
    assert fit.columns[:4].tolist() == ["column", "estimate", "std_error", "ci_low"]


def test_discoveries_follow_the_rule_of_benjamini_and_hochberg():
    rng = np.random.default_rng(0)
    for rate in (0.05, 0.2):
        p = np.concatenate([rng.uniform(size=40), rng.uniform(size=10) ** 6, [np.nan]])
        order = np.sort(np.nan_to_num(p, nan=1.0))
        largest = max([k for k in range(51) if order[k] <= rate * (k + 1) / 51], default=-1)
        expected = np.nan_to_num(p, nan=1.0) <= (order[largest] if largest >= 0 else -1)
        assert (discoveries(p, rate) == expected).all()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda f: f.regress("weigth"), "y names 'weigth', which is no column. Did you mean 'weight'?"),
        (lambda f: f.regress("weight", ["age", "zzz"]), "which is no column. Name one of: age, height, weight, pulse."),
        (lambda f: f.regress("weight", ["age", "weight"]), "on names the response 'weight'"),
        (lambda f: f.regress("weight", ["age", "age"]), "on names 'age' twice"),
        (lambda f: f.regress("weight", []), "on must name at least one regressor"),
        (lambda f: f.regress("weight", ridge=-1.0), "ridge"),
        (lambda f: f.contrast("old", "odl"), "b names 'odl', which is no class. Did you mean 'old'?"),
        (lambda f: f.contrast("old", "old"), "the same class"),
        (lambda f: f.correlations(rate=1.5), "rate"),
        (lambda f: f.correlations(rate=0), "rate"),
        (lambda f: f.edges(rate=0.0), "rate"),
        (lambda f: f.regress(["weight", "age"]), "y takes one value, got list."),
        (lambda f: f.regress([]), "y takes one value, got list."),
        (lambda f: f.regress("weight", 5), "on takes a list, got 5"),
        (lambda f: f.components(0), "n_components"),
    ],
)
def test_bad_input_is_one_sentence(stored, ask, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        ask(privcov.answers(stored[0]))


def test_more_regressors_than_rows_are_refused():
    data = privcov.Dataset.from_rows(np.random.default_rng(0).standard_normal((4, 6)), 3.0)
    rel = privcov.release(data, ZCDP(100.0), "gaussian-cov", random_state=0, centre="joint")
    with pytest.raises(ValueError, match="5 regressors, and the release stands for about 4 rows"):
        privcov.answers(rel).regress("x1")


def test_a_regression_on_more_than_a_third_of_the_rows_is_refused():
    """Hardly any noise, 40 rows: with 13 regressors the intervals still hold, with 30 they contain 78 % (see below)."""
    rng, inside, shown = np.random.default_rng(7), [0, 0], [0, 0]
    for seed in range(25):
        rows = rng.standard_normal((40, 31))
        rel = privcov.release(privcov.Dataset.from_rows(rows, 12.0), ZCDP(1e10), "gaussian-cov", random_state=seed)
        found, few = privcov.answers(rel), [f"x{k}" for k in range(2, 15)]
        with pytest.raises(ValueError, match="14 regressors, and the release stands for about 40 rows"):
            found.regress("x1", [*few, "x15"])
        for at, fit in enumerate((found.regress("x1", few), _unlimited(found))):
            shown[at] += int(fit["identified"].sum())
            inside[at] += int(((fit["ci_low"] <= 0) & (fit["ci_high"] >= 0)).sum())
    assert shown[0] == 325
    assert inside[0] / shown[0] > 0.91  # 325 intervals of 95 %: a standard deviation of 1.2 %
    assert inside[1] / shown[1] < 0.86


def _unlimited(found) -> pd.DataFrame:
    """The regression on all other columns, without the limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answering, "MAX_REGRESSORS", 1.0)
        return found.regress("x1")


def test_what_is_assumed_and_measured_is_said_of_that_answer_alone(stored, tmp_path):
    """No coverage is said of settings that were not measured, nor one of other rows than those that are assumed."""
    found = privcov.answers(stored[0], kurtosis=6.0)
    for frame in (found.variances(), found.regress("weight"), found.partial_correlations(), found.edges()):
        assert "kurtosis 6" in frame.attrs["assumes"]
        assert "whose kurtosis was given" in frame.attrs["coverage"]
    found = privcov.answers(stored[0])
    assert found.regress("weight").attrs["assumes"].startswith("Gaussian rows; under heavier tails")
    assert found.contrast("old", "young").attrs["assumes"].startswith("the same spread in all groups")
    assert "variance" in found.means().attrs["assumes"]
    said = [found.regress("weight", on, ridge).attrs["coverage"] for on in ("age", None) for ridge in (0.0, 0.05)]
    keys = ("regress", "regress, ridge", "regress, all columns", "regress, ridge")
    assert said == [coverage_record.sentence(key, 0.95) for key in keys]
    assert found.regress("weight").attrs["r_squared"]["coverage"] == coverage_record.sentence("r_squared", 0.95)
    x = np.random.default_rng(0).standard_normal((50, 2))
    few = privcov.release(
        privcov.Dataset.from_rows(x, 3.0), ZCDP(100.0), "gaussian-cov", random_state=0, centre="joint"
    )
    assert re.search(r"None of them had fewer than 1,000 rows", privcov.answers(few).means().attrs["coverage"])
    assert coverage_record.sentence("means", 0.95, 1e4, 13).count("or more than 12 columns.")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", ZCDP(rho=10.0))
    x[::3, 0] = np.nan
    private = privcov.PrivateDataset.from_rows(np.tile(x, (40, 1)), bounds=[(-3, 3)] * 2, missing="pairs", name="t")
    rel = privcov.release_private(private, ZCDP(rho=10.0), "gaussian-cov", ledger=ledger)
    assert "cells of a column are missing" in privcov.answers(rel).means().attrs["coverage"]


def test_what_is_no_release_is_refused(tmp_path, simulated):
    with pytest.raises(TypeError, match=r"privcov\.open_bundle"):
        privcov.answers("out.zip")
    with pytest.raises(ValueError, match="level"):
        privcov.answers(simulated, level=0.2)
    with pytest.raises(ValueError, match="no class sums"):
        privcov.answers(simulated).contrast("a", "b")
    other = privcov.release(
        privcov.source("ar1-covariance", n=500, d=3, random_state=0), PureDP(1.0), "em-cov", random_state=0
    )
    with pytest.raises(ValueError, match="keeps no noisy matrix"):
        privcov.answers(other)


def test_an_altered_bundle_gives_no_answer(stored, tmp_path):
    altered = tmp_path / "altered.zip"
    with zipfile.ZipFile(stored[1]) as old, zipfile.ZipFile(altered, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            new.writestr(name, raw + b" " if name == "matrices/covariance.csv" else raw)
    with pytest.raises(ValueError, match="No answer is given from this bundle"):
        privcov.open_bundle(altered)
    with pytest.raises(ValueError, match="here is no bundle"):
        privcov.open_bundle(tmp_path / "none.zip")
