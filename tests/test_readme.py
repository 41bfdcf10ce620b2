"""The README is true: its Python runs, its commands, files and pictures exist."""

import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("block", BLOCKS[1:], ids=["graphs", "classes", "private"])
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


def test_the_files_it_names_exist():
    for name in [*re.findall(r"\]\(([^)]+)\)", TEXT), "tests/test_house.py", "privcov/estimators"]:
        assert (ROOT / name).exists(), name


def test_its_pictures_come_in_light_and_dark_with_words_and_are_small():
    pictures = re.findall(r'srcset="([^"]+)">\s*<img alt="([^"]+)" src="([^"]+)"', TEXT)
    assert len(pictures) >= 4
    for dark, words, light in pictures:
        assert dark.replace("-dark", "-light") == light
        assert len(words) > 40
        for name in (dark, light):
            head = (ROOT / name).read_bytes()
            assert head[:8] == b"\x89PNG\r\n\x1a\n"
            assert int.from_bytes(head[16:20], "big") == 2560, "twice the width of the page, so that it is sharp"
            assert len(head) < 250_000


def test_the_commands_it_names_are_targets():
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make (\w+)|`make (\w+)", TEXT, re.M)):
        assert re.search("^" + "".join(target) + ":", make, re.M), target
