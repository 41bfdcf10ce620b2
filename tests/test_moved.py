"""Modules that moved are found under their old names too, and are the same modules."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import privcov
from privcov.experiments import MOVED
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("old", MOVED)
def test_the_old_name_gives_the_same_module(old):
    module = importlib.import_module(f"privcov.experiments.{old}")
    assert module is importlib.import_module(f"privcov.{MOVED[old]}")
    assert module.__name__ == module.__spec__.name == f"privcov.{MOVED[old]}"
    assert getattr(importlib.import_module("privcov.experiments"), old) is module


def test_an_old_name_that_never_was_is_an_import_error():
    with pytest.raises(ModuleNotFoundError, match=r"privcov\.experiments\.nothing"):
        importlib.import_module("privcov.experiments.nothing")


def test_every_submodule_can_be_imported_and_no_public_name_changes():
    """In a process of its own, old names first."""
    code = (
        "import importlib, pkgutil, privcov\n"
        "from privcov.experiments import MOVED\n"
        "before = {name: getattr(privcov, name) for name in privcov.__all__}\n"
        "for old in MOVED: importlib.import_module('privcov.experiments.' + old)\n"
        "names = [m.name for m in pkgutil.walk_packages(privcov.__path__, 'privcov.')]\n"
        "for name in names:\n"
        "    if not name.endswith('__main__'): importlib.import_module(name)\n"
        "assert before == {name: getattr(privcov, name) for name in privcov.__all__}\n"
        "print(len(names))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(list(pkgutil.walk_packages(privcov.__path__, "privcov."))) > 200


def test_what_scripts_of_before_import_is_there():
    kept = [*(ROOT / "tests" / "stored" / "scripts").glob("*.txt")]
    assert any("privcov.experiments" in path.read_text(encoding="utf-8") for path in kept)
    for path in kept:
        lines = [x for x in path.read_text(encoding="utf-8").splitlines() if x.startswith(("import ", "from "))]
        exec("\n".join(lines), {})
