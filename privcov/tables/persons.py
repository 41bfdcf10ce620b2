"""Ids of persons: which rows are of one person, decided by the text of the id alone.

Ids are compared as text, without the blanks at both ends; upper and lower case differ. A whole number counts as its
digits, whatever wrote it: 17, 17.0, "17", " 17 ", "17.0" and "+17" are one person, "017" another; 1e16 and the text
"1e+16", which is how programs write it, are one. A missing cell is no id, and neither is an empty text, NA, N/A,
NaN or null in any case. A row without an id counts as no row.

In memory texts are compared exactly. Over files they are compared by 128 bits of a hash with a key that is drawn for
the table: among 10^8 persons the chance that two share these bits is below 10^-22, and nobody can construct
such ids.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from decimal import Context

import numpy as np

from privcov.core import checks

MISSING = frozenset(("", "na", "n/a", "nan", "null"))  # a missing cell, without the blanks and in lower case
NO_VALUE = ("NAType", "NaTType", "MaskedConstant")  # names of the types of pandas and numpy for "no value"
_NO_ID = frozenset((*MISSING, "<na>", "nat"))  # with the texts of pandas' missing values
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:e\+[0-9]{2,3})?")
_LONGEST_NUMBER = 500  # letters
_EXACT = Context(prec=2000)  # more digits than a number of that form may have before its point


def id_text(value: object) -> str:
    """Return the text by which an id is compared: "17" for 17, 17.0 and " 17.0", "017" for "017", "" for "N/A"."""
    if value is None or type(value).__name__ in NO_VALUE:
        return ""
    if isinstance(value, (float, np.floating)):
        value = repr(float(value))  # as pandas and Parquet's readers write it, also beyond 10^16
    try:
        text = (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()
    except ValueError:  # a number of more digits than Python writes
        return ""
    if type(value) is int:
        return text
    if text.lower() in _NO_ID:
        return ""
    if not _NUMBER.fullmatch(text) or len(text) > _LONGEST_NUMBER:
        return text
    number = _EXACT.create_decimal(text)
    return str(int(number)) if number == _EXACT.to_integral_value(number) else text


def rows_of_persons(ids: Sequence[object] | np.ndarray, n: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of persons and, for each row, the number of rows of its person and the hash of its id."""
    if isinstance(ids, str):
        raise ValueError(f"persons must be the ids of all rows. Name a column of a data frame as person={ids!r}.")
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if any(map(checks.is_many, values)):
        raise ValueError("persons must be one id for each row, and the entries here are lists.")
    if len(values) != n:
        raise ValueError("persons must have one entry per row.")
    place: dict[str, int] = {"": 0}
    at = np.array([place.setdefault(text, len(place)) for text in map(id_text, values)], dtype=np.int64)
    counts = np.bincount(at, minlength=1)
    counts[0] = 0
    return len(place) - 1, counts[at], id_hashes(place)[at]


def id_hashes(texts: Iterable[str]) -> np.ndarray:
    """Return 64 bits of each id, uint64, 0 for "": for the ledger's fingerprint, which mixes its key in."""

    def one(text: str) -> int:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "little") if text else 0

    return np.array([one(text) for text in texts], dtype=np.uint64)
