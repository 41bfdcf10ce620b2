"""The shell: ``privcov``, or ``python -m privcov``."""

import sys

from privcov.cli import streams


def start() -> int:
    """Run the command that was typed, and return its exit code."""
    streams.begin()  # before the other imports, which take time: an interruption meets it

    from privcov.cli.entry import main

    return main()


if __name__ == "__main__":
    sys.exit(start())
