"""A table written in another dialect is the same table, bit by bit, and nothing is guessed from its rows."""

import csv
import gzip
import io
import itertools
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import privcov
from privcov import Dialect, PrivateDataset
from privcov.tables.declaration.csv_file import read_header, read_public
from privcov.tables.readers import TableFileError, blocks_of, count_rows, csv_rows, describe, numbers, parts_of
from privcov.tables.readers.dialect import ENCODINGS, dialect_from, proposed_separator
from privcov.tables.readers.kinds import Kind

QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
DIALECTS = [
    Dialect(separator, decimal, encoding)
    for separator, decimal, encoding in itertools.product(",;\t|", ".,", ENCODINGS)
]
ODD = ["", " ", "NA", "1,5", "1.5", "1.234,5", "1,234.5", "1,", ",5", ",", "-,5e3", "inf", "nan", "nan(1)", "é", "a;b"]
ODD += ["\t1", "1\t", "x|y", '"', "two\nlines", "1 ", "+2", "007", "1_0", "1e5", "1,5,2", "..", "\u00a01"]
cells = st.one_of(
    st.sampled_from(ODD),
    st.floats().map(lambda x: repr(x).replace(".", ",")),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4),
)
rows_of_cells = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8)


def written(rows, dialect: Dialect, end: str = "\n") -> str:
    out = io.StringIO(newline="")
    odd = any(set("\r\n") & set(cell) for row in rows for cell in row)
    quoting = csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=dialect.separator, lineterminator=end, quoting=quoting)
    writer.writerows([("a", "b", "c"), *rows])
    return out.getvalue()


def literal(text: str, dialect: Dialect) -> tuple[np.ndarray, list[str]]:
    """The cells by the csv module and by the rule for one cell: no digit, letter or mark is taken for another."""
    records = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator, strict=True))[1:]

    def number(cell: str) -> float:
        cell = cell.strip()
        other = "," if dialect.decimal == "." else "."
        if cell.lower() in ("", "na", "n/a", "nan", "null") or other in cell or "_" in cell:
            return np.nan
        try:
            return float(cell.replace(dialect.decimal, "."))
        except ValueError:
            return np.nan

    found = [[number(cell) for cell in record[:2]] for record in records]
    return np.array(found, dtype=np.float64), [record[2].strip() for record in records]


def read(path, dialect: Dialect, private: bool = True, counted: bool = True):
    table = describe(path, ["a", "b"], "c", dialect=dialect)
    table = count_rows(table) if counted else table
    blocks = [b for p in parts_of(table, 20) for b in blocks_of(p, ("a", "b"), "c", private=private)]
    labels = [block.labels[0][code] for block in blocks for code in block.labels[1]]
    return np.concatenate([block.cells for block in blocks], axis=1).T, labels


@settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=QUIET)
@given(rows_of_cells, st.sampled_from(DIALECTS), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([300, 1 << 20]))
@example([(cell, "1", "x") for cell in ODD], Dialect(";", ","), "\n", 1 << 20)
@example([(cell, "1", "x") for cell in ODD], Dialect("\t", "."), "\n", 1 << 20)
@example([("", "", ""), ("", "1", "")], Dialect("\t", ","), "\n", 1 << 20)
def test_every_dialect_is_read_as_the_csv_module_reads_it(tmp_path, rows, dialect, end, some):
    text = written(rows, dialect, end)
    raw = text.encode(dialect.encoding, "replace")
    text = raw.decode(dialect.encoding)
    expected, labels = literal(text, dialect)
    (tmp_path / "rows.csv").write_bytes(raw)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(raw))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "BLOCK_BYTES", some)
        for name, counted in (("rows.csv", True), ("rows.csv", False), ("rows.csv.gz", True)):
            found, ours = read(tmp_path / name, dialect, counted=counted)
            np.testing.assert_array_equal(found, expected)
            assert np.array_equal(np.signbit(found[found == 0]), np.signbit(expected[found == 0]))
            assert ours == labels


@pytest.mark.parametrize("dialect", [Dialect(";", ","), Dialect("\t", ",", "utf-16"), Dialect("|", ".", "latin-1")])
def test_one_table_in_several_dialects_has_the_same_sums_and_token(tmp_path, dialect):
    """The rows decide what was released before, not how they are written; equal bits also from the upload's reader."""
    rows = np.round(np.random.default_rng(3).normal(size=(40, 3)), 3)
    plain = "\n".join(["a,b,é", *(",".join(map(repr, row)) for row in rows.tolist()), ""])
    (tmp_path / "plain.csv").write_text(plain, encoding="utf-8")
    swap = str.maketrans({",": dialect.separator, ".": dialect.decimal})
    raw = plain.translate(swap).encode(dialect.encoding)
    (tmp_path / "other.csv").write_bytes(raw)
    declared = {"bounds": [(-2, 2)] * 3, "name": "t"}
    tables = [
        PrivateDataset.from_files(tmp_path / "plain.csv", **declared),
        PrivateDataset.from_files(tmp_path / "other.csv", dialect=dialect, **declared),
    ]
    assert tables[0].facts.to_dict() == tables[1].facts.to_dict()
    ledger, asked = privcov.Ledger(tmp_path / "ledger.sqlite"), privcov.ZCDP(0.5)
    ledger.set_limit("t", asked)  # enough for one release: the second must be the first again
    paid, again = (privcov.release_private(table, asked, "auto-cov", ledger=ledger).to_json() for table in tables)
    assert paid == again
    np.testing.assert_array_equal(read_public(raw, dialect).to_numpy(), rows)
    assert read_header(raw, dialect) == ["a", "b", "é"]


def test_an_encoding_is_declared_and_never_guessed(tmp_path):
    path = tmp_path / "rows.csv"
    text = "a,b,größe\n1,2,ä\n"
    for encoding in ("latin-1", "utf-16"):
        path.write_bytes(text.encode(encoding))
        with pytest.raises(TableFileError, match="declare its encoding"):
            describe(path)
        with pytest.raises(ValueError, match="declare its encoding"):
            read_header(path.read_bytes())
        assert describe(path, dialect=Dialect(encoding=encoding)).columns == ("a", "b", "größe")
    for raw, encoding in ((text.encode("utf-16") + b"\0", "utf-16"), (text.encode() + b"\x81,1,1\n", "cp1252")):
        path.write_bytes(raw)
        with pytest.raises(TableFileError) as caught:
            count_rows(describe(path, dialect=Dialect(encoding=encoding)))
        assert re.fullmatch(r"The file .* is not text in the declared encoding .*: declare .*\.", str(caught.value))
        assert caught.value.__context__ is None


def test_the_header_is_read_without_the_rows():
    """Rows that are not of the declared encoding do not change what is said of the first line."""
    dialect = Dialect(";", ",", "cp1252")
    assert read_header("größe;b\r\n".encode("cp1252") + b"\x81\x8d\x8f", dialect) == ["größe", "b"]
    dialect = Dialect(";", ",", "utf-16")
    assert read_header("größe;b\n".encode("utf-16") + b"\0\xd8\0\xd8\0\xd8", dialect) == ["größe", "b"]


def test_no_row_decides_the_dialect(tmp_path):
    """The rows of two files with one header differ in everything: the same is said of both."""
    said = []
    for rows in ("1;2\n", "1,5;2,5\n", "1.5,2\n", "1|2\n" * 20):
        (tmp_path / "rows.csv").write_text("a;b\n" + rows, encoding="utf-8")
        with pytest.raises(TableFileError) as caught:
            describe(tmp_path / "rows.csv")
        said.append(str(caught.value))
        assert describe(tmp_path / "rows.csv", dialect=Dialect(";", ",")).columns == ("a", "b")
    assert len(set(said)) == 1
    assert "declare its separator and its decimal mark" in said[0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((";",), "separator=';' leaves the decimal mark open"),
        (("\t",), "leaves the decimal mark open"),
        ((":", "."), "separator must be one of ',', ';'"),
        ((";", "'"), "decimal must be one of '.', ','"),
        ((";", ",", "utf-32"), "encoding must be one of 'utf-8'"),
    ],
)
def test_what_is_no_dialect(asked, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        Dialect(*asked)


def test_a_dialect_goes_into_a_declaration_and_back():
    for dialect in DIALECTS:
        assert dialect_from(dialect.to_dict()) == dialect
    for fields in ([";", ","], {"separator": ";"}, {"mark": ","}, "; ,", None):
        with pytest.raises(ValueError, match=r"dialect|decimal"):
            dialect_from(fields)


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("a,b,c", ","),
        ("a;b", ";"),
        ("a\tb\tc,d", "\t"),
        ("a|b", "|"),
        ("age", ","),
        ('"a,b,c,d";e', ";"),
        ("a;b,c", ","),
        ('a;"b', ";"),
        ("", ","),
    ],
)
def test_the_separator_is_proposed_from_the_header(line, mark):
    assert proposed_separator(line) == mark


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("cell", [*ODD, "1.5", "-0,0"])
def test_public_rows_hold_numbers_in_the_declared_mark_only(tmp_path, cell, decimal):
    dialect = Dialect(";", decimal)
    (tmp_path / "rows.csv").write_bytes(written([("1", "2", "x"), (cell, "3", "y")], dialect).encode())
    if numbers.number_of(cell, decimal) is None:
        mark = "points" if decimal == "." else "commas"
        with pytest.raises(TableFileError, match=rf"^Row 2 of .* has text in column 'a' .* with decimal {mark}"):
            read(tmp_path / "rows.csv", dialect, private=False)
    else:
        read(tmp_path / "rows.csv", dialect, private=False)


@pytest.mark.parametrize(
    ("decimal", "thousands"), [(".", ","), (",", "."), (",", " "), (".", "'"), (".", "\u2019"), (".", " "), (",", "'")]
)
def test_marks_between_thousands_are_read_as_numbers_without_them(tmp_path, decimal, thousands):
    """The bits of the plain number in every reading; groups of other than three digits are no number."""
    rng = np.random.default_rng(4)
    true = [*np.round(rng.normal(0, 1e6, 400), 3), 0.0, 999.0, 1000.0, -1234567.0]
    to_marks = str.maketrans({",": "\ue000", ".": decimal})
    cells = [f"{x:,}".translate(to_marks).replace("\ue000", thousands) for x in true]
    mark = thousands.replace("\u2019", "'")
    dialect = Dialect(";", decimal, thousands=mark)
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f'"{cell}";1\n' for cell in cells), encoding="utf-8")
    (part,) = parts_of(describe(path, dialect=dialect))
    (block,) = blocks_of(part, ("a", "b"), private=False)
    np.testing.assert_array_equal(block.cells[0], true)
    read = read_public(path.read_bytes(), dialect)
    np.testing.assert_array_equal(read["a"], true)
    kind = Kind("number", -1e9, 1e9)
    (coded,) = blocks_of(part, ("a", "b"), private=True, kinds=(kind, kind))
    np.testing.assert_array_equal(coded.cells[0], true)
    for odd in (f"1{thousands}23", f"12{thousands}3456", f"{thousands}123", f"1234{thousands}567", "1_000"):
        assert numbers.number_of(odd, decimal, mark) in (None, 0.123, 123.0 if thousands == " " else None)
    assert numbers.number_of("1\u202f234", ".", " ") == 1234.0
    without = next(x for x in cells if thousands in x)
    assert numbers.number_of(without, decimal) is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_above_the_column_names_are_left_out(tmp_path, encoding, end):
    """A title with a quoted comma and a blank line; from a file, from bytes, and packed."""
    dialect = Dialect(encoding=encoding, header_row=3)
    raw = end.join(["Survey, 2025", "", "a,b\u00e9", "1,2", "3,4", "", "5,6"]).encode(encoding)
    (tmp_path / "t.csv").write_bytes(raw)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(raw))
    assert read_header(raw, dialect) == ["a", "b\u00e9"]
    for name in ("t.csv", "t.csv.gz"):
        table = count_rows(describe(tmp_path / name, dialect=dialect))
        assert (table.columns, table.n) == (("a", "b\u00e9"), 3)
        (part,) = parts_of(table)
        (block,) = blocks_of(part, table.columns, private=True)
        assert block.cells.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert read_public(raw, dialect).to_numpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ValueError, match="header_row"):
        describe(tmp_path / "t.csv", dialect=Dialect(encoding=encoding, header_row=9))
