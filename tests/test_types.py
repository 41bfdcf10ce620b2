"""mypy accepts every file of privcov/ and pages/ by the one set of rules in pyproject.toml."""

import importlib.util
import os
import re
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


def test_no_module_is_left_out():
    assert "disable_error_code" not in SETTINGS
    for part in SETTINGS["overrides"]:
        if part["module"] == ["privcov.bundle.templates.verify"]:  # a script that strangers read
            continue
        ours = [name for name in part["module"] if name.split(".")[0] in ("privcov", "pages", "app")]
        stricter = {"disallow_untyped_defs", "disallow_incomplete_defs"}
        if ours:
            assert set(part) == {"module"} | stricter, part
            assert all(part[rule] is True for rule in stricter), part
        else:
            assert set(part) == {"module", "ignore_missing_imports"}, part


def test_every_ignore_has_a_code_and_a_reason():
    for path in [*(ROOT / "privcov").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if "type: ignore" in line:
                assert re.search(r"# type: ignore\[[a-z,-]+\] # \w+", line), f"{path.name}: {line.strip()}"
