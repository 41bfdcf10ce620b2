"""Read a CSV file by pyarrow: its header, and its rows, every cell as the text that stands in the file."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from privcov.tables.readers.dialect import DECLARE_ENCODING, DECLARE_MARKS, SAVE_AGAIN, SEPARATORS, Dialect
from privcov.tables.readers.numbers import number_of, texts_of
from privcov.tables.readers.table_files import FileFacts, HeaderError, TableFileError

if TYPE_CHECKING:
    import pyarrow as pa

MAX_HEADER_BYTES = 65_536
BLOCK_BYTES = 4_000_000  # read together, and up to 32 ahead; a row that reaches beyond the next block is refused
_SIZES = 32  # of blocks that are tried
MAX_DECODED_BYTES = 1_000_000_000
_CHUNK_BYTES = 1 << 20
_QUOTES = "close or double its quotation marks"
_WIDTH = re.compile(r"CSV parse error: Row #(\d+): Expected \d+ columns, got (\d+)")


def header(file: FileFacts) -> tuple[str, ...]:
    """Return the column names; messages never repeat the line, which may be a row."""
    raw = b""
    for chunk in _text(file):
        raw += chunk[: MAX_HEADER_BYTES - len(raw)]
        if len(raw) == MAX_HEADER_BYTES:
            break
    if not raw:
        raise TableFileError(f"{file.title} is empty: it needs column names and at least one row.")
    if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise TableFileError(f"{file.title} is UTF-16 text: {DECLARE_ENCODING}, or {SAVE_AGAIN}.")
    at = 3 if raw.startswith(codecs.BOM_UTF8) else 0
    all_lines, above = raw[at:].splitlines(keepends=True), file.dialect.header_row - 1
    lines, lengths = all_lines[above:], [at + sum(map(len, all_lines[:above]))]
    if above and not lines:
        raise TableFileError(
            f"{file.title} has no line {above + 1}, which is declared to hold the column names: correct header_row."
        )
    line = f"Line {above + 1}" if above else "The first line"
    cells, problem = _first_record(lines, lengths, file.dialect.separator)
    if problem or (sum(lengths) == len(raw) == MAX_HEADER_BYTES and raw[-1:] not in (b"\n", b"\r")):
        raise TableFileError(
            f"{line}{file.of_it} is no header of at most {MAX_HEADER_BYTES:,} bytes in UTF-8: "
            "give the file a line of column names, close its quotation marks, or declare its encoding."
        )
    names = tuple(" ".join(cell.split()) for cell in cells)
    if not any(names):
        raise HeaderError(f"{line}{file.of_it} is blank, but it must hold the column names: put them there.")
    if problem := _other_separator(cells, file.dialect):
        raise TableFileError(f"{file.title} {problem}.")
    if all(number_of(name, file.dialect.decimal) is not None for name in names):
        raise TableFileError(
            f"{line}{file.of_it} holds numbers only, but it must hold the column names: put them above the rows."
        )
    return names


def lines_to_header(file: FileFacts) -> bytes:
    """Return the file up to the line of the column names, in UTF-8; no row is waited for."""
    raw = b""
    for chunk in _text(file):
        raw += chunk
        if raw.count(b"\n") >= file.dialect.header_row or len(raw) > MAX_HEADER_BYTES:
            break
    return b"".join(islice(io.BytesIO(raw[: MAX_HEADER_BYTES + 1]), file.dialect.header_row))


def tables(file: FileFacts, names: Sequence[str], private: bool) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield the named columns as texts (binary), a block of whole rows at a time, and the share that is read.

    Empty lines are no rows. Raises TableFileError where a row has too many or too few cells, without its cells.
    """
    import pyarrow as pa
    import pyarrow.csv as arrow

    text, header_row = _TextFacts(file), file.dialect.header_row
    if text.lines <= header_row:
        return
    width, at = len(file.names), {name: str(file.names.index(name)) for name in names}
    convert = arrow.ConvertOptions(
        column_types=dict.fromkeys(at.values(), pa.binary()), include_columns=list(at.values()), check_utf8=False
    )
    # Without a handler of odd lines: Arrow would swallow a Ctrl-C in it, and hand the row to whoever logs exceptions.
    parse = arrow.ParseOptions(delimiter=file.dialect.separator, newlines_in_values=True)
    read = arrow.ReadOptions(
        use_threads=False,
        block_size=text.sizes[0] if text.sizes else BLOCK_BYTES,
        column_names=[str(place) for place in range(width)],
        skip_rows=header_row - 1,
        skip_rows_after_names=1,
    )
    stream, source = _native(file)
    invalid = pa.ArrowInvalid  # a generator that ends with Python finds no module any more
    size, rows, problem = max(1, source.size()), 0, ""
    try:
        for batch in arrow.open_csv(stream, read, parse, convert):
            rows += batch.num_rows
            cells = _drop_blank_rows(batch) if width == 1 else batch
            yield cells.rename_columns(list(names)), min(1.0, source.tell() / size)
    except invalid as error:  # its text may repeat the row
        problem = _sentence(file, str(error), private)
    # A quotation mark that is not closed takes line ends into a cell, and pyarrow lets it pass.
    if not problem and (text.marks % 2 or (text.marks and text.lines != rows + header_row)):
        readable, ends = _strict(file)
        if not readable:
            problem = (
                f"{file.title} has a quotation mark that is not closed or not doubled, or a cell beyond "
                f"{csv.field_size_limit():,} characters, the limit: {_QUOTES}."
            )
        elif ends and not text.sizes:
            problem = (
                f"{file.title} has cells with line ends that cannot be read in blocks: save it with line ends of one "
                "character (LF)."
            )
    if problem:
        raise TableFileError(problem)


def _sentence(file: FileFacts, error: str, private: bool) -> str:
    """Return what an error of Arrow means, "" where there are no rows; no cell of it is repeated."""
    if error == "Empty CSV file":
        return ""
    if error.startswith("straddling object"):
        return f"{file.title} holds a row beyond {BLOCK_BYTES:,} bytes, the limit: {_QUOTES}."
    match = _WIDTH.match(error)
    where = f"Row {int(match[1]) - 1:,}" if match and not private else "A row"
    many = f"{int(match[2]):,} cell{'s' * (match[2] != '1')}" if match else "more or fewer cells"
    return (
        f"{where}{file.of_it} has {many} and the header has {len(file.names):,}: give every row the same number of "
        f"cells, take out lines of blanks, {_QUOTES}, and write {file.dialect.marks}."
    )


def _drop_blank_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of a table of one column without blank lines, which have as many cells as a row."""
    import pyarrow as pa
    import pyarrow.compute as compute

    has_text = compute.match_substring_regex(batch.column(0), "[!-~]").to_numpy(zero_copy_only=False).astype(bool)
    if has_text.all():
        return batch
    encoded = batch.column(0).dictionary_encode()
    words = np.array([bool(word.strip()) for word in texts_of(encoded.dictionary)])
    return batch.filter(pa.array(words[encoded.indices.to_numpy()]))


class _TextFacts:
    """What one look at all bytes tells; TableFileError for zero bytes.

    marks, lines: the numbers of quotation marks and of lines. sizes: of blocks of which none ends inside CR LF, where
    pyarrow would drop the LF, also in a cell.
    """

    def __init__(self, file: FileFacts) -> None:
        self.marks = self.lines = at = 0
        # Far apart and odd steps, so that a stretch of line ends does not rule out all of them.
        self.sizes = list(range(BLOCK_BYTES, BLOCK_BYTES // 2, -(BLOCK_BYTES // (2 * _SIZES) | 1)))
        last = b""
        for chunk in _text(file):
            if b"\0" in chunk:
                raise TableFileError(f"{file.title} holds a zero byte, so it is not text: {SAVE_AGAIN}.")
            self.marks += chunk.count(b'"')
            self.lines += chunk.count(b"\n")
            if b"\r" in chunk:
                self.lines += chunk.count(b"\r") - chunk.count(b"\r\n")
            self.lines -= last == b"\r" and chunk[:1] == b"\n"
            both, first = last + chunk, at - len(last)
            self.sizes = [
                size
                for size in self.sizes
                if all(
                    both[end - 1 - first : end + 1 - first] != b"\r\n"
                    for end in range(-(-max(at, 1) // size) * size, at + len(chunk), size)
                )
            ]
            last, at = chunk[-1:], at + len(chunk)
        self.lines += last not in (b"", b"\n", b"\r")


def _strict(file: FileFacts) -> tuple[bool, bool]:
    """Return whether the csv module, strict about marks, reads the whole file, and whether a cell has CR LF."""
    ends = False
    with io.TextIOWrapper(_open(file), _encoding(file), "surrogateescape", newline="") as lines:
        if lines.read(1) != "\ufeff":  # a byte order mark belongs to no cell
            lines.seek(0)
        try:
            for cells in csv.reader(lines, delimiter=file.dialect.separator, strict=True):
                ends = ends or any("\r\n" in cell for cell in cells)
        except csv.Error:
            return False, ends
    return True, ends


def _open(file: FileFacts) -> io.BytesIO | gzip.GzipFile | io.BufferedReader:
    if file.raw is not None:
        return io.BytesIO(file.raw)
    return gzip.open(file.path) if file.format == "csv.gz" else open(file.path, "rb")


def _text(file: FileFacts) -> Iterator[bytes]:
    with _open(file) as stream:
        chunks: Iterator[bytes] = iter(lambda: stream.read1(_CHUNK_BYTES), b"")
        if _encoding(file) == "utf-8":
            yield from chunks
            return
        try:
            for text in codecs.iterdecode(chunks, _encoding(file)):
                yield text.encode()
        except UnicodeError:
            raise TableFileError(file.dialect.wrong(file.title)) from None


def _encoding(file: FileFacts) -> str:
    """Return the encoding in which the bytes are stored; a file in memory was decoded before."""
    return "utf-8" if file.raw is not None else file.dialect.encoding


def _native(file: FileFacts) -> tuple[pa.NativeFile, pa.NativeFile]:
    """Return the text of a file as a stream that is read without Python, and the stream whose position tells the share.

    Arrow reads ahead in a thread of its own, which may still run when Python ends; so no stream of Python is read. A
    text in another encoding is held in memory.
    """
    import pyarrow as pa

    if _encoding(file) == "utf-8" and file.raw is None:
        source = pa.OSFile(os.fsencode(file.path))
        return pa.CompressedInputStream(source, "gzip") if file.format == "csv.gz" else source, source
    text: bytes | bytearray = file.raw or bytearray()
    for chunk in _text(file) if file.raw is None else ():
        text += chunk
        if len(text) > MAX_DECODED_BYTES:
            raise TableFileError(
                f"{file.title} is larger than {MAX_DECODED_BYTES / 1e9:,.0f} GB and in another encoding than UTF-8: "
                f"{SAVE_AGAIN}."
            )
    source = pa.BufferReader(pa.py_buffer(text))
    return source, source


def _other_separator(cells: list[str], dialect: Dialect) -> str:
    """Return what is wrong, where the cells of a header show another separator than the declared one, else ""."""
    for mark, word in SEPARATORS.items():
        # A declared mark is taken at its word as soon as it divides the line.
        least = len(cells) if dialect.separator == "," else 1 if len(cells) == 1 else math.inf
        if mark != dialect.separator and sum(cell.count(mark) for cell in cells) >= least:
            clause = f"and {dialect.divider} are declared" if dialect != Dialect() else ""
            return f"is separated by {word}{' ' * bool(clause)}{clause}: {DECLARE_MARKS}, or {SAVE_AGAIN}"
    return ""


def _first_record(lines: list[bytes], lengths: list[int], separator: str) -> tuple[list[str], bool]:
    """Return (cells, whether they are unreadable); the lengths of the lines they take are added to ``lengths``."""

    def fed() -> Iterator[str]:
        for line in lines:
            lengths.append(len(line))
            yield line.decode("utf-8")

    try:
        return next(csv.reader(fed(), delimiter=separator, strict=True), []), False
    except (csv.Error, UnicodeDecodeError):
        return [], True
