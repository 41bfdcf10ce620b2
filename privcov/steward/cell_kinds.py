"""What unreadable cells look like, and which numbers look like codes for missing cells."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from privcov.tables.readers.numbers import number_of

COMMA = "numbers with a comma"
POINT = "numbers with a decimal point"
AS_TEXT = "numbers stored as text"
TRUTH = "true/false or yes/no"
DATES = "dates or times"
ABSENT = "words or signs for a missing cell"
LETTERS = "single letters, such as F and M"
UNITS = "numbers with a unit or sign"
UNLISTED = "texts that are no declared level"
UNDATED = "texts that are no date in the declared format"
TEXT = "text"
REMEDIES = {
    COMMA: "declare the decimal mark of the file, and what stands between its thousands",
    POINT: "declare the decimal mark of the file, and what stands between its thousands, and write both throughout",
    AS_TEXT: "write the column as numbers",
    TRUTH: "declare the column as yes-no with its two texts, or write 1 and 0",
    DATES: "declare the column as a date with the form in which it is written, or write the days since a fixed date",
    ABSENT: "nothing needs to be done: such a cell is a missing one",
    LETTERS: "declare the column as yes-no or category with its levels, or as the classes, or write 0 and 1",
    UNITS: "write the bare numbers, all in one unit",
    UNLISTED: "list them among the values, or declare other=True for a category",
    UNDATED: "declare the format in which they are written",
    TEXT: "declare the column as ordinal or category with its levels, leave it out, or write numbers",
}
_TRUTHS = frozenset(("true", "false", "yes", "no", "wahr", "falsch", "ja", "nein", "vrai", "faux", "oui", "non"))
_ABSENT = frozenset(
    ("none", "missing", "unknown", "nil", "void", "n.a.", "n.a", "#n/a", "#value!", "#div/0!", "not available", "<na>")
)
_KINDS = (
    (re.compile(r"[+-]?\d[\d.'\u00a0\u202f ]*,\d[\d,.]*(e[+-]?\d+)?", re.IGNORECASE), COMMA),
    (re.compile(r"\d{4}-\d{1,2}(-\d{1,2})?([t ].*)?|\d{1,4}([./-])\d{1,2}\3\d{1,4}( .*)?", re.IGNORECASE), DATES),
    (re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[ap]m)?", re.IGNORECASE), DATES),
    (re.compile(r"[^\w\s]+"), ABSENT),
    (re.compile(r"[^\W\d_]"), LETTERS),
    (re.compile(r"[^\w\s]{0,2} ?[+-]?\d[\d.,']* ?[^\d\s]{1,12}|[^\w\s+-]{1,2} ?[+-]?\d[\d.,']*"), UNITS),
)
_DATE_TYPES = ("date", "time")
_LONGEST = 60  # a text beyond it is no number of any kind


def kind_of(text: str, type_name: str = "", decimal: str | None = ".") -> str:
    """Return what an unreadable cell looks like.

    type_name: the column's type in its file; "" for numbers and for the texts of a CSV. decimal: its decimal mark.
    """
    cell = text.strip()
    if type_name and not cell:
        return DATES if type_name.startswith(_DATE_TYPES) else f"values of the type {type_name}"
    if number_of(cell) is not None:
        return AS_TEXT if decimal == "." else POINT
    if cell.lower() in _TRUTHS:
        return TRUTH
    if cell.lower() in _ABSENT:
        return ABSENT
    if len(cell) > _LONGEST:
        return TEXT
    return next((kind for pattern, kind in _KINDS if pattern.fullmatch(cell)), TEXT)


# --- codes --------------------------------------------------------------------------------------------------

_NINES = frozenset(float(sign * int("9" * digits)) for digits in range(2, 6) for sign in (1, -1))
_OTHERS = frozenset((-1.0, -7.0, -8.0, -9.0, *(float(k * "1") * d for k in range(1, 5) for d in (7, 8)), 9.0))
CODES = _NINES | _OTHERS


class Codes:
    """Counts of the numbers that surveys write for "no answer": outside the bounds, or 99, 999 ... at their edge.

    Such a number is reported only where it stands out: at least twice, and more often than its neighbours together.
    """

    def __init__(self, low: float | None, high: float | None) -> None:
        self.everywhere = low is None or high is None
        if low is None or high is None:
            self.codes = sorted(_NINES)
        else:
            edges = _NINES & {float(low), float(high)}
            self.codes = sorted({code for code in CODES if not low <= code <= high} | edges)
            self.low, self.high = low + 2 * (low in edges), high - 2 * (high in edges)
        self._watched = np.array(sorted({v for code in self.codes for v in (code, *_beside(code))}))
        self._counts: Counter = Counter()

    def take(self, cells: np.ndarray) -> None:
        """Count some more finite numbers."""
        if not self.everywhere:
            cells = cells[(cells < self.low) | (cells > self.high)]
        if len(cells) and len(self._watched):
            at = np.searchsorted(self._watched, cells)
            at[at == len(self._watched)] = 0
            hits = at[self._watched[at] == cells]
            for place, count in zip(*np.unique(hits, return_counts=True), strict=True):
                self._counts[float(self._watched[place])] += int(count)

    def occurrences(self) -> dict[float, int]:
        """Return how often each code occurs, for those that stand out."""
        counts = self._counts
        return {c: counts[c] for c in self.codes if counts[c] >= 2 and counts[c] > sum(counts[v] for v in _beside(c))}


def _beside(code: float) -> tuple[float, float]:
    """Return the nearest whole numbers on either side that are no codes themselves."""
    below, above = code - 1, code + 1
    while below in CODES:
        below -= 1
    while above in CODES:
        above += 1
    return below, above
