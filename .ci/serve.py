"""Run the workbench; the arguments are Streamlit's own.

While the server starts and the browser loads its scripts, a thread already imports what the first page needs.
pages/parts/__init__.py waits for it, so that no page meets a library that is only half there.
"""

import sys
import threading
import time
from pathlib import Path

from streamlit import runtime
from streamlit.web import cli

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def libraries() -> None:
    while not runtime.exists():  # before that it would only take turns with the server's own start
        time.sleep(0.01)

    import pandas  # noqa: F401
    import scipy.special  # noqa: F401

    import privcov
    import privcov.experiments.plan
    import privcov.figures.matrices
    import privcov.metrics.errors

    privcov.methods()
    privcov.sources()


if __name__ == "__main__":
    threading.Thread(target=libraries, name="libraries", daemon=True).start()
    sys.argv = ["streamlit", "run", "app.py", *sys.argv[1:]]
    sys.exit(cli.main())
