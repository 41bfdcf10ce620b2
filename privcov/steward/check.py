"""The owner's check of a private table before anything is spent: which cells can be used, and which cannot.

Exact facts about rows, for the owner's screen alone. NOT private, no part of a release, and never stored: no cell is
repeated, but every count is exact. One pass over the table, with the memory of a few blocks.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from privcov.steward.cell_kinds import REMEDIES, TEXT, UNDATED, UNLISTED, Codes, kind_of
from privcov.tables.dataset import Progress
from privcov.tables.declaration.declaration import Declaration, tables_in
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.readers import TableFiles, describe, parts_of, tables_of
from privcov.tables.readers.blocks import ids_of, labels_of
from privcov.tables.readers.coding import coded_column, stands_for_missing
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.kinds import INTEGER, NUMBER, Kind
from privcov.tables.readers.numbers import floats_of, is_text, no_numbers, number_of
from privcov.tables.readers.reading import Paths
from privcov.tables.readers.table_files import listed, quote

if TYPE_CHECKING:
    import pyarrow as pa

MARK = "not part of any release: never hand it on"  # after "Owner's view"
CHOICE = "Columns or bounds chosen because of what stands here are not covered by the guarantee."
_MUCH_MISSING, _MUCH_OUTSIDE = 0.5, 0.01
_ROWS = 131_072  # of a table in memory that are read together
_SHARES = 1000  # steps of progress
_OTHER = object()  # a cell of a type that holds no numbers


@dataclass(frozen=True, eq=False, repr=False)
class ColumnCheck:
    """Exact counts of one column, not private.

    Cells that are ``unreadable`` count as missing in a release; ``looks`` has their number by what they look like.
    ``codes`` counts numbers that look like a code for a missing cell, ``outside`` all numbers beyond the declared
    bounds.
    """

    name: str
    numbers: int
    missing: int
    infinite: int
    unreadable: int
    looks: dict[str, int]
    codes: dict[float, int]
    outside: int

    @property
    def wasted(self) -> bool:
        """Whether a release would waste the column's share: no number, or more unreadable cells than numbers."""
        return not self.numbers or self.unreadable > self.numbers

    @property
    def cells(self) -> int:
        """The number of all cells."""
        return self.numbers + self.missing + self.infinite + self.unreadable

    @property
    def holes(self) -> int:
        """The number of cells that are no finite number."""
        return self.cells - self.numbers

    def share(self, count: int) -> float:
        """Return a count as a fraction of all cells of the column."""
        return count / max(1, self.cells)


@dataclass(frozen=True, eq=False, repr=False)
class OwnerCheck:
    """Result of `check`, not private; it cannot be pickled.

    label: column of the labels, or "". unlisted: rows whose label is missing or not in the public list. seconds:
    duration of the reading. person: column of the ids of persons, or "". nameless: rows without an id, where ids are
    declared; they count as no row. missing: the rule for missing cells. lone: whether all rows with an id have the same
    one.
    """

    name: str
    rows: int
    columns: tuple[ColumnCheck, ...]
    label: str
    unlisted: int
    seconds: float
    person: str = ""
    nameless: int = 0
    missing: str = "typical"
    lone: bool = False

    def __repr__(self) -> str:
        return f"OwnerCheck({self.name!r}, {len(self.columns)} columns: not private, so it is not printed)"

    @property
    def wasted(self) -> tuple[str, ...]:
        """The names of the columns on which a release would waste their share of the budget."""
        return self._names_where(lambda c: c.wasted)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        findings = [
            (self._names_where(lambda c: not c.numbers), "no readable number"),
            (self._names_where(lambda c: c.numbers and c.wasted), "hardly a readable number"),
            (self._names_where(lambda c: not c.wasted and c.unreadable), "cells that are not readable"),
            (
                self._names_where(lambda c: c.numbers and c.share(c.missing + c.infinite) > _MUCH_MISSING),
                "mostly missing cells",
            ),
            (self._names_where(lambda c: c.codes), "numbers that look like codes for missing cells"),
            (
                self._names_where(lambda c: not c.codes and c.share(c.outside) > _MUCH_OUTSIDE),
                f"more than {_MUCH_OUTSIDE:.0%} of the cells outside their bounds",
            ),
        ]
        parts = [f"{finding} in {listed(names)}" for names, finding in findings if names]
        if self.rows and self.unlisted / self.rows > _MUCH_OUTSIDE:
            parts.append(f"labels outside the list in {self.unlisted / self.rows:.1%} of the rows")
        if self.rows and self.nameless / self.rows > _MUCH_OUTSIDE:
            parts.append(f"no id in {self.nameless / self.rows:.1%} of the rows, which count as no row")
        if self.lone:
            parts.append(f"one id throughout in {quote(self.person)}, so the table is one person")
        few = self._names_where(lambda c: c.holes and c.share(c.holes) <= _MUCH_MISSING)
        if incomplete := few if self.missing == "typical" else ():
            parts.append(
                f"missing cells in {listed(incomplete)}, which count as typical values: means lean towards "
                "those, and correlations are weaker"
            )
        if not parts:
            fine = "All fine: every cell is a value of its column or missing, and at most"
            return f"{fine} {_MUCH_OUTSIDE:.0%} lie outside their bounds."
        return f"Look again: {'; '.join(parts)}."

    def _names_where(self, condition: Callable[[ColumnCheck], object]) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns if condition(c))

    def __reduce__(self) -> NoReturn:
        raise TypeError("What the owner's check found is never written out: it is exact. Check the table again.")


def check(private: PrivateDataset, progress: Progress | None = None) -> OwnerCheck:
    """Check a private table before `release_private`: exact facts about its rows, not private.

    A table in memory holds numbers only, those that follow from kinds where it has them. Unreadable cells are counted
    in files only. In memory they are missing already.

    Parameters
    ----------
    private : PrivateDataset
        The declared table, in memory or in files.
    progress : callable, optional
        Called as progress(done, total, seconds) while files are read.

    Returns
    -------
    OwnerCheck
        The counts of every column, and a verdict.

    Raises
    ------
    TableFileError
        Where the files cannot be read.

    Guarantee
    ---------
    None: the counts are exact. They are for the owner alone, and no part of a release.

    Spends
    ------
    Nothing. But columns or bounds that are chosen because of the result are not covered by the guarantee of a release.

    Examples
    --------
    >>> import privcov
    >>> private = privcov.PrivateDataset.from_rows(
    ...     [[0.2, 5.0], [float("nan"), 0.4], [0.1, 0.6]],
    ...     bounds=[(0, 1), (0, 1)],
    ...     columns=["a", "b"],
    ...     missing="pairs",
    ... )
    >>> result = privcov.check(private)
    >>> [(column.name, column.missing, column.outside) for column in result.columns]
    [('a', 1, 0), ('b', 0, 1)]
    >>> print(result.verdict)
    Look again: more than 1% of the cells outside their bounds in 'b'.
    """
    if not isinstance(private, PrivateDataset):
        raise TypeError(
            f"private must be a PrivateDataset, got {type(private).__name__}. Make one with PrivateDataset.from_rows."
        )
    facts = private.facts
    bounds = [(None, None)] * facts.d if facts.bounds is None else facts.bounds.tolist()
    tallies = [_Tally(name, None, *pair) for name, pair in zip(facts.columns, bounds, strict=True)]
    if private.files is not None:
        table, tallies = private.files.table, [_Tally(*entry) for entry in facts.kinds] or tallies
        named = table.label, table.person, facts.classes, facts.missing
        return _checked(private.name, _read(table, progress), tallies, *named)
    began, rows = time.monotonic(), np.asarray(private._rows)
    for start in range(0, len(rows), _ROWS):
        for tally, line in zip(tallies, rows[start : start + _ROWS].T, strict=True):
            tally.take_numbers(np.ascontiguousarray(line))
    unlisted = 0 if private._class_of is None else int((private._class_of < 0).sum())
    nameless = 0 if private._rows_of_person is None else int((private._rows_of_person == 0).sum())
    label, columns = "labels" if facts.classes else "", tuple(tally.result() for tally in tallies)
    counts = label, unlisted, time.monotonic() - began, facts.person, nameless, facts.missing, _one_id(private)
    return OwnerCheck(private.name, columns[0].cells, columns, *counts)


def check_files(declaration: Declaration, paths: Paths, progress: Progress | None = None) -> OwnerCheck:
    """Check declared files in one pass, also where a column is of a type that cannot be measured."""
    names = [c.name for c in declaration.columns]
    table = describe(
        paths, names, declaration.label or None, any_type=True, person=declaration.person, dialect=declaration.dialect
    )
    named = table.label, table.person, declaration.classes, declaration.missing
    return _checked(declaration.name.strip(), _read(table, progress), _tallies(declaration), *named)


def check_upload(raw: bytes, declaration: Declaration) -> OwnerCheck:
    """Check a CSV in memory."""
    tallies = _tallies(declaration)
    tables = ((table, declaration.dialect) for table in tables_in(raw, declaration))
    arguments = declaration.label, declaration.person, declaration.classes, declaration.missing
    return _checked(declaration.name, tables, tallies, *arguments)


def advice(result: OwnerCheck) -> list[str]:
    """Return remedies: a sentence for each kind of unreadable cell, and one for codes."""
    kinds = dict.fromkeys(kind for column in result.columns for kind in column.looks)
    lines = [f"{kind[0].upper()}{kind[1:]}: {REMEDIES.get(kind, REMEDIES[TEXT])}." for kind in kinds]
    if result.nameless:
        lines.append(
            f"{result.nameless:,} of {result.rows:,} rows have no id in {quote(result.person)}, and count as no row."
        )
    if result.lone:
        lines.append(
            f"Every row with an id has the same one in {quote(result.person)}, so the release protects and describes "
            "one person: declare the column that tells persons apart."
        )
    if any(column.codes for column in result.columns):
        lines.append(
            "Codes for missing cells are taken as numbers, and clipped to the bounds: declare them as missing codes, "
            "or write empty cells instead."
        )
    if swallowed := [c.name for c in result.columns if c.cells and c.missing == c.cells]:
        lines.append(
            f"Every cell of {listed(swallowed)} is empty or has a code for missing cells: correct the "
            "codes, or leave the column out."
        )
    return lines


def _tallies(declaration: Declaration) -> list[_Tally]:
    if kinds := declaration.kinds:
        return [_Tally(*entry) for entry in kinds]
    bounded = declaration.row_bound is None
    limits = ((c.low, c.high) if bounded else (None, None) for c in declaration.columns)
    return [_Tally(c.name, None, *pair) for c, pair in zip(declaration.columns, limits, strict=True)]


def _read(table: TableFiles, progress: Progress | None) -> Iterator[tuple[pa.Table, Dialect]]:
    """Yield some rows of all files at a time and how their file is written, and tell the progress."""
    names = [*table.columns, *(name for name in (table.label, table.person) if name)]
    began, parts = time.monotonic(), parts_of(table)
    whole, done = sum(part.file.size for part in parts), 0.0
    for part in parts:
        for some, fraction in tables_of(part, names):
            yield some, part.file.dialect
            if progress:
                now = (done + fraction * part.file.size) / whole
                progress(max(1, min(_SHARES - 1, int(now * _SHARES))), _SHARES, time.monotonic() - began)
        done += part.file.size
    if progress:
        progress(_SHARES, _SHARES, time.monotonic() - began)


def _checked(
    name: str,
    tables: Iterable[tuple[pa.Table, Dialect]],
    tallies: list[_Tally],
    label: str,
    person: str,
    classes: tuple[str, ...],
    missing: str,
) -> OwnerCheck:
    """Count the cells, the rows whose label is not in the list, and those without an id."""
    began, unlisted, nameless = time.monotonic(), 0, 0
    ids: set[str] = set()  # two at most are kept
    for some, dialect in tables:
        for tally in tallies:
            tally.take(some.column(tally.name), dialect)
        if label:
            texts, places = labels_of(some.column(label))
            unlisted += int(np.isin(places, [at for at, text in enumerate(texts) if text not in classes]).sum())
        if person:
            texts, places = ids_of(some.column(person))
            nameless += int(np.isin(places, [at for at, text in enumerate(texts) if not text]).sum())
            ids.update(islice(filter(None, (texts[at] for at in np.unique(places))), 2 if len(ids) < 2 else 0))
    columns = tuple(tally.result() for tally in tallies)
    counts = label, unlisted, time.monotonic() - began, person, nameless, missing, len(ids) == 1
    return OwnerCheck(name, columns[0].cells, columns, *counts)


def _one_id(private: PrivateDataset) -> bool:
    """Return whether all rows of a table in memory that have an id have the same one."""
    of_person = private._rows_of_person  # of every row how many its person has; 0 without an id
    return of_person is not None and bool(of_person.any()) and int(of_person.max()) == int((of_person > 0).sum())


class _Tally:
    """Counts of one column while it is read, with a kind or of numbers between bounds."""

    def __init__(self, name: str, kind: Kind | None, low: float | None = None, high: float | None = None) -> None:
        self.name, self.kind = name, kind
        if kind is not None and not kind.values:
            low, high = kind.number(kind.low), kind.number(kind.high)
        self.codes = Codes(low, high)
        self.low, self.high = -np.inf if low is None else low, np.inf if high is None else high
        self.unit = kind and dataclasses.replace(kind, transform=None)  # cells beyond the bounds stay where they are
        self.numeric = kind is None or kind.kind in (NUMBER, INTEGER)
        self.numbers = self.missing = self.infinite = self.unreadable = self.outside = 0
        self.looks: Counter = Counter()

    def take(self, column: pa.ChunkedArray | pa.Array, dialect: Dialect) -> None:
        """Count more cells: the values that a release reads, and the kinds of all others."""
        import pyarrow as pa

        marks = dialect.decimal, dialect.thousands
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        type_name = "" if pa.types.is_binary(column.type) else no_numbers(column.type)  # binary: texts of a CSV
        if self.unit is not None:
            numbers = coded_column(self.unit, column, *marks)[0]
        elif type_name:
            numbers = np.full(len(column), np.nan)
        else:
            numbers = floats_of(column, *marks)[0]
        read = ~np.isnan(numbers)
        self.take_numbers(numbers[read])
        for cell, count in _distinct(column.filter(pa.array(~read))):
            self._rest(cell, count, type_name, dialect)

    def take_numbers(self, cells: np.ndarray) -> None:
        """Count some numbers, NaN where a cell is missing."""
        finite = np.isfinite(cells)
        if not finite.all():
            holes = int(np.isnan(cells).sum())
            self.missing += holes
            self.infinite += int((~finite).sum()) - holes
            cells = cells[finite]
        self.numbers += len(cells)
        if self.numeric:
            self.codes.take(cells)
        if self.kind is None or not self.kind.values:
            self.outside += int(np.count_nonzero((cells < self.low) | (cells > self.high)))

    def _rest(self, cell: object, count: int, type_name: str, dialect: Dialect) -> None:
        """Count equal cells without a value."""
        text = cell if isinstance(cell, str) else ""
        number = number_of(text, dialect.decimal, dialect.thousands) if isinstance(cell, str) else cell
        if not count:
            return
        if cell is None or number != number or (self.kind is not None and stands_for_missing(self.kind, cell)):
            self.missing += count
        elif self.numeric and not type_name and isinstance(number, float) and math.isinf(number):
            self.infinite += count
        else:
            self.unreadable += count
            look = UNLISTED if self.kind and self.kind.values else UNDATED if self.kind and not self.numeric else None
            self.looks[look or kind_of(text, type_name, dialect.decimal)] += count

    def result(self) -> ColumnCheck:
        """Return the counts."""
        counts = self.numbers, self.missing, self.infinite, self.unreadable
        return ColumnCheck(self.name, *counts, dict(self.looks.most_common()), self.codes.occurrences(), self.outside)


def _distinct(column: pa.Array) -> Iterator[tuple[object, int]]:
    import pyarrow as pa
    import pyarrow.compute as compute

    if is_text(column.type):
        column = column.cast(pa.binary())
    elif no_numbers(column.type):  # no matter which
        yield None, column.null_count
        yield _OTHER, len(column) - column.null_count
        return
    counts = compute.value_counts(column)
    for value, count in zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True):
        yield value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value, count
