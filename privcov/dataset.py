"""A data set whose rows may be looked at: synthetic, or declared public. Maybe with a known truth.

Nothing here accepts rows as private. Bounds are public facts that come from outside the rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from privcov import checks
from privcov.units import InUnits, Units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from privcov.table_files import TableFiles
    from privcov.table_files.reading import Paths

T = TypeVar("T")
# Called while a table in files is read, from whichever thread reads: (rows read, rows in all, seconds so far).
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, eq=False)
class Truth:
    """What a generator knows: the population covariance, in the data's units; the mean is zero.

    precision: its inverse. graph: d x d bool, True where the precision is non-zero off the diagonal, or None.
    """

    covariance: np.ndarray
    precision: np.ndarray | None = None
    graph: np.ndarray | None = None


class RowsInFiles(TypeError):
    """A step wanted rows in memory, and the table is in files."""


class Kept:
    """What was computed from the rows of a data set, each thing once; never part of what the data set is.

    Data sets that differ in their row bound alone share it, so what depends on the bound has it in its key. Each key
    belongs to the one function that computes it.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What is kept under the key; computed when it is asked for first."""
        if key not in self._found:
            self._found[key] = compute()
        return self._found[key]

    def forget(self) -> None:
        """Compute everything again when it is asked for."""
        self._found.clear()


class FileRows:
    """Stands where the rows of a table in files would be: it knows their shape, and refuses everything else.

    table: a `privcov.table_files.TableFiles`. shape: (rows that count, columns). missing: the rule for missing cells of
    public rows, "" or "drop-row". private_pass: (facts, secrets, sums) of the one pass over private rows; it
    belongs to `privcov.measurements`.
    """

    def __init__(
        self, table: TableFiles, shape: tuple[int, int], progress: Progress | None = None, missing: str = ""
    ) -> None:
        self.table, self.shape, self.progress, self.missing = table, shape, progress, missing
        self.private_pass: tuple[Any, Any, Any] | None = None

    def _refuse(self, *_: object) -> NoReturn:
        raise RowsInFiles(
            "The rows of this table stay in their files: only methods that need its one moment work on it. "
            "Where it fits into memory, read the columns and use from_rows."
        )

    __array__ = __getitem__ = __len__ = __iter__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


@dataclass(frozen=True, eq=False)
class Dataset(InUnits):
    """n rows of d numbers that need no protection, with the public facts a private measurement would use.

    graphs: published reference networks by name, each d x d bool, symmetric, False on the diagonal; not a truth.
    classes: public list of the names that labels may have, or () to take the distinct labels of these public rows.

    units: its working units; ``row_bound``, ``bounds``, ``origin`` and ``scale`` are theirs. Make one with `from_rows`
    or `privcov.source`.
    """

    rows: np.ndarray | FileRows
    units: Units
    columns: tuple[str, ...]
    name: str
    provenance: str
    labels: np.ndarray | None
    truth: Truth | None
    mean_is_zero: bool
    graphs: Mapping[str, np.ndarray] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    kept: Kept = field(default_factory=Kept, repr=False)

    @classmethod
    def from_rows(
        cls,
        X: ArrayLike,
        row_bound: float | None = None,
        bounds: ArrayLike | None = None,
        labels: Sequence[Any] | np.ndarray | None = None,
        columns: Iterable[object] | None = None,
        truth: Truth | None = None,
        *,
        typical: ArrayLike | None = None,
        mean_is_zero: bool = False,
        graphs: Mapping[str, np.ndarray] | None = None,
        classes: Iterable[object] | None = None,
        name: str = "rows",
        provenance: str = "public",
    ) -> Dataset:
        """A data set from an array.

        X:            n x d, finite numbers; copied, never modified.
        row_bound:    R > 0, Euclidean norm in working units beyond which a row is scaled down. Default: 1.0,
                      or sqrt(d) when bounds are given (then no row can exceed it).
        bounds:       d x 2, public lower and upper limit per column; values beyond are clipped.
        typical:      d public typical values inside the bounds (default: the middle); they become the origin,
                      which keeps the mean small at no privacy cost.
        labels:       n labels or None. columns: d names or None.
        mean_is_zero: True only where the mean is publicly known to be zero (a generator's own fact).
        graphs:       published reference networks by name (see the class), for example of a textbook.
        classes:      the public list of class names, for ``release(..., centre="classes")``; None takes the distinct
                      labels, which private rows would not allow.
        provenance:   "simulated" or "public"; every chart repeats it.
        """
        rows = np.array(X, dtype=np.float64, order="C", copy=True)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"X must be a table of n rows and d columns, got shape {rows.shape}.")
        if not np.isfinite(rows).all():
            bad = np.flatnonzero(~np.isfinite(rows).all(axis=0))
            raise ValueError(
                f"X must be finite, but columns {bad[:8].tolist()} hold missing or infinite values. "
                "Drop those rows or replace them by a fixed public value first."
            )
        n, d = rows.shape
        rows.flags.writeable = False
        names = tuple(map(str, columns)) if columns is not None else tuple(f"x{j + 1}" for j in range(d))
        if len(names) != d:
            raise ValueError(f"columns must name all {d} columns, got {len(names)} names.")
        if labels is not None and len(labels) != n:
            raise ValueError(f"labels must have one entry per row ({n}), got {len(labels)}.")
        return cls(
            rows=rows,
            units=_units(names, row_bound, bounds, typical, mean_is_zero),
            columns=names,
            name=name,
            provenance=checks.one_of("provenance", provenance, ("simulated", "public")),
            labels=None if labels is None else np.array(labels, copy=True),
            truth=truth,
            mean_is_zero=bool(mean_is_zero),
            graphs=dict(graphs or {}),
            classes=tuple(map(str, classes or ())),
        )

    @classmethod
    def from_files(
        cls,
        paths: Paths,
        row_bound: float | None = None,
        bounds: ArrayLike | None = None,
        label: str = "",
        columns: Sequence[str] | None = None,
        *,
        classes: Iterable[object] | None = None,
        typical: ArrayLike | None = None,
        missing: str = "",
        mean_is_zero: bool = False,
        name: str = "files",
        provenance: str = "public",
        progress: Progress | None = None,
    ) -> Dataset:
        """A data set that stays in its files: CSV (plain or gz), Parquet, Arrow; one, many, a folder or a pattern.

        Only headers and the number of rows are read here. The numbers are read in one pass, block by block, when a
        method first asks for the moment, and again for another row bound; the moment is that of `from_rows` within
        2^-20 per entry in unit-ball units (usually far closer); its bits do not depend on how the rows lie in files.

        label:    column of class names, with ``classes``, their public list.
        columns:  names to use; None takes all columns of the first file but the label.
        missing:  "" refuses missing and infinite cells; "drop-row" leaves such rows out, and reads the numbers once
                  more, for their number.
        progress: called with (rows read, rows in all, seconds). The rest: see `from_rows`.
        Raises TableFileError (a ValueError) for files that cannot be read as they should.
        """
        from privcov import table_files

        if bool(label) != bool(classes):
            raise ValueError("A label in files needs classes=[...], the list of its names, and classes need a label.")
        table = table_files.count_rows(table_files.describe(paths, columns=columns, label=label or None), private=False)
        units = _units(table.columns, row_bound, bounds, typical, mean_is_zero)
        n = _whole_rows(table) if checks.one_of("missing", missing, ("", "drop-row")) else table.n
        if not n:
            raise ValueError("The files hold no row without a missing cell. Give other files or columns.")
        named = tuple(map(str, classes or ()))
        return cls(
            rows=FileRows(table, (n, len(table.columns)), progress, missing),
            units=units,
            columns=table.columns,
            name=name,
            provenance=checks.one_of("provenance", provenance, ("simulated", "public")),
            labels=None,
            truth=None,
            mean_is_zero=bool(mean_is_zero),
            classes=named,
        )

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.rows.shape[1]

    def with_row_bound(self, row_bound: float) -> Dataset:
        """The same rows under another R; what was computed from the rows is shared, not computed again."""
        bound = checks.positive("row_bound", row_bound, "Choose it from domain knowledge, not from the data.")
        return dataclasses.replace(self, units=self.units.with_row_bound(bound))

    def to_working(self, block: slice = slice(None)) -> np.ndarray:
        """Rows in working units (before the row bound), as a new array."""
        rows = self.rows[block]
        return rows.copy() if self.bounds is None else self.units.to_working(rows)


def _units(
    names: tuple[str, ...],
    row_bound: float | None,
    bounds: ArrayLike | None,
    typical: ArrayLike | None,
    mean_is_zero: bool,
) -> Units:
    """The units as declared, or as they are without a declaration."""
    d, origin, limits = len(names), np.zeros(len(names)), None
    if bounds is not None:
        limits = _check_bounds(bounds, names)
        origin = limits.mean(axis=1) if typical is None else np.asarray(typical, dtype=np.float64)
        if origin.shape != (d,):
            raise ValueError(f"typical must hold one value per column ({d}), got shape {origin.shape}.")
        inside = (limits[:, 0] <= origin) & (origin <= limits[:, 1])  # false for NaN
        if not inside.all():
            where = ", ".join(np.array(names)[~inside][:5])
            raise ValueError(f"typical must hold one value inside the bounds per column; check {where}.")
    elif typical is not None:
        raise ValueError("typical needs bounds: without bounds the origin is zero.")
    if mean_is_zero and origin.any():
        raise ValueError(
            "mean_is_zero says the mean is publicly zero, so typical must be 0 for every column. "
            "Set typical to zeros, or leave mean_is_zero out."
        )
    if row_bound is None:
        row_bound = 1.0 if limits is None else float(np.sqrt(d))
    checks.positive("row_bound", row_bound, "Choose it from domain knowledge, not from the data.")
    return Units.unbounded(d, float(row_bound)) if limits is None else Units.within(limits, origin, float(row_bound))


def _check_bounds(bounds: ArrayLike, names: tuple[str, ...]) -> np.ndarray:
    b = np.array(bounds, dtype=np.float64, copy=True)
    if b.shape != (len(names), 2):
        raise ValueError(f"bounds must have shape ({len(names)}, 2), (low, high) per column, got {b.shape}.")
    if not np.isfinite(b).all():
        raise ValueError("bounds must be finite. Choose them from domain knowledge, not from the data.")
    for name, (low, high) in zip(names, b, strict=True):
        if low >= high:
            raise ValueError(f"The bounds of {name!r} must satisfy low < high, got {low:g} and {high:g}.")
    return b


def _whole_rows(table: TableFiles) -> int:
    """Number of rows of a table in files without a missing or infinite cell."""
    from privcov import engine, table_files

    tasks = [(part, table.columns, table.label) for part in table_files.parts_of(table)]
    return sum(count for _, count in engine.each(_whole_rows_of, tasks, threads=True))


def _whole_rows_of(task: tuple) -> int:
    from privcov.table_files import blocks_of

    part, columns, label = task
    blocks = blocks_of(part, columns, label, private=False)
    return sum(int(np.isfinite(block.cells).all(axis=0).sum()) for block in blocks)
