"""The command ``verify``: a bundle is checked without the data."""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path

from privcov.cli import streams
from privcov.cli.options import add_json, print_json


def add_verify(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``verify`` to the commands of the parser."""
    verify = commands.add_parser("verify", help="check a bundle without the data; nothing of the bundle is run")
    verify.add_argument("bundle", type=Path, help="the zip, or the folder that it was unpacked to")
    add_json(verify)
    verify.set_defaults(act=_verify)


def _verify(options: argparse.Namespace) -> None:
    if not options.bundle.exists():
        raise streams.Failed(
            f"There is no bundle at {options.bundle}. Give the zip, or the folder that it was unpacked to."
        )
    from privcov.bundle.verify import verify

    place, here = options.bundle.resolve(), Path.cwd()
    if place == here or place in here.parents:
        raise ValueError(
            "The current folder belongs to the bundle, and Python looks for modules there first. Change to another "
            f"folder, and give the command again with {place}."
        )
    if options.json:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            problem = verify(options.bundle)
        print_json({"holds": not problem, "lines": output.getvalue().splitlines()})
    else:
        problem = verify(options.bundle)
    if problem:
        raise SystemExit(1)
