"""How a table is written: separator, marks of numbers, encoding, the line of the column names, the sheet.

None of them is taken from a row. They are declared, and the separator may be proposed from the header line: a decimal
mark guessed from rows would let one row change how all others are read, which no bound of a measurement covers.
"""

from __future__ import annotations

import codecs
import csv
import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from privcov.core import checks

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")
DECLARE_ENCODING = "declare its encoding (dialect: utf-16, latin-1 or cp1252)"
DECLARE_MARKS = "declare its separator and its decimal mark (dialect)"
THOUSANDS = {"": "nothing", ",": "a comma", ".": "a point", " ": "a blank", "'": "an apostrophe"}
MAX_HEADER_ROW = 50
SAVE_AGAIN = "save it again as CSV UTF-8, separated by commas, with decimal points"
_MARKS = {".": "decimal points", ",": "decimal commas"}
_FIRST = ("separator", "decimal", "encoding")


@checks.explain_arguments
@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is written, and where the table stands in a workbook. It says nothing about Parquet and Arrow.

    The cells of a workbook are typed: ``header_row`` and ``sheet`` alone are used of it.

    Parameters
    ----------
    separator : {",", ";", "\t", "|"}
        What stands between the cells of a line.
    decimal : {".", ","} or None
        The decimal mark. It must be declared where the separator is no comma; None stands for the point.
    encoding : {"utf-8", "utf-16", "latin-1", "cp1252"}
        Encoding of the text. UTF-16 needs its byte order mark.
    thousands : {"", ",", ".", " ", "'"}
        What stands between the thousands of a number, as in 1,234,567. A blank stands for a narrow one as well, and an
        apostrophe for a curved one.
    header_row : int
        The line of the column names, from 1; lines above it are left out.
    sheet : str
        Name of the sheet of a workbook; it may be left out where there is only one.

    Raises
    ------
    ValueError
        For another value, for a separator without a decimal mark, and where thousands have the decimal mark.

    Examples
    --------
    >>> import privcov
    >>> privcov.Dialect(";", ",", thousands=".")
    Dialect(separator=';', decimal=',', encoding='utf-8', thousands='.', header_row=1, sheet='')
    """

    separator: str = ","
    decimal: str | None = None
    encoding: str = "utf-8"
    thousands: str = ""
    header_row: int = 1
    sheet: str = ""

    def __post_init__(self) -> None:
        choices = {"separator": tuple(SEPARATORS), "encoding": ENCODINGS, "thousands": tuple(THOUSANDS)}
        for name, values in choices.items():
            checks.one_of(name, getattr(self, name), values)
        object.__setattr__(self, "header_row", int(checks.integer("header_row", self.header_row, 1, MAX_HEADER_ROW)))
        if not isinstance(self.sheet, str):
            raise ValueError(f"sheet must be the name of a sheet, got {self.sheet!a:.60}. Correct it.")
        if self.decimal is None and self.separator == ",":
            object.__setattr__(self, "decimal", ".")
        if self.decimal is None:
            raise ValueError(
                f"separator={self.separator!r} leaves the decimal mark open, and it is never guessed from rows: "
                f"declare Dialect({self.separator!r}, ',') or Dialect({self.separator!r}, '.')."
            )
        checks.one_of("decimal", self.decimal, tuple(_MARKS))  # a decimal comma between commas stands in quoted cells
        if self.thousands and self.thousands == self.decimal:
            raise ValueError(
                f"thousands={self.thousands!r} is the decimal mark as well, so that no number has one meaning: declare "
                "another of the two."
            )

    @property
    def divider(self) -> str:
        """The separator in words, in the plural."""
        return SEPARATORS[self.separator]

    @property
    def marks(self) -> str:
        """The decimal mark in words, in the plural."""
        return _MARKS[self.decimal or "."]

    @property
    def in_words(self) -> str:
        """How the file is written, after its size: "" for commas, decimal points and a first line of names."""
        if self == Dialect():
            return ""
        parts = (
            [] if (self.separator, self.marks) == (",", _MARKS["."]) else [f"{self.divider} between cells", self.marks]
        )
        if self.thousands:
            parts.append(f"{THOUSANDS[self.thousands]} between thousands")
        if self.sheet:
            parts = [f"sheet {self.sheet}"]
        if self.header_row > 1:
            parts.append(f"column names in line {self.header_row}")
        return ", " + ", ".join([*parts, *([self.encoding] if self.encoding != "utf-8" else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return the first three fields, and the others that are declared, as a declaration stores them."""
        return {name: value for name, value in asdict(self).items() if name in _FIRST or value not in ("", 1)}

    def wrong(self, title: str) -> str:
        """Return the sentence for a text that is not of the declared encoding."""
        return f"{title} is not text in the declared encoding {self.encoding}: declare the encoding it was saved in."


def to_utf8(dialect: Dialect, raw: bytes, title: str) -> bytes:
    """Return a file in memory as UTF-8, without a change where it is declared to be."""
    return raw if dialect.encoding == "utf-8" else "".join(_decoded(dialect, [raw], title)).encode()


def header_to_utf8(dialect: Dialect, raw: bytes, title: str) -> bytes:
    """Return the beginning of a file, in UTF-8, at least to the end of its header line; the rest is not decoded."""
    if dialect.encoding == "utf-8":
        return raw
    read, ends = [], {"\n": 0, "\r": 0}
    for letters in _decoded(dialect, (raw[at : at + 2] for at in range(0, len(raw), 2)), title):
        read.append(letters)
        for end in ends:
            ends[end] += letters.count(end)
        if (ends["\n"] or ends["\r"]) >= dialect.header_row:
            break
    return "".join(read).encode()


def _decoded(dialect: Dialect, pieces: Iterable[bytes], title: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeError:
        raise ValueError(dialect.wrong(title)) from None


def proposed_separator(line: str) -> str:
    """Return the separator that a header line suggests, for its owner to confirm."""

    def cells(mark: str) -> int:
        try:
            return len(next(csv.reader([line], delimiter=mark), []))
        except csv.Error:
            return 0

    return max(SEPARATORS, key=cells)


def dialect_from(fields: object) -> Dialect:
    """Return a dialect from the fields of a declaration."""
    names = [field.name for field in dataclasses.fields(Dialect)]
    if (
        not isinstance(fields, dict)
        or not set(fields) <= set(names)
        or not all(isinstance(value, str | int | None) for value in fields.values())
    ):
        raise ValueError(f"A declaration holds dialect as {', '.join(names)}, got {fields!a:.80}. Correct it.")
    return Dialect(**fields)
