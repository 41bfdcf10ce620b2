"""A server on one core: all its threads, none of its workers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TIED = """
import os, threading
from privcov import engine
from privcov.engine import cores
from tests.engine_work import affinity
before, number = os.sched_getaffinity(0), engine.workers()
ready, over = threading.Event(), threading.Event()
found = []
def other():
    ready.set(); over.wait(); found.append(len(os.sched_getaffinity(0)))
thread = threading.Thread(target=other); thread.start(); ready.wait()
cores.tie(); cores.tie()
over.set(); thread.join()
assert found == [1] and len(os.sched_getaffinity(0)) == 1, found
assert engine.workers() == number
assert len(os.sched_getaffinity(0)) == 1
assert {frozenset(a) for _, a in engine.each(affinity, range(4), workers=2, patience=0)} == {frozenset(before)}
print("tied")
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux ties a process to a core")
def test_a_tied_process_is_on_one_core_and_its_workers_are_on_all():
    done = subprocess.run([sys.executable, "-c", TIED], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "tied\n", done.stderr
