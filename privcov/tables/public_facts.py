"""The public facts about a private table, checked as they are declared.

They come from the declaration, never from the cells; the number of rows is counted, and kept where declared public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import ADD_REMOVE, ALL_ROWS, REPLACE_ONE, UP_TO, Neighbours
from privcov.tables.declared_columns import (
    MAX_COLUMNS,
    Kinds,
    can_have_flags,
    check_flags,
    kept_kinds,
    kinds_from,
    measured_names,
    typed_units,
    working_units,
)
from privcov.tables.units import InUnits, Units

MAX_ROWS = 4_000_000
MAX_FILE_ROWS = 10**10
MAX_CLASSES = 100
FEWEST_COLUMNS = 10  # with fewer a search for the row bound costs more than a shorter bound saves
MISSING_RULES = ("typical", "drop-row", "pairs")
MAX_PER_PERSON = 1_000_000
# Facts that came later, with their defaults, at which no stored text names them: texts and tokens stay as they were.
LATER: dict[str, Any] = {"person": "", "row_bound_fraction": 1.0}


@dataclass(frozen=True)
class Flags:
    """Where flags of missing cells are in a noisy moment matrix: columns, then flags, then at most one anchor.

    columns: positions of the flagged columns, in the order of the flags. weight: the value of a flag where the cell
    is missing. entry_std, diagonal_stds: standard deviation of the noise on an off-diagonal entry, and on the diagonal
    entry of every column and flag. own_covariance: covariance of the noise on the diagonal entries of a column and of
    its flag: one for each flag, or one for all. All of these are in unit-ball units. count_std: relative noise on the
    number of rows; 0 where it is public.
    """

    d: int
    columns: tuple[int, ...]
    weight: float
    entry_std: float
    diagonal_stds: tuple[float, ...]
    own_covariance: float | tuple[float, ...] = 0.0
    count_std: float = 0.0


@dataclass(frozen=True, eq=False)
class PublicFacts(InUnits):
    """The public declaration about a private table; it holds nothing that depends on the cells.

    units: the working units; ``row_bound``, ``bounds``, ``origin`` and ``scale`` are theirs. n: number of rows, or of
    persons where rows have ids, where it is declared public; else None. classes: public list of label names, or ().
    rows_per_person: largest number of rows of one person; the guarantee is for all of them together.
    row_bound_fraction: with bounds, R as a fraction of sqrt(d) half-ranges; 1 without. kinds: name and kind of every
    declared column; () where every column is a number with bounds and nothing else, or there are no bounds.

    missing: with "typical" a missing or infinite cell counts as the typical value, zero without bounds. With "drop-row"
    its row is left out, where n is not public. With "pairs" the cell counts as zero, and a
    flag beside it, which is measured too, says that it is missing (`privcov.measurements.exact.integer_gram`).

    person: the name of a column of ids, "persons" for ids beside an array, "" for none. A row without an id counts as
    no row. Each row of a person with k rows has the weight 1 / k.
    """

    columns: tuple[str, ...]
    units: Units
    n: int | None
    classes: tuple[str, ...] = ()
    rows_per_person: int = 1
    missing: str = "typical"
    person: str = ""
    row_bound_fraction: float = 1.0
    kinds: Kinds = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the columns as they are in the table: several measured ones may come from one."""
        return tuple(name for name, _ in self.kinds) or self.columns

    @property
    def flagged(self) -> tuple[int, ...]:
        """Positions of the columns whose missing cells are measured; () but for the rule "pairs".

        A category has no flag: a missing cell is none of its levels, and their shares say how many there are.
        """
        if self.missing != "pairs":
            return ()
        return can_have_flags(self.columns, self.kinds)

    @property
    def column_flag_pairs(self) -> tuple[tuple[int, int], ...]:
        """Position of every flagged column and of its flag: where these meet, the sum is zero in every table."""
        return tuple(zip(self.flagged, range(self.d, self.width), strict=True))

    @property
    def width(self) -> int:
        """Number of measured coordinates of a row before the anchors: the columns and the flags."""
        return self.d + len(self.flagged)

    @property
    def n_anchors(self) -> int:
        """Number of anchors of a row: one per class, else one for the mean."""
        return len(self.classes) or 1

    @property
    def max_nonzero(self) -> int:
        """Largest number of nonzero entries of a row without its anchors: one per declared column with its flag."""
        return len(self.units.blocks) or self.d

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def relation(self) -> str:
        """Key of the neighbouring relation: replace-one where n is public, else add-remove."""
        return "add-remove" if self.n is None else "replace-one"

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation that follows from the declaration."""
        base, k = (ADD_REMOVE if self.n is None else REPLACE_ONE), self.rows_per_person
        if self.person:
            sentence = (
                "two tables, one of which has one person more, with all of their rows; the number of persons is not "
                "public"
                if self.n is None
                else "two tables of the same public number of persons n that differ in one person, with all of their "
                "rows; the number of rows is not public"
            )
            weight = "of weight 1 together, however many they are"
            return Neighbours(base.key, sentence, f"{ALL_ROWS} (those of one id in {self.person!r}), {weight}")
        if k == 1:
            return base
        sentence = (
            f"two tables, one of which has up to {k} rows more, those of one person; the number of rows is not public"
            if self.n is None
            else f"two tables of the same public number of rows n that differ in up to {k} rows, those of one person"
        )
        return Neighbours(base.key, sentence, f"{UP_TO} {k} rows of a person, who is protected as a whole")

    def with_shorter_bound(self, factor: float) -> PublicFacts:
        """Return the facts under a row bound of ``factor`` times R."""
        if self.units.bounds is None:
            return replace(self, units=self.units.with_row_bound(self.row_bound * factor))
        return self.with_fraction(self.row_bound_fraction * factor)

    def with_fraction(self, fraction: float) -> PublicFacts:
        """Return the facts under a row bound of this fraction of the longest row."""
        units = self.units.with_row_bound(fraction * self.units.longest)
        return replace(self, units=units, row_bound_fraction=fraction)

    def to_dict(self) -> dict:
        """Return the facts as a dict of JSON values."""
        bounds, units = self.units.bounds, self.units
        later = {name: getattr(self, name) for name, usual in LATER.items() if getattr(self, name) != usual}
        return {
            "columns": list(self.columns),
            "row_bound": units.row_bound,
            "bounds": None if bounds is None else bounds.tolist(),
            "origin": units.origin.tolist(),
            "scale": units.scale.tolist(),
            "n": self.n,
            "classes": list(self.classes),
            "rows_per_person": self.rows_per_person,
            "missing": self.missing,
            **later,
            **({"kinds": [{"name": name, **kind.to_dict()} for name, kind in self.kinds]} if self.kinds else {}),
        }

    @classmethod
    def from_dict(cls, fields: dict) -> PublicFacts:
        """Return the facts that `to_dict` wrote, computed again from the declared fields."""
        try:
            facts = _facts_again(fields)
        except (TypeError, KeyError, OverflowError):
            raise ValueError(
                "These are not the public facts of a private table. Take them as they were stored."
            ) from None
        if facts.to_dict() != fields:
            raise ValueError(
                "The public facts of a private table contradict each other: origin, scale and row_bound must follow "
                "from the declared bounds. Take them as they were stored."
            )
        return facts


def _facts_again(fields: dict) -> PublicFacts:
    names, classes, bounds = tuple(fields["columns"]), tuple(fields["classes"]), fields["bounds"]
    if not all(isinstance(word, str) for word in (*names, *classes)) or not 1 <= len(set(names)) == len(names):
        raise ValueError("The names of columns must be different texts.")
    checks.integer("the number of columns", len(names), 1, MAX_COLUMNS)
    n = fields["n"]
    if n is not None:
        n = checks.integer("n", n, 1, MAX_FILE_ROWS)
    typical = None if bounds is None else [checks.number("A typical value", v) for v in fields["origin"]]
    later = {name: fields.get(name, usual) for name, usual in LATER.items()}
    fraction = later["row_bound_fraction"]
    kinds = kinds_from(fields.get("kinds", ()))
    if kinds:
        units = typed_units(kinds, fraction)
        if measured_names(kinds) != names or not kept_kinds(kinds):
            raise ValueError("The names of columns must follow from their kinds, and numbers alone have none.")
    else:
        units = working_units(names, fields["row_bound"] if bounds is None else None, bounds, typical, fraction)
    return make_facts(
        names,
        units,
        class_names(classes) if classes else (),
        n,
        n is not None,
        fields["rows_per_person"],
        fields["missing"],
        **later,
        kinds=kinds,
    )


def make_facts(
    names: tuple[str, ...],
    units: Units,
    classes: tuple[str, ...],
    n: int | None,
    n_public: bool,
    rows_per_person: int,
    missing: str,
    person: str = "",
    row_bound_fraction: float = 1.0,
    kinds: Kinds = (),
) -> PublicFacts:
    """Check a declaration and return its public facts."""
    checks.one_of("missing", missing, MISSING_RULES)
    for name in (*names, *classes):
        checks.encodable("The name of a column or class", name)
    if missing == "pairs":
        check_flags(len(can_have_flags(names, kinds)), len(names))
    if missing == "drop-row" and n_public:
        raise ValueError(
            "missing='drop-row' would change the number of rows, which is declared public. "
            "Use missing='typical', or n_public=False."
        )
    check_person(person, tuple(name for name, _ in kinds) or names)
    rows_per_person = checks.integer("rows_per_person", rows_per_person, 1, MAX_PER_PERSON)
    if person and rows_per_person > 1:
        raise ValueError(
            f"rows_per_person={rows_per_person} is a promise about rows without ids, and person={person!r} protects "
            "all rows of a person, however many they are. Leave rows_per_person out."
        )
    return PublicFacts(
        columns=names,
        units=units,
        n=n if checks.one_of("n_public", n_public, (True, False)) else None,
        classes=classes,
        rows_per_person=rows_per_person,
        missing=missing,
        person=person,
        row_bound_fraction=float(row_bound_fraction),
        kinds=kinds,
    )


def check_person(person: object, columns: Sequence[str], label: str = "") -> None:
    """Raise ValueError unless ``person`` is "" or can be the name of the column of ids."""
    if not isinstance(person, str):
        raise ValueError(f"person must be the name of the column of ids, as text, got {checks.describe(person)}.")
    if person:
        checks.words("person", person, "the name of the column of ids")
    if person and (person in columns or person == label):
        role = "be the label" if person == label else "be measured"
        raise ValueError(f"Column {person!r} holds the ids of persons, so it cannot {role} too. Leave it out there.")


def counted_persons(n: int, person: str) -> int:
    """Return the public number of persons, or raise ValueError where there is none."""
    if n < 1:
        raise ValueError(
            f"No row has an id in {person!r}, and a row without one counts as no row. Name the column of the ids."
        )
    return n


def classes_of_rows(
    labels: Sequence[object] | np.ndarray | None, classes: Iterable[object] | None, n: int
) -> tuple[tuple[str, ...], np.ndarray | None]:
    """Return the public list of classes and the position of each row's label in it."""
    if labels is None:
        if classes is not None:
            raise ValueError("classes without labels: give the labels of the rows, or leave classes out.")
        return (), None
    if classes is None:
        raise ValueError(
            "labels need classes=[...], the public list of names a label may have: names that only some rows bear "
            "would give them away."
        )
    class_list = class_names(classes)
    if len(labels) != n:
        raise ValueError("labels must have one entry per row.")
    place = {c: i for i, c in enumerate(class_list)}
    values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    return class_list, np.array([place.get(label_text(v), -1) for v in values], dtype=np.int64)


def class_names(classes: Iterable[object]) -> tuple[str, ...]:
    """Return the declared classes as text, each once."""
    names = tuple(label_text(c) for c in classes)
    if not 2 <= len(set(names)) == len(names) <= MAX_CLASSES or "" in names:
        raise ValueError(f"classes must list 2 to {MAX_CLASSES} different names.")
    return names


def label_text(value: object) -> str:
    """Return a label as text without blanks at its ends, whole numbers without decimals."""
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return ""
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return str(int(value))
    try:
        return str(value).strip()
    except ValueError:  # a number of more digits than Python writes
        return ""
