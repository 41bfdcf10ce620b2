"""An Excel workbook of one sheet as the CSV that it means, so that everything after it reads one format.

What a sheet shows and what it holds can differ: a formula holds a rule, and a merged cell leaves its neighbours empty.
Such a workbook is refused, and so is one with several sheets, of which somebody would have to guess. Its owner is told
so before anything is paid for, and never which cell it was.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

from privcov import extras
from privcov.table_files.facts import TableFileError

ENDING = ".xlsx"
MOST_BYTES = 300_000_000  # of the unpacked workbook: a small zip may hold far more
_CHUNK = 1 << 20
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell[\s/>]")
_SAVE = "save the values of one sheet as a new workbook, or as CSV UTF-8"


def as_csv(raw: bytes, what: str) -> bytes:
    """Return the one sheet of a workbook as CSV: commas, decimal points, UTF-8.

    Parameters
    ----------
    raw : bytes
        The workbook, as .xlsx.
    what : str
        Subject of the messages.

    Returns
    -------
    bytes
        The first row holds the names of the columns. Numbers are written with all their digits, dates as 2024-01-31
        without the time of day, truth values as TRUE and FALSE. Errors, such as #N/A, are empty cells, and empty rows
        are left out.

    Raises
    ------
    TableFileError
        In one sentence, for a workbook with several sheets, formulas or merged cells, for cells without a name of their
        column, and for what is no workbook.
    MissingExtra
        Where openpyxl is not installed.
    """
    extras.require("openpyxl", "Excel files")
    problem = ""
    try:
        _check(raw, what)
        return _written(raw, what)
    except (TableFileError, MemoryError):
        raise
    except Exception:  # openpyxl has no error of its own, and the words of a library might repeat a cell
        problem = f"{what} is damaged, locked by a password, or no Excel workbook: open it in Excel and {_SAVE}."
    raise TableFileError(problem)


def _check(raw: bytes, what: str) -> None:
    """Raise TableFileError for a workbook that is too large, or whose sheets have merged cells."""
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        size = sum(part.file_size for part in packed.infolist())
        if size > MOST_BYTES:
            raise TableFileError(
                f"{what} unpacks to {size / 1e6:,.0f} MB and the limit is {MOST_BYTES / 1e6:,.0f} MB: save it as CSV "
                "UTF-8, or as Parquet."
            )
        for part in packed.namelist():
            if part.startswith("xl/worksheets/") and part.endswith(".xml") and _merged(packed, part):
                raise TableFileError(f"{what} has merged cells, and a row needs a cell for each column: {_SAVE}.")


def _merged(packed: zipfile.ZipFile, part: str) -> bool:
    """Return whether a sheet has merged cells; text inside a cell never has an open bracket."""
    with packed.open(part) as stream:
        before = b""
        while some := stream.read(_CHUNK):
            if _MERGED.search(before + some):
                return True
            before = some[-40:]
    return False


def _written(raw: bytes, what: str) -> bytes:
    """Return the CSV, or raise TableFileError."""
    import openpyxl

    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of openpyxl, on styles and checks that no cell depends on
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, keep_links=False)
        try:
            if len(book.sheetnames) != 1 or len(book.worksheets) != 1:
                raise TableFileError(
                    f"{what} has {len(book.sheetnames)} sheets, and which of them is meant is not guessed: {_SAVE}."
                )
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what a program wrote about them may be wrong
            rows = _rows(sheet, what)
            header = [" ".join(cell.split()) for cell in next(rows, [])]
            width = max((place for place, name in enumerate(header, 1) if name), default=0)
            writer.writerow(header[:width])
            for cells in rows:
                if any(cells[width:]):
                    raise TableFileError(
                        f"{what} has a cell to the right of the last column name: give every column a name in the "
                        "first row."
                    )
                if any(cells):
                    writer.writerow([*cells[:width], *[""] * (width - len(cells))])
        finally:
            book.close()
    return out.getvalue().encode("utf-8")


def _rows(sheet: Any, what: str) -> Iterator[list[str]]:
    """Yield the texts of every row."""
    for row in sheet.iter_rows():
        if any(cell.data_type == "f" for cell in row):
            raise TableFileError(f"{what} has formulas, and a formula is a rule and no value: {_SAVE}.")
        yield [_text(cell.value, cell.data_type) for cell in row]


def _text(value: object, kind: str) -> str:
    """Return the text of a cell, "" for an empty one and for an error."""
    if value is None or kind == "e":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        value = value.date()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
