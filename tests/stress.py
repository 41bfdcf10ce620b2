"""The tests that wait for a server, a worker or a job, on a machine that is ten times slower: ``make stress``.

Busy processes take nine tenths of every core, so that a wait of a fixed length, hidden in a test, shows.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from tests.conftest import DURATIONS, durations

ROOT = DURATIONS.parents[1]
WAITS = ("tests.patience", "tests.serving")
BURN = "while True: pass"


def slowest(count: int) -> list[str]:
    """Return the tests that took longest among those of files that wait."""
    seconds = {
        f"{file}::{test}": took
        for file, tests in durations().items()
        if _waits(file)
        for test, took in tests.items()
        if test
    }
    return sorted(seconds, key=seconds.__getitem__, reverse=True)[:count]


def _waits(file: str) -> bool:
    path = ROOT / file
    if not path.exists():
        return False
    text = path.read_text(encoding="utf-8")
    return "browser" in path.parts or any(module in text for module in WAITS)


@contextlib.contextmanager
def load(times: int) -> Iterator[None]:
    """Run so many processes that a core is shared by ``times`` of them, the tests' own included."""
    burning = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range((times - 1) * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in burning:
            process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make stress", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many tests, the slowest first")
    parser.add_argument("--times", type=int, default=10, help="how many times the load")
    options = parser.parse_args()
    with load(options.times):
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *slowest(options.count)]
        return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
