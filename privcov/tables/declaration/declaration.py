"""A private CSV: what its owner declares before a row is read, and the reading, which reveals nothing about the rows.

A declaration is a small file without data: what one row stands for, how many rows one person has, which columns with
which public bounds and why, the classes, whether the number of rows is public, the rule for missing cells.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import math
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from privcov.core import checks
from privcov.tables.dataset import Dataset, Progress
from privcov.tables.declaration import typical_ranges
from privcov.tables.declaration.csv_file import MAX_BYTES, decode, read_header, upload
from privcov.tables.declared_columns import Kinds, kinds_of_entries, measured_names
from privcov.tables.persons import id_text
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import FEWEST_COLUMNS, LATER, MAX_COLUMNS, MAX_ROWS, PublicFacts, check_person
from privcov.tables.readers import Dialect, Part, tables_of
from privcov.tables.readers.blocks import ids_of, labels_of
from privcov.tables.readers.coding import coded_table
from privcov.tables.readers.dialect import dialect_from, to_utf8
from privcov.tables.readers.kinds import CATEGORY, DATE, INTEGER, ISO, NUMBER, ORDINAL, YES_NO, Kind
from privcov.tables.readers.numbers import floats_of
from privcov.tables.readers.table_files import quote

if TYPE_CHECKING:
    import pyarrow as pa

    from privcov.tables.readers.reading import Paths

Limit = Any  # a number, the text of a date or of a level, or None
Built = TypeVar("Built", bound="Column | Declaration")

FORMAT = "privcov-declaration-2"


# What a text leaves out where it has its usual value.
_FROM_USUAL = "from where nine in ten people lie"  # reason for limits that follow from a range
_PLAIN, _LIMITS = Dialect(), ("low", "high", "typical")
_USUAL: dict[str, Any] = {**LATER, "dialect": _PLAIN, "missing_codes": (), "row_bound_search": False}


class PrivateFileError(ValueError):
    """Raised where the file could not be read as declared; its message has an identifier and no content."""


@checks.explain_arguments
@dataclass(frozen=True)
class Column:
    """One column of a declaration.

    low, high: lowest and highest value, or the first and the last date; None where a row_bound is declared instead, and
    for levels. reason: for the limits. kind: what the cells are, see `privcov.tables.readers.kinds.Kind`, as all that
    follows. values: the levels. other: whether a text that is not listed is a level. transform: what is measured of a
    number. format: how dates are written. missing_codes: what is written for a missing cell of this column. usual:
    range of most people; limits, typical value and weight default to values derived from it.
    """

    name: str
    low: Limit = None
    high: Limit = None
    typical: Limit = None
    reason: str = ""
    kind: str = NUMBER
    values: tuple[str, ...] = ()
    other: bool = False
    transform: str | None = None
    format: str = ""
    weight: float = 1.0
    missing_codes: tuple[str, ...] = ()
    typical_range: tuple[Limit, Limit] | None = None

    def __post_init__(self) -> None:
        self._spell()
        if self.typical_range is None:
            return
        try:
            fields = typical_ranges.completed({**self._kind(), "typical": None}, self.typical_range)
            if self.typical not in (None, fields["typical"]):
                raise ValueError(
                    f"typical is {self.typical} beside the range {self.typical_range[0]} to {self.typical_range[1]}, "
                    f"of which it is {fields['typical']}. Leave one of them out."
                )
            for name, value in fields.items():
                object.__setattr__(self, name, value)
        except ValueError as problem:
            raise ValueError(f"Column {quote(self.name)}: {problem}") from None
        if not str(self.reason or "").strip():
            object.__setattr__(self, "reason", _FROM_USUAL)

    def _spell(self) -> None:
        """Write levels and codes as cells are compared: 1 for 1.0, as a file of whole numbers with gaps has them.

        Dates are texts, and numbers those of Python, as the saved declaration has them.
        """
        if not isinstance(self.name, str):
            raise ValueError(f"The name of a column must be text, got {checks.describe(self.name)}. Correct it.")
        for name in ("values", "missing_codes", *(["typical", "typical_range"] if self.values else [])):
            object.__setattr__(self, name, _canonical(name, getattr(self, name)))
        if self.typical_range is not None:
            if (
                not checks.is_many(self.typical_range)
                or len(self.typical_range) != 2
                or any(map(checks.is_many, self.typical_range))
            ):
                raise ValueError(
                    f"Column {quote(self.name)}: typical_range takes two values, between which nine in ten people "
                    f"lie, got {checks.describe(self.typical_range)}. Write typical_range=(20, 70)."
                )
            object.__setattr__(
                self, "typical_range", tuple(self._plainly("typical_range", end) for end in self.typical_range)
            )
        for name in _LIMITS:
            object.__setattr__(self, name, self._plainly(name, getattr(self, name)))
        if self.format == ISO:
            object.__setattr__(self, "format", "")

    def _plainly(self, name: str, value: Any) -> Limit:
        value = _of_python(value)
        if isinstance(value, datetime.date):
            return value.strftime(self.format or ISO)
        if self.kind in (NUMBER, INTEGER) and value is not None:
            try:
                checks.number(name, value)
            except ValueError as problem:
                raise ValueError(f"Column {quote(self.name)}: {problem}") from None
        return value

    @property
    def plain(self) -> bool:
        """Whether it is a number with bounds, or without them under a row_bound, and nothing else."""
        return all(value == _COLUMN[name] for name, value in self._kind().items() if name not in _LIMITS)

    @property
    def in_words(self) -> str:
        """The column in words: its bounds or levels, and all else that is declared or derived from its range."""
        if self.kind == CATEGORY:
            text = f"one of {', '.join(map(repr, self.values))}" + ", or any other text" * self.other
        elif self.kind == ORDINAL:
            text = ", ".join(f"{place} is {level}" for place, level in enumerate(self.values, 1))
        elif self.kind == YES_NO:
            text = f"0 is {self.values[0]}, 1 is {self.values[1]}" if self.values != ("0", "1") else "0 or 1"
        elif self.kind == DATE:
            text = f"dates written {self.format or ISO}, from {self.low} to {self.high}"
        else:
            text = "within the row bound" if self.low is None else f"from {_exact(self.low)} to {_exact(self.high)}"
        if self.kind != CATEGORY:
            typical = "" if self.typical is None else _exact(self.typical)
            if self.typical_range is not None:
                typical += f" (most people {' to '.join(map(_exact, self.typical_range))})"
            text += f", typical {typical}" if typical else ", the middle is typical"
        more = [
            *(["whole numbers"] if self.kind == INTEGER else []),
            *([f"{self.transform} is measured"] if self.transform else []),
            *([f"missing where it is {' or '.join(self.missing_codes)}"] if self.missing_codes else []),
            *([f"weight {self.weight:g}"] if self.weight != 1 else []),
        ]
        return "; ".join([text, *more])

    def of_kind(self) -> Kind:
        """Return the kind of the column."""
        try:
            return Kind(**self._kind())
        except ValueError as problem:
            raise ValueError(f"Column {quote(self.name)}: {problem}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, those of the kind where they are not the usual ones."""
        first = {"name": self.name, **{name: getattr(self, name) for name in _LIMITS}, "reason": self.reason}
        if self.plain:
            return first
        later = self.of_kind().to_dict()
        first |= {name: later[name] for name in _KIND if name in later and later[name] != NUMBER}
        return first if self.typical_range is None else first | {"typical_range": list(self.typical_range)}

    @classmethod
    def from_dict(cls, fields: dict) -> Column:
        """Return the column that `to_dict` wrote; raise ValueError for another form."""
        for name in ("values", "missing_codes"):
            if name in fields:
                fields = {**fields, name: _texts(fields[name], f"{name} of a column")}
        if (range_ := fields.get("typical_range")) is not None:
            if not isinstance(range_, list) or len(range_) != 2:
                raise ValueError(
                    f"typical_range of a column must be a list of two values, got {range_!a:.60}. Correct it."
                )
            fields = {**fields, "typical_range": tuple(range_)}
        return _build(cls, fields, "A column of the declaration")

    def _kind(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _COLUMN if name not in ("name", "reason", "typical_range")}


def _of_python(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()  # nanoseconds would be a whole number
    if isinstance(value, np.floating):
        return float(value)  # a long double has no item of Python
    return value.item() if isinstance(value, np.generic) else value


def _canonical(name: str, value: Any) -> Any:
    """Return a level, a code or several of them in the form used to compare cells; missing cells unchanged."""
    if value is None or isinstance(value, str) or not checks.is_many(value):
        return value if value is None else id_text(value) or value
    entries = tuple(value)
    if any(map(checks.is_many, entries)):
        raise ValueError(f"{name} takes a list of texts, got a table: {checks.describe(value)}.")
    return tuple(_canonical(name, entry) for entry in entries)


_KIND = tuple(f.name for f in dataclasses.fields(Column))[5:-1]  # fields of a column that the first version lacks
_COLUMN = {field.name: field.default for field in dataclasses.fields(Column)}


# What nobody can know for the owner, so a new declaration leaves it open.
_QUESTIONS = {
    "rows_per_person": "Who is a person? Name the column of ids in person, or write the most rows that one person has.",
    "n_public": "Is the number of rows, or of persons where rows have ids, publicly known? Write true or false.",
    "missing": 'What does a missing cell count as? Write "typical" (the typical value of its column), "pairs" (it is '
    'measured, and two columns are compared over the rows that have both) or "drop-row" (its row is left out).',
}


def _exact(limit: Limit) -> str:
    """Return a text unchanged; a number in the shortest digits that give this double back."""
    return limit if isinstance(limit, str) else f"{float(limit):,}".removesuffix(".0")


@checks.explain_arguments
@dataclass(frozen=True)
class Declaration:
    r"""Everything that is publicly declared about a private table, as Your data and ``privcov declare`` save it.

    `from_json` reads a saved one, and `dataset_from_files` gives the private table of files under it.

    Parameters
    ----------
    name : str
        Name of the table in the ledger.
    row_stands_for : str
        In words, such as "one patient".
    columns : tuple of Column
        The 1 to 200 measured ones, with limits and their reasons.
    rows_per_person : int
        The most rows of one person.
    n_public : bool
        Whether the number of rows, or of persons where rows have ids, is public.
    row_bound : float or None
        R instead of bounds.
    label : str
        Column of the classes, or "".
    classes : tuple of str
        The public list of their names.
    missing : {"typical", "drop-row", "pairs"}
        What a missing cell counts as, see `PrivateDataset.from_files`.
    person : str
        Column of the ids of persons, or "".
    row_bound_fraction : float
        With bounds, R as a fraction of the longest possible row.
    dialect : Dialect
        How CSV files are written. No number of a release depends on it.
    missing_codes : tuple of str
        Codes for missing cells in every column, such as "-9".
    row_bound_search : bool
        Whether a release by ``auto-cov`` of ten columns or more spends 5 % of its guarantee on noisy counts of the row
        norms, from which a shorter row bound follows.

    Raises
    ------
    ValueError
        In one sentence, for what is missing or cannot be.

    Examples
    --------
    >>> import privcov
    >>> text = '''{"format": "privcov-declaration-2", "name": "trial", "row_stands_for": "one patient",
    ...     "rows_per_person": 1, "n_public": true, "missing": "typical",
    ...     "columns": [{"name": "age", "low": 0, "high": 120, "typical": 50, "reason": "human lifetimes"}]}'''
    >>> declaration = privcov.Declaration.from_json(text)
    >>> with open("patients.csv", "w") as file:
    ...     _ = file.write("age\n34\n61\n52\n")
    >>> declaration.dataset_from_files("patients.csv")
    PrivateDataset('trial', n=3, d=1, row_bound=1)
    """

    name: str
    row_stands_for: str
    columns: tuple[Column, ...]
    rows_per_person: int = 1
    n_public: bool = True
    row_bound: float | None = None
    label: str = ""
    classes: tuple[str, ...] = ()
    missing: str = "typical"
    person: str = ""
    row_bound_fraction: float = 1.0
    dialect: Dialect = _PLAIN
    missing_codes: tuple[str, ...] = ()
    row_bound_search: bool = False

    def __post_init__(self) -> None:
        checks.one_of("row_bound_search", self.row_bound_search, (True, False))
        for name, meaning in (("name", "how the ledger knows the table"), ("row_stands_for", "such as 'one patient'")):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise ValueError(f"The declaration needs {name}, {meaning}. Fill it in.")
        for name in ("label", "person"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be the name of a column, got {checks.describe(getattr(self, name))}.")
        for name in ("columns", "classes"):
            if not checks.is_many(getattr(self, name)):
                raise TypeError(f"{name} takes a list, got {checks.describe(getattr(self, name))}.")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not all(isinstance(column, Column) for column in self.columns):
            raise TypeError("columns takes a list of Column, got other values.")
        if not isinstance(self.dialect, Dialect):
            raise TypeError(f"dialect takes a privcov.Dialect, got {checks.describe(self.dialect)}.")
        for name in ("rows_per_person", "n_public", "row_bound", "row_bound_fraction"):
            object.__setattr__(self, name, _of_python(getattr(self, name)))
        if not 1 <= len(self.columns) <= MAX_COLUMNS:
            raise ValueError(f"The declaration must name 1 to {MAX_COLUMNS} columns, got {len(self.columns)}.")
        if self.label in [c.name for c in self.columns]:
            raise ValueError(f"{quote(self.label)} is the label, so it cannot be a measured column too. Leave it out.")
        if self.person and self.person == self.label:
            raise ValueError(
                f"{quote(self.label)} is the label, so it cannot hold the ids of persons too. Name another."
            )
        object.__setattr__(self, "missing_codes", _canonical("missing_codes", self.missing_codes))
        _ = self.facts  # every other check

    @property
    def facts(self) -> PublicFacts:
        """The public facts of a table of one row."""
        labels, persons = [""] if self.label else None, [1] if self.person else None
        return self.dataset_from_rows(np.zeros((1, len(self.columns))), labels, persons).facts

    @property
    def kinds(self) -> Kinds:
        """Name and kind of every column, with the codes of the table; () where all are numbers with bounds alone."""
        return kinds_of_entries([column.to_dict() for column in self.columns], self.missing_codes)

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the measured columns, which a category has several of."""
        return measured_names(self.kinds) or tuple(column.name for column in self.columns)

    def dataset_from_rows(
        self, rows: Any, labels: Sequence[str] | np.ndarray | None, persons: Sequence[object] | np.ndarray | None = None
    ) -> PrivateDataset:
        """Return the private table of these rows, in the order of the declared columns, with the ids of their persons.

        With kinds the rows are cells of any type, or a data frame that has the declared columns.
        """
        if (persons is None) == bool(self.person):
            raise ValueError(
                f"The declaration names {quote(self.person)} as the column of ids. Give the ids of the rows."
                if self.person
                else "The declaration names no column of ids (person), so the rows can have none. Leave persons out."
            )
        return PrivateDataset.from_rows(rows, labels=labels, persons=persons, **self._facts())

    def dataset_from_files(self, paths: Paths, progress: Progress | None = None) -> PrivateDataset:
        """Return the private table in these files, of the declared columns; see `PrivateDataset.from_files`."""
        facts = self._facts()
        return PrivateDataset.from_files(paths, label=self.label, progress=progress, dialect=self.dialect, **facts)

    def public_facts(self) -> dict[str, Any]:
        """Return the arguments of `Dataset.from_rows` but the rows."""
        if self.rows_per_person > 1 or self.person:
            several = f"person={self.person!r}" if self.person else f"rows_per_person={self.rows_per_person}"
            raise ValueError(
                f"Public rows are taken one by one, and the declaration has {several}. Use a declaration of one row "
                "per person."
            )
        names = ("row_bound", "bounds", "typical", "classes", "columns", "name", "kinds", "missing_codes")
        facts = {name: value for name, value in self._facts().items() if name in names}
        if facts["bounds"]:
            pairs = zip(facts["typical"], facts["bounds"], strict=True)
            facts["typical"] = [low / 2 + high / 2 if usual is None else usual for usual, (low, high) in pairs]
            facts["row_bound"] = self.row_bound_fraction * math.sqrt(len(self.columns))
        elif "kinds" in facts and self.row_bound_fraction != 1:
            weights = math.fsum(column.weight**2 for column in self.columns)
            facts["row_bound"] = self.row_bound_fraction * math.sqrt(weights)
        return facts

    def _facts(self) -> dict:
        has_kinds = bool(self.missing_codes) or not all(c.plain for c in self.columns)
        bounded = self.row_bound is None and not has_kinds
        kinds: dict[str, Any] = {}
        if has_kinds:
            kinds = {"kinds": {c.name: c.of_kind() for c in self.columns}, "missing_codes": self.missing_codes}
        return {
            **kinds,
            "row_bound": self.row_bound,
            "bounds": [(c.low, c.high) for c in self.columns] if bounded else None,
            "typical": [c.typical for c in self.columns] if bounded else None,
            "classes": self.classes if self.label else None,
            "columns": [c.name for c in self.columns],
            "n_public": self.n_public,
            "rows_per_person": self.rows_per_person,
            "missing": self.missing,
            "name": self.name,
            **{name: getattr(self, name) for name in LATER},
        }

    def to_json(self) -> str:
        """Return the declaration as `from_json` reads it."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        usual = {name for name, value in _USUAL.items() if fields[name] == value}
        entries = {name: value for name, value in fields.items() if name not in usual}
        entries["columns"] = [column.to_dict() for column in self.columns]
        if "dialect" in entries:
            entries["dialect"] = self.dialect.to_dict()
        return json.dumps({"format": FORMAT, **entries}, indent=2, ensure_ascii=False)

    @classmethod
    @checks.explain_arguments
    def from_json(cls, text: str) -> Declaration:
        """Read a declaration; raise ValueError with one sentence for what is missing or unknown."""
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as problem:
            raise ValueError(f"A declaration must be JSON: {problem}.") from None
        if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
            raise ValueError(f'A declaration must hold the line "format": "{FORMAT}". Save it again.')
        if fields.get("person") and fields.get("rows_per_person") is None:
            fields["rows_per_person"] = 1  # all rows of an id are one person's
        if unanswered := [name for name in _QUESTIONS if fields.get(name) is None]:
            questions = " ".join(_QUESTIONS[name] for name in unanswered)
            names = ", ".join(unanswered[:-1]) + " and " * (len(unanswered) > 1) + unanswered[-1]
            raise ValueError(f"The declaration leaves {names} open. {questions}")
        columns = fields.pop("columns", None)
        if not isinstance(columns, list) or not all(isinstance(c, dict) for c in columns):
            raise ValueError("A declaration must hold columns, a list of entries with name, low and high.")
        check_person(fields.get("person", ""), [c.get("name") for c in columns])  # ids need no bounds
        column_list = tuple(Column.from_dict(c) for c in columns)
        if fields.get("row_bound_fraction", 1.0) is None:
            fields["row_bound_fraction"] = row_bound_fraction(column_list)
        if fields.get("row_bound_search", False) is None:
            fields["row_bound_search"] = row_bound_search(column_list)
        if "dialect" in fields:
            fields["dialect"] = dialect_from(fields["dialect"])
        if "missing_codes" in fields:
            fields["missing_codes"] = _texts(fields["missing_codes"], "missing_codes")
        classes = fields.get("classes") or ()
        if not isinstance(classes, list | tuple):
            raise ValueError("A declaration must hold classes as a list of names. Correct it.")
        texts = [(what, fields.get(field, "")) for what, field in (("label", "label"), ("column of ids", "person"))]
        texts += [(f"{field} of a column", getattr(c, field)) for c in column_list for field in ("name", "reason")]
        if not isinstance(fields["n_public"], bool):
            raise ValueError(
                f"n_public in a declaration must be true or false, got {fields['n_public']!a}. Correct it."
            )
        for label, text in texts:
            if not isinstance(text, str):
                raise ValueError(f"The {label} in a declaration must be text, got {text!a}. Correct it.")
        fields["classes"] = tuple(classes)
        return _build(cls, {**fields, "columns": column_list}, "The declaration")


def row_bound_fraction(columns: Sequence[Column]) -> float:
    """Return the row bound that follows from what most people have, as a fraction of the longest possible row."""
    if all(column.typical_range is None for column in columns):
        return 1.0
    return typical_ranges.row_bound_fraction([(column.of_kind(), column.typical_range) for column in columns])


def row_bound_search(columns: Sequence[Column]) -> bool:
    """Return whether a search for the row bound is likely to pay: ten numbers or more, with limits and no habits."""
    limits = all(column.typical_range is None and column.kind in (NUMBER, INTEGER) for column in columns)
    return limits and len(columns) >= FEWEST_COLUMNS


def read_private(raw: bytes, declaration: Declaration) -> PrivateDataset:
    """Read the declared columns of a private CSV; by rule, a cell that is no number is a missing cell, not an error."""
    tables = tables_in(raw, declaration)
    with _nothing_said(declaration.dialect):
        rows, labels, ids = _columns_of(tables, declaration)
    return declaration.dataset_from_rows(rows, labels, ids)


def public_upload(raw: bytes, declaration: Declaration) -> tuple[Dataset, int, dict[str, int]]:
    """Read the declared columns of a public CSV as `read_private` does.

    A cell that is none of its column's values, or infinite, is a missing one. Return the data set, the rows of the file
    and, by measured column, the number of missing cells where there are some. Raises ValueError in one sentence.
    """
    header = _header(raw, declaration)
    names = [name for name in (*(c.name for c in declaration.columns), declaration.label) if name]
    part = _part(raw, header, declaration.dialect)
    tables = (table for table, _ in tables_of(part, names, private=False))
    rows, labels, _ = _columns_of(tables, declaration)
    cells = coded_table(rows, declaration.kinds) if declaration.kinds else np.where(np.isfinite(rows), rows, np.nan)
    holes = zip(declaration.measured, np.isnan(cells).sum(axis=0).tolist(), strict=True)
    missing: Literal["drop-row", "typical"] = "drop-row" if declaration.missing == "drop-row" else "typical"
    facts = declaration.public_facts()
    data = Dataset.from_rows(rows if declaration.kinds else cells, labels=labels, missing=missing, **facts)
    return data, len(rows), {name: number for name, number in holes if number}


def _columns_of(tables: Iterable[pa.Table | pa.RecordBatch], declaration: Declaration) -> tuple[Any, Any, Any]:
    """Return the cells of the declared columns, the labels and the ids of persons."""
    import pyarrow as pa

    columns = [c.name for c in declaration.columns]
    marks = declaration.dialect.decimal, declaration.dialect.thousands
    kinds = dict(declaration.kinds) or dict.fromkeys(columns)
    numeric = [name for name, kind in kinds.items() if kind is None or kind.kind in (NUMBER, INTEGER)]

    def as_kept(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        return pa.chunked_array([floats_of(column, *marks)[0]]) if name in numeric else column

    whole = pa.concat_tables(
        pa.table({name: as_kept(table.column(name), name) for name in table.column_names}) for table in tables
    )
    labels, ids = (
        [texts[at] for texts, places in [encoded(whole.column(name))] for at in places] if name else None
        for name, encoded in ((declaration.label, labels_of), (declaration.person, ids_of))
    )
    cells = whole.select(columns)
    rows = cells if declaration.kinds else np.ascontiguousarray(np.column_stack(cells.columns))
    return rows, labels, ids


def tables_in(raw: bytes, declaration: Declaration) -> Iterator[pa.Table | pa.RecordBatch]:
    """Yield the declared columns of a CSV as `tables_of` has them; the header is checked at once."""
    header = _header(raw, declaration)
    names = [name for name in (*(c.name for c in declaration.columns), declaration.label, declaration.person) if name]

    def read() -> Iterator[pa.Table | pa.RecordBatch]:
        with _nothing_said(declaration.dialect):
            part = _part(raw, header, declaration.dialect)
            yield from (table for table, _ in tables_of(part, names))

    return read()


def _header(raw: bytes, declaration: Declaration) -> list[str]:
    header = read_header(raw, declaration.dialect)
    for name in [c.name for c in declaration.columns] + [n for n in (declaration.label, declaration.person) if n]:
        if name not in header:
            raise ValueError(f"The file has no column {quote(name)}, which the declaration names.")
    return header


def _part(raw: bytes, header: list[str], dialect: Dialect) -> Part:
    text = to_utf8(dialect, raw, "The file")
    decode(text, "The file")
    return upload(text, header, dialect)


@contextlib.contextmanager
def _nothing_said(dialect: Dialect) -> Iterator[None]:
    """Turn every error while rows are read into an identifier: the words of a library might repeat a cell."""
    try:
        yield
    except Exception:
        raise PrivateFileError(
            f"The file could not be read as declared (id {secrets.token_hex(4)}). It must be a CSV in "
            f"{dialect.encoding.upper()}, {dialect.divider} between as many cells on every line, at most "
            f"{MAX_BYTES / 1e6:,.0f} MB and {MAX_ROWS:,} rows."
        ) from None


def _texts(value: object, label: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str | int | float) for text in value):
        raise ValueError(f"A declaration must hold {label} as a list of texts, got {value!a:.60}. Correct it.")
    return tuple(map(str, value))


def _build(cls: type[Built], fields: dict, title: str) -> Built:
    """Return an instance of a class from the fields of a file; raise ValueError for unknown and missing fields."""
    names = {f.name for f in dataclasses.fields(cls)}
    required = {f.name for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING}
    if strange := sorted(set(fields) - names):
        raise ValueError(f"{title} holds {quote(strange[0])}, which it cannot. It takes {', '.join(sorted(names))}.")
    if lacking := sorted(required - set(fields)):
        raise ValueError(f"{title} lacks {lacking[0]}. Fill it in.")
    try:
        return cls(**fields)
    except TypeError as problem:  # a value of another type
        raise ValueError(f"{title} cannot be read: {problem}") from None
