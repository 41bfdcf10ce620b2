"""The package as a user's editor and type checker see it, and how long its first answer takes."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cold import FIRST, HEAVY
from tests.exhaustive import some_of
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]
CODE = ROOT / "tests" / "user_code.py"
# Lines that each checker must refuse: names and words that are not there, a guarantee or a table that is none.
WRONG = (
    "privcov.Realease",
    'privcov.release(data, 0.1, "auto-cov")',
    "privcov.ZCDP(0.1).rho.shape",
    "rel.covarience",
    'privcov.release(data, privcov.ZCDP(0.1), "auto-cov", centre="mean")',
    'privcov.Dataset.from_rows([[1.0]], missing="drop")',
    'privcov.Kind("numbr", 0, 1)',
    'rel.plot("corr")',
    "privcov.answers(rel).components(axes=1)",
)
USES = "import privcov\n\n\ndef use(data: privcov.Dataset, rel: privcov.Release) -> None:\n    print({})\n"


def checked(command: list[str], *paths: Path) -> tuple[int, str]:
    """Exit code and words of a type checker over files, by its own strict rules and none of ours."""
    env = os.environ | {"MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, *map(str, paths)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=patient(300),
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def mypy() -> list[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed: requirements-dev.txt has it")
    options = ("--strict", "--config-file=", "--follow-imports=silent", "--cache-dir=.mypy_cache/user")
    return [sys.executable, "-m", "mypy", *options]


def pyright() -> list[str]:
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed: requirements-dev.txt has it, with its own Node")
    return [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--level", "error"]


@pytest.mark.parametrize("checker", some_of([mypy, pyright], 0), ids=lambda checker: checker.__name__)
def test_user_code_passes_strict_type_checks(checker):
    code, said = checked(checker(), CODE)
    assert code == 0, said


@pytest.mark.parametrize("checker", [mypy, pyright], ids=lambda checker: checker.__name__)
def test_wrong_user_code_does_not(checker, tmp_path):
    """An error in each file with a wrong line, so that the package is not Any; none in the file with the right one."""
    places = [tmp_path / f"line_{number}.py" for number in range(1 + len(WRONG))]
    for place, line in zip(places, ("rel.covariance", *WRONG), strict=True):
        place.write_text(f"# pyright: strict\n{USES.format(line)}", encoding="utf-8")
    code, said = checked(checker(), *places)
    assert code
    errors = [line for line in said.splitlines() if re.search(r"\berror\b", line)]
    assert [any(place.name in line for line in errors) for place in places] == [False] + [True] * len(WRONG), said


def test_user_code_runs():
    done = subprocess.run(
        [sys.executable, str(CODE)], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=patient(60), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_import_and_the_first_release_load_what_they_need():
    """Without numba, opendp and what only tables and figures need; the bench says how long it takes."""
    done = subprocess.run([sys.executable, "-c", FIRST], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()[1:]) & HEAVY == set()
    assert "scipy" in done.stdout.split()  # the list is that of a process that did release
