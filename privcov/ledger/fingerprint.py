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

from privcov.private_dataset import PrivateDataset

ROWS, VALUES = 256, 16
ROWS_ALIKE, COLUMNS_ALIKE = 0.1, 0.5
_BLOCK_ENTRIES = 400_000


def fingerprint(private: PrivateDataset, key: bytes) -> str:
    """The fingerprint of a table under the secret key, as JSON text."""
    mix = _Mixer(key)
    rows = private._rows
    step = max(1, _BLOCK_ENTRIES // rows.shape[1])
    best, kept, cut = np.empty(0, np.uint64), [[] for _ in range(rows.shape[1])], None
    whole = 0
    for start in range(0, len(rows), step):
        cells = mix(rows[start : start + step])
        lines = mix.finish(cells.sum(axis=1, dtype=np.uint64))
        whole = (whole + int(lines.sum(dtype=np.uint64))) % 2**64
        best = np.unique(np.concatenate([best, lines]))[:ROWS]
        if cut is None:
            # The lowest of all are not above the lowest of the first block; where that has few, no column is kept.
            distinct = [np.unique(column) for column in cells.T]
            cut = np.array([u[VALUES - 1] if len(u) >= VALUES else 0 for u in distinct], dtype=np.uint64)
        for column, found in enumerate(kept):
            found.append(cells[cells[:, column] <= cut[column], column])
    columns = [_values_with_counts(np.concatenate(found)) for found in kept]
    written = [_sealed(key, [("row", int(h)) for h in best], ROWS)]
    written += [_sealed(key, [("value", int(h), int(c)) for h, c in pairs], VALUES) for pairs in columns]
    same = _sealed(key, [("table", whole)], 1)
    return json.dumps({"table": same, "rows": written[0], "columns": written[1:]})


def alike(one: str, other: str) -> bool:
    """True when two fingerprints under one key are of the same or a nearly identical table."""
    a, b = json.loads(one), json.loads(other)
    if a["table"] == b["table"] or len(set(a["rows"]) & set(b["rows"])) >= ROWS_ALIKE * ROWS:
        return True
    shared = sum(any(len(set(x) & set(y)) >= VALUES / 2 for y in b["columns"]) for x in a["columns"])
    return shared >= max(1, COLUMNS_ALIKE * min(len(a["columns"]), len(b["columns"])))


def _values_with_counts(hashes: np.ndarray) -> list[tuple[int, int]]:
    """The lowest hashes with their counts; none for a column of few different values, which any table may have."""
    values, counts = np.unique(hashes, return_counts=True)
    if len(values) < VALUES:
        return []
    return list(zip(values[:VALUES].tolist(), counts[:VALUES].tolist(), strict=True))


def _sealed(key: bytes, items: list, size: int) -> list[str]:
    """Keyed hashes in an order that says nothing, filled up to ``size``."""
    found = [hmac.new(key, repr(item).encode(), hashlib.sha256).hexdigest()[:16] for item in items]
    return sorted(found + [secrets.token_hex(8) for _ in range(size - len(found))])


class _Mixer:
    """64-bit hashing of many numbers at once with secret constants; what is kept is sealed with HMAC afterwards."""

    def __init__(self, key: bytes) -> None:
        drawn = np.frombuffer(hashlib.blake2b(b"cells", key=key, digest_size=32).digest(), dtype=np.uint64)
        self.first, self.last = drawn[0], drawn[3]
        self.odd = drawn[1:3] | np.uint64(1)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)  # one NaN, and one zero
        return self._stir(bits ^ self.first)

    def finish(self, sums: np.ndarray) -> np.ndarray:
        return self._stir(sums ^ self.last)

    def _stir(self, x: np.ndarray) -> np.ndarray:
        x = x * self.odd[0]
        x ^= x >> np.uint64(32)
        x *= self.odd[1]
        x ^= x >> np.uint64(29)
        x *= self.odd[0]
        x ^= x >> np.uint64(32)
        return x
