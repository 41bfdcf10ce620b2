"""The fingerprint by which the ledger recognises a table: sums of hashes over all rows.

Each row has three hashes: of its cells with the names of their columns, of the same with the row's person, and of the
same with the row's class. The fingerprint is the sum of each hash over all rows, modulo 2^64. It does not depend on the
order of rows and columns, nor on how the table is divided into files. The hashes use four secret numbers, which
`privcov.ledger.fingerprint` derives from the ledger's key. The sums are not private and never leave the process that
reads the table.
"""

from __future__ import annotations

import hashlib

import numpy as np

_BLOCK_ENTRIES = 400_000


class Mixer:
    """64-bit hashing of many numbers at once, with four secret whole numbers below 2^64, the middle two odd."""

    def __init__(self, secrets: tuple[int, ...]) -> None:
        self.first, self.odd, self.other, self.last = np.array(secrets, dtype=np.uint64)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the hash of each number: float64 of any shape; all NaN have one hash, and so have both zeros."""
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)  # one NaN, and one zero
        return self._stir(bits ^ self.first)

    def finish(self, sums: np.ndarray) -> np.ndarray:
        """Return the hash of a row from the sum of those of its cells."""
        return self._stir(sums ^ self.last)

    def _stir(self, x: np.ndarray) -> np.ndarray:
        x = x * self.odd
        x ^= x >> np.uint64(32)
        x *= self.other
        x ^= x >> np.uint64(29)
        x *= self.odd
        x ^= x >> np.uint64(32)
        return x


class MarkAccumulator:
    """The sums of a table, computed block by block: NOT private."""

    def __init__(self, secrets: tuple[int, ...], columns: tuple[str, ...]) -> None:
        names = [hashlib.sha256(name.encode()).digest()[:8] for name in columns]
        self._labels = np.array([int.from_bytes(name, "little") | 1 for name in names], dtype=np.uint64)[:, None]
        self._mix = Mixer(secrets)
        self.sums: tuple[int, ...] = (0, 0, 0)

    def take(self, cells: np.ndarray, person: np.ndarray | None = None, code: np.ndarray | None = None) -> None:
        """Add one more block, d x b float64, with a uint64 hash of each row's person and the position of its class."""
        mix, block_sums = self._mix, []
        line = (mix(cells) * self._labels).sum(axis=0, dtype=np.uint64)
        for part, factor in ((None, None), (person, mix.odd), (code, mix.other)):
            if part is not None:
                line = line + mix.finish(part.astype(np.uint64)) * factor
            block_sums.append(int(mix.finish(line).sum(dtype=np.uint64)))
        self.sums = together(self.sums, tuple(block_sums))


def together(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sums of both tables together."""
    return tuple((a + b) % 2**64 for a, b in zip(one, other, strict=True))


def marks_of(
    rows: np.ndarray,
    columns: tuple[str, ...],
    secrets: tuple[int, ...],
    person: np.ndarray | None = None,
    code: np.ndarray | None = None,
) -> tuple[int, ...]:
    """Return the sums of a table in memory."""
    marking, step = MarkAccumulator(secrets, columns), max(1, _BLOCK_ENTRIES // rows.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        own = [None if of is None else of[part] for of in (person, code)]
        marking.take(np.ascontiguousarray(rows[part].T), *own)
    return marking.sums
