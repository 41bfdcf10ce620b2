"""Scores and alpha of items, means of groups, and factors: what they are without noise, their law, and refusals."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov import Dataset, Kind
from privcov.core.guarantees import PureDP, ZCDP
from privcov.inference import factors, scales
from privcov.inference.unbiased import NO_GROUPS, NO_INTERVAL, NO_MEAN, REASONS, SMALL_CLASS

KINDS = {
    "a": Kind("integer", 1, 5),
    "b": Kind("integer", 0, 10),
    "c": Kind("number", 1, 7),
    "age": Kind("number", 0, 99),
}
KINDS |= {"ill": Kind("yes-no", values=("no", "yes"), typical="no"), "ward": Kind("category", values=["A", "B", "C"])}


def table(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    trait, own = rng.standard_normal(n), rng.standard_normal((4, n))
    rows = pd.DataFrame({"a": 3 + trait + 0.5 * own[0], "b": 5 + 2 * trait + 2 * own[1], "c": 4 - trait + own[2]})
    rows["age"] = 50 + 10 * own[3] + 4 * trait
    for name in rows:
        rows[name] = rows[name].clip(KINDS[name].low, KINDS[name].high)
    rows[["a", "b"]] = rows[["a", "b"]].round()
    return rows.assign(
        ill=np.where(trait + rng.standard_normal(n) > 1, "yes", "no"),
        ward=np.array(["A", "B", "C"])[np.digitize(trait + 3 * rng.standard_normal(n), [-1, 2])],
    )


EXACT = ZCDP(1e9)


def answered(rows, guarantee=EXACT, method="auto-cov", kinds=None, **more):
    data = Dataset.from_rows(rows, kinds=KINDS if kinds is None else kinds)
    return privcov.answers(privcov.release(data, guarantee, method, random_state=1, centre="joint"), **more)


def test_without_noise_groups_are_those_of_the_table():
    rows, found = table(), answered(table())
    at = rows.ill == "yes"
    got = found.group_means("ill").set_index(["group", "column"])["estimate"]
    for name in ("a", "b", "c", "age"):
        high, low = rows.loc[at, name].mean(), rows.loc[~at, name].mean()
        assert got["not ill=yes", name] == pytest.approx(low, rel=1e-3)
        assert got["ill=yes", name] == pytest.approx(high, rel=1e-3)
        assert got["ill=yes less not ill=yes", name] == pytest.approx(high - low, rel=1e-2)
    assert got["ill=yes", "ward=B"] == pytest.approx((rows.ward[at] == "B").mean(), rel=1e-3)
    by_ward = found.group_means("ward").set_index(["group", "column"])["estimate"]
    assert by_ward["ward=C", "age"] == pytest.approx(rows.age[rows.ward == "C"].mean(), rel=1e-3)
    assert set(by_ward.index.get_level_values(1)) == {"a", "b", "c", "age", "ill=yes"}
    one = found.group_means("ward=C").set_index(["group", "column"])["estimate"]
    assert one["ward=C", "age"] == by_ward["ward=C", "age"]
    assert "ward=A" not in one.index.get_level_values(1)


def test_without_noise_a_score_is_the_mean_of_its_items_whatever_their_ranges():
    rows, found = table(), answered(table())
    score = (rows.a + rows.b - rows.c) / 3
    scored = found.with_score("s", ["a", "b", "c"], reverse=["c"])
    assert scored.columns == ("age", "ill=yes", "ward=A", "ward=B", "ward=C", "s")
    assert scored.means()["estimate"].iloc[-1] == pytest.approx(score.mean(), rel=1e-6)
    assert scored.variances()["estimate"].iloc[-1] == pytest.approx(score.var(), rel=1e-4)
    pairs = scored.correlations().set_index(["first", "second"])["estimate"]
    assert pairs["age", "s"] == pytest.approx(np.corrcoef(rows.age, score)[0, 1], rel=1e-3)
    design = np.column_stack([np.ones(len(rows)), score])
    fit = scored.regress("age", ["s"])
    assert [fit.attrs["intercept"]["estimate"], fit["estimate"].item()] == pytest.approx(
        np.linalg.lstsq(design, rows.age, rcond=None)[0].tolist(), rel=1e-3
    )
    means = scored.group_means("ill").set_index(["group", "column"])["estimate"]
    assert means["ill=yes", "s"] == pytest.approx(score[rows.ill == "yes"].mean(), rel=1e-3)
    twice = found.with_score("ab", ["a", "b"]).with_score("s2", ["ab", "c"], reverse=["c"])
    assert twice.means()["estimate"].iloc[-1] == pytest.approx((((rows.a + rows.b) / 2 - rows.c) / 2).mean(), abs=1e-5)


def test_alpha_is_cronbachs_and_a_reversed_item_counts_against():
    rows, found = table(), answered(table())
    items = rows[["a", "b"]].assign(c=-rows.c)
    wanted = 3 / 2 * (1 - items.var().sum() / items.sum(axis=1).var())
    got = found.alpha(["a", "b", "c"], ["c"])
    assert got["estimate"].item() == pytest.approx(wanted, rel=1e-4)
    assert got["ci_low"].item() < wanted < got["ci_high"].item() <= 1
    assert found.alpha(["a", "b", "c"])["estimate"].item() < 0


def literal(noise, known, u, v, at):
    """Return the variance of u'Ev over many draws of the noise E on the covariance, at a known mean."""
    rng, d, r2 = np.random.default_rng(7), len(u), known.measured.row_bound**2
    drawn = [r2 * noise.draw(rng)[:d, :d] for _ in range(4000)]
    return np.var([u @ e @ v for e in drawn])


@pytest.mark.parametrize(
    ("method", "guarantee"),
    [("auto-cov", ZCDP(0.5)), ("laplace-cov", PureDP(2.0)), ("wishart-difference", PureDP(2.0))],
)
def test_the_noise_on_a_score_is_that_of_drawn_noise(method, guarantee):
    """Variances of 4,000 draws have a standard error of about 3 %, of Laplace numbers 4 %; 15 % would be seen."""
    rows = table(500)[["a", "b", "c", "age"]]
    found = answered(rows, guarantee, method, {name: KINDS[name] for name in rows})
    known = dataclasses.replace(found._known, mean=np.zeros(4))
    scored = scales.with_score(known, "s", [0, 2], np.array([1.0, -1.0]))
    u, axis = scored.turn[-1], scored.turn[1]
    assert np.linalg.norm(u) == pytest.approx(1)
    noise = known.measured.distribution
    flat = np.zeros((3, 3))
    for form, pair in (([-1, -1], (u, u)), ([1, -1], (axis, u))):
        a = np.zeros((3, 3))
        a[form[0], form[1]] += 0.5
        a[form[1], form[0]] += 0.5
        law = dataclasses.replace(scored.law, mean=0.0, count=0.0)
        assert law.form_variance(a, np.zeros(3), flat) == pytest.approx(literal(noise, known, *pair, form), rel=0.15)


def test_a_group_that_is_small_for_its_noise_and_a_release_without_a_mean_have_no_interval():
    rows = table(300)
    found = answered(rows, ZCDP(1e-4)).group_means("ill")
    assert REASONS[SMALL_CLASS] in set(found["reason"])
    assert found.loc[~found["identified"], ["estimate", "ci_low", "ci_high"]].isna().all(axis=None)
    data = Dataset.from_rows(rows, kinds=KINDS)
    bare = privcov.answers(privcov.release(data, ZCDP(1.0), "gaussian-cov", random_state=1, centre="none"))
    assert set(bare.group_means("ill")["reason"]) == {REASONS[NO_MEAN]}
    short = Dataset.from_rows(rows, kinds=KINDS).with_row_bound(0.5 * data.row_bound)
    cut = privcov.answers(privcov.release(short, ZCDP(1.0), "auto-cov", random_state=1, centre="joint")).group_means(
        "ill"
    )
    assert set(cut["reason"]) == {REASONS[NO_GROUPS]}


def test_factors_have_no_interval_and_say_what_not_to_read_from_them():
    found = answered(table())
    got = found.factors(1, ["a", "b", "c", "age"])
    assert set(got["reason"]) == {REASONS[NO_INTERVAL]}
    assert got.attrs["warning"] == factors.NO_FIT
    noisy = answered(table(400), ZCDP(0.1)).factors(1).attrs["warning"]
    assert re.match(r"[1-9] of \d eigenvalues are below the noise", noisy)
    loads = got["estimate"].to_numpy()
    assert loads[0] > 0.7
    assert loads[2] < -0.5
    rest = got["uniqueness"].to_numpy()
    np.testing.assert_allclose(loads**2 + rest, 1.0, atol=1e-3)
    drowned = answered(table(200), ZCDP(1e-7)).factors(1, ["a", "b", "c", "age"])
    assert drowned["estimate"].isna().all()


def test_a_fit_of_an_exact_factor_model_finds_it_whatever_its_rotation():
    true = np.array([[0.9, 0], [0.8, 0], [0.7, 0], [0, 0.8], [0, 0.6], [0, 0.5]])
    r = true @ true.T + np.diag(1 - np.sum(true**2, axis=1))
    found, rest = factors.loadings(r, 2)
    np.testing.assert_allclose(found, true, atol=1e-4)
    np.testing.assert_allclose(rest, 1 - np.sum(true**2, axis=1), atol=1e-4)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda f: f.group_means("age"), "by names 'age', which is not declared with two values"),
        (lambda f: f.group_means("wards"), "by names 'wards', which is no column"),
        (lambda f: f.group_means(["ill"]), "by takes one value, got list"),
        (lambda f: f.with_score("s", ["a", "b"]).regress("c", "s", ridge=0.1), "ridge goes by bounds"),
        (lambda f: f.alpha(["a"]), "items must name at least two columns, got 1"),
        (lambda f: f.alpha("a"), "items must name at least two columns, got 1"),
        (lambda f: f.alpha(["a", "a"]), "items names 'a' twice"),
        (lambda f: f.alpha(["a", "b"], ["c"]), "reverse names 'c', which is not among the items"),
        (lambda f: f.with_score("age", ["a", "b"]), "name 'age' is that of another column"),
        (lambda f: f.with_score("", ["a", "b"]), "name"),
        (lambda f: f.with_score("s", ["a", "ill=yes"]), "items has columns of two values and others"),
        (lambda f: f.factors(9), "n_factors must be"),
        (lambda f: f.factors(1, ["a", "b"]), "at least three columns"),
        (lambda f: f.with_score("s", ["a", "b"]).contrast("x", "y"), "no class sums"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(ask, said):
    with pytest.raises((ValueError, TypeError), match=said):
        ask(answered(table(200)))


def test_a_share_lies_in_its_interval():
    for seed in range(20):
        data = Dataset.from_rows(table(2000), kinds=KINDS)
        found = privcov.answers(privcov.release(data, ZCDP(0.002), "auto-cov", random_state=seed, centre="joint"))
        shares = found.group_means("ill").query("identified and column.str.startswith('ward')")
        shares = shares[~shares["group"].str.contains("less")]
        shares = pd.concat([shares, found.means().query("column.str.contains('=')")])
        assert ((shares["ci_low"] <= shares["estimate"]) & (shares["estimate"] <= shares["ci_high"])).all()
