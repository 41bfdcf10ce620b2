"""Recognising a table that the ledger has seen before, without keeping anything of it.

A fingerprint holds keyed hashes, all whatever the order of rows and columns:

    of the whole table, of 256 rows and, for every column, of 16 values with how often they occur;
    of 256 rows and of the same values after all cells were rounded, so that a tiny change of every cell is none;
    of how often values occur, and pairs of values, in columns of few values, each in two steps of about a quarter of
    the count's own spread.

The same rows and values are chosen again from the same or a nearly identical table: rows taken out or added, cells
edited, rows or columns reordered, columns left out, added or renamed. Where rows repeat, as in a table of few answers,
rows alone tell little; there the counts decide, which stand a few edited rows. They and the rounded rows know a column
by its name. How often a table is missed, and another one taken for it, `python -m tests.recognition` measures. What is
not recognised: all values changed (another unit, added noise), a small share of the rows of a large table, changed
tables of fewer than 26 rows; and where rows repeat, more than a few rows less, or new names and a change as well. Then
the declared name alone counts, and it is the owner's to keep. Two tables may look alike without being so; the owner can
say that they are different.

The hashes are keyed by a secret file beside the ledger. Who has both files can test a guess for a row or a count;
neither leaves the machine, and a release holds no part of them. Free places are filled with random numbers, so that the
length tells no number of rows or values.
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

ROWS_ALIKE, COLUMNS_ALIKE, COUNTS_ALIKE = 0.1, 0.5, 0.55
ROWS_WRITTEN_TWICE = 0.25  # of other people's tables, 100 to 30,000 rows of answers, at most 16 of 256 were shared
LEAST_COUNTED = 4
# Of the kept rows; beyond it another table of the same kind has many of them too.
_REPEATED = 0.02
_COUNTED_COLUMNS, _COUNTED_VALUES = 40, 8
_COUNT_STEP = 0.5  # of 2 sqrt(count), whose spread from table to table is about 1
_SHORT, _LONG = 8, 16  # hexadecimal digits of a hash


def fingerprint(private: PrivateDataset, key: bytes) -> str:
    """The fingerprint of a table under the secret key, as JSON text. Of files, it comes from their one pass."""
    numbers, rows, facts = _secrets(key), private._rows, private.facts
    found = sums_of(private, numbers).sketch if isinstance(rows, FileRows) else sketch_of(rows, numbers, near_of(facts))
    assert found is not None, "the sketch of a table has that of its rounded cells"
    assert found.rounded is not None
    near = found.rounded
    near_rows = [] if _repeated(near) else [("near row", int(h)) for h in near.rows]
    counted = list(_counted(near, facts.columns))
    groups = min(_COUNTED_COLUMNS, facts.d) + math.comb(min(PAIRED, facts.d), 2)
    return json.dumps(
        {
            "table": _sealed(key, [("table", found.whole)], 1),
            "rows": _sealed(key, [("row", int(h)) for h in found.rows], ROWS),
            "columns": [_sealed(key, _values_with_counts("value", *c), VALUES) for c in found.columns],
            "repeated": _repeated(found),
            "near rows": _sealed(key, near_rows, ROWS, _SHORT),
            "near columns": [_sealed(key, _values_with_counts("near value", *c), VALUES, _SHORT) for c in near.columns],
            "counted": _sealed(key, [value for value, _ in counted], _COUNTED_VALUES * groups, _SHORT),
            "counts": _sealed(key, _steps(counted), 2 * _COUNTED_VALUES * groups, _SHORT),
        }
    )


def alike(one: str, other: str) -> bool:
    """True when two fingerprints under one key are of the same or a nearly identical table.

    What only one of them has, because an earlier version made the other, is left out.
    """
    a, b = json.loads(one), json.loads(other)
    if a["table"] == b["table"]:
        return True
    both = a.keys() & b.keys()
    # Rows that repeat in one table and not in the other are those of many answers, written twice: few other people have
    # them. So it takes more of them than where none repeats, and they tell all the same.
    once = "repeated" in both and a["repeated"] != b["repeated"]
    if once and _shared(a["rows"], b["rows"]) >= ROWS_WRITTEN_TWICE * ROWS:
        return True
    telling = {"near rows"} if "repeated" in both and (a["repeated"] or b["repeated"]) else {"rows", "near rows"}
    if any(_shared(a[part], b[part]) >= ROWS_ALIKE * ROWS for part in both & telling):
        return True
    if any(_columns_alike(a[part], b[part]) for part in both & {"columns", "near columns"}):
        return True
    if "counts" not in both:
        return False
    values = _shared(a["counted"], b["counted"])
    return values >= LEAST_COUNTED and _shared(a["counts"], b["counts"]) >= COUNTS_ALIKE * 2 * values


def _shared(one: list[str], other: list[str]) -> int:
    return len(set(one) & set(other))


def _columns_alike(one: list[list[str]], other: list[list[str]]) -> bool:
    shared = sum(any(_shared(x, y) >= VALUES / 2 for y in other) for x in one)
    return shared >= max(1, COLUMNS_ALIKE * min(len(one), len(other)))


def _repeated(found: Sketch) -> bool:
    """True when so many of the kept rows occur twice that other people's table would have many of them."""
    return float((found.repeats > 1).mean()) > _REPEATED


def _values_with_counts(kind: str, values: np.ndarray, counts: np.ndarray) -> list[tuple[str, int, int]]:
    """The kept values of a column; none for one of few different values, which any table may have."""
    if len(values) < VALUES:
        return []
    return [(kind, h, c) for h, c in zip(values.tolist(), counts.tolist(), strict=True)]


def _counted(near: Sketch, columns: tuple[str, ...]) -> Iterator[tuple[tuple, int]]:
    """(a value by the names of its columns, how often it occurs), of columns and pairs of columns of few values."""
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
    """Every count on two grids, one moved by half a step: a small change leaves it in its place on one of them."""
    found = []
    for value, count in counted:
        at = 2 * math.sqrt(count) / _COUNT_STEP
        found += [(*value, "grid", 0, math.floor(at)), (*value, "grid", 1, math.floor(at + 0.5))]
    return found


def _sealed(key: bytes, items: list, size: int, digits: int = _LONG) -> list[str]:
    """Keyed hashes in an order that says nothing, filled up to ``size``."""
    found = [hmac.new(key, repr(item).encode(), hashlib.sha256).hexdigest()[:digits] for item in items]
    return sorted(found + [secrets.token_hex(digits // 2) for _ in range(size - len(found))])


def _secrets(key: bytes) -> tuple[int, ...]:
    """The secret numbers of `sketch.Mixer`, from which the key cannot be found."""
    drawn = np.frombuffer(hashlib.blake2b(b"cells", key=key, digest_size=32).digest(), dtype=np.uint64)
    first, odd, other, last = map(int, drawn)
    return first, odd | 1, other | 1, last
