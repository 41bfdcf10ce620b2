"""The workflow for forks and the list for a release run what is there, on the Pythons that are claimed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import privcov

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8"))
RELEASING = (ROOT / "docs/project/releasing.md").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def commands() -> list[str]:
    return [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]


def test_every_claimed_python_is_tested_and_a_newer_one_only_informs():
    claimed = SpecifierSet(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"])
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    known = {f"3.{minor}" for minor in range(8, 40) if f"3.{minor}" in claimed}
    assert set(matrix["python"]) == known
    assert {one["python"] for one in matrix["include"] if not one.get("unclaimed")} <= known
    assert not {one["python"] for one in matrix["include"] if one.get("unclaimed")} & known


@pytest.mark.parametrize("text", [*commands(), RELEASING])
def test_what_is_run_is_there(text):
    assert set(re.findall(r"\bmake ([a-z]+)", text)) <= TARGETS
    for path in re.findall(r"(?<![\w/])((?:\.ci|\.github|tests|docs|privcov)/[\w./]+\w)", text):
        assert (ROOT / path).exists(), path


def test_lint_types_tests_wheel_and_documentation_are_among_it():
    together = "\n".join(commands())
    for wanted in ("make check", ".ci/run", "pip wheel", "make docs", "make deep"):
        assert wanted in together


def test_the_version_is_said_once():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(cited["version"]) == privcov.__version__
