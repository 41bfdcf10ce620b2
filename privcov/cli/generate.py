"""The command ``generate``: a simulated table in files, of any length."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from privcov.cli.options import parameters_of
from privcov.cli.progress import Bar


def add_generate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``generate`` to the commands of the parser."""
    generate = commands.add_parser("generate", help="write a simulated table as CSV, Parquet or Arrow, of any length")
    generate.add_argument("source", help="key of a simulated source, such as ar1-covariance")
    generate.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter, also n=5000000"
    )
    generate.add_argument("--seed", type=int, default=0, help="at least 0; the same seed gives the same rows")
    generate.add_argument(
        "--out", type=Path, required=True, help="a file whose name ends in .csv, .csv.gz, .parquet or .arrow"
    )
    generate.add_argument("--files", type=int, default=1, help="spread the rows over so many files")
    generate.add_argument("--declaration", type=Path, help="write a declaration of its public facts, as JSON")
    generate.set_defaults(act=_generate)


def _generate(options: argparse.Namespace) -> None:
    from privcov.cli.simulated_files import generate

    values = parameters_of(options)
    if "seed" in values:
        raise ValueError("--set seed=... is no parameter of a source. Give --seed.")
    bar = Bar(sys.stderr, show_rows=True)
    try:
        paths = generate(
            options.source,
            options.out,
            seed=options.seed,
            files=options.files,
            declaration=options.declaration,
            progress=bar,
            **values,
        )
    finally:
        bar.end()
    print(*paths, sep="\n")
