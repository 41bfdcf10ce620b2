"""From a public table to a data set: the columns that are chosen and the public limits that their owner typed.

Every ``ValueError`` is a single sentence saying what is wrong, where, what the limit is and what helps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from privcov import checks
from privcov.data_sources.csv_file import PublicTable
from privcov.dataset import Dataset
from privcov.table_files.facts import quote


def declare(
    table: PublicTable,
    columns: Sequence[str],
    bounds: Mapping[str, tuple[float, float] | None] | None = None,
    typical: Mapping[str, float | None] | None = None,
    row_bound: float | None = None,
) -> tuple[Dataset, list[str]]:
    """Make a data set from a public table: chosen columns, public limits, rows without holes.

    A missing cell of a column with a typical value of its own takes that value.
    """
    columns = tuple(columns)
    _check_choice(table, columns)
    if (bounds is None) == (row_bound is None):
        got = "neither" if bounds is None else "both"
        raise ValueError(
            f"Give either bounds for every column or one row_bound, got {got}: "
            "choose them from domain knowledge, not from the data."
        )
    if bounds is None:
        if typical:
            raise ValueError("Typical values need bounds, got a row_bound: leave them out, or give bounds.")
        if checks.number("row_bound", row_bound) <= 0:
            raise ValueError(f"row_bound must be > 0, got {row_bound:g}: enter the largest norm a row may have.")
        limits = middle = None
    else:
        limits = [_limits(name, bounds.get(name)) for name in columns]
        usual = typical or {}
        middle = [_inside(name, usual.get(name), *pair) for name, pair in zip(columns, limits, strict=True)]
    cells, notes, filled = table.frame[list(columns)].to_numpy(copy=True), [], 0
    for at, name in enumerate(columns if middle is not None else ()):
        value = (typical or {}).get(name)
        if value is not None and value == value:
            holes = np.isnan(cells[:, at])
            cells[holes, at] = value
            filled += int(holes.sum())
    if filled:
        notes.append(f"Missing cells at the typical value of their column: {filled:,}. Correlations shrink by it.")
    whole = np.isfinite(cells).all(axis=1)
    if lost := int((~whole).sum()):
        if lost == table.n_rows:
            counts = {c: table.missing.get(c, 0) + table.infinite.get(c, 0) for c in columns}
            worst = max(counts, key=lambda name: counts[name])
            raise ValueError(
                f"All {table.n_rows:,} rows have a missing or infinite cell in the chosen columns, "
                f"most of them in {quote(worst)} ({counts[worst]:,}): leave that column out."
            )
        notes.append(
            f"Left out for a missing or infinite cell in the chosen columns: {lost:,} of {table.n_rows:,} rows."
        )
    dataset = Dataset.from_rows(
        cells[whole],
        row_bound,
        bounds=limits,
        typical=middle,
        columns=columns,
        mean_is_zero=False,
        name="csv",
        provenance="public",
    )
    return dataset, notes + _remarks(dataset)


def _check_choice(table: PublicTable, columns: tuple[str, ...]) -> None:
    """Raise ValueError for columns that cannot be chosen."""
    if not columns:
        raise ValueError("No column is chosen, and at least one is needed: choose from the numeric columns.")
    for name in columns:
        if name in table.dropped:
            reason = table.dropped[name].rstrip(".")
            raise ValueError(f"{reason}: choose another column, or correct the file.")
        if name not in table.columns:
            raise ValueError(f"The table has no numeric column {quote(str(name))}: choose from its columns.")
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"Column {quote(twice)} is chosen twice: choose it once.")


def _limits(name: str, pair: tuple[float, float] | None) -> tuple[float, float]:
    """Return checked bounds of a column."""
    if pair is None or len(pair) != 2 or any(x is None or x != x for x in pair):
        raise ValueError(
            f"Column {quote(name)} has no bounds: enter its lowest and highest value from domain knowledge, "
            "not from the data."
        )
    low = checks.number(f"The low bound of {quote(name)}", pair[0])
    high = checks.number(f"The high bound of {quote(name)}", pair[1])
    if low >= high:
        raise ValueError(
            f"The bounds of {quote(name)} must satisfy low < high, got {low:g} and {high:g}: "
            + ("swap them." if low > high else "widen them.")
        )
    return low, high


def _inside(name: str, value: float | None, low: float, high: float) -> float:
    """Return a checked typical value; the middle without one."""
    if value is None or value != value:
        return low / 2 + high / 2
    x = checks.number(f"The typical value of {quote(name)}", value)
    if not low <= x <= high:
        raise ValueError(
            f"The typical value of {quote(name)} must lie in its bounds [{low:g}, {high:g}], got {x:g}: "
            "move it inside, or leave it out."
        )
    return x


def _remarks(dataset: Dataset) -> list[str]:
    """Return what the owner of a public table may want to know before going on."""
    rows, n, d = dataset.rows, dataset.n, dataset.d
    notes = []
    if n == 1:
        notes.append("There is one row only, so every estimate will be noise.")
    if d > n:
        notes.append(f"There are more columns ({d:,}) than rows ({n:,}): the sample covariance is singular.")
    if n > 1:
        for name in np.array(dataset.columns)[(rows == rows[0]).all(axis=0)]:
            notes.append(f"Column {quote(str(name))} has one value throughout: its covariances are zero.")
    if dataset.bounds is None:
        with np.errstate(over="ignore"):
            cut = int((np.linalg.norm(rows, axis=1) > dataset.row_bound).sum())
        if cut:
            notes.append(f"Scaled down because longer than the row bound {dataset.row_bound:g}: {cut:,} of {n:,} rows.")
    else:
        cut = int(((rows < dataset.bounds[:, 0]) | (rows > dataset.bounds[:, 1])).sum())
        if cut:
            notes.append(f"Clipped because beyond their bounds: {cut:,} of {n * d:,} cells.")
    return notes
