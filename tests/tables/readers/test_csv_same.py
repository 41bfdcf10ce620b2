"""The quick ways of reading a CSV give what the csv module and one rule for cells give: same records, same bits."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from privcov.tables.declaration.csv_file import read_public
from privcov.tables.declaration.declaration import Column, Declaration, read_private
from privcov.tables.readers import (
    FileFacts,
    TableFileError,
    blocks_of,
    count_rows,
    csv_rows,
    describe,
    numbers,
    parts_of,
)

# tmp_path is shared on purpose, and how fast a busy machine draws examples is no property of the code
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
ODD_CELLS = [
    *(
        "",
        " ",
        "NA",
        "n/a",
        "NaN",
        "nan",
        "-nan",
        "+nan",
        "NULL",
        "nUlL",
        "None",
        " NA ",
        "nan(1)",
        "NaN()",
        "nan(ind)",
    ),
    *(
        "+1",
        "-0",
        "00012",
        " 1.5 ",
        "\t2",
        "1.",
        ".5",
        "-.5",
        ".",
        "-",
        "+",
        "1e5",
        "1E+5",
        "1e-400",
        "1e400",
        "1e",
        "1d5",
    ),
    *(
        "inf",
        "-Infinity",
        "INF",
        "infin",
        "0x10",
        "0b1",
        "1_0",
        "1,5",
        "1;5",
        "--1",
        "- 1",
        "1 2",
        "١٢",
        "½",
        "\u00a01",
    ),
    *("4.9e-324", "2.4703282292062327e-324", "1.7976931348623159e308", "9007199254740993", "0.1" + "0" * 60 + "1"),
    *(
        "true",
        "TRUE",
        "1f",
        "1L",
        "$1",
        "1%",
        'a "quoted" word',
        '"',
        '""',
        "two\nlines",
        "two\r\nlines",
        "\u00a0",
        "é",
    ),
]
cells = st.one_of(
    st.sampled_from(ODD_CELLS),
    st.floats().map(repr),
    st.integers().map(str),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4),
)
rows_of_cells = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8)


def literal(text: str) -> list[list[str]]:
    """The records after the header, blank lines left out, by the csv module alone."""
    records = list(csv.reader(io.StringIO(text, newline="")))[1:]
    return [record for record in records if len(record) > 1 or "".join(record).strip()]


def literal_cells(text: str) -> np.ndarray:
    """The numbers of the first two columns, one cell at a time."""
    found = [[numbers.number_of(cell) for cell in record[:2]] for record in literal(text)]
    return np.array([[np.nan if cell is None else cell for cell in row] for row in found], dtype=np.float64)


def read(path, private: bool = True, counted: bool = True):
    table = describe(path, ["a", "b"], "c")
    table = count_rows(table) if counted else table
    blocks = [b for p in parts_of(table) for b in blocks_of(p, ("a", "b"), "c", private=private)]
    labels = [block.labels[0][code] for block in blocks for code in block.labels[1]]
    return np.concatenate([block.cells for block in blocks], axis=1).T, labels


def written(rows, end: str, quoting: int) -> str:
    out = io.StringIO(newline="")
    if any(set("\r\n") - set(end) & set(cell) for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # before Python 3.13 a writer quotes only the line ends that it writes itself
    csv.writer(out, lineterminator=end, quoting=quoting).writerows([("a", "b", "c"), *rows])
    return out.getvalue()


@settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=QUIET)
@given(rows_of_cells, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
@example([(cell, "1", "x") for cell in ODD_CELLS], "\n", csv.QUOTE_MINIMAL)
@example([("1", "2", '"'), ("3", "4", "\n\n")], "\r\n", csv.QUOTE_MINIMAL)
def test_what_a_csv_writer_writes_is_read(tmp_path, rows, end, quoting):
    text = written(rows, end, quoting)
    (tmp_path / "rows.csv").write_bytes(text.encode())
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("rows.csv", "rows.csv.gz"):
        found, labels = read(tmp_path / name)
        np.testing.assert_array_equal(found, literal_cells(text))
        assert np.array_equal(np.signbit(found[found == 0]), np.signbit(literal_cells(text)[found == 0]))
        assert labels == [record[2].strip() for record in literal(text)]


@settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=QUIET)
@given(
    st.lists(st.sampled_from(['"', ",", "\n", "\r", "\r\n", " ", "1", "x", '""', "é", "1,2,3\n", "\n\n"]), max_size=30)
)
def test_any_text_is_cut_where_the_csv_module_ends_its_records(tmp_path, pieces):
    """Also with quotation marks where a writer would put none; what is refused must be refused by the csv module or
    have a line of another width."""
    text = "a,b,c\n" + "".join(pieces)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    try:
        records = [record for record in csv.reader(io.StringIO(text, newline=""), strict=True) if record][1:]
    except csv.Error:
        records = None
    try:
        found, labels = read(path)
    except TableFileError:
        assert not records or any(len(record) != 3 for record in records)
        return
    records = literal(text)
    np.testing.assert_array_equal(found, literal_cells(text))
    assert labels == [record[2].strip() for record in records]


@settings(deadline=None, max_examples=25, derandomize=True, suppress_health_check=QUIET)
@given(rows_of_cells, st.integers(300, 400))
def test_reading_a_few_bytes_at_a_time_changes_nothing(tmp_path, rows, some):
    text = written(rows, "\n", csv.QUOTE_MINIMAL)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "BLOCK_BYTES", some)
        found, labels = read(path)
        assert read(path, counted=False)[1] == labels
    np.testing.assert_array_equal(found, literal_cells(text))
    assert labels == [record[2].strip() for record in literal(text)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize("some", [70, 71, 72, 73, 90])
def test_a_line_end_counts_once_where_two_reads_meet(tmp_path, monkeypatch, end, blank, some):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", some)
    text = written([("1", "2", "x")] * 9 + [("oops", "2", "x")], end, csv.QUOTE_MINIMAL) + blank
    (tmp_path / "rows.csv").write_bytes(text.encode())
    with pytest.raises(TableFileError, match=r"^Row 10 of .* has text in column 'a' \('oops'\)"):
        read(tmp_path / "rows.csv", private=False)
    assert read_public(text.encode())["b"].tolist() == [2.0] * 10


@settings(deadline=None, max_examples=50, derandomize=True, suppress_health_check=QUIET)
@given(rows_of_cells, st.sampled_from(["\n", "\r\n", "\r"]))
@example([(cell, "1", "x") for cell in ODD_CELLS], "\n")
def test_an_upload_is_read_as_a_file_is(tmp_path, rows, end):
    text = written(rows, end, csv.QUOTE_MINIMAL)
    (tmp_path / "rows.csv").write_bytes(text.encode())
    found, labels = read(tmp_path / "rows.csv")
    classes = ("x", "1.5", "é", "NA")
    what = Declaration("t", "a row", tuple(Column(c, -1, 1) for c in "ab"), label="c", classes=classes)
    uploaded = read_private(text.encode(), what)
    np.testing.assert_array_equal(uploaded._rows, found)
    places = {name: at for at, name in enumerate(classes)}
    assert uploaded._class_of.tolist() == [places.get(label, -1) for label in labels]


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_public_rows_hold_numbers_or_missing_cells_only(tmp_path, cell):
    path = tmp_path / "rows.csv"
    path.write_bytes(written([("1", "2", "x"), (cell, "3", "y")], "\n", csv.QUOTE_MINIMAL).encode())
    if numbers.number_of(cell) is None:
        with pytest.raises(TableFileError, match=r"^Row 2 of .* has text in column 'a'"):
            read(path, private=False)
    else:
        np.testing.assert_array_equal(read(path, private=False)[0], [[1, 2], [numbers.number_of(cell), 3]])


@pytest.mark.parametrize("blank", ["\u00a0", "\x0b", "\x1c", "\u2003", " \t", '" "'])
def test_a_line_of_any_blanks_is_no_row_of_one_column(tmp_path, blank):
    (tmp_path / "rows.csv").write_text(f"a\n1\n{blank}\n1\n", encoding="utf-8")
    assert count_rows(describe(tmp_path / "rows.csv")).n == 2


@settings(deadline=None, max_examples=200, derandomize=True, suppress_health_check=QUIET)
@given(st.lists(st.sampled_from(["\n", "\r", "\r\n", "x", ",", '"']), max_size=60), st.integers(1, 9))
def test_lines_and_sizes_of_blocks_are_those_of_the_whole_text(pieces, chunk):
    """However few bytes are looked at together."""
    text = ("a,b\n" + "".join(pieces)).encode()
    file = FileFacts("", "csv", len(text), 0, None, raw=text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "_CHUNK_BYTES", chunk)
        patch.setattr(csv_rows, "BLOCK_BYTES", 20)
        found = csv_rows._TextFacts(file)
    whole = [
        size for size in range(20, 10, -1) if all(text[k - 1 : k + 1] != b"\r\n" for k in range(size, len(text), size))
    ]
    assert (found.lines, found.marks, found.sizes) == (len(text.splitlines()), text.count(b'"'), whole)


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
@pytest.mark.parametrize("size", range(64, 96))
def test_a_cell_keeps_its_windows_line_ends_wherever_a_block_ends(tmp_path, monkeypatch, name, size):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", size)
    text = "a,b,c\r\n" + '1,2,"A\r\nB"\r\n' * 7
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    assert set(read(tmp_path / name)[1]) == {"A\r\nB"}


def test_cells_that_blocks_would_change_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 80)
    text = "a,b,c\r\n" + "".join(f'1,{10 ** (k * k % 11)},"A\r\nB"\r\n' for k in range(400))
    (tmp_path / "rows.csv").write_bytes(text.encode())
    with pytest.raises(TableFileError, match="cells with line ends that cannot be read in blocks: save it"):
        read(tmp_path / "rows.csv")
    for end in ("", "\r\n" * 100):  # blank lines are no line ends inside of cells
        (tmp_path / "rows.csv").write_bytes((text.replace("A\r\nB", "A B") + end).encode())
        assert len(read(tmp_path / "rows.csv")[1]) == 400
