"""Rows that must be protected: only the exact measurement reads them.

Nothing here holds a truth, and nothing here can be asked for an error, a tuning or a number of rows that is not public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from privcov import checks
from privcov.dataset import FileRows, Progress
from privcov.public_facts import (
    MOST_COLUMNS,
    MOST_FILE_ROWS,
    MOST_ROWS,
    Bounds,
    PublicFacts,
    class_names,
    classes_of_rows,
    declared,
    working_units,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from privcov.table_files.reading import Paths

RELEASE_PRIVATE = (
    "privcov.release_private"  # what every door that takes public rows names to whoever brings private ones
)


@dataclass(frozen=True, eq=False, repr=False)
class PrivateDataset:
    """A table whose rows are only ever touched by the exact measurement. Make one with `from_rows` or `from_files`.

    Its repr shows public facts only. Private: the rows and the class of each, read by the measurement and, keyed with
    a secret, by the ledger's fingerprint; nothing else names them. files: stands for the rows where they stay in files.
    """

    facts: PublicFacts
    name: str
    _rows: np.ndarray | FileRows = field(repr=False)
    _class_of: np.ndarray | None = field(repr=False)
    files: FileRows | None = field(default=None, repr=False)

    @classmethod
    def from_rows(
        cls,
        X: ArrayLike,
        row_bound: float | None = None,
        bounds: Bounds | None = None,
        labels: Sequence[object] | np.ndarray | None = None,
        columns: Iterable[object] | None = None,
        n_public: bool = True,
        *,
        rows_per_person: int = 1,
        typical: Sequence[float | None] | np.ndarray | None = None,
        classes: Iterable[object] | None = None,
        missing: str = "typical",
        name: str = "private",
    ) -> PrivateDataset:
        """A private table from an array.

        X:         n x d numbers; missing (NaN) and infinite cells are treated by the declared rule. Copied.
        row_bound: R > 0, Euclidean norm to which longer rows are scaled down. Exactly one of row_bound and bounds.
        bounds:    d x 2, public lower and upper limit of every column; R is then sqrt(d) half-ranges.
        labels:    n labels or None; they are part of the row. classes: the public list of their names, required with
                   labels. A row whose label is missing or not in the list counts as no row at all; where that can
                   happen, put such a class in the list and in the labels.
        columns:   d names or None. typical: d public values inside the bounds (default: the middle).
        n_public:  True: the number of rows is public and stated. False: it stays hidden, and a noisy count is measured.
        rows_per_person: most rows one person has. missing: see `PublicFacts`. name: how the ledger knows the table.
        Raises ValueError for a missing bound or list, with the sentence that fixes it; never for what a cell holds.
        """
        try:
            rows = np.array(X, dtype=np.float64, order="C", copy=True)
        except (ValueError, TypeError):
            raise ValueError("X must hold numbers only; a cell that is none must be missing (NaN).") from None
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError("X must be a table of at least one row and one column.")
        if len(rows) > MOST_ROWS or rows.shape[1] > MOST_COLUMNS:
            raise ValueError(f"X may have up to {MOST_ROWS:,} rows and {MOST_COLUMNS} columns. Keep fewer.")
        rows.flags.writeable = False
        d = rows.shape[1]
        names = tuple(map(str, columns)) if columns is not None else tuple(f"x{j + 1}" for j in range(d))
        if len(names) != d or len(set(names)) < d:
            raise ValueError(f"columns must name all {d} columns, each differently.")
        listed, class_of = classes_of_rows(labels, classes, len(rows))
        units = working_units(names, row_bound, bounds, typical)
        facts = declared(names, units, listed, len(rows), n_public, rows_per_person, missing)
        return cls(facts, _name(name), rows, class_of)

    @classmethod
    def from_files(
        cls,
        paths: Paths,
        row_bound: float | None = None,
        bounds: Bounds | None = None,
        label: str = "",
        columns: Sequence[str] | None = None,
        n_public: bool = True,
        *,
        rows_per_person: int = 1,
        typical: Sequence[float | None] | np.ndarray | None = None,
        classes: Iterable[object] | None = None,
        missing: str = "typical",
        name: str = "private",
        progress: Progress | None = None,
    ) -> PrivateDataset:
        """A private table that stays in its files: CSV (plain or gz), Parquet, Arrow; one, many, a folder or a pattern.

        Only headers and the number of rows are read here. The numbers are read once, when a release first asks for
        them, before anything is reserved in the ledger: an interruption or a file that changed spends nothing.

        label: column of the labels, with ``classes``. columns: names to use; None takes all columns of the first file
        but the label, a list keeps to what was declared. progress: called with (rows read, rows in all, seconds); both
        numbers are private where ``n_public`` is False. The rest: see `from_rows`.
        Raises TableFileError (a ValueError) for files that cannot be read, never for what a cell holds.
        """
        from privcov import table_files

        if bool(label) != bool(classes):
            raise ValueError("A label in files needs classes=[...], the public list of its names, and classes a label.")
        table = table_files.count_rows(table_files.describe(paths, columns=columns, label=label or None), private=True)
        names = table.columns
        assert table.n is not None, "count_rows counts every file"
        if len(names) > MOST_COLUMNS or not 0 < table.n <= MOST_FILE_ROWS:
            raise ValueError(
                f"The files may hold 1 to {MOST_FILE_ROWS:,} rows and {MOST_COLUMNS} columns. Choose fewer."
            )
        units = working_units(names, row_bound, bounds, typical)
        listed = class_names(classes) if classes else ()
        facts = declared(names, units, listed, table.n, n_public, rows_per_person, missing)
        files = FileRows(table, (table.n, len(names)), progress)
        return cls(facts, _name(name), files, None, files)

    if not TYPE_CHECKING:  # to a type checker an unknown name stays an error

        def __getattr__(self, name: str):
            """What takes this for a `Dataset` asks for its rows, its truth or its units, and is told the way."""
            raise AttributeError(f"A PrivateDataset has no {name!r}: its rows are for {RELEASE_PRIVATE} alone.")

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError(f"A PrivateDataset is no array of numbers: its rows are for {RELEASE_PRIVATE} alone.")

    def __repr__(self) -> str:
        f = self.facts
        size = f"n={f.n}" if f.n is not None else "n not public"
        return f"PrivateDataset({self.name!r}, {size}, d={f.d}, row_bound={f.row_bound:.6g})"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("A PrivateDataset is never written out: keep the file it came from and its declaration.")


def _name(given: object) -> str:
    return checks.words("name", given, "the words by which the ledger knows the table. Give it one")
