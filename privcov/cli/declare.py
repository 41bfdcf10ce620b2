"""The command ``declare``: a declaration to fill in, from the header of a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from privcov.cli import streams

_TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}  # endings of the text form, with what stands between its cells
_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}


def add_declare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``declare`` to the commands of the parser."""
    declare = commands.add_parser(
        "declare", help="write a declaration to fill in, from the header of a table; no row is read"
    )
    declare.add_argument("table", type=Path, help="CSV (plain or gz), Parquet, Arrow or Excel")
    declare.add_argument("--separator", help="what stands between cells: , ; | or tab; proposed from the header")
    declare.add_argument("--decimal", help="the decimal mark, . or , (must be declared where no comma separates cells)")
    declare.add_argument("--encoding", default="utf-8", help="utf-8, utf-16, latin-1 or cp1252")
    declare.add_argument("--thousands", default="", help="what stands between thousands: , . ' or a blank")
    declare.add_argument("--header-row", type=int, default=1, help="line of the column names; those above are left out")
    declare.add_argument("--sheet", default="", help="name of the sheet of a workbook that has several")
    declare.add_argument(
        "--columns", type=Path, help="text with name, low, high, typical, kind, why: the columns to measure"
    )
    declare.add_argument("--out", type=Path, help="JSON, or the columns as .csv, .tsv or .txt; standard output if none")
    declare.set_defaults(act=_declare)


def _declare(options: argparse.Namespace) -> None:
    from privcov.tables.declaration.declaration import Column
    from privcov.tables.declaration.spreadsheet import columns_of, text_of
    from privcov.tables.declaration.template import header_of, template
    from privcov.tables.readers.kinds import NUMBER, kind_by_name
    from privcov.tables.readers.table_files import listed

    streams.check_place(options.out, required_files=[options.table, options.columns])
    if options.out and options.out.is_file() and options.out.stat().st_size:
        raise ValueError(
            f"--out {options.out} is there already and may be filled in. Choose another name, or remove the file."
        )
    separator = _SEPARATORS.get(options.separator, options.separator)
    further = {name: getattr(options, name) for name in ("thousands", "header_row", "sheet")}
    header = header_of(options.table, separator, options.decimal, options.encoding, **further)
    file_columns = columns_of(_text(options.columns), options.decimal or ".") if options.columns else ()
    columns = file_columns or tuple(map(Column, header.columns))
    between = _TEXT.get(options.out.suffix.lower()) if options.out else None
    if between:
        streams.answer(text_of(columns, between, options.decimal or "."), options.out)
    else:
        streams.answer(template(header, columns), options.out)
    doubtful = [c.name for c in columns if c.kind == NUMBER != kind_by_name(c.name)]
    if doubtful:
        names = listed(doubtful, 5)
        print(f"Their names sound like text or dates, so give them another kind than number: {names}.", file=sys.stderr)
    if header.dialect and header.dialect["decimal"] is None:
        print("The decimal mark is never guessed: give --decimal . or --decimal , as the file has it.", file=sys.stderr)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8. Save it again.") from None
