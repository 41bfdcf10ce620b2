"""A CSV file: every row of a file that its owner declares public, only the first line of one that is not.

Nothing here is a registered source and nothing is kept: an upload goes in, a table or one sentence comes out.
Every ``ValueError`` is a single sentence saying what is wrong, where, what the limit is and what helps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from privcov.tables.readers import FileFacts, Part, csv_rows, tables_of
from privcov.tables.readers.dialect import DECLARE_ENCODING, SAVE_AGAIN, Dialect, header_to_utf8, to_utf8
from privcov.tables.readers.numbers import floats_of, texts_of
from privcov.tables.readers.table_files import HeaderError, quote

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES = 120_000_000
MAX_ROWS = 4_000_000
MAX_COLUMNS = 200
MAX_HEADER_BYTES = csv_rows.MAX_HEADER_BYTES

CODES = (-9999.0, -999.0, -99.0, -98.0, -97.0, -9.0, -8.0, -7.0, 99.0, 999.0, 9999.0)  # as surveys mark a missing cell
_COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)+")


def codes_of(values: np.ndarray) -> tuple[float, ...]:
    """Return the numbers of a public column that seem to stand for a missing cell.

    Negative codes where no other cell is negative, and a positive one that lies farther from the others than these from
    each other.
    """
    finite = values[np.isfinite(values)]
    present = [code for code in CODES if (finite == code).any()]
    negative = tuple(code for code in present if code < 0)
    ordinary = finite[~np.isin(finite, negative)]
    if len(ordinary) == 0 or (ordinary < 0).any():
        negative, ordinary = (), finite
    positive = present[-1:] if present and present[-1] > 0 else []
    rest = ordinary[~np.isin(ordinary, positive)]
    far = len(rest) > 0 and rest.max() > rest.min() and bool(positive) and positive[0] - rest.max() > np.ptp(rest)
    return (*negative, *(positive if far else []))


def read_header(raw: bytes, dialect: Dialect | None = None) -> list[str]:
    """Read the column names from their line alone; messages give positions, as it may be a person's row."""
    dialect = dialect or Dialect()
    window = header_to_utf8(dialect, raw[:MAX_HEADER_BYTES], "The header")
    lines = window.splitlines(keepends=True)[: dialect.header_row]
    whole = len(lines) == dialect.header_row and lines[-1].endswith((b"\n", b"\r"))
    if not whole and len(raw) > MAX_HEADER_BYTES:
        raise ValueError(
            f"The first line is longer than {MAX_HEADER_BYTES:,} bytes, so it is no header: "
            "give the file a first line of column names."
        )
    if len(lines) == dialect.header_row:
        decode(lines[-1], "The first line")
    return _checked(csv_rows.header(_upload_facts(b"".join(lines).rstrip(b"\r\n") + b"\n", dialect)), show=False)


def read_public(raw: bytes, dialect: Dialect | None = None) -> pd.DataFrame:
    """Return the columns of numbers of a public CSV as float64, with NaN for missing cells; infinite ones stay.

    A column with a text, or without a number, is left out. The file has a header, and one separator, decimal mark and
    encoding throughout.
    """
    import pandas as pd

    dialect = dialect or Dialect()
    raw = to_utf8(dialect, raw, "The file")
    decode(raw, "The file")
    names = _checked(csv_rows.header(_upload_facts(raw, dialect)), show=True)
    pieces: dict[str, list[np.ndarray]] = {name: [] for name in names}
    n = 0
    for table, _ in tables_of(upload(raw, names, dialect), names, private=False):
        for name in list(pieces):
            numbers, text = floats_of(table.column(name), dialect.decimal, dialect.thousands)
            pieces[name].append(numbers)
            if text is None:
                continue
            if dialect.decimal == "." and _COMMA_NUMBER.fullmatch(text.strip()):
                row = n + 1 + texts_of(table.column(name)).index(text)
                raise ValueError(
                    f"Column {quote(name)} holds {quote(text.strip())} in row {row:,}, a number with a comma: "
                    "declare the marks of its numbers (decimal and thousands of the dialect), or write decimal points."
                )
            del pieces[name]
        n += table.num_rows
        if n > MAX_ROWS:
            raise ValueError(f"The file has more rows than the limit of {MAX_ROWS:,}: keep fewer rows.")
    if n == 0:
        raise ValueError("The file has column names but no rows: add at least one row under the first line.")
    numbers_of = {name: np.concatenate(parts) for name, parts in pieces.items()}
    return pd.DataFrame({name: cells for name, cells in numbers_of.items() if np.isfinite(cells).any()})


def decode(raw: bytes, title: str) -> str:
    """Return the text of a file."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{title} is UTF-16 text: {DECLARE_ENCODING}, or {SAVE_AGAIN}.")
    if (at := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ValueError(f"{title} holds a zero byte on line {line:,}, so it is not text: {SAVE_AGAIN}.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{title} is not UTF-8 text (first on line {line:,}): {DECLARE_ENCODING}, or {SAVE_AGAIN}."
        ) from None


def upload(raw: bytes, names: Iterable[str], dialect: Dialect | None = None) -> Part:
    """Return a CSV in memory as one part of a table, for `privcov.tables.readers`; raise ValueError for a large one."""
    if len(raw) > MAX_BYTES:
        raise ValueError(
            f"The file has {len(raw) / 1e6:,.1f} MB and the limit is {MAX_BYTES / 1e6:,.0f} MB: keep fewer rows, "
            "columns or decimals."
        )
    return Part(_upload_facts(raw, dialect or Dialect(), tuple(names)), None)


def _upload_facts(raw: bytes, dialect: Dialect, names: tuple[str, ...] = ()) -> FileFacts:
    return FileFacts("", "csv", len(raw), 0, None, names, raw=raw, dialect=dialect)


def _checked(names: tuple[str, ...], show: bool) -> list[str]:
    """Return the names of the columns. ``show``: messages may repeat what the file says."""
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"The file has {len(names):,} columns and the limit is {MAX_COLUMNS}: keep fewer columns.")
    first: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        if not name:
            raise HeaderError(f"Column {at} has no name: write one above its cells, or delete the column.")
        if name in first:
            both = f" ({quote(name)})" if show else ""
            raise HeaderError(f"Columns {first[name]} and {at} have the same name{both}: rename one of them.")
        first[name] = at
    return list(names)
