"""A table whose rows must be protected, with its public declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from privcov.core import checks
from privcov.tables import in_memory
from privcov.tables.dataset import FileRows, Progress, names_of
from privcov.tables.declared_columns import (
    MAX_COLUMNS,
    Bounds,
    Kinds,
    Typical,
    kept_kinds,
    measured_names,
    typed_columns,
    typed_units,
    working_units,
)
from privcov.tables.persons import rows_of_persons
from privcov.tables.public_facts import (
    MAX_FILE_ROWS,
    MAX_ROWS,
    PublicFacts,
    check_person,
    class_names,
    classes_of_rows,
    counted_persons,
    make_facts,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from privcov.tables.readers import Dialect
    from privcov.tables.readers.kinds import Kind
    from privcov.tables.readers.reading import Paths
    from privcov.tables.units import Units

RELEASE_PRIVATE = "privcov.release_private"  # named by every function for public rows that is given private ones


@checks.explain_arguments
@dataclass(frozen=True, eq=False, repr=False)
class PrivateDataset:
    """A table of private rows, with the public facts that were declared about it.

    Make one with `from_rows` or `from_files`. Its repr shows public facts only. The rows, the class of each and the
    number of rows of its person are private. Three things use them: the exact measurement, the ledger's fingerprint
    (keyed hashes that stay in the ledger), and the exact answers for the owner's screen, in `privcov.steward`.

    Attributes
    ----------
    facts : PublicFacts
        What is publicly declared about the table.
    name : str
        Name of the table in the ledger.
    files : FileRows or None
        Placeholder for the rows where they stay in files, else None.

    Examples
    --------
    >>> import privcov
    >>> import pandas
    >>> frame = pandas.DataFrame({"smokes": [False, True], "age": [42, 35]})
    >>> privcov.PrivateDataset.from_rows(frame, bounds={"age": (18, 90), "smokes": (0, 1)}, name="survey")
    PrivateDataset('survey', n=2, d=2, row_bound=1.41421)
    """

    facts: PublicFacts
    name: str
    _rows: np.ndarray | FileRows = field(repr=False)
    _class_of: np.ndarray | None = field(repr=False)
    files: FileRows | None = field(default=None, repr=False)
    _rows_of_person: np.ndarray | None = field(default=None, repr=False)  # k of every row; 0 without an id
    _person_of: np.ndarray | None = field(default=None, repr=False)  # a hash of the id of every row; 0 without one

    @classmethod
    @checks.explain_arguments
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
        typical: Typical | None = None,
        classes: Iterable[object] | None = None,
        missing: Literal["drop-row", "typical", "pairs"] = "typical",
        row_bound_fraction: float = 1.0,
        name: str = "private",
        persons: Sequence[object] | np.ndarray | None = None,
        person: str = "",
        kinds: Mapping[str, Kind] | None = None,
        missing_codes: Iterable[object] = (),
    ) -> PrivateDataset:
        """Make a private table from an array or a data frame.

        Parameters
        ----------
        X : array-like of shape (n, d) or data frame
            Numbers; missing (NaN, None, masked) and infinite cells follow the rule ``missing``. Copied, never modified.
            A data frame of pandas, polars or Arrow gives its names. With ``person`` and without ``persons`` it has a
            column of ids beside the numbers. With ``kinds`` cells of any type, of a data frame by the names of its
            columns.
        row_bound : float or None
            R > 0, Euclidean norm to which longer rows are scaled down. Exactly one of row_bound and bounds is given.
        bounds : sequence of (float, float), mapping of column to (low, high), or None
            Public lower and upper limit of every column; R is then sqrt(d) half-ranges times ``row_bound_fraction``. A
            mapping names every column.
        labels : sequence of length n or None
            Labels are part of the row. A row whose label is missing or not in ``classes`` is left out of the sums; to
            keep such rows, give them a class of their own, in the list and in the labels.
        columns : iterable of d names or None
            Default: the names of the data frame (without the column of ids), else x1, x2, ...; with ``kinds`` those.
        n_public : bool
            True: the number of rows is public and stated. False: it stays hidden, and a noisy count is measured. With
            ids it is the number of persons.
        rows_per_person : int
            Largest number of rows of one person, who is protected with all of them.
        typical : sequence of (float or None), mapping of column to value, or None
            Public values inside the bounds (default: the middle).
        classes : iterable of names or None
            The public list of the names of labels, required with labels.
        missing : {"typical", "drop-row", "pairs"}
            See `PublicFacts`.
        row_bound_fraction : float
            With bounds, R as a fraction of sqrt(d) half-ranges, from 1e-6 to 1. Longer rows are shortened to it, and
            the noise falls with its square: take it from what is known of the columns, never from the rows.
        name : str
            Name of the table in the ledger.
        persons : sequence of length n or None
            The id of each row's person, see `privcov.tables.persons`. A person is protected with all rows, however
            many; a row without an id counts as no row.
        person : str
            Name of the column of ids, of a DataFrame or for the statement; default "persons" where there are ids.
        kinds : mapping of str to Kind, or None
            Kind of every column to measure, instead of ``bounds``: see `privcov.tables.readers.kinds.Kind`. The table
            then has the columns that follow from them, such as one for each level of a category.
        missing_codes : iterable
            What is written for a missing cell in any column, with ``kinds`` or ``bounds``, such as "-9".

        Returns
        -------
        PrivateDataset
            The table.

        Raises
        ------
        ValueError
            For a missing bound or list, with the remedy; never because of the number in a cell.
        """
        if person and persons is None:
            X, persons = in_memory.split(X, person)
        column_names = in_memory.names_in(X) if columns is None and kinds is None and missing_codes else columns
        column_kinds = typed_columns(kinds, missing_codes, column_names, bounds, typical, row_bound)
        if column_kinds:
            from privcov.tables.readers.coding import coded_table

            rows, own = coded_table(X, column_kinds), None
        else:
            rows, own = in_memory.numbers_of(X, private=True)
        if 0 in rows.shape:
            raise ValueError("X must be a table of at least one row and one column.")
        if len(rows) > MAX_ROWS or rows.shape[1] > MAX_COLUMNS:
            raise ValueError(f"X may have up to {MAX_ROWS:,} rows and {MAX_COLUMNS} columns. Keep fewer.")
        rows.flags.writeable = False
        d = rows.shape[1]
        own_names = () if column_kinds else names_of(columns, own, d)
        names, units, fact_kinds = _measured_columns(
            own_names, column_kinds, row_bound, bounds, typical, row_bound_fraction
        )
        class_list, class_of = classes_of_rows(labels, classes, len(rows))
        n, rows_of_person, person_of = len(rows), None, None
        if persons is not None:
            person = person or "persons"
            n, rows_of_person, person_of = rows_of_persons(persons, len(rows))
        later: dict[str, Any] = {"person": person, "row_bound_fraction": row_bound_fraction, "kinds": fact_kinds}
        facts = make_facts(names, units, class_list, n, n_public, rows_per_person, missing, **later)
        if person and n_public:
            counted_persons(n, person)
        return cls(facts, _name(name), rows, class_of, None, rows_of_person, person_of)

    @classmethod
    @checks.explain_arguments
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
        typical: Typical | None = None,
        classes: Iterable[object] | None = None,
        missing: Literal["drop-row", "typical", "pairs"] = "typical",
        row_bound_fraction: float = 1.0,
        name: str = "private",
        progress: Progress | None = None,
        person: str = "",
        dialect: Dialect | None = None,
        kinds: Mapping[str, Kind] | None = None,
        missing_codes: Iterable[object] = (),
    ) -> PrivateDataset:
        """Make a private table that stays in its files: CSV (plain or gz), Parquet, Arrow or Excel.

        Only headers and the number of rows are read here, and the ids of persons where they have a column. The numbers
        are read once for a release, before anything is reserved in the ledger: an interruption or a file that changed
        spends nothing. A search for the row bound reads them once more, after that.

        Parameters
        ----------
        paths : path, folder, pattern or list of them
            One file, many, all files of a folder, or those that match a pattern.
        row_bound : float or None
            See `from_rows`.
        bounds : sequence of (float, float), mapping of column to (low, high), or None
            See `from_rows`.
        label : str
            Column of the labels, with ``classes``.
        columns : sequence of str or None
            Names to use; None takes all columns of the first file except the label and the ids, or with ``kinds``
            those.
        n_public : bool
            See `from_rows`.
        rows_per_person : int
            See `from_rows`.
        typical : sequence of (float or None), mapping of column to value, or None
            See `from_rows`.
        classes : iterable of names or None
            The public list of the names of labels; required with ``label``.
        missing : {"typical", "drop-row", "pairs"}
            See `PublicFacts`.
        row_bound_fraction : float
            See `from_rows`.
        name : str
            Name of the table in the ledger.
        progress : callable or None
            Called with (rows read, rows in all, seconds so far). Both numbers of rows are private where ``n_public``
            is False, and wherever rows have ids.
        person : str
            Column of the ids of persons, text or numbers, see `privcov.tables.persons`. A person is protected with all
            rows, however many; a row without an id counts as no row.
        dialect : Dialect or None
            How CSV files are written; None for commas, decimal points and UTF-8. It is never taken from rows.
        kinds : mapping of str to Kind, or None
            See `from_rows`. A type of the file that a kind cannot be read from is refused; a cell that is none of its
            values is missing.
        missing_codes : iterable
            See `from_rows`; with ``bounds`` also ``columns`` are needed.

        Returns
        -------
        PrivateDataset
            The table.

        Raises
        ------
        TableFileError
            A ValueError, for files that cannot be read; never because of the number in a cell.
        ValueError
            For a missing bound or list.
        """
        from privcov.tables import readers

        if bool(label) != bool(classes):
            raise ValueError("A label in files needs classes=[...], the public list of its names, and classes a label.")
        column_kinds = typed_columns(kinds, missing_codes, columns, bounds, typical, row_bound)
        columns = [name for name, _ in column_kinds] or columns
        check_person(person, columns or (), label)
        of_kinds = tuple(kind for _, kind in kept_kinds(column_kinds))
        table = readers.describe(paths, columns, label or None, person=person, kinds=of_kinds, dialect=dialect)
        table = readers.count_rows(table, private=True)
        assert table.n is not None, "count_rows counts every file"
        if len(table.columns) > MAX_COLUMNS or not 0 < table.n <= MAX_FILE_ROWS:
            raise ValueError(f"The files may hold 1 to {MAX_FILE_ROWS:,} rows and {MAX_COLUMNS} columns. Choose fewer.")
        names, units, fact_kinds = _measured_columns(
            table.columns, column_kinds, row_bound, bounds, typical, row_bound_fraction
        )
        class_list = class_names(classes) if classes else ()
        # Everything that the declaration may be refused for comes before a row is read.
        later: dict[str, Any] = {"person": person, "row_bound_fraction": row_bound_fraction, "kinds": fact_kinds}
        facts = make_facts(names, units, class_list, table.n, n_public, rows_per_person, missing, **later)
        files = FileRows(table, (table.n, len(names)), progress)
        if person:
            from privcov.tables.persons_in_files import count_ids

            n, files.persons = count_ids(table)
            facts = replace(facts, n=counted_persons(n, person) if n_public else None)
        return cls(facts, _name(name), files, None, files)

    if not TYPE_CHECKING:  # a type checker reports unknown names by itself

        def __getattr__(self, name: str):
            """Raise AttributeError for a name that only a `Dataset` has, and name `release_private`."""
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


def _measured_columns(
    columns: tuple[str, ...],
    column_kinds: Kinds,
    row_bound: float | None,
    bounds: Bounds | None,
    typical: Typical | None,
    fraction: float,
) -> tuple[tuple[str, ...], Units, Kinds]:
    """Return names and units of the measured columns, and the kinds that the facts keep."""
    if not column_kinds:
        return columns, working_units(columns, row_bound, bounds, typical, fraction), ()
    return measured_names(column_kinds), typed_units(column_kinds, fraction), kept_kinds(column_kinds)


def _name(value: object) -> str:
    return checks.one_line("name", value, "the words by which the ledger knows the table. Give it one")
