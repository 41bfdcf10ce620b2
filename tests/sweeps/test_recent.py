"""Results that are computed once: for those who ask again, and for those who ask at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from privcov.sweeps.recent import Recent
from tests.patience import patient


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


@pytest.mark.parametrize("end", [ValueError("no rows"), KeyboardInterrupt()], ids=lambda e: type(e).__name__)
def test_a_failure_is_not_kept_and_ends_only_its_own_thread(end):
    kept, begun, go, computed = Recent(4), threading.Event(), threading.Event(), []

    def fails() -> str:
        begun.set()
        assert go.wait(patient(10))
        raise end

    with ThreadPoolExecutor(4) as pool:
        failing = pool.submit(kept.once, "key", fails)
        assert begun.wait(patient(10))
        waiting = [pool.submit(kept.once, "key", lambda: computed.append(1) or "again") for _ in range(3)]
        go.set()
        with pytest.raises(type(end)):
            failing.result(patient(10))
        assert [one.result(patient(10)) for one in waiting] == ["again"] * 3
    assert len(computed) == 1


def test_what_is_forgotten_while_it_is_computed_is_not_kept():
    kept, begun, go = Recent(4), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go.wait(patient(10))
        return "old"

    with ThreadPoolExecutor(1) as pool:
        old = pool.submit(kept.once, "key", slow)
        assert begun.wait(patient(10))
        kept.forget()
        assert kept.once("key", lambda: "new") == "new"
        go.set()
        assert old.result(patient(10)) == "old"
    assert kept.once("key", lambda: "later") == "new"
