"""Recognise a table that the ledger has seen before, without keeping anything of it.

A fingerprint holds keyed hashes, whatever the order of rows and columns:

    of the whole table, of 256 rows and, for every column, of 16 values with how often they occur;
    of 256 rows and of the same values after all cells were rounded, so that a tiny change of every cell is none;
    of how often values occur, and pairs of values, in columns of few values, each in two steps of about a quarter of
    the count's own spread.

The same rows and values are chosen again from the same or a nearly identical table: rows taken out or added, cells
edited, rows or columns reordered, columns left out, added or renamed. Where rows repeat, as in a table of few answers,
rows alone are little evidence; there the counts decide, which withstand a few edited rows. They and the rounded rows
identify a column by its name. How often a table is missed, and another one taken for it, `python -m tests.recognition`
measures. What is not recognised: all values changed (another unit, added noise), a small fraction of the rows of a
large table, changed tables of fewer than 26 rows; and where rows repeat, more than a few rows less, or new names and a
change as well. Then the declared name alone counts, and keeping to it is up to the owner. Two tables may look alike
without being so; the owner can declare that they are different.

The hashes are keyed by a secret file beside the ledger. With both files one can test a guess for a row or a count;
neither leaves the machine, and a release holds no part of them. Free places are filled with random numbers, so that the
length reveals no number of rows or values.
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
ROWS_WRITTEN_TWICE = 0.25  # in tables of other people, 100 to 30,000 rows of answers, at most 16 of 256 were shared
LEAST_COUNTED = 4
# Fraction of the kept rows; beyond it another table of the same kind has many of them too.
_REPEATED = 0.02
_COUNTED_COLUMNS, _COUNTED_VALUES = 40, 8
_COUNT_STEP = 0.5  # of 2 sqrt(count), whose spread from table to table is about 1
_SHORT, _LONG = 8, 16  # hexadecimal digits of a hash


def fingerprint(private: PrivateDataset, key: bytes) -> str:
    """Return the fingerprint of a table under the secret key, as JSON text.

    For a table in files it comes from their one pass.

    Parameters
    ----------
    private : PrivateDataset
        The table.
    key : bytes
        The ledger's key.

    Returns
    -------
    str
        For `alike`; never for publication.

    Guarantee
    ---------
    None: the text depends on the rows. It stays in the ledger, behind the key, and no release holds a part of it.
    """
    numbers, rows, facts = _secrets(key), private._rows, private.facts
    sketch = (
        sums_of(private, numbers).sketch if isinstance(rows, FileRows) else sketch_of(rows, numbers, near_of(facts))
    )
    assert sketch is not None, "the sketch of a table has that of its rounded cells"
    assert sketch.rounded is not None
    near = sketch.rounded
    near_rows = [] if _repeated(near) else [("near row", int(h)) for h in near.rows]
    counted = list(_counted(near, facts.columns))
    groups = min(_COUNTED_COLUMNS, facts.d) + math.comb(min(PAIRED, facts.d), 2)
    return json.dumps(
        {
            "table": _sealed(key, [("table", sketch.whole)], 1),
            "rows": _sealed(key, [("row", int(h)) for h in sketch.rows], ROWS),
            "columns": [_sealed(key, _values_with_counts("value", *c), VALUES) for c in sketch.columns],
            "repeated": _repeated(sketch),
            "near rows": _sealed(key, near_rows, ROWS, _SHORT),
            "near columns": [_sealed(key, _values_with_counts("near value", *c), VALUES, _SHORT) for c in near.columns],
            "counted": _sealed(key, [value for value, _ in counted], _COUNTED_VALUES * groups, _SHORT),
            "counts": _sealed(key, _steps(counted), 2 * _COUNTED_VALUES * groups, _SHORT),
        }
    )


def alike(one: str, other: str) -> bool:
    """Return True when two fingerprints under one key are of the same or a nearly identical table.

    What only one of them has, because an earlier version made the other, is left out.

    Parameters
    ----------
    one, other : str
        From `fingerprint`, with the same key.

    Returns
    -------
    bool
        Two tables may look alike without being so.
    """
    a, b = json.loads(one), json.loads(other)
    if a["table"] == b["table"]:
        return True
    both = a.keys() & b.keys()
    # Rows that repeat in one table and not in the other are those of many answers, written twice: few other people have
    # them. They are evidence too, but more of them are needed than where none repeats.
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
    """Return True when so many of the kept rows occur twice that an unrelated table would have many of them."""
    return float((sketch.repeats > 1).mean()) > _REPEATED


def _values_with_counts(kind: str, values: np.ndarray, counts: np.ndarray) -> list[tuple[str, int, int]]:
    """Return the kept values of a column; none for a column of few different values, which any table may have."""
    if len(values) < VALUES:
        return []
    return [(kind, h, c) for h, c in zip(values.tolist(), counts.tolist(), strict=True)]


def _counted(near: Sketch, columns: tuple[str, ...]) -> Iterator[tuple[tuple, int]]:
    """Yield a value by the names of its columns and its count, of columns and pairs of columns of few values."""
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
    """Return every count on two grids, one moved by half a step: a small change leaves it in place on one of them."""
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
