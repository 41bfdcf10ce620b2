"""The server's threads on one core, and the thread of a sweep, with the processes that it starts, on all of them.

The threads pass Python's lock to each other a hundred times a run. Across two cores that costs several times as much as
the work itself.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_ALL: set[int] = set()  # of a server that is tied
ASIDE = 10  # niceness


def tie() -> None:
    """Keep all threads of this process on one core, where the system can (Linux)."""
    if _ALL or not hasattr(os, "sched_setaffinity"):
        return
    _ALL.update(os.sched_getaffinity(0))
    core = sorted(_ALL)[os.getpid() % len(_ALL)]
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), {core})


def aside() -> None:
    """Let this thread, and what it starts, use every core and give way to the server's other threads."""
    if _ALL:
        os.sched_setaffinity(0, _ALL)
        os.setpriority(os.PRIO_PROCESS, 0, ASIDE)
