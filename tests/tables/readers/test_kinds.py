"""Kinds of columns and their coder: what is refused when it is declared, and that nothing a cell holds is an error."""

import datetime
import json
import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcov.tables.readers.coding import code_numbers, coded_column, coded_table, coded_values, coder_of
from privcov.tables.readers.kinds import FIRST_DAY, Kind, natural_log

KIND_OF = {
    "number": Kind("number", -2.5, 1e6, missing_codes=("-9", "n.k.")),
    "log1p": Kind("number", 0, 1e6, transform="log1p"),
    "log": Kind("number", 1e-3, 10, transform="log", typical=1),
    "sqrt": Kind("integer", 0, 400, transform="sqrt", missing_codes=("-1",)),
    "integer": Kind("integer", 0, 120, typical=40, missing_codes=(-9, "999")),
    "yes-no": Kind("yes-no", values=("no", "yes"), typical="no"),
    "ordinal": Kind("ordinal", values=(1, 2, 3), missing_codes=(9,)),
    "category": Kind("category", values=("A", "B", "7")),
    "other": Kind("category", values=("A", "B"), other=True, missing_codes=("-9", "unknown")),
    "date": Kind("date", "2020-01-01", "2023-12-31", format="%d.%m.%Y", missing_codes=("01.01.1900",)),
}
CELLS = st.one_of(
    st.text(max_size=12),
    st.binary(max_size=12),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.none(),
    st.dates(),
    st.datetimes(),
    st.decimals(),
    st.sampled_from(
        ["A", " B ", "7.0", 7, "yes", "-9", "-9.0", " -9 ", "01.02.2021", "1_0", "nan", "inf", "x" * 9000, "9" * 5000]
    ),
    st.sampled_from([10**400, -(10**5000), pd.NaT, pd.NA, np.nan, np.datetime64("NaT"), np.datetime64("2021-02-01")]),
    st.sampled_from([Decimal("sNaN"), 1j, [1], {}, np.zeros(2), object(), np.float32(3), "\ud800", b"\xff"]),
)


def slowly(kind: Kind, value: object) -> list[float]:
    """The measured columns of one text or number, written down case by case."""
    text = str(value).strip()
    as_number = float(text) if text.replace(".", "", 1).lstrip("+-").isdigit() else math.nan
    codes = [float(code) for code in kind.missing_codes if code.lstrip("-").isdigit()]
    if text in ("", "nan", "NA", "None") or text in kind.missing_codes or as_number in codes:
        return [math.nan] * kind.width
    if kind.kind == "category":
        at = kind.values.index(text) if text in kind.values else len(kind.values) if kind.other else None
        return [math.nan if at is None else float(at == k) for k in range(kind.width)]
    if kind.values:
        return [kind.values.index(text) + (kind.kind == "ordinal") if text in kind.values else math.nan]
    if kind.kind == "date":
        try:
            day, month, year = map(int, text.split("."))
            return [datetime.date(year, month, day).toordinal() - FIRST_DAY]
        except ValueError:
            return [math.nan]
    x = float(round(as_number)) if kind.kind == "integer" and as_number == as_number else as_number
    if kind.transform:
        x = min(max(x, kind.low), kind.high)
        x = {"log1p": math.log1p, "log": math.log, "sqrt": math.sqrt}[kind.transform](x) if x == x else x
    return [x]


@pytest.mark.parametrize("key", KIND_OF)
@given(cells=st.lists(CELLS, max_size=4))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_cell_is_an_error_and_none_changes_another(key, cells):
    """150 lists of up to 4 cells of every type per kind: one that fails on a cell in 50 is met 6 times."""
    kind = KIND_OF[key]
    together = coded_values(kind, cells)
    assert together.shape == (kind.width, len(cells))
    assert together.dtype == np.float64
    for at, cell in enumerate(cells):
        alone = coded_values(kind, [cell])[:, 0]
        assert np.array_equal(alone, together[:, at], equal_nan=True)
        assert not np.isinf(alone).any()
        if kind.kind == "category":
            assert np.isnan(alone).all() or (set(alone) <= {0.0, 1.0} and alone.sum() <= 1)
        elif kind.values:
            assert np.isnan(alone).all() or kind.limits[0][0] <= alone[0] <= kind.limits[0][1]


@pytest.mark.parametrize("key", KIND_OF)
def test_texts_are_coded_as_by_a_slow_formula(key):
    texts = ["", "NA", "A", "B", "C", "7", "-9", "999", "-1", "9", "1", "2", "3", "yes", "no", "Yes", "unknown", "n.k."]
    texts += ["01.02.2021", "31.12.2025", "30.02.2021", "2021-02-01", "01.01.1900", "2.5", "3.5", "1e", "400", "40.25"]
    kind = KIND_OF[key]
    found, wanted = coded_values(kind, texts), np.array([slowly(kind, text) for text in texts]).T
    assert np.allclose(found, wanted, rtol=1e-15, atol=4e-16, equal_nan=True)


@pytest.mark.parametrize("key", KIND_OF)
def test_arrow_pandas_and_lists_are_coded_alike(key):
    kind = KIND_OF[key]
    texts = ["A", None, "B", "7", "yes", "2", "3.5", "-9", "01.02.2021", "C", "", "999"]
    wanted = coded_values(kind, texts)
    for column in (pa.array(texts), pa.chunked_array([texts[:5], texts[5:]]), pa.array(texts).dictionary_encode()):
        assert np.array_equal(coded_column(kind, column), wanted, equal_nan=True)
    for column in (texts, pd.Series(texts, dtype="string"), pd.Series(texts, dtype="category")):
        held = coded_table(pd.DataFrame({"more": 1, "x": column}), [("x", kind)])
        assert np.array_equal(held.T, wanted, equal_nan=True)
    rows = [[text, "A"] for text in texts]
    pair = coded_table(rows, [("x", kind), ("y", KIND_OF["category"])])
    assert np.array_equal(pair[:, : kind.width].T, wanted, equal_nan=True)


def test_numbers_and_dates_of_every_type_are_one():
    numbers = [1, -9, 40, 130, 0]
    wanted = coded_values(KIND_OF["integer"], list(map(str, numbers)))
    decimals = pa.array([Decimal(x) for x in numbers], pa.decimal128(9, 2))
    for column in (pa.array(numbers), pa.array(numbers, pa.float32()), pa.array(numbers, pa.int16()), decimals):
        assert np.array_equal(coded_column(KIND_OF["integer"], column), wanted, equal_nan=True)
    days = [datetime.datetime(1969, 12, 31, 23), datetime.datetime(2021, 2, 1, 5), None]
    kind = Kind("date", "1960-01-01", "2030-01-01")
    wanted = coded_values(kind, ["1969-12-31", "2021-02-01", ""])
    assert wanted[0, :2].tolist() == [-1.0, 18659.0]
    stamps = [pa.array(days, pa.timestamp(unit)) for unit in ("s", "us", "ns")]
    for column in (*stamps, pa.array([d and d.date() for d in days])):
        assert np.array_equal(coded_column(kind, column), wanted, equal_nan=True)
    frame = pd.DataFrame({"x": pd.to_datetime(days)})
    for held in (frame, frame.astype(object)):
        assert np.array_equal(coded_table(held, [("x", kind)]).T, wanted, equal_nan=True)


@pytest.mark.parametrize("key", KIND_OF)
def test_a_value_that_python_does_not_have_is_an_unlisted_text(key):
    """Text that is not UTF-8, and times beyond Python's years: the cell beside each stays what it is."""
    kind = KIND_OF[key]
    text = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"A"]).buffers())
    times = [pa.array([2**50, 0], pa.timestamp("s")), pa.array([2**31 - 1, 0], pa.date32())]
    times.append(pa.array([2**60, 0], pa.duration("s")))
    for column in [text, text.dictionary_encode(), *times]:
        both = coded_column(kind, column)
        assert np.array_equal(both[:, 1:], coded_column(kind, column[1:]), equal_nan=True)
        if kind.kind != "date" or column is text:
            assert np.array_equal(both[:, :1], coded_values(kind, ["\ud800"]), equal_nan=True)
    spans = np.array([np.timedelta64(3, "D"), np.timedelta64(3, "ns"), np.timedelta64("NaT")], dtype=object)
    assert np.isnan(coded_values(Kind("number", 0, 9), list(spans))).all()


@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_dates_of_pandas_kept_by_arrow_are_those_of_the_file(zone):
    """A missing one among them is missing; a time is the day at its own place, whatever keeps it."""
    times = pa.array([0, None, 1_600_000_000], pa.timestamp("s", zone))
    columns = [times] if zone else [times, times.cast(pa.date32())]
    for column in columns:
        frame = pd.DataFrame({"x": pd.Series(column, dtype=pd.ArrowDtype(column.type))})
        wanted = coded_column(KIND_OF["date"], column)
        assert wanted[0, 0] == -bool(zone)
        assert np.array_equal(coded_table(frame, [("x", KIND_OF["date"])]).T, wanted, equal_nan=True)


def test_a_code_is_met_however_it_is_written():
    for cell in ("-9", "-9.0", " -9 ", "-9.00", -9, -9.0, np.int8(-9), Decimal("-9"), b"-9"):
        for key in ("number", "integer", "other"):
            assert np.isnan(coded_values(KIND_OF[key], [cell])).all(), (key, cell)


def test_what_is_beyond_the_bounds_of_a_transform_is_moved_to_them_first():
    kind = KIND_OF["log"]
    assert coded_values(kind, [-5, 0, 1e-3, 10, 1e300])[0].tolist() == [
        *[kind.limits[0][0]] * 3,
        *[kind.limits[0][1]] * 2,
    ]


def test_a_logarithm_is_one_number_wherever_it_stands():
    """10,000 numbers over 600 decades, alone, together and shifted by one: the same bits, and within 4e-16."""
    x = 10.0 ** np.random.default_rng(1).uniform(-300, 300, 10_000)
    together = natural_log(x)
    assert np.array_equal(natural_log(x[1:]), together[1:])
    assert all(natural_log(x[k : k + 1])[0] == together[k] for k in range(0, len(x), 97))
    assert (np.abs(together - np.log(x)) <= 4e-16 * (1 + np.abs(np.log(x)))).all()
    assert (np.diff(natural_log(np.sort(x))) >= 0).all()


def test_a_coder_holds_nothing_of_the_rows():
    """An unlisted text never becomes a level, whatever came before; a typical value is not fitted."""
    code = coder_of(KIND_OF["category"])
    before = [code(cell) for cell in ("A", "Z", "Z", "Z", "B")]
    assert np.array_equal(before, [0.0, *[math.nan] * 3, 1.0], equal_nan=True)
    assert KIND_OF["category"].names("w") == ("w=A", "w=B", "w=7")
    one = code_numbers(KIND_OF["log1p"], np.array([5.0, 1e5]))[0, 0]
    assert one == code_numbers(KIND_OF["log1p"], np.array([5.0]))[0, 0]


@pytest.mark.parametrize("key", KIND_OF)
def test_what_is_declared_is_stored_and_read_again(key):
    kind = KIND_OF[key]
    assert Kind.from_dict(json.loads(json.dumps(kind.to_dict()))) == kind
    assert len(kind.names("x")) == kind.width == len(kind.limits) == len(kind.origins)
    assert all(low <= usual <= high for (low, high), usual in zip(kind.limits, kind.origins, strict=True))
    assert "weight" not in kind.to_dict()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "text"}, "kind must be one of"),
        ({"low": 0}, "needs low and high"),
        ({"low": 1, "high": 1}, "low < high"),
        ({"low": 0, "high": 1, "values": ("a", "b")}, "values are the levels"),
        ({"low": 0, "high": 9, "transform": "log"}, "needs low > 0"),
        ({"low": -1, "high": 9, "transform": "sqrt"}, "needs low >= 0"),
        ({"low": -1, "high": 9, "transform": "log1p"}, "needs low > -1"),
        ({"low": 1e300, "high": 1.0001e300, "transform": "log1p", "typical": 0}, "inside the bounds"),
        ({"low": 0, "high": 120, "missing_codes": (99,)}, "inside the bounds"),
        ({"low": 0, "high": 120, "missing_codes": ("-9,5",)}, "Write '-9.5'"),
        ({"low": 0, "high": 120, "typical": 121}, "typical must be inside"),
        ({"low": 0, "high": 1, "weight": 0}, "weight must lie in"),
        ({"low": 0, "high": 1, "format": "%Y"}, "format is for dates"),
        ({"low": 0, "high": 1, "missing_codes": ("", 1)}, "missing cell already"),
        ({"low": 0, "high": 1, "missing_codes": "-9"}, "must be a list"),
        ({"low": 0, "high": 1, "other": True}, "is for a category"),
        ({"kind": "integer", "low": 0.5, "high": 3}, "whole number"),
        ({"kind": "category"}, "needs values"),
        ({"kind": "category", "values": ("A",)}, "takes 2 to 200"),
        ({"kind": "category", "values": tuple(range(10_000))}, "10,000"),
        ({"kind": "category", "values": ("A", "A ")}, "are the same"),
        ({"kind": "category", "values": ("A", "NA")}, "missing cell already"),
        ({"kind": "category", "values": ("A", "other"), "other": True}, "adds one of that name"),
        ({"kind": "category", "values": ("A", "B"), "typical": "A"}, "has no typical value"),
        ({"kind": "category", "values": ("A", "\ud800")}, "half a character"),
        ({"kind": "yes-no", "values": ("a", "b", "c")}, "takes 2 values"),
        ({"kind": "ordinal", "values": ("1", "9"), "missing_codes": (9,)}, "one of the values"),
        ({"kind": "ordinal", "values": ("1", "2"), "low": 0}, "low is not for"),
        ({"kind": "ordinal", "values": ("1", "2"), "typical": "3"}, "typical must be one of"),
        ({"kind": "date", "low": "2020-01-01"}, "first and the last date"),
        ({"kind": "date", "low": "2020-02-30", "high": "2021-01-01"}, "must be a date"),
        ({"kind": "date", "low": "2020-01-01", "high": "2021-01-01", "format": "%d %b %Y"}, "got '%b'"),
        ({"kind": "date", "low": "2020-01-01", "high": "2021-01-01", "format": "%Y-%m"}, "a day"),
        ({"kind": "date", "low": "2020-01-01", "high": "9999-12-31", "missing_codes": ("9999-12-31",)}, "inside"),
        ({"kind": "date", "low": "2020-01-01", "high": "2021-01-01", "transform": "log"}, "is for numbers"),
    ],
)
def test_a_mistake_is_one_sentence_when_it_is_declared(fields, said):
    with pytest.raises(ValueError, match=re.escape(said)) as problem:
        Kind(**fields)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("fields", [None, {}, {"kind": "number", "lowest": 1}, {"kind": "category", "values": "AB"}])
def test_what_was_not_stored_by_this_class_is_refused(fields):
    with pytest.raises(ValueError, match=r"kind of a column|must be a list"):
        Kind.from_dict(fields)
