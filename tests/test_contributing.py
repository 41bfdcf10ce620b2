"""CONTRIBUTING.md is true: its method, source, lesson and page, in a copy of the tree, are known everywhere.

The copy is a folder of its own, so nothing here can find what the page does not say; and the files that were copied are
the same byte for byte afterwards, but for one row each in the list of lessons and in the menu.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# Each block of Python follows the sentence that says where it is saved.
FILES = dict(re.findall(r"saved\s+as\s+`((?:privcov|pages)/\w[\w/]+\.py)`.*?```python\n(.*?)```", TEXT, re.S))
METHOD, SOURCE = "privcov/estimators/trace_ball.py", "privcov/data_sources/two_groups.py"
LESSON, PAGE = "pages/lessons/lesson_11_strength.py", "pages/11_Condition_number.py"
ROWS = dict(re.findall(r"row in `(pages/[a-z_/]+\.py)`.*?```text\n(.*?)```", TEXT, re.S))
MENU = "pages/common/frame.py"
BEFORE = {MENU: '        ],\n    ),\n    (\n        "Release",\n'}  # the line before which the row is put
COPIED = ("privcov", "pages", "data", "tests", ".streamlit", "app.py", "pyproject.toml")

USED = """
import numpy as np, privcov
ds = privcov.source("ar1-covariance", n=5000, d=5)
rel = privcov.release(ds, privcov.ZCDP(0.1), "trace-ball", random_state=1, trace=0.5)
assert rel.covariance.trace() <= 0.5 * ds.row_bound**2 * (1 + 1e-9), rel.covariance.trace()
assert "0.1-zCDP" in str(rel.statement) and rel.to_json()
two = privcov.source("two-groups", n=40_000, d=3, random_state=2)
assert abs(two.rows.T @ two.rows / two.n - two.truth.covariance).max() < 0.1  # 5 standard errors of sqrt(8 / n)
plan = privcov.Plan(source="two-groups", source_params={"n": 500, "d": 4}, methods=["trace-ball", "zero"],
                    guarantees=[privcov.ZCDP(0.1), privcov.ZCDP(10.0)], replicates=2)
table = privcov.run(plan)
own = table[table["method"] == "trace-ball"].groupby("rho")["value"].mean()
assert len(table) == 8 and own[10.0] < own[0.1], own
print("used")
"""
SHOWN = """
from streamlit.testing.v1 import AppTest

def texts(file, **query):
    at = AppTest.from_file("app.py", default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    at.switch_page(file)
    at.run()
    assert not at.exception, at.exception
    return at

gallery = texts("pages/7_Methods.py")
assert any("Trace ball" in e.label for e in gallery.expander)
estimate = texts("pages/1_Estimate.py", method="trace-ball", source="two-groups", **{"data.n": "500", "data.d": "4"})
assert estimate.session_state["study"].method == "trace-ball"
assert estimate.session_state["study"].source == "two-groups"
assert any(s.label == "Trace bound" for s in estimate.slider), [s.label for s in estimate.slider]
home = texts("app.py")
assert any(link.label == "Condition number" for link in home.main.get("page_link"))
assert any(c.value == "How well a release can be inverted." for c in home.caption)
page = texts("pages/11_Condition_number.py", **{"data.n": "500", "data.d": "4"})
assert page.title[0].value == "Condition number" and not page.error
assert [m.label for m in page.metric] == ["Sample", "Released"]
assert all(1 <= float(m.value) < 1e6 for m in page.metric), [m.value for m in page.metric]
print("shown")
"""
# What a class sees of the lessons whose numbers are given.
TAUGHT = """
import json, sys
from tests.pages.test_lessons import played
from tests.pages.test_pages import open_page

def screen(number):
    at = open_page("pages/6_Lessons.py", lesson=number)
    assert not at.error and not at.warning
    number, title = at.title[0].value.split(". ", 1)
    (chooser,) = [group for group in at.get("button_group") if group.key == "lesson-number"]
    given = played(at)
    del given["order"]  # it has the new lesson, too
    return {"number": int(number), "of": len(chooser.options), "votes": bool(given["game"]), "content": [title, given]}

print(json.dumps({number: screen(number) for number in sys.argv[1:]}))
"""
COMPUTED = """
from pages.lessons.lesson_11_strength import RHOS, errors
strong, weak = errors(RHOS[:2], 1)
assert abs(strong / weak - 2) < 0.05, "a quarter of rho is twice the noise"
"""


def prints(folder: Path) -> dict[str, str]:
    """The contents of every file that came from the tree."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file() and not {"__pycache__", ".pytest_cache", ".hypothesis", "out"} & set(p.relative_to(folder).parts)
    }


def shell(folder: Path, *words: str) -> str:
    """What a command prints that knows this folder only."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PRIVCOV"))}
    env |= {"PYTHONPATH": str(folder), "PRIVCOV_CACHE_DIR": str(folder / "out"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=patient(300), check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the tree with the page's files in it; afterwards nothing else has changed."""
    folder = tmp_path_factory.mktemp("extended")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    for path in FILES:  # somebody may have saved them here
        (folder / path).unlink(missing_ok=True)
    for path, row in ROWS.items():
        place = folder / path
        place.write_text(place.read_text(encoding="utf-8").replace(row, ""), encoding="utf-8")
    before = prints(folder)
    for path, code in FILES.items():
        (folder / path).write_text(code, encoding="utf-8")
    for path, row in ROWS.items():
        add(row, folder / path, BEFORE[path])
    yield folder
    after = prints(folder)
    assert {path for path in after if after[path] != before.get(path)} == {*FILES, *ROWS}


def add(row: str, path: Path, before: str) -> None:
    """One more row in a list, before that line."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, row + before), encoding="utf-8")


def taught(folder: Path, *numbers: int) -> dict[int, dict]:
    """The lessons' screens in a tree, by the number in their link."""
    lines = shell(folder, "-c", TAUGHT, *map(str, numbers)).splitlines()
    return {int(number): screen for number, screen in json.loads(lines[-1]).items()}


def test_the_page_has_one_file_for_each():
    assert set(FILES) == {METHOD, SOURCE, LESSON, PAGE}
    assert set(ROWS) == {MENU}
    assert all(len(row.splitlines()) == 1 for row in ROWS.values())


def test_releases_and_sweeps_use_method_and_source(extended):
    assert shell(extended, "-c", USED).strip().endswith("used")


def test_the_pages_show_them(extended):
    assert shell(extended, "-c", SHOWN).strip().endswith("shown")


def test_a_lesson_comes_last_and_changes_no_other(extended):
    shell(extended, "-c", COMPUTED)
    before, after = taught(ROOT, 6, 10), taught(extended, 6, 10, 11)
    assert [screen["number"] for screen in after.values()] == [6, 10, 11]
    assert {screen["of"] for screen in after.values()} == {11}
    assert [after[number]["content"] for number in before] == [screen["content"] for screen in before.values()]
    assert [number for number, screen in after.items() if screen["votes"]] == [10]
    assert after[11]["content"][0] == "Noise against rho"
    assert any("Error curves against Rho: error of the release" in piece for piece in after[11]["content"][1]["pieces"])


def test_the_contract_tests_take_them_in(extended):
    """The suites that are parametrised by registry, menu and list find all four by themselves, and they pass."""
    chosen = ("tests/test_contract.py", "tests/data_sources/test_generators.py", "tests/pages/test_words.py")
    chosen += ("tests/pages/test_pages.py", "tests/pages/test_lessons.py", "tests/test_public_names.py")
    chosen += ("tests/plots/test_contrast.py", "tests/test_house.py")
    names = (
        "trace-ball or two-groups or Condition_number or menu or keys or (Trade_offs and alone) or contrast or heap "
    )
    names += "or (test_lessons.py and (11 or complete or without_a_gap or starts_anew or switch))"
    out = shell(extended, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, "-k", names)
    passed = re.search(r"(\d+) passed", out)
    assert passed, out
    assert int(passed[1]) > 40, "too few: the suites no longer read the registries"


def test_the_files_are_clean(extended):
    shell(extended, "-m", "ruff", "check", "--no-cache", *FILES, *ROWS)
    shell(extended, "-m", "ruff", "format", "--check", "--no-cache", *FILES, *ROWS)
    shell(
        extended,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_house.py",
        "tests/test_docstrings.py",
        "-k",
        "trace_ball or trace-ball or two_groups or strength or Condition_number",
    )


def test_files_named_on_the_page_exist():
    """Its commands are looked at by tests/test_docs.py."""
    named = set(re.findall(r"`((?:privcov|tests|pages|data|\.ci)/[\w/.*]+|[A-Z]+\.md|pyproject\.toml)`", TEXT)) - set(
        FILES
    )
    assert len(named) > 10
    for name in named:
        assert any(ROOT.glob(name.rstrip("/"))), name
