"""How a CSV file is written: its separator, its decimal mark and its encoding.

None of them is taken from a row. They are declared, and the separator may be proposed from the header line: a decimal
mark guessed from rows would let one row change how all others are read, which no bound of a measurement covers.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from privcov import checks

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")
DECLARE_ENCODING = "declare its encoding (dialect: utf-16, latin-1 or cp1252)"
DECLARE_MARKS = "declare its separator and its decimal mark (dialect)"
SAVE_AGAIN = "save it again as CSV UTF-8, separated by commas, with decimal points"
_MARKS = {".": "decimal points", ",": "decimal commas"}


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is written. It says nothing about Parquet, Arrow and Excel files, whose cells are typed.

    Parameters
    ----------
    separator : {",", ";", "\t", "|"}
        What stands between the cells of a line.
    decimal : {".", ","} or None
        The decimal mark. It must be declared where the separator is no comma; None stands for the point.
    encoding : {"utf-8", "utf-16", "latin-1", "cp1252"}
        Encoding of the text. UTF-16 needs its byte order mark.

    Raises
    ------
    ValueError
        For another value, for a separator without a decimal mark, and where both are the same.

    Examples
    --------
    >>> import privcov
    >>> privcov.Dialect(";", ",")
    Dialect(separator=';', decimal=',', encoding='utf-8')
    """

    separator: str = ","
    decimal: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        for name, known in (("separator", tuple(SEPARATORS)), ("encoding", ENCODINGS)):
            checks.one_of(name, getattr(self, name), known)
        if self.decimal is None and self.separator == ",":
            object.__setattr__(self, "decimal", ".")
        if self.decimal is None:
            raise ValueError(
                f"separator={self.separator!r} leaves the decimal mark open, and it is never guessed from rows: "
                f"declare Dialect({self.separator!r}, ',') or Dialect({self.separator!r}, '.')."
            )
        if checks.one_of("decimal", self.decimal, tuple(_MARKS)) == self.separator:
            raise ValueError(
                f"separator={self.separator!r} and decimal={self.decimal!r} are the same, so that no cell would end: "
                "declare another of the two."
            )

    @property
    def divider(self) -> str:
        """The separator in words, in the plural."""
        return SEPARATORS[self.separator]

    @property
    def marks(self) -> str:
        """The decimal mark in words, in the plural."""
        return _MARKS[self.decimal or "."]

    def to_dict(self) -> dict[str, str]:
        """Return the three fields, as a declaration stores them."""
        return asdict(self)

    def to_utf8(self, raw: bytes, what: str) -> bytes:
        """Return a file in memory as UTF-8, without a change where it is declared to be.

        Parameters
        ----------
        raw : bytes
            The file.
        what : str
            Subject of the message.

        Returns
        -------
        bytes
            The text.

        Raises
        ------
        ValueError
            Where it is not of the declared encoding.
        """
        return raw if self.encoding == "utf-8" else "".join(self._decoded([raw], what)).encode()

    def line_to_utf8(self, raw: bytes, what: str) -> bytes:
        """Return the beginning of a file up to its first line end; what comes after it is not decoded.

        Parameters
        ----------
        raw : bytes
            The beginning of the file.
        what : str
            Subject of the message.

        Returns
        -------
        bytes
            The text in UTF-8, at least up to the line end; in UTF-8 all of ``raw``, without a change.

        Raises
        ------
        ValueError
            Where the line is not of the declared encoding.
        """
        if self.encoding == "utf-8":
            return raw
        line = []
        for letters in self._decoded((raw[at : at + 2] for at in range(0, len(raw), 2)), what):
            line.append(letters)
            if "\n" in letters or "\r" in letters:
                break
        return "".join(line).encode()

    def _decoded(self, pieces: Iterable[bytes], what: str) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            for piece in pieces:
                yield decoder.decode(piece)
            yield decoder.decode(b"", final=True)
        except UnicodeError:
            raise ValueError(self.wrong(what)) from None

    def wrong(self, what: str) -> str:
        """Return the sentence for a text that is not of the declared encoding."""
        return f"{what} is not text in the declared encoding {self.encoding}: declare the encoding it was saved in."


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
    if not isinstance(fields, dict) or not set(fields) <= {"separator", "decimal", "encoding"}:
        raise ValueError(
            f"A declaration holds dialect as separator, decimal and encoding, got {fields!a:.80}. Correct it."
        )
    return Dialect(**fields)
