"""The command ``verify``: a bundle is checked without the data, or shown as it is."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from pathlib import Path
from typing import Any

from privcov.cli import streams
from privcov.cli.options import add_json, print_json


def add_verify(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``verify`` to the commands of the parser."""
    verify = commands.add_parser("verify", help="check a bundle without the data; nothing of the bundle is run")
    verify.add_argument("bundle", type=Path, help="the zip, or the folder that it was unpacked to")
    verify.add_argument("--show", action="store_true", help="print its statement and files; nothing is checked")
    add_json(verify)
    verify.set_defaults(act=_verify)


def _verify(options: argparse.Namespace) -> None:
    if not options.bundle.exists():
        raise streams.Failed(
            f"There is no bundle at {options.bundle}. Give the zip, or the folder that it was unpacked to."
        )
    if options.show:
        _show(options)
        return
    from privcov.bundle.verify import verify

    place, here = options.bundle.resolve(), Path.cwd()
    if place == here or place in here.parents:
        raise ValueError(
            "The current folder belongs to the bundle, and Python looks for modules there first. Change to another "
            f"folder, and give the command again with {place}."
        )
    if options.json:
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            problem = verify(options.bundle)
        print_json({"holds": not problem, "lines": told.getvalue().splitlines()})
    else:
        problem = verify(options.bundle)
    if problem:
        raise SystemExit(1)


def _show(options: argparse.Namespace) -> None:
    told = _said(options.bundle)
    if options.json:
        print_json(told)
        return
    print(
        "Nothing of this is checked yet: privcov verify without --show does that.",
        "",
        *map(streams.printable, told["statement"]),
        "",
        sep="\n",
    )
    for name, size in told["files"].items():
        print(f"{size:>12,}  {name}")


def _said(place: Path) -> dict[str, Any]:
    """Return what a bundle says, which may be anything, with the sizes of its files."""
    from privcov.bundle.archive import BundleError, read_place

    try:
        files = read_place(place)
    except BundleError as problem:
        raise streams.Failed(f"{place} is no bundle that can be read: {problem}.") from None
    read: dict[str, Any] = {}
    for name in ("declaration.json", "guarantee.json", "ledger_entry.json"):
        try:
            read[name.removesuffix(".json")] = json.loads(files[name])
        except (KeyError, ValueError, RecursionError):
            raise streams.Failed(f"{place} is no bundle: it has no {name} that can be read.") from None
    statement = files.get("statement.txt", b"").decode("utf-8", "replace").splitlines()
    return {"statement": statement, **read, "files": {name: len(raw) for name, raw in sorted(files.items())}}
