"""From cells to measured numbers: the coder of typed columns.

**Proof that a coder costs nothing.** The measurement's neighbours are tables of whole numbers that differ in the rows
of one person; it enforces the length of every such row itself (`privcov.measurements.exact.integer_gram`). So all that
privacy asks of a coder is that it is a function of one row and the public declaration: then two tables that differ in
the rows of one person are coded as two tables that differ in the coded rows of that person, and every bound holds as
before. Two things follow from its shape here:
- It is total. Whatever a cell holds, the coder returns a number or NaN for a missing cell, and raises nothing. An
  exception that only some cells cause would tell of them, and would be no function of the row.
- It sees one cell. Nothing is counted, fitted or remembered across rows: levels, bounds, transforms, typical values and
  codes are declared. A text that is not listed is missing, or the level "other" where that is declared; it never
  becomes a level because a row holds it. Each operation gives a number the same result in every place (see
  `kinds.natural_log`), so order, blocks, files and workers change no bit.

That the columns of a category are 0 or 1, at most one of them 1, makes R^2 = sum c^2 the bound of a row (kinds.py): no
row is shortened. The bounds of blocks (`measurements.noise_theory.free_groups`) and of the numbers of a row that are
not zero (`measurements.triangle_l1`) do not rely on it here: `integer_gram.max_entries` and `keep_one_level` enforce
them.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from privcov.core import checks
from privcov.tables.persons import NO_VALUE, id_text
from privcov.tables.readers.kinds import CATEGORY, DATE, FIRST_DAY, INTEGER, ISO, NUMBER, Kind, day_of
from privcov.tables.readers.numbers import floats_of, is_text, no_numbers, number_of, positions

if TYPE_CHECKING:
    import pyarrow as pa

_UNLISTED = "\ud800"  # half a character, which no level and no code can hold


def code_numbers(kind: Kind, cells: np.ndarray) -> np.ndarray:
    """Return the measured columns of cells that are numbers already."""
    x = np.where(np.isfinite(cells), cells, np.nan)
    if kind.kind == CATEGORY:
        levels = np.arange(kind.width, dtype=np.float64)[:, None]
        return np.where(np.isnan(x), np.nan, (x == levels).astype(np.float64))
    if kind.values:
        return x[None] + kind.limits[0][0]
    for code in _codes(kind)[1]:
        x[x == code] = np.nan
    x = np.rint(x) if kind.kind == INTEGER else x
    if kind.transform is None:
        return x[None]
    return kind.transformed(np.clip(x, kind.number(kind.low), kind.number(kind.high)))[None]


def coder_of(kind: Kind) -> Callable[[object], float]:
    """Return the function that makes a number of one cell, for `code_numbers`."""
    if kind.values:
        return _Levels(kind)
    return _Days(kind) if kind.kind == DATE else _number


def stands_for_missing(kind: Kind, value: object) -> bool:
    """Return whether a cell is missing: it is empty, or spelt as missing, or holds a code for a missing cell."""
    text, (codes, numbers) = _text(value), _codes(kind)
    x = day_of(text, kind.format) if kind.kind == DATE else number_of(text)
    return not text or text in codes or x in numbers


def coded_values(kind: Kind, values: Iterable[object]) -> np.ndarray:
    """Return the measured columns of any values, each different text looked at once."""
    code, cache = coder_of(kind), {}
    numbers = []
    for value in values:
        if type(value) is not str:
            numbers.append(code(value))
            continue
        if value not in cache:
            cache[value] = code(value)
        numbers.append(cache[value])
    return code_numbers(kind, np.array(numbers, dtype=np.float64))


def coded_table(X: Any, kinds: Sequence[tuple[str, Kind]]) -> np.ndarray:
    """Return the measured columns of a table in memory."""
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc"):
        import pyarrow as pa

        table = pa.table(X)
        lines = [coded_column(kind, table.column(_place(name, table.column_names))) for name, kind in kinds]
    elif hasattr(X, "iloc"):
        names = list(map(str, X.columns))
        lines = [_of_pandas(kind, X.iloc[:, _place(name, names)]) for name, kind in kinds]
    else:
        try:
            cells = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        except ValueError:
            cells = np.empty(0)
        if cells.ndim != 2 or cells.shape[1] != len(kinds):
            raise ValueError(
                f"X must be a data frame, or rows of {len(kinds)} cells, one for each kind in their order. Name the "
                "columns, or give the kinds of all."
            )
        lines = [coded_values(kind, cells[:, j].tolist()) for j, (_, kind) in enumerate(kinds)]
    return np.ascontiguousarray(np.concatenate(lines).T)


def _place(name: str, names: list[str]) -> int:
    if names.count(name) != 1:
        many = f"has {names.count(name)} columns of the name" if name in names else "has no column"
        raise ValueError(f"X {many} {name!r}, and kinds declare it. Correct them.{checks.suggest(name, names)}")
    return names.index(name)


def _of_pandas(kind: Kind, column: Any) -> np.ndarray:
    if hasattr(column.dtype, "pyarrow_dtype"):
        import pyarrow as pa

        return coded_column(kind, pa.array(column))
    dtype_kind = getattr(column.dtype, "kind", "O")
    if kind.kind in (NUMBER, INTEGER) and dtype_kind in "biuf":
        return code_numbers(kind, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind.kind == DATE and dtype_kind == "M" and getattr(column.dtype, "tz", None) is None:
        days = column.to_numpy().astype("datetime64[D]")
        return code_numbers(kind, np.where(np.isnat(days), np.nan, days.astype(np.int64)))
    return coded_values(kind, column.tolist())


def coded_column(
    kind: Kind, column: pa.ChunkedArray | pa.Array, decimal: str | None = ".", thousands: str = ""
) -> np.ndarray:
    """Return the measured columns of a column of Arrow, of any type; the marks are those of numbers in texts."""
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.types as t

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    arrow_type = whole.type
    if kind.kind in (NUMBER, INTEGER) and (is_text(arrow_type) or not no_numbers(arrow_type)):
        # Where a column of whole numbers has a missing one, its numbers pass through float64 either way.
        return code_numbers(kind, floats_of(whole, decimal, thousands)[0])
    if kind.kind == DATE and (t.is_date(arrow_type) or t.is_timestamp(arrow_type)):
        days = compute.cast(compute.cast(whole, pa.date32(), safe=False), pa.int32())
        return code_numbers(kind, compute.cast(days, pa.float64()).to_numpy(zero_copy_only=False))
    if t.is_decimal(arrow_type) or t.is_nested(arrow_type) or t.is_null(arrow_type):
        return coded_values(kind, python_values(whole))
    encoded = whole if t.is_dictionary(arrow_type) else whole.dictionary_encode()
    code = coder_of(kind)
    numbers = np.array([*map(code, python_values(encoded.dictionary)), math.nan])
    return code_numbers(kind, numbers[positions(encoded, len(numbers) - 1)])


def python_values(column: pa.Array) -> list:
    """Return Arrow values as Python objects; a value that Python cannot hold becomes an unlisted text."""
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):
        return [_python_value(value) for value in column]


def _python_value(value: pa.Scalar) -> object:
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return _UNLISTED


def _codes(kind: Kind) -> tuple[frozenset[str], tuple[float, ...]]:
    """Return the codes for missing cells as texts, and those that are numbers or days as numbers."""
    if kind.kind == DATE:
        days = {day_of(code, form) for code in kind.missing_codes for form in (kind.format, ISO)}
        return frozenset(kind.missing_codes), tuple(float(day) for day in days if day is not None)
    numbers = (number_of(code) for code in kind.missing_codes)
    return frozenset(kind.missing_codes), tuple(x for x in numbers if x is not None and math.isfinite(x))


def _text(value: object) -> str:
    """Return the text of a cell as it is compared, "" where it is missing; any other object is an unlisted text."""
    if type(value).__name__ in NO_VALUE:
        return ""
    if not isinstance(value, (str, bytes, bool, int, float, np.generic, Decimal, datetime.date, type(None))):
        return _UNLISTED
    try:
        return id_text(value)
    except ValueError:  # a whole number of more digits than Python writes
        return _UNLISTED


def _number(value: Any) -> float:
    """Return a cell as a number; codes that are numbers are found by `code_numbers`, and no other text is a number."""
    if isinstance(value, (str, bytes)):
        x = number_of(value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value)
        return math.nan if x is None else x
    numbers = (bool, int, float, np.bool_, np.integer, np.floating, Decimal)
    if not isinstance(value, numbers) or isinstance(value, np.timedelta64):  # which numpy has among its whole numbers
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):  # a signalling NaN, or a number beyond the largest float
        return math.nan


class _Levels:
    """Position of the level of a cell."""

    def __init__(self, kind: Kind) -> None:
        self.places = {level: float(at) for at, level in enumerate(kind.values)}
        self.rest = float(len(self.places)) if kind.other else math.nan
        self.codes, self.numbers = _codes(kind)

    def __call__(self, value: object) -> float:
        """Return the position, NaN where the cell is missing."""
        text = _text(value)
        if text in self.places:
            return self.places[text]
        missing = not text or text in self.codes or (self.numbers and number_of(text) in self.numbers)
        return math.nan if missing else self.rest


class _Days:
    """Days of a cell since 1970-01-01."""

    def __init__(self, kind: Kind) -> None:
        self.form, self.codes = kind.format, _codes(kind)[0]

    def __call__(self, value: object) -> float:
        """Return the days, NaN where the cell is missing."""
        if isinstance(value, datetime.date):
            return math.nan if type(value).__name__ in NO_VALUE else float(value.toordinal() - FIRST_DAY)
        if isinstance(value, np.datetime64):
            return math.nan if np.isnat(value) else float(value.astype("datetime64[D]").astype(np.int64))
        text = _text(value)
        day = None if text in self.codes else day_of(text, self.form)
        return math.nan if day is None else float(day)
