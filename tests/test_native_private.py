"""Private rows as people have them: the frames and arrays of test_native_input.py, with names, bounds by name and ids.

What a message may say of private rows: the types of columns, never a cell or how many rows there are.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest

from privcov import PrivateDataset
from privcov.measurements.exact.private_moment import exact_sum
from tests.test_native_input import COLUMNS, Stream

LIMITS = {"b": (0, 2), "a": (-1, 3)}
FRAME = pandas.DataFrame({"a": [0.0, 2.5, 1.0], "b": [1.5, 0.25, 2.0]})
WHO = ["p", "q", "p"]


def arrow(frame: pandas.DataFrame):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra files has it")
    return pyarrow.Table.from_pandas(frame)


def polars(frame: pandas.DataFrame):
    library = pytest.importorskip("polars", reason="polars is not installed: its stream is what `stream` has")
    return library.from_pandas(frame)


def stream(frame: pandas.DataFrame):
    """Another library's frame: its shape and Arrow's stream are all that is known."""
    held = Stream(arrow(frame))
    held.shape = frame.shape
    return held


KINDS = {"pandas": lambda frame: frame, "arrow": arrow, "polars": polars, "stream": stream}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_frame_is_the_table_of_its_numbers_with_its_names_and_ids(kind):
    """The sums that are measured are those of the array, the list and the bounds in order."""
    frame = KINDS[kind](FRAME.assign(who=WHO)[["who", "a", "b"]])
    named = PrivateDataset.from_rows(frame, bounds=LIMITS, typical={"b": None, "a": 0.5}, person="who")
    plain = PrivateDataset.from_rows(
        FRAME.to_numpy(), bounds=[(-1, 3), (0, 2)], typical=[0.5, None], columns=["a", "b"], persons=WHO, person="who"
    )
    assert named.facts.to_dict() == plain.facts.to_dict()
    assert exact_sum(named, 1).tolist() == exact_sum(plain, 1).tolist()


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_a_column_of_numbers_is_taken_whatever_its_type(kind):
    frame = pandas.DataFrame({"a": COLUMNS[kind], "b": [1, 2, 3]})
    plain = [[float(value), place] for value, place in zip(COLUMNS[kind], (1, 2, 3), strict=True)]
    tables = [PrivateDataset.from_rows(X, row_bound=300.0) for X in (frame, plain)]
    assert tables[0].facts.columns == ("a", "b")
    assert exact_sum(tables[0], 1).tolist() == exact_sum(tables[1], 1).tolist()


def test_what_has_no_value_is_missing():
    """A mask, None and pandas.NA; the number under a mask is none, which as a value would be the largest row."""
    masked = np.ma.array([[0.5, 999.0], [0.25, 0.5]], mask=[[False, True], [False, False]])
    objects = [[0.5, None], [0.25, 0.5]]
    nullable = pandas.DataFrame({"x1": [0.5, 0.25], "x2": pandas.array([None, 0.5], dtype="Float64")})
    want = PrivateDataset.from_rows([[0.5, np.nan], [0.25, 0.5]], row_bound=1.0, missing="pairs")
    for X in (masked, objects, nullable):
        table = PrivateDataset.from_rows(X, row_bound=1.0, missing="pairs")
        assert exact_sum(table, 1).tolist() == exact_sum(want, 1).tolist()


CELLS = {
    "text": [[0.5, 1.0], [0.25, "secret"]],
    "date": [[0.5, 1.0], [0.25, pandas.Timestamp(0)]],
    "complex": [[0.5, 1.0], [0.25, 777j]],
    "ragged": [[0.5, 1.0], [0.25]],
    "nested": [[0.5, 1.0], [0.25, [777]]],
    "frame": pandas.DataFrame({"a": [0.5, "secret"], "b": [1, 2]}),
}


NO_NUMBERS = {"signalling": Decimal("sNaN"), "span": np.timedelta64(3, "s"), "masked": np.ma.masked}


@pytest.mark.parametrize("cell", [*NO_NUMBERS.values()], ids=[*NO_NUMBERS])
def test_a_number_without_a_value_is_missing_without_a_word(cell):
    for X in ([[0.5, 0.25], [cell, 0.5]], pandas.DataFrame({"a": pandas.Series([0.5, cell], dtype=object), "b": 0.5})):
        rows = PrivateDataset.from_rows(X, 1.0)._rows
        assert np.isnan(rows).tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize("value", [10**5000, Fraction(10**5000, 3), np.ma.masked], ids=["whole", "fraction", "masked"])
def test_a_label_and_an_id_that_cannot_be_written_are_none(value):
    """Python writes no number of more than 4,300 digits."""
    rows = [[0.5], [0.25]]
    assert PrivateDataset.from_rows(rows, 1.0, labels=[value, "a"], classes=["a", "b"])._class_of.tolist() == [-1, 0]
    assert PrivateDataset.from_rows(rows, 1.0, persons=[value, "p"])._rows_of_person.tolist() == [0, 1]


@pytest.mark.parametrize("kind", list(CELLS))
def test_a_message_says_nothing_of_a_cell_or_a_row(kind):
    """One sentence for all of them, without column, row or type, and without another error behind it."""
    with pytest.raises(ValueError, match=r"^X must hold numbers only, in rows of one length; a cell") as caught:
        PrivateDataset.from_rows(CELLS[kind], row_bound=1.0)
    assert not re.search(r"\d|secret|column", str(caught.value))
    assert caught.value.__context__ is caught.value.__cause__ is None


@pytest.mark.parametrize("shape", [(7,), (7, 0), (0, 2), (7, 1, 1)])
def test_a_message_says_no_number_of_rows(shape):
    with pytest.raises(ValueError, match="X must") as caught:
        PrivateDataset.from_rows(np.zeros(shape), row_bound=1.0)
    assert "7" not in str(caught.value)


def test_a_number_beyond_the_largest_float_is_infinite_without_a_warning():
    table = PrivateDataset.from_rows(np.array([[np.longdouble("1e4000")], [0.5]]), row_bound=1.0)
    plain = PrivateDataset.from_rows([[np.inf], [0.5]], row_bound=1.0)
    assert exact_sum(table, 1).tolist() == exact_sum(plain, 1).tolist()
