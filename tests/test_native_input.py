"""Public rows as people have them: frames of pandas, polars and Arrow, and arrays of every type that holds numbers.

`numbers_of` is compared with the numbers of a list of rows; what is refused is in test_mistakes.py.
"""

from __future__ import annotations

import datetime
import sys
import types
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest

import privcov
from privcov import Dataset, RowsClippedWarning
from privcov.core import extras
from privcov.tables.in_memory import numbers_of

LIMITS = {"b": (0, 2), "a": (-1, 3)}
COLUMNS = {
    "int": [1, 2, 3],
    "float32": np.array([0.5, 0.25, 2], dtype=np.float32),
    "longdouble": np.array([0.5, 0.25, 2], dtype=np.longdouble),
    "bool": [True, False, True],
    "Int64": pandas.array([1, 2, 3], dtype="Int64"),
    "Float64": pandas.array([1, 2, 0.5], dtype="Float64"),
    "boolean": pandas.array([True, False, False], dtype="boolean"),
    "sparse": pandas.arrays.SparseArray([0.0, 0.0, 1.5]),
    "Decimal": [Decimal("0.5"), Decimal(1), Decimal(3)],
    "mixed": [Fraction(1, 2), 3, np.float32(0.25)],
    "uint8": np.array([0, 200, 255], dtype=np.uint8),
}


class Stream:
    """A data frame of which only Arrow's stream is known, as that of a library that is not installed here."""

    def __init__(self, table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_a_column_of_numbers_is_taken_whatever_its_type(kind):
    want = [float(value) for value in COLUMNS[kind]]
    rows, names = numbers_of(pandas.DataFrame({"a": COLUMNS[kind], "b": [1, 2, 3]}))
    assert names == ("a", "b")
    assert rows.tolist() == [[value, place] for value, place in zip(want, (1, 2, 3), strict=True)]
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous


@pytest.mark.parametrize("kind", ["arrow", "stream", "polars"])
def test_other_frames_keep_names_and_numbers(kind):
    columns = {"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, None, 2.0]}
    if kind == "polars":
        frame = pytest.importorskip(
            "polars", reason="polars is not installed: its stream is what `stream` has"
        ).DataFrame(columns)
    else:
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra files has it")
        table = pyarrow.table(columns | {"d": [Decimal("0.5")] * 3})
        frame = table if kind == "arrow" else Stream(table)
    rows, names = numbers_of(frame)
    np.testing.assert_array_equal(rows[:, :3], [[1, 1, 0.5], [2, 0, np.nan], [3, 1, 2]])
    assert names == ("a", "b", "c", "d")[: rows.shape[1]]
    if kind != "polars":
        assert rows[:, 3].tolist() == [0.5] * 3


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (["x"], "text"),
        ([b"x"], "type binary"),
        ([[1]], "type list"),
        ([datetime.date(2020, 1, 1)], "dates"),
        ("category", "categories"),
    ],
)
def test_other_frames_are_refused_by_the_name_of_the_column(of, words):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra files has it")
    column = pyarrow.array(["x"]).dictionary_encode() if of == "category" else pyarrow.array(of)
    with pytest.raises(ValueError, match=f"^Column 'when' holds .*{words}"):
        numbers_of(Stream(pyarrow.table({"when": column})))


def test_a_frame_of_arrow_without_pyarrow_is_one_sentence(monkeypatch):
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(extras.MissingExtra, match=r"need the package pyarrow.*\.\[files\]"):
        numbers_of(Stream(None))


def test_an_array_gives_the_same_bits_as_before():
    """np.array(X, dtype=float64), for every kind of array and list that it took rightly."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 4))
    for X in (rows, rows.tolist(), rows[::2, ::-1], np.asfortranarray(rows), rows > 0, rows.astype(object),
              rows.astype(np.float16), (100 * rows).astype(int), list(map(tuple, rows))):  # fmt: skip
        got, names = numbers_of(X)
        want = np.array(X, dtype=np.float64, order="C", copy=True)
        assert names is None
        assert got.tobytes() == want.tobytes()
        assert not np.shares_memory(got, X) if isinstance(X, np.ndarray) else True


def test_a_mask_hides_and_no_mask_does_not():
    hidden = np.ma.array([[0.1, 999.0], [0.2, 0.3]], mask=[[False, True], [False, False]])
    rows, _ = numbers_of(hidden)
    np.testing.assert_array_equal(rows, [[0.1, np.nan], [0.2, 0.3]])
    assert hidden.data[0, 1] == 999.0
    rows, _ = numbers_of(np.ma.array([[1, 2]]))
    assert type(rows) is np.ndarray
    assert rows.tolist() == [[1.0, 2.0]]


def test_names_of_a_frame():
    rows = np.zeros((2, 2))
    given = {"default": (rows, None), "levels": (rows, ("a / x", "a / y")), "numbers": (rows, ("3", "5"))}
    labels = {"default": None, "levels": pandas.MultiIndex.from_tuples([("a", "x"), ("a", "y")]), "numbers": [3, 5]}
    for kind, (_, names) in given.items():
        assert numbers_of(pandas.DataFrame(rows, columns=labels[kind]))[1] == names
    structured = np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
    assert numbers_of(structured)[1] == ("a", "b")
    assert Dataset.from_rows(rows).columns == ("x1", "x2")
    named = Dataset.from_rows(pandas.DataFrame({"a": [0.0], "b": [0.0]}), columns=["c", "d"])
    assert named.columns == ("c", "d")


def test_bounds_and_typical_values_by_name_are_those_in_order():
    frame = pandas.DataFrame({"a": [0.0, 2.5], "b": [1.5, 0.25]})
    named = Dataset.from_rows(frame, bounds=LIMITS, typical={"b": 1.0, "a": 0.0})
    ordered = Dataset.from_rows(frame, bounds=[(-1, 3), (0, 2)], typical=[0.0, 1.0])
    for field in ("bounds", "origin", "scale"):
        np.testing.assert_array_equal(getattr(named, field), getattr(ordered, field))
    assert named.row_bound == ordered.row_bound == np.sqrt(2)


@pytest.mark.parametrize(("far", "share"), [(0, ""), (1, "5 %"), (7, "35 %"), (20, "100 %")])
def test_the_warning_says_the_share_of_rows_clipped(far, share):
    """Twenty rows, so many of them longer than 1; none is no warning, and a bound that is given is none either."""
    rows = np.full((20, 3), 0.999 / np.sqrt(3))
    rows[:far] *= 1.01  # just beyond 1
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Dataset.from_rows(rows)
        Dataset.from_rows(rows, 1.0)
        Dataset.from_rows(rows, bounds=[(0, 1)] * 3)
    assert len(said) == bool(share)
    for one in said:
        assert one.category is RowsClippedWarning
        assert f"R = 1: {share} of the rows" in str(one.message)
        assert one.filename == __file__, "it points at the line that made the data set"


def test_an_array_is_taken_while_another_thread_loads_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", types.ModuleType("pandas"))
    assert privcov.Dataset.from_rows(np.eye(3), row_bound=1.0).d == 3
