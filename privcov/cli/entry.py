"""PrivCov in a shell: the workbench, private tables, expected errors and sweeps."""

from __future__ import annotations

import argparse
import functools

import privcov
from privcov.cli import advice, app, check, declare, ledger, release, streams, study, verify

CODES = """\
Exit codes: 0 after success, also where the reader of the output stops early; 1 for a failure while running; 2 where
what was typed cannot be carried out; 130 after an interruption. A failure is one sentence on standard error, and
leaves no half file. What could not be written is refused before anything is computed or spent."""


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line (``sys.argv`` where none is given) and return its exit code."""
    return streams.guarded(functools.partial(_carry_out, whole_parser(), argv))


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="privcov", description=__doc__, epilog=CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"privcov {privcov.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    app.add_app(commands)
    declare.add_declare(commands)
    check.add_check(commands)
    ledger.add_ledger(commands)
    release.add_release(commands)
    verify.add_verify(commands)
    advice.add_advice(commands)
    study.add_study(commands)
    return parser


def _carry_out(parser: argparse.ArgumentParser, argv: list[str] | None) -> None:
    options = parser.parse_args(argv)
    options.act(options)
