"""Where a cell becomes a number: a text, and a column as Arrow holds it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from privcov.tables.persons import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = r"^[+-]?(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"  # Arrow and `number_of` agree on these
_SAME = {" ": "[ \u00a0\u202f]", "'": "['\u2019]"}  # marks between thousands that are written in several ways


def number_of(cell: str, decimal: str | None = ".", thousands: str = "") -> float | None:
    """Return a float with the decimal mark, blanks ignored; NaN for a missing cell, None for any other text."""
    cell = cell.strip()
    if cell.lower() in MISSING:
        return math.nan
    if thousands:
        mark = _SAME.get(thousands, re.escape(thousands))
        if re.fullmatch(rf"[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:{re.escape(decimal or '.')}[0-9]*)?", cell):
            cell = re.sub(mark, "", cell)
    if decimal == ",":
        cell = "" if "." in cell else cell.replace(",", ".")  # the other mark is in no number
    try:
        return None if "_" in cell else float(cell)  # float() would read 1_2 as 12
    except ValueError:
        return None


def floats_of(
    column: pa.ChunkedArray | pa.Array, decimal: str | None = ".", thousands: str = ""
) -> tuple[np.ndarray, str | None]:
    """Return (float64, NaN for a cell that is missing or no number; the first text that is no number, or None).

    Arrow parses plain numbers, `number_of` every other text, each distinct one once. A decimal counts as its text,
    which becomes the nearest float: Arrow's own cast is often the neighbouring float, so a Parquet file would differ
    from the same CSV.
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if is_text(column.type):
        if not pa.types.is_dictionary(column.type):
            return _parse(column, decimal or ".", thousands)
        numbers, strange = _parse(column.dictionary, decimal or ".", thousands)
        return np.append(numbers, math.nan)[positions(column, len(numbers))], strange
    if pa.types.is_decimal(column.type):
        column = compute.cast(column, pa.string())
    floats = column if column.type == pa.float64() else compute.cast(column, pa.float64(), safe=False)
    return floats.to_numpy(zero_copy_only=False), None  # a null becomes NaN


def _parse(column: pa.Array, decimal: str, thousands: str) -> tuple[np.ndarray, str | None]:
    """Return the numbers of a column of texts, and the first text that is no number."""
    import pyarrow as pa
    import pyarrow.compute as compute

    if decimal == ".":
        try:
            cells = compute.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
        else:
            if np.count_nonzero(np.isnan(cells)) == column.null_count:  # Arrow reads nan(1) as a number
                return cells, None
    texts = column.cast(pa.large_binary())
    plain = compute.match_substring_regex(texts, _PLAIN.format(mark=f"[{decimal}]"))
    points = texts if decimal == "." else compute.replace_substring(texts, decimal, ".")
    cells = compute.cast(compute.if_else(plain, points, None), pa.float64()).to_numpy(zero_copy_only=False)
    other = ~plain.to_numpy(zero_copy_only=False).astype(bool) & texts.is_valid().to_numpy(zero_copy_only=False)
    if not other.any():
        return cells, None
    encoded = texts.filter(pa.array(other)).dictionary_encode()
    words = texts_of(encoded.dictionary)
    numbers = [number_of(word, decimal, thousands) for word in words]
    cells = np.array(cells)  # Arrow's are read-only
    cells[other] = np.array(numbers, dtype=np.float64)[encoded.indices.to_numpy()]
    return cells, next((word for word, number in zip(words, numbers, strict=True) if number is None), None)


def is_text(arrow_type: pa.DataType) -> bool:
    """Return whether a type of Arrow is one of texts."""
    import pyarrow.types as t

    kind = arrow_type.value_type if t.is_dictionary(arrow_type) else arrow_type
    return t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind) or t.is_binary(kind)


def no_numbers(kind: pa.DataType) -> str:
    """Return the name of a type of Arrow that holds no numbers or truth values, "" for one that does."""
    import pyarrow.types as t

    numbers = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_boolean(kind) or t.is_null(kind)
    return "" if numbers else short_name(kind)


def short_name(kind: pa.DataType) -> str:
    """Return the name of an Arrow type without its parameters."""
    return str(kind).split("<", 1)[0]


def texts_of(column: pa.ChunkedArray | pa.Array) -> list[str]:
    """Return the texts of a column without missing cells; bytes that are not UTF-8 become surrogates."""
    import pyarrow as pa

    return [text.decode("utf-8", "surrogateescape") for text in column.cast(pa.binary()).to_pylist()]


def positions(encoded: pa.DictionaryArray, missing: int) -> np.ndarray:
    """Return the positions in its dictionary of every cell."""
    import pyarrow as pa

    return encoded.indices.cast(pa.int64()).fill_null(missing).to_numpy(zero_copy_only=False)
