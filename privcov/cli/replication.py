"""What ``privcov reproduce`` tells from the stored tables: the replication report, and claims with their verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from privcov import places
from privcov.cli import edges

if TYPE_CHECKING:
    from privcov.bundle.replication.claims import Row

CHOICES = ("report", "claim", "claims")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to ``reproduce``."""
    parser.add_argument("--report", type=Path, metavar="FILE", help="write FILE (HTML) and the same as CSV in a .zip")
    parser.add_argument("--previous", type=Path, metavar="ZIP", help="with --report: say what differs from this one")
    parser.add_argument("--claim", metavar="KEY", help="decide one claim of a paper from the stored tables")
    parser.add_argument("--claims", action="store_true", help="decide every claim again and keep the table")


def chosen(options: argparse.Namespace) -> str:
    """Return which of `CHOICES` is asked for, or "".

    Raises ValueError where it cannot be combined with the other options.
    """
    asked = [name for name in CHOICES if getattr(options, name)]
    if options.previous is not None and asked != ["report"]:
        raise ValueError("--previous says what a report is compared with. Give --report too, or leave it out.")
    others = [name for name in ("check", "fresh", "preset", "tables", "seed", "cells") if getattr(options, name)]
    if asked and (asked[1:] or others):
        other = (asked[1:] + others)[0]
        raise ValueError(
            f"--{asked[0]} reads what is stored, so {'--' * (other != 'tables')}{other} cannot be given with it. Leave "
            "one out."
        )
    return asked[0] if asked else ""


def tell(what: str, options: argparse.Namespace) -> None:
    """Write or print what was asked for; ``what`` is one of `CHOICES`."""
    folder = options.out or places.results("reproduced")
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}. Run {places.command()} reproduce first, or give another --out.")
    {"report": _report, "claim": _claim, "claims": _claims}[what](options, folder)


def _report(options: argparse.Namespace, folder: Path) -> None:
    from privcov.bundle.replication import archive, report

    page = options.report
    beside = page.with_suffix(".zip")
    edges.check_place(page, "--report")
    edges.check_apart({"--report": page, "the archive": beside}, [options.previous] if options.previous else [])
    made = archive.make(folder, options.previous)
    text = report.html(made, archive.read_claims(made.files[archive.CLAIMS]))
    with edges.all_or_none() as begin:
        begin(page).write_text(text, encoding="utf-8", newline="")
        begin(beside).write_bytes(made.zipped())
    print(f"{page} and {beside}: version {made.version}.")
    if made.before:
        print(f"{len(made.changes):,} values differ from version {made.before}.")


def _claim(options: argparse.Namespace, folder: Path) -> None:
    from privcov.bundle.replication import claims

    print(_told(claims.row(options.claim, folder)))


def _told(row: Row) -> str:
    from privcov.papers.names import AUTHORS

    claim = row.claim
    lines = [f"{AUTHORS[claim.paper]}, {claim.place}: {claim.printed}."]
    lines += [f"{name}: {words}" for name, words in
              (("Printed", row.printed), ("As published", row.ours), ("Sound", row.sound), ("Verdict", row.verdict),
               ("Evidence", row.evidence), ("Note", claim.note)) if words not in ("", "-")]  # fmt: skip
    return "\n".join(lines)


def _claims(options: argparse.Namespace, folder: Path) -> None:
    from privcov.bundle.replication import archive, claims

    path = archive.keep_claims(folder)
    table = archive.read_claims(path.read_text(encoding="utf-8"))
    print(claims.counted(table))
    print(path)
