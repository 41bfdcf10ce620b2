"""Neighbouring tables: all rows alike but one. The other rows are known to an attacker; the one row is to be hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core import checks
from privcov.tables.dataset import Dataset

LONG = 3.0  # norm of the row that is too long, in units of the public bound
ROWS = 10  # rows of a table; noise and sensitivity both shrink as 1/n, so their ratio does not depend on it


@dataclass(frozen=True)
class Pair:
    """One person's row in the first table and in the second, in units of the public row bound R.

    second: None where that person is not in the second table at all, and the number of rows is not public.
    """

    key: str
    label: str
    first: tuple[float, ...]
    second: tuple[float, ...] | None


def catalogue(d: int, hidden_n: bool = False) -> tuple[Pair, ...]:
    """Return pairs of rows worth trying at d = 1, 2, 3; where n is ``hidden_n``, the second table lacks the row."""
    d = checks.integer("d", d, 1, 3, "The live audit looks at tables of one to three columns.")
    e = np.eye(d)
    flat = np.full(d, d**-0.5)
    if hidden_n:
        pairs = [
            ("unit-nobody", "a row of full length, or nobody", e[0]),
            ("zero-nobody", "a row of zeros, or nobody", 0 * e[0]),
            ("long-nobody", f"a row {LONG:g} times too long, or nobody", LONG * e[0]),
        ]
        pairs += [("flat-nobody", "a row of equal entries, or nobody", flat)] if d > 1 else []
        return tuple(Pair(key, label, tuple(map(float, x)), None) for key, label, x in pairs)
    pairs = [
        ("unit-zero", "a row of full length, or zeros", e[0], 0 * e[0]),
        ("antipodal", "a row and its negative (the same second moment)", e[0], -e[0]),
        ("long-zero", f"a row {LONG:g} times too long, or zeros", LONG * e[0], 0 * e[0]),
    ]
    if d == 1:
        pairs += [("near", "near-duplicates: 1 and 0.99", e[0], 0.99 * e[0])]
    else:
        turned = np.cos(0.1) * e[0] + np.sin(0.1) * e[1]
        far = (3**0.5 * e[1] - e[0]) / 2
        pairs += [
            ("orthogonal", "two axes", e[0], e[1]),
            ("diagonals", "two diagonals", (e[0] + e[1]) / 2**0.5, (e[0] - e[1]) / 2**0.5),
            ("obtuse", "two rows 120 degrees apart", e[0], far),
            ("flat-zero", "a row of equal entries, or zeros", flat, 0 * flat),
            ("near", "near-duplicates: 0.1 radians apart", e[0], turned),
        ]
    return tuple(Pair(key, label, tuple(map(float, x)), tuple(map(float, y))) for key, label, x, y in pairs)


def usual(d: int, *, hidden_n: bool, joint: bool) -> str:
    """Return the key of the pair that moves the second moment furthest, ``joint``: together with the mean."""
    if hidden_n:
        return "unit-nobody"
    if joint:
        return "antipodal" if d == 1 else "obtuse"
    return "unit-zero" if d == 1 else "orthogonal"


def tables(pair: Pair, n: int = ROWS, *, name: str = "audit") -> tuple[Dataset, Dataset]:
    """Return the two tables: n - 1 rows of zeros and the person's row, if any; public row bound 1."""

    def make(row: tuple[float, ...] | None, side: str) -> Dataset:
        rows = np.zeros((n - (row is None), len(pair.first)))
        if row is not None:
            rows[0] = row
        return Dataset.from_rows(rows, 1.0, name=f"{name} {side}", provenance="simulated")

    return make(pair.first, "first"), make(pair.second, "second")
