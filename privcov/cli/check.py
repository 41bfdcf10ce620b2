"""The command ``check``: the owner's view of a private table, and the stop where a release would spend for nothing."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privcov.cli.options import add_json, print_json
from privcov.cli.progress import Bar

if TYPE_CHECKING:
    from privcov.steward.check import ColumnCheck, OwnerCheck
    from privcov.tables.declaration.declaration import Declaration


def add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``check`` to the commands of the parser."""
    check = commands.add_parser(
        "check", help="owner's view: which cells of a private table can be used? Spends nothing"
    )
    check.add_argument("declaration", type=Path, help="declaration JSON: columns, bounds, persons")
    check.add_argument("data", nargs="+", help="CSV (or gz), Parquet, Arrow or Excel; files, folders or patterns")
    add_json(check)
    check.set_defaults(act=_check)


def _check(options: argparse.Namespace) -> None:
    declaration = read_declaration(options.declaration)
    result = looked_at(declaration, options.data)
    if options.json:
        from privcov.steward.check import MARK, advice

        print_json(
            {"view": f"Owner's view, {MARK}.", "name": result.name, "rows": result.rows, "verdict": result.verdict}
            | {"columns": [{"wasted": c.wasted, **dataclasses.asdict(c)} for c in result.columns]}
            | {"declared": {column.name: column.in_words for column in declaration.columns}, "label": result.label}
            | {"unlisted": result.unlisted, "advice": advice(result)}
        )
        return
    lines = [f"  {column.name}: {column.in_words}" for column in declaration.columns]
    print(*report(result), "", "Declared, with what follows from ranges:", *lines, sep="\n")


def read_declaration(path: Path) -> Declaration:
    """Return the declaration in a file. Raises ValueError, or OSError, in one sentence."""
    from privcov.tables.declaration.declaration import Declaration

    try:
        return Declaration.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no declaration: it is not text in UTF-8. Save it again.") from None
    except RecursionError:
        raise ValueError(f"{path} is no declaration: it has too many levels of brackets. Save it again.") from None


def looked_at(declaration: Declaration, data: Sequence[str]) -> OwnerCheck:
    """Return the owner's check of declared files, with progress that shows no number of rows."""
    from privcov.steward.check import check_files

    bar = Bar(sys.stderr, show_rows=False, label="check ")
    try:
        return check_files(declaration, data, bar)
    finally:
        bar.end()


def stop_if_unreadable(declaration: Declaration, data: Sequence[str], accepted: Sequence[str]) -> None:
    """Raise ValueError, for the owner's eyes, where a column that was not accepted has no readable number."""
    from privcov.steward.check import MARK

    names = [c.name for c in declaration.columns]
    if strange := [name for name in accepted if name not in names]:
        raise ValueError(f"--accept-unreadable names {strange[0]!r}, which is no declared column. Correct it.")
    result = looked_at(declaration, data)
    lacking = [c for c in result.columns if c.wasted and c.name not in accepted]
    if lacking:
        listing = "; ".join(f"{c.name!r} ({next(iter(c.looks), 'all cells missing')})" for c in lacking)
        raise ValueError(
            f"Nothing was spent. There is hardly a readable number, or none, in {listing}. Correct the file, "
            f"declare the table without such columns, or give --accept-unreadable and their names. "
            f"Owner's view, {MARK}."
        )


def report(result: OwnerCheck) -> list[str]:
    """Return lines for the owner's screen."""
    from privcov.steward.check import CHOICE, MARK, advice

    wide = max(6, *(len(c.name) for c in result.columns))
    lines = [f"Owner's view, {MARK}.", f"{result.name}: {result.rows:,} rows", result.verdict, ""]
    lines.append(
        f"{'column':<{wide}} {'numbers':>12} {'missing':>8} {'unreadable':>10} {'outside':>8}  looks like; codes"
    )
    for c in result.columns:
        fractions = (f"{c.share(count):.1%}" for count in (c.missing + c.infinite, c.unreadable, c.outside))
        missing, unreadable, outside = fractions
        words = "; ".join(filter(None, (_looks(c), _codes(c))))
        lines.append(f"{c.name:<{wide}} {c.numbers:>12,} {missing:>8} {unreadable:>10} {outside:>8}  {words}".rstrip())
    return [*lines, *(f"  {line}" for line in (*_rules(result), *advice(result))), "", CHOICE]


def _rules(result: OwnerCheck) -> list[str]:
    lines = []
    if result.person:
        lines.append(f"Rows with one id in {result.person!r} are one person, however many they are.")
    if result.missing == "pairs":
        lines.append("Missing cells are measured in all columns.")
    return lines


def _looks(column: ColumnCheck) -> str:
    return ", ".join(f"{kind} {column.share(count):.1%}" for kind, count in column.looks.items())


def _codes(column: ColumnCheck) -> str:
    return ", ".join(f"{code:g} in {column.share(count):.1%}" for code, count in column.codes.items())
