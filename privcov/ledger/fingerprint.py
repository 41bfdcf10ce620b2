"""Recognising a table that the ledger has seen before, without keeping anything of it.

A fingerprint holds a keyed hash of the whole, 256 of rows and, for every column, 16 of its values with how often they
occur; all whatever the order. The same rows and values are chosen again from the same or a nearly identical table: rows
taken out or added, cells edited, rows or columns reordered, columns renamed or left out. What it cannot recognise: all
values changed (another unit, rounding, added noise), a small share of the rows of a large table, and changed tables of
fewer than 26 rows. Then the declared name alone counts, and it is the owner's to keep. Two tables of few possible rows
(answers of yes and no) may look alike without being so; the owner can say that they are different.

The hashes are keyed by a secret file beside the ledger. Who has both files can test a guess for a row; neither leaves
the machine, and a release holds no part of them. Free places are filled with random numbers, so that the length tells
no number of rows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets

import numpy as np

from privcov.dataset import FileRows
from privcov.measurements.file_moment import sums_of
from privcov.measurements.sketch import ROWS, VALUES, sketch_of
from privcov.private_dataset import PrivateDataset

ROWS_ALIKE, COLUMNS_ALIKE = 0.1, 0.5


def fingerprint(private: PrivateDataset, key: bytes) -> str:
    """The fingerprint of a table under the secret key, as JSON text. Of files, it comes from their one pass."""
    numbers = _secrets(key)
    rows = private._rows
    found = sums_of(private, numbers).sketch if isinstance(rows, FileRows) else sketch_of(rows, numbers)
    written = [_sealed(key, [("row", int(h)) for h in found.rows], ROWS)]
    written += [_sealed(key, _values_with_counts(*column), VALUES) for column in found.columns]
    same = _sealed(key, [("table", found.whole)], 1)
    return json.dumps({"table": same, "rows": written[0], "columns": written[1:]})


def alike(one: str, other: str) -> bool:
    """True when two fingerprints under one key are of the same or a nearly identical table."""
    a, b = json.loads(one), json.loads(other)
    if a["table"] == b["table"] or len(set(a["rows"]) & set(b["rows"])) >= ROWS_ALIKE * ROWS:
        return True
    shared = sum(any(len(set(x) & set(y)) >= VALUES / 2 for y in b["columns"]) for x in a["columns"])
    return shared >= max(1, COLUMNS_ALIKE * min(len(a["columns"]), len(b["columns"])))


def _values_with_counts(values: np.ndarray, counts: np.ndarray) -> list[tuple[str, int, int]]:
    """The kept values of a column; none for one of few different values, which any table may have."""
    if len(values) < VALUES:
        return []
    return [("value", h, c) for h, c in zip(values.tolist(), counts.tolist(), strict=True)]


def _sealed(key: bytes, items: list, size: int) -> list[str]:
    """Keyed hashes in an order that says nothing, filled up to ``size``."""
    found = [hmac.new(key, repr(item).encode(), hashlib.sha256).hexdigest()[:16] for item in items]
    return sorted(found + [secrets.token_hex(8) for _ in range(size - len(found))])


def _secrets(key: bytes) -> tuple[int, ...]:
    """The secret numbers of `sketch.Mixer`, from which the key cannot be found."""
    drawn = np.frombuffer(hashlib.blake2b(b"cells", key=key, digest_size=32).digest(), dtype=np.uint64)
    first, odd, other, last = map(int, drawn)
    return first, odd | 1, other | 1, last
