"""A file that is not in order: one sentence with the file, what was found and what helps; nothing of a private cell."""

import gzip
import os
import pickle
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privcov import Dialect
from privcov.tables.readers import TableFileError, blocks_of, count_rows, csv_rows, describe, parts_of

SECRET = "7315.25"
TEXT = "Q7xSecret"


def refusal(act, *args, **kwargs) -> str:
    """The sentence, checked: plain words, one sentence, and nothing attached that could say more."""
    with pytest.raises(TableFileError) as caught:
        act(*args, **kwargs)
    message = str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
    assert message.endswith(".")
    assert ". " not in message
    assert "\n" not in message
    assert message[0].isupper()
    assert ": " in message  # what helps
    for word in ("Error", "Arrow", "thrift", "codec", "None", "Errno", "pyarrow", "zlib"):
        assert word not in message.replace("as Arrow", "")
    return message


def read_all(paths, columns=None, label=None, private=True) -> int:
    table = count_rows(describe(paths, columns, label), private=private)
    blocks = (b for part in parts_of(table) for b in blocks_of(part, table.columns, table.label, private=private))
    return sum(block.cells.shape[1] for block in blocks)


def put(path, content: bytes):
    path.write_bytes(content)
    return path


# --- describing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.csv", b"", "is empty"),
        ("rows.parquet", b"", "is empty"),
        ("rows.csv", b"\xef\xbb\xbf", "is blank"),
        ("rows.csv", b"\n1,2\n", "is blank"),
        ("rows.csv", b"1.5,2\n3,4\n", "numbers only"),
        ("rows.csv", b"a;b\n1;2\n", "semicolons"),
        ("rows.csv", b"a\tb\n1\t2\n", "tabs"),
        ("rows.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        ("rows.csv", b"caf\xe9,b\n1,2\n", "in UTF-8"),
        ("rows.csv", b'a,"b\n1,2\n', "close its quotation marks"),
        ("rows.csv", b"a" * 70_000 + b"\n1\n", "of at most 65,536 bytes"),
        ("rows.csv", b"a,,b\n1,2,3\n", "Column 2 of .* has no name"),
        ("rows.csv", b"a,a\n1,2\n", "2 columns with the name of column 1 of"),
        ("rows.txt", b"a,b\n1,2\n", "unknown ending"),
        ("rows.ods", b"PK\x03\x04....", "is a spreadsheet: save the sheet that is meant"),
        ("rows.parquet", b"a,b\n1,2\n", "named as Parquet and begins as text"),
        ("rows.csv", b"PAR1....", "named as CSV and begins as Parquet"),
        ("rows.csv", b"ARROW1\0\0", "named as CSV and begins as Arrow"),
        ("rows.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), "named as CSV and begins as gzip"),
        ("rows.csv", b"PK\x03\x04....", "begins as a spreadsheet"),
        ("rows.csv.gz", b"a,b\n1,2\n", "begins as text"),
        ("rows.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("rows.parquet", b"PAR1" + b"\0" * 100 + b"PAR1", "damaged or cut short"),
        ("rows.arrow", b"ARROW1\0\0" + b"\0" * 100, "damaged or cut short"),
        ("rows.csv.gz", b"\x1f\x8b\x08\x00", "damaged or cut short"),
        ("rows.csv", b"a,b\n", "no rows"),
        ("rows.csv", b"a,b", "no rows"),
        ("rows.csv", b"a,b\n\n\n", "no rows"),
    ],
)
def test_one_file(tmp_path, name, content, words):
    message = refusal(read_all, put(tmp_path / name, content))
    assert re.search(words, message), message
    assert str(tmp_path) in message


def test_no_rows_in_parquet_or_arrow(write):
    for name in ("rows.parquet", "rows.arrow"):
        path = write(name, {"a": [1.0]})
        if name.endswith("parquet"):
            pq.write_table(pa.table({"a": pa.array([], pa.float64())}), path)
        else:
            with pa.ipc.new_file(path, pa.schema([("a", pa.float64())])):
                pass
        assert "no rows" in refusal(describe, path)


def test_an_empty_file_among_others_is_an_empty_piece(write, tmp_path):
    write("1.parquet", {"a": [1.0]})
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "2.parquet")
    put(tmp_path / "3.csv", b"a\n")
    assert read_all(tmp_path) == 1


@pytest.mark.parametrize("name", ["2.csv", "2.csv.gz", "2.parquet", "2.arrow"])
def test_columns_that_differ_between_files(write, name):
    first = write("1.parquet", {"a": [1.0], "b": [2.0], "who": ["x"]})
    second = write(name, {"a": [1.0], "c": [2.0]})
    message = refusal(describe, [first, second], ["a", "b"])
    assert f"{second} lacks column 'b'" in message
    assert "lacks column 'who'" in refusal(describe, [first, second], ["a"], "who")
    unnamed = refusal(describe, [write("0.csv", {"a": [1.0], TEXT: [2.0]}), second])
    assert "lacks column 2 of" in unnamed
    assert TEXT not in unnamed  # a first line that is no header is a person's row


@pytest.mark.parametrize("name", ["2.parquet", "2.arrow"])
def test_text_where_another_file_has_numbers(write, name):
    files = [write("1.csv", {"a": [1.0], "b": [2.0]}), write(name, {"a": ["x"], "b": [2.0]})]
    assert "Column 'a' of" in refusal(describe, files)
    assert "has the type string" in refusal(describe, files, ["a", "b"])
    assert read_all(files, ["b"]) == 2


# --- reading ------------------------------------------------------------------------------------------------

ROWS = "".join(f"{SECRET},{at},{TEXT}\n" for at in range(2000))


@pytest.fixture
def small_reads(monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 20_000)


BAD_ROWS = [
    (f"{SECRET},2\n", "has 2 cells and the header has 3"),
    (f"{SECRET},2,3,4\n", "has 4 cells and the header has 3"),
    (f'{SECRET},2,"{TEXT}\n', "quotation mark"),
    (f"{SECRET},2,{TEXT}\0\n", "zero byte"),
    (f'{SECRET},2,"{"x" * 140_000}"\n', "beyond 20,000 bytes"),
]


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
@pytest.mark.parametrize(("row", "words"), BAD_ROWS)
def test_a_bad_row(tmp_path, small_reads, private, name, row, words):
    raw = ("a,b,c\n" + ROWS + row + ROWS).encode()
    path = put(tmp_path / name, gzip.compress(raw, mtime=0) if name.endswith("gz") else raw)
    message = refusal(read_all, path, ["a", "b"], "c", private=private)
    assert words in message
    assert SECRET not in message
    assert TEXT not in message
    if private:
        assert "2,001" not in message
    elif "cells" in words:
        assert message.startswith("Row 2,001 of")


@pytest.mark.parametrize("end", [b"\n3,caf\xe9,4\n", b"\n3,4,caf\xc3"])
def test_a_row_of_another_width_that_is_not_utf_8_is_handed_to_nobody(tmp_path, monkeypatch, end):
    handed = []
    monkeypatch.setattr("sys.unraisablehook", handed.append)
    path = put(tmp_path / "rows.csv", b"a,b\n1,2" + end)
    assert "has 3 cells and the header has 2" in refusal(read_all, path, ["a"])
    assert handed == []


@pytest.mark.parametrize(
    "rows",
    [
        *('1"2,3\n4,"5\n6,7\n', '1,2\n4,"5\n6,7', '1,"2\n3,4\n5,"6\n7,8\n', '1,2\n3,"4\n5,6\n7,8""\n'),
        *('1,"2\n3,4\n5,6"x\n', '1,2\n3,"4\n', '1,"2', '1,2\r3,"4\n5,"6\n7,8\n', '1,"x\n2,"y\n3,4\r5,6\n'),
        *('1,"x\r2,"y\n3,4\n', '1,2\n3,"4\r5,6\n'),
    ],
)
def test_a_quotation_mark_that_is_not_closed_swallows_no_row(tmp_path, rows):
    """Also where the number of marks is even, and where the row keeps its number of cells."""
    path = put(tmp_path / "rows.csv", f"a,b\n{rows}".encode())
    assert "quotation mark" in refusal(read_all, path)


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_byte_order_mark_hides_no_open_quotation_mark(tmp_path, start, encoding):
    for text, rows in (('"a,""",b\n1,"\n2,y\n3,z\n', 0), ('"a,""b",c\n1,"x\ny"\n', 1), ('"a,""",b\n1,2\n3,"\n4"\n', 2)):
        table = describe(
            put(tmp_path / "rows.csv", (start + text).encode(encoding)), dialect=Dialect(encoding=encoding)
        )
        if rows:
            assert count_rows(table).n == rows
        else:
            assert "quotation mark" in refusal(count_rows, table)


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_text_among_numbers(tmp_path, small_reads, name):
    raw = ("a,b,c\n" + ROWS + f"{TEXT},2,x\n" + ROWS).encode()
    path = put(tmp_path / name, gzip.compress(raw, mtime=0) if name.endswith("gz") else raw)
    message = refusal(read_all, path, ["a", "b"], "c", private=False)
    assert message.startswith("Row 2,001 of")
    assert f"text in column 'a' ('{TEXT}')" in message
    assert read_all(path, ["a", "b"], "c", private=True) == 4001


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow", "rows.feather", "rows.csv.gz"])
def test_a_file_cut_short_or_altered(write, name):
    path = write(name, {"a": [float(SECRET)] * 500 + [at * 0.1 for at in range(3000)], "b": [TEXT] * 3500})
    whole = path.read_bytes()
    assert read_all(path, ["a"], "b") == 3500
    for cut in (len(whole) // 3, len(whole) - 5):
        message = refusal(read_all, put(path, whole[:cut]), ["a"], "b")
        assert SECRET not in message
        assert "damaged or cut short" in message
    if name in ("rows.parquet", "rows.csv.gz"):  # their compressed pages no longer decode; Arrow keeps no check sums
        altered = whole[:200] + bytes(b ^ 0x5A for b in whole[200:600]) + whole[600:]
        assert "damaged" in refusal(read_all, put(path, altered), ["a"], "b")


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("when", ["before", "between", "while"])
@pytest.mark.parametrize("how", ["longer", "shorter", "touched", "gone"])
def test_a_file_that_changes(write, name, when, how):
    columns = {"a": [float(SECRET)] * 3000, "b": [1.0] * 3000}
    path = write(name, columns, group=100)
    table = describe(path)

    def change():
        if how == "gone":
            path.unlink()
        elif how == "touched":
            os.utime(path, ns=(1, 1))
        else:
            path.write_bytes(path.read_bytes() * 2 if how == "longer" else path.read_bytes()[:50])

    def read():
        parts = parts_of(count_rows(table))
        if when == "between":
            change()
        blocks = blocks_of(parts[0], table.columns, rows=100, private=True)
        next(blocks)
        if when == "while":
            change()
        for _ in blocks:
            pass

    if when == "before":
        change()
    message = refusal(read)
    assert "There is no file" in message if how == "gone" else "changed while it was in use" in message
    assert SECRET not in message


def test_a_file_that_may_not_be_opened(write, monkeypatch):
    path = write("rows.csv", {"a": [1.0]})

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    assert "Permission denied" in refusal(describe, path)


def test_the_readers_own_faults_are_not_hidden(write):
    """What the caller raises while it works on a block is its own business."""
    table = describe(write("rows.parquet", {"a": [1.0]}))

    def work():
        for _ in blocks_of(parts_of(table)[0], ("a",), private=True):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        work()
