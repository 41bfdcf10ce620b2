"""The command ``release``: one release of a private table in files, recorded in the ledger."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import privcov
from privcov.cli import check, streams
from privcov.cli.options import add_guarantee, guarantee_of, parameters_of
from privcov.cli.progress import progress
from privcov.core import paths

if TYPE_CHECKING:
    from privcov.tables.declaration.declaration import Declaration


def add_release(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``release`` to the commands of the parser."""
    release = commands.add_parser("release", help="release once from a private table, on the record of the ledger")
    release.add_argument("data", nargs="+", help="CSV (or gz), Parquet, Arrow or Excel; files, folders or patterns")
    release.add_argument("--declaration", type=Path, required=True, help="declaration JSON: columns, bounds, persons")
    release.add_argument("--method", help="key of a method that private rows are offered; that of Your data if none")
    add_guarantee(release)
    release.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    release.add_argument("--draw", type=int, default=1, help="2, 3, ... for another draw, which is paid again")
    release.add_argument(
        "--accept-unreadable",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="release these columns although hardly a cell of them is a number: all others are missing ones",
    )
    release.add_argument(
        "--expected-rows",
        type=int,
        help="a public guess where the number of rows is not public: noise beyond all they can add up to is refused",
    )
    release.add_argument("--out", type=Path, help="JSON file; standard output when left out")
    release.add_argument("--bundle", type=Path, help="zip to take home: everything released, and what verifies it")
    release.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    release.set_defaults(act=_release)


def _release(options: argparse.Namespace) -> None:
    from privcov.estimators.base import METHODS
    from privcov.releases.private_request import DEFAULT_METHODS, default_request

    guarantee = guarantee_of(options)
    METHODS.get(options.method or DEFAULT_METHODS[0])  # a key that is none is refused before a row is read
    declaration = check.read_declaration(options.declaration)
    streams.check_place(options.out, required_files=_release_files(options))
    streams.check_place(options.bundle, "--bundle", [*_release_files(options), options.out])
    if options.expected_rows is not None and declaration.n_public:
        raise ValueError("--expected-rows is for a hidden number of rows, and the declaration says that it is public.")
    ledger, name = privcov.Ledger(options.ledger), declaration.name.strip()
    count_before = len(ledger.entries(name))
    with (
        progress(show_rows=declaration.n_public and not declaration.person) as bar,
        _explain_interruption(ledger, name),
    ):
        if ledger.account(name).affords(guarantee):  # else nothing can be spent, and release_private says so
            check.stop_if_unreadable(declaration, options.data, options.accept_unreadable)
        private = declaration.dataset_from_files(options.data, bar)
        key = options.method or default_request(private.facts, guarantee).method.card.key
        searched = {"row_bound_search": "auto"} if declaration.row_bound_search and key == DEFAULT_METHODS[0] else {}
        release = privcov.release_private(
            private,
            guarantee,
            key,
            ledger=ledger,
            draw=options.draw,
            expected_rows=options.expected_rows,
            **searched | parameters_of(options),
        )
    streams.answer(
        release.to_json() + "\n",
        options.out,
        "The release is stored in the ledger: the same command with a place that can be written returns it, and "
        "nothing is paid again.",
    )
    if options.bundle:
        _save_bundle(release, options.bundle, declaration)
    print(release.statement, file=sys.stderr)
    if len(ledger.entries(name)) == count_before:
        print("Nothing was spent: the ledger had this release already.", file=sys.stderr)
    print(ledger.account(name).sentence, file=sys.stderr)


def _release_files(options: argparse.Namespace) -> list[Path]:
    from privcov.ledger import default_path
    from privcov.ledger.access import files_of
    from privcov.tables.readers.reading import list_files

    return [options.declaration, *map(Path, list_files(options.data)), *files_of(options.ledger or default_path())]


@contextlib.contextmanager
def _explain_interruption(ledger: privcov.Ledger, name: str) -> Iterator[None]:
    before = len(ledger.entries(name))
    try:
        yield
    except KeyboardInterrupt:
        if len(ledger.entries(name)) == before:
            raise KeyboardInterrupt(
                "Interrupted; nothing was drawn and nothing spent. Begin again when you like."
            ) from None
        raise KeyboardInterrupt(
            "Interrupted during the release, and what it costs counts as spent. The same command returns it if it was "
            f"stored; see {paths.command()} ledger show {name!r}."
        ) from None


def _save_bundle(release: privcov.Release, place: Path, declaration: Declaration) -> None:
    try:
        release.save_bundle(place, json.loads(declaration.to_json()))
    except OSError as problem:
        raise ValueError(
            f"{place} could not be written ({problem.strerror}). The release is stored in the ledger: the same command "
            "with a place that can be written makes the bundle, and nothing is paid again."
        ) from None
