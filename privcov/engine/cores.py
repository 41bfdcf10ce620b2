"""The cores of this process, also where a server has tied itself to one of them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_ALL: set[int] = set()  # of a process that is tied; empty in any other


def tie() -> None:
    """Keep all threads of this process on one core, where the system can (Linux); worker processes get all back.

    For a server of pages: its threads pass Python's lock to each other a hundred times a run, which across two cores
    costs several times as much as the work itself.
    """
    if _ALL or not hasattr(os, "sched_setaffinity"):
        return
    _ALL.update(os.sched_getaffinity(0))
    core = sorted(_ALL)[os.getpid() % len(_ALL)]
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), {core})


def untied() -> set[int]:
    """Return the cores of a process that is tied; empty in any other."""
    return set(_ALL)


def number() -> int:
    """Return how many cores this process may use: its affinity before it was tied, and the limits of a container."""
    from joblib import cpu_count

    if not _ALL:
        return cpu_count()
    tied = os.sched_getaffinity(0)  # of this thread alone
    os.sched_setaffinity(0, _ALL)
    try:
        return cpu_count()
    finally:
        os.sched_setaffinity(0, tied)
