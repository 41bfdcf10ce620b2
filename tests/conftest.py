"""Tests keep their finished sweeps in a folder of their own, so that no run reuses another's, nor the user's.

Linear algebra gets one thread: tests that run side by side would wait for each other's. No token is asked for on the
data owner's page; tests/pages/test_owner_token.py and tests/browser/test_token.py are about that one.
"""

import functools
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

os.environ["PRIVCOV_CACHE_DIR"] = tempfile.mkdtemp(prefix="privcov-tests-")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["PRIVCOV_TOKEN"] = "off"

# What makes a test slow is measured: `make durations` runs everything and writes this file, with the seconds of every
# test that takes long, by file; "" is the longest set-up of a file. A new test counts as quick until then.
DURATIONS = Path(__file__).with_name("durations.json")
SLOW_SECONDS = 0.02  # of a test
SLOW_SETUP_SECONDS = 1.0  # of the longest set-up of a file: its tests share it
ALWAYS_SLOW = ("browser",)  # folders: they need more than Python


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-durations", action="store_true", help="write tests/durations.json after the run")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--store-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations())


def pytest_collection_finish() -> None:
    """Let Streamlit look for components of other packages once a process: every AppTest reads all metadata anew."""
    if "streamlit" in sys.modules:
        from streamlit.components.v2 import manifest_scanner

        manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


def durations() -> dict[str, dict[str, float]]:
    """Return the stored seconds by file and test."""
    return json.loads(DURATIONS.read_text(encoding="utf-8")) if DURATIONS.exists() else {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make check` leaves out, and begin with the longest files, so that no core waits at the end.

    The browser comes last whatever it takes: Playwright leaves processes and a running asyncio loop behind it, and
    tests/test_parallel_work.py counts processes.
    """
    known = durations()
    total = {file: sum(tests.values()) for file, tests in known.items()}
    for item in items:
        file, _, test = item.nodeid.partition("::")
        slow = (
            item.path.relative_to(DURATIONS.parent).parts[0] in ALWAYS_SLOW or {"", test} & known.get(file, {}).keys()
        )
        if slow and item.get_closest_marker("quick") is None:
            item.add_marker("slow")
    browser = DURATIONS.parent / "browser"
    items.sort(key=lambda item: (browser in item.path.parents, -total.get(item.nodeid.partition("::")[0], 0.0)))


class Durations:
    """Seconds of every test, and of every file's longest set-up, of this run."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file, _, test = report.nodeid.partition("::")
        tests = self.seconds.setdefault(file, {})
        name = test if report.when == "call" else ""
        tests[name] = max(tests.get(name, 0.0), report.duration)

    def pytest_sessionfinish(self) -> None:
        long = {}
        for file, tests in sorted(self.seconds.items()):
            kept = {
                name: round(seconds, 2)
                for name, seconds in sorted(tests.items())
                if seconds >= (SLOW_SECONDS if name else SLOW_SETUP_SECONDS)
            }
            if kept:
                long[file] = kept
        DURATIONS.write_text(json.dumps(long, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def _no_room_is_held():
    """A run of a page gives its room back as its thread ends; the thread of the tests does not end."""
    yield
    if (held := sys.modules.get("pages.common.memory")) is not None:
        held.CELL_BUDGET.leave()
