"""The shell: ``privcov``, or ``python -m privcov``."""

import sys

from privcov.cli import edges


def start() -> int:
    """Run the command that was typed, and return its exit code."""
    edges.begin()  # before the other imports, which take time: an interruption meets it

    from privcov.cli.entry import main

    return main()


if __name__ == "__main__":
    sys.exit(start())
