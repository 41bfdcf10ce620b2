"""What Declare accepts can be saved and loaded again, in the form, in a shell and in Python."""

import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pages.your_data.declare import columns
from privcov.tables.declaration.declaration import Column, Declaration

NUMBERS = st.one_of(
    st.integers(-1000, 1000).map(float), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: float(f"{x:.6g}"))
)
WORDS = st.text("abcdefg 0123456789-éß", min_size=1, max_size=8).map(str.strip).filter(bool)
CODES = st.lists(
    st.sampled_from(["-9", "9", "99", "999", "NA", "na", "missing", "-1", "0", "9.0", "-1.0"]), max_size=3, unique=True
)


@st.composite
def lines(draw):
    """One line of the form, as somebody may fill it in."""
    kind = draw(st.sampled_from(["number", "integer", "yes-no", "ordinal", "category", "date", "log", "log1p", "sqrt"]))
    line = {"column": draw(st.sampled_from(["age", "a b", "Größe", "x"])), "kind": kind, "levels": "", "reason": "r"}
    line |= {"low": np.nan, "high": np.nan, "typical": np.nan, "weight": draw(st.sampled_from([1.0, 1.0, 2.0, 0.5]))}
    ends = sorted(draw(st.lists(NUMBERS, min_size=2, max_size=2, unique=True)))
    if kind == "date":
        days = [(datetime.date(2000, 1, 1) + datetime.timedelta(int(x) % 9000)).isoformat() for x in ends]
        ends, line["levels"] = sorted(days), draw(st.sampled_from(["", "%d.%m.%Y", "%Y-%m-%d"]))
        if "." in line["levels"]:
            ends = [datetime.date.fromisoformat(day).strftime("%d.%m.%Y") for day in ends]
    if kind in ("yes-no", "ordinal", "category"):
        size = 2 if kind == "yes-no" else draw(st.integers(2, 5))
        levels = draw(
            st.one_of(
                st.lists(WORDS, min_size=size, max_size=size, unique=True),
                st.just([str(k) for k in range(size)]),
                st.just([f"0{k}" for k in range(1, size + 1)]),
                st.just([f"{k}.0" for k in range(1, size + 1)]),
            )
        )
        line["levels"] = " | ".join(levels)
        if kind != "category":
            line["typical"] = draw(st.sampled_from([np.nan, levels[0], levels[-1]]))
        if kind == "ordinal" and draw(st.booleans()):
            line["typical"] = f"{levels[0]} to {levels[-1]}"
    else:
        how = draw(st.sampled_from(["limits", "typical", "range", "range and limits", "range and low"]))
        if how in ("limits", "typical"):
            line |= {"low": ends[0], "high": ends[1]}
            if how == "typical":
                line["typical"] = ends[draw(st.integers(0, 1))]
        else:
            line["typical"] = f"{ends[0]} to {ends[1]}"
            far = (lambda x, by: x) if kind == "date" else (lambda x, by: x + by)
            by = draw(st.sampled_from([0.0, 1.0, 50.0]))
            line["reason"] = draw(st.sampled_from(["", "r"]))
            if how == "range and limits":
                line |= {"low": far(ends[0], -by), "high": far(ends[1], by)}
            elif how == "range and low":
                line["low"] = far(ends[0], -by)
    line["codes"] = " | ".join(draw(CODES))
    return SimpleNamespace(**line)


def declared(column: Column) -> Declaration:
    return Declaration("t", "one person", (column,))


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
@given(line=lines())
def test_a_declaration_that_was_saved_loads_as_it_was(line):
    """About a third of the lines are accepted; each gives the same column by the form, and by the file of a shell."""
    try:
        column = columns.column_of(line)
        declaration = declared(column)
    except ValueError:
        assume(False)
    read = Declaration.from_json(declaration.to_json())
    assert read == declaration
    assert read.to_json() == declaration.to_json()
    again = columns.column_of(SimpleNamespace(column=column.name, **columns.line_of(read.columns[0])))
    assert again == column


def test_a_range_with_own_limits_and_a_code_beyond_them():
    """Answers from 1 to 5, most of them 2 to 4, 9 where it is missing: the limits were dropped, so it was refused."""
    column = Column("q", 1.0, 5.0, kind="integer", typical_range=(2.0, 4.0), missing_codes=("9",), reason="the scale")
    line = columns.line_of(Declaration.from_json(declared(column).to_json()).columns[0])
    assert columns.column_of(SimpleNamespace(column="q", **line)) == column


@pytest.mark.parametrize("codes", [("a|b",), ("1;2",)])
def test_a_code_that_the_form_cannot_hold_is_named(codes):
    with pytest.raises(ValueError, match="command line"):
        columns.line_of(Column("q", 1.0, 5.0, missing_codes=codes, reason="r"))
