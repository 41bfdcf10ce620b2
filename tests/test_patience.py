"""Waits in tests are as long as the machine needs, and none of them has a length of its own."""

import ast
import contextlib
import time
from pathlib import Path

import pytest

from tests import patience

ROOT = Path(__file__).resolve().parents[1]
# Waits for what must not come, or that something else bounds; the reason stands beside them.
FIXED = {
    ("tests/test_imports.py", 60),  # in a process that has a longest wait of its own
    ("tests/test_cores.py", 60),
    ("tests/test_contributing.py", 60),
}
LIMITS = ("timeout", "default_timeout")


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch):
    monkeypatch.delenv("PATIENCE", raising=False)
    monkeypatch.setattr(patience, "_measured", [])
    monkeypatch.setattr(patience.os, "getloadavg", lambda: (0.0, 0.0, 0.0))


def numbers(path: Path) -> set[tuple[str, float]]:
    """(file, seconds) of every wait whose length is a plain number, also in the text of scripts that a test runs."""
    name, found = str(path.relative_to(ROOT)), set()
    trees = [ast.parse(path.read_text(encoding="utf-8"))]
    for node in ast.walk(trees[0]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "timeout=" in node.value:
            with contextlib.suppress(SyntaxError):  # words about a script
                trees.append(ast.parse(node.value))
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.keyword) and node.arg in LIMITS and isinstance(node.value, ast.Constant):
            found.add((name, node.value.value))
        if isinstance(node, ast.Compare) and isinstance(node.comparators[-1], ast.Constant):
            text = ast.unparse(node)
            if "monotonic() -" in text and " < " in text:
                found.add((name, node.comparators[-1].value))
    return found


def test_no_wait_has_a_length_of_its_own():
    files = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path.name != Path(__file__).name]
    files = [path for path in files if not path.name.startswith("bench")]  # run by hand, on a machine kept quiet
    assert len(files) > 100
    assert {found for path in files for found in numbers(path)} - FIXED == set()


def test_patience_grows_with_the_load_and_with_a_slow_processor(monkeypatch):
    monkeypatch.setattr(patience, "QUIET_SECONDS", 1e9)
    assert patience.patient(10) == 10 * patience.LEAST
    monkeypatch.setattr(patience, "_measured", [])
    monkeypatch.setattr(patience.os, "getloadavg", lambda: (20.0, 0.0, 0.0))
    monkeypatch.setattr(patience.os, "cpu_count", lambda: 2)
    assert patience.patient(10) == 10 * patience.LEAST * 10
    monkeypatch.setattr(patience, "_measured", [])
    monkeypatch.setattr(patience, "QUIET_SECONDS", 1e-9)
    assert patience.patient(10) > 1e6


def test_the_environment_has_the_last_word(monkeypatch):
    monkeypatch.setenv("PATIENCE", "7.5")
    assert patience.patient(2) == 15.0


def test_a_wait_ends_with_its_state_and_not_before(monkeypatch):
    monkeypatch.setenv("PATIENCE", "1")
    left = iter([0, 0, 0, "there"])
    assert patience.until(lambda: next(left), 60, every=0.0) == "there"
    begun = time.monotonic()
    with pytest.raises(AssertionError, match="a state that never comes"):
        patience.until(lambda: False, 0.1, what="a state that never comes")
    assert time.monotonic() - begun >= 0.1


def test_a_wait_under_way_grows_with_the_machine(monkeypatch):
    monkeypatch.setenv("PATIENCE", "1")

    def ready() -> bool:
        monkeypatch.setenv("PATIENCE", "1000")  # the load has come meanwhile
        return time.monotonic() - begun > 0.3

    begun = time.monotonic()
    assert patience.until(ready, 0.1)


def test_steady_means_no_change_for_a_while(monkeypatch):
    monkeypatch.setenv("PATIENCE", "1")
    begun = time.monotonic()
    assert patience.steady(lambda: min(3, int((time.monotonic() - begun) / 0.05)), 0.2) == 3
    assert time.monotonic() - begun >= 0.35
