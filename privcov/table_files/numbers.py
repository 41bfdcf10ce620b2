"""Parse a cell of a CSV file, the same for every way of reading it."""

from __future__ import annotations

import itertools
import math

from privcov.persons import MISSING

# in every mixture of upper and lower case, for a reader that compares exactly
SPELLINGS = sorted(
    "".join(letters) for word in MISSING for letters in itertools.product(*({c, c.upper()} for c in word))
)


def number_of(cell: str, decimal: str | None = ".") -> float | None:
    """Return a float with the decimal mark, NaN for a missing cell, None for any other text.

    Blanks around the text are ignored.
    """
    cell = cell.strip()
    if cell.lower() in MISSING:
        return math.nan
    if decimal == ",":
        cell = "" if "." in cell else cell.replace(",", ".")  # the other mark is in no number
    try:
        return None if "_" in cell else float(cell)  # float() would read 1_2 as 12
    except ValueError:
        return None
