"""Means in the owner's terms: exact values, each by a formula of its own."""

import math

import numpy as np
import pytest

from privcov import Kind
from privcov.postprocess.terms import mean_terms

DAYS = Kind("date", "2020-01-01", "2020-12-31")
PAY = {word: Kind("number", 1, 100, transform=word) for word in ("log", "log1p", "sqrt")}


def test_shares_of_levels_and_of_yes():
    kinds = (("ward", Kind("category", values=("A", "B"), other=True)), ("sex", Kind("yes-no", values=("F", "M"))))
    terms = mean_terms(kinds, [0.5, 0.25, -0.01, 1.2])
    assert [(t.column, t.level, t.what, t.value, t.text) for t in terms] == [
        ("ward", "A", "share", 0.5, "50.0 %"),
        ("ward", "B", "share", 0.25, "25.0 %"),
        ("ward", "other", "share", 0.0, "0.0 %"),
        ("sex", "M", "share", 1.0, "100.0 %"),
    ]


def test_a_mean_day_is_a_date_within_the_bounds():
    assert [mean_terms((("day", DAYS),), [x])[0].text for x in (18262, 18262.6, 0, 1e9)] == [
        "2020-01-01",
        "2020-01-02",
        "2020-01-01",
        "2020-12-31",
    ]


def test_a_mean_position_names_the_levels_around_it():
    pain = (("pain", Kind("ordinal", values=("none", "some", "much"))),)
    texts = [mean_terms(pain, [x])[0].text for x in (0.2, 1.0, 1.5, 2.02, 2.4, 3.0, 7)]
    assert texts == [
        "1.00 (none)",
        "1.00 (none)",
        "1.50 (none to some)",
        "2.02 (some)",
        "2.40 (some to much)",
        "3.00 (much)",
        "3.00 (much)",
    ]


def test_a_transform_is_undone_to_what_it_says():
    x = np.random.default_rng(2).uniform(1, 100, 1000)
    mean = {"log": np.log(x).mean(), "log1p": np.log1p(x).mean(), "sqrt": np.sqrt(x).mean()}
    wanted = {
        "log": math.exp(sum(map(math.log, x)) / len(x)),
        "log1p": math.exp(sum(math.log(1 + v) for v in x) / len(x)) - 1,
        "sqrt": x.mean() - np.sqrt(x).var(),
    }
    for word, kind in PAY.items():
        (term,) = mean_terms((("pay", kind),), [mean[word]])
        assert term.value == pytest.approx(wanted[word], rel=1e-12)
        assert term.value < x.mean()
        assert term.text == f"{wanted[word]:.4g}"
    assert {mean_terms((("pay", kind),), [1.0])[0].what for kind in PAY.values()} == {
        "geometric mean",
        "geometric mean of 1 + x, less 1",
        "squared mean of the root",
    }


def test_numbers_stay_and_what_is_not_known_is_said():
    kinds = (("age", Kind("integer", 0, 120)), ("day", DAYS))
    known, unknown = mean_terms(kinds, [41.23456, math.nan])
    assert (known.what, known.value, known.text) == ("mean", 41.23456, "41.23")
    assert (unknown.what, unknown.text) == ("unknown", "too few rows")
    with pytest.raises(ValueError, match="one number for each of 2"):
        mean_terms(kinds, [1.0, 2.0, 3.0])
