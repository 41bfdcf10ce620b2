"""The command ``coverage``: how often the intervals of the answers contain the truth, on simulated releases."""

from __future__ import annotations

import argparse
import sys

from privcov import places


def add_coverage(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``coverage`` to the commands of the parser."""
    coverage = commands.add_parser(
        "coverage", help="measure how often the intervals of the answers contain the truth; goes on where it stopped"
    )
    coverage.add_argument("--preset", choices=("quick", "full"), default="quick", help="quick: minutes; full: an hour")
    coverage.set_defaults(act=_coverage)


def _coverage(options: argparse.Namespace) -> None:
    from privcov.answering import coverage
    from privcov.cli import edges

    edges.check_folder(places.results("coverage"))

    def tell(done: int, total: int, name: str) -> None:
        print(f"{done}/{total} {name}", file=sys.stderr, flush=True)

    path = coverage.run(options.preset, places.own_results("coverage"), tell)
    print(path)
    for line in coverage.refuted(path):
        print(f"below 94 %: {line['answer']} in {line['cell']}: {float(line['coverage']):.1%} of those shown")
