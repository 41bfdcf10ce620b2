"""What the owner of a private table should see before anything is spent: which cells can be used, and which cannot.

Exact facts about rows, for the owner's screen alone. NOT private, no part of a release, and never stored: no cell is
repeated, but every count is exact. One pass over the table, with the memory of a few blocks.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from privcov.data_sources.private_file import Declaration, said_in
from privcov.dataset import Progress
from privcov.owner.cell_kinds import REMEDIES, TEXT, Codes, kind_of
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import label_text
from privcov.table_files import Said, TableFiles, Words, describe, parts_of, said_of_part
from privcov.table_files.facts import quote
from privcov.table_files.numbers import number_of
from privcov.table_files.reading import Paths

MARK = "not part of any release: never hand it on"  # after "Owner's view"
CHOICE = "Columns or bounds chosen because of what stands here are not covered by the guarantee."
_MUCH_MISSING, _MUCH_OUTSIDE = 0.5, 0.01
_ROWS = 131_072  # of a table in memory looked at together
_SHARES = 1000  # steps of progress


@dataclass(frozen=True, eq=False, repr=False)
class ColumnCheck:
    """Not private. How many cells of one column are numbers, missing, infinite, and not readable (and so missing too).

    looks: kind of unreadable cell -> how many. codes: number that looks like a code for a missing cell -> how many.
    outside: numbers beyond the declared bounds, codes included.
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
        """No number at all, or more text than numbers: its share of the budget would be spent for nothing."""
        return not self.numbers or self.unreadable > self.numbers

    @property
    def cells(self) -> int:
        """All of them."""
        return self.numbers + self.missing + self.infinite + self.unreadable

    def share(self, count: int) -> float:
        """Of all cells of the column."""
        return count / max(1, self.cells)


@dataclass(frozen=True, eq=False, repr=False)
class OwnerCheck:
    """Not private. What `check` found; it cannot be written out.

    unlisted: rows whose label is missing or not in the public list. seconds: how long the reading took.
    """

    name: str
    rows: int
    columns: tuple[ColumnCheck, ...]
    label: str
    unlisted: int
    seconds: float

    @property
    def wasted(self) -> tuple[str, ...]:
        """Names of the columns that a release should not be paid for without a second look."""
        return self._those(lambda c: c.wasted)

    @property
    def verdict(self) -> str:
        """One sentence."""
        found = [
            (self._those(lambda c: not c.numbers), "no readable number"),
            (self._those(lambda c: c.numbers and c.wasted), "hardly a readable number"),
            (self._those(lambda c: not c.wasted and c.unreadable), "cells that are not readable"),
            (
                self._those(lambda c: c.numbers and c.share(c.missing + c.infinite) > _MUCH_MISSING),
                "mostly missing cells",
            ),
            (self._those(lambda c: c.codes), "numbers that look like codes for missing cells"),
            (
                self._those(lambda c: not c.codes and c.share(c.outside) > _MUCH_OUTSIDE),
                f"more than {_MUCH_OUTSIDE:.0%} of the cells outside their bounds",
            ),
        ]
        said = [f"{what} in {_listed(names)}" for names, what in found if names]
        if self.rows and self.unlisted / self.rows > _MUCH_OUTSIDE:
            said.append(f"labels outside the list in {self.unlisted / self.rows:.1%} of the rows")
        if not said:
            return (
                f"All fine: every cell is a number or empty, and at most {_MUCH_OUTSIDE:.0%} lie outside their bounds."
            )
        return f"Look again: {'; '.join(said)}."

    def _those(self, wanted: Callable[[ColumnCheck], object]) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns if wanted(c))

    def __reduce__(self) -> NoReturn:
        raise TypeError("What the owner's check found is never written out: it is exact. Check the table again.")


def check(private: PrivateDataset, progress: Progress | None = None) -> OwnerCheck:
    """The owner's check of a private table, before `release_private`: exact facts about its rows, not private.

    progress(done, total, seconds) is called while files are read. Raises TableFileError where they cannot be. A table
    in memory holds numbers only; which cells of a file were not readable is known from the file alone.
    """
    facts = private.facts
    bounds = [(None, None)] * facts.d if facts.bounds is None else facts.bounds.tolist()
    tallies = [_Tally(name, *pair) for name, pair in zip(facts.columns, bounds, strict=True)]
    if private.files is not None:
        return _of_files(private.name, private.files.table, tallies, facts.classes, progress)
    began, rows = time.monotonic(), np.asarray(private._rows)
    for start in range(0, len(rows), _ROWS):
        for tally, line in zip(tallies, rows[start : start + _ROWS].T, strict=True):
            tally.take(np.ascontiguousarray(line))
    unlisted = 0 if private._class_of is None else int((private._class_of < 0).sum())
    return _made(private.name, tallies, "labels" if facts.classes else "", unlisted, began)


def check_files(declaration: Declaration, paths: Paths, progress: Progress | None = None) -> OwnerCheck:
    """The same of declared files, in one pass, also where a column is of a type that cannot be measured."""
    names = [c.name for c in declaration.columns]
    table = describe(paths, names, declaration.label or None, any_type=True)
    return _of_files(declaration.name.strip(), table, _tallies(declaration), declaration.classes, progress)


def check_upload(raw: bytes, declaration: Declaration) -> OwnerCheck:
    """The same of a CSV in memory. Raises as `read_private` does."""
    return _checked(
        declaration.name, said_in(raw, declaration), _tallies(declaration), declaration.label, declaration.classes
    )


def advice(found: OwnerCheck) -> list[str]:
    """What helps, a sentence for each kind of unreadable cell, and one for codes."""
    kinds = dict.fromkeys(kind for column in found.columns for kind in column.looks)
    lines = [f"{kind[0].upper()}{kind[1:]}: {REMEDIES.get(kind, REMEDIES[TEXT])}." for kind in kinds]
    if any(column.codes for column in found.columns):
        lines.append(
            "Codes for missing cells are taken as numbers, and clipped to the bounds: write empty cells instead."
        )
    return lines


def _tallies(declaration: Declaration) -> list[_Tally]:
    bounded = declaration.row_bound is None
    return [_Tally(c.name, c.low if bounded else None, c.high if bounded else None) for c in declaration.columns]


def _of_files(
    name: str, table: TableFiles, tallies: list[_Tally], classes: tuple[str, ...], progress: Progress | None
) -> OwnerCheck:
    return _checked(name, _read(table, progress), tallies, table.label, classes)


def _read(table: TableFiles, progress: Progress | None) -> Iterator[dict[str, Said]]:
    began, parts = time.monotonic(), parts_of(table)
    whole, done = sum(part.file.size for part in parts), 0.0
    for part in parts:
        for some, share in said_of_part(part, table.columns, table.label):
            yield some
            if progress:
                now = (done + share * part.file.size) / whole
                progress(max(1, min(_SHARES - 1, int(now * _SHARES))), _SHARES, time.monotonic() - began)
        done += part.file.size
    if progress:
        progress(_SHARES, _SHARES, time.monotonic() - began)


def _checked(
    name: str, said: Iterable[dict[str, Said]], tallies: list[_Tally], label: str, classes: tuple[str, ...]
) -> OwnerCheck:
    began, unlisted = time.monotonic(), 0
    for some in said:
        for tally in tallies:
            tally.take(some[tally.name])
        if label:
            unlisted += _unlisted(some[label], frozenset(classes))
    return _made(name, tallies, label, unlisted, began)


def _unlisted(labels: Said, classes: frozenset[str]) -> int:
    if isinstance(labels, Words):
        return labels.missing + sum(count for text, count in labels.texts.items() if text.strip() not in classes)
    return sum(label_text(value) not in classes for value in labels.tolist())


def _made(name: str, tallies: list[_Tally], label: str, unlisted: int, began: float) -> OwnerCheck:
    columns = tuple(tally.found() for tally in tallies)
    return OwnerCheck(name, columns[0].cells, columns, label, unlisted, time.monotonic() - began)


def _listed(names: tuple[str, ...]) -> str:
    told = ", ".join(map(quote, names[:3]))
    return told if len(names) <= 3 else f"{told} and {len(names) - 3} more"


class _Tally:
    """One column while it is read."""

    def __init__(self, name: str, low: float | None, high: float | None) -> None:
        self.name, self.codes = name, Codes(low, high)
        self.low, self.high = -np.inf if low is None else low, np.inf if high is None else high
        self.numbers = self.missing = self.infinite = self.unreadable = self.outside = 0
        self.looks: Counter = Counter()

    def take(self, said: Said) -> None:
        """Some cells more."""
        if not isinstance(said, Words):
            self._count(said)
            return
        self.missing += said.missing
        values, counts = [], []
        for text, count in said.texts.items():
            number = None if said.typed and not text else number_of(text)
            if number is not None and (not said.typed or number != number):
                values.append(number)
                counts.append(count)
            else:
                self.unreadable += count
                self.looks[kind_of(text, said.typed)] += count
        if values:
            self._count(np.repeat(np.array(values), counts))

    def _count(self, cells: np.ndarray) -> None:
        finite = np.isfinite(cells)
        if not finite.all():
            holes = int(np.isnan(cells).sum())
            self.missing += holes
            self.infinite += int((~finite).sum()) - holes
            cells = cells[finite]
        self.numbers += len(cells)
        self.outside += int(np.count_nonzero((cells < self.low) | (cells > self.high)))
        self.codes.take(cells)

    def found(self) -> ColumnCheck:
        """What was counted."""
        counts = self.numbers, self.missing, self.infinite, self.unreadable
        return ColumnCheck(self.name, *counts, dict(self.looks.most_common()), self.codes.found(), self.outside)
