"""``python -m replication``: the papers' tables and claims again, and the coverage of the answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privcov.cli import streams
from privcov.core import paths
from replication.reproduce_command import add_reproduce


def parser() -> argparse.ArgumentParser:
    """Return the parser of the commands."""
    whole = argparse.ArgumentParser(prog="python -m replication", description=__doc__)
    commands = whole.add_subparsers(required=True)

    def add(name: str, act: object, about: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=about, description=about)
        one.set_defaults(act=act)
        return one

    add_reproduce(commands)
    add("fetch", _fetch, "download one of the papers' data sets into the data folder").add_argument(
        "source", help="its key: ionosphere, parkinsons or mnist"
    )
    tables: dict[str, Any] = {
        "type": Path,
        "metavar": "DIR",
        "help": "folder of computed tables, instead of data/reproduced",
    }
    add("publish", _publish, "decide everything again and keep what Published results shows").add_argument(
        "--out", **tables
    )
    claim = add("claim", _claim, "decide one claim of a paper from the stored tables")
    claim.add_argument("key", help="such as 4-headline; data/published/claims.csv lists all")
    claim.add_argument("--out", **tables)
    coverage = add("coverage", _coverage, "measure how often intervals contain the truth; goes on where it stopped")
    coverage.add_argument("--preset", choices=("quick", "full"), default="quick", help="quick: minutes; full: an hour")
    return whole


def _folder(options: argparse.Namespace) -> Path:
    folder = options.out or paths.results("reproduced")
    if not folder.is_dir():
        raise ValueError(
            f"There is no folder {folder}. Run python -m replication reproduce first, or give another --out."
        )
    return folder


def _publish(options: argparse.Namespace) -> None:
    import pandas as pd

    from replication import claims, published, shown

    place = published.publish(_folder(options))
    print(claims.counted(pd.read_csv(place / shown.CLAIMS)["verdict"].tolist()))
    print(place)


def _claim(options: argparse.Namespace) -> None:
    from privcov.core.references import AUTHORS
    from replication import claims

    row = claims.row(options.key, _folder(options))
    print(f"{AUTHORS[row.claim.paper]}, {row.claim.place}: {row.claim.printed}.")
    for name, words in (("Printed", row.printed), ("As published", row.ours), ("Sound", row.sound),
                        ("Verdict", row.verdict), ("Evidence", row.evidence), ("Note", row.claim.note)):  # fmt: skip
        if words not in ("", claims.NO_SIDE):
            print(f"{name}: {words}")


def _fetch(options: argparse.Namespace) -> None:
    from replication.sources.fetch import download

    print(download(options.source))


def _coverage(options: argparse.Namespace) -> None:
    from replication import coverage

    streams.check_folder(paths.results("coverage"))

    def tell(done: int, total: int, name: str) -> None:
        print(f"{done}/{total} {name}", file=sys.stderr, flush=True)

    path = coverage.run(options.preset, paths.own_results("coverage"), tell)
    print(path)
    for line in coverage.refuted(path):
        print(f"below 94 %: {line['answer']} in {line['cell']}: {float(line['coverage']):.1%} of those shown")


def main(given: Sequence[str] | None = None) -> int:
    """Carry out a command and return its exit code."""

    def act() -> None:
        options = parser().parse_args(given)
        options.act(options)

    return streams.guarded(act)


if __name__ == "__main__":
    sys.exit(main())
