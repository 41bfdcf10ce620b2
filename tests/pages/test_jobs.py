"""Jobs of pages: progress, failure, the end of a visit, and that one job runs at a time."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.common.jobs import ANSWERS, AUDITS, Job, Jobs, Progress
from tests.patience import patient
from tests.serving import ROOT


def page(job) -> None:
    from pages.common.jobs import status

    status(job, "steps", "stop")


def shown(**progress) -> AppTest:
    job = SimpleNamespace(progress=Progress(2_000, **progress), stop=lambda: None)
    at = AppTest.from_function(page, args=(job,)).run()
    assert not at.exception
    return at


def test_progress_is_said_and_can_be_stopped():
    at = shown(state="running", done=1_234)
    (bar,) = at.get("progress")
    assert bar.proto.text == "1,234 of 2,000 steps"
    assert [b.key for b in at.button] == ["stop"]
    assert not shown(state="stopped").button


def test_a_failed_job_gives_its_reason():
    assert [e.value for e in shown(state="failed", problem="Too few rows").error] == ["Too few rows"]


@pytest.mark.parametrize("problem", [ValueError("Too few rows."), MemoryError()])
def test_a_failure_is_a_sentence(problem):
    def steps(_stop):
        yield {"a": 1}
        raise problem

    job = Job(steps, 2, AUDITS)
    assert job.wait(patient(10))
    assert (job.progress.state, job.progress.rows) == ("failed", [{"a": 1}])
    assert job.progress.problem.endswith(".")
    assert AUDITS.acquire(timeout=patient(1)), "its place is free again"
    AUDITS.release()


def test_a_job_that_nobody_holds_stops():
    ended, begun = threading.Event(), threading.Event()

    def steps(stop):
        begun.set()
        stop.wait(patient(20))
        ended.set()
        yield None

    job = Job(steps, 1, AUDITS)
    assert begun.wait(patient(10))
    del job
    assert ended.wait(patient(10))


def test_one_job_runs_and_the_last_few_stay(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    kept, begun = Jobs("some", AUDITS, capacity=2), threading.Event()

    def cells(stop: threading.Event):
        begun.set()
        stop.wait(patient(10))
        return iter(())

    first = kept.start("first", cells, 1)
    assert begun.wait(patient(10))
    assert kept.find("first") is first
    second = kept.start("second", lambda _: iter(()), 1, wait=patient(10))
    assert first.wait(patient(10))
    assert not second.progress.alive
    kept.start("third", lambda _: iter(()), 1, wait=patient(10))
    assert list(kept.all()) == ["second", "third"]


def test_an_answer_does_not_wait_for_the_long_audits_of_others():
    """Two audits hold every place of audits; an answer has places of its own."""
    let_go, begun = threading.Event(), [threading.Event(), threading.Event()]

    def long(mark: threading.Event):
        mark.set()
        let_go.wait(patient(60))
        yield None

    audits = [Job(lambda _, mark=mark: long(mark), 1, AUDITS) for mark in begun]
    try:
        assert all(mark.wait(patient(20)) for mark in begun)
        waiting = Job(lambda _: iter([None]), 1, AUDITS)
        answer = Job(lambda _: iter([{}]), 1, ANSWERS)
        assert answer.wait(patient(20))
        assert answer.progress.state == "finished"
        assert waiting.progress.state == "waiting"
    finally:
        let_go.set()
        assert all(job.wait(patient(20)) for job in (*audits, waiting))


def test_a_job_ends_before_the_process_does():
    """Python would kill its thread in the middle of a step."""
    code = """
import sys, threading, time
from pages.common.jobs import Job

def steps(stop):
    try:
        while True:
            time.sleep(0.3)
            yield None
    finally:
        print("ended", flush=True)

job = Job(steps, 1000, threading.BoundedSemaphore(1))
time.sleep(0.1)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert (done.returncode, done.stdout.split()) == (0, ["ended"]), done.stderr
