"""The shell: ``privcov``, or ``python -m privcov``."""

import sys

from privcov.cli import streams


def start() -> int:
    """Run the command that was typed, and return its exit code."""
    streams.begin()
    try:
        from privcov.cli.entry import main
    except KeyboardInterrupt:
        print("privcov: Interrupted.", file=sys.stderr)
        return streams.INTERRUPTED
    return main()


if __name__ == "__main__":
    sys.exit(start())
