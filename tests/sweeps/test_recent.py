"""Results that are computed once: for those who ask again, and for those who ask at the same time."""

import threading

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


def test_a_failure_is_not_kept():
    kept = Recent(4)
    with pytest.raises(ValueError, match="no rows"):
        kept.once("key", lambda: (_ for _ in ()).throw(ValueError("no rows")))
    assert kept.once("key", lambda: 3) == 3
    with pytest.raises(ValueError, match="most"):
        Recent(0)
