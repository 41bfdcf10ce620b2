"""The command ``completion``: a script that lets a shell complete commands, options and files."""

from __future__ import annotations

import argparse
import functools

from privcov import extras

SHELLS = ("bash", "zsh", "tcsh")


def add_completion(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], whole: argparse.ArgumentParser
) -> None:
    """Add ``completion`` to the commands of the parser ``whole``."""
    parser = commands.add_parser("completion", help="print a script that completes commands and options in a shell")
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads it")
    parser.set_defaults(act=functools.partial(_completion, whole))


def _completion(whole: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    extras.require("shtab", "Completions")
    import shtab

    print(shtab.complete(whole, options.shell))
