"""Rebuilding moves walls, no numbers: every method gives what it gave, bit for bit, and what is stored to 1e-9.

Compared with the commit before the rebuilding in the same run, as another machine's linear algebra gives other last
bits. ``python -m tests.test_same_numbers`` stores the values again, after a change that is meant.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patient
from tests.same_numbers import summary

ROOT = Path(__file__).resolve().parents[1]
BASE = "10ac81a"  # the last commit that meant to change one: an error calls a paper by its authors
STORED = ROOT / "tests" / "stored" / "numbers.json"


def _begun(tree: Path) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(tree)}
    line = [sys.executable, "-m", "tests.same_numbers"]
    return subprocess.Popen(line, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _ended(run: subprocess.Popen) -> dict:
    out, err = run.communicate(timeout=patient(300))
    assert run.returncode == 0, err
    return json.loads(out)


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> tuple[dict, dict | None]:
    """(those of this tree, those of the base or None where the history is not here)."""
    now, base = _begun(ROOT), tmp_path_factory.mktemp("base")
    packed = subprocess.run(["git", "archive", BASE, "privcov", "data"], cwd=ROOT, capture_output=True)
    before = None
    if packed.returncode == 0:
        subprocess.run(["tar", "-x"], input=packed.stdout, cwd=base, check=True)
        (base / "tests").mkdir()
        shutil.copy(ROOT / "tests" / "same_numbers.py", base / "tests")
        before = _begun(base)
    return _ended(now), None if before is None else _ended(before)


def test_every_number_is_that_of_the_base_bit_for_bit(answers):
    now, before = answers
    if before is None:
        pytest.skip(f"the history of this checkout does not reach {BASE}")
    assert before.keys() == now.keys()
    for kind in before:
        if isinstance(before[kind], list):
            assert now[kind] == before[kind]
            continue
        assert now[kind].keys() == before[kind].keys()
        assert [name for name in before[kind] if now[kind][name] != before[kind][name]] == []


def test_every_number_is_that_which_is_stored(answers):
    """To 1e-9 of the largest beside it; texts, whole numbers and edges exactly."""
    now, stored = answers[0], json.loads(STORED.read_text(encoding="utf-8"))
    found = _kept(now)
    assert found.keys() == stored.keys()
    for name, (digest, *sums) in stored.items():
        assert found[name][0] == digest, name
        assert found[name][1:] == pytest.approx(sums, rel=1e-9, abs=1e-9), name


def _kept(answers: dict) -> dict:
    return {f"{kind} {name}": case for kind in ("released", "private") for name, case in summary(answers[kind]).items()}


if __name__ == "__main__":
    kept = _kept(_ended(_begun(ROOT)))
    STORED.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in kept.items()) + "\n}\n")
