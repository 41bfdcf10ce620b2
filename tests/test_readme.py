"""The README is true: its Python runs, its example method works, its commands and files exist."""

import re
from pathlib import Path

import pytest

import privcov
from privcov.estimators.base import METHODS
from privcov.metrics.classification import classification_error, majority_error

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def test_the_lines_without_the_app_run(capsys):
    scope: dict = {}
    exec(BLOCKS[0], scope)
    out = capsys.readouterr().out
    assert "Guarantee: (1, " in out
    assert "auto-cov" in out
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("block", BLOCKS[1:-1], ids=["graphs", "classes", "private"])
def test_the_other_examples_run_as_printed(block, capsys):
    exec(compile(block, "README.md", "exec", dont_inherit=True), {"__name__": "example"})
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_what_the_examples_claim(capsys):
    """Classes beat guessing; the graph has most true edges."""
    scope: dict = {}
    exec(BLOCKS[1] + BLOCKS[2], scope)
    assert classification_error(scope["rel"], scope["test"]) < majority_error(scope["train"], scope["test"]) / 2
    assert scope["fits"][0].status == "ok"
    assert "Recovery(tp=" in capsys.readouterr().out


def test_the_example_method_works_as_printed(monkeypatch):
    METHODS.all()
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    exec(compile(BLOCKS[-1], "README.md", "exec", dont_inherit=True), {"__name__": "example"})
    ds = privcov.source("ar1-covariance", n=5000, d=5)
    rel = privcov.release("trace-ball", ds, privcov.ZCDP(0.1), seed=1, trace=0.5)
    assert rel.covariance.trace() <= 0.5 * ds.row_bound**2 * (1 + 1e-9)


def test_the_files_it_names_exist():
    for name in [*re.findall(r"\]\(([^)]+)\)", TEXT), "tests/test_house.py", "privcov/estimators"]:
        assert (ROOT / name).exists(), name


def test_the_commands_it_names_are_targets():
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make (\w+)|`make (\w+)", TEXT, re.M)):
        assert re.search("^" + "".join(target) + ":", make, re.M), target
