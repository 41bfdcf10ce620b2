"""A data set whose rows need no protection: simulated, with a known truth, or declared public."""

from __future__ import annotations

import dataclasses
import threading
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import numpy as np

from privcov.core import checks
from privcov.tables import in_memory
from privcov.tables.declared_columns import Kinds, kept_kinds, measured_names, typed_columns, typed_units, working_units
from privcov.tables.units import InUnits, Units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from privcov.tables.persons_in_files import PartIds
    from privcov.tables.readers import TableFiles
    from privcov.tables.readers.kinds import Kind

    # Public limits of the columns, in order or by name.
    Limits = ArrayLike | Mapping[str, tuple[float, float]]

T = TypeVar("T")
# Called while a table in files is read, from the thread that reads: (rows read, rows in all, seconds so far).
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, eq=False)
class Truth:
    """The population that a generator draws from, in the data's units.

    Attributes
    ----------
    covariance : ndarray of shape (d, d)
        The population covariance.
    precision : ndarray of shape (d, d) or None
        Its inverse.
    graph : ndarray of bool of shape (d, d) or None
        True where the precision is non-zero off the diagonal.
    mean : ndarray of shape (d,) or None
        The population mean; None where it is zero.

    Examples
    --------
    >>> import privcov
    >>> truth = privcov.source("ar1-covariance", n=100, d=3, random_state=0).truth
    >>> print(truth.covariance.round(2))
    [[1.   0.6  0.36]
     [0.6  1.   0.6 ]
     [0.36 0.6  1.  ]]
    """

    covariance: np.ndarray
    precision: np.ndarray | None = None
    graph: np.ndarray | None = None
    mean: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", checks.square("covariance", self.covariance))


class RowsClippedWarning(UserWarning):
    """Rows of a data set without a bound are longer than R = 1, so that a release sees them scaled down.

    Examples
    --------
    >>> import warnings
    >>> import privcov
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", privcov.RowsClippedWarning)
    ...     try:
    ...         privcov.Dataset.from_rows([[0.1, 0.2], [3.0, 4.0]])
    ...     except privcov.RowsClippedWarning as said:
    ...         print(str(said)[:76])
    No row_bound and no bounds were given, so R = 1: 50 % of the rows are longer
    """


class RowsInFiles(TypeError):
    """Raised where rows are needed in memory and the table is in files."""


class ValueCache:
    """A store of values that were computed from the rows of a data set, so that each is computed once.

    Data sets that differ only in their row bound share one store. The key of a value that depends on the row bound
    contains the row bound.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value under the key, computed at the first call."""
        if key not in self._values:
            self._values[key] = compute()
        return self._values[key]

    def forget(self) -> None:
        """Drop all values; they are computed again when they are needed."""
        self._values.clear()


class FileRows:
    """Placeholder for the rows of a table in files: it has their shape, and raises RowsInFiles for everything else.

    shape: number of rows, without those left out, and of columns. progress: called with (rows read, rows in all,
    seconds so far), from the thread that reads.

    private_pass: the last pass over private rows, for `privcov.measurements` alone.
    alone: a lock. A release holds it, so that it measures the same sums that its fingerprint was made of.
    persons: the number of rows of every id, for each part of the table (`privcov.tables.persons_in_files`); None
    without ids.
    """

    def __init__(self, table: TableFiles, shape: tuple[int, int], progress: Progress | None = None) -> None:
        self.table, self.shape, self.progress = table, shape, progress
        self.private_pass: Any = None
        self.alone = threading.RLock()
        self.persons: tuple[PartIds, ...] | None = None

    def _refuse(self, *_: object) -> NoReturn:
        raise RowsInFiles(
            "The rows of this table stay in their files, for `release_private` alone. Where it fits into memory, read "
            "the columns and use from_rows."
        )

    __array__ = __getitem__ = __len__ = __iter__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


@checks.explain_arguments
@dataclass(frozen=True, eq=False)
class Dataset(InUnits):
    """Rows that need no protection, from `from_rows` or `privcov.source`, with their public facts.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        The rows, in the data's units; a placeholder where they stay in files.
    units : Units
        The working units; ``row_bound``, ``bounds``, ``origin`` and ``scale`` are theirs.
    columns : tuple of str
        Names of the d columns.
    name : str
        Name of the data set.
    provenance : str
        "simulated" or "public".
    labels : ndarray of shape (n,) or None
        One label per row.
    truth : Truth or None
        The population, where it is known.
    mean_is_zero : bool
        True where the mean is publicly known to be zero.
    graphs : Mapping of str to ndarray
        Published reference networks by name, each d x d bool, symmetric, False on the diagonal. They are not the truth.
    classes : tuple of str
        Public list of the names that labels may have; () stands for the distinct labels of the rows.
    kinds : tuple of (str, Kind)
        Name and kind of every declared column; () where all are plain numbers.
    cache : ValueCache
        Values that were computed from the rows.

    Examples
    --------
    >>> import privcov
    >>> ds = privcov.Dataset.from_rows([[0.1, 0.2], [0.3, -0.1]], row_bound=1.0, columns=["a", "b"])
    >>> ds.n, ds.d, ds.columns
    (2, 2, ('a', 'b'))
    """

    rows: np.ndarray
    units: Units
    columns: tuple[str, ...]
    name: str
    provenance: str
    labels: np.ndarray | None
    truth: Truth | None
    mean_is_zero: bool
    graphs: Mapping[str, np.ndarray] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    kinds: Kinds = ()
    cache: ValueCache = field(default_factory=ValueCache, repr=False)

    @classmethod
    @checks.explain_arguments
    def from_rows(
        cls,
        X: ArrayLike,
        row_bound: float | None = None,
        bounds: Limits | None = None,
        labels: Sequence[Any] | np.ndarray | None = None,
        columns: Iterable[object] | None = None,
        truth: Truth | None = None,
        *,
        typical: ArrayLike | Mapping[str, float] | None = None,
        mean_is_zero: bool = False,
        graphs: Mapping[str, np.ndarray] | None = None,
        classes: Iterable[object] | None = None,
        name: str = "rows",
        provenance: str = "public",
        kinds: Mapping[str, Kind] | None = None,
        missing_codes: Iterable[object] = (),
        missing: Literal["", "drop-row", "typical"] = "",
    ) -> Dataset:
        """Make a data set from an array or a data frame.

        Parameters
        ----------
        X : array-like of shape (n, d) or data frame
            Finite numbers, and NaN under a rule for ``missing``; copied, never modified. A data frame of pandas, polars
            or Arrow gives its names.
        row_bound : float or None
            R > 0, Euclidean norm in working units beyond which a row is scaled down. Default: sqrt(d) when bounds are
            given (then no row can exceed it), else 1.0, with a `RowsClippedWarning` where a row exceeds it.
        bounds : array-like of shape (d, 2), mapping of column to (low, high), or None
            Public lower and upper limit per column; values beyond are clipped. A mapping names every column.
        labels : sequence of length n or None
            One label per row.
        columns : iterable of d different names or None
            Default: the names of the data frame, else x1, x2, ...
        truth : Truth or None
            The population, where it is known.
        typical : array-like of shape (d,), mapping of column to value, or None
            Public typical values inside the bounds (default: the middle); they become the origin, which keeps the mean
            small at no privacy cost.
        mean_is_zero : bool
            True only where the mean is publicly known to be zero (a generator's own fact).
        graphs : Mapping of str to ndarray or None
            Published reference networks by name (see the class), for example of a textbook.
        classes : iterable of names or None
            The public list of class names, for ``release(..., centre="classes")``. None takes the distinct labels,
            which is not possible for private rows.
        name : str
            Name of the data set.
        provenance : {"simulated", "public"}
            Whether the rows were drawn or are published.
        kinds : mapping of str to Kind, or None
            Kind of every column to measure, instead of ``bounds``, for cells of any type: see
            `privcov.tables.readers.kinds.Kind`. The data set then has the columns that follow from them.
        missing_codes : iterable
            What is written for a missing cell in any column, with ``kinds``, or with ``bounds`` and ``columns``.
        missing : {"", "drop-row", "typical"}
            What becomes of a row with missing cells, as in a private declaration: it is refused, left out, or its cells
            count as the typical value.

        Returns
        -------
        Dataset
            Its rows are a read-only copy.

        Raises
        ------
        ValueError
            For rows, bounds, names or labels that do not fit.

        Warns
        -----
        RowsClippedWarning
            Without a bound, with the share of the rows that R = 1 scales down.
        """
        column_names = in_memory.names_in(X) if columns is None and kinds is None and missing_codes else columns
        given = None if column_names is None or isinstance(column_names, str) else tuple(map(str, column_names))
        column_kinds = typed_columns(kinds, missing_codes, given, bounds, typical, None)  # type: ignore[arg-type] # later
        if column_kinds:
            from privcov.tables.readers.coding import coded_table

            rows, own = coded_table(X, column_kinds), measured_names(column_kinds)
        else:
            rows, own = in_memory.numbers_of(X)
        n, d = rows.shape
        if truth is not None and (not isinstance(truth, Truth) or truth.covariance.shape != (d, d)):
            raise ValueError(f"truth must be a privcov.Truth of {d} columns, got {type(truth).__name__}.")
        names = own if column_kinds and own else names_of(columns, own, d)
        if 0 in rows.shape:
            raise ValueError(f"X must be a table of n rows and d columns, got shape {rows.shape}.")
        if labels is not None and (isinstance(labels, str) or len(labels) != n):
            text = f"the text {labels!r}. Give the column itself" if isinstance(labels, str) else len(labels)
            raise ValueError(f"labels must have one entry per row ({n}), got {text}.")
        units = _units(names, row_bound, bounds, typical, mean_is_zero, column_kinds)
        if column_kinds and (empty := np.flatnonzero(np.isnan(rows).all(axis=0))).size:
            raise ValueError(f"No cell of {names[empty[0]]!r} is of its kind. Write levels as the cells have them.")
        if checks.one_of("missing", missing, ("", "drop-row", "typical")) == "typical":
            rows = np.where(np.isnan(rows), units.origin, rows)
        elif missing:
            whole = ~np.isnan(rows).any(axis=1)
            rows = rows[whole]
            labels = None if labels is None else np.asarray(labels)[whole]
            if not len(rows):
                raise ValueError(
                    "Every row has a missing cell, so none is left. A text that is no declared level is one: check "
                    "kinds. Else take missing='typical'."
                )
        if not np.isfinite(rows).all():
            bad = np.flatnonzero(~np.isfinite(rows).all(axis=0))[:8].tolist()
            problem, remedy = "missing or infinite values", "Take missing='drop-row' or 'typical' for missing ones."
            if missing:
                problem, remedy = "infinite values", "Correct them, or put numpy.nan where they are missing."
            where = [names[j] for j in bad] if own or columns is not None else bad
            raise ValueError(f"X must be finite, but columns {where} hold {problem}. {remedy}")
        rows.flags.writeable = False
        if row_bound is None and bounds is None and not column_kinds:
            _warn_if_clipped(rows)
        return cls(
            rows=rows,
            units=units,
            columns=names,
            name=name,
            provenance=checks.one_of("provenance", provenance, ("simulated", "public")),
            labels=None if labels is None else np.array(labels, copy=True),
            truth=truth,
            mean_is_zero=bool(mean_is_zero),
            graphs=dict(graphs or {}),
            classes=tuple(map(str, classes or ())),
            kinds=kept_kinds(column_kinds),
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy or a pickle, and make its rows read-only."""
        vars(self).update(state)
        self.rows.flags.writeable = False

    def __repr__(self) -> str:
        names = ", ".join(self.columns[:4]) + (", ..." if self.d > 4 else "")
        return f"Dataset({self.name!r}, {self.provenance}, n={self.n}, d={self.d}, R={self.row_bound:.6g}: {names})"

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.rows.shape[1]

    def with_row_bound(self, row_bound: float) -> Dataset:
        """Return the same rows under another R, with the same store of computed values."""
        return dataclasses.replace(self, units=self.units.with_row_bound(_bound(row_bound)))

    def to_working(self, block: slice = slice(None)) -> np.ndarray:
        """Return rows in working units (before the row bound), as a new array."""
        rows = self.rows[block]
        return rows.copy() if self.bounds is None else self.units.to_working(rows)


def names_of(columns: Iterable[object] | None, own: tuple[str, ...] | None, d: int) -> tuple[str, ...]:
    """Return the names of the columns: those given, else the table's own, else x1, x2, ..."""
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got the text {columns!r}. Write columns=[{columns!r}].")
    names = own or tuple(f"x{j + 1}" for j in range(d))
    if columns is not None:
        names = tuple(map(str, columns))
    if own and names != own and sorted(names) == sorted(own):
        raise ValueError(f"columns renames, and here has the table's own names in another order. Take X[{[*names]}].")
    if len(names) != d:
        raise ValueError(f"columns must name all {d} columns, got {len(names)} names.")
    if not all(map(str.strip, names)):
        raise ValueError("columns must have names, but one is empty. Name it, or give columns=[...].")
    if len(set(names)) < d:
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(
            f"columns must have different names, but {twice!r} comes twice. Rename one, or give columns=[...]."
        )
    return names


def _warn_if_clipped(rows: np.ndarray) -> None:
    """Warn of rows beyond the R = 1 of a data set without a bound, with their share."""
    with np.errstate(over="ignore"):  # a length beyond the largest number is beyond R as well
        clipped = float(np.mean(np.linalg.norm(rows, axis=1) > 1.0))
    if clipped:
        warnings.warn(
            f"No row_bound and no bounds were given, so R = 1: {100 * clipped:.3g} % of the rows are longer and are "
            "scaled down to norm 1, and a release describes the scaled rows. Give bounds={column: (low, high)} or "
            "row_bound from what is publicly known; row_bound=1 keeps these numbers.",
            RowsClippedWarning,
            stacklevel=4,  # the caller, behind checks.explain_arguments
        )


def _units(
    names: tuple[str, ...],
    row_bound: float | None,
    bounds: Limits | None,
    typical: ArrayLike | Mapping[str, float] | None,
    mean_is_zero: bool,
    column_kinds: Kinds = (),
) -> Units:
    if not column_kinds and bounds is None:
        if typical is not None:
            raise ValueError("typical needs bounds: without bounds the origin is zero.")
        return Units.unbounded(len(names), 1.0 if row_bound is None else _bound(row_bound))
    # without kinds there are bounds, which are checked there
    units = typed_units(column_kinds) if column_kinds else working_units(names, None, bounds, typical)  # type: ignore[arg-type]
    if mean_is_zero and units.origin.any():
        raise ValueError(
            "mean_is_zero says the mean is publicly zero, so typical must be 0 for every column. "
            "Set typical to zeros, or leave mean_is_zero out."
        )
    return units if row_bound is None else units.with_row_bound(_bound(row_bound))


def _bound(row_bound: float) -> float:
    return float(checks.positive("row_bound", row_bound, "Choose it from domain knowledge, not from the data."))
