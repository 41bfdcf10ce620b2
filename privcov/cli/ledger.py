"""The command ``ledger``: what has been spent on private tables, their limits, and bundles of what is stored."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import privcov
from privcov.cli import check, streams
from privcov.cli.options import add_guarantee, add_json, guarantee_of, print_json

_LIMITS = ("rho", "epsilon", "delta", "reason")
_TAKES = {"limit": _LIMITS, "bundle": ("number", "out", "declaration"), "begin-anew": ("yes",)}


def add_ledger(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``ledger`` to the commands of the parser."""
    ledger = commands.add_parser("ledger", help="what has been spent on private tables, and their limits")
    ledger.add_argument(
        "what",
        nargs="?",
        choices=("list", "show", "limit", "bundle", "begin-anew"),
        default="list",
        help="list when left out",
    )
    ledger.add_argument("name", nargs="?", help="the declared name of a table")
    ledger.add_argument("number", nargs="?", type=int, help="with bundle: the number of a release, as show lists it")
    add_guarantee(ledger)
    ledger.add_argument("--reason", default="", help="with limit: why a limit that allows more is needed")
    ledger.add_argument("--yes", action="store_true", help="with begin-anew: what was spent until now is forgotten")
    ledger.add_argument("--out", type=Path, help="with bundle: the zip to write; nothing is paid")
    ledger.add_argument("--declaration", type=Path, help="with bundle: as declared; else the release's public facts")
    ledger.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    add_json(ledger)
    ledger.set_defaults(act=_ledger)


def _ledger(options: argparse.Namespace) -> None:
    from privcov.core import checks

    option_names = ("number", "out", "declaration", *_LIMITS, "yes")
    values = ((name, getattr(options, name)) for name in option_names)
    passed_options = {name for name, value in values if value not in (None, "") and value is not False}
    if wrong := sorted(passed_options - {*_TAKES.get(options.what, ())}):
        raise ValueError(f"ledger {options.what} takes no {', '.join(wrong)}. Leave it out.")
    if options.what == "begin-anew":
        _begin_anew(options)
        return
    if options.what != "list" and not options.name:
        raise ValueError(f"ledger {options.what} needs the name of a table.")
    if options.name:
        options.name = checks.one_line("The name", options.name, "that of a table. Give it the declared one")
    if options.what == "bundle":
        _bundle(options)
        return
    ledger = privcov.Ledger(options.ledger)
    if options.what == "limit":
        account = ledger.set_limit(options.name, guarantee_of(options), options.reason)
        if not options.json:
            print(f"{options.name}: {account.sentence}")
            return
    if options.json:
        print_json([_account(ledger, name) for name in ([options.name] if options.name else ledger.names())])
        return
    for name in [options.name] if options.name else ledger.names():
        entries = ledger.entries(name)
        print(f"{name}: {ledger.account(name).sentence}")
        if options.what == "list" and entries:
            print(f"  Numbers for ledger bundle: {', '.join(str(e.number) for e in entries if e.state == 'stored')}")
        if options.what == "show":
            for entry in entries:
                unit = "epsilon" if entry.cost.kind == "pure" else "rho"
                method = entry.request.get("method", "")
                print(
                    f"  {entry.number} {entry.reserved_at} {entry.state} {method} {unit} {float(entry.cost.amount):.9g}"
                )


def _bundle(options: argparse.Namespace) -> None:
    if options.number is None or options.out is None:
        raise ValueError("ledger bundle needs the number of a release, as ledger show lists it, and --out.")
    from privcov.bundle.read import bundle_of, open_stored
    from privcov.ledger import default_path
    from privcov.ledger.access import files_of

    owner_declaration = check.read_declaration(options.declaration) if options.declaration else None
    streams.check_place(options.out, required_files=[*files_of(options.ledger or default_path()), options.declaration])
    ledger = privcov.Ledger(options.ledger)
    entries = {entry.number: entry for entry in ledger.entries(options.name)}
    if options.number not in entries:
        there = ", ".join(map(str, entries)) or "none"
        raise ValueError(f"{options.name!r} has no release {options.number} in the ledger. It has: {there}.")
    entry = entries[options.number]
    answer = ledger.stored(entry.token)
    if answer is None:
        raise ValueError(f"Release {entry.number} of {options.name!r} is {entry.state} and has no stored answer.")
    declaration = None if owner_declaration is None else json.loads(owner_declaration.to_json())
    raw = bundle_of(open_stored(answer), entry.to_dict(), declaration)
    streams.write(options.out, raw)
    print(options.out)


def _account(ledger: privcov.Ledger, name: str) -> dict[str, Any]:
    from privcov.core.guarantees import to_dict

    account = ledger.account(name)
    releases = [{**entry.to_dict(), "amount": float(entry.cost.amount)} for entry in ledger.entries(name)]
    limit = None if account.limit is None else to_dict(account.limit)
    return {"name": name, "limit": limit, "unit": account.unit, "sentence": account.sentence, "releases": releases}


def _begin_anew(options: argparse.Namespace) -> None:
    if not options.yes:
        raise ValueError(
            "ledger begin-anew forgets every limit and everything spent until now: releases made before no longer "
            "count, although they still reveal what they did. The old files are kept under another name. Give --yes if "
            "that is meant."
        )
    ledger = privcov.Ledger.begin_anew(options.ledger)
    print(
        f"A new ledger begins at {ledger.path}; the old files are beside it, with until- and the time in their names."
    )
