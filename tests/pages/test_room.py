"""Tables of many visits together: those that fit go on side by side, the others one after the other."""

import threading

import pytest

from pages.common import study_results
from pages.common.memory import CellBudget
from pages.common.study import Study
from tests.patience import patient, until


def run_in(room: CellBudget, cells: int) -> tuple[threading.Thread, threading.Event, threading.Event]:
    """A run with a table: its thread, whether it has room, and what lets it end."""
    inside, end = threading.Event(), threading.Event()

    def work() -> None:
        room.enter(cells)
        inside.set()
        end.wait()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, inside, end


def test_a_table_waits_until_one_that_leaves_no_room_for_it_has_ended():
    room = CellBudget(most=100)
    (first, one, end), (_, two, end_two), (_, large, end_three) = (run_in(room, c) for c in (60, 30, 60))
    assert one.wait(patient(5))
    assert two.wait(patient(5)) or large.is_set()
    assert not (two.is_set() and large.is_set())
    end.set()
    first.join(patient(5))
    end_two.set()
    assert large.wait(patient(5))
    end_three.set()


def test_one_run_has_one_room_however_often_it_asks_and_gives_it_back():
    room = CellBudget(most=100, patience=0.1)
    for _ in range(5):
        room.enter(80)
    other, inside, end = run_in(room, 60)
    assert not inside.wait(0.05)
    room.leave()
    end.set()
    other.join(patient(5))


def test_one_table_beyond_all_room_is_admitted_alone_and_nobody_waits_for_ever():
    room = CellBudget(most=100, patience=0.2)
    thread, inside, end = run_in(room, 1_000)
    assert inside.wait(patient(5))
    with pytest.raises(ValueError, match="try again in a minute"):
        room.enter(1)
    end.set()
    thread.join(patient(5))
    room.enter(1)


def test_a_run_that_was_overtaken_stops_waiting():
    room = CellBudget(most=100)
    _, inside, end = run_in(room, 100)
    until(inside.is_set, 5)

    def overtaken() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        room.enter(50, overtaken)
    end.set()


def test_every_table_that_a_page_draws_takes_room(monkeypatch):
    room = CellBudget(most=10_000, patience=0.1)
    monkeypatch.setattr("pages.common.memory.CELL_BUDGET", room)
    _, inside, end = run_in(room, 9_000)
    until(inside.is_set, 5)
    with pytest.raises(ValueError, match="other visitors"):
        study_results.dataset(Study(data=(("d", 4), ("n", 1_000))))
    study_results.dataset(Study(data=(("d", 4), ("n", 200))))
    end.set()
