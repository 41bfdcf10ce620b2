"""From declared columns to measured ones: names, units, and flags of missing cells. Nothing here sees a cell."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from privcov.core import checks
from privcov.tables.readers.kinds import CATEGORY, INTEGER, KINDS, NUMBER, TRANSFORMS, Kind, kind_by_name, texts_of
from privcov.tables.units import Units

# (low, high) per column, in their order or by name; and a public value per column.
Bounds = Sequence[Sequence[float]] | np.ndarray | Mapping[str, tuple[float, float]]
Typical = Sequence[float | None] | np.ndarray | Mapping[str, float | None]
Kinds = tuple[tuple[str, Kind], ...]  # name and kind of every declared column

MAX_COLUMNS = 200
LEAST_FRACTION = 1e-6  # of the longest possible row, to which rows may be shortened
LEAST_ROW_BOUND = 1e-100
_OUTSIDE = "Take it from domain knowledge, never from the data."


def typed_columns(
    kinds: Mapping[str, Kind] | None,
    missing_codes: Iterable[object],
    columns: Iterable[object] | None,
    bounds: Bounds | None,
    typical: Typical | None,
    row_bound: float | None,
) -> Kinds:
    """Return name and kind of every declared column, each with the codes of the table."""
    if isinstance(missing_codes, (str, bytes)):
        raise ValueError(f"missing_codes must be a list of codes, got {missing_codes!r}. Write [{missing_codes!r}].")
    if not checks.is_many(missing_codes):
        raise TypeError(f"missing_codes takes a list of codes, got {checks.describe(missing_codes)}. Write [-9].")
    if kinds is not None and not isinstance(kinds, Mapping):
        raise TypeError(f"kinds takes {{column: Kind}}, got {checks.describe(kinds)}.")
    codes = list(missing_codes)
    names = None if columns is None else [str(name) for name in columns]
    if kinds is None:
        if not codes:
            return ()
        if bounds is None or names is None:
            raise ValueError(
                "missing_codes need bounds or kinds for every named column, so that a code is not one of its values. "
                f"Give columns and bounds, got row_bound={row_bound!r}."
            )
        bounds = checks.per_column("bounds", bounds, names, f"Give (low, high) of each. {_OUTSIDE}")
        usual: list = [None] * len(names)
        if typical is not None:
            usual = checks.per_column("typical", typical, names, "Give a value of each, or None for the middle.")
        kinds = {
            name: Kind(NUMBER, float(low), float(high), typical=middle)
            for name, (low, high), middle in zip(names, bounds, usual, strict=True)
        }
    elif bounds is not None or row_bound is not None or typical is not None:
        argument = "bounds" if bounds is not None else "row_bound" if row_bound is not None else "typical"
        raise ValueError(f"kinds hold the bounds of every column, and {argument} was given too. Leave it out.")
    if not kinds or not all(isinstance(name, str) and isinstance(kind, Kind) for name, kind in kinds.items()):
        wrong = next(
            (f", got {checks.describe(one)} for {n!r}" for n, one in kinds.items() if not isinstance(one, Kind)), ""
        )
        raise ValueError(
            f"kinds must give at least one column its Kind, by name, as {{'age': Kind('integer', 0, 120)}}{wrong}."
        )
    names = list(kinds) if names is None else names
    if lacking := [name for name in names if name not in kinds]:
        raise ValueError(f"Column {lacking[0]!r} has no kind. Give each column one, or leave it out of columns.")
    if strange := [name for name in kinds if name not in names]:
        raise ValueError(f"kinds name {strange[0]!r}, which is not among columns. Name it there, or leave it out.")
    column_kinds = tuple((name, _with_codes(name, kinds[name], codes)) for name in names)
    measured_names(column_kinds)
    if doubtful := [
        name for name, kind in column_kinds if kind.kind in (NUMBER, INTEGER) and kind_by_name(name) != NUMBER
    ]:
        warnings.warn(
            f"Column {doubtful[0]!r} is declared as {dict(column_kinds)[doubtful[0]].kind}, and its name sounds like "
            "text: every cell with a text would be missing. Declare its levels (category, ordinal, yes-no) or dates, "
            "if it has them.",
            stacklevel=4,
        )
    return column_kinds


def kinds_from(entries: Iterable[Mapping]) -> Kinds:
    """Return the kinds of columns as they are stored, each with the name of its column."""
    kinds = []
    for entry in entries:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise ValueError("The kind of a column must be stored with its name.")
        kinds.append((entry["name"], Kind.from_dict({k: value for k, value in entry.items() if k != "name"})))
    return tuple(kinds)


def kinds_of_entries(columns: Sequence[Mapping], missing_codes: Iterable[object] = ()) -> Kinds:
    """Return the kinds that the columns of a stored declaration have."""
    names, codes = {f.name for f in dataclasses.fields(Kind)}, list(missing_codes)
    if not codes and not any(set(column) & names - {"low", "high", "typical"} for column in columns):
        return ()
    entries = ({k: value for k, value in column.items() if k in names and value is not None} for column in columns)
    kinds = [(str(c["name"]), {"kind": NUMBER, **fields}) for c, fields in zip(columns, entries, strict=True)]
    return kept_kinds(tuple((name, _with_codes(name, Kind.from_dict(fields), codes)) for name, fields in kinds))


def kept_kinds(kinds: Kinds) -> Kinds:
    """Return the kinds that the facts of a table keep."""
    return () if all(kind.plain for _, kind in kinds) else kinds


def kinds_in_words(kinds: Kinds) -> str:
    """Return the declared columns in words, like " of 2 declared ones (1 number, 1 integer; log1p of 1)"."""
    if not kinds:
        return ""
    counts = Counter(kind.kind for _, kind in kinds)
    changed = Counter(kind.transform for _, kind in kinds if kind.transform)
    heavy = Counter(kind.weight for _, kind in kinds if kind.weight != 1)
    more = [f"{word} of {changed[word]}" for word in TRANSFORMS if changed[word]]
    more += [", ".join(f"weight {weight:g} of {number}" for weight, number in sorted(heavy.items()))] if heavy else []
    words = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    return f" of {len(kinds)} declared ones ({'; '.join([words, *more])})"


def _with_codes(name: str, kind: Kind, codes: list[object]) -> Kind:
    try:
        own, more = kind.missing_codes, texts_of("missing_codes", codes)
        return dataclasses.replace(kind, missing_codes=(*own, *(code for code in more if code not in own)))
    except ValueError as problem:
        remedy = " or leave the code out for this column."
        more = " or give the code to the columns alone that have it, and not to every column."
        raise ValueError(f"Column {name!r}: {str(problem).replace(remedy, more)}") from None


def measured_names(kinds: tuple[tuple[str, Kind], ...]) -> tuple[str, ...]:
    """Return the names of the measured columns of declared ones, each different."""
    names = tuple(name for column, kind in kinds for name in kind.names(column))
    if len(names) > MAX_COLUMNS:
        widest, kind = max(kinds, key=lambda entry: entry[1].width)
        raise ValueError(
            f"The declared columns make {len(names)} measured ones, most of them of {widest!r} ({kind.width}), and the "
            f"most is {MAX_COLUMNS}. List fewer levels, with other=True for the rest."
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"Two measured columns would have the name {twice[0]!r}. Rename a column or a level.")
    return names


def working_units(
    names: tuple[str, ...],
    row_bound: float | None,
    bounds: Bounds | None,
    typical: Typical | None,
    row_bound_fraction: float = 1.0,
) -> Units:
    """Return the units of a declaration, which has exactly one of row_bound and bounds."""
    d = len(names)
    if (row_bound is None) == (bounds is None):
        case = "neither" if bounds is None else "both"
        raise ValueError(
            f"Private rows need exactly one of row_bound and bounds, got {case}. Give bounds=[(low, high), ...] for "
            "every column, with row_bound_fraction where long rows are to be shortened, or row_bound=R for the norm of "
            f"a row. {_OUTSIDE}"
        )
    fraction = checks.in_range("row_bound_fraction", row_bound_fraction, LEAST_FRACTION, 1.0, _OUTSIDE)
    if bounds is None:
        if fraction != 1:
            raise ValueError(
                f"row_bound_fraction={fraction:g} is a fraction of the longest row inside the bounds, and no bounds "
                "are given: leave it out, and give a smaller row_bound."
            )
        if typical is not None:
            raise ValueError("typical needs bounds: without bounds the origin is zero. Leave typical out.")
        bound = checks.in_range("row_bound", row_bound, LEAST_ROW_BOUND, 1e100, _OUTSIDE)
        return Units.unbounded(d, bound)
    bounds = checks.per_column("bounds", bounds, names, f"Give (low, high) of each. {_OUTSIDE}")
    for column, pair in zip(names, bounds, strict=True):
        if np.shape(pair) != (2,) or any(x is None or (isinstance(x, (float, np.floating)) and x != x) for x in pair):
            raise ValueError(f"Column {column!r} has no bounds. Give its lowest and highest value. {_OUTSIDE}")
        if not all(isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool) for x in pair):
            raise ValueError(f"The bounds of {column!r} must be two numbers, low and high. {_OUTSIDE}")
        if not all(-1e100 <= x <= 1e100 for x in pair):
            raise ValueError(f"The bounds of {column!r} must be finite numbers, at most 1e+100. {_OUTSIDE}")
        low, high = (float(x) for x in pair)
        if not low < high:
            raise ValueError(f"The bounds of {column!r} must satisfy low < high, got {low:g} and {high:g}.")
    limits = np.array(bounds, dtype=np.float64) + 0.0  # -0.0 would be another request
    origin = limits[:, 0] / 2 + limits[:, 1] / 2
    if typical is not None:
        typical = checks.per_column("typical", typical, names, "Give a value of each, or None for the middle.")
        centres = [o if t is None else checks.number("typical", t) for o, t in zip(origin, typical, strict=True)]
        origin = np.array(centres, dtype=np.float64) + 0.0
        inside = (limits[:, 0] <= origin) & (origin <= limits[:, 1])
        if not inside.all():
            where = ", ".join(np.array(names)[~inside][:5])
            raise ValueError(f"typical must hold a value inside the bounds for every column; check {where}.")
    return Units.within(limits, origin, fraction * math.sqrt(d))


def typed_units(kinds: tuple[tuple[str, Kind], ...], row_bound_fraction: float = 1.0) -> Units:
    """Return the units of declared columns: a block for each, at most its weight long."""
    fraction = checks.in_range("row_bound_fraction", row_bound_fraction, LEAST_FRACTION, 1.0, _OUTSIDE)
    bounds = np.array([pair for _, kind in kinds for pair in kind.limits])
    origin = np.array([usual for _, kind in kinds for usual in kind.origins])
    return Units.of_blocks(bounds, origin, tuple((kind.width, kind.weight) for _, kind in kinds), fraction)


def can_have_flags(names: tuple[str, ...], kinds: tuple[tuple[str, Kind], ...]) -> tuple[int, ...]:
    """Return the positions of the measured columns that can have a flag: all except category levels."""
    flags = [kind.kind != CATEGORY for _, kind in kinds for _ in range(kind.width)]
    return tuple(j for j, flag in enumerate(flags) if flag) if kinds else tuple(range(len(names)))


def check_flags(flagged: int, d: int) -> None:
    """Check that missing cells can be measured: how many columns have flags, of d measured ones."""
    if not flagged:
        raise ValueError(
            "missing='pairs' measures no missing cell of categories, and there are no other columns. Use "
            "missing='typical'."
        )
    if d + flagged > MAX_COLUMNS:
        raise ValueError(
            f"missing='pairs' measures a flag beside each column, {d + flagged} numbers of a row in all, and the most "
            f"is {MAX_COLUMNS}. Declare fewer columns, or use missing='typical'."
        )
