"""``python -m privcov``: the shell."""

import sys

from privcov.cli import edges

if __name__ == "__main__":
    edges.begin()  # before the other imports, which take time: an interruption meets it

from privcov.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
