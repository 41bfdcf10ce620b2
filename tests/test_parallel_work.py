"""Tasks on this machine: each exactly once, wherever it runs, whatever dies; and nothing is left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import psutil
import pytest
from joblib.externals.loky import get_reusable_executor

from privcov.core import parallel
from tests import parallel_work as work
from tests.patience import patient

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _no_workers_left():
    yield
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    assert not _workers()


def _workers() -> list[psutil.Process]:
    return work.computing(os.getpid())


@pytest.mark.parametrize("how", [{"workers": 1}, {}, {"workers": 3}, {"threads": True}])
def test_every_task_once(how):
    given = {"workers": 2} | how
    found = dict(parallel.run_tasks(work.square, range(50), **given))
    assert found == {x: x * x for x in range(50)}
    assert list(parallel.run_tasks(work.square, [], **given)) == []


def test_a_worker_has_one_blas_thread():
    found = [answer for _, answer in parallel.run_tasks(work.where, [0.02] * 20, workers=2)]
    assert {threads for _, threads in found} == {1}
    assert 1 <= len({pid for pid, _ in found} - {os.getpid()}) <= 2


def test_a_task_inside_a_worker_starts_no_workers():
    for _, (pid, inner) in parallel.run_tasks(work.nested, range(6), workers=2):
        assert set(inner) == {pid}


def test_a_worker_that_is_killed_costs_no_answer_and_doubles_none(tmp_path):
    found = list(parallel.run_tasks(work.fatal, [(str(tmp_path), n) for n in range(12)], workers=2))
    assert sorted(found) == [(n, n) for n in range(12)]
    assert (tmp_path / "died").exists()


def test_a_task_that_always_kills_its_worker_ends_in_one_sentence():
    kept = []
    with pytest.raises(parallel.ParallelError, match="PRIVCOV_WORKERS=1") as caught:
        kept += parallel.run_tasks(work.fatal, [("", n) for n in range(4)], workers=2)
    assert "4 times" in str(caught.value)


def test_an_exception_of_the_work_is_raised_here_and_ends_the_rest():
    for how in ({"workers": 1}, {"workers": 2}, {"workers": 2, "threads": True}):
        with pytest.raises(ValueError, match="five is not allowed"):
            list(parallel.run_tasks(work.failing, range(40), **how))


@pytest.mark.parametrize("threads", [False, True])
def test_closing_drops_what_has_not_begun(tmp_path, threads):
    given = [(str(tmp_path), n, 0.05) for n in range(400)]
    found = parallel.run_tasks(work.counted, given, workers=2, threads=threads)
    for _ in range(3):
        next(found)
    begun = time.monotonic()
    found.close()
    assert time.monotonic() - begun < patient(5)
    assert not _workers()
    done = len(list(tmp_path.iterdir()))
    time.sleep(0.3)
    assert len(list(tmp_path.iterdir())) == done < 200


def test_threads_hold_few_results():
    """At most one task more than threads is under way, however slowly the results are taken."""
    begun, lock = [], threading.Lock()

    def note(x: int) -> int:
        with lock:
            begun.append(x)
        return x

    for taken, _ in enumerate(parallel.run_tasks(note, range(60), threads=True, workers=2), start=1):
        time.sleep(0.002)
        assert len(begun) <= taken + 4


SCRIPT = """
import privcov
from privcov.core import parallel
plan = privcov.Plan(source="ar1-covariance", source_params={"n": 40, "d": 3}, methods=["zero"],
                    guarantees=[privcov.ZCDP(0.1)], replicates=40)
found = parallel.run_tasks(SQUARE, range(40), workers=2)
print("once", sum(value for _, value in found), len(privcov.run(plan, workers=2)), flush=True)
"""


def _script(tmp_path, text: str, **popen) -> subprocess.Popen:
    path = tmp_path / "script.py"
    # Tests that run in the background of a shell have Ctrl-C switched off, and their children inherit that.
    path.write_text("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + text)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, str(path)], cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **popen)  # fmt: skip


def test_a_script_without_a_main_guard_runs_once(tmp_path):
    text = SCRIPT.replace("SQUARE", "square").replace(
        "import privcov\n", "import privcov\nfrom tests.parallel_work import square\n", 1
    )
    with _script(tmp_path, text) as script:
        out, err = script.communicate(timeout=patient(60))
    assert out.split() == ["once", str(sum(x * x for x in range(40))), "40"], err


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_an_interrupted_program_leaves_no_process(tmp_path):
    text = (
        "from privcov.core import parallel\nfrom tests.parallel_work import where\n"
        "for _, (pid, _) in parallel.run_tasks(where, [0.2] * 500, workers=2):\n    print(pid, flush=True)\n"
    )
    family: list[psutil.Process] = []
    with _script(tmp_path, text, start_new_session=True) as script:
        try:
            script.stdout.readline()
            family = psutil.Process(script.pid).children(recursive=True)
            assert family
            os.killpg(script.pid, signal.SIGINT)  # as a terminal does it: the whole group gets the signal of Ctrl-C
            script.wait(patient(20))
            _, alive = psutil.wait_procs(family, timeout=patient(20))
            assert not alive
        finally:
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            script.kill()
        assert script.returncode != 0


def test_settings_are_checked(monkeypatch):
    monkeypatch.setenv("PRIVCOV_WORKERS", "two")
    with pytest.raises(parallel.ParallelError, match="'two'"):
        parallel.worker_count()
    monkeypatch.setenv("PRIVCOV_WORKERS", "3")
    assert parallel.worker_count() == 3
    with pytest.raises(ValueError, match="workers"):
        parallel.run_tasks(work.square, [1], workers=0)


def test_a_worker_of_another_version_refuses(monkeypatch):
    real = parallel._versions()
    monkeypatch.setattr(parallel, "_versions", lambda: ("0.0.1", real[1]))
    with pytest.raises(parallel.ParallelError, match=r"this machine has privcov 0\.0\.1"):
        list(parallel.run_tasks(work.square, range(4), workers=2))


def test_the_backend_of_the_caller_is_used_but_for_threads():
    with joblib.parallel_config(backend="threading", n_jobs=2):
        found = [answer for _, answer in parallel.run_tasks(work.where, [0.01] * 6, workers=1)]
        assert {pid for pid, _ in found} == {os.getpid()}
        assert parallel.has_caller_backend()
    assert not parallel.has_caller_backend()
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):  # rows of a file are read here all the same
        assert parallel.has_caller_backend()
        assert {pid for _, (pid, _) in parallel.run_tasks(work.where, [0.0] * 6, workers=2, threads=True)} == {
            os.getpid()
        }
