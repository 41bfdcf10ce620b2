"""Tables that Python holds already, as numbers: arrays, lists of rows, and data frames of pandas, polars or Arrow.

A column of whole, floating-point, decimal or true-and-false values is taken as it is, whatever its type. Anything else
(text, dates, categories, complex numbers) is refused by name, because the numbers that numpy would make of it are not
what its owner means.

Of private rows a message may say what the type of a whole column or table is, and nothing that depends on a single cell
or on the number of rows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, NoReturn

import numpy as np

from privcov.core import checks, extras
from privcov.tables.persons import NO_VALUE
from privcov.tables.readers.numbers import floats_of, no_numbers

FORMS = "an array, a list of rows, or a data frame of pandas, polars or Arrow"
_PRIVATE = (
    "X must hold numbers only, in rows of one length; a cell that is none must be missing (NaN). Text and dates need "
    "kinds."
)


class _OfTheRows(ValueError):
    """A refusal that depends on cells or on the number of rows."""


class _OfItsType(ValueError):
    """Error for a column of another type, with the text of a Kind that a private table may declare."""

    def __init__(self, name: str | int | None, content: str, remedy: str, declare: str = "") -> None:
        self.held = f"{'X' if name is None else f'Column {name!r}'} holds {content}. "
        self.remedy, self.declare = remedy, f"{name!r}: {declare}" if declare and name is not None else ""
        super().__init__(self.held + remedy)


def numbers_of(X: Any, *, private: bool = False) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the cells of a table as a new array, and the names of its columns where it has names."""
    try:
        with np.errstate(over="ignore"):  # a number beyond the largest float is infinite
            return _numbers(X, private)
    except _OfTheRows as problem:
        message = _PRIVATE if private else str(problem)
    except _OfItsType as problem:
        message = _to_declare([problem]) if private else str(problem)
    raise ValueError(message)  # outside of the handler: the error of a private table has no cause with a cell in it


def split(X: Any, person: str) -> tuple[Any, list[object]]:
    """Return a data frame without one of its columns, and the cells of that column."""
    names = names_in(X) or []
    if names.count(person) != 1:
        raise ValueError(
            f"person={checks.describe(person)} must be the name of one column of a data frame, and X has "
            f"{names.count(person) or 'no'} such column{'s' if person in names else ''}. "
            f"Give the ids of an array as persons=[...].{checks.suggest(person, names)}"
        )
    if hasattr(X, "iloc"):
        return X.drop(columns=person), X[person].tolist()
    table = _arrow(X)
    return table.drop_columns([person]), table.column(person).to_pylist()


def names_in(X: Any) -> list | None:
    """Return the column names of a data frame, or None for another object."""
    if _is_frame(X):
        return list(X.columns)
    if hasattr(X, "__arrow_c_stream__") and len(getattr(X, "shape", (0, 0))) == 2:
        return list(_arrow(X).column_names)
    return None


def _arrow(X: Any) -> Any:
    extras.require("pyarrow", "Data frames in Arrow's form")
    import pyarrow

    return pyarrow.table(X)


def _is_frame(X: Any) -> bool:
    """Return whether it is a data frame of pandas, which another thread may be loading at this moment."""
    return isinstance(X, getattr(sys.modules.get("pandas"), "DataFrame", ()))


def _numbers(X: Any, private: bool) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the same as `numbers_of`; raise `_OfTheRows` for what depends on cells or on the number of rows."""
    if _is_frame(X):
        # Numbers that pandas gave where the user gave no names are no names.
        own = None if X.columns.equals(sys.modules["pandas"].RangeIndex(X.shape[1])) else tuple(map(_name, X.columns))
        columns = ((own[j] if own else j, X.iloc[:, j]) for j in range(X.shape[1]))
        return _of_frame(_of_pandas, columns, X.shape, private), own
    if hasattr(X, "__arrow_c_stream__") and len(getattr(X, "shape", (0, 0))) == 2:
        table = _arrow(X)
        columns = zip(table.column_names, table.columns, strict=True)
        return _of_frame(_of_arrow, columns, table.shape, private), tuple(table.column_names)
    return _of_array(X)


def _name(label: object) -> str:
    """Return the name of a column of pandas, whose label may be a number, or a tuple where there are several levels."""
    return " / ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _of_frame(read: Callable, columns: Iterable[tuple], shape: tuple[int, ...], private: bool) -> np.ndarray:
    """Return the columns of a frame as one array; one error names every column that is not numeric."""
    rows, problems = np.empty(shape, dtype=np.float64), []
    for j, (name, column) in enumerate(columns):
        try:
            rows[:, j] = read(name, column)
        except _OfItsType as problem:
            problems.append(problem)
    if problems:
        raise ValueError(_to_declare(problems) if private else " ".join(map(str, problems)))
    return rows


def _side_by_side(cells: Iterator[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    rows = np.empty(shape, dtype=np.float64)
    for j, column in enumerate(cells):
        rows[:, j] = column
    return rows


def _of_pandas(name: str | int, column: Any) -> np.ndarray:
    kind = str(column.dtype)
    if kind == "category":
        raise _type_error(name, "category")
    if kind in ("str", "string"):
        raise _type_error(name, "U")
    if getattr(column.dtype, "kind", "O") in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return _cells(name, column.to_numpy(dtype=None if column.dtype.kind in "cmM" else object))


def _of_arrow(name: str, column: Any) -> np.ndarray:
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        raise _type_error(name, "category")
    if types.is_temporal(kind):
        raise _type_error(name, "M")
    if why := no_numbers(kind):
        raise _type_error(name, "U" if "string" in why else why)
    return floats_of(column)[0]


def _of_array(X: Any) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return an array or a list of rows; of a structured array also the names of its fields."""
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) and X.dtype.names is None else None
    if hasattr(X, "toarray"):
        raise ValueError("X is a sparse matrix, and a noisy one is full. Give X.toarray().")
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # a masked cell of a list is missing
            cells = np.asarray(X)
        if cells.dtype.kind not in "biufcmM" and cells.dtype.names is None:
            cells = np.array(X, dtype=object)  # numpy makes text of a number beside a text
    except ValueError:
        _ragged(X)
    if cells.dtype.names is not None:
        fields = (_cells(name, cells[name]) for name in cells.dtype.names)
        return _side_by_side(fields, (len(cells), len(cells.dtype.names))), cells.dtype.names
    if cells.ndim == 0:
        raise ValueError(f"X must be {FORMS}, got {type(X).__name__}.{_remedy(X)}")
    if cells.ndim == 1 and cells.dtype.kind == "O" and any(isinstance(row, (list, tuple, np.ndarray)) for row in cells):
        _ragged(X)
    if cells.ndim != 2 or 0 in cells.shape:
        more = " One column is X.reshape(-1, 1)." if cells.ndim == 1 and len(cells) else ""
        more = " Give pandas.DataFrame(X)." if more and isinstance(cells[0], dict) else more
        raise _OfTheRows(f"X must be a table of n rows and d columns, got shape {cells.shape}.{more}")
    if cells.dtype.kind in "cmM":
        problem = _type_error(None, cells.dtype.kind)
        raise problem if isinstance(X, np.ndarray) else _OfTheRows(str(problem))  # a list has no type of its own
    if cells.dtype.kind == "O":
        rows = _side_by_side((_cells(j, cells[:, j]) for j in range(cells.shape[1])), cells.shape)
    else:
        rows = np.array(cells, dtype=np.float64, order="C", copy=True, subok=False)
    if mask is not None and mask.any():
        rows[mask] = np.nan  # the number under a mask is not a value
    return rows, None


def _cells(name: str | int, cells: np.ndarray) -> np.ndarray:
    """Return cells of any type as numbers, or refuse the first that is none."""
    if cells.dtype.kind in "biuf" and cells.ndim == 1:
        return cells.astype(np.float64)
    if cells.dtype.kind != "O" or cells.ndim != 1:
        raise _type_error(name, cells.dtype.kind if cells.ndim == 1 else "array")
    return np.array([_number(name, cell) for cell in cells.tolist()], dtype=np.float64)


def _number(name: str | int, cell: Any) -> float:
    if cell is None or type(cell).__name__ in NO_VALUE:
        return float("nan")
    if isinstance(cell, (Real, Decimal, np.bool_)):
        try:
            return float(cell)
        except OverflowError:  # a whole number beyond the largest float
            return float("inf")
        except (TypeError, ValueError):  # numpy calls a span of time a number; a signalling NaN
            return float("nan")
    if isinstance(cell, str):
        kind = "U"
    elif isinstance(cell, Complex):
        kind = "c"
    else:
        dated = type(cell).__module__.partition(".")[0] == "datetime" or hasattr(cell, "asm8")
        kind = "M" if dated else type(cell).__name__
    raise _OfTheRows(str(_type_error(name, kind)))


def _type_error(name: str | int | None, kind: str) -> _OfItsType:
    """Return the error for a column that holds no numbers, by its name or its place; None stands for all."""
    levels, days = "Kind('category', values=(...))", "Kind('date', first, last)"
    text = ("text", "Convert it with pandas.to_numeric, drop it, or give it as labels.", levels)
    dates = ("dates or times", "Give a number with a meaning instead, such as the days since a fixed day.")
    reasons = {
        "U": text,
        "S": text,
        "M": (*dates, days),
        "m": dates,
        "c": ("complex numbers", "Give their real and imaginary parts as two columns."),
        "category": (
            "categories",
            "Give one column of 0 and 1 per category (pandas.get_dummies), or give it as labels.",
            levels,
        ),
    }
    return _OfItsType(name, *reasons.get(kind, (f"values of type {kind}", "Give numbers.")))


def _to_declare(problems: list[_OfItsType]) -> str:
    """Return all refusals of a private table, and how its columns are declared: rows must not tell public levels."""
    text = " ".join(problem.held + ("" if problem.declare else problem.remedy) for problem in problems)
    kinds = ", ".join(problem.declare for problem in problems if problem.declare)
    how = f"Declare the kind of every column with public levels and bounds: kinds={{{kinds}, ...}}; or drop the column."
    return " ".join([text.strip(), *([how] if kinds else [])]).replace("  ", " ")


def _ragged(X: Any) -> NoReturn:
    sizes = [len(row) if hasattr(row, "__len__") else 0 for row in X]
    odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), 0)
    if odd:
        raise _OfTheRows(
            f"X must have rows of one length, but row {odd} has {sizes[odd]} cells and row 0 has {sizes[0]}."
        )
    raise _OfTheRows("X must be a table of n rows and d columns, but a cell of it holds several values.")


def _remedy(X: Any) -> str:
    """Return what to do with something that is no table, as a sentence after a blank."""
    if isinstance(X, dict):
        return " Give pandas.DataFrame(X)."
    if isinstance(X, str) or hasattr(X, "__fspath__"):
        return " A file of public rows is read by pandas.read_csv, one of private rows by PrivateDataset.from_files."
    if hasattr(X, "collect"):
        return " Give X.collect()."
    return " Give list(X)." if hasattr(X, "__next__") else ""
