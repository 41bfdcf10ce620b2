"""The rows of a CSV file: quickly by pyarrow, and by the csv module wherever pyarrow refuses, with equal numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from privcov.table_files.blocks import Block, Said, Words, blocks_from, said_of
from privcov.table_files.csv_scan import is_row, line_at, opened, pieces
from privcov.table_files.facts import FileFacts, Part, Piece, TableFileError, quote
from privcov.table_files.numbers import SPELLINGS, number_of

_ANNOTATED_NAN = re.compile(rb"nan\(", re.IGNORECASE)  # C's nan(...), a number for pyarrow and text for us


def blocks(part: Part, columns: Sequence[str], label: str, rows: int, private: bool) -> Iterator[Block]:
    """One piece of the file is held at a time."""
    reader = _Reader(part.file, columns, label, private)
    for piece, data in _with_bytes(part, private):
        yield from blocks_from(reader.table(piece, data), columns, label, rows)


def said(part: Part, columns: Sequence[str], label: str) -> Generator[tuple[dict[str, Said], float]]:
    """What the cells of one piece at a time say, for its owner alone, and the share of the part that is read."""
    reader = _Reader(part.file, columns, label, True)
    length = sum(piece.stop - piece.start for piece in part.pieces) or part.file.size
    done = 0
    for piece, data in _with_bytes(part, True):
        done += len(data)
        yield reader.said(piece, data), min(1.0, done / length)


def _with_bytes(part: Part, private: bool) -> Iterator[tuple[Piece, bytes]]:
    if not part.pieces:
        yield from ((piece, bytes(data)) for piece, data in pieces(part.file, private))
        return
    with opened(part.file.path, part.file.format) as stream:
        for piece in part.pieces:
            stream.seek(piece.start)
            data = stream.read(piece.stop - piece.start)
            if len(data) < piece.stop - piece.start:
                raise EOFError
            yield piece, data


class _Reader:
    """Pieces of one file become pyarrow tables of float64 columns and a text column for the label."""

    def __init__(self, file: FileFacts, columns: Sequence[str], label: str, private: bool) -> None:
        self.file, self.private, self.label = file, private, label
        self.names = [*columns, label] if label else list(columns)
        self.columns = list(columns)
        self.width = len(file.names)
        self.places = {name: file.names.index(name) for name in self.names}
        self.worded: set[str] = set()  # columns that held text in the last piece of `said`

    def table(self, piece: Piece, data: bytes):
        import pyarrow as pa

        annotated = b"(" in data and _ANNOTATED_NAN.search(data)
        for read in (self._numbers, self._distinct_texts):
            if piece.plain and not (annotated and read == self._numbers):
                try:
                    found = read(data)
                except (pa.ArrowInvalid, ValueError):
                    continue
                if found.num_rows == piece.rows:
                    return found
        return self._slowly(piece, data)

    def said(self, piece: Piece, data: bytes) -> dict[str, Said]:
        """Numbers, or the distinct texts of a column with others; the same cells are numbers as in `table`."""
        import pyarrow as pa

        annotated = b"(" in data and _ANNOTATED_NAN.search(data)
        for worded in (self.worded, set(self.columns)):
            if piece.plain and not (annotated and worded != set(self.columns)):
                kinds = {name: pa.binary() if name in worded else pa.float64() for name in self.columns}
                try:
                    found = self._read(data, kinds | ({self.label: pa.binary()} if self.label else {}))
                except (pa.ArrowInvalid, ValueError):
                    continue
                if found.num_rows == piece.rows:
                    made = {name: said_of(found.column(name)) for name in self.names}
                    break
        else:
            made = self._said_slowly(piece, data)
        words = {name: cells.texts for name, cells in made.items() if isinstance(cells, Words) and name in self.columns}
        self.worded = {name for name, texts in words.items() if any(number_of(text) is None for text in texts)}
        return made

    def _said_slowly(self, piece: Piece, data: bytes) -> dict[str, Said]:
        counts: dict[str, Counter] = {name: Counter() for name in self.names}
        for line, cells in self._records(piece, data):
            self._check_width(piece, line, cells)
            for name, counted in counts.items():
                counted[cells[self.places[name]]] += 1
        return {name: Words(dict(counted)) for name, counted in counts.items()}

    def _read(self, data: bytes, kinds: dict):
        """kinds: the pyarrow type of every wanted column."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        at = {name: str(place) for name, place in self.places.items()}
        types = {at[name]: kind for name, kind in kinds.items()}
        found = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=len(data) + 1, column_names=[str(j) for j in range(self.width)]
            ),
            arrow_csv.ParseOptions(newlines_in_values=b'"' in data),
            arrow_csv.ConvertOptions(
                column_types=types, include_columns=[at[name] for name in self.names], null_values=SPELLINGS
            ),
        )
        return found.rename_columns(self.names)

    def _numbers(self, data: bytes):
        import pyarrow as pa

        return self._read(data, self._kinds(pa.float64()))

    def _kinds(self, numbers) -> dict:
        import pyarrow as pa

        return dict.fromkeys(self.columns, numbers) | ({self.label: pa.string()} if self.label else {})

    def _distinct_texts(self, data: bytes):
        """For columns with a few cells that pyarrow does not take for numbers: each distinct text is looked at once."""
        import pyarrow as pa

        found = self._read(data, self._kinds(pa.binary()))
        for at, name in enumerate(self.columns):
            texts = found.column(name).combine_chunks().dictionary_encode()
            numbers = [number_of(text.decode("utf-8", "surrogateescape")) for text in texts.dictionary.to_pylist()]
            if None in numbers and not self.private:
                raise ValueError
            values = np.array(numbers, dtype=np.float64)[texts.indices.to_numpy()]  # None becomes NaN
            found = found.set_column(at, name, pa.array(values))
        return found

    def _slowly(self, piece: Piece, data: bytes):
        """Record by record; says where the first thing is that cannot be read."""
        import pyarrow as pa

        kept: dict[str, list] = {name: [] for name in self.names}
        for line, cells in self._records(piece, data):
            self._check_width(piece, line, cells)
            for name in self.columns:
                number = number_of(cells[self.places[name]])
                if number is None and not self.private:
                    raise TableFileError(
                        f"{self._line(piece, line)} has text in column {quote(name)} "
                        f"({quote(cells[self.places[name]].strip())}), which must hold numbers with decimal points: "
                        "correct it, or leave the column out."
                    )
                kept[name].append(np.nan if number is None else number)
            if self.label:
                kept[self.label].append(self._text(piece, line, cells[self.places[self.label]]))
        types = {name: pa.float64() for name in self.columns} | ({self.label: pa.string()} if self.label else {})
        return pa.table({name: pa.array(cells, types[name]) for name, cells in kept.items()})

    def _records(self, piece: Piece, data: bytes) -> Iterator[tuple[int, list[str]]]:
        """(lines before it in this piece, cells) of every row; bytes that are not UTF-8 stay as surrogates."""
        lines = (line.decode("utf-8", "surrogateescape") for line in data.splitlines(keepends=True))
        reader, line, large = csv.reader(lines, strict=True), 0, False
        while not large:
            try:
                cells = next(reader, None)
            except csv.Error:  # quotation marks are in order in a piece, so a cell is too long
                large, cells = True, []
            if cells is None:
                return
            if is_row(cells[:1], len(cells)):
                yield line, cells
            line = line if large else reader.line_num
        raise TableFileError(
            f"{self._line(piece, line)} has a cell beyond {csv.field_size_limit():,} characters, the limit: shorten it."
        )

    def _check_width(self, piece: Piece, line: int, cells: list[str]) -> None:
        if len(cells) != self.width:
            raise TableFileError(
                f"{self._line(piece, line)} has {len(cells):,} cell{'s' * (len(cells) != 1)} and the header has "
                f"{self.width:,}: give every line the same number of cells, and write decimal points."
            )

    def _text(self, piece: Piece, line: int, cell: str) -> str:
        if not any("\ud800" <= letter <= "\udfff" for letter in cell):
            return cell
        raise TableFileError(f"{self._line(piece, line)} has a label that is not UTF-8 text: save the file as UTF-8.")

    def _line(self, piece: Piece, line: int) -> str:
        if self.private:
            return f"A line of {self.file.path}"
        return f"Line {line_at(self.file, piece.start) + line:,} of {self.file.path}"
