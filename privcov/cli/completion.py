"""``privcov --completion SHELL``: a script that lets a shell complete commands, options and files."""

from __future__ import annotations

import argparse
from typing import Any

from privcov import extras

SHELLS = ("bash", "zsh", "tcsh")


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add ``--completion`` to the options of the whole parser."""
    parser.add_argument("--completion", choices=SHELLS, action=_Completion, help="print a script that completes for it")


class _Completion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        extras.require("shtab", "Completions")
        import shtab

        print(shtab.complete(parser, values))
        parser.exit()
