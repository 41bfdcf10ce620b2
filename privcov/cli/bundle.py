"""The command ``bundle``: a bundle of a release that the ledger has stored, and what a bundle says."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import privcov
from privcov.cli import check, edges
from privcov.cli.options import add_json, print_json


def add_bundle(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``bundle`` to the commands of the parser."""
    bundle = commands.add_parser("bundle", help="make a bundle of a stored release, or show what one says")
    what = bundle.add_subparsers(dest="what", required=True)
    make = what.add_parser("make", help="a bundle of a release that the ledger has stored; nothing is paid")
    make.add_argument("name", help="the declared name of a table")
    make.add_argument("number", type=int, help="number of the release, as ledger show lists it")
    make.add_argument("--out", type=Path, required=True, help="the zip to write")
    make.add_argument("--declaration", type=Path, help="its declaration; the public facts of the release when left out")
    make.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    make.set_defaults(act=_make)
    inspect = what.add_parser("inspect", help="statement and files of a bundle; nothing is run or checked")
    inspect.add_argument("bundle", type=Path, help="the zip, or the folder that it was unpacked to")
    add_json(inspect)
    inspect.set_defaults(act=_inspect)


def _make(options: argparse.Namespace) -> None:
    from privcov.bundle.opened import bundle_of, open_answer
    from privcov.ledger import default_path
    from privcov.ledger.access import NAMES

    declared = check.read_declaration(options.declaration) if options.declaration else None
    edges.check_place(options.out)
    record = options.ledger or default_path()
    files = [record.with_name(record.name + end) for end in NAMES]
    edges.check_apart({"--out": options.out}, files + ([options.declaration] if options.declaration else []))
    ledger = privcov.Ledger(options.ledger)
    entries = {entry.number: entry for entry in ledger.entries(options.name)}
    if options.number not in entries:
        there = ", ".join(map(str, entries)) or "none"
        raise ValueError(f"{options.name!r} has no release {options.number} in the ledger. It has: {there}.")
    entry = entries[options.number]
    answer = ledger.answer(entry.token)
    if answer is None:
        raise ValueError(f"Release {entry.number} of {options.name!r} is {entry.state} and has no stored answer.")
    declaration = None if declared is None else json.loads(declared.to_json())
    raw = bundle_of(open_answer(answer), entry.to_dict(), declaration, {})
    with edges.all_or_none() as begin_file:
        begin_file(options.out).write_bytes(raw)
    print(options.out)


def _inspect(options: argparse.Namespace) -> None:
    told = _said(options.bundle)
    if options.json:
        print_json(told)
        return
    print(
        "Nothing of this is checked yet: privcov verify does that.",
        "",
        *map(edges.printable, told["statement"]),
        "",
        sep="\n",
    )
    for name, size in told["files"].items():
        print(f"{size:>12,}  {name}")


def _said(place: Path) -> dict[str, Any]:
    """Return what a bundle says, which may be anything, with the sizes of its files."""
    from privcov.bundle.place import Wrong, read_place

    try:
        files = read_place(place)
    except Wrong as problem:
        raise edges.Failed(f"{place} is no bundle that can be read: {problem}.") from None
    read: dict[str, Any] = {}
    for name in ("declaration.json", "guarantee.json", "ledger_entry.json"):
        try:
            read[name.removesuffix(".json")] = json.loads(files[name])
        except (KeyError, ValueError, RecursionError):
            raise edges.Failed(f"{place} is no bundle: it has no {name} that can be read.") from None
    statement = files.get("statement.txt", b"").decode("utf-8", "replace").splitlines()
    return {"statement": statement, **read, "files": {name: len(raw) for name, raw in sorted(files.items())}}
