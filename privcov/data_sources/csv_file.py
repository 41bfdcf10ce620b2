"""A CSV file: every row of a file that its owner declares public, only the first line of one that is not.

Nothing here is a registered source and nothing is kept: an upload goes in, a table or one sentence comes out.
Every ``ValueError`` is a single sentence saying what is wrong, where, what the limit is and what helps.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privcov.table_files import FileFacts, Part, TableFileError, csv_rows, csv_scan
from privcov.table_files.dialect import DECLARE_ENCODING, SAVE_AGAIN, Dialect
from privcov.table_files.facts import quote
from privcov.table_files.numbers import number_of

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES = 50_000_000
MAX_ROWS = 1_000_000
MAX_COLUMNS = 200
MAX_HEADER_BYTES = csv_scan.MOST_HEADER_BYTES

_COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)+")


@dataclass(frozen=True, eq=False)
class PublicTable:
    """The numeric columns of a public CSV, and what was noticed on the way.

    frame: float64, one column per name in ``columns``; missing cells are NaN, infinite ones stay. dropped: column and
    one sentence saying why it is left out. missing, infinite: column and number of such cells, only columns that have
    any. constant: columns whose finite cells are all equal; they are kept.
    """

    columns: tuple[str, ...]
    frame: pd.DataFrame
    dropped: dict[str, str]
    missing: dict[str, int]
    infinite: dict[str, int]
    constant: tuple[str, ...]
    n_rows: int


def read_header(raw: bytes, dialect: Dialect | None = None) -> list[str]:
    """Read the column names, from the first line alone; no byte after it is read.

    Messages give positions and never content: a file without a header would show a person's row.
    """
    dialect = dialect or Dialect()
    window = dialect.line_to_utf8(raw[:MAX_HEADER_BYTES], "The first line")
    ends = [at for at in (window.find(b"\n"), window.find(b"\r")) if at >= 0]
    if not ends and len(raw) > MAX_HEADER_BYTES:
        raise ValueError(
            f"The first line is longer than {MAX_HEADER_BYTES:,} bytes, so it is no header: "
            "give the file a first line of column names."
        )
    line = window[: min(ends)] if ends else window
    if not decode(line, "The first line").strip():
        raise ValueError("The first line is blank, but it must hold the column names: put them there.")
    return _names(next(records_of(line, dialect.separator))[1], dialect, show=False)


def read_public(raw: bytes, dialect: Dialect | None = None) -> PublicTable:
    """Read every row of a CSV that its owner declares public.

    The format is strict: a header, and one separator, decimal mark and encoding throughout.
    """
    import pandas as pd

    if len(raw) > MAX_BYTES:
        raise ValueError(
            f"The file has {len(raw) / 1e6:,.1f} MB and the limit is {MAX_BYTES / 1e6:,.0f} MB: "
            "keep fewer rows, columns or decimals."
        )
    dialect = dialect or Dialect()
    raw = dialect.to_utf8(raw, "The file")
    if not decode(raw, "The file").strip():
        raise ValueError("The file is empty: it needs a first line of column names and at least one row.")
    header = next(records_of(raw, dialect.separator))[1]
    if not any(cell.strip() for cell in header):
        raise ValueError("The first line is blank, but it must hold the column names: put them there.")
    columns = {name: _Column(name, dialect.decimal) for name in _names(header, dialect, show=True)}
    n = 0
    try:
        for rows, block in csv_rows.numbers_or_text(upload(raw, columns, dialect), list(columns)):
            n += rows
            if n > MAX_ROWS:
                raise ValueError(f"The file has more rows than the limit of {MAX_ROWS:,}: keep fewer rows.")
            for name, cells in block.items():
                columns[name].take(cells)
    except TableFileError as error:
        check_records(raw, len(columns), dialect)
        raise ValueError(str(error)) from None
    if n == 0:
        raise ValueError("The file has column names but no rows: add at least one row under the first line.")
    dropped, kept, missing, infinite, constant = {}, {}, {}, {}, []
    for column in columns.values():
        values = column.finish()
        if values is None:
            dropped[column.name] = column.reason
            continue
        kept[column.name] = values
        finite = values[np.isfinite(values)]
        if holes := int(np.isnan(values).sum()):
            missing[column.name] = holes
        if endless := n - holes - len(finite):
            infinite[column.name] = endless
        if len(finite) and (finite == finite[0]).all():
            constant.append(column.name)
    if not kept:
        raise ValueError(
            f"No column holds numbers only ({next(iter(dropped.values())).rstrip('.')}), "
            "and at least one is needed: correct a column or choose another file."
        )
    return PublicTable(tuple(kept), pd.DataFrame(kept), dropped, missing, infinite, tuple(constant), n)


class _Column:
    """One column while the file is read: numbers in pieces, or the reason why it is not numeric."""

    def __init__(self, name: str, decimal: str | None) -> None:
        self.name, self.decimal, self.reason = name, decimal, ""
        self._pieces: list = []

    def take(self, cells: np.ndarray | csv_rows.Text) -> None:
        """Add the next cells, or refuse the column where they hold text."""
        if isinstance(cells, csv_rows.Text):
            self._refuse(cells.cell.strip(), cells.line)
        else:
            self._pieces.append(cells)

    def _refuse(self, cell: str, line: int) -> None:
        """Keep the reason why the column is left out; raise ValueError for a number with a comma."""
        if self.decimal == "." and _COMMA_NUMBER.fullmatch(cell):
            raise ValueError(
                f"Column {quote(self.name)} holds {quote(cell)} on line {line:,}, a number with a comma: "
                "write numbers with a decimal point and nothing between the thousands."
            )
        self._pieces = []
        self.reason = (
            f"Column {quote(self.name)} is left out because it holds text, such as {quote(cell)} on line {line:,}."
        )

    def finish(self) -> np.ndarray | None:
        """Return the numbers, or None where the column is left out."""
        if self.reason:
            return None
        values = np.concatenate(self._pieces)
        self._pieces = []
        if np.isnan(values).all():
            self.reason = f"Column {quote(self.name)} is left out because all its cells are empty."
            return None
        return values


def decode(raw: bytes, what: str) -> str:
    """Return the text of a file."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{what} is UTF-16 text: {DECLARE_ENCODING}, or {SAVE_AGAIN}.")
    if (at := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ValueError(f"{what} holds a zero byte on line {line:,}, so it is not text: {SAVE_AGAIN}.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{what} is not UTF-8 text (first on line {line:,}): {DECLARE_ENCODING}, or {SAVE_AGAIN}."
        ) from None


def upload(raw: bytes, names: Iterable[str], dialect: Dialect | None = None) -> Part:
    """Return a CSV in memory as one part of a table, for `privcov.table_files`."""
    names, dialect = tuple(names), dialect or Dialect()
    if b'"' in raw or max(map(len, io.BytesIO(raw))) > csv.field_size_limit():
        check_records(raw, len(names), dialect)
    return Part(FileFacts("the upload", "csv", len(raw), 0, None, names, raw=raw, dialect=dialect), None)


def records_of(raw: bytes, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV; blank lines after the first are skipped."""
    # as a stream, which needs far less memory than one long string split into lines
    text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=separator, strict=True)
    start = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if "field larger" in str(error):
                raise ValueError(
                    f"Line {start:,} holds a cell beyond {csv.field_size_limit():,} characters, the limit: "
                    "look for a quotation mark that is never closed."
                ) from None
            raise ValueError(
                f"Line {start:,} has a quotation mark that is not closed or not doubled: "
                'close it, or write "" for a quotation mark inside a quoted cell.'
            ) from None
        if cells is None:
            return
        if start == 1 or csv_scan.is_row(cells):
            yield start, cells
        start = reader.line_num + 1


def check_records(raw: bytes, width: int, dialect: Dialect | None = None) -> None:
    """Raise ValueError with the first record that is not as wide as the header, or that has no clear end."""
    dialect = dialect or Dialect()
    for line, cells in records_of(raw, dialect.separator):
        if len(cells) != width:
            commas = len(cells) > width and dialect.separator == ","
            comma = ", and write decimal points, not decimal commas" if commas else ""
            has = f"{len(cells):,} cell{'s' * (len(cells) != 1)}"
            raise ValueError(
                f"Line {line:,} has {has} and the header has {width:,}: "
                f"give every line the same number of cells{comma}."
            )


def _names(cells: list[str], dialect: Dialect, show: bool) -> list[str]:
    """Return checked column names. ``show``: messages may repeat what the file says."""
    if problem := csv_scan.other_separator(cells, dialect):
        raise ValueError(f"The file {problem}.")
    names = [" ".join(cell.split()) for cell in cells]
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"The file has {len(names):,} columns and the limit is {MAX_COLUMNS}: keep fewer columns.")
    if all(number_of(name, dialect.decimal) is not None for name in names):
        raise ValueError(
            "The first line holds numbers only, but it must hold the column names: put a line of names above the data."
        )
    first: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        if not name:
            raise ValueError(f"Column {at} has no name: write one in the first line, or delete the column.")
        if name in first:
            both = f" ({quote(name)})" if show else ""
            raise ValueError(f"Columns {first[name]} and {at} have the same name{both}: rename one of them.")
        first[name] = at
    return names
