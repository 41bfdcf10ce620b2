"""Some rows of a table as float64 columns: what every reader returns, and how it is made from Arrow columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privcov.persons import id_text
from privcov.table_files.coding import coded_column, positions
from privcov.table_files.kinds import Kind

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows.

    ``cells`` is d x b float64, a contiguous line per column, NaN where a cell is missing; columns with kinds are coded,
    and a category has a line for each level. ``labels`` is None, or
    (distinct texts, b int32 positions in them); a missing label is the text "". ``ids`` is the same for the ids of
    persons, as `privcov.persons.id_text` gives them.
    """

    cells: np.ndarray
    labels: tuple[tuple[str, ...], np.ndarray] | None
    ids: tuple[tuple[str, ...], np.ndarray] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Words:
    """The texts of some cells of a column: how often each distinct text occurs.

    Bytes that are not UTF-8 are surrogates. ``missing`` counts empty cells. ``typed`` is the file's own type for the
    column, where it is one that holds no numbers; its values are then under the text "" when they are not text
    themselves. ``decimal`` is the decimal mark of the file.
    """

    texts: dict[str, int]
    missing: int = 0
    typed: str = ""
    decimal: str | None = "."


RawCells = np.ndarray | Words  # float64 with NaN where a cell is missing, or texts


def raw_cells_of(column: pa.ChunkedArray | pa.Array, typed: str = "", decimal: str | None = ".") -> RawCells:
    """Return one pyarrow column as numbers where it holds numbers or truth values, else as texts."""
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.types as t

    kind = column.type.value_type if t.is_dictionary(column.type) else column.type
    if t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_boolean(kind) or t.is_null(kind):
        line = np.empty(len(column))
        _fill(line, column)
        return line
    holes = column.null_count
    if not (t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind) or t.is_binary(kind)):
        return Words({"": len(column) - holes}, holes, typed, decimal)
    counted = compute.value_counts(compute.drop_null(column))
    texts = counted.field("values")
    texts = (texts.dictionary_decode() if t.is_dictionary(texts.type) else texts).cast(pa.binary()).to_pylist()
    names = [text.decode("utf-8", "surrogateescape") for text in texts]
    counts = dict(zip(names, counted.field("counts").to_pylist(), strict=True))
    return Words(counts, holes + counts.pop("", 0), typed, decimal)


def blocks_from(
    table: pa.Table | pa.RecordBatch,
    columns: Sequence[str],
    label: str,
    rows: int,
    person: str = "",
    kinds: Sequence[Kind] = (),
) -> Iterator[Block]:
    """Yield a pyarrow Table or RecordBatch in blocks of at most ``rows`` rows; each cell is copied once."""
    for start in range(0, table.num_rows, rows):
        yield _block(table.slice(start, rows), columns, label, person, kinds)


def _block(
    table: pa.Table | pa.RecordBatch, columns: Sequence[str], label: str, person: str, kinds: Sequence[Kind]
) -> Block:
    if kinds:
        coded = [coded_column(kind, table.column(name)) for name, kind in zip(columns, kinds, strict=True)]
        cells = np.concatenate(coded)
    else:
        cells = np.empty((len(columns), table.num_rows))
        for line, name in zip(cells, columns, strict=True):
            _fill(line, table.column(name))
    ids = _ids(table.column(person)) if person else None
    return Block(cells, _labels(table.column(label)) if label else None, ids)


def _fill(line: np.ndarray, column: pa.ChunkedArray | pa.Array) -> None:
    """Copy one column into one line, NaN where it has no value."""
    import pyarrow as pa
    import pyarrow.compute as compute

    at = 0
    for piece in getattr(column, "chunks", None) or [column]:
        numbers = piece if piece.type == pa.float64() else compute.cast(as_written(piece), pa.float64(), safe=False)
        line[at : at + len(piece)] = numbers.to_numpy(zero_copy_only=False)  # a null becomes NaN
        at += len(piece)


def as_written(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return decimals as their texts, and everything else as it is.

    A text becomes the nearest float, as a cell of a CSV file does. Arrow's own cast of a decimal is often the one
    beside it, so that a Parquet file would have other sums than the CSV file of the same numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    return compute.cast(column, pa.string()) if pa.types.is_decimal(column.type) else column


def _labels(column: pa.ChunkedArray | pa.Array) -> tuple[tuple[str, ...], np.ndarray]:
    import pyarrow as pa
    import pyarrow.compute as compute

    texts = compute.fill_null(compute.cast(column, pa.string()), "")
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    encoded = texts.dictionary_encode()
    return _coded(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())


def _ids(column: pa.ChunkedArray | pa.Array) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the ids of persons as they are compared; numbers are taken as numbers, not as a library prints them."""
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    values = [*encoded.dictionary.to_pylist(), None]
    return _coded(list(map(id_text, values)), positions(encoded, len(values) - 1))


def _coded(texts: list[str], codes: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Return labels without the blanks around them, each text once: (distinct texts, int32 codes)."""
    place: dict[str, int] = {}
    renamed = [place.setdefault(text.strip(), len(place)) for text in texts]
    return tuple(place), np.asarray(renamed, dtype=np.int32)[codes]
