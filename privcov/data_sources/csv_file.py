"""A CSV file: every row of a file that its owner declares public, only the first line of one that is not.

Nothing here is a registered source and nothing is kept: an upload goes in, a table or one sentence comes out.
Every ``ValueError`` is a single sentence saying what is wrong, where, what the limit is and what helps.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privcov.table_files import FileFacts, Part, csv_rows, tables_of
from privcov.table_files.dialect import DECLARE_ENCODING, SAVE_AGAIN, Dialect
from privcov.table_files.facts import quote
from privcov.table_files.numbers import floats_of, texts_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MAX_BYTES = 120_000_000
MAX_ROWS = 4_000_000
MAX_COLUMNS = 200
MAX_HEADER_BYTES = csv_rows.MAX_HEADER_BYTES

CODES = (-9999.0, -999.0, -99.0, -98.0, -97.0, -9.0, -8.0, -7.0, 99.0, 999.0, 9999.0)  # as surveys mark a missing cell
_COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)+")


@dataclass(frozen=True, eq=False)
class PublicTable:
    """The numeric columns of a public CSV, and what was noticed on the way.

    ``frame`` is float64, with NaN for missing cells; infinite ones stay. ``dropped`` has a sentence for each column
    that is left out, ``missing`` and ``infinite`` numbers of cells by column; ``constant`` columns are kept.
    """

    columns: tuple[str, ...]
    frame: pd.DataFrame
    dropped: dict[str, str]
    missing: dict[str, int]
    infinite: dict[str, int]
    constant: tuple[str, ...]
    n_rows: int


def codes_of(values: np.ndarray) -> tuple[float, ...]:
    """Return the numbers of a public column that seem to stand for a missing cell.

    Negative codes where no other cell is negative, and a positive one that lies farther from the others than these from
    each other.
    """
    finite = values[np.isfinite(values)]
    present = [code for code in CODES if (finite == code).any()]
    negative = tuple(code for code in present if code < 0)
    others = finite[~np.isin(finite, negative)]
    if len(others) == 0 or (others < 0).any():
        negative, others = (), finite
    positive = present[-1:] if present and present[-1] > 0 else []
    rest = others[~np.isin(others, positive)]
    far = len(rest) > 0 and rest.max() > rest.min() and bool(positive) and positive[0] - rest.max() > np.ptp(rest)
    return (*negative, *(positive if far else []))


def without(table: PublicTable, codes: dict[str, tuple[float, ...]]) -> PublicTable:
    """Return the table with the codes of its columns as missing cells."""
    frame = table.frame.copy()
    missing = dict(table.missing)
    for name, found in codes.items():
        frame[name] = frame[name].mask(frame[name].isin(found))
        missing[name] = int(frame[name].isna().sum())
    return dataclasses.replace(table, frame=frame, missing=missing)


def read_header(raw: bytes, dialect: Dialect | None = None) -> list[str]:
    """Read the column names from the first line alone; messages give positions, as it may be a person's row."""
    dialect = dialect or Dialect()
    window = dialect.line_to_utf8(raw[:MAX_HEADER_BYTES], "The first line")
    ends = [at for at in (window.find(b"\n"), window.find(b"\r")) if at >= 0]
    if not ends and len(raw) > MAX_HEADER_BYTES:
        raise ValueError(
            f"The first line is longer than {MAX_HEADER_BYTES:,} bytes, so it is no header: "
            "give the file a first line of column names."
        )
    line = window[: min(ends)] if ends else window
    decode(line, "The first line")
    return _checked(csv_rows.header(_upload_facts(line + b"\n", dialect)), show=False)


def read_public(raw: bytes, dialect: Dialect | None = None) -> PublicTable:
    """Read every row of a public CSV: a header, and one separator, decimal mark and encoding throughout."""
    import pandas as pd

    if len(raw) > MAX_BYTES:
        raise ValueError(
            f"The file has {len(raw) / 1e6:,.1f} MB and the limit is {MAX_BYTES / 1e6:,.0f} MB: "
            "keep fewer rows, columns or decimals."
        )
    dialect = dialect or Dialect()
    raw = dialect.to_utf8(raw, "The file")
    decode(raw, "The file")
    names = _checked(csv_rows.header(_upload_facts(raw, dialect)), show=True)
    part, n = upload(raw, names, dialect), 0
    columns = {name: _Column(name, dialect) for name in names}
    for table, _ in tables_of(part, names, private=False):
        for name, column in columns.items():
            column.take(table.column(name), n)
        n += table.num_rows
        if n > MAX_ROWS:
            raise ValueError(f"The file has more rows than the limit of {MAX_ROWS:,}: keep fewer rows.")
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

    def __init__(self, name: str, dialect: Dialect) -> None:
        self.name, self.dialect, self.reason = name, dialect, ""
        self._pieces: list = []

    def take(self, cells: pa.Array, before: int) -> None:
        """Add the next numbers, or refuse the column because of its first text; raise for a number with a comma."""
        if self.reason:
            return
        numbers, text = floats_of(cells, self.dialect.decimal)
        self._pieces.append(numbers)
        if text is None:
            return
        cell, row = quote(text.strip()), before + 1 + texts_of(cells).index(text)
        if self.dialect.decimal == "." and _COMMA_NUMBER.fullmatch(text.strip()):
            raise ValueError(
                f"Column {quote(self.name)} holds {cell} in row {row:,}, a number with a comma: write numbers with a "
                "decimal point and nothing between the thousands."
            )
        self._pieces = []
        self.reason = f"Column {quote(self.name)} is left out because it holds text, such as {cell} in row {row:,}."

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
            raise ValueError(f"Column {at} has no name: write one in the first line, or delete the column.")
        if name in first:
            both = f" ({quote(name)})" if show else ""
            raise ValueError(f"Columns {first[name]} and {at} have the same name{both}: rename one of them.")
        first[name] = at
    return list(names)
