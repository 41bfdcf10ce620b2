"""A declaration to fill in, from the header of a file alone: no row is read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from privcov.tables.declaration.csv_file import read_header
from privcov.tables.declaration.declaration import FORMAT, Column
from privcov.tables.readers.dialect import Dialect, proposed_separator
from privcov.tables.readers.reading import describe, lines_to_header
from privcov.tables.readers.table_files import quote


@dataclass(frozen=True)
class Header:
    """What a file's header says: its name without ending, and a CSV's dialect, its decimal mark None until declared."""

    name: str
    columns: tuple[str, ...]
    dialect: dict[str, Any] | None


def header_of(
    path: str | os.PathLike,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
    **written: Any,
) -> Header:
    """Read the names of the columns from their line of a CSV file or workbook, or from the metadata of another.

    ``written`` are further fields of the dialect.
    """
    path = os.fspath(path)
    name = os.path.basename(path).partition(".")[0]
    thousands = written.pop("thousands", "")
    dialect = Dialect(encoding=encoding, **written)
    raw = lines_to_header(path, dialect)
    if raw is None:
        if (separator, decimal, encoding, thousands) != (None, None, "utf-8", ""):
            raise ValueError(f"{path} is no CSV file, so it has no separator, mark or encoding: leave them out.")
        columns = describe(path, any_type=True, dialect=dialect).columns
        return Header(name, columns, dialect.to_dict() if dialect != Dialect() else None)
    line = raw.splitlines()[-1] if raw else b""
    mark = separator or proposed_separator(line.decode("utf-8-sig", "replace"))
    # The text is UTF-8 by now, and no name depends on the decimal mark.
    columns = tuple(read_header(raw, Dialect(mark, decimal or ".", header_row=dialect.header_row)))
    decimal = decimal or {",": "."}.get(mark)
    further = {"thousands": thousands} if thousands else {}
    if decimal:
        Dialect(mark, decimal, **further)  # refuses a mark that is both
    return Header(name, columns, dialect.to_dict() | {"separator": mark, "decimal": decimal} | further)


def template(header: Header, declared: Iterable[Column] = ()) -> str:
    """Return a declaration to fill in, as JSON."""
    columns = tuple(declared) or tuple(map(Column, header.columns))
    if strange := [column.name for column in columns if column.name not in header.columns]:
        raise ValueError(f"The file has no column {quote(strange[0])}: correct its name, or leave it out.")
    fields = {
        "format": FORMAT,
        "name": header.name,
        "row_stands_for": "",
        "columns": [column.to_dict() | {"typical_range": column.typical_range} for column in columns],
        "row_bound_fraction": None,
        "row_bound_search": None,
        "person": "",
        "rows_per_person": None,
        "n_public": None,
        "label": "",
        "classes": [],
        "missing": None,
        "missing_codes": [],
        **({"dialect": header.dialect} if header.dialect else {}),
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
