"""Where a cell becomes a number: a text, and a column as Arrow holds it.

Plain columns of a CSV are parsed by pyarrow itself (`csv_rows`); tests hold it to `number_of` cell by cell.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from privcov.persons import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

# in every mixture of upper and lower case, for a reader that compares exactly
SPELLINGS = sorted(
    "".join(letters) for word in MISSING for letters in itertools.product(*({c, c.upper()} for c in word))
)


def number_of(cell: str, decimal: str | None = ".") -> float | None:
    """Return a float with the decimal mark, blanks ignored; NaN for a missing cell, None for any other text."""
    cell = cell.strip()
    if cell.lower() in MISSING:
        return math.nan
    if decimal == ",":
        cell = "" if "." in cell else cell.replace(",", ".")  # the other mark is in no number
    try:
        return None if "_" in cell else float(cell)  # float() would read 1_2 as 12
    except ValueError:
        return None


def floats_of(column: pa.ChunkedArray | pa.Array, decimal: str | None = ".") -> tuple[np.ndarray, str | None]:
    """Return (float64, NaN for a cell that is missing or no number; the first text that is no number, or None).

    Each distinct text is parsed once. A decimal counts as its text, which becomes the nearest float: Arrow's own cast
    is often the one beside it, so that a Parquet file would have other sums than the CSV file of the same numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if is_text(column.type):
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        words = texts_of(encoded.dictionary)
        numbers = [number_of(word, decimal) for word in words]
        strange = next((word for word, number in zip(words, numbers, strict=True) if number is None), None)
        return np.array([*numbers, math.nan], dtype=np.float64)[positions(encoded, len(numbers))], strange
    if pa.types.is_decimal(column.type):
        column = compute.cast(column, pa.string())
    floats = column if column.type == pa.float64() else compute.cast(column, pa.float64(), safe=False)
    return floats.to_numpy(zero_copy_only=False), None  # a null becomes NaN


def is_text(stored: pa.DataType) -> bool:
    """Return whether a type of Arrow is one of texts."""
    import pyarrow.types as t

    kind = stored.value_type if t.is_dictionary(stored) else stored
    return t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind) or t.is_binary(kind)


def no_numbers(kind: pa.DataType) -> str:
    """Return the name of a type of Arrow that holds no numbers or truth values, "" for one that does."""
    import pyarrow.types as t

    numbers = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_boolean(kind) or t.is_null(kind)
    return "" if numbers else short_name(kind)


def short_name(kind: pa.DataType) -> str:
    """Return the name of a type of Arrow without what it is made of."""
    return str(kind).split("<", 1)[0]


def texts_of(column: pa.ChunkedArray | pa.Array) -> list[str]:
    """Return the texts of a column without missing cells; bytes that are not UTF-8 become surrogates."""
    import pyarrow as pa

    return [text.decode("utf-8", "surrogateescape") for text in column.cast(pa.binary()).to_pylist()]


def positions(encoded: pa.DictionaryArray, missing: int) -> np.ndarray:
    """Return the positions in its dictionary of every cell."""
    import pyarrow as pa

    return encoded.indices.cast(pa.int64()).fill_null(missing).to_numpy(zero_copy_only=False)
