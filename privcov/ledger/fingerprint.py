"""Recognise a table that is already in the ledger, from keyed hashes of it.

A fingerprint does not depend on the order of rows and columns. It holds hashes

    of the whole table with the persons and classes of its rows, of 256 rows and, for every column, of 16 values with
    how often they occur;
    of 256 rows and of the same values after all cells were rounded, so that a tiny change of a cell does not matter;
    of how often values and pairs of values occur, for columns of few values, each on two grids with steps of about half
    the standard deviation that such a count has.

The rows and values are chosen by their hashes. So most of them are chosen again from a nearly identical table: rows
removed or added, cells edited, rows or columns reordered, columns removed, added or renamed. Where rows repeat, as in a
table of few answers, equal rows are weak evidence. There the counts decide, which are robust to a few edited rows. The
counts and the rounded rows identify a column by its name.

Not recognised are tables with all values changed (another unit, added noise), a small fraction of the rows of a large
table, and changed tables of fewer than 26 rows. Where rows repeat, neither is a table without many of its rows, nor a
changed one with new column names. Then only the declared name counts, and using the same one is up to the owner. Tables
of different people may look alike; the owner can declare that they are different. `python -m tests.recognition`
measures how often a table is missed, and how often another one is taken for it.

The hashes are keyed by a secret file next to the ledger. Whoever has both files can test a guess for a row or a count.
A release holds no part of either. Unused places are filled with random numbers, so that the length reveals no number of
rows or values.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import secrets
from collections.abc import Iterator

import numpy as np

from privcov.dataset import FileRows
from privcov.measurements.tables.file_moment import sums_of
from privcov.measurements.tables.sketch import PAIRED, ROWS, VALUES, Counted, Sketch, by_name, near_of
from privcov.measurements.tables.sketching import sketch_of
from privcov.private_dataset import PrivateDataset

_EXACT = ("cells", "persons", "classes")  # of every row: its cells, these and its person, these and its class
ROWS_ALIKE, COLUMNS_ALIKE, COUNTS_ALIKE = 0.1, 0.5, 0.55
ROWS_WRITTEN_TWICE = 0.25  # in tables of other people, 100 to 30,000 rows of answers, at most 16 of 256 were shared
LEAST_COUNTED = 4
# Fraction of the chosen rows that occur twice; above it, another table of the same kind has many of these rows too.
_REPEATED = 0.02
_COUNTED_COLUMNS, _COUNTED_VALUES = 40, 8
_COUNT_STEP = 0.5  # of 2 sqrt(count), whose spread from table to table is about 1
_SHORT, _LONG = 8, 16  # hexadecimal digits of a hash


def fingerprint(private: PrivateDataset, key: bytes, anchor: int | None = None) -> str:
    """Return the fingerprint of a table under the secret key, as JSON text.

    For a table in files it is computed in their one pass.
    """
    numbers, rows, facts = _secrets(key), private._rows, private.facts
    if isinstance(rows, FileRows):
        sketch = sums_of(private, numbers, anchor).sketch
    else:
        sketch = sketch_of(rows, numbers, near_of(facts), private._person_of, private._class_of)
    assert sketch is not None, "the sketch of a table has that of its rounded cells"
    assert sketch.rounded is not None
    near = sketch.rounded
    near_rows = [] if _repeated(near) else [("near row", int(h)) for h in near.rows]
    counted = list(_counted(near, facts.columns))
    groups = min(_COUNTED_COLUMNS, facts.d) + math.comb(min(PAIRED, facts.d), 2)
    return json.dumps(
        {
            "table": _sealed(key, [("table", sketch.whole)], 1),
            **{name: _sealed(key, [(name, h)], 1) for name, h in zip(_EXACT, sketch.exact, strict=True)},
            "rows": _sealed(key, [("row", int(h)) for h in sketch.rows], ROWS),
            "columns": [_sealed(key, _values_with_counts("value", *c), VALUES) for c in sketch.columns],
            "repeated": _repeated(sketch),
            "near rows": _sealed(key, near_rows, ROWS, _SHORT),
            "near columns": [_sealed(key, _values_with_counts("near value", *c), VALUES, _SHORT) for c in near.columns],
            "counted": _sealed(key, [value for value, _ in counted], _COUNTED_VALUES * groups, _SHORT),
            "counts": _sealed(key, _steps(counted), 2 * _COUNTED_VALUES * groups, _SHORT),
        }
    )


def other_persons(one: str, other: str) -> bool:
    """Return True when the same rows belong to other persons in two fingerprints under one key."""
    a, b = json.loads(one), json.loads(other)
    return bool(a["cells"] == b["cells"] and a["persons"] != b["persons"])


def same_table(one: str, other: str) -> bool:
    """Return True when two fingerprints under one key are of the same table, in any order of rows and columns.

    Every cell in its column, and the person and the class of every row, are the same.
    """
    return bool(json.loads(one)["classes"] == json.loads(other)["classes"])


def alike(one: str, other: str) -> bool:
    """Return True when two fingerprints under one key are of the same or a nearly identical table.

    Parts that only one of them has, because an earlier version wrote the other, are not compared.
    """
    a, b = json.loads(one), json.loads(other)
    if a["table"] == b["table"]:
        return True
    both = a.keys() & b.keys()
    # Where rows repeat in one table only, they may have been written twice. A row of many answers is rarely that of
    # another person, so equal rows are evidence too, but more are needed than where no row repeats.
    once = "repeated" in both and a["repeated"] != b["repeated"]
    if once and _shared(a["rows"], b["rows"]) >= ROWS_WRITTEN_TWICE * ROWS:
        return True
    compared = {"near rows"} if "repeated" in both and (a["repeated"] or b["repeated"]) else {"rows", "near rows"}
    if any(_shared(a[part], b[part]) >= ROWS_ALIKE * ROWS for part in both & compared):
        return True
    if any(_columns_alike(a[part], b[part]) for part in both & {"columns", "near columns"}):
        return True
    if "counts" not in both:
        return False
    values = _shared(a["counted"], b["counted"])
    return values >= LEAST_COUNTED and _shared(a["counts"], b["counts"]) >= COUNTS_ALIKE * 2 * values


def _shared(one: list[str], other: list[str]) -> int:
    """Return the number of common hashes."""
    return len(set(one) & set(other))


def _columns_alike(one: list[list[str]], other: list[list[str]]) -> bool:
    """Return True when enough columns share half of their values."""
    shared = sum(any(_shared(x, y) >= VALUES / 2 for y in other) for x in one)
    return shared >= max(1, COLUMNS_ALIKE * min(len(one), len(other)))


def _repeated(sketch: Sketch) -> bool:
    """Return True when so many of the chosen rows occur twice that an unrelated table would have many of them."""
    return float((sketch.repeats > 1).mean()) > _REPEATED


def _values_with_counts(kind: str, values: np.ndarray, counts: np.ndarray) -> list[tuple[str, int, int]]:
    """Return the chosen values of a column; none for a column of few values, which any table may have."""
    if len(values) < VALUES:
        return []
    return [(kind, h, c) for h, c in zip(values.tolist(), counts.tolist(), strict=True)]


def _counted(near: Sketch, columns: tuple[str, ...]) -> Iterator[tuple[tuple, int]]:
    """Yield (value with the names of its columns, count), for columns of few values and for pairs of them."""
    few = {j for j in range(len(columns)) if 1 < len(near.columns[j][0]) < VALUES}
    groups: dict[tuple[int, ...], Counted] = {
        (j,): near.columns[j] for j in by_name(columns)[:_COUNTED_COLUMNS] if j in few
    }
    groups.update((pair, counted) for pair, counted in near.pairs.items() if few.issuperset(pair))
    for group, (values, counts) in groups.items():
        names = tuple(columns[j] for j in group)
        for value, count in list(zip(values.tolist(), counts.tolist(), strict=True))[:_COUNTED_VALUES]:
            yield ("counted", names, value), count


def _steps(counted: list[tuple[tuple, int]]) -> list[tuple]:
    """Return every count on two grids, half a step apart, so that a small change moves it on one of them at most."""
    steps = []
    for value, count in counted:
        at = 2 * math.sqrt(count) / _COUNT_STEP
        steps += [(*value, "grid", 0, math.floor(at)), (*value, "grid", 1, math.floor(at + 0.5))]
    return steps


def _sealed(key: bytes, items: list, size: int, digits: int = _LONG) -> list[str]:
    """Return keyed hashes in an order that carries no information, filled up to ``size``."""
    hashes = [hmac.new(key, repr(item).encode(), hashlib.sha256).hexdigest()[:digits] for item in items]
    return sorted(hashes + [secrets.token_hex(digits // 2) for _ in range(size - len(hashes))])


def _secrets(key: bytes) -> tuple[int, ...]:
    """Return the secret numbers of `sketch.Mixer`, from which the key cannot be computed."""
    drawn = np.frombuffer(hashlib.blake2b(b"cells", key=key, digest_size=32).digest(), dtype=np.uint64)
    first, odd, other, last = map(int, drawn)
    return first, odd | 1, other | 1, last
