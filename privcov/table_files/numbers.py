"""What a cell of a CSV file says, the same for every way of reading it."""

from __future__ import annotations

import itertools
import math

_MISSING = frozenset(("", "na", "n/a", "nan", "null"))
# the same in every mixture of cases, for a reader that compares letter by letter
SPELLINGS = sorted(
    "".join(letters) for word in _MISSING for letters in itertools.product(*({c, c.upper()} for c in word))
)


def number_of(cell: str) -> float | None:
    """A float with a decimal point, NaN for a missing cell, None for what is neither; blanks around it do not count."""
    cell = cell.strip()
    if cell.lower() in _MISSING:
        return math.nan
    try:
        return None if "_" in cell else float(cell)  # float() would read 1_2 as 12
    except ValueError:
        return None
