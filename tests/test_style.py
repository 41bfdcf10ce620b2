"""ruff accepts every file, by the one set of rules in pyproject.toml, and finds nothing to lay out otherwise."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not installed")


@pytest.mark.parametrize("command", [("check",), ("format", "--check")], ids=["rules", "layout"])
def test_ruff_finds_nothing(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--quiet", "--no-cache", "."],
        cwd=ROOT, capture_output=True, text=True, timeout=patient(60),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
