"""An Excel sheet is read as the CSV and the Parquet file of its table; what would have to be guessed is refused."""

import datetime
import io
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privcov
from privcov import Kind
from privcov.tables.declaration.csv_file import read_header
from privcov.tables.declaration.declaration import Column, Declaration, read_private
from privcov.tables.readers import Dialect, TableFileError, describe, excel
from tests.exhaustive import some_of
from tests.patience import patient
from tests.tables.readers.test_bad_files import SECRET, refusal

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: the extra files has it")

KINDS = {
    "age": Kind("integer", 0, 120),
    "pay": Kind("number", 0, 1e6, transform="log1p", missing_codes=("-9",)),
    "sex": Kind("yes-no", values=("F", "M")),
    "ward": Kind("category", values=("A", "B, C"), other=True),
    "seen": Kind("date", "2020-01-01", "2024-12-31"),
}


def book(rows, change=lambda sheet: None) -> bytes:
    made = openpyxl.Workbook()
    sheet = made.active
    for row in rows:
        sheet.append(row)
    change(sheet)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def cells(rows: int = 500) -> list[list]:
    rng = np.random.default_rng(3)
    day = datetime.date(2019, 6, 1)
    return [
        [
            None if rng.random() < 0.1 else int(rng.integers(-5, 140)),
            -9 if rng.random() < 0.1 else round(float(rng.lognormal(9, 2)), 6),  # openpyxl writes 16 digits
            rng.choice(["F", "M", " M ", "?", ""]).item() or None,
            rng.choice(["A", "B, C", 'D "x"', "two\nlines", ""]).item() or None,
            None if rng.random() < 0.1 else day + datetime.timedelta(int(rng.integers(0, 2500))),
        ]
        for _ in range(rows)
    ]


def test_every_type_of_cell_as_text():
    when = datetime.datetime(2024, 2, 29, 13, 30)
    rows = [
        ["a number", "b", None],
        [1, 0.1, None],
        [1e300, True, None],
        [when, when.date(), None],
        ["007", '"x", y', None],
        [None, None, None],
        ["#N/A", " two\nlines ", None],
        [-9, "<mergeCell />", None],
    ]
    lines = excel.as_csv(book(rows), "The file").decode()
    assert lines == (
        'a number,b\n1,0.1\n1e+300,TRUE\n2024-02-29,2024-02-29\n007,"""x"", y"\n," two\nlines "\n-9,<mergeCell />\n'
    )


def test_a_sheet_has_the_numbers_of_the_csv_and_of_the_parquet_file(tmp_path):
    """The same bits of every coded cell, public and private, from a file and from the bytes of an upload."""
    rows, names = cells(), list(KINDS)
    (tmp_path / "t.xlsx").write_bytes(book([names, *rows]))
    (tmp_path / "t.csv").write_bytes(excel.as_csv((tmp_path / "t.xlsx").read_bytes(), "The file"))
    pq.write_table(
        pa.table({name: pa.array(list(line)) for name, line in zip(names, zip(*rows, strict=True), strict=True)}),
        tmp_path / "t.parquet",
    )
    kinds = tuple(KINDS.values())
    found = {}
    for ending in ("xlsx", "csv", "parquet"):
        table = privcov.tables.readers.count_rows(describe(tmp_path / f"t.{ending}", names, kinds=kinds))
        blocks = [
            block.cells
            for part in privcov.tables.readers.parts_of(table)
            for block in privcov.tables.readers.blocks_of(part, names, private=True, kinds=kinds)
        ]
        found[ending] = np.concatenate(blocks, axis=1)
        assert table.n == len(rows)
    for other in ("csv", "parquet"):
        np.testing.assert_array_equal(found["xlsx"], found[other])
    columns = tuple(Column.from_dict({"name": name, **kind.to_dict()}) for name, kind in KINDS.items())
    declared = Declaration("t", "one row", columns)
    upload = read_private((tmp_path / "t.csv").read_bytes(), declared)
    np.testing.assert_array_equal(upload._rows.T, found["xlsx"])
    in_file = declared.dataset_from_files(tmp_path / "t.xlsx")
    assert (in_file.facts.n, in_file.facts.columns) == (len(rows), upload.facts.columns)


def test_the_header_alone_begins_a_declaration(tmp_path):
    from privcov.tables.declaration.template import header_of

    (tmp_path / "t.xlsx").write_bytes(book([["a\n(years)", "b;c"], [1, 2]]))
    header = header_of(tmp_path / "t.xlsx")
    assert (header.columns, header.dialect) == (("a (years)", "b;c"), None)
    assert read_header(excel.as_csv((tmp_path / "t.xlsx").read_bytes(), "It")) == list(header.columns)


def second_sheet(sheet) -> None:
    sheet.parent.create_sheet("notes")


def hidden_sheet(sheet) -> None:
    sheet.parent.create_sheet("notes").sheet_state = "hidden"


def array_formula(sheet) -> None:
    from openpyxl.worksheet.formula import ArrayFormula

    sheet["B3"] = ArrayFormula("B3:B3", "=SUM(A2:A3)")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (second_sheet, "has 2 sheets"),
        (hidden_sheet, "has 2 sheets"),
        (lambda sheet: sheet.__setitem__("A3", "=B2+1"), "has formulas"),
        (array_formula, "has formulas"),
        (lambda sheet: sheet.merge_cells("A2:B2"), "has merged cells"),
        (lambda sheet: sheet.__setitem__("D2", SECRET), "to the right of the last column name"),
    ],
)
def test_what_would_have_to_be_guessed_is_refused_in_one_sentence(tmp_path, change, words):
    path = tmp_path / "t.xlsx"
    path.write_bytes(book([["a", "b"], [float(SECRET), 2], [3, 4]], change))
    message = refusal(describe, path)
    assert words in message
    assert SECRET not in message


def zipped(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"PK\x03\x04....", "is damaged"),
        (book([["a"], [1]])[:-200], "is damaged"),
        (zipped(readme=b"no workbook"), "is damaged"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "begins as an old or locked spreadsheet"),
        (b"a,b\n1,2\n", "begins as text"),
        (book([["a", "b"]]), "no rows"),
        (book([]), "is blank"),
        (book([[1, 2], [3, 4]]), "numbers only"),
    ],
)
def test_what_is_no_table(tmp_path, raw, words):
    path = tmp_path / "t.xlsx"
    path.write_bytes(raw)
    assert words in refusal(lambda: privcov.tables.readers.count_rows(describe(path)))


def test_a_workbook_that_unpacks_to_far_more_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(excel, "MAX_BYTES", 1_000_000)
    raw = zipped(**{"xl/worksheets/sheet1.xml": bytes(2_000_000)})
    assert len(raw) < 10_000
    with pytest.raises(TableFileError, match=r"unpacks to 2 MB and the limit is 1 MB"):
        excel.as_csv(raw, "The file")


def changed(changes: dict[str, tuple[bytes, bytes]], **more: bytes) -> bytes:
    """A workbook of one cell, with the first occurrence of a text in a part replaced, and more parts."""
    parts = {}
    with zipfile.ZipFile(io.BytesIO(book([["a"], [1]]))) as packed:
        for name in packed.namelist():
            old, new = changes.get(name, (b"", b""))
            assert old in packed.read(name)
            parts[name] = packed.read(name).replace(old, new, 1)
    return zipped(**parts, **more)


def with_texts(inside: bytes, **changes: tuple[bytes, bytes]) -> bytes:
    role = b'<Override PartName="/%s" ContentType="%s.sharedStrings+xml"/></Types>' % (TEXTS.encode(), NS_TYPE)
    return changed({TYPES: (b"</Types>", role), **changes}, **{TEXTS: b'<sst xmlns="%s">%s</sst>' % (NS, inside)})


NS = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
NS_TYPE = b"application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET, STYLES, TEXTS = "xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/sharedStrings.xml"
TYPES, BOOK = "[Content_Types].xml", "xl/workbook.xml"
END = b"</sheetData>"
WIDE = b"".join(b'<c t="inlineStr"><is><t>n%d</t></is></c>' % j for j in range(9_000))
ATTACKS = {
    "row": (lambda: changed({SHEET: (END, b'<row r="99999999999"><c><v>1</v></c></row>' + END)}), "1,048,576 rows"),
    "row of a sheet named otherwise": (
        lambda: changed(
            {
                TYPES: (b"/" + SHEET.encode(), b"/xl/other.xml"),
                "xl/_rels/workbook.xml.rels": (b"/" + SHEET.encode(), b"/xl/other.xml"),
            },
            **{"xl/other.xml": b'<worksheet xmlns="%s"><sheetData><row r="99999999999"/></sheetData></worksheet>' % NS},
        ),
        "1,048,576 rows",
    ),
    "rows": (lambda: changed({SHEET: (END, b"<row/>" * 3_000_000 + END)}), "1,048,576 rows"),
    "column": (lambda: changed({SHEET: (END, b'<row><c r="ZZZ1"/></row>' * 40_000 + END)}), "16,384 columns"),
    "columns": (lambda: changed({SHEET: (END, b'<row><c r="XFD1"/></row>' * 40_000 + END)}), "10,000,000 cells"),
    "cells of a row": (lambda: changed({SHEET: (END, b"<row>" + b"<c/>" * 4_000_000 + b"</row>" + END)}), "columns"),
    "written cells": (
        lambda: changed(
            {SHEET: (b"<sheetData>", b"<sheetData><row>" + WIDE + b"</row>" + b"<row><c><v>1</v></c></row>" * 20_000)}
        ),
        "10,000,000 cells",
    ),
    "inside of a cell": (
        lambda: changed({SHEET: (END, b"<row><c><is>" + b"<t/>" * 4_000_000 + b"</is></c></row>" + END)}),
        "is damaged",
    ),
    "fonts": (lambda: changed({STYLES: (b"</fonts>", b"<font/>" * 2_000_000 + b"</fonts>")}), "100,000 styles"),
    "rules": (
        lambda: changed({SHEET: (END, END + b"<dataValidations>" + b"<dataValidation/>" * 1_000_000)}),
        "100,000 styles",
    ),
    "length of a part": (lambda: changed({}, **{"docProps/custom.xml": b" " * 50_000_000}), "20 MB"),
    "texts": (lambda: with_texts(b"<si/>" * 3_000_000), "2,000,000 texts"),
    "runs of a text": (lambda: with_texts(b"<si><r><t>a</t></r></si>" * 1_000_000), "100,000 styles"),
    "length of a text": (lambda: with_texts(b"<si><t>" + b"a" * 50_000_000 + b"</t></si>"), "bytes in one text"),
    "texts as a sheet": (
        lambda: with_texts(
            b'<row r="99999999999"/>', **{"xl/_rels/workbook.xml.rels": (SHEET.encode(), TEXTS.encode())}
        ),
        "1,048,576 rows",
    ),
    "sheets": (
        lambda: changed({BOOK: (b"</sheets>", b'<sheet name="a" sheetId="2" r:id="rId1"/>' * 90_000 + b"</sheets>")}),
        "sheets",
    ),
    "a sheet as the workbook": (
        lambda: changed(
            {TYPES: (b"/" + BOOK.encode(), b"/" + SHEET.encode()), SHEET: (END, b"<row/>" * 1_000_000 + END)}
        ),
        "is damaged",
    ),
    "entities": (lambda: changed({BOOK: (b"<workbook", b'<!DOCTYPE w [<!ENTITY a "aa">]><workbook')}), "is damaged"),
}
READ = """
import resource, sys
from privcov.tables.readers import TableFileError, excel
import openpyxl
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() if sys.platform == "linux" else 0
if used:
    resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000, -1))
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), -1))
try:
    excel.as_csv(open(sys.argv[1], "rb").read(), "The file")
except TableFileError as problem:
    print(problem)
"""


@pytest.mark.parametrize("attack", some_of(ATTACKS, 0, 3, 6, 9, 12, 15))
def test_a_small_workbook_that_asks_for_endless_work_is_refused_soon_and_in_little_memory(tmp_path, attack):
    make, words = ATTACKS[attack]
    path = tmp_path / "t.xlsx"
    path.write_bytes(make())
    assert path.stat().st_size < 1_000_000
    limit = int(patient(10))
    ran = subprocess.run(
        [sys.executable, "-c", READ, path, str(limit)], capture_output=True, text=True, timeout=10 * limit
    )
    assert (ran.returncode, ran.stdout.count("\n")) == (0, 1), ran.stderr
    assert words in ran.stdout


def test_a_workbook_that_is_packed_to_unpack_without_a_limit_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("xl/workbook.xml", b"<workbook/>")
    with pytest.raises(TableFileError, match="is damaged"):
        excel.as_csv(out.getvalue(), "The file")


def several_sheets() -> bytes:
    """A summary with a formula, and the table under a merged title."""
    made = openpyxl.Workbook()
    made.active.title = "Summary"
    made.active["A1"] = "=1+1"
    sheet = made.create_sheet("Data")
    for row in (["Survey 2025", None], [None, None], ["a", "b"], [1, 2.5], [None, 3]):
        sheet.append(row)
    sheet.merge_cells("A1:B2")
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_the_sheet_and_the_row_of_the_names_are_declared(tmp_path):
    raw, path = several_sheets(), tmp_path / "t.xlsx"
    path.write_bytes(raw)
    assert excel.sheets_of(raw, "The file") == ["Summary", "Data"]
    dialect = Dialect(sheet="Data", header_row=3)
    assert excel.as_csv(raw, "The file", dialect) == b"\n\na,b\n1,2.5\n,3\n"
    columns = (Column("a", 0, 9, reason="x"), Column("b", 0, 9, reason="x"))
    declared = Declaration("t", "one row", columns, dialect=dialect, missing="typical")
    table = Declaration.from_json(declared.to_json()).dataset_from_files(path)
    assert (table.facts.n, table.facts.d) == (2, 2)
    for other, words in (
        (Dialect(header_row=3), "which of them is meant is not guessed"),
        (Dialect(sheet="data", header_row=3), "no sheet of the declared name"),
        (Dialect(sheet="Data"), "merged cells"),
        (Dialect(sheet="Data", header_row=2), "merged cells"),
    ):
        assert words in refusal(lambda other=other: excel.as_csv(raw, "The file", other))
