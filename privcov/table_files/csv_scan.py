"""Find where the records of a CSV file end: its header, and pieces of whole records with their number of rows."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privcov.table_files.dialect import DECLARE_ENCODING, DECLARE_MARKS, SAVE_AGAIN, SEPARATORS, Dialect
from privcov.table_files.facts import FileFacts, Piece, TableFileError
from privcov.table_files.numbers import number_of
from privcov.table_files.recoded import Recoded

READ_BYTES = 4_000_000
MOST_RECORD_BYTES = 16_000_000
MOST_HEADER_BYTES = 65_536
# In excess of the bytes of the rows. Blank lines are read one by one, and a few kilobytes of gzip can hold a thousand
# million of them.
MOST_BLANK_BYTES = 1_000_000

_WINDOW = 1 << 18  # bytes scanned together, so that temporaries stay in the cache of one core
_CLOSE = "close or double its quotation marks"


@dataclass(frozen=True)
class _Wrong:
    """What is wrong, what helps, and how many lines stand before it in its piece."""

    what: str
    remedy: str
    lines: int


@dataclass
class _Seen:
    """Bytes of the file so far, of rows and of blank lines; there may be ``spare`` more of blank lines than of rows."""

    spare: int
    rows: int = 0
    blank: int = 0


def opened(file: FileFacts) -> io.BytesIO | gzip.GzipFile | io.FileIO | Recoded:
    """Return the text of the file as a stream of UTF-8, uncompressed."""
    if file.raw is not None:
        return io.BytesIO(file.raw)
    if file.dialect.encoding != "utf-8":
        return Recoded(_plain(file), file.dialect.encoding, file.dialect.wrong(file.title))
    return _plain(file)


def _plain(file: FileFacts) -> gzip.GzipFile | io.FileIO:
    return gzip.open(file.path, "rb") if file.format == "csv.gz" else open(file.path, "rb", buffering=0)


def first_line(file: FileFacts) -> bytes:
    """Return the first line in UTF-8, or its beginning where it is too long for a header."""
    with opened(file) as stream:
        return stream.readline(MOST_HEADER_BYTES + 1)


def header(file: FileFacts) -> tuple[tuple[str, ...], int]:
    """Return (column names, byte at which the rows begin); messages never repeat the line, which may be a row."""
    with opened(file) as stream:
        raw = stream.read(MOST_HEADER_BYTES)
    if not raw:
        raise TableFileError(f"{file.title} is empty: it needs column names and at least one row.")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TableFileError(f"{file.title} is UTF-16 text: {DECLARE_ENCODING}, or {SAVE_AGAIN}.")
    at = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
    lines, used = raw[at:].splitlines(keepends=True), [at]
    cells, problem = _first_record(lines, used, file.dialect.separator)
    if problem or (sum(used) == len(raw) == MOST_HEADER_BYTES and raw[-1:] not in (b"\n", b"\r")):
        raise TableFileError(
            f"The first line{file.of_it} is no header of at most {MOST_HEADER_BYTES:,} bytes in UTF-8: "
            "give the file a first line of column names, close its quotation marks, or declare its encoding."
        )
    names = tuple(" ".join(cell.split()) for cell in cells)
    if not any(names):
        raise TableFileError(f"The first line{file.of_it} is blank, but it must hold the column names: put them there.")
    if problem := other_separator(cells, file.dialect):
        raise TableFileError(f"{file.title} {problem}.")
    if all(number_of(name, file.dialect.decimal) is not None for name in names):
        raise TableFileError(
            f"The first line{file.of_it} holds numbers only, but it must hold the column names: put them above the "
            "rows."
        )
    return names, sum(used)


def other_separator(cells: list[str], dialect: Dialect) -> str:
    """Return what is wrong, where the cells of a header show another separator than the declared one, else ""."""
    for mark, word in SEPARATORS.items():
        # A declared mark is taken at its word as soon as it divides the line.
        least = len(cells) if dialect.separator == "," else 1 if len(cells) == 1 else math.inf
        if mark != dialect.separator and sum(cell.count(mark) for cell in cells) >= least:
            declared = f"and {dialect.divider} are declared" if dialect != Dialect() else ""
            return f"is separated by {word}{' ' * bool(declared)}{declared}: {DECLARE_MARKS}, or {SAVE_AGAIN}"
    return ""


def _first_record(lines: list[bytes], used: list[int], separator: str) -> tuple[list[str], bool]:
    """Return (cells, whether they are unreadable); the lengths of the lines they take are added to ``used``."""

    def fed() -> Iterator[str]:
        for line in lines:
            used.append(len(line))
            yield line.decode("utf-8")

    try:
        return next(csv.reader(fed(), delimiter=separator, strict=True), []), False
    except (csv.Error, UnicodeDecodeError):
        return [], True


def pieces(file: FileFacts, private: bool) -> Iterator[tuple[Piece, memoryview]]:
    """Yield every record once, in pieces of about ``READ_BYTES``, each with its bytes, which last until the next piece.

    Blank lines belong to no row, as in any reader of CSV. Raises TableFileError where records cannot be separated.
    One array is used again and again: to make one per piece costs more than all that is done to it.
    """
    _, offset = header(file)
    space, kept, last = bytearray(READ_BYTES), 0, False
    seen = _Seen(spare=file.size if private and file.raw is not None else MOST_BLANK_BYTES)
    with opened(file) as stream:
        stream.seek(offset)
        while not last:
            if kept == len(space):  # a record longer than the array
                space = space + bytes(kept)
            count = stream.readinto(memoryview(space)[kept:])
            last, kept = not count, kept + count
            if not kept:
                return
            data = space if kept == len(space) else space[:kept]
            stop, rows, plain = _cut_or_refuse(file, data, last, offset, private, seen)
            if stop:
                yield Piece(offset, offset + stop, rows, plain), memoryview(data)[:stop]
            space[: kept - stop] = data[stop:]
            offset, kept = offset + stop, kept - stop


def _cut_or_refuse(
    file: FileFacts, data: bytearray, last: bool, offset: int, private: bool, seen: _Seen
) -> tuple[int, int, bool]:
    if b"\0" in data:
        raise TableFileError(f"{file.title} holds a zero byte, so it is not text: {SAVE_AGAIN}.")
    cut = _cut(data, last, len(file.names), seen, file.dialect.separator)
    if isinstance(cut, _Wrong):
        where = "" if private else f" on line {line_at(file, offset) + cut.lines:,}"
        raise TableFileError(f"{file.title} {cut.what}{where}: {cut.remedy}.")
    if not cut[0] and len(data) > MOST_RECORD_BYTES:
        raise TableFileError(
            f"{file.title} holds a record beyond {MOST_RECORD_BYTES:,} bytes, the limit: "
            "look for a quotation mark that is never closed."
        )
    return cut


def line_at(file: FileFacts, offset: int) -> int:
    """Return the number of the line that begins at this byte, from 1."""
    lines, left, before = 1, offset, b""
    with opened(file) as stream:
        while left and (some := stream.read(min(left, READ_BYTES))):
            lines += some.count(b"\n") + some.count(b"\r") - (before + some).count(b"\r\n")
            left, before = left - len(some), some[-1:]
    return lines


# --- where to cut -------------------------------------------------------------------------------------------


def _cut(data: bytearray, last: bool, width: int, seen: _Seen, separator: str) -> tuple[int, int, bool] | _Wrong:
    """Return (bytes of whole records, their rows, whether they are plain), or what is wrong.

    The quick way is right for text as RFC 4180 has it without blank lines; everything else goes record by record.
    A table of one column goes record by record too: there a blank line and a missing cell look alike.
    """
    tidy = data.count(b"\r") == data.count(b"\r\n") if b"\r" in data else True
    cut = None
    if width > 1 and tidy:
        cut = _cut_quoted(data, last, separator) if b'"' in data else _cut_unquoted(data, last, separator)
    if cut is None:
        return _cut_slowly(data, last, seen, separator)
    seen.rows += cut[0]
    return *cut, True


def _cut_unquoted(data: bytearray, last: bool, separator: str) -> tuple[int, int] | None:
    stop = len(data) if last else data.rfind(b"\n") + 1
    bytes_ = np.frombuffer(data, np.uint8, stop)
    if stop and _odd(bytes_[:1], separator)[0]:
        return None
    rows = int(last and data[-1:] != b"\n")
    for at in range(0, stop, _WINDOW):
        window = bytes_[at : at + _WINDOW + 1]
        ends = window[:_WINDOW] == 10
        rows += int(np.count_nonzero(ends))
        if (ends[: len(window) - 1] & _odd(window[1:], separator)).any():
            return None
    return stop, rows


def _cut_quoted(data: bytearray, last: bool, separator: str) -> tuple[int, int] | None:
    bytes_ = np.frombuffer(data, np.uint8)
    beside = np.frombuffer(f'{separator}\n\r"'.encode(), np.uint8)
    marks = np.flatnonzero(bytes_ == 34)
    opening, closing = marks[::2], marks[1::2]
    before = bytes_[opening[opening > 0] - 1]
    after = bytes_[closing[closing < len(data) - 1] + 1]
    if not (np.isin(before, beside).all() and np.isin(after, beside).all()):
        return None
    ends = np.flatnonzero(bytes_ == 10)
    ends = ends[np.searchsorted(marks, ends) % 2 == 0]
    if last and len(marks) % 2:
        return None
    stop = len(data) if last else int(ends[-1]) + 1 if len(ends) else 0
    starts = np.concatenate(([0], ends + 1))
    starts = starts[starts < stop]
    strange = _odd(bytes_[starts], separator)
    quoted = starts[bytes_[starts] == 34]  # a first cell "" or " " may be all there is of a record
    next_ = bytes_[np.minimum(quoted + 1, len(data) - 1)]
    if strange.any() or _odd(next_, separator).any() or (next_ == 34).any():
        return None
    return stop, len(ends) + int(last and data[-1:] != b"\n")


def _odd(first: np.ndarray, separator: str) -> np.ndarray:
    """Return whether a line that begins with this byte might be blank: control characters, blanks, or beyond ASCII.

    With tabs between the cells a line that begins with one has two cells, and so is a row.
    """
    odd = (first - np.uint8(33)) > 94  # unsigned: 0..32 wrap around to the top
    return odd & (first != 9) if separator == "\t" else odd


def _cut_slowly(data: bytearray, last: bool, seen: _Seen, separator: str) -> tuple[int, int, bool] | _Wrong:
    """Do the same as `_cut`, by the csv module."""
    lines = data.splitlines(keepends=True)
    used = [0, 0]  # lines, bytes

    def fed() -> Iterator[str]:
        for line in lines:
            used[0] += 1
            used[1] += len(line)
            yield line.decode("utf-8", "surrogateescape")

    reader, stop, rows, whole_lines = csv.reader(fed(), delimiter=separator, strict=True), 0, 0, 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if used[0] == len(lines) and not last and "field larger" not in str(error):
                return stop, rows, False
            large = f"has a cell beyond {csv.field_size_limit():,} characters, the limit"
            wrong = "has a quotation mark that is not closed or not doubled"
            return _Wrong(large if "field larger" in str(error) else wrong, _CLOSE, whole_lines)
        whole = last or used[0] < len(lines) or data.endswith(b"\n")  # b"\r" may be the first half of a line end
        if cells is None or not whole:
            return stop, rows, False
        length, stop, whole_lines = used[1] - stop, used[1], used[0]
        if is_row(cells):
            rows, seen.rows = rows + 1, seen.rows + length
            continue
        seen.blank += length
        if seen.blank > seen.spare + seen.rows:
            return _Wrong(
                f"has more bytes of blank lines than of rows, and more than {MOST_BLANK_BYTES:,}, the limit",
                "take the blank lines out",
                whole_lines - 1,
            )


def is_row(cells: list[str]) -> bool:
    """Return whether a record is a row: a line of blanks is none."""
    return len(cells) > 1 or bool(cells and cells[0].strip())
