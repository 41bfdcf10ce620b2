"""The columns of a declaration as text that a spreadsheet copies and pastes: name, low, high, typical, kind, why.

With a line of headings it may be any codebook: levels and codes for missing cells can have columns of their own.
The text holds what is declared, so its own form may be read from it: the separator is that of its first line. It never
comes from the rows of a table.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Iterable
from typing import Any

from privcov.tables.declaration.declaration import Column
from privcov.tables.declaration.typical_ranges import range_in
from privcov.tables.public_facts import MAX_COLUMNS
from privcov.tables.readers.dialect import proposed_separator
from privcov.tables.readers.kinds import CATEGORY, DATE, INTEGER, KINDS, NUMBER, TRANSFORMS, YES_NO
from privcov.tables.readers.numbers import number_of
from privcov.tables.readers.table_files import quote

HEADINGS = ("name", "low", "high", "typical", "kind", "why")
FURTHER = ("levels", "codes")
_SAME = {
    "column": "name", "variable": "name", "min": "low", "minimum": "low", "lowest": "low", "max": "high",
    "maximum": "high", "highest": "high", "most": "typical", "type": "kind", "values": "levels", "reason": "why",
    "missing": "codes", "missing codes": "codes", "missing_codes": "codes",
}  # fmt: skip
_KINDS = {"numeric": NUMBER, "float": NUMBER, "categorical": CATEGORY, "binary": YES_NO, "yes/no": YES_NO}
_NUMERIC = (NUMBER, INTEGER)
_LABELLED = re.compile(r"[+-]?\w+\s*=\s*\w")  # a cell and what it means, as codebooks write them
_DATE = {"yyyy": "%Y", "yy": "%y", "mm": "%m", "dd": "%d"}  # as people write the form of a date


def cells_of(text: str) -> dict[int, dict[str, str]]:
    """Return the cells of each line by their headings, by the line's number; each has a name of its own."""
    text = text.removeprefix("\ufeff")
    first_line = text.split("\n", 1)[0]
    # A spreadsheet copies tabs; a vertical bar stands between levels.
    separator = "\t" if "\t" in first_line else proposed_separator(first_line.replace("|", ""))
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(lines.line_num, [cell.strip() for cell in cells]) for cells in lines]
    except csv.Error:
        raise ValueError(
            f"Line {lines.line_num:,} of the columns has a quotation mark that is not closed or not doubled: close it, "
            'or write "" for a quotation mark inside a quoted cell.'
        ) from None
    rows = [(line, cells) for line, cells in rows if any(cells)]
    headings, first_row = HEADINGS, tuple(_SAME.get(cell.lower(), cell.lower()) for cell in rows[0][1]) if rows else ()
    if "name" in first_row:
        headings = _checked(rows.pop(0)[1], first_row)
    elif rows and len({*HEADINGS, *FURTHER}.intersection(first_row)) > 1:
        raise ValueError("The first line is a line of headings, and none of them is name: head the columns' names so.")
    if not 1 <= len(rows) <= MAX_COLUMNS:
        raise ValueError(f"The text holds {len(rows):,} columns, and a table has 1 to {MAX_COLUMNS}: give a line each.")
    by_line: dict[int, dict[str, str]] = {}
    first: dict[str, int] = {}
    for line, cells in rows:
        if any(cells[len(headings) :]):
            raise ValueError(
                f"Line {line:,} of the columns has {len(cells):,} cells for {', '.join(headings)}: put a text with a "
                f"{'tab' if separator == chr(9) else separator} inside between quotation marks."
            )
        cell = dict(zip(headings, cells, strict=False))
        if not (name := " ".join(cell.get("name", "").split())):
            raise ValueError(f"Line {line:,} of the columns has no name: write the name of the column, or delete it.")
        if name in first:
            raise ValueError(f"Lines {first[name]:,} and {line:,} both name {quote(name)}: keep one of them.")
        first[name] = line
        by_line[line] = cell | {"name": name}
    return by_line


def columns_of(text: str, decimal: str = ".") -> tuple[Column, ...]:
    """Read the columns of a declaration from text, a line for each."""
    columns: list[Column] = []
    for line, cell in cells_of(text).items():
        kind_text, levels = cell.get("kind", ""), " | ".join(_parts(cell.get("levels", "")))
        if levels:
            kind_text = f"{kind_text or CATEGORY}: {levels}"
        kind = kind_fields(kind_text, f"Line {line:,} of the columns")
        ends = range_in(cell.get("typical", ""), kind)
        limits: dict[str, Any] = {what: cell.get(what, "") or None for what in ("low", "high")}
        limits["typical_range" if ends else "typical"] = ends or cell.get("typical", "") or None
        if kind["kind"] in _NUMERIC:
            for field in [name for name in limits if name != "typical_range"]:
                limits[field] = _number(limits[field] or "", field, line, decimal)
            if ends:
                limits["typical_range"] = tuple(_number(end or "", "typical", line, decimal) for end in ends)
        codes = tuple(_parts(cell.get("codes", "")))
        for field, texts in (("levels", kind.get("values", ())), ("codes", codes)):
            if texts and all(_LABELLED.match(part) for part in texts):
                alone = " | ".join(part.partition("=")[0].strip() for part in texts)
                raise ValueError(
                    f"Line {line:,} of the columns has {quote(texts[0])} among its {field}: write the cells as they "
                    f"stand in the table, without what they mean, as in {quote(alone)}."
                )
        columns.append(Column(name=cell["name"], reason=cell.get("why", ""), missing_codes=codes, **limits, **kind))
    return tuple(columns)


def _parts(text: str) -> list[str]:
    mark = next((mark for mark in "|;," if mark in text), "|")
    return [part for each in text.split(mark) if (part := each.strip())]


def text_of(columns: Iterable[Column], separator: str = "\t", decimal: str = ".") -> str:
    """Return the columns as text that `columns_of` reads, with headings."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(HEADINGS)
    for column in columns:
        limits = [column.low, column.high, *(column.typical_range or [column.typical])]
        if column.kind in _NUMERIC:
            limits = [None if x is None else repr(float(x)).replace(".", decimal) for x in limits]
        low, high, *typical = ("" if x is None else str(x) for x in limits)
        writer.writerow([column.name, low, high, " to ".join(typical), _kind_text(column), column.reason])
    return out.getvalue()


def kind_fields(text: str, where: str) -> dict[str, Any]:
    """Return the kind of a column from its text, as fields of `Column`."""
    word, _, rest = (part.strip() for part in text.partition(":"))
    kind, *transform = word.lower().split() or [NUMBER]
    kind = _KINDS.get(kind, kind)
    values = tuple(level for part in rest.split("|") if (level := part.strip()))
    valid = kind in KINDS and len(transform) <= (kind in _NUMERIC) and bool(values) <= (kind not in _NUMERIC)
    if not valid or not set(transform) <= set(TRANSFORMS):
        raise ValueError(
            f"{where} has {quote(text)} under kind: write one of {', '.join(KINDS)}, with levels "
            "as in 'category: A | B | ...', a date as in 'date: %d.%m.%Y', or a transform as in 'number log1p'."
        )
    fields: dict[str, Any] = {"kind": kind, "transform": transform[0] if transform else None}
    if kind == DATE:
        if "%" not in rest:
            rest = re.sub("y+|m+|d+", lambda part: _DATE.get(part[0].lower(), part[0]), rest, flags=re.I)
        return fields | {"format": rest}
    other = kind == CATEGORY and values[-1:] in (("...",), ("…",))
    return fields | {"values": values[:-1] if other else values, "other": other}


def kind_texts(column: Column) -> tuple[str, str]:
    """Return the two parts of a column's kind as text: its name with the transform, and the levels or the format."""
    if any("|" in level for level in column.values):
        raise ValueError(
            f"Column {quote(column.name)} has a level with a vertical bar, which the text cannot hold: keep the "
            "declaration as JSON."
        )
    levels = " | ".join([*column.values, *(["..."] if column.other else [])])
    return f"{column.kind} {column.transform or ''}".strip(), levels or column.format


def _kind_text(column: Column) -> str:
    """Return the cell that `kind_fields` reads; "" for a number."""
    if column.weight != dataclasses.replace(column, weight=1.0).weight or column.missing_codes:
        raise ValueError(
            f"Column {quote(column.name)} has a weight or codes of its own, which the text cannot hold: keep the "
            "declaration as JSON."
        )
    name, rest = kind_texts(column)
    return f"{name}: {rest}" if rest else name if name != NUMBER else ""


def _checked(cells: list[str], headings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings in small letters, or raise ValueError for one that is not known or is there twice."""
    for cell, heading in zip(cells, headings, strict=True):
        allowed = (*HEADINGS, *FURTHER)
        if heading and (heading not in allowed or headings.count(heading) > 1):
            reason = "twice" if heading in allowed else "which is none of them"
            raise ValueError(f"The headings are {', '.join(allowed)}, and the first line has {quote(cell)} {reason}.")
    return headings


def _number(cell: str, heading: str, line: int, decimal: str) -> float | None:
    number = number_of(cell, decimal)
    if number is None and not re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", cell):  # that may be thousands
        number = number_of(cell, ".")
    if number is None:
        mark = "point" if decimal == "." else "comma"
        raise ValueError(
            f"Line {line:,} of the columns has {quote(cell)} under {heading}: write a number with a decimal {mark}, or "
            "declare the other mark."
        )
    return number if number == number else None
