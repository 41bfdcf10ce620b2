"""The ids of a table in files: how many rows each person has, counted before the rows are summed.

The first of two passes reads the column of ids alone, part by part. The second sums the rows
(`measurements.exact.file_pass`) and counts the ids of each part again: it stops where the ids differ from the first
pass, so the weights always belong to the summed rows. Ids are kept as 128 bits of a keyed hash, in order, never as
texts.

Nothing here is private: ids, counts and the number of rows stay with the owner.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcov.core import parallel
from privcov.tables.readers import Block, Part, TableFileError, TableFiles, blocks_of, parts_of

_BYTES, _KEY_BYTES = 16, 32
_HASH = np.dtype(f"S{_BYTES}")  # compared as bytes; two of the same length are equal where all their bytes are
_BLOCK_ROWS = 65_536
_PENDING = 1_000_000  # hashes that wait before they are merged


@dataclass(frozen=True, eq=False, repr=False)  # a message may repeat the repr of what it is about
class PartIds:
    """The ids in one part of a table: NOT private.

    key: of the hashes. hashes: the different ids, ascending. here, everywhere: rows of each in this part, in the table.
    """

    key: bytes
    hashes: np.ndarray
    here: np.ndarray
    everywhere: np.ndarray


class IdsChanged(ValueError):
    """Raised where a part holds other ids than were counted; the message says nothing about them."""


class Weighing:
    """The number of rows of each row's person, block by block, from the ids of the first pass."""

    def __init__(self, ids: PartIds) -> None:
        self._ids, self._left = ids, ids.here.copy()

    def rows_of_persons(self, block: Block) -> np.ndarray:
        """Return, for each row of a block, the rows of its person in the whole table; 0 without an id."""
        codes, hashes, counts = _of_block(block, self._ids.key)
        at = np.searchsorted(self._ids.hashes, hashes)
        in_range = at < len(self._ids.hashes)
        if not in_range.all() or (self._ids.hashes[at] != hashes).any():
            raise IdsChanged
        np.subtract.at(self._left, at, counts)
        return np.append(self._ids.everywhere[at], 0)[codes]

    def end(self) -> None:
        """Check that every id was met as often as it was counted; raise `IdsChanged` where one was not."""
        if self._left.any():
            raise IdsChanged


def count_ids(table: TableFiles) -> tuple[int, tuple[PartIds, ...]]:
    """Count the rows of every id in all files, in parallel."""
    key = secrets.token_bytes(_KEY_BYTES)
    tasks = [(part, table.person, key) for part in parts_of(table)]
    counts: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for at, answer in parallel.run_tasks(_count_part, tasks, threads=True):
        if isinstance(answer, str):
            raise TableFileError(answer)
        counts[at] = answer
    every, rows = _merged([counts[at] for at in range(len(tasks))])
    parts = (
        PartIds(key, hashes, here, rows[np.searchsorted(every, hashes)])
        for hashes, here in (counts[at] for at in range(len(tasks)))
    )
    return len(every), tuple(parts)


def _count_part(task: tuple[Part, str, bytes]) -> tuple[np.ndarray, np.ndarray] | str:
    """Return the ascending hashes of the ids of one part, with their rows, or a sentence in place of an error."""
    part, person, key = task
    try:
        counts: list[tuple[np.ndarray, np.ndarray]] = []
        for block in blocks_of(part, (), rows=_BLOCK_ROWS, private=True, person=person):
            counts.append(_of_block(block, key)[1:])
            if sum(len(hashes) for hashes, _ in counts) > _PENDING:
                counts = [_merged(counts)]
        return _merged(counts)
    except TableFileError as problem:
        return str(problem)
    except MemoryError:
        return "The memory did not suffice for the ids of the table. Use fewer workers (PRIVCOV_WORKERS)."
    except Exception:  # even the kind of an error may depend on a row
        return f"The ids of a part of the table could not be counted ({part.file.path}). Check the column of ids."


def _of_block(block: Block, key: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (each row's place among the ids, -1 without one; the hashes of the ids; their rows)."""
    assert block.ids is not None, "the column of ids is read with the cells"
    texts, codes = block.ids
    place, present = np.full(len(texts), -1), [at for at, text in enumerate(texts) if text]
    place[present] = np.arange(len(present))
    codes = place[codes]
    hashes = np.frombuffer(b"".join(_hash(texts[at], key) for at in present), _HASH)
    return codes, hashes, np.bincount(codes[codes >= 0], minlength=len(present))


def _hash(text: str, key: bytes) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=_BYTES).digest()


def _merged(counts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the different hashes of all, ascending, and the sum of the rows of each."""
    hashes = np.concatenate([np.empty(0, _HASH), *(some for some, _ in counts)])
    rows = np.concatenate([np.empty(0, np.int64), *(some for _, some in counts)])
    different, at = np.unique(hashes, return_inverse=True)
    totals = np.zeros(len(different), np.int64)
    np.add.at(totals, at, rows)
    return different, totals
