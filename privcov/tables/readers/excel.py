"""A sheet of an Excel workbook as the CSV that it means, so that everything after it reads one format.

What a sheet shows and what it holds can differ: a formula holds a rule, and a merged cell leaves its neighbours empty.
Such a workbook is refused, and so is one with several sheets of which none is declared. Its owner is told so before
anything is paid for, and never which cell it was.
"""

from __future__ import annotations

import csv
import datetime
import functools
import io
import re
import string
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeVar
from xml.parsers import expat

from privcov.core import extras
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.table_files import HeaderError, TableFileError

ENDING = ".xlsx"
MAX_BYTES = 200_000_000  # of the unpacked workbook: a small zip may hold far more
MAX_PART_BYTES = 20_000_000  # of a part that is held as a whole
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384  # those of Excel
MAX_CELLS = 10_000_000  # with the empty ones on the left of others
MAX_TEXTS = 2_000_000
MAX_OTHER = 100_000  # elements beside cells, 10 to 100 microseconds each
_MAX_INSIDE = 8 * MAX_COLUMNS  # elements inside a row
_CHUNK = 1 << 20
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_ROW, _TEXT = _MAIN + "row", _MAIN + "si"
_PLAIN = {_MAIN + name for name in ("c", "v", "is", "t")}
_SHEET_NAME, _TEXTS_NAME = re.compile(r"xl/worksheets/.*\.xml"), "xl/sharedstrings.xml"
_PLACE = re.compile(r"([A-Z]{1,3})[0-9]{1,8}")
T = TypeVar("T")
_SAVE = "save the values of one sheet as a new workbook, or as CSV UTF-8"


def sheets_of(raw: bytes, title: str) -> list[str]:
    """Return the names of the sheets with cells; raise TableFileError as `as_csv` does."""
    return _plainly(raw, title, lambda book: [sheet.title for sheet in book.worksheets])


def as_csv(raw: bytes, title: str, dialect: Dialect | None = None) -> bytes:
    """Return a sheet of a workbook as CSV with commas, decimal points, UTF-8; lines above its header are blank."""
    dialect = dialect or Dialect()
    return _plainly(raw, title, lambda book: _sheet_to_csv(book, title, dialect), dialect.header_row)


def _plainly(raw: bytes, title: str, act: Callable[[Any], T], header_row: int = MAX_ROWS) -> T:
    """Return what ``act`` makes of a workbook that was checked, without the words of a library about it."""
    extras.require("openpyxl", "Excel files")
    problem = ""
    try:
        _check(raw, title, header_row)
        import openpyxl

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of openpyxl, on styles and checks that no cell depends on
            book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, keep_links=False)
            try:
                return act(book)
            finally:
                book.close()
    except (TableFileError, MemoryError):
        raise
    except Exception:  # openpyxl has no error of its own, and the words of a library might repeat a cell
        problem = f"{title} is damaged, locked by a password, or no Excel workbook: open it in Excel and {_SAVE}."
    raise TableFileError(problem)


def _check(raw: bytes, title: str, header_row: int) -> None:
    """Raise TableFileError for a workbook that is too large, or that holds what would have to be guessed."""
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        size = sum(part.file_size for part in packed.infolist())
        if size > MAX_BYTES:
            raise TableFileError(
                f"{title} unpacks to {size / 1e6:,.0f} MB and the limit is {MAX_BYTES / 1e6:,.0f} MB: save it as CSV "
                "UTF-8, or as Parquet."
            )
        look = _Look(title, header_row)
        for part in sorted(packed.NameToInfo.values(), key=lambda part: part.filename):
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("no workbook is packed like that, and others unpack without a limit")
            with packed.open(part.filename) as stream:
                look.at(part.filename.lower(), part.file_size, stream)


class _Look:
    """One pass over the parts of a workbook, in little memory, that counts what openpyxl makes objects of.

    openpyxl frees rows of a sheet and shared texts one by one, and holds all else until the end. So these two are
    counted within themselves, in the parts that are named as theirs.
    """

    def __init__(self, title: str, header_row: int) -> None:
        self.what, self.header_row = title, header_row
        self.cells = self.texts = self.other = 0

    def at(self, name: str, size: int, stream: IO[bytes]) -> None:
        """Count what a part has, or raise TableFileError."""
        self.freed = _ROW if _SHEET_NAME.fullmatch(name) else _TEXT if name == _TEXTS_NAME else ""
        if not self.freed:
            _at_most(self.what, "MB in a part without cells", size / 1e6, MAX_PART_BYTES / 1e6)
        self.unit, self.depth, self.unit_depth, self.inside, self.width, self.rows = "", 0, 0, 0, 0, 0
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.StartDoctypeDeclHandler = self.doctype
        try:
            while some := stream.read(_CHUNK):
                if len(some) == _CHUNK and b"<" not in some:
                    _at_most(self.what, "bytes in one text", _CHUNK, _CHUNK - 1)
                parser.Parse(some, False)
            parser.Parse(b"", True)
        except expat.ExpatError:
            if name.endswith((".xml", ".rels")):
                raise
            # Other parts are pictures.

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Count an element."""
        self.depth += 1
        if self.unit_depth:
            self.inside += 1
            if self.unit == _ROW and self.depth == self.unit_depth + 1:  # openpyxl takes all of these for cells
                self.cell(attributes.get("r"))
            if self.inside > _MAX_INSIDE or tag in (_ROW, _TEXT):
                raise ValueError("no row and no text has so much inside")
            is_extra = tag not in _PLAIN
        elif tag in (_ROW, _TEXT):
            self.unit, self.unit_depth, self.inside, self.width = tag, self.depth, 0, 0
            self.rows, self.texts = self.rows + (tag == _ROW), self.texts + (tag == _TEXT)
            _at_most(self.what, "rows", max(self.rows, _whole(attributes.get("r", "1"))), MAX_ROWS)
            _at_most(self.what, "texts", self.texts, MAX_TEXTS)
            is_extra = False
        else:
            is_extra = True
        if is_extra or self.unit != self.freed:
            self.extra(tag, attributes)

    def extra(self, tag: str, attributes: dict[str, str]) -> None:
        """Count an element that is held until the end, or makes more of a cell than a value."""
        self.other += 1
        _at_most(self.what, "styles and settings", self.other, MAX_OTHER)
        if tag == _MAIN + "mergeCell" and _last_row(attributes.get("ref", "")) >= self.header_row:
            raise HeaderError(
                f"{self.what} has merged cells below the column names, and a row needs a cell for each column: {_SAVE}."
            )
        # Rows or texts that are read as another part would be held as a whole.
        kind, name = attributes.get("ContentType", ""), attributes.get("PartName", "")[1:].lower()
        role = "worksheet+xml" if _SHEET_NAME.fullmatch(name) else "sharedStrings+xml" if name == _TEXTS_NAME else ""
        if not kind.endswith(role) or ("main+xml" in kind and name and not name.endswith(".xml")):
            raise ValueError("a part of a workbook is named as another one")

    def end(self, _tag: str) -> None:
        """Close an element."""
        if self.depth == self.unit_depth:
            self.unit_depth = 0
            self.cells += self.width
            _at_most(self.what, "cells", self.cells, MAX_CELLS)
        self.depth -= 1

    def cell(self, place: str | None) -> None:
        """Count a cell, up to which openpyxl fills the row."""
        column = self.width + 1
        if place is not None:
            match = _PLACE.fullmatch(place)
            column = (
                functools.reduce(lambda so_far, letter: 26 * so_far + ord(letter) - 64, match[1], 0) if match else 0
            )
            column = column or MAX_COLUMNS + 1
        self.width = max(self.width, column)
        _at_most(self.what, "columns", self.width, MAX_COLUMNS)

    def doctype(self, *_: object) -> None:
        """Raise ValueError: no workbook has one."""
        raise ValueError("a document type")


def _at_most(title: str, of: str, count: float, limit: float) -> None:
    if count > limit:
        raise TableFileError(f"{title} has more than {limit:,.0f} {of}, the limit for a workbook: {_SAVE}.")


def _last_row(cells: str) -> int:
    """Return the last row of a range such as A1:C2, one beyond the limit where it is none."""
    return _whole(cells.rpartition(":")[2].lstrip(string.ascii_uppercase))


def _whole(text: str) -> int:
    """Return the number of a row, one beyond the limit where it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else MAX_ROWS + 1


def _sheet_to_csv(book: Any, title: str, dialect: Dialect) -> bytes:
    out = io.StringIO(newline="")
    out.write("\n" * (dialect.header_row - 1))
    writer = csv.writer(out, lineterminator="\n")
    rows = _rows(_sheet(book, title, dialect.sheet), title, dialect.header_row)
    header = [" ".join(cell.split()) for cell in next(rows, [])]
    width = max((place for place, name in enumerate(header, 1) if name), default=0)
    writer.writerow(header[:width])
    n_cells = width
    for cells in rows:
        if any(cells[width:]):
            raise HeaderError(
                f"{title} has a cell to the right of the last column name: give every column a name in row "
                f"{dialect.header_row}, or declare the row of the column names (header_row)."
            )
        if any(cells):
            _at_most(title, "cells", n_cells := n_cells + width, MAX_CELLS)
            writer.writerow([*cells[:width], *[""] * (width - len(cells))])
    return out.getvalue().encode("utf-8")


def _sheet(book: Any, title: str, name: str) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if name and name not in sheets:
        raise TableFileError(f"{title} has no sheet of the declared name: correct sheet.")
    if not name and len(book.sheetnames) != 1:
        raise TableFileError(
            f"{title} has {len(book.sheetnames)} sheets, and which of them is meant is not guessed: declare it "
            f"(sheet), or {_SAVE}."
        )
    if not sheets:
        raise TableFileError(f"{title} has no sheet with cells: {_SAVE}.")
    sheet = sheets[name] if name else next(iter(sheets.values()))
    sheet.reset_dimensions()  # what a program wrote about them may be wrong
    return sheet


def _rows(sheet: Any, title: str, first: int) -> Iterator[list[str]]:
    for row in sheet.iter_rows(min_row=first):
        if any(cell.data_type == "f" for cell in row):
            raise TableFileError(f"{title} has formulas, and a formula is a rule and no value: {_SAVE}.")
        yield [_text(cell.value, cell.data_type) for cell in row]


def _text(value: object, kind: str) -> str:
    if value is None or kind == "e":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        value = value.date()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
