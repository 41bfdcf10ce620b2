"""What is known about table files before a row is read, and the error when one cannot be read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from privcov.tables.readers.dialect import Dialect


class TableFileError(ValueError):
    """A file cannot be read as asked. One sentence; for private rows it never says what a cell holds."""


class HeaderError(TableFileError):
    """The column names do not stand where they are looked for: below a title, perhaps."""


@dataclass(frozen=True)
class FileFacts:
    """One file as it was when it was described.

    ``format`` is "csv", "csv.gz", "parquet" or "arrow"; ``size`` is in bytes, ``modified_ns`` since 1970. ``rows`` is
    None until counted; the number may be private, so no repr shows it. ``names`` holds every column, in the order of
    the file; ``raw`` the bytes in UTF-8 of a CSV that is in memory and no file, otherwise None; ``dialect`` is how
    a CSV is written.
    """

    path: str
    format: str
    size: int
    modified_ns: int
    rows: int | None = field(repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    raw: bytes | None = field(default=None, repr=False, compare=False)
    dialect: Dialect = field(default=Dialect(), repr=False)

    @property
    def is_csv(self) -> bool:
        """Whether it is a CSV, compressed or not."""
        return self.format in ("csv", "csv.gz")

    @property
    def title(self) -> str:
        """The subject of a sentence about it; a CSV that was uploaded has no path."""
        return f"The file {self.path}".strip()

    @property
    def of_it(self) -> str:
        """What follows "a line" in a sentence."""
        return f" of {self.path}" if self.path else ""

    def check(self) -> None:
        """Raise TableFileError when the file is gone or has another size or modification time by now."""
        if self.raw is not None:
            return
        size, modified_ns = size_and_time(self.path)
        if (size, modified_ns) != (self.size, self.modified_ns):
            raise TableFileError(
                f"The file {self.path} changed while it was in use: wait until it is written, then begin again."
            )


@dataclass(frozen=True)
class TableFiles:
    """Files that together are one table, in order, with its wanted columns, and those of label and persons, or ""."""

    columns: tuple[str, ...]
    label: str
    files: tuple[FileFacts, ...]
    person: str = ""

    @property
    def n(self) -> int | None:
        """Rows of all files together; None as long as one of them is not counted."""
        rows = [file.rows for file in self.files if file.rows is not None]
        return sum(rows) if len(rows) == len(self.files) else None


@dataclass(frozen=True)
class Part:
    """A piece of work that needs nothing else: row groups or record batches first..last - 1, or a whole CSV.

    ``rows`` is None where only reading can count them.
    """

    file: FileFacts
    rows: int | None = field(repr=False)
    first: int = 0
    last: int = 0


def size_and_time(path: str) -> tuple[int, int]:
    """Return (bytes, modification time in ns). Raises TableFileError when there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        status = None
    if status is None:
        raise TableFileError(f"There is no file {path}: check its name, or bring it back and begin again.")
    return status.st_size, status.st_mtime_ns


def quote(text: str) -> str:
    """Return a name for a message, cut where it is long."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return up to so many names for a message, and count the others."""
    return ", ".join(map(quote, names[:most])) + f" and {len(names) - most} more" * (len(names) > most)
