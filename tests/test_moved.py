"""Modules that moved are found under their old names too, and are the same modules."""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import privcov
from privcov.experiments import ELSEWHERE, GONE, MOVED
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]
# Old module of privcov.experiments: the public names that it had.
PUBLIC = json.loads((ROOT / "tests" / "stored" / "experiments.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("old", MOVED)
def test_the_old_module_has_every_public_name_that_it_had(old):
    """The list was made from the files as they were before the first of them moved."""
    module = importlib.import_module(f"privcov.experiments.{old}")
    names = PUBLIC[old].split()
    assert names
    assert [name for name in names if not hasattr(module, name)] == []


def test_no_old_module_is_left_out():
    assert set(PUBLIC) == {*MOVED, *GONE}
    assert set(ELSEWHERE) <= set(MOVED)


@pytest.mark.parametrize("old", ELSEWHERE)
def test_names_that_went_elsewhere_are_the_same_things(old):
    module = importlib.import_module(f"privcov.experiments.{old}")
    assert getattr(importlib.import_module("privcov.experiments"), old) is module
    for name, where in ELSEWHERE[old].items():
        assert name in PUBLIC[old].split()
        home, _, now = where.rpartition(".")
        assert getattr(module, name) is getattr(importlib.import_module(f"privcov.{home}"), now)
    main = importlib.import_module(f"privcov.{MOVED[old]}")
    for name in set(PUBLIC[old].split()) - set(ELSEWHERE[old]):
        assert getattr(module, name) is getattr(main, name)


@pytest.mark.parametrize("old", [old for old in MOVED if old not in ELSEWHERE])
def test_the_old_name_gives_the_same_module(old):
    module = importlib.import_module(f"privcov.experiments.{old}")
    assert module is importlib.import_module(f"privcov.{MOVED[old]}")
    assert module.__name__ == module.__spec__.name == f"privcov.{MOVED[old]}"
    assert getattr(importlib.import_module("privcov.experiments"), old) is module


@pytest.mark.parametrize("old", GONE)
def test_a_module_that_is_gone_is_refused_in_a_sentence(old):
    with pytest.raises(ModuleNotFoundError, match=rf"privcov\.experiments\.{old} is no longer part .* pages/lessons"):
        importlib.import_module(f"privcov.experiments.{old}")


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
