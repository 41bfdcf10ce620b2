"""A CSV becomes a table or one kind sentence; a private one is never read past its header."""

from __future__ import annotations

import io
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcov.data_sources import csv_file
from privcov.data_sources.base import SOURCES
from privcov.data_sources.csv_file import PublicTable, read_header, read_public
from privcov.data_sources.declaration import declare
from privcov.table_files import TableFileError

GOOD = b"age,height,city\n30,170.5,Rome\n41,181,Oslo\n52,NA,Bern\n"


def refusal(function, *args, **kwargs) -> str:
    """The message of the ValueError, checked to be one sentence of plain words."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is checked by the caller)
        function(*args, **kwargs)
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message
    assert "\n" not in message
    assert message[0].isupper() or message.startswith("row_bound")
    assert len(message) < 300
    for word in ("Error", "Traceback", "expected", "codec", "None", "float("):
        assert word not in message
    return message


# --- reading a public table ---------------------------------------------------------------------------------


def test_a_good_table():
    table = read_public(GOOD)
    assert table.columns == ("age", "height")
    assert list(table.frame.columns) == ["age", "height"]
    assert (table.frame.dtypes == np.float64).all()
    assert table.frame["age"].tolist() == [30, 41, 52]
    assert table.n_rows == 3
    assert table.missing == {"height": 1}
    assert table.infinite == {}
    assert table.constant == ()
    assert list(table.dropped) == ["city"]
    assert table.dropped["city"] == ("Column 'city' is left out because it holds text, such as 'Rome' in row 1.")


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",  # byte order mark
        b"a,b\r\n1,2\r\n3,4\r\n",  # Windows line ends
        b"a,b\r1,2\r3,4",  # old Mac line ends, no last one
        b"a,b\n1,2\n3,4\n\n\n",  # trailing blank lines
        b"a,b\n\n1,2\n\n3,4",  # blank lines between
        b'"a","b"\n"1","2"\n 3 , 4 ',  # quotes and spaces
        b" a ,b\n1e0,+2.\n0.3e1,4.0\n",
    ],
)
def test_harmless_variations_give_the_same_table(raw):
    table = read_public(raw)
    assert table.columns == ("a", "b")
    assert table.frame.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_quoted_commas_newlines_and_quotes():
    table = read_public(b'name,x\n"Rossi, ""Ann""\nof Rome",1\nBob,2\n')
    assert table.dropped["name"].endswith("such as 'Rossi, \"Ann\"\\nof Rome' in row 1.")
    assert table.frame["x"].tolist() == [1, 2]


def test_rows_are_counted_without_the_header_and_blank_lines():
    table = read_public(b'x,y,z\n1,1,"two\nlines"\n\n2,oops,b\n')
    assert table.dropped["y"].endswith("such as 'oops' in row 2.")
    assert table.columns == ("x",)


def test_accents_and_a_newline_in_a_name():
    assert read_public('größe,"two\nwords"\n1,2\n'.encode()).columns == ("größe", "two words")


def test_missing_and_infinite_cells_are_counted():
    raw = b"a,b,c\n1,inf,5\n,-Infinity,\nNA,2,5\nNaN,1e999, \nnull,3,5\n N/A ,4,5\nnan,5,5\n"
    table = read_public(raw)
    assert table.missing == {"a": 6, "c": 2}
    assert table.infinite == {"b": 3}
    assert table.constant == ("a", "c")
    assert table.n_rows == 7


def test_an_empty_column_is_dropped_and_a_constant_one_kept():
    table = read_public(b"a,b,c\n1,,7\n2,NA,7\n")
    assert table.columns == ("a", "c")
    assert table.constant == ("c",)
    assert table.dropped == {"b": "Column 'b' is left out because all its cells are empty."}


def test_one_row_is_legal():
    assert read_public(b"a\n5\n").n_rows == 1


def test_an_underscore_is_not_a_digit():
    assert set(read_public(b"code,x\n12_34,1\n").dropped) == {"code"}


def test_text_is_found_after_many_rows_of_numbers():
    rows = "\n".join(f"{i},{i}" for i in range(120_000))
    table = read_public(f"a,b\n{rows}\n1,oops\n".encode())
    assert table.dropped["b"].endswith("'oops' in row 120,001.")
    assert table.n_rows == 120_001


def test_long_text_is_cut_in_the_sentence():
    assert len(read_public(b"a,b\n1," + b"x" * 5000).dropped["b"]) < 150


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", ["empty", "column names"]),
        (b"\xef\xbb\xbf \r\n ", ["first line is blank"]),
        (b"a,b\n", ["no rows", "add at least one row"]),
        (b"a,b\n\n\n", ["no rows"]),
        (b"\na,b\n1,2\n", ["first line is blank"]),
        (b"  \na,b\n1,2\n", ["first line is blank"]),
        (b"1,2\n3,4\n", ["first line holds numbers only", "column names"]),
        (b"a,b,a\n1,2,3\n", ["Columns 1 and 3", "'a'", "rename"]),
        (b"a, a\n1,2\n", ["Columns 1 and 2"]),
        (b"a,,c\n1,2,3\n", ["Column 2 has no name"]),
        (b"a,b,\n1,2,\n", ["Column 3 has no name", "delete"]),
        (b"a,b\n1,2\n3\n", ["Row 2 has 1 cell and", "header has 2"]),
        (b"a,b\n1,5,2,5\n", ["Row 1 has 4 cells", "header has 2", "decimal"]),
        (b"a;b\n1;2\n", ["semicolons", "commas"]),
        (b"a;b\n1,5;2,5\n", ["semicolons", "decimal points"]),
        (b"sep=;\na;b\n1;2\n", ["semicolons"]),
        (b"a\tb\n1\t2\n", ["tabs"]),
        (b"a|b\n1|2\n", ["vertical bars"]),
        (b'a,b\n"1,5",2\n', ["Column 'a'", "'1,5'", "row 1", "decimal point"]),
        (b'a,b\n1,2\n3,"1,234,567"\n', ["Column 'b'", "'1,234,567'", "row 2", "thousands"]),
        (b"a,b\n1,\0\n", ["zero byte", "line 2"]),
        ("a,b\nMálaga,1\n".encode("latin-1"), ["not UTF-8", "line 2", "CSV UTF-8"]),
        ("a,b\n1,2\n".encode("utf-16"), ["UTF-16", "CSV UTF-8"]),
        (b'a,b\n1,2\n"3,4\n5,6\n', ["quotation mark"]),
        (b"a,b\n1," + b"x" * 9_000_000, ["beyond 4,000,000 bytes"]),
        (b"a,b\nx,y\n", ["No column holds numbers", "'a'"]),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3\n", ["not UTF-8"]),
        (b"PK\x03\x04\0\0\0", ["zero byte"]),
        (b'{"a": 1}', ["no rows"]),
    ],
)
def test_a_bad_file_gets_one_sentence(raw, words):
    message = refusal(read_public, raw)
    for word in words:
        assert word in message, message


def test_the_limits_are_named(monkeypatch):
    raw = (",".join(f"c{i}" for i in range(201)) + "\n" + ",".join("1" * 201)).encode()
    message = refusal(read_public, raw)
    assert "201 columns" in message
    assert "limit is 200" in message
    message = refusal(read_public, bytes(120_000_001))
    assert "120.0 MB" in message
    assert "limit is 120 MB" in message
    monkeypatch.setattr(csv_file, "MAX_ROWS", 3)
    assert read_public(b"a\n1\n2\n3\n").n_rows == 3
    assert "limit of 3" in refusal(read_public, b"a\n1\n2\n3\n4\n")


def test_two_hundred_columns_are_fine():
    raw = (",".join(f"c{i}" for i in range(200)) + "\n" + ",".join("1" * 200)).encode()
    assert len(read_public(raw).columns) == 200


def test_it_agrees_with_pandas_on_a_table_of_doubles():
    x = np.random.default_rng(0).standard_cauchy((2000, 7)) * 10.0 ** np.arange(-3, 4)
    frame = pd.DataFrame(x, columns=list("abcdefg"))
    table = read_public(frame.to_csv(index=False).encode())
    pd.testing.assert_frame_equal(table.frame, frame, check_exact=True)


def test_a_large_file_takes_no_longer_per_row_than_a_small_one():
    """Processor time, 40 times the rows; a step that is quadratic in the rows would take 40 times as long per row."""
    line = b",".join(b"%d.25" % (i * 37 % 1000) for i in range(10))
    names, taken = b",".join(b"c%d" % i for i in range(10)) + b"\n", []
    for n in (5_000, 200_000):
        start = time.process_time()
        assert read_public(names + (line + b"\n") * n).n_rows == n
        taken.append((time.process_time() - start) / n)
    assert taken[1] < 5 * taken[0]


def test_the_shipped_example_is_a_good_file():
    from privcov.data_sources import example

    table = read_public(example.FILE.read_bytes())
    assert table.dropped == table.missing == table.infinite == {}
    assert np.array_equal(table.frame.to_numpy(), example.Example().load()[0])
    facts = {column.name: (column.low, column.high) for column in example.Example.table}
    assert declare(table, table.columns, bounds=facts)[1] == [
        "Clipped because beyond their bounds: 7 of 200,000 cells."
    ]


# --- reading only the header --------------------------------------------------------------------------------


def test_the_header_is_read_and_nothing_after_it():
    raw = b'\xef\xbb\xbfage, height ,"a, b"\r\n\xff\xfe\0 not text at all'
    assert read_header(raw) == ["age", "height", "a, b"]
    assert read_header(b"age") == ["age"]
    assert read_header(b"a,b\r1,2\r") == ["a", "b"]


class Watched(bytes):
    """Bytes that refuse to be looked at as a whole: slices only up to a limit."""

    def __getitem__(self, item):
        assert isinstance(item, slice)
        assert item.stop is not None
        assert item.stop <= csv_file.MAX_HEADER_BYTES
        return bytes.__getitem__(self, item)

    def decode(self, *args, **kwargs):
        raise AssertionError("the whole file was decoded")

    find = count = split = splitlines = decode


def test_the_header_reader_touches_at_most_its_window():
    assert read_header(Watched(b"a,b\n" + b"1,2\n" * 50_000)) == ["a", "b"]
    assert read_header(Watched(b"a,b\n" + bytes(60_000_000))) == ["a", "b"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", ["blank"]),
        (b"\n1,2\n", ["blank"]),
        (b"a,,b\n", ["Column 2 has no name"]),
        (b"a,b,a\n", ["Columns 1 and 3", "same name"]),
        (b"1,2.5,-3e4\n", ["numbers only"]),
        (b"1,,NA\n", ["numbers only"]),
        (b"a;b;c\n", ["semicolons"]),
        (b"a\tb\n", ["tabs"]),
        (b"caf\xe9,b\n", ["not UTF-8"]),
        (b"\xff\xfea\0\n", ["UTF-16"]),
        (b"a\0,b\n", ["zero byte"]),
        (b'"a,b\n', ["quotation mark"]),
        (b"x" * 70_000, ["65,536", "first line"]),
        (b"x" * 70_000 + b"\n1\n", ["65,536", "first line"]),
        (",".join(f"c{i}" for i in range(201)).encode(), ["201", "200"]),
    ],
)
def test_a_bad_header_gets_one_sentence(raw, words):
    message = refusal(read_header, raw)
    for word in words:
        assert word in message, message


def test_a_header_message_never_repeats_the_line():
    """Without a header the first line is a person: what they say must not reach a message."""
    for raw in (b"Ann,7301,7301,x\n", b"Ann;7301\n", b"7301,7302\n", b"Ann,7301,\n", b'Ann,"7301\n'):
        message = refusal(read_header, raw)
        assert "Ann" not in message
        assert "730" not in message


# --- declaring ----------------------------------------------------------------------------------------------


@pytest.fixture
def table() -> PublicTable:
    return read_public(GOOD)


def test_declare_with_bounds(table):
    ds, notes = declare(table, ["age"], bounds={"age": (18, 50)}, typical={"age": 40})
    assert ds.columns == ("age",)
    assert ds.rows.tolist() == [[30], [41], [52]]
    assert ds.bounds.tolist() == [[18, 50]]
    assert ds.origin.tolist() == [40]
    assert ds.row_bound == 1.0
    assert (ds.name, ds.provenance, ds.mean_is_zero, ds.truth) == ("csv", "public", False, None)
    assert notes == ["Clipped because beyond their bounds: 1 of 3 cells."]


def test_declare_keeps_the_chosen_order_and_drops_rows_with_holes(table):
    ds, notes = declare(table, ["height", "age"], bounds={"age": (0, 100), "height": (100, 250)})
    assert ds.columns == ("height", "age")
    assert ds.rows.tolist() == [[170.5, 30], [181, 41]]
    assert ds.origin.tolist() == [175, 50]
    assert ds.row_bound == pytest.approx(np.sqrt(2))
    assert notes == ["Left out for a missing or infinite cell in the chosen columns: 1 of 3 rows."]


def test_a_hole_in_a_column_that_is_not_chosen_costs_nothing(table):
    assert declare(table, ["age"], row_bound=100)[0].n == 3


def test_infinite_cells_cost_their_row():
    ds, notes = declare(read_public(b"a\n1\ninf\n-inf\n2\n"), ["a"], row_bound=5.0)
    assert ds.rows.tolist() == [[1], [2]]
    assert notes[0].endswith("2 of 4 rows.")


def test_declare_with_a_row_bound(table):
    ds, notes = declare(table, ["age"], row_bound=45)
    assert ds.bounds is None
    assert ds.row_bound == 45.0
    assert notes == ["Scaled down because longer than the row bound 45: 1 of 3 rows."]


def test_notes_on_one_row_wide_tables_and_constants():
    _, notes = declare(read_public(b"a,b\n1,2\n"), ["a", "b"], row_bound=9)
    assert [note.split()[0:3] for note in notes] == [["There", "is", "one"], ["There", "are", "more"]]
    _, notes = declare(read_public(b"a\n1\n1\n"), ["a"], row_bound=9)
    assert notes == ["Column 'a' has one value throughout: its covariances are zero."]


def test_huge_values_raise_no_warning():
    _, notes = declare(read_public(b"a,b\n1e300,1e300\n-1e300,1\n"), ["a", "b"], row_bound=1)
    assert notes == ["Scaled down because longer than the row bound 1: 2 of 2 rows."]
    declare(read_public(b"a\n1\n2\n"), ["a"], bounds={"a": (-1e100, 1e100)})
    with pytest.raises(ValueError, match="at most 1e"):
        declare(read_public(b"a\n1\n2\n"), ["a"], bounds={"a": (-1.5e308, 1.5e308)})


@pytest.mark.parametrize(
    ("columns", "limits", "words"),
    [
        ([], {"row_bound": 1}, ["No column is chosen"]),
        (["weight"], {"row_bound": 1}, ["no numeric column 'weight'"]),
        (["city"], {"row_bound": 1}, ["'city'", "text", "choose another"]),
        (["age", "age"], {"row_bound": 1}, ["'age'", "twice"]),
        (["age"], {}, ["neither"]),
        (["age"], {"row_bound": 1, "bounds": {"age": (0, 1)}}, ["both"]),
        (["age"], {"row_bound": 0}, ["row_bound must be > 0", "got 0"]),
        (["age"], {"row_bound": -2.5}, ["got -2.5"]),
        (["age"], {"row_bound": float("nan")}, ["row_bound", "finite"]),
        (["age"], {"row_bound": 1, "typical": {"age": 3}}, ["Typical values need bounds"]),
        (["age", "height"], {"bounds": {"age": (0, 1)}}, ["'height' has no bounds", "domain knowledge"]),
        (["age"], {"bounds": {"age": None}}, ["'age' has no bounds"]),
        (["age"], {"bounds": {"age": (0, None)}}, ["'age' has no bounds"]),
        (["age"], {"bounds": {"age": (0, float("nan"))}}, ["'age' has no bounds"]),
        (["age"], {"bounds": {"age": (0, float("inf"))}}, ["high bound of 'age'", "finite"]),
        (["age"], {"bounds": {"age": (90, 10)}}, ["'age'", "low < high", "90 and 10", "swap"]),
        (["age"], {"bounds": {"age": (7, 7)}}, ["'age'", "7 and 7", "widen"]),
        (["age"], {"bounds": {"age": (0, 9)}, "typical": {"age": 10}}, ["value of 'age'", "[0, 9]", "10"]),
    ],
)
def test_a_bad_declaration_gets_one_sentence(table, columns, limits, words):
    message = refusal(declare, table, columns, **limits)
    for word in words:
        assert word in message, message


def test_nothing_left_names_the_column_at_fault():
    table = read_public(b"a,b\n1,\n,2\n,\n")
    message = refusal(declare, table, ["a", "b"], row_bound=1)
    assert "All 3 rows" in message
    assert "'a' (2)" in message


def test_an_upload_is_not_a_registered_source():
    assert not any(card.cls.__module__.endswith("csv_file") for card in SOURCES.all())


# --- arbitrary bytes ----------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.floats().map(str),
    st.integers().map(str),
    st.sampled_from(["", "NA", "null", "inf", "1,5", '"1,5"', '"', '""', "1_0", " ", "x", "é", "\0", "a;b"]),
    st.text(max_size=4),
)
NEARLY_CSV = st.lists(st.lists(CELLS, max_size=4).map(",".join), max_size=6).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)
ANYTHING = st.one_of(
    st.binary(max_size=200),
    NEARLY_CSV.map(lambda text: text.encode("utf-8", "surrogatepass")),
    NEARLY_CSV.map(lambda text: b"a,b\n" + text.encode("utf-8", "surrogatepass")),
)


def table_or_sentence(reader, raw):
    """What ``reader`` returns, or the sentence of its ValueError; anything else goes through."""
    caught = None
    try:
        return reader(raw)
    except ValueError as error:
        caught = error
    assert type(caught) in (ValueError, TableFileError)  # not another subclass, such as a failed decoding
    message = str(caught)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@settings(max_examples=600, deadline=None)
@given(ANYTHING)
def test_any_bytes_give_a_table_or_a_sentence(raw):
    table = table_or_sentence(read_public, raw)
    if isinstance(table, str):
        return
    assert 1 <= len(table.columns) <= csv_file.MAX_COLUMNS
    assert table.frame.shape == (table.n_rows, len(table.columns))
    assert (table.frame.dtypes == np.float64).all()
    assert np.isnan(table.frame.to_numpy()).sum() == sum(table.missing.values())
    assert np.isinf(table.frame.to_numpy()).sum() == sum(table.infinite.values())
    assert not set(table.columns) & set(table.dropped)


@settings(max_examples=300, deadline=None)
@given(ANYTHING)
def test_any_bytes_give_a_header_or_a_sentence(raw):
    names = table_or_sentence(read_header, raw)
    if isinstance(names, str):
        return
    assert len(set(names)) == len(names) >= 1
    assert all(names)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda d: st.lists(st.lists(st.floats(), min_size=d, max_size=d), min_size=1, max_size=20)
    )
)
def test_what_is_written_is_read_back(rows):
    frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(len(rows[0]))], dtype=float)
    sink = io.StringIO()
    frame.to_csv(sink, index=False, na_rep="NA")
    kept = frame.dropna(axis=1, how="all")
    if kept.shape[1] == 0:
        assert "all its cells are empty" in refusal(read_public, sink.getvalue().encode())
        return
    pd.testing.assert_frame_equal(read_public(sink.getvalue().encode()).frame, kept, check_exact=True)
