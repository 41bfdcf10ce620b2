"""The public functions: list and describe files, count rows, cut into parts, read a part in blocks."""

from __future__ import annotations

import dataclasses
import glob
import os
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from privcov.core import checks, extras
from privcov.tables.readers import columnar, csv_rows, excel
from privcov.tables.readers.blocks import Block, StrangeCell, block_of
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.kinds import Kind
from privcov.tables.readers.numbers import texts_of
from privcov.tables.readers.table_files import FileFacts, Part, TableFileError, TableFiles, quote, size_and_time

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = {
    ".csv": "csv",
    ".csv.gz": "csv.gz",
    columnar.ENDING: "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    excel.ENDING: "xlsx",
}
_SPREADSHEETS = (".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
_KINDS = {"csv": "CSV", "csv.gz": "gzip-compressed CSV", "parquet": "Parquet", "arrow": "Arrow", "xlsx": "Excel"}
_STARTS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\x1f\x8b": "csv.gz", b"PK\x03\x04": "xlsx", b"\xd0\xcf\x11": "xls"}
_FOUND = {
    **_KINDS,
    "csv": "text",
    "csv.gz": "gzip",
    "xlsx": "a spreadsheet or zip archive",
    "xls": "an old or locked spreadsheet",
}
_PART_CELLS = 8_000_000

T = TypeVar("T")
Paths = str | os.PathLike | Sequence[str | os.PathLike]


def describe(
    paths: Paths,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    *,
    any_type: bool = False,
    person: str = "",
    dialect: Dialect | None = None,
    kinds: Sequence[Kind] = (),
) -> TableFiles:
    """Return what headers and metadata say; no row is read."""
    extras.require("pyarrow", "Tables in files")
    if not isinstance(dialect := Dialect() if dialect is None else dialect, Dialect):
        raise TypeError(
            f"dialect takes a privcov.Dialect, got {checks.describe(dialect)}. Write Dialect(separator=';')."
        )
    files = [_plainly(path, None, _facts, path, dialect) for path in list_files(paths)]
    label = label or ""
    explicit = columns is not None
    if columns is None:
        columns = [name for name in files[0].names if not name or name not in (label, person)]
    columns = tuple(columns)
    if not columns:
        raise TableFileError(f"No column of {files[0].path} is left to measure: name at least one.")
    selection = (*columns, label, person) if explicit else ()
    if explicit and "" in columns:
        raise TableFileError("One of the columns asked for has a blank name: leave it out.")
    if twice := [name for name in selection if name and selection.count(name) > 1]:
        raise TableFileError(f"Column {quote(twice[0])} is asked for twice: name every column once.")
    for file in files:
        roles = columns, label, person
        _plainly(file.path, file, _check_columns, file, files[0], selection or (label, person), *roles, any_type, kinds)
    return _with_rows(TableFiles(columns, label, tuple(files), person))


def count_rows(table: TableFiles, *, private: bool = True) -> TableFiles:
    """Return the same with n known, from a pass over the CSV files."""
    files = [
        file if file.rows is not None else _plainly(file.path, file, _count_file, file, private) for file in table.files
    ]
    return _with_rows(dataclasses.replace(table, files=tuple(files)))


def parts_of(table: TableFiles, cells: int = _PART_CELLS) -> tuple[Part, ...]:
    """Return independent pieces of about ``cells`` numbers each: whole row groups or record batches, or whole records.

    A CSV file is one part.
    """
    rows = max(1, checks.integer("cells", cells, 1) // len(table.columns))
    parts: list[Part] = []
    for file in table.files:
        parts += _plainly(file.path, file, _parts, file, rows)
    return tuple(parts)


def blocks_of(
    part: Part,
    columns: Sequence[str],
    label: str = "",
    rows: int = 8192,
    *,
    private: bool,
    person: str = "",
    kinds: Sequence[Kind] = (),
) -> Generator[Block]:
    """Yield the part's rows in their order, at most ``rows`` in a block, with the memory of a row group or a CSV block.

    With ``kinds``, one for each column, cells are coded as they say (`coding.py`), levels and dates without errors.
    With ``private``, a CSV cell that is no number is a missing cell. Otherwise (public rows) it is a TableFileError.
    Raises TableFileError also when the file is damaged, changed since `describe`, or changes while it is read.
    """
    checks.integer("rows", rows, 1)
    with closing(_checked_blocks(part, tuple(columns), label, rows, private, person, tuple(kinds))) as blocks:
        while (block := _plainly(part.file.path, part.file, next, blocks, None)) is not None:
            yield block


def _checked_blocks(
    part: Part, columns: tuple[str, ...], label: str, rows: int, private: bool, person: str, kinds: tuple[Kind, ...]
) -> Generator[Block]:
    names = [*columns, *(name for name in (label, person) if name)]
    before = 0
    for table, _ in _tables(part, names, rows, private):
        try:
            yield block_of(table, columns, label, person, kinds, part.file.dialect, private)
        except StrangeCell as found:
            name, text = found.args
        else:
            before += table.num_rows
            continue
        row = before + 1 + texts_of(table.column(name)).index(text)
        raise TableFileError(
            f"Row {row:,}{part.file.of_it} has text in column {quote(name)} ({quote(text.strip())}), which must hold "
            f"numbers with {part.file.dialect.marks}: correct it, or leave the column out."
        )


def tables_of(
    part: Part, names: Sequence[str], *, private: bool = True
) -> Generator[tuple[pa.Table | pa.RecordBatch, float]]:
    """Yield the named columns of a part as they are read, some rows at a time, and the share that is read.

    A column of a CSV holds texts (binary). Memory is bounded and errors are the same as in `blocks_of`.
    """
    with closing(_tables(part, list(names), 8192, private)) as tables:
        while (some := _plainly(part.file.path, part.file, next, tables, None)) is not None:
            yield some


def _tables(
    part: Part, names: list[str], rows: int, private: bool
) -> Generator[tuple[pa.Table | pa.RecordBatch, float]]:
    """Yield at most ``rows`` rows of a part, and the share of it that is read; what was announced must be there."""
    part.file.check()
    n_rows = 0
    if part.file.is_csv:
        large = csv_rows.tables(part.file, names, private)
    else:
        large = ((batch, (n_rows + batch.num_rows) / (part.rows or 1)) for batch in columnar.batches(part, names, rows))
    for table, share in large:
        n_rows += table.num_rows
        for start in range(0, table.num_rows, rows):
            yield table.slice(start, rows), min(1.0, share)
    part.file.check()
    if part.rows not in (None, n_rows):  # without the numbers, which may be private
        raise TableFileError(f"{part.file.title} gave another number of rows than it announced: write it again.")


def _plainly(path: str, file: FileFacts | None, act: Callable[..., T], *args: object) -> T:
    """Return ``act(*args)``, without the text of a library's error: it might repeat a cell.

    The new exception is raised outside ``except``, so that it carries no context either.
    """
    import pyarrow as pa

    try:
        return act(*args)
    except TableFileError as error:
        problem = str(error)
    except MemoryError:
        raise
    except (OSError, EOFError, ValueError, TypeError, LookupError, pa.ArrowException, zlib.error) as error:
        number = error.errno if isinstance(error, OSError) and not isinstance(error, pa.ArrowException) else None
        problem = (
            f"The file {path} cannot be read ({os.strerror(number)}): see that it may be opened, then begin again."
            if number
            else f"The file {path} is damaged or cut short: copy or write it again."
        )
    if file is not None:
        file.check()  # raises where the file changed, which explains more
    raise TableFileError(problem)


# --- describing ---------------------------------------------------------------------------------------------


def as_csv(raw: bytes, name: str, dialect: Dialect | None = None) -> bytes:
    """Return a file in memory, such as an upload, as CSV: a workbook and Parquet as what they mean, any other as it is.

    Raises TableFileError for a file that is not what its name says.
    """
    if name.lower().endswith(excel.ENDING):
        return excel.as_csv(raw, name, dialect)
    return columnar.as_csv(raw, name) if name.lower().endswith(columnar.ENDING) else raw


def says_how(name: str) -> bool:
    """Return whether a file is named as one that needs no question how it is written."""
    return name.lower().endswith((excel.ENDING, columnar.ENDING))


def list_files(paths: Paths) -> list[str]:
    """Return every file that ``paths`` names, in order; raise `TableFileError` for one absent or named twice."""
    entries: list = [paths] if isinstance(paths, str | os.PathLike) or not checks.is_many(paths) else list(paths)
    if wrong := [path for path in entries if not isinstance(path, str | os.PathLike)]:
        raise TypeError(f"paths takes the path of a file, or a list of paths, got {type(wrong[0]).__name__}.")
    if not entries:
        raise TableFileError("No file is named: name at least one.")
    names = sorted(name for path in entries for name in _expanded(os.fspath(path)))
    by_inode: dict[tuple[int, int], str] = {}
    for name in names:
        size_and_time(name)
        stat = os.stat(name)
        if (same := (stat.st_dev, stat.st_ino)) in by_inode:
            raise TableFileError(f"The file {name} is named twice (also as {by_inode[same]}): name every file once.")
        by_inode[same] = name
    return names


def _expanded(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = (entry for entry in Path(path).iterdir() if entry.is_file() and not entry.name.startswith((".", "_")))
        names = [str(entry) for entry in inside if _named_kind(entry.name)]
    elif glob.has_magic(path) and not os.path.exists(path):
        names = [name for name in glob.glob(path) if os.path.isfile(name)]
    else:
        return [path]
    if not names:
        raise TableFileError(f"There is no table file in {path}: its name must end in {_endings()}.")
    return names


def lines_to_header(path: str, dialect: Dialect) -> bytes | None:
    """Return a CSV file up to its header in UTF-8, None for a file of another format; no byte after it is used."""
    kind = _kind_of(path)
    if kind not in ("csv", "csv.gz"):
        return None
    return _plainly(path, None, csv_rows.lines_to_header, FileFacts(path, kind, 0, 0, None, dialect=dialect))


def _facts(path: str, dialect: Dialect) -> FileFacts:
    size, modified_ns = size_and_time(path)
    kind = _kind_of(path)
    if not size:
        raise TableFileError(f"The file {path} is empty: it needs column names and at least one row.")
    with open(path, "rb") as stream:
        start = stream.read(8)
    start_kind = next((start_kind for mark, start_kind in _STARTS.items() if start.startswith(mark)), "csv")
    if start_kind != kind:
        raise TableFileError(
            f"The file {path} is named as {_KINDS[kind]} and begins as {_FOUND[start_kind]}: "
            f"give it the right name, or write it again as {_KINDS[kind]}."
        )
    if kind in ("csv", "csv.gz"):
        file = FileFacts(path, kind, size, modified_ns, None, dialect=dialect)
        return dataclasses.replace(file, names=csv_rows.header(file))
    if kind == "xlsx":  # from here on a CSV in memory
        text = excel.as_csv(Path(path).read_bytes(), f"The file {path}", dialect)
        file = FileFacts(path, "csv", size, modified_ns, None, raw=text, dialect=Dialect(header_row=dialect.header_row))
        return dataclasses.replace(file, names=csv_rows.header(file))
    return columnar.facts(path, kind, size, modified_ns)


def _kind_of(path: str) -> str:
    """Return the format that the ending of a file names, or raise TableFileError."""
    if kind := _named_kind(path):
        return kind
    if path.lower().endswith(_SPREADSHEETS):
        raise TableFileError(
            f"The file {path} is a spreadsheet: save the sheet that is meant as CSV UTF-8, or as Parquet."
        )
    raise TableFileError(f"The file {path} has an unknown ending: its name must end in {_endings()}.")


def _named_kind(path: str) -> str:
    return next((kind for end, kind in _SUFFIXES.items() if path.lower().endswith(end)), "")


def _endings() -> str:
    *most, last = _SUFFIXES
    return f"{', '.join(most)} or {last}"


def _check_columns(
    file: FileFacts,
    first: FileFacts,
    selection: tuple,
    columns: tuple[str, ...],
    label: str,
    person: str,
    any_type: bool,
    kinds: Sequence[Kind],
) -> None:
    """Check that every wanted column is there once, and of a type that can be read.

    Names are repeated only where they were asked for: those of a file without a header would be cells of a row.
    """
    for name in (*columns, *(other for other in (label, person) if other)):
        times = file.names.count(name)
        if times == 1 and name:
            continue
        column = quote(name) if name and name in selection else f"{first.names.index(name) + 1} of {first.path}"
        if not name:
            raise TableFileError(f"Column {column} has no name: write one, or name the columns to read.")
        if times:
            raise TableFileError(
                f"The file {file.path} has {times} columns with the name of column {column}: rename them."
            )
        raise TableFileError(
            f"The file {file.path} lacks column {column}, but every file of a table must hold every column that is "
            "read: add it, or leave the column out."
        )
    if file.format in ("parquet", "arrow") and not any_type:
        columnar.check_types(file, columns, label, person, kinds)


def _with_rows(table: TableFiles) -> TableFiles:
    if table.n == 0:
        raise TableFileError(f"The table has column names but no rows ({table.files[0].path}): add at least one.")
    return table


# --- cutting ------------------------------------------------------------------------------------------------


def _count_file(file: FileFacts, private: bool) -> FileFacts:
    file.check()
    rows = sum(table.num_rows for table, _ in csv_rows.tables(file, file.names[:1], private))
    file.check()
    return dataclasses.replace(file, rows=rows)


def _parts(file: FileFacts, rows: int) -> list[Part]:
    file.check()
    return [Part(file, file.rows)] if file.is_csv else list(columnar.parts(file, rows))
