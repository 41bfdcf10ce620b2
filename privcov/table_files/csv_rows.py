"""Read the rows of a CSV file: quickly by pyarrow, and by the csv module where pyarrow refuses, with equal numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from privcov.table_files.csv_scan import is_row, line_at, opened, pieces
from privcov.table_files.facts import FileFacts, Part, Piece, TableFileError
from privcov.table_files.numbers import SPELLINGS, is_text, number_of, texts_of

if TYPE_CHECKING:
    import pyarrow as pa

_ANNOTATED_NAN = re.compile(rb"nan\(", re.IGNORECASE)  # C's nan(...), a number for pyarrow and text here


def tables(part: Part, names: Sequence[str], numeric: Collection[str], private: bool) -> Iterator[tuple[pa.Table, int]]:
    """Yield the named columns of one piece of a file at a time, and the number of its bytes.

    A column of ``numeric`` is float64 where pyarrow reads each cell of the piece as a number. All others are texts
    (binary), as they stand in the file.
    """
    reader = _Reader(part.file, names, numeric, private)
    for piece, data in _with_bytes(part, private):
        yield reader.table(piece, data), len(data)


def line_of(part: Part, name: str, text: str) -> int:
    """Return the line of the first row of a public file that has this text in a column."""
    reader = _Reader(part.file, [name], [], False)
    for piece, data in _with_bytes(part, False):
        for line, cells in reader.records(piece, data):
            if cells[reader.places[name]] == text:
                return line_at(part.file, piece.start) + line
    raise LookupError(name)


def _with_bytes(part: Part, private: bool) -> Iterator[tuple[Piece, bytes]]:
    if not part.pieces:
        yield from ((piece, bytes(data)) for piece, data in pieces(part.file, private))
        return
    with opened(part.file) as stream:
        for piece in part.pieces:
            stream.seek(piece.start)
            data = stream.read(piece.stop - piece.start)
            if len(data) < piece.stop - piece.start:
                raise EOFError
            yield piece, data


class _Reader:
    """A reader that turns pieces of one file into pyarrow tables."""

    def __init__(self, file: FileFacts, names: Sequence[str], numeric: Collection[str], private: bool) -> None:
        self.file, self.private, self.names = file, private, list(names)
        self.dialect, self.width = file.dialect, len(file.names)
        self.places = {name: file.names.index(name) for name in names}
        self.numeric = frozenset(numeric)
        self.worded: frozenset[str] = frozenset()  # those of them that held text when they were last looked at

    def table(self, piece: Piece, data: bytes) -> pa.Table:
        """Return the columns of a piece, by pyarrow where any CSV reader finds the same cells."""
        import pyarrow as pa

        annotated = b"(" in data and _ANNOTATED_NAN.search(data)
        for worded in (self.worded, self.numeric):
            if not piece.plain or (annotated and worded != self.numeric):
                continue
            try:
                table = self._read(data, worded)
            except (pa.ArrowInvalid, ValueError):
                continue
            if table.num_rows == piece.rows:
                break
        else:
            table = self._slowly(piece, data)
        self.worded = frozenset(name for name in self.numeric if self._holds_text(table.column(name)))
        return table

    def _holds_text(self, column: pa.ChunkedArray) -> bool:
        """Return whether a column holds a text that is no number."""
        import pyarrow.compute as compute

        if not is_text(column.type):
            return False
        return any(number_of(text, self.dialect.decimal) is None for text in texts_of(compute.unique(column)))

    def _read(self, data: bytes, worded: frozenset[str]) -> pa.Table:
        """Read a piece by pyarrow; the columns in ``worded`` become texts."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        floats = self.numeric - worded
        at = {name: str(place) for name, place in self.places.items()}
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=len(data) + 1, column_names=[str(j) for j in range(self.width)]
            ),
            arrow_csv.ParseOptions(delimiter=self.dialect.separator, newlines_in_values=b'"' in data),
            arrow_csv.ConvertOptions(
                column_types={at[name]: pa.float64() if name in floats else pa.binary() for name in self.names},
                include_columns=[at[name] for name in self.names],
                null_values=SPELLINGS,
                decimal_point=self.dialect.decimal,
            ),
        )
        return table.rename_columns(self.names)

    def _slowly(self, piece: Piece, data: bytes) -> pa.Table:
        """Read a piece record by record; an error says where the first one is that cannot be read."""
        import pyarrow as pa

        kept: dict[str, list] = {name: [] for name in self.names}
        for line, cells in self.records(piece, data):
            if len(cells) != self.width:
                raise TableFileError(
                    f"{self._line(piece, line)} has {len(cells):,} cell{'s' * (len(cells) != 1)} and the header has "
                    f"{self.width:,}: give every line the same number of cells, and write {self.dialect.marks}."
                )
            for name, texts in kept.items():
                texts.append(cells[self.places[name]].encode("utf-8", "surrogateescape"))
        return pa.table({name: pa.array(texts, pa.binary()) for name, texts in kept.items()})

    def records(self, piece: Piece, data: bytes) -> Iterator[tuple[int, list[str]]]:
        """Yield (lines before it in this piece, cells) of every row; bytes that are not UTF-8 stay as surrogates."""
        lines = (line.decode("utf-8", "surrogateescape") for line in data.splitlines(keepends=True))
        reader, line, large = csv.reader(lines, delimiter=self.dialect.separator, strict=True), 0, False
        while not large:
            try:
                cells = next(reader, None)
            except csv.Error:  # quotation marks are balanced in a piece, so a cell is too long
                large, cells = True, []
            if cells is None:
                return
            if is_row(cells):
                yield line, cells
            line = line if large else reader.line_num
        raise TableFileError(
            f"{self._line(piece, line)} has a cell beyond {csv.field_size_limit():,} characters, the limit: shorten it."
        )

    def _line(self, piece: Piece, line: int) -> str:
        if self.private:
            return f"A line{self.file.of_it}"
        return f"Line {line_at(self.file, piece.start) + line:,}{self.file.of_it}"
