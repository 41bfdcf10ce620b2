"""Some rows of a table as float64 columns: what every reader returns, and how it is made from Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privcov.tables.persons import id_text
from privcov.tables.readers.coding import coded_column
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.kinds import Kind
from privcov.tables.readers.numbers import floats_of, positions
from privcov.tables.readers.table_files import TableFileError

if TYPE_CHECKING:
    import pyarrow as pa

Encoded = tuple[tuple[str, ...], np.ndarray]  # distinct texts, and int32 positions in them


class StrangeCell(ValueError):
    """A cell of a public table is a text where a number must be: its column, and the text."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows.

    ``cells`` is d x b float64, a contiguous line per column, NaN where a cell is missing; columns with kinds are coded,
    and a category has a line for each level. ``labels`` is None, or the texts of the labels; a missing label is the
    text "". ``ids`` is the same for the ids of persons, as `privcov.tables.persons.id_text` gives them.
    """

    cells: np.ndarray
    labels: Encoded | None
    ids: Encoded | None = None


def block_of(
    table: pa.Table | pa.RecordBatch,
    columns: Sequence[str],
    label: str,
    person: str,
    kinds: Sequence[Kind],
    dialect: Dialect,
    private: bool,
) -> Block:
    """Return rows of Arrow as a block; raise `StrangeCell` where a public table has text in a column of numbers."""
    marks = dialect.decimal, dialect.thousands
    if kinds:
        arrays = [coded_column(kind, table.column(name), *marks) for name, kind in zip(columns, kinds, strict=True)]
        cells = np.concatenate(arrays)
    else:
        cells = np.empty((len(columns), table.num_rows))
        for line, name in zip(cells, columns, strict=True):
            line[:], strange = floats_of(table.column(name), *marks)
            if strange is not None and not private:
                raise StrangeCell(name, strange)
    ids = ids_of(table.column(person)) if person else None
    return Block(cells, labels_of(table.column(label)) if label else None, ids)


def labels_of(column: pa.ChunkedArray | pa.Array) -> Encoded:
    """Return the labels of a column, whose whole numbers count as their digits."""
    import pyarrow as pa
    import pyarrow.compute as compute

    texts = compute.fill_null(_words(column, "a label", pa.string()), "")
    encoded = texts.dictionary_encode()
    return _without_blanks(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())


def ids_of(column: pa.ChunkedArray | pa.Array) -> Encoded:
    """Return the ids of persons as they are compared; numbers are taken as numbers, not as a library prints them."""
    import pyarrow as pa

    whole = _words(column, "an id")
    encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    values = [*encoded.dictionary.to_pylist(), None]
    return _without_blanks(list(map(id_text, values)), positions(encoded, len(values) - 1))


def _words(column: pa.ChunkedArray | pa.Array, label: str, target_type: pa.DataType | None = None) -> pa.Array:
    """Return a column of labels or ids as one array, bytes as text; raise TableFileError where they are none."""
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = target_type or (pa.string() if pa.types.is_binary(whole.type) else whole.type)
    try:
        return whole.cast(kind)
    except pa.ArrowInvalid:
        problem = f"The table holds {label} that is not UTF-8 text: save the file as UTF-8."
    raise TableFileError(problem)  # outside, so that it carries no context, which may hold the cell


def _without_blanks(texts: list[str], codes: np.ndarray) -> Encoded:
    place: dict[str, int] = {}
    renamed = [place.setdefault(text.strip(), len(place)) for text in texts]
    return tuple(place), np.asarray(renamed, dtype=np.int32)[codes]
