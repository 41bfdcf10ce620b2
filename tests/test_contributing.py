"""CONTRIBUTING.md is true: its method and its source, one file each in a copy of the tree, are known everywhere.

The copy is a folder of its own, so nothing here can find what the page does not say; and the files that were copied are
the same byte for byte afterwards, so nothing else had to be edited.
"""

import hashlib
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
FILES = dict(re.findall(r"saved as\s+`(privcov/[a-z_/]+\.py)`.*?```python\n(.*?)```", TEXT, re.S))
METHOD, SOURCE = "privcov/estimators/trace_ball.py", "privcov/data_sources/two_groups.py"
COPIED = ("privcov", "pages", "data", "tests", ".streamlit", "app.py", "pyproject.toml")

USED = """
import numpy as np, privcov
ds = privcov.source("ar1-covariance", n=5000, d=5)
rel = privcov.release("trace-ball", ds, privcov.ZCDP(0.1), seed=1, trace=0.5)
assert rel.covariance.trace() <= 0.5 * ds.row_bound**2 * (1 + 1e-9), rel.covariance.trace()
assert "0.1-zCDP" in str(rel.statement) and rel.to_json()
two = privcov.source("two-groups", n=40_000, d=3, seed=2)
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
assert any("### Trace ball" in m.value for m in gallery.markdown)
estimate = texts("pages/1_Estimate.py", method="trace-ball", source="two-groups", **{"data.n": "500", "data.d": "4"})
assert estimate.session_state["study"].method == "trace-ball"
assert estimate.session_state["study"].source == "two-groups"
assert any(s.label == "Trace bound" for s in estimate.slider), [s.label for s in estimate.slider]
print("shown")
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
    assert not (folder / METHOD).exists()
    before = prints(folder)
    for path, code in FILES.items():
        (folder / path).write_text(code, encoding="utf-8")
    yield folder
    after = prints(folder)
    assert {path for path in after if after[path] != before.get(path)} == set(FILES)


def test_the_page_has_one_file_for_each():
    assert set(FILES) == {METHOD, SOURCE}


def test_the_shell_lists_the_method(extended):
    assert re.search(r"^trace-ball +covariance +central +proved", shell(extended, "-m", "privcov", "methods"), re.M)


def test_releases_and_sweeps_use_method_and_source(extended):
    assert shell(extended, "-c", USED).strip().endswith("used")


def test_the_pages_show_them(extended):
    assert shell(extended, "-c", SHOWN).strip().endswith("shown")


def test_the_contract_tests_take_them_in(extended):
    """The suites that are parametrised by the registries find both by themselves, and both pass."""
    chosen = ("tests/test_contract.py", "tests/data_sources/test_generators.py", "tests/pages/test_words.py")
    out = shell(extended, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, "-k", "trace-ball or two-groups")
    passed = re.search(r"(\d+) passed", out)
    assert passed, out
    assert int(passed[1]) > 40, "too few: the suites no longer read the registries"


def test_both_files_are_clean(extended):
    shell(extended, "-m", "ruff", "check", "--no-cache", *FILES)
    shell(extended, "-m", "ruff", "format", "--check", "--no-cache", *FILES)
    shell(
        extended,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_house.py",
        "-k",
        "trace_ball or two_groups",
    )


def test_files_and_commands_named_on_the_page_exist():
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", TEXT, re.M):
        assert re.search(f"^{target}:", make, re.M), target
    named = set(re.findall(r"`((?:privcov|tests|pages|data|\.ci)/[\w/.*]+|[A-Z]+\.md|pyproject\.toml)`", TEXT)) - set(
        FILES
    )
    assert len(named) > 10
    for name in named:
        assert any(ROOT.glob(name.rstrip("/"))), name
