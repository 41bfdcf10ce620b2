"""What the table of limits takes in from the browser: each edit once, each number as it was meant."""

import math

import numpy as np
import pandas as pd
import pytest

from pages.your_data.declare import limits_table
from pages.your_data.declare.limits_table import Field

FIELDS = (
    Field("use", "Use", "tick"),
    Field("column", "Column", "name"),
    Field("low", "Lowest", "number"),
    Field("reason", "Why", "text", most=5),
)
USE, COLUMN, LOW, REASON = range(4)


@pytest.fixture
def state(monkeypatch) -> dict:
    found: dict = {}
    monkeypatch.setattr(limits_table.st, "session_state", found)
    return found


def frame() -> pd.DataFrame:
    empty = np.full(2, np.nan, dtype=object)
    return pd.DataFrame({"use": [True, True], "column": ["u", "v"], "low": empty, "reason": ["", ""]})


def typed(state, frame, *edits):
    state["k"] = {"cells": list(edits)}
    return limits_table.taken_in(frame, FIELDS, "k")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0), (" 1e5 ", 1e5), (".5", 0.5), ("5.", 5.0), ("+3", 3.0), ("1E-3", 1e-3), ("-2", -2.0),
        ("\N{MINUS SIGN}2e\N{MINUS SIGN}1", -0.2), ("12345678901234567", 12345678901234567.0),
    ],
)  # fmt: skip
def test_a_number_is_read_as_it_is_written_and_shown_so_that_it_is_read_again(state, text, number):
    found = typed(state, frame(), [0, LOW, 1, text])
    assert found.loc[0, "low"] == number
    assert limits_table.unread(found, FIELDS) == ""
    assert typed(state, frame(), [0, LOW, 1, limits_table._display_value(number, "number")]).loc[0, "low"] == number


@pytest.mark.parametrize(
    "text",
    [
        "1,500",
        "-12,000",
        "1,2,3",
        "1_000",
        "1 000",
        "0x10",
        "inf",
        "nan",
        "1e400",
        "--1",
        "\N{FULLWIDTH DIGIT ONE}",
        "e5",
        ".",
    ],
)
def test_what_is_no_finite_number_stays_as_typed_and_is_named_where_it_is_used(state, text):
    found = typed(state, frame(), [1, LOW, 1, text])
    assert found.loc[1, "low"] == text
    assert f"Lowest of 'v' is {text!r}, which is not a finite number" in limits_table.unread(found, FIELDS)
    found = typed(state, found, [0, LOW, 2, "abc"])
    assert limits_table.unread(found, FIELDS).startswith(f"Lowest of 'u' is 'abc', Lowest of 'v' is {text!r}, which")
    found["use"] = False
    assert limits_table.unread(found, FIELDS) == ""


def test_an_edit_is_taken_in_once_and_the_newest_wins(state):
    found = typed(state, frame(), [0, LOW, 2, "7"], [0, LOW, 1, "5"], [1, USE, 3, False], [0, REASON, 4, " lifetime "])
    assert found.loc[0, ["low", "reason"]].tolist() == [7.0, "lifet"]
    assert not found.loc[1, "use"]
    found["use"] = True  # a button of the page; the browser still sends what it had sent
    assert limits_table.taken_in(found, FIELDS, "k") is found
    assert math.isnan(typed(state, found, [0, LOW, 5, ""]).loc[0, "low"])


@pytest.mark.parametrize("edit", [[2, LOW, 1, "3"], [0, COLUMN, 1, "w"]])
def test_an_edit_of_another_cell_is_refused(state, edit):
    with pytest.raises(ValueError, match="reload the page"):
        typed(state, frame(), edit)
