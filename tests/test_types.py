"""mypy accepts every file of privcov/ and pages/ by the one set of rules in pyproject.toml."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]


@pytest.mark.quick
@pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed: requirements-dev.txt has it"
)
def test_the_types_are_right():
    """One run over everything; its cache stays in .mypy_cache, so that the next run takes seconds."""
    env = os.environ | {"PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context"],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=patient(600), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
