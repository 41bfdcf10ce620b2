"""Tests keep their finished sweeps in a folder of their own, so that no run reuses another's, nor the user's.

Linear algebra gets one thread: tests that run side by side would wait for each other's. No token is asked for on the
data owner's page; tests/pages/test_owner_token.py and tests/browser/test_token.py are about that one.
"""

import json
import os
import tempfile
from pathlib import Path

import pytest

os.environ["PRIVCOV_CACHE_DIR"] = tempfile.mkdtemp(prefix="privcov-tests-")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["PRIVCOV_TOKEN"] = "off"

# What makes a test slow is measured: `make durations` runs everything and writes this file, with the seconds of every
# test that takes long, and of every file whose fixtures do. A new test counts as quick until then.
DURATIONS = Path(__file__).with_name("durations.json")
SLOW_SECONDS = 0.4
ALWAYS_SLOW = ("browser", "cluster")  # folders: they need more than Python


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-durations", action="store_true", help="write tests/durations.json after the run")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--store-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make check` leaves out."""
    known = json.loads(DURATIONS.read_text(encoding="utf-8")) if DURATIONS.exists() else {}
    for item in items:
        names = {item.nodeid, item.nodeid.partition("::")[0]}
        slow = item.path.relative_to(DURATIONS.parent).parts[0] in ALWAYS_SLOW or names & known.keys()
        if slow and item.get_closest_marker("quick") is None:
            item.add_marker("slow")


class Durations:
    """Seconds of every test, and of every file's longest set-up, of this run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid if report.when == "call" else report.nodeid.partition("::")[0]
        self.seconds[test] = max(self.seconds.get(test, 0.0), report.duration)

    def pytest_sessionfinish(self) -> None:
        long = {name: round(value, 1) for name, value in sorted(self.seconds.items()) if value >= SLOW_SECONDS}
        DURATIONS.write_text(json.dumps(long, indent=0) + "\n", encoding="utf-8")
