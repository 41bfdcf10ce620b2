"""Results that are computed once: for those who ask again, and for those who ask at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

import pytest

from privcov.sweeps.recent import Recent
from tests.patience import patient, until


def test_the_results_used_last_are_kept():
    asked, kept = [], Recent(2)
    for key in "aabacab":
        assert kept.once(key, lambda k=key: asked.append(k) or k.upper()) == key.upper()
    assert asked == ["a", "b", "c", "b"]
    kept.forget()
    assert kept.once("b", lambda: "new") == "new"


def test_who_asks_while_it_is_computed_waits_for_it():
    kept, begun, go, found = Recent(1), threading.Event(), threading.Event(), []

    def slow() -> object:
        begun.set()
        assert go.wait(patient(10))
        return object()

    def fast() -> object:
        raise AssertionError("computed twice")

    threads = [threading.Thread(target=lambda: found.append(kept.once("key", slow)))]
    threads[0].start()
    assert begun.wait(patient(10))
    threads += [threading.Thread(target=lambda: found.append(kept.once("key", fast))) for _ in range(5)]
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(patient(10))
    assert len(found) == 6
    assert len(set(map(id, found))) == 1


def test_a_failure_is_not_kept():
    kept = Recent(4)
    with pytest.raises(ValueError, match="no rows"):
        kept.once("key", lambda: (_ for _ in ()).throw(ValueError("no rows")))
    assert kept.once("key", lambda: 3) == 3
    with pytest.raises(ValueError, match="most"):
        Recent(0)


class Held:
    """A computation that begins in a thread of its own and ends, as it is told, when the test says so."""

    def __init__(self, pool: ThreadPoolExecutor, kept: Recent, end: Callable[[], object]) -> None:
        self.end, self.begun, self.go = end, threading.Event(), threading.Event()
        self.found: Future = pool.submit(kept.once, "key", self)
        assert self.begun.wait(patient(10))

    def __call__(self) -> object:
        self.begun.set()
        assert self.go.wait(patient(10))
        return self.end()


def fail(problem: BaseException) -> Callable[[], object]:
    """A computation that raises."""

    def raises() -> object:
        raise problem

    return raises


def waits(kept: Recent, held: Held) -> bool:
    """Whether somebody waits for what the held computation will give."""
    condition = kept._kept["key"]._condition
    return bool(condition._waiters)


def test_a_failure_after_forget_leaves_the_new_computation_alone():
    """The one that was forgotten fails while another one computes: a third still waits for that one."""
    kept = Recent(4)
    with ThreadPoolExecutor(3) as pool:
        old = Held(pool, kept, fail(ValueError("old")))
        kept.forget()
        new = Held(pool, kept, lambda: "new")
        old.go.set()
        with pytest.raises(ValueError, match="old"):
            old.found.result(patient(10))
        third = pool.submit(kept.once, "key", lambda: "computed again")
        until(lambda: third.done() or waits(kept, new), 10)
        new.go.set()
        assert (new.found.result(patient(10)), third.result(patient(10))) == ("new", "new")


def test_a_failure_that_was_forgotten_is_raised_as_it_is():
    kept = Recent(4)
    with ThreadPoolExecutor(1) as pool:
        old = Held(pool, kept, fail(ValueError("old")))
        kept.forget()
        old.go.set()
        with pytest.raises(ValueError, match="old"):
            old.found.result(patient(10))
    assert kept.once("key", lambda: 3) == 3


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()], ids=lambda e: type(e).__name__)
def test_what_ends_one_thread_does_not_end_those_that_wait(end):
    """They compute again, once for all of them."""
    kept, computed = Recent(4), []
    with ThreadPoolExecutor(4) as pool:
        ended = Held(pool, kept, fail(end))
        waiting = [pool.submit(kept.once, "key", lambda: computed.append(1) or "again") for _ in range(3)]
        until(lambda: waits(kept, ended) or any(w.done() for w in waiting), 10)
        ended.go.set()
        with pytest.raises(type(end)):
            ended.found.result(patient(10))
        assert [w.result(patient(10)) for w in waiting] == ["again"] * 3
    assert len(computed) == 1


@pytest.mark.parametrize("end", [ValueError("no rows"), CancelledError()], ids=lambda e: type(e).__name__)
def test_an_error_is_that_of_all_who_wait(end):
    kept = Recent(4)
    with ThreadPoolExecutor(2) as pool:
        failing = Held(pool, kept, fail(end))
        waiting = pool.submit(kept.once, "key", lambda: "again")
        until(lambda: waits(kept, failing) or waiting.done(), 10)
        failing.go.set()
        for one in (failing.found, waiting):
            assert one.exception(patient(10)) is end
    assert kept.once("key", lambda: 3) == 3
