"""The command ``ledger``: what has been spent on private tables, and their limits."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import privcov
from privcov.cli.options import add_guarantee, add_json, guarantee_of, print_json


def add_ledger(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``ledger`` to the commands of the parser."""
    ledger = commands.add_parser("ledger", help="what has been spent on private tables, and their limits")
    ledger.add_argument(
        "what", nargs="?", choices=("list", "show", "limit", "begin-anew"), default="list", help="list when left out"
    )
    ledger.add_argument("name", nargs="?", help="the declared name of a table")
    add_guarantee(ledger)
    ledger.add_argument("--reason", default="", help="with limit: why a limit that allows more is needed")
    ledger.add_argument("--yes", action="store_true", help="with begin-anew: what was spent until now is forgotten")
    ledger.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    add_json(ledger)
    ledger.set_defaults(act=_ledger)


def _ledger(options: argparse.Namespace) -> None:
    from privcov import checks

    if options.what == "begin-anew":
        _begin_anew(options)
        return
    if options.what != "list" and not options.name:
        raise ValueError(f"ledger {options.what} needs the name of a table.")
    if options.name:
        options.name = checks.one_line("The name", options.name, "that of a table. Give it the declared one")
    ledger = privcov.Ledger(options.ledger)
    if options.what == "limit":
        account = ledger.limit(options.name, guarantee_of(options), options.reason)
        if not options.json:
            print(f"{options.name}: {account.sentence}")
            return
    if options.json:
        print_json([_told(ledger, name) for name in ([options.name] if options.name else ledger.names())])
        return
    for name in [options.name] if options.name else ledger.names():
        entries = ledger.entries(name)
        print(f"{name}: {ledger.account(name).sentence}")
        if options.what == "show":
            for entry in entries:
                unit = "epsilon" if entry.cost.kind == "pure" else "rho"
                what = entry.request.get("method", "")
                print(
                    f"  {entry.number} {entry.reserved_at} {entry.state} {what} {unit} {float(entry.cost.amount):.9g}"
                )


def _told(ledger: privcov.Ledger, name: str) -> dict[str, Any]:
    """Return one table as JSON values: its limit, and every release."""
    from privcov.privacy import to_dict

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
