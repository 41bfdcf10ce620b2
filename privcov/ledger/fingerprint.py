"""Recognise a table that is already in the ledger, from keyed hashes of it.

A fingerprint does not depend on the order of rows and columns. It holds three hashes of the whole table: of its cells,
of these with the persons, and of these with the classes of their rows. So the same table is recognised, and a changed
one is another table; whether it holds the same people only its owner can say.

The hashes are keyed by a secret file next to the ledger. Whoever has both files can test a guess of the whole table. A
release holds no part of either.
"""

from __future__ import annotations

import hashlib
import hmac
import json

import numpy as np

from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.exact.file_pass.marks import marks_of
from privcov.tables.dataset import FileRows
from privcov.tables.private_dataset import PrivateDataset

_PARTS = ("cells", "persons", "classes")  # of every row: its cells, these and its person, these and its class


def fingerprint(private: PrivateDataset, key: bytes, anchor: int | None = None) -> str:
    """Return the fingerprint of a table under the secret key, as JSON text; of files, from their one pass."""
    numbers, rows = _secrets(key), private._rows
    if isinstance(rows, FileRows):
        marks = sums_of(private, numbers, anchor).marks
    else:
        marks = marks_of(rows, private.facts.columns, numbers, private._person_of, private._class_of)
    assert marks is not None, "a pass with secret numbers marks the table"
    return json.dumps({name: _sealed(key, name, mark) for name, mark in zip(_PARTS, marks, strict=True)})


def other_persons(one: str, other: str) -> bool:
    """Return True when two fingerprints have the same rows and different persons."""
    a, b = json.loads(one), json.loads(other)
    return bool(a["cells"] == b["cells"] and a["persons"] != b["persons"])


def same_table(one: str, other: str) -> bool:
    """Return whether fingerprints under one key are of one table in any order: equal cells, persons and classes."""
    return bool(json.loads(one)["classes"] == json.loads(other)["classes"])


def same_cells(one: str, other: str) -> bool:
    """Return True when two fingerprints under one key are of the same rows, whatever their persons and classes."""
    return bool(json.loads(one)["cells"] == json.loads(other)["cells"])


def _sealed(key: bytes, name: str, mark: int) -> str:
    return hmac.new(key, f"{name} {mark}".encode(), hashlib.sha256).hexdigest()[:32]


def _secrets(key: bytes) -> tuple[int, ...]:
    """Return the secret numbers of `marks.Mixer`, from which the key cannot be computed."""
    numbers = np.frombuffer(hashlib.blake2b(b"cells", key=key, digest_size=32).digest(), dtype=np.uint64)
    first, odd, other, last = map(int, numbers)
    return first, odd | 1, other | 1, last
