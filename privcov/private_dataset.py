"""Rows that must be protected, the public facts about them, and the sealed form in which a method meets them.

Nothing here holds a truth, and nothing here can be asked for an error, a tuning or a number of rows that is not public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from privcov import checks
from privcov.privacy import ADD_REMOVE, REPLACE_ONE, Neighbours

MOST_ROWS = 4_000_000
MOST_COLUMNS = 200
MOST_CLASSES = 100
MISSING_RULES = ("typical", "drop-row")
_OUTSIDE = "Take it from domain knowledge, never from the data."


@dataclass(frozen=True, eq=False)
class Facts:
    """What is publicly declared about a private table; it holds nothing that was read off the rows.

    Working units are those of `Dataset`: y = (clip(x, low, high) - origin) / scale, without bounds y = x.
    n: number of rows where it is declared public, else None. classes: public list of label names, or ().
    rows_per_person: most rows one person has; the guarantee is for all of them together.
    missing: "typical" (a missing or infinite cell counts as the typical value, zero without bounds) or "drop-row"
        (a row with such a cell is left out; only where n is not public).
    """

    columns: tuple[str, ...]
    row_bound: float
    bounds: np.ndarray | None
    origin: np.ndarray
    scale: np.ndarray
    n: int | None
    classes: tuple[str, ...] = ()
    rows_per_person: int = 1
    missing: str = "typical"

    @property
    def d(self) -> int:
        return len(self.columns)

    @property
    def relation(self) -> str:
        """Key of the neighbouring relation: replace-one where n is public, else add-remove."""
        return "add-remove" if self.n is None else "replace-one"

    @property
    def neighbours(self) -> Neighbours:
        base, k = (ADD_REMOVE if self.n is None else REPLACE_ONE), self.rows_per_person
        if k == 1:
            return base
        sentence = (
            f"two tables, one of which has up to {k} rows more, those of one person; the number of rows is not public"
            if self.n is None
            else f"two tables of the same public number of rows n that differ in up to {k} rows, those of one person"
        )
        return Neighbours(base.key, sentence, f"one of up to {k} rows of a person, who is protected as a whole")

    def to_dict(self) -> dict:
        arrays = {"bounds": None if self.bounds is None else self.bounds.tolist()}
        arrays |= {"origin": self.origin.tolist(), "scale": self.scale.tolist()}
        return {**vars(self), "columns": list(self.columns), "classes": list(self.classes), **arrays}

    @classmethod
    def from_dict(cls, fields: dict) -> Facts:
        kept = dict(fields)
        for name in ("columns", "classes"):
            kept[name] = tuple(kept[name])
        for name in ("bounds", "origin", "scale"):
            kept[name] = None if kept[name] is None else np.array(kept[name], dtype=np.float64)
        return cls(**kept)


@dataclass(frozen=True, eq=False, repr=False)
class PrivateDataset:
    """A table whose rows are only ever touched by the exact measurement. Make one with `from_rows`.

    Its repr shows public facts only. Private: the rows and the class of each, read by the measurement and, keyed with
    a secret, by the ledger's fingerprint; nothing else names them.
    """

    facts: Facts
    name: str
    _rows: np.ndarray = field(repr=False)
    _class_of: np.ndarray | None = field(repr=False)

    @classmethod
    def from_rows(
        cls,
        X,
        row_bound: float | None = None,
        bounds=None,
        labels=None,
        columns=None,
        n_public: bool = True,
        *,
        rows_per_person: int = 1,
        typical=None,
        classes=None,
        missing: str = "typical",
        name: str = "private",
    ) -> PrivateDataset:
        """A private table from an array.

        X:         n x d numbers; missing (NaN) and infinite cells are treated by the declared rule. Copied.
        row_bound: R > 0, Euclidean norm to which longer rows are scaled down. Exactly one of row_bound and bounds.
        bounds:    d x 2, public lower and upper limit of every column; R is then sqrt(d) half-ranges.
        labels:    n labels or None; they are part of the row. classes: the public list of their names, required with
                   labels. A row whose label is missing or not in the list counts as no row at all; where that can
                   happen, put such a class in the list and in the labels.
        columns:   d names or None. typical: d public values inside the bounds (default: the middle).
        n_public:  True: the number of rows is public and stated. False: it stays hidden, and a noisy count is measured.
        rows_per_person: most rows one person has. missing: see `Facts`. name: how the ledger knows the table.
        Raises ValueError for a missing bound or list, with the sentence that fixes it; never for what a cell holds.
        """
        try:
            rows = np.array(X, dtype=np.float64, order="C", copy=True)
        except (ValueError, TypeError):
            raise ValueError("X must hold numbers only; a cell that is none must be missing (NaN).") from None
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError("X must be a table of at least one row and one column.")
        if len(rows) > MOST_ROWS or rows.shape[1] > MOST_COLUMNS:
            raise ValueError(f"X may have up to {MOST_ROWS:,} rows and {MOST_COLUMNS} columns. Keep fewer.")
        rows.flags.writeable = False
        d = rows.shape[1]
        names = tuple(map(str, columns)) if columns is not None else tuple(f"x{j + 1}" for j in range(d))
        if len(names) != d or len(set(names)) < d:
            raise ValueError(f"columns must name all {d} columns, each differently.")
        limits, origin, scale, row_bound = _units(names, row_bound, bounds, typical)
        listed, class_of = _class_of(labels, classes, len(rows))
        checks.one_of("missing", missing, MISSING_RULES)
        if missing == "drop-row" and n_public:
            raise ValueError(
                "missing='drop-row' would change the number of rows, which is declared public. "
                "Use missing='typical', or n_public=False."
            )
        facts = Facts(
            columns=names,
            row_bound=row_bound,
            bounds=limits,
            origin=origin,
            scale=scale,
            n=len(rows) if checks.one_of("n_public", n_public, (True, False)) else None,
            classes=listed,
            rows_per_person=checks.whole("rows_per_person", rows_per_person, 1, 1_000_000),
            missing=missing,
        )
        if not isinstance(name, str) or not name.strip():
            raise ValueError("name must be the words by which the ledger knows the table. Give it one.")
        return cls(facts, name.strip(), rows, class_of)

    def __repr__(self) -> str:
        f = self.facts
        size = f"n={f.n}" if f.n is not None else "n not public"
        return f"PrivateDataset({self.name!r}, {size}, d={f.d}, row_bound={f.row_bound:.6g})"

    __str__ = __repr__

    def __reduce__(self):
        raise TypeError("A PrivateDataset is never written out: keep the file it came from and its declaration.")


class Sealed:
    """The public facts of a private table under the names by which methods know a `Dataset`; no rows.

    A method is handed this, so that it can ask for the one measurement and for nothing else.
    """

    name, mean_is_zero, provenance = "private", False, "private"

    def __init__(self, facts: Facts, measure) -> None:
        self.facts, self._measure = facts, measure
        self.n, self.d, self.columns, self.row_bound = facts.n, facts.d, facts.columns, facts.row_bound
        self.bounds, self.origin, self.scale, self.classes = facts.bounds, facts.origin, facts.scale, facts.classes
        # What other steps keep here was computed from rows; the list of classes is public.
        self.memo = {"classes": (facts.classes, None)} if facts.classes else {}

    def measure(self, share, *, centre: str, shape: str, name: str, relation: str):
        """The one measurement, as a `Measured`."""
        if relation != self.facts.relation:
            raise SealedError(f"Private rows are measured under {self.facts.relation}, not under {relation}.")
        return self._measure(share, centre=centre, shape=shape, name=name)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise SealedError(f"Private rows are measured once, by the exact measurement, and never asked for {name!r}.")


class SealedError(TypeError):
    """A step wanted more of a private table than its one measurement."""


def _units(names: tuple[str, ...], row_bound, bounds, typical):
    """(bounds, origin, scale, R) from what was declared."""
    d = len(names)
    if (row_bound is None) == (bounds is None):
        got = "neither" if bounds is None else "both"
        raise ValueError(
            f"Private rows need exactly one of row_bound and bounds, got {got}. Give bounds=[(low, high), ...] for "
            f"every column, or row_bound=R for the norm of a row. {_OUTSIDE}"
        )
    if bounds is None:
        if typical is not None:
            raise ValueError("typical needs bounds: without bounds the origin is zero. Leave typical out.")
        bound = checks.in_range("row_bound", row_bound, 1e-100, 1e100, _OUTSIDE)
        return None, np.zeros(d), np.ones(d), bound
    if len(bounds) != d:
        raise ValueError(f"bounds must have one (low, high) per column, {d} in all, got {len(bounds)}. {_OUTSIDE}")
    for column, pair in zip(names, bounds, strict=True):
        if pair is None or len(pair) != 2 or any(x is None or x != x for x in pair):
            raise ValueError(f"Column {column!r} has no bounds. Give its lowest and highest value. {_OUTSIDE}")
        low, high = (checks.number(f"A bound of {column!r}", x) for x in pair)
        if not low < high or not math.isfinite(high - low):
            raise ValueError(f"The bounds of {column!r} must satisfy low < high, got {low:g} and {high:g}.")
    limits = np.array(bounds, dtype=np.float64)
    origin = limits[:, 0] / 2 + limits[:, 1] / 2
    if typical is not None:
        if len(typical) != d:
            raise ValueError(f"typical must hold one value or None per column, {d} in all, got {len(typical)}.")
        origin = np.array([o if t is None else t for o, t in zip(origin, typical, strict=True)], dtype=np.float64)
        inside = (limits[:, 0] <= origin) & (origin <= limits[:, 1])
        if not inside.all():
            where = ", ".join(np.array(names)[~inside][:5])
            raise ValueError(f"typical must hold a value inside the bounds for every column; check {where}.")
    scale = np.maximum(limits[:, 1] - origin, origin - limits[:, 0])
    return limits, origin, scale, math.sqrt(d)


def _class_of(labels, classes, n: int):
    """(public list, position of each row's label in it or -1)."""
    if labels is None:
        if classes is not None:
            raise ValueError("classes without labels: give the labels of the rows, or leave classes out.")
        return (), None
    if classes is None:
        raise ValueError(
            "labels need classes=[...], the public list of names a label may have: names that only some rows bear "
            "would give them away."
        )
    listed = tuple(label_text(c) for c in classes)
    if not 2 <= len(set(listed)) == len(listed) <= MOST_CLASSES or "" in listed:
        raise ValueError(f"classes must list 2 to {MOST_CLASSES} different names.")
    if len(labels) != n:
        raise ValueError("labels must have one entry per row.")
    place = {c: i for i, c in enumerate(listed)}
    values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    return listed, np.array([place.get(label_text(v), -1) for v in values], dtype=np.int64)


def label_text(value) -> str:
    """A label as text without blanks at its ends, whole numbers without decimals; "" where it is missing."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        if value != value:
            return ""
        if math.isfinite(value) and value == int(value):
            return str(int(value))
    return str(value).strip()
