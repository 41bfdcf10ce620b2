"""A CSV becomes a table or one kind sentence; a private one is never read past its header."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcov.data_sources.base import SOURCES
from privcov.tables.declaration import csv_file
from privcov.tables.declaration.csv_file import read_header, read_public
from privcov.tables.readers import TableFileError
from privcov.tables.readers.table_files import HeaderError

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
    assert list(table.columns) == ["age", "height"], "a column of texts is left out"
    assert (table.dtypes == np.float64).all()
    np.testing.assert_array_equal(table, [[30, 170.5], [41, 181], [52, np.nan]])


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
    assert list(table.columns) == ["a", "b"]
    assert table.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_missing_and_infinite_cells():
    raw = b"a,b,c\n1,inf,5\n,-Infinity,\nNA,2,5\nNaN,1e999, \nnull,3,5\n N/A ,4,5\nnan,5,5\n"
    nan, inf = np.nan, np.inf
    rows = [[1, inf, 5], [nan, -inf, nan], [nan, 2, 5], [nan, inf, nan], [nan, 3, 5], [nan, 4, 5], [nan, 5, 5]]
    np.testing.assert_array_equal(read_public(raw), rows)


def test_a_column_without_a_number_is_left_out_and_a_constant_one_kept():
    assert read_public(b"a,b,c,d\n1,,7,inf\n2,NA,7,-inf\n").columns.tolist() == ["a", "c"]


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
    message = refusal(read_public, b"a\n" + b"1" * 120_000_001)
    assert "120.0 MB" in message
    assert "limit is 120 MB" in message
    monkeypatch.setattr(csv_file, "MAX_ROWS", 3)
    assert len(read_public(b"a\n1\n2\n3\n")) == 3
    assert "limit of 3" in refusal(read_public, b"a\n1\n2\n3\n4\n")


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
    assert type(caught) in (ValueError, TableFileError, HeaderError)  # not another subclass, such as a failed decoding
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
    assert len(table.columns) <= csv_file.MAX_COLUMNS
    assert (table.dtypes == np.float64).all()
    assert np.isfinite(table).any().all()


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
    kept = frame.loc[:, np.isfinite(frame).any()]
    made = read_public(sink.getvalue().encode())
    pd.testing.assert_frame_equal(made, kept if len(kept.columns) else pd.DataFrame(), check_exact=True)
