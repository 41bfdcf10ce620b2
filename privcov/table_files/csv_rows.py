"""Read the rows of a CSV file: quickly by pyarrow, and by the csv module where pyarrow refuses, with equal numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privcov.table_files.blocks import Block, RawCells, Words, blocks_from, raw_cells_of
from privcov.table_files.csv_scan import is_row, line_at, opened, pieces
from privcov.table_files.facts import FileFacts, Part, Piece, TableFileError, quote
from privcov.table_files.kinds import INTEGER, NUMBER, Kind
from privcov.table_files.numbers import SPELLINGS, number_of

if TYPE_CHECKING:
    import pyarrow as pa

_ANNOTATED_NAN = re.compile(rb"nan\(", re.IGNORECASE)  # C's nan(...), a number for pyarrow and text here


def blocks(
    part: Part,
    columns: Sequence[str],
    label: str,
    rows: int,
    private: bool,
    person: str = "",
    kinds: Sequence[Kind] = (),
) -> Iterator[Block]:
    """Yield the rows of a part in blocks. One piece of the file is held at a time."""
    reader = _Reader(part.file, columns, label, private, person=person, kinds=kinds)
    for piece, data in _with_bytes(part, private):
        yield from blocks_from(reader.table(piece, data), columns, label, rows, person, kinds)


def tables(part: Part, columns: Sequence[str], kinds: Sequence[Kind]) -> Iterator[pa.Table]:
    """Yield one piece of a private file at a time: float64 for kinds of numbers, texts (binary) for all others."""
    reader = _Reader(part.file, columns, "", True, kinds=kinds)
    for piece, data in _with_bytes(part, True):
        yield reader.table(piece, data)


def said(
    part: Part, columns: Sequence[str], label: str, person: str = ""
) -> Generator[tuple[dict[str, RawCells], float]]:
    """Yield what the cells of one piece at a time say, for its owner alone, and the share of the part that is read."""
    reader = _Reader(part.file, columns, label, True, texts=True, person=person)
    length = sum(piece.stop - piece.start for piece in part.pieces) or part.file.size
    done = 0
    for piece, data in _with_bytes(part, True):
        done += len(data)
        yield reader.said(piece, data), min(1.0, done / length)


def numbers_or_text(part: Part, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, np.ndarray | Text]]]:
    """Yield, for one piece of a public file at a time, its rows and its columns up to the first text of each."""
    reader, left = _Reader(part.file, columns, "", False, texts=True), list(columns)
    for piece, data in _with_bytes(part, False):
        table = reader.cells(piece, data)
        values = {name: reader.numbers_or_text(piece, data, table, name) for name in left}
        left = [name for name in left if not isinstance(values[name], Text)]
        yield table.num_rows, values


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


@dataclass(frozen=True)
class Text:
    """A cell of a public file that is no number, and the line of its row."""

    cell: str
    line: int


class _Reader:
    """A reader that turns pieces of one file into pyarrow tables: as pyarrow reads them, then of numbers alone.

    With ``texts`` a cell that is no number, and a label that is no text, are no errors.
    """

    def __init__(
        self,
        file: FileFacts,
        columns: Sequence[str],
        label: str,
        private: bool,
        texts: bool = False,
        person: str = "",
        kinds: Sequence[Kind] = (),
    ) -> None:
        self.file, self.private, self.texts = file, private, texts
        self.words = [(name, what) for name, what in ((label, "a label"), (person, "an id")) if name]
        self.names = [*columns, *(name for name, _ in self.words)]
        self.columns = list(columns)
        self.width = len(file.names)
        self.dialect = file.dialect
        self.places = {name: file.names.index(name) for name in self.names}
        self.levelled = {name for name, kind in zip(columns, kinds, strict=False) if kind.kind not in (NUMBER, INTEGER)}
        self.worded = set(self.levelled)  # columns that held text when they were last looked at

    def cells(self, piece: Piece, data: bytes) -> pa.Table:
        """Return float64 columns where pyarrow reads every cell as a number, else texts (binary), as for the label."""
        import pyarrow as pa

        annotated = b"(" in data and _ANNOTATED_NAN.search(data)
        for worded in (self.worded, set(self.columns)):
            if piece.plain and not (annotated and worded != set(self.columns)):
                try:
                    table = self._read(data, worded)
                except (pa.ArrowInvalid, ValueError):
                    continue
                if table.num_rows == piece.rows:
                    return table
        return self._slowly(piece, data)

    def table(self, piece: Piece, data: bytes) -> pa.Table:
        """Return columns of float64, and of text for levels and dates, the label and the ids."""
        import pyarrow as pa

        result = self.cells(piece, data)
        for at, name in enumerate(self.columns):
            if name in self.levelled:
                continue
            values, text = self._numbers(result.column(name), name)
            if text is not None and not self.private:
                self._slowly(piece, data)  # raises, with the line
            result = result.set_column(at, name, values)
        for at, (name, _) in enumerate(self.words, len(self.columns)):
            try:
                text = result.column(name).cast(pa.string())
            except pa.ArrowInvalid:
                self._slowly(piece, data)
                raise
            result = result.set_column(at, name, text)
        return result

    def said(self, piece: Piece, data: bytes) -> dict[str, RawCells]:
        """Return numbers, or the distinct texts of a column with others; the same cells are numbers as in `table`."""
        table = self.cells(piece, data)
        decimal = self.dialect.decimal
        values = {name: raw_cells_of(table.column(name), decimal=decimal) for name in self.names}
        words = {
            name: cells.texts for name, cells in values.items() if isinstance(cells, Words) and name in self.columns
        }
        self.worded = {
            name
            for name, texts in words.items()
            if any(number_of(text, self.dialect.decimal) is None for text in texts)
        }
        return values

    def numbers_or_text(self, piece: Piece, data: bytes, table: pa.Table, name: str) -> np.ndarray | Text:
        """Return a column of `cells` as numbers, or the first of its cells that is no number."""
        values, text = self._numbers(table.column(name), name)
        if text is None:
            return values.to_numpy()
        at = self.places[name]
        line = next(line for line, cells in self._records(piece, data) if cells[at] == text)
        return Text(text, line_at(self.file, piece.start) + line)

    def _numbers(self, column: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, str | None]:
        """Return (a column of float64, the first text that is no number or None); each distinct text is parsed once."""
        import pyarrow as pa

        if column.type == pa.float64():
            return column, None
        texts = column.combine_chunks().dictionary_encode()
        words = [text.decode("utf-8", "surrogateescape") for text in texts.dictionary.to_pylist()]
        numbers = [number_of(word, self.dialect.decimal) for word in words]
        text = next((word for word, number in zip(words, numbers, strict=True) if number is None), None)
        self.worded = self.worded - {name} if text is None else self.worded | {name}
        values = np.array(numbers, dtype=np.float64)[texts.indices.to_numpy()]  # None becomes NaN
        return pa.chunked_array([values]), text

    def _read(self, data: bytes, worded: set[str]) -> pa.Table:
        """Read a piece by pyarrow; the columns in ``worded`` become texts."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        kinds = {
            name: pa.float64() if name in self.columns and name not in worded else pa.binary() for name in self.names
        }
        at = {name: str(place) for name, place in self.places.items()}
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=len(data) + 1, column_names=[str(j) for j in range(self.width)]
            ),
            arrow_csv.ParseOptions(delimiter=self.dialect.separator, newlines_in_values=b'"' in data),
            arrow_csv.ConvertOptions(
                column_types={at[name]: kind for name, kind in kinds.items()},
                include_columns=[at[name] for name in self.names],
                null_values=SPELLINGS,
                decimal_point=self.dialect.decimal,
            ),
        )
        return table.rename_columns(self.names)

    def _slowly(self, piece: Piece, data: bytes) -> pa.Table:
        """Read a piece record by record; an error says where the first thing is that cannot be read."""
        import pyarrow as pa

        kept: dict[str, list] = {name: [] for name in self.names}
        for line, cells in self._records(piece, data):
            self._check(piece, line, cells)
            for name, texts in kept.items():
                texts.append(cells[self.places[name]].encode("utf-8", "surrogateescape"))
        return pa.table({name: pa.array(texts, pa.binary()) for name, texts in kept.items()})

    def _check(self, piece: Piece, line: int, cells: list[str]) -> None:
        """Raise TableFileError for a record that cannot be read."""
        if len(cells) != self.width:
            raise TableFileError(
                f"{self._line(piece, line)} has {len(cells):,} cell{'s' * (len(cells) != 1)} and the header has "
                f"{self.width:,}: give every line the same number of cells, and write {self.dialect.marks}."
            )
        if self.texts:
            return
        for name in () if self.private else self.columns:
            if name in self.levelled:
                continue
            if number_of(cell := cells[self.places[name]], self.dialect.decimal) is None:
                raise TableFileError(
                    f"{self._line(piece, line)} has text in column {quote(name)} ({quote(cell.strip())}), which must "
                    f"hold numbers with {self.dialect.marks}: correct it, or leave the column out."
                )
        for name, what in self.words:
            if any("\ud800" <= letter <= "\udfff" for letter in cells[self.places[name]]):
                raise TableFileError(
                    f"{self._line(piece, line)} has {what} that is not UTF-8 text: save the file as UTF-8."
                )

    def _records(self, piece: Piece, data: bytes) -> Iterator[tuple[int, list[str]]]:
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
            return f"A line of {self.file.path}"
        return f"Line {line_at(self.file, piece.start) + line:,} of {self.file.path}"
