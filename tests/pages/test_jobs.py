"""The job view: what a page says of its work in every state, and that one job runs at a time."""

import threading
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.audit import live
from pages.common.jobs import ANSWERS, Job, Jobs, Progress, Words
from pages.trade_offs import curves
from privcov.studies.cells import Cell
from tests.patience import patient


def page(job, words, again) -> None:
    from pages.common.jobs import status

    status(job, words, again)


def shown(words: Words, again=None, remaining=None, **progress) -> AppTest:
    job = SimpleNamespace(progress=Progress(2_000, **progress), stop=lambda: None, remaining=lambda: remaining)
    at = AppTest.from_function(page, args=(job, words, again)).run()
    assert not at.exception
    return at


RUNNING = {"state": "running", "computed": 1_200, "reused": 34}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (curves.WORDS, "1,234 of 2,000 runs: 1,200 computed, 34 from the store; {} to go at this pace"),
        (live.WORDS, "1,234 of 2,000 steps"),
    ],
)
def test_progress_in_the_page_s_own_words(words, text):
    at = shown(words, remaining=90.0, **RUNNING)
    (bar,) = at.get("progress")
    start, _, end = text.partition("{}")
    assert bar.proto.text.startswith(start)
    assert bar.proto.text.endswith(end)
    assert [b.key for b in at.button] == [words.stop]


def test_waiting_is_said_where_others_come_first():
    assert "other visitors" in shown(curves.WORDS, state="waiting").get("progress")[0].proto.text


def test_a_stopped_job_says_how_far_it_came_and_how_to_go_on():
    at = shown(curves.WORDS, again=lambda: None, state="stopped", computed=7)
    assert [c.value for c in at.caption] == ["Stopped after 7 of 2,000 runs; the picture shows what is there."]
    assert [(b.label, b.key) for b in at.button] == [("Go on", "go-on")]
    assert not shown(live.WORDS, state="stopped").caption  # the page itself says what that means for a bound


def test_a_failed_job_gives_its_reason():
    assert [e.value for e in shown(live.WORDS, state="failed", problem="Too few rows").error] == ["Too few rows"]


def test_one_job_runs_and_the_last_few_stay(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    kept, begun = Jobs("some", kept=2), threading.Event()

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


def test_an_answer_does_not_wait_for_the_long_sweeps_of_others():
    """Two sweeps hold every place of sweeps; an answer has places of its own."""
    let_go, begun = threading.Event(), [threading.Event(), threading.Event()]

    def long(mark: threading.Event):
        mark.set()
        let_go.wait(patient(60))
        yield Cell([{}], False)

    sweeps = [Job(lambda mark=mark: long(mark), 1) for mark in begun]
    try:
        assert all(mark.wait(patient(20)) for mark in begun)
        waiting = Job(lambda: iter([Cell([{}], False)]), 1)
        answer = Job(lambda: iter([Cell([{}], False)]), 1, places=ANSWERS)
        assert answer.wait(patient(20))
        assert answer.progress.state == "finished"
        assert waiting.progress.state == "waiting"
    finally:
        let_go.set()
        assert all(job.wait(patient(20)) for job in (*sweeps, waiting))
