"""A server on one core: all its threads, but not a sweep's, nor the processes that it starts."""

import os
import subprocess
import sys

import pytest

from tests.load import Visitor, run
from tests.patience import patient
from tests.serving import ROOT, serving

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux ties a process to a core")
TIED = """
import os, threading
from pages.shell import cores
from privcov import parallel
from tests.parallel_work import affinity
before = os.sched_getaffinity(0)
ready, over, found = threading.Event(), threading.Event(), []
def other():
    ready.set(); over.wait(); found.append(len(os.sched_getaffinity(0)))
def sweep():
    cores.aside()
    found.append({frozenset(a) for _, a in parallel.each(affinity, range(4), workers=2)})
    found.append(os.getpriority(os.PRIO_PROCESS, 0))
thread = threading.Thread(target=other); thread.start(); ready.wait()
cores.tie(); cores.tie()
over.set(); thread.join()
thread = threading.Thread(target=sweep); thread.start(); thread.join()
assert found == [1, {frozenset(before)}, cores.ASIDE], found
assert len(os.sched_getaffinity(0)) == 1 and os.getpriority(os.PRIO_PROCESS, 0) == 0
print("tied")
"""


def test_a_tied_process_is_on_one_core_and_a_sweep_on_all():
    done = subprocess.run([sys.executable, "-c", TIED], cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert done.stdout == "tied\n", done.stderr


PAGE = """
import os
from streamlit.testing.v1 import AppTest
before = os.sched_getaffinity(0)
at = AppTest.from_file("app.py", default_timeout=60).run()
assert not at.exception and at.markdown
assert os.sched_getaffinity(0) == before
print("free")
"""


def test_a_page_that_runs_without_a_server_leaves_its_process_on_every_core():
    """As in every test of a page: all that such a process starts later, browsers too, would share the one core."""
    done = subprocess.run([sys.executable, "-c", PAGE], cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert done.stdout == "free\n", done.stderr


def test_a_server_is_tied(tmp_path):
    with serving(tmp_path) as server:

        async def look() -> list[str]:
            async with Visitor(server.port) as visitor:
                await visitor.open("")
                return visitor.seen.errors

        assert run(look()) == []
        assert len(os.sched_getaffinity(server.process.pid)) == 1
