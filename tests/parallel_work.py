"""Work for the tests of `privcov.core.parallel`: functions that other processes can import."""

import contextlib
import os
import signal
import time
from pathlib import Path


def square(x: int) -> int:
    return x * x


def where(seconds: float) -> tuple[int, int]:
    """(process id, BLAS threads) of the process that ran this."""
    import numpy as np
    from threadpoolctl import threadpool_info

    time.sleep(seconds)
    np.ones((2, 2)) @ np.ones((2, 2))
    return os.getpid(), max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


def counted(task: tuple[str, int, float]) -> int:
    """Leaves a file for every time it ran."""
    folder, number, seconds = task
    time.sleep(seconds)
    Path(folder, f"{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return number


def fatal(task: tuple[str, int]) -> int:
    """Kills its process, the first time that number 3 comes by; with an empty folder every time."""
    folder, number = task
    time.sleep(0.02)
    if number == 3:
        if not folder:
            os.kill(os.getpid(), signal.SIGKILL)
        mark = Path(folder, "died")
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return number


def failing(x: int) -> int:
    if x == 5:
        raise ValueError("five is not allowed")
    return x


def nested(x: int) -> tuple[int, list]:
    """Tasks of a task run in the same process."""
    from privcov.core import parallel

    return os.getpid(), [pid for _, (pid, _) in parallel.run_tasks(where, [0.0] * 3, workers=3)]


def computing(pid: int) -> list:
    """The processes under ``pid`` that compute. One that has ended in this very moment is none of them."""
    import psutil

    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # also a zombie
            if "resource_tracker" not in " ".join(child.cmdline()):
                found.append(child)
    return found
