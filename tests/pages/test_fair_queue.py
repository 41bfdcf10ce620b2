"""Runs of pages wait for their turn: in order, one place per visit, and no run holds its place for long."""

import threading
import time

from pages.common.fair_queue import FairQueue
from tests import patience
from tests.patience import patient

SOON = patient(5.0)  # seconds within which a thread has to do what it is waited for; never waited in full when it works


class Overtaken(BaseException):
    """As Streamlit ends a run for another one in the same thread."""


class Stopped(BaseException):
    """As Streamlit ends a run for good."""


class Run(threading.Thread):
    """A run of a page: takes its turn, writes its name down, and lasts until it is told to end."""

    def __init__(self, turns: FairQueue, visit: str, began: list[str], name: str = "") -> None:
        super().__init__(name=name or visit, daemon=True)
        self.turns, self.visit, self.began, self.over = turns, visit, began, threading.Event()
        self.overtaken = self.stopped = False  # found out when the turn comes
        self.start()

    def look(self) -> None:
        if self.stopped:
            raise Stopped
        if self.overtaken:
            raise Overtaken

    def run(self) -> None:
        try:
            self.turns.take(self.visit, self.look)
        except Overtaken:
            self.overtaken, self.name = False, f"{self.name} again"
            self.turns.take(self.visit, self.look)
        except Stopped:
            return
        self.began.append(self.name)
        self.over.wait(SOON)

    def end(self) -> None:
        self.over.set()
        self.join(SOON)
        assert not self.is_alive()


def until(condition) -> None:
    patience.until(condition, 5.0, every=0.005)


def in_queue(turns: FairQueue, name: str) -> bool:
    return any(ticket.run.name == name for ticket in turns._queue)


def line_up(turns: FairQueue, began: list[str], *visits: str) -> list[Run]:
    """Runs that come one after the other."""
    runs = []
    for visit in visits:
        runs.append(Run(turns, visit, began))
        until(lambda visit=visit: in_queue(turns, visit))
    return runs


def test_as_many_as_there_are_places_run_and_the_others_follow_in_order():
    turns, began = FairQueue(places=2, patience=SOON), []
    first, second, third, fourth = line_up(turns, began, "a", "b", "c", "d")
    until(lambda: len(began) == 2)
    time.sleep(0.1)
    assert sorted(began) == ["a", "b"]
    second.end()
    until(lambda: len(began) == 3)
    assert began[2] == "c"
    first.end()
    until(lambda: len(began) == 4)
    third.end(), fourth.end()


def test_a_run_that_overtakes_a_waiting_one_keeps_the_place():
    turns, began = FairQueue(places=1, patience=SOON), []
    first, waiting, behind = line_up(turns, began, "a", "b", "c")
    newer = Run(turns, "b", began, "b again")
    until(lambda: "b" in began)  # let go at once, to end where it looks
    waiting.end()
    assert began == ["a", "b"]
    first.end()
    until(lambda: len(began) == 3)
    assert began[2] == "b again"
    newer.end()
    until(lambda: len(began) == 4)
    behind.end()


def test_a_long_run_holds_its_place_no_longer_than_the_patience():
    turns, began = FairQueue(places=1, patience=0.3), []
    begun = time.monotonic()
    first, second, third = line_up(turns, began, "a", "b", "c")
    until(lambda: began == ["a", "b"])
    assert time.monotonic() - begun >= 0.3
    until(lambda: began == ["a", "b", "c"])
    assert time.monotonic() - begun >= 0.6
    first.end(), second.end(), third.end()


def test_a_long_wait_lets_nobody_run_beside_those_in_place():
    longest = patient(0.5)
    turns, began = FairQueue(places=1, patience=longest), []
    runs = line_up(turns, began, "a", "b", "c", "d")
    for place, run in enumerate(runs):  # d has waited for longer than the patience when its turn comes
        until(lambda place=place: len(began) > place)
        time.sleep(0.4 * longest)
        assert began == ["a", "b", "c", "d"][: place + 1]
        run.end()


def test_a_thread_that_runs_twice_does_not_wait_for_itself():
    turns = FairQueue(places=1, patience=SOON)
    begun = time.monotonic()
    turns.take("a")
    turns.take("a")
    assert time.monotonic() - begun < SOON / 2


def test_a_run_overtaken_while_it_waits_leaves_its_place_to_the_next_one_in_its_thread():
    turns, began = FairQueue(places=1, patience=SOON), []
    first, waiting, behind = line_up(turns, began, "a", "b", "c")
    waiting.overtaken = True
    first.end()
    until(lambda: len(began) == 2)
    time.sleep(0.1)
    assert began == ["a", "b again"]
    waiting.end()
    until(lambda: began == ["a", "b again", "c"])
    behind.end()


def test_a_second_thread_of_a_visit_waits_for_the_first_to_end_and_holds_nobody_up():
    """However long the first takes; a place is free."""
    turns, began = FairQueue(places=2, patience=0.1), []
    (first,) = line_up(turns, began, "a")
    until(lambda: began == ["a"])
    second = Run(turns, "a", began, "a again")
    until(lambda: in_queue(turns, "a again"))
    others = line_up(turns, began, "b", "c", "d")
    until(lambda: sorted(began) == ["a", "b", "c", "d"])
    time.sleep(0.2)
    assert "a again" not in began
    first.end()
    until(lambda: began[-1] == "a again")
    for run in (second, *others):
        run.end()


def test_a_run_that_ends_while_it_waits_holds_nobody_up():
    turns, began = FairQueue(places=1, patience=SOON), []
    first, gone, behind = line_up(turns, began, "a", "b", "c")
    gone.stopped = True  # as where the visit has ended
    first.end()
    until(lambda: began == ["a", "c"])
    assert not gone.is_alive()
    behind.end()


def test_a_thread_that_forgets_the_name_of_its_visit_holds_nobody_up():
    """A visitor who empties the caches empties the session, and the same thread comes again under another name."""
    turns, began = FairQueue(places=1), []

    class Forgetful(Run):
        def run(self) -> None:
            for k in range(3):
                try:
                    turns.take(f"{self.visit} {k}", self.look)
                except Overtaken:
                    continue
            turns.take(self.visit, lambda: None)
            self.began.append(self.name)
            self.over.wait(SOON)

    class Cleared(Forgetful):
        def look(self) -> None:
            raise Overtaken

    them = [Cleared(turns, name, began) for name in "ab"]
    for run in them:
        until(lambda run=run: run.name in began)
        run.end()
    other = Run(turns, "c", began)
    until(lambda: "c" in began)
    other.end()
