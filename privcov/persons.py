"""Ids of persons: which rows are of one person, decided by the text of the id alone.

Ids are compared as text, without the blanks at both ends; upper and lower case differ. A whole number counts as its
digits, whatever wrote it: 17, 17.0, "17", " 17 " and "17.0" are one person, "017" another. A missing cell, or one of
the spellings of a missing number (an empty text, NA, N/A, NaN, null in any case), is no id: its row counts as no row.

In memory texts are compared exactly. Over files they are compared by 128 bits of a hash with a key that is drawn for
the table: among 10^8 persons two share them with a chance below 10^-22, and nobody can write ids that do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

MISSING = frozenset(("", "na", "n/a", "nan", "null"))  # a missing cell, without the blanks and in lower case
_NO_ID = frozenset((*MISSING, "<na>", "nat"))  # with the texts of pandas' missing values
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0+")


def id_text(value: object) -> str:
    """Return the text by which an id is compared.

    Parameters
    ----------
    value : object
        The id, as text or a number.

    Returns
    -------
    str
        "" where it is missing.

    Examples
    --------
    >>> [id_text(v) for v in (17, 17.0, " 17.0", "017", "N/A", None)]
    ['17', '17', '17', '017', '', '']
    """
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.lower() in _NO_ID:
        return ""
    whole = _WHOLE.fullmatch(text)
    return whole.group(1) if whole else text


def rows_of_persons(ids: Sequence[object] | np.ndarray, n: int) -> tuple[int, np.ndarray]:
    """Return the number of persons and, for each row, the number of rows of its person.

    Parameters
    ----------
    ids : sequence of length n
        The id of each row's person.
    n : int
        Number of rows.

    Returns
    -------
    tuple of (int, ndarray of shape (n,))
        int64; 0 for a row without an id.

    Raises
    ------
    ValueError
        Where the number of ids is not n.
    """
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if len(values) != n:
        raise ValueError("persons must have one entry per row.")
    place: dict[str, int] = {"": 0}
    at = np.array([place.setdefault(text, len(place)) for text in _texts(values)], dtype=np.int64)
    counts = np.bincount(at, minlength=1)
    counts[0] = 0
    return len(place) - 1, counts[at]


def _texts(values: Iterable[object]) -> Iterable[str]:
    """Yield the text of each id."""
    return map(id_text, values)
