"""Small text tables of numbers, in any of the forms in which the papers' sets are distributed.

Every ``ValueError`` is one sentence that says what is wrong, where, and what the set has instead.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privcov.tables.declaration.csv_file import decode
from privcov.tables.readers.table_files import quote
from replication.sources.papers import MAX_BYTES

Line = tuple[int, list[str]]  # its number in the file, its cells


def unpacked(raw: bytes) -> bytes:
    """Return the bytes of a gzip file, or the bytes themselves."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            out = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise ValueError("this gzip file is damaged or incomplete: copy it again.") from None
    if len(out) > MAX_BYTES:
        raise ValueError(f"this file unfolds to more than {MAX_BYTES / 1e6:,.0f} MB, so it is not the set.")
    return out


def lines(raw: bytes) -> list[Line]:
    """Return the cells of every line that is not blank."""
    text = [(k, line.strip()) for k, line in enumerate(decode(unpacked(raw), "This file").splitlines(), 1)]
    text = [(k, line) for k, line in text if line]
    if not text:
        raise ValueError("this file is empty.")
    mark = next((mark for mark in ",\t;" if mark in text[0][1]), " ")
    try:
        cells = csv.reader((line for _, line in text), delimiter=mark, skipinitialspace=True, strict=True)
        return [(k, [cell.strip() for cell in row]) for (k, _), row in zip(text, cells, strict=True)]
    except (csv.Error, ValueError):
        raise ValueError("this file has a quotation mark that is not closed: close it or take it out.") from None


def number(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def numbers(rows: Sequence[Line], take: Sequence[int], wide: int) -> np.ndarray:
    """Return some columns of lines as numbers."""
    for at, cells in rows:
        if len(cells) != wide:
            raise ValueError(f"line {at:,} has {len(cells):,} cells, and {wide:,} were expected.")
    try:
        values = np.array([[float(cells[j]) for j in take] for _, cells in rows])
        if np.isfinite(values).all():
            return values
    except ValueError:
        pass
    at, j, cell = next((at, j, cells[j]) for at, cells in rows for j in take if number(cells[j]) is None)
    raise ValueError(f"line {at:,} has {quote(cell)} in column {j + 1:,}, where the set has a number.")


def check_shape(shape: tuple[int, ...], want: tuple[int, int], title: str) -> None:
    """Raise ValueError where a table has another shape than the set."""
    rows, columns = shape
    if shape != want:
        raise ValueError(
            f"this file has {rows:,} rows of {columns:,}, and the {title} set has {want[0]:,} of {want[1]:,}."
        )


def header_of(rows: list[Line]) -> list[str] | None:
    """Return the column names, where the first line is one of names rather than of values."""
    first = rows[0][1]
    return None if any(number(cell) is not None for cell in first) else first


def where(header: Sequence[str], wanted: Mapping[str, Sequence[str]]) -> list[int]:
    """Return the position of each wanted column in a header, by any of its spellings; capitals do not matter."""
    known = {name.lower(): k for k, name in enumerate(header)}
    places: list[int] = []
    absent: list[str] = []
    for name, spellings in wanted.items():
        at = next((known[word.lower()] for word in (name, *spellings) if word.lower() in known), None)
        if at is None:
            absent.append(name)
        else:
            places.append(at)
    if absent:
        more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        raise ValueError(f"this file has no column {', '.join(absent[:5])}{more}; its first line must name them.")
    return places


def check_counts(labels: np.ndarray, want: Mapping[Any, int], title: str) -> None:
    """Raise ValueError where the number of rows per label is not that of the set."""
    counts = dict(zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True))
    if counts != dict(want):
        texts = [", ".join(f"{v:,} {k}" for k, v in part.items()) for part in (counts, want)]
        raise ValueError(f"the labels are {texts[0]}, and the {title} set has {texts[1]}.")


def only(parts: Sequence[bytes], title: str) -> bytes:
    """Return the one file of a set that is one file."""
    if len(parts) != 1:
        raise ValueError(f"{len(parts)} files were given, and the {title} set is one file.")
    return parts[0]


def spelled(rows: Sequence[Line], at: int, words: Mapping[str, str]) -> np.ndarray:
    """Return the label column, by the spellings of the labels."""
    strange = next(((k, cells[at]) for k, cells in rows if cells[at].lower() not in words), None)
    if strange is not None:
        raise ValueError(f"line {strange[0]:,} has the label {quote(strange[1])}; labels are {', '.join(words)}.")
    return np.array([words[cells[at].lower()] for _, cells in rows])


def write_csv(columns: Sequence[str], values: np.ndarray, label: str, labels: Sequence | np.ndarray) -> bytes:
    """Return a tidy CSV with the label as its last column and numbers that read back as they were."""
    body = [",".join([*map(repr, row), str(word)]) for row, word in zip(values.tolist(), labels, strict=True)]
    return ("\n".join([",".join([*columns, label]), *body]) + "\n").encode()
