"""Find where the records of a CSV file end: its header, and pieces of whole records with their number of rows."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privcov.table_files.facts import FileFacts, Piece, TableFileError
from privcov.table_files.numbers import number_of

READ_BYTES = 4_000_000
MOST_RECORD_BYTES = 16_000_000
MOST_HEADER_BYTES = 65_536
# In excess of the bytes of the rows. Blank lines are read one by one, and a few kilobytes of gzip can hold a thousand
# million of them.
MOST_BLANK_BYTES = 1_000_000

_WINDOW = 1 << 18  # bytes scanned together, so that temporaries stay in the cache of one core
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
SAVE_AGAIN = "save it again as CSV UTF-8, separated by commas, with decimal points"
_CLOSE = "close or double its quotation marks"
_BEFORE_QUOTE = np.frombuffer(b',\n\r"', np.uint8)


@dataclass(frozen=True)
class _Wrong:
    what: str
    remedy: str


@dataclass
class _Seen:
    """Bytes of the file so far, of rows and of blank lines.

    ``spare`` is how many more bytes of blank lines there may be than of rows.
    """

    spare: int
    rows: int = 0
    blank: int = 0


def opened(file: FileFacts) -> io.BytesIO | gzip.GzipFile | io.FileIO:
    """Return the bytes of the file as a stream, uncompressed."""
    if file.raw is not None:
        return io.BytesIO(file.raw)
    return gzip.open(file.path, "rb") if file.format == "csv.gz" else open(file.path, "rb", buffering=0)


def header(file: FileFacts) -> tuple[tuple[str, ...], int]:
    """Return (column names, byte at which the rows begin).

    Messages never repeat the line: in a file without a header it is a row.
    """
    path = file.path
    with opened(file) as stream:
        raw = stream.read(MOST_HEADER_BYTES)
    if not raw:
        raise TableFileError(f"The file {path} is empty: it needs column names and at least one row.")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TableFileError(f"The file {path} is UTF-16 text and only UTF-8 can be read: {SAVE_AGAIN}.")
    at = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
    lines, used = raw[at:].splitlines(keepends=True), [at]
    cells, problem = _first_record(lines, used)
    if problem or (sum(used) == len(raw) == MOST_HEADER_BYTES and raw[-1:] not in (b"\n", b"\r")):
        raise TableFileError(
            f"The first line of {path} is no header of at most {MOST_HEADER_BYTES:,} bytes in UTF-8: "
            "give the file a first line of column names, and close its quotation marks."
        )
    names = tuple(" ".join(cell.split()) for cell in cells)
    if not any(names):
        raise TableFileError(f"The first line of {path} is blank, but it must hold the column names: put them there.")
    for mark, word in SEPARATORS.items():
        if sum(cell.count(mark) for cell in cells) >= len(cells):
            raise TableFileError(f"The file {path} is separated by {word} and only commas can be read: {SAVE_AGAIN}.")
    if all(number_of(name) is not None for name in names):
        raise TableFileError(
            f"The first line of {path} holds numbers only, but it must hold the column names: put them above the rows."
        )
    return names, sum(used)


def _first_record(lines: list[bytes], used: list[int]) -> tuple[list[str], bool]:
    """Return (cells, whether they are unreadable); the lengths of the lines they take are added to ``used``."""

    def fed() -> Iterator[str]:
        for line in lines:
            used.append(len(line))
            yield line.decode("utf-8")

    try:
        return next(csv.reader(fed(), strict=True), []), False
    except (csv.Error, UnicodeDecodeError):
        return [], True


def pieces(file: FileFacts, private: bool) -> Iterator[tuple[Piece, memoryview]]:
    """Yield every record once, in pieces of about ``READ_BYTES``, each with its bytes, which last until the next piece.

    Blank lines belong to no row, as in any reader of CSV. Raises TableFileError where records cannot be separated.
    One array is used again and again: to make one per piece costs more than all that is done to it.
    """
    _, offset = header(file)
    space, kept, last = bytearray(READ_BYTES), 0, False
    seen = _Seen(spare=MOST_BLANK_BYTES if file.raw is None else file.size)  # what is in memory has its own limit
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
        raise TableFileError(f"The file {file.path} holds a zero byte, so it is not text: {SAVE_AGAIN}.")
    cut = _cut(data, last, len(file.names), seen)
    if isinstance(cut, _Wrong):
        where = "" if private else f" (on line {line_at(file, offset):,} or later)"
        raise TableFileError(f"The file {file.path} {cut.what}{where}: {cut.remedy}.")
    if not cut[0] and len(data) > MOST_RECORD_BYTES:
        raise TableFileError(
            f"The file {file.path} holds a record beyond {MOST_RECORD_BYTES:,} bytes, the limit: "
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


def _cut(data: bytearray, last: bool, width: int, seen: _Seen) -> tuple[int, int, bool] | _Wrong:
    """Return (bytes of whole records, their rows, whether they are plain), or what is wrong.

    The quick way is right for text as RFC 4180 has it without blank lines; everything else goes record by record.
    A table of one column goes record by record too: there a blank line and a missing cell look alike.
    """
    tidy = data.count(b"\r") == data.count(b"\r\n") if b"\r" in data else True
    cut = None
    if width > 1 and tidy:
        cut = _cut_quoted(data, last) if b'"' in data else _cut_unquoted(data, last)
    if cut is None:
        return _cut_slowly(data, last, seen)
    seen.rows += cut[0]
    return *cut, True


def _cut_unquoted(data: bytearray, last: bool) -> tuple[int, int] | None:
    stop = len(data) if last else data.rfind(b"\n") + 1
    bytes_ = np.frombuffer(data, np.uint8, stop)
    if stop and _odd(bytes_[:1])[0]:
        return None
    rows = int(last and data[-1:] != b"\n")
    for at in range(0, stop, _WINDOW):
        window = bytes_[at : at + _WINDOW + 1]
        ends = window[:_WINDOW] == 10
        rows += int(np.count_nonzero(ends))
        if (ends[: len(window) - 1] & _odd(window[1:])).any():
            return None
    return stop, rows


def _cut_quoted(data: bytearray, last: bool) -> tuple[int, int] | None:
    bytes_ = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero(bytes_ == 34)
    opening, closing = marks[::2], marks[1::2]
    before = bytes_[opening[opening > 0] - 1]
    after = bytes_[closing[closing < len(data) - 1] + 1]
    if not (np.isin(before, _BEFORE_QUOTE).all() and np.isin(after, _BEFORE_QUOTE).all()):
        return None
    ends = np.flatnonzero(bytes_ == 10)
    ends = ends[np.searchsorted(marks, ends) % 2 == 0]
    if last and len(marks) % 2:
        return None
    stop = len(data) if last else int(ends[-1]) + 1 if len(ends) else 0
    starts = np.concatenate(([0], ends + 1))
    starts = starts[starts < stop]
    strange = _odd(bytes_[starts])
    quoted = starts[bytes_[starts] == 34]  # a first cell "" or " " may be all there is of a record
    next_ = bytes_[np.minimum(quoted + 1, len(data) - 1)]
    if strange.any() or _odd(next_).any() or (next_ == 34).any():
        return None
    return stop, len(ends) + int(last and data[-1:] != b"\n")


def _odd(first: np.ndarray) -> np.ndarray:
    """Return whether a line that begins with this byte might be blank: control characters, blanks, or beyond ASCII."""
    return (first - np.uint8(33)) > 94  # unsigned: 0..32 wrap around to the top


def _cut_slowly(data: bytearray, last: bool, seen: _Seen) -> tuple[int, int, bool] | _Wrong:
    """Do the same as `_cut`, by the csv module."""
    lines = data.splitlines(keepends=True)
    used = [0, 0]  # lines, bytes

    def fed() -> Iterator[str]:
        for line in lines:
            used[0] += 1
            used[1] += len(line)
            yield line.decode("utf-8", "surrogateescape")

    reader, stop, rows = csv.reader(fed(), strict=True), 0, 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if used[0] == len(lines) and not last and "field larger" not in str(error):
                return stop, rows, False
            large = f"has a cell beyond {csv.field_size_limit():,} characters, the limit"
            wrong = "has a quotation mark that is not closed or not doubled"
            return _Wrong(large if "field larger" in str(error) else wrong, _CLOSE)
        whole = last or used[0] < len(lines) or data.endswith(b"\n")  # b"\r" may be the first half of a line end
        if cells is None or not whole:
            return stop, rows, False
        length, stop = used[1] - stop, used[1]
        if is_row(cells):
            rows, seen.rows = rows + 1, seen.rows + length
            continue
        seen.blank += length
        if seen.blank > seen.spare + seen.rows:
            return _Wrong(
                f"has more bytes of blank lines than of rows, and more than {MOST_BLANK_BYTES:,}, the limit",
                "take the blank lines out",
            )


def is_row(cells: list[str]) -> bool:
    """Return whether a record is a row: a line of blanks is none."""
    return len(cells) > 1 or bool(cells and cells[0].strip())
