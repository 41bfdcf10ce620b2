"""The README is short and true: its Python runs, and it shows one picture and a part of the comparison."""

import re
from pathlib import Path

import privcov

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
LONGEST = 130


def rows(text: str) -> list[list[str]]:
    """The cells of the lines of all tables, without the lines below their heads."""
    lines = re.findall(r"^\| .*\|$|^\| \|.*\|$", text, re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_it_is_short():
    assert len(TEXT.splitlines()) <= LONGEST


def test_eight_lines_lead_from_a_data_frame_to_intervals_a_picture_and_a_bundle(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    exec(block, {"__name__": "example"})
    assert re.search(r"age +pulse +0\.\d+ +0\.\d+ +0\.\d+", capsys.readouterr().out)
    assert "age" in (tmp_path / "correlation.html").read_text(encoding="utf-8")
    assert privcov.open_bundle(tmp_path / "survey.zip").columns == ("age", "pulse")
    assert len(block.partition("limits = ")[2].splitlines()) == 8


def test_it_has_one_picture():
    assert TEXT.count("<picture>") == 1
    assert TEXT.count("<img") == 1


def test_its_comparison_is_a_part_of_the_large_one():
    """The same tools at the same versions, and the same number of methods."""
    small, (head, read_at, methods, *_) = rows(TEXT), rows((ROOT / "docs" / "comparison.md").read_text("utf-8"))
    assert 7 <= len(small) - 1 <= 9
    head = [re.sub(r" \[\d+\]$", "", cell) for cell in head]  # without the numbers of the sources
    for name in small[0][2:]:
        tool = re.match(r"\D+", name)[0].strip()
        assert tool in head
        assert all(version in read_at[head.index(tool)] for version in re.findall(r"\d[\d.]+", name))
    assert re.match(r"\d+ methods", methods[1])[0] == small[1][1]


def test_the_numbers_of_methods_are_those_of_the_registry():
    for target, words in (("covariance", "Private covariance matrix"), ("precision", "Precision matrix")):
        (line,) = [line for line in rows(TEXT) if line[0].startswith(words)]
        # one more is told there when it is to stay, see CONTRIBUTING
        assert int(re.match(r"\d+", line[1])[0]) <= sum(
            card.target == target and card.standing == "proved" for card in privcov.methods()
        )
