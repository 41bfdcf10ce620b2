"""The ledger with real processes: races, kills, double clicks; and its arithmetic."""

import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov.cli.entry import main
from privcov.ledger import Account, Cost, Ledger, LedgerError, cost_of, default_path
from privcov.ledger import ledger as ledger_book
from privcov.ledger.fingerprint import _sealed, _secrets, fingerprint
from privcov.measurements.exact.file_pass.marks import Mixer
from privcov.tables.private_dataset import PrivateDataset
from tests.ledgers import transact
from tests.patience import patient

ROOT = Path(__file__).parents[1]
RHO = privcov.ZCDP(0.125)


def child(code: str, *words) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ledger(tmp_path) -> Ledger:
    made = Ledger(tmp_path / "ledger.sqlite")
    made.set_limit("t", privcov.ZCDP(1.0))
    return made


RACE = """
import os, sys, privcov
from privcov.ledger import Ledger, LedgerError
from tests.ledgers import transact
path = sys.argv[1]

def race(me):
    book, refused = Ledger(path), 0
    def shared():
        with open(path + ".drawn", "a") as file:
            file.write(me)
        return "the one answer"
    answer = transact(book, "t", privcov.ZCDP(0.015625), {"m": "shared"}, shared)
    for i in range(12):
        try:
            transact(book, "t", privcov.ZCDP(0.015625), {"m": [me, i]}, lambda: "x")
        except LedgerError as problem:
            refused += "more than is left" in str(problem)
    with open(path + "." + me, "w") as file:
        file.write(f"{answer} {refused}")

racers = []
for me in "abcdefgh":
    pid = os.fork()
    if pid == 0:
        race(me)
        os._exit(0)
    racers.append(pid)
assert all(os.waitpid(pid, 0)[1] == 0 for pid in racers)
"""


def test_eight_processes_never_overspend_and_share_one_draw(tmp_path):
    """64 releases fit; 8 x 12 + 1 are asked for, the one by all eight at once."""
    book = ledger(tmp_path)
    racing = child(RACE, book.path)
    _, problem = racing.communicate(timeout=patient(100))
    assert racing.returncode == 0, problem
    said = [Path(f"{book.path}.{me}").read_text().rsplit(" ", 1) for me in "abcdefgh"]
    assert [answer for answer, _ in said] == ["the one answer"] * 8
    assert sum(int(refused) for _, refused in said) == 8 * 12 + 1 - 64
    entries = book.entries("t")
    assert len(entries) == 64
    assert {e.state for e in entries} == {"stored"}
    assert book.account("t").spent_rho == 1
    assert sum(e.request == {"m": "shared"} for e in entries) == 1
    assert len(Path(f"{book.path}.drawn").read_text()) == 1


KILL = """
import os, signal, sys, privcov
from privcov.ledger import Ledger
from privcov.ledger.file import LedgerFile
from tests.ledgers import transact

def die(*a, **k):
    os.kill(os.getpid(), signal.SIGKILL)

def before(owner, name):
    setattr(owner, name, die)

def after(owner, name):
    honest = getattr(owner, name)
    def then_die(*a, **k):
        honest(*a, **k)
        die()
    setattr(owner, name, then_die)

path, *steps = sys.argv[1:]
for step in steps:
    pid = os.fork()
    if pid == 0:
        book, draw = Ledger(path), lambda: "secret " + step
        when, _, name = step.partition(" ")
        if name == "inside reserve":
            book._account = die
        elif name == "draw":
            draw = die
        else:
            {"before": before, "after": after}[when](Ledger, name)
        print(transact(book, "t", privcov.ZCDP(0.125), {"m": step}, draw), flush=True)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, step
"""
STEPS = {
    "while inside reserve": None,
    "before _commit": "reserved",
    "after _commit": "committed",
    "while draw": "committed",
    "before _finish": "committed",
    "after _finish": "stored",
}


def test_a_kill_at_any_step_loses_no_record_and_lets_no_draw_out(tmp_path):
    book = ledger(tmp_path)
    done = child(KILL, book.path, *STEPS)
    out, problem = done.communicate(timeout=patient(60))
    assert done.returncode == 0, problem
    assert out == "", "an answer left a process that was killed before it was stored"
    found = {e.request["m"]: e for e in book.entries()}
    assert {step: e.state for step, e in found.items()} == {s: state for s, state in STEPS.items() if state}
    assert book.account("t").spent_rho == Fraction(1, 8) * 5
    for step, state in STEPS.items():
        drawn = []

        def draw(drawn=drawn):
            drawn.append(1)
            return "again"

        if state == "committed":  # lost: a draw may have been made, so there is no second one
            with pytest.raises(LedgerError, match="counts as spent"):
                transact(book, "t", RHO, {"m": step}, draw)
            assert book.stored(found[step].token) is None
        else:
            answer = transact(book, "t", RHO, {"m": step}, draw)
            assert answer == ("secret " + step if state == "stored" else "again")
        assert len(drawn) == (state in (None, "reserved"))
    assert book.account("t").spent_rho == Fraction(1, 8) * 6, "taking up a reserved row pays nothing twice"


def test_a_double_click_is_one_row_and_the_same_bytes(tmp_path):
    book, answers, begun = ledger(tmp_path), [], threading.Event()

    def slow() -> str:
        begun.wait(5)
        return os.urandom(8).hex()

    clicks = [
        threading.Thread(target=lambda: answers.append(transact(book, "t", RHO, {"m": 1}, slow))) for _ in range(4)
    ]
    for click in clicks:
        click.start()
    begun.set()
    for click in clicks:
        click.join()
    assert len(set(answers)) == 1
    assert len(answers) == 4
    assert len(book.entries()) == 1
    assert transact(Ledger(book.path), "t", RHO, {"m": 1}, slow) == answers[0] == book.stored(book.entries()[0].token)


def test_a_release_that_is_still_being_made_is_not_called_lost(tmp_path):
    """Whoever asks meanwhile and waits too short is told to come back, and then has the answer, paid once."""
    book, begun, may_end = ledger(tmp_path), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert may_end.wait(patient(30))
        return "made"

    first = threading.Thread(target=lambda: transact(book, "t", RHO, {"m": 1}, slow))
    first.start()
    assert begun.wait(patient(30))
    with pytest.raises(LedgerError, match="has no answer yet") as caught:
        transact(Ledger(book.path), "t", RHO, {"m": 1}, pytest.fail, wait=0.0)
    assert "the same request again later" in str(caught.value)
    may_end.set()
    first.join()
    assert transact(Ledger(book.path), "t", RHO, {"m": 1}, pytest.fail) == "made"
    assert len(book.entries()) == 1


def test_whatever_stops_a_commit_says_that_the_cost_may_have_been_entered(tmp_path, monkeypatch):
    """Also a refusal of the ledger itself; before the row is there, the refusal is told as it is."""
    book = ledger(tmp_path)

    def refused(*words):
        raise LedgerError("The counter is missing.")

    for step, entered in (("_commit", True), ("_reserve", False)):
        with monkeypatch.context() as patch:
            patch.setattr(book, step, refused)
            with pytest.raises(LedgerError, match="The counter is missing") as caught:
                transact(book, "t", RHO, {"m": step}, pytest.fail)
        assert ("may have been entered" in str(caught.value)) == entered
    assert book.account("t").spent_rho == Fraction(1, 8)
    assert transact(book, "t", RHO, {"m": "_commit"}, lambda: "made") == "made"


def test_a_failure_is_spent_and_not_drawn_again(tmp_path):
    book = ledger(tmp_path)

    def fails() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        transact(book, "t", RHO, {"m": 1}, fails)
    assert book.entries()[0].state == "failed"
    assert book.account("t").spent_rho == Fraction(1, 8)
    with pytest.raises(LedgerError, match="next draw"):
        transact(book, "t", RHO, {"m": 1}, lambda: "x")


@pytest.mark.parametrize("end", ["failed", "lost"])
def test_what_can_no_longer_be_stored_is_not_waited_for(tmp_path, monkeypatch, end):
    """A drawing that failed, and one whose process is gone, are told at once."""
    book = ledger(tmp_path)
    if end == "lost":
        monkeypatch.setattr(ledger_book.os, "kill", gone)
        monkeypatch.setattr(book, "_finish", lambda *row: None)
    with pytest.raises(ZeroDivisionError):
        transact(book, "t", RHO, {"m": 1}, lambda: 1 / 0)
    assert book.entries()[0].state == {"failed": "failed", "lost": "committed"}[end]
    monkeypatch.setattr(ledger_book.time, "sleep", lambda seconds: pytest.fail("it waits"))
    with pytest.raises(LedgerError, match="next draw"):
        transact(book, "t", RHO, {"m": 1}, lambda: "x", wait=60)


def gone(*_):
    raise ProcessLookupError


def forbidden(*_):
    raise PermissionError


def test_only_a_process_of_this_machine_that_is_surely_gone_is_given_up(monkeypatch):
    here = ledger_book.socket.gethostname()
    assert ledger_book._lives(ledger_book._worker())
    monkeypatch.setattr(ledger_book.os, "kill", gone)
    assert not ledger_book._lives(f"{here}:123")
    assert ledger_book._lives(f"not-{here}:123")
    monkeypatch.setattr(ledger_book.os, "kill", forbidden)
    assert ledger_book._lives(f"{here}:123")  # it runs, for somebody else


def test_a_token_belongs_to_its_request(tmp_path):
    book = ledger(tmp_path)
    assert transact(book, "t", RHO, {"m": 1}, lambda: "x", token="click") == "x"
    assert transact(book, "t", RHO, {"m": 1}, lambda: "y", token="click") == "x"
    with pytest.raises(LedgerError, match="another request"):
        transact(book, "t", RHO, {"m": 2}, lambda: "y", token="click")


def test_no_limit_no_release_and_no_release_beyond_it(tmp_path):
    book = Ledger(tmp_path / "l.sqlite")
    with pytest.raises(LedgerError, match="no limit"):
        transact(book, "t", RHO, {}, pytest.fail)
    book.set_limit("t", privcov.ZCDP(0.125))
    with pytest.raises(LedgerError, match="more than is left"):
        transact(book, "t", privcov.ZCDP(0.1250000000000001), {}, pytest.fail)
    transact(book, "t", RHO, {}, lambda: "x")
    assert book.account("t").left_rho == 0
    with pytest.raises(LedgerError, match="more than is left"):
        transact(book, "t", privcov.ZCDP(1e-300), {"m": 2}, pytest.fail)
    book.set_limit("t", privcov.ZCDP(0.25), "one more")
    transact(book, "t", privcov.ZCDP(0.125), {"m": 2}, lambda: "x")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM transactions",
        "UPDATE transactions SET amount = '0'",
        "UPDATE transactions SET state = 'reserved'",
        "UPDATE transactions SET answer = 'other'",
        "DELETE FROM limits",
        "UPDATE limits SET guarantee = ''",
    ],
)
def test_the_file_guards_itself(tmp_path, statement):
    book = ledger(tmp_path)
    transact(book, "t", RHO, {}, lambda: "x")
    link = sqlite3.connect(book.path)
    with pytest.raises(sqlite3.IntegrityError):
        link.execute(statement)
    link.close()


def test_a_ledger_that_cannot_be_used_means_no_release(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="nothing is released"):
        Ledger(tmp_path / "file" / "ledger.sqlite")
    (tmp_path / "other.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(LedgerError, match="nothing is released"):
        Ledger(tmp_path / "other.sqlite")
    book = ledger(tmp_path)
    book.path.unlink()
    book.path.mkdir()
    with pytest.raises(LedgerError, match="nothing is released"):
        transact(book, "t", RHO, {}, pytest.fail)


def test_only_the_owner_reads_the_files_and_a_lost_key_is_noticed(tmp_path):
    book = ledger(tmp_path)
    key = book.path.with_name("ledger.sqlite.key")
    assert stat.S_IMODE(book.path.stat().st_mode) == stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(0o644)
    with pytest.raises(LedgerError, match="chmod 600"):
        Ledger(book.path)
    key.unlink()
    with pytest.raises(LedgerError, match="old key file"):
        Ledger(book.path)


def test_where_the_ledger_lives(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "mine.sqlite"))
    assert default_path() == tmp_path / "mine.sqlite"
    assert Ledger().path == tmp_path / "mine.sqlite"


# --- sums ---------------------------------------------------------------------------------------------------


def spent(limit, *guarantees) -> Account:
    return Account("t", limit, tuple(cost_of(g) for g in guarantees))


def test_sums_are_exact():
    tenth = privcov.ZCDP(0.1)  # counted as the decimal 1/10 that was typed; the double lies above it
    assert spent(privcov.ZCDP(1.0), *[tenth] * 9).left_rho == Fraction(1, 10)
    assert spent(privcov.ZCDP(1.0), *[tenth] * 9).affords(tenth)
    assert spent(privcov.ZCDP(1.0), *[tenth] * 10).left_rho == 0
    assert not spent(privcov.ZCDP(1.0), *[tenth] * 10).affords(privcov.ZCDP(1e-15))
    assert cost_of(privcov.PureDP(0.5)).rho == Fraction(1, 8)


def test_each_limit_is_paid_in_its_own_currency():
    pure, pair, rho = privcov.PureDP(1.0), privcov.ApproxDP(1.0, 1e-6), privcov.ZCDP(0.01)
    assert spent(pure).affords(pure)
    assert not spent(pure).affords(rho)
    assert not spent(pure, privcov.PureDP(0.5)).affords(privcov.PureDP(0.75))
    assert spent(pair).affords(pair)
    assert not spent(pair, rho).affords(pair)
    # Pure releases alone add in epsilon; beside others they count as zCDP, where epsilon = 1 is too much for the pair.
    assert spent(pair).affords(pure)
    assert not spent(pair, rho).affords(pure)
    assert spent(pair, rho).affords(privcov.PureDP(0.05))
    assert Account("t", None).affords(rho) is False


def test_what_remains_is_rounded_down():
    account = Account("t", privcov.ZCDP(1.0), (Cost("zcdp", Fraction(1, 3)),))
    assert "rho 0.666666 in zCDP" in account.sentence
    assert "nothing" in spent(privcov.PureDP(1.0), privcov.ZCDP(0.1)).sentence
    assert spent(privcov.PureDP(1.0), privcov.PureDP(1.0)).left == "of 1-DP there remains nothing"
    assert spent(privcov.ZCDP(1.0), privcov.ZCDP(1.0)).left == "of 1-zCDP there remains nothing"


# --- fingerprints -------------------------------------------------------------------------------------------

KEY = bytes(range(32))


def print_of(rows, **more) -> str:
    return fingerprint(PrivateDataset.from_rows(rows, row_bound=1.0, **more), KEY)


def test_a_fingerprint_is_that_of_a_table_in_any_order_and_of_no_other():
    """Each of its parts knows what it is of: cells with their columns, persons, classes."""
    rng = np.random.default_rng(0)
    rows, ids = rng.integers(0, 9, size=(60, 3)).astype(float), np.arange(60) // 2
    labels, turn = np.where(ids % 3, "p", "q"), rng.permutation(60)

    def of(rows, ids, labels, columns=("a", "b", "c")):
        more = {"persons": ids, "person": "id", "labels": labels, "classes": ["p", "q"], "columns": columns}
        return json.loads(print_of(rows, **more))

    known = of(rows, ids, labels)
    assert of(rows[turn], ids[turn], labels[turn]) == known
    assert of(rows[:, ::-1], ids, labels, ("c", "b", "a")) == known
    assert of(np.where(rows == 0, -0.0, rows), ids, labels) == known
    edited = rows.copy()
    edited[7, 1] += 2.0**-40
    changes = {
        "persons": [(rows, ids[::-1], labels), (rows, np.arange(60), labels)],
        "classes": [(rows, ids, labels[::-1])],
        "cells": [(edited, ids, labels), (rows[:-1], ids[:-1], labels[:-1]), (np.sort(rows, axis=1), ids, labels)],
    }
    changes["cells"] += [
        (rows[:, [1, 0, 2]], ids, labels),
        (np.vstack([rows, rows[:1]]), np.append(ids, 0), np.append(labels, "q")),
    ]
    for part, others in changes.items():
        for other in others:
            found = of(*other)
            assert found[part] != known[part]
            assert (found["cells"] == known["cells"]) is (part != "cells")
    assert of(rows, ids, labels, ("a", "b", "x"))["cells"] != known["cells"]


def test_every_step_of_a_fingerprint_is_keyed_and_its_length_tells_nothing():
    cells = np.arange(100.0)
    assert not (Mixer(_secrets(KEY))(cells) == Mixer(_secrets(KEY[::-1]))(cells)).any()
    assert _sealed(KEY, "cells", 3) != _sealed(KEY[::-1], "cells", 3)
    assert _sealed(KEY, "cells", 3) != _sealed(KEY, "persons", 3)
    for n in (1, 5_000):
        found = json.loads(print_of(np.random.default_rng(n).normal(size=(n, 2))))
        assert {name: len(mark) for name, mark in found.items()} == {"cells": 32, "persons": 32, "classes": 32}
    table = PrivateDataset.from_rows(cells[:, None], row_bound=1.0)
    assert not set(json.loads(fingerprint(table, KEY)).values()) & set(
        json.loads(fingerprint(table, KEY[::-1])).values()
    )


def test_the_same_rows_under_another_name_are_refused(tmp_path):
    book = ledger(tmp_path)
    rows = np.random.default_rng(3).normal(size=(300, 3))
    transact(book, "t", RHO, {}, lambda: "x", fingerprint=print_of(rows))
    book.set_limit("fresh", privcov.ZCDP(1.0))
    with pytest.raises(LedgerError, match="has these very rows as 't'"):
        transact(book, "fresh", RHO, {}, pytest.fail, fingerprint=print_of(rows[::-1]))
    assert transact(book, "fresh", RHO, {}, lambda: "y", fingerprint=print_of(rows[1:])) == "y"
    with pytest.raises(LedgerError, match="another table"):
        transact(book, "t", RHO, {}, pytest.fail, fingerprint=print_of(rows + 1))


def test_a_table_whose_release_failed_is_recognised_all_the_same(tmp_path):
    """What failed is spent, and may have been drawn."""
    book, rows = ledger(tmp_path), np.random.default_rng(3).normal(size=(300, 3))
    book.set_limit("fresh", privcov.ZCDP(1.0))
    with pytest.raises(ZeroDivisionError):
        transact(book, "t", RHO, {}, lambda: str(1 / 0), fingerprint=print_of(rows))
    with pytest.raises(LedgerError, match="has these very rows as 't'"):
        transact(book, "fresh", RHO, {}, pytest.fail, fingerprint=print_of(rows))


def recorded(book: Ledger, column: str) -> list:
    with closing(sqlite3.connect(book.path)) as link, link:
        return [found for (found,) in link.execute(f"SELECT {column} FROM transactions ORDER BY reserved_at, id")]


def test_another_release_of_the_same_table_is_not_taken_for_another_table(tmp_path):
    book, rows = ledger(tmp_path), np.random.default_rng(8).normal(size=(300, 3))
    for draw in (1, 2):
        assert transact(book, "t", RHO, {"draw": draw}, lambda: "x", fingerprint=print_of(rows)) == "x"


def test_a_draw_that_is_interrupted_counts_as_failed_at_once(tmp_path):
    def interrupted():
        raise KeyboardInterrupt

    book = ledger(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        transact(book, "t", RHO, {}, interrupted)
    assert recorded(book, "state") == ["failed"]
    with pytest.raises(LedgerError, match="did not finish"):
        transact(book, "t", RHO, {}, pytest.fail, wait=0.0)
    assert book.account("t").left_rho == Fraction(7, 8)


def test_a_limit_needs_a_name(tmp_path):
    with pytest.raises(LedgerError, match="must be that of a table"):
        ledger(tmp_path).set_limit("  ", RHO)
    book = ledger(tmp_path)
    assert book.set_limit(" t ", RHO).limit == RHO  # and spaces around it are no part of it
    assert book.account("t").limit == RHO


def test_a_release_without_a_fingerprint_stands_in_no_other_ones_way(tmp_path):
    book = ledger(tmp_path)
    book.set_limit("other", RHO)
    assert transact(book, "t", RHO, {"m": 1}, lambda: "x") == "x"
    rows = np.random.default_rng(0).normal(size=(300, 3))
    assert transact(book, "other", RHO, {"m": 1}, lambda: "y", fingerprint=print_of(rows)) == "y"


def test_a_sum_of_epsilons_exists_only_while_every_release_was_pure():
    """A rho must never be added to epsilons: under an (epsilon, delta) limit that would afford what it must not."""
    pure, gauss = cost_of(privcov.PureDP(0.1)), cost_of(privcov.ZCDP(1e-4))
    limit = privcov.ApproxDP(1.0, 1e-6)
    assert Account("t", limit, (pure, pure)).spent_epsilon == Fraction(1, 5)
    assert Account("t", limit, (pure, gauss)).spent_epsilon is None
    assert Account("t", limit, (pure, pure)).affords(privcov.PureDP(0.8))
    assert not Account("t", limit, (pure, gauss)).affords(privcov.PureDP(0.8))


# --- one unit, one limit --------------------------------------------------------------------------------------

UNITS = {
    "row": {},
    "other row": {"rows_per_person": 5},
    "hidden n": {"n_public": False},
    "persons": {"persons": [k // 5 for k in range(4000)]},
    "persons, hidden n": {"persons": [k // 5 for k in range(4000)], "n_public": False},
}


def table_of(unit: str, rows=None, **more) -> PrivateDataset:
    rows = np.random.default_rng(1).uniform(size=(4000, 2)) if rows is None else rows
    return PrivateDataset.from_rows(rows, bounds=[(0, 1)] * 2, name="t", **UNITS[unit], **more)


@pytest.mark.parametrize("first", UNITS)
def test_the_first_release_fixes_the_unit_of_an_account(tmp_path, first):
    """Another relation or another person is refused, free; the same unit at another weight or rule is paid."""
    book = ledger(tmp_path)
    privcov.release_private(table_of(first), RHO, "gaussian-cov", ledger=book)
    unit = book.account("t").unit
    assert unit
    assert f"Unit: {unit}." in book.account("t").sentence
    for other in UNITS:
        ask = {"private": table_of(other), "guarantee": RHO, "ledger": book, "draw": 2}
        if other == first:
            privcov.release_private(method="gaussian-cov", **ask)
            continue
        with pytest.raises(LedgerError, match="such costs do not add up"):
            privcov.release_private(method="gaussian-cov", **ask)
    assert book.account("t").releases == 2


def test_another_unit_is_refused_before_files_are_read(tmp_path):
    book = ledger(tmp_path)
    privcov.release_private(table_of("row"), RHO, "gaussian-cov", ledger=book)
    request = {"facts": {"n": None}}
    with pytest.raises(LedgerError, match=r"one row; the number of rows is public.*is not public"):
        book.check("t", RHO, request)
    with pytest.raises(LedgerError, match="do not add up"):
        transact(book, "t", RHO, {"m": 1}, lambda: "drawn")


def test_a_changed_public_number_of_rows_is_a_changed_table(tmp_path):
    """Refused before files are read, and without a second payment; the next draw pays. The release before is free."""
    book, rows = ledger(tmp_path), np.random.default_rng(1).uniform(size=(4000, 2))
    first = privcov.release_private(table_of("row", rows), RHO, "gaussian-cov", ledger=book)
    more = table_of("row", np.vstack([rows, [0.5, 0.5]]))
    with pytest.raises(LedgerError, match=r"already made from another table.*next draw"):
        privcov.release_private(more, RHO, "gaussian-cov", ledger=book)
    with pytest.raises(LedgerError, match="already made from another table"):
        book.check("t", RHO, {**book.entries("t")[0].request, "facts": more.facts.to_dict()})
    assert book.account("t").releases == 1
    again = privcov.release_private(table_of("row", rows), RHO, "gaussian-cov", ledger=book)
    assert again.covariance.tolist() == first.covariance.tolist()
    privcov.release_private(more, RHO, "gaussian-cov", ledger=book, draw=2)
    assert book.account("t").releases == 2


def test_a_changed_table_of_a_draw_that_failed_is_not_promised_a_stored_answer(tmp_path):
    book = ledger(tmp_path)
    with pytest.raises(ZeroDivisionError):
        transact(book, "t", RHO, {"m": 1}, lambda: str(1 / 0), fingerprint=print_of(ROWS_GIVEN))
    with pytest.raises(LedgerError, match="already begun, and paid, from another table") as refused:
        transact(book, "t", RHO, {"m": 1}, lambda: "", fingerprint=print_of(ROWS_GIVEN[:-1]))
    assert "stored" not in str(refused.value)


@pytest.mark.parametrize("token", [5, True, 1.5, b"x", "", "a\nb", "\ud800", ("a",)])
def test_a_token_that_is_no_text_never_reaches_the_file(tmp_path, token):
    book = ledger(tmp_path)
    with pytest.raises((ValueError, TypeError), match="token"):
        privcov.release_private(table_of("row"), RHO, "gaussian-cov", ledger=book, token=token)
    with pytest.raises(ValueError, match="token"):
        transact(book, "t", RHO, {"m": 1}, lambda: "", token=token)
    with pytest.raises(TypeError, match="fingerprint"):
        transact(book, "t", RHO, {"m": 1}, lambda: "", fingerprint=5)
    assert Ledger(book.path).account("t").releases == 0


@pytest.mark.parametrize("name", ["a\nb: 1-zCDP", "a\x1b[2Kb", "a\u2028b"])
def test_a_name_cannot_forge_a_line_of_the_list(tmp_path, name):
    with pytest.raises(LedgerError, match="one line"):
        ledger(tmp_path).set_limit(name, privcov.ZCDP(1.0))
    with pytest.raises(ValueError, match="one line"):
        PrivateDataset.from_rows([[0.0, 0.0]], row_bound=1.0, name=name)


@pytest.mark.parametrize(
    ("reason", "said"), [(5, "must be text"), (["why"], "takes one value"), ("x" * 1001, "Say it shorter")]
)
def test_a_reason_is_one_short_line_of_text(tmp_path, reason, said):
    with pytest.raises((LedgerError, TypeError), match=said):
        ledger(tmp_path).set_limit("t", privcov.ZCDP(2.0), reason)


@pytest.mark.parametrize("changed", ["one row more", "half of the rows", "one cell"])
def test_a_changed_table_never_gets_the_old_numbers(tmp_path, changed):
    """Also one that looks nearly the same; the same rows in another order are the same table."""
    book, rows = ledger(tmp_path), np.random.default_rng(1).uniform(size=(4000, 2))
    hidden = {"unit": "hidden n"}
    first = privcov.release_private(table_of(rows=rows, **hidden), RHO, "gaussian-cov", ledger=book)
    again = privcov.release_private(table_of(rows=rows[::-1].copy(), **hidden), RHO, "gaussian-cov", ledger=book)
    assert again.covariance.tolist() == first.covariance.tolist()
    other = {"one row more": np.vstack([rows, [0.5, 0.5]]), "half of the rows": rows[:2000], "one cell": rows.copy()}[
        changed
    ]
    other[0, 0] += 1e-4 * (changed == "one cell")
    with pytest.raises(LedgerError, match=r"already made from another table.*Nothing more was spent"):
        privcov.release_private(table_of(rows=other, **hidden), RHO, "gaussian-cov", ledger=book)
    assert book.account("t").releases == 1


def test_a_higher_limit_needs_a_reason_and_shows_it(tmp_path):
    book = ledger(tmp_path)
    for higher in (privcov.ZCDP(1.5), privcov.PureDP(1.5), privcov.ApproxDP(10.0, 1e-9), privcov.ApproxDP(1.5, 1e-9)):
        for reason in ("", " "):
            with pytest.raises(LedgerError, match="Give a reason"):
                book.set_limit("t", higher, reason)
    for lower in (privcov.ApproxDP(0.5, 1e-9), privcov.ApproxDP(0.1, 1e-9), privcov.PureDP(0.1)):
        assert book.set_limit("t", lower).limit_increases == (), "all that it allows was allowed before"
    with pytest.raises(LedgerError, match="Give a reason"):
        book.set_limit("t", privcov.ApproxDP(0.1, 1e-9))
    book = ledger(tmp_path / "another")
    assert book.set_limit("t", privcov.ZCDP(0.5)).limit_increases == ()
    account = book.set_limit("t", privcov.ZCDP(5.0), "the board agreed")
    (words,) = account.limit_increases
    assert words.startswith("The limit was raised from 0.5-zCDP to 5-zCDP on ")
    assert words.endswith(": the board agreed")
    assert words in account.sentence
    assert Ledger(book.path).account("t") == account


def test_a_bundle_shows_why_its_limit_was_raised_and_nothing_of_later_ones(tmp_path, monkeypatch):
    monkeypatch.setattr("privcov.ledger.ledger._now", lambda: "2026-11-27T00:00:00+00:00")  # all in one second
    book = ledger(tmp_path)
    book.set_limit("t", privcov.ZCDP(2.0), "the <board> agreed")
    book.set_limit("other", RHO)
    rel = privcov.release_private(table_of(unit="hidden n"), RHO, "auto-cov", ledger=book)
    book.set_limit("t", privcov.ZCDP(9.0), "later")
    (words,) = rel.entry["raised"]
    assert words == "The limit was raised from 1-zCDP to 2-zCDP on 2026-11-27: the <board> agreed"
    assert privcov.release_private(table_of(unit="hidden n"), RHO, "auto-cov", ledger=book).entry == rel.entry
    rel.save_bundle(tmp_path / "r.zip")
    bundle = privcov.open_bundle(tmp_path / "r.zip")
    assert bundle.entry["raised"] == [words]
    with zipfile.ZipFile(tmp_path / "r.zip") as files:
        report = files.read("report.html").decode()
    assert "the &lt;board&gt; agreed" in report
    assert "later" not in report


# --- what a repeat is compared with -----------------------------------------------------------------------------


def _given(where: str, folder, rows, persons=None, labels=None) -> PrivateDataset:
    """The table in memory, or as it is in a file."""
    more = {"n_public": False} | ({"classes": ["p", "q"]} if labels is not None else {})
    if where == "memory":
        more |= {} if persons is None else {"persons": persons, "person": "id"}
        more |= {} if labels is None else {"labels": labels}
        return PrivateDataset.from_rows(rows, bounds=[(0, 1)] * 2, columns=["a", "b"], name="t", **more)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    if persons is not None:
        frame["id"], more["person"] = persons, "id"
    if labels is not None:
        frame["label"], more["label"] = labels, "label"
    frame.to_csv(folder / "t.csv", index=False)
    return PrivateDataset.from_files(folder / "t.csv", bounds=[(0, 1)] * 2, columns=["a", "b"], name="t", **more)


ROWS_GIVEN = np.random.default_rng(2).uniform(size=(3000, 2)).round(6)
IDS_GIVEN = np.arange(3000) // 3


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("changed", ["labels", "ids", "cells within their rows", "columns of half of the rows"])
def test_labels_ids_and_columns_of_cells_belong_to_the_table(tmp_path, where, changed):
    """A repeat with any of them changed is refused; in another order of rows, or at the other door, it is free."""
    book, labels = ledger(tmp_path), np.where(np.arange(3000) % 2, "p", "q")
    usual = {"rows": ROWS_GIVEN} | ({"labels": labels} if changed == "labels" else {"persons": IDS_GIVEN})
    how = {"guarantee": privcov.ZCDP(0.25), "ledger": book}
    first = privcov.release_private(_given(where, tmp_path, **usual), method="gaussian-cov", **how)
    back = {name: value[::-1].copy() for name, value in usual.items()}
    for door in ("memory", "file"):
        again = privcov.release_private(_given(door, tmp_path, **back), method="gaussian-cov", **how)
        assert again.covariance.tolist() == first.covariance.tolist()
    half = ROWS_GIVEN.copy()
    half[:1500] = half[:1500, ::-1]
    other = {
        "labels": {"labels": np.full(3000, "p")},
        "ids": {"persons": np.arange(3000)},
        "cells within their rows": {"rows": np.sort(ROWS_GIVEN, axis=1)},
        "columns of half of the rows": {"rows": half},
    }[changed]
    with pytest.raises(LedgerError, match="already made from another table"):
        privcov.release_private(_given(where, tmp_path, **(usual | other)), method="gaussian-cov", **how)
    assert book.account("t").releases == 1


@pytest.mark.parametrize("where", ["memory", "file"])
def test_the_same_rows_are_not_released_for_other_persons(tmp_path, where):
    """Under the same name of the column of ids; a cost for one of a person's rows is none for all of them."""
    book = ledger(tmp_path)
    how = {"guarantee": privcov.ZCDP(0.25), "ledger": book}
    privcov.release_private(_given(where, tmp_path, ROWS_GIVEN, IDS_GIVEN), method="gaussian-cov", **how)
    for ids in (np.arange(3000), np.arange(3000) // 6, np.roll(IDS_GIVEN, 1)):
        with pytest.raises(LedgerError, match="released with other ids"):
            privcov.release_private(_given(where, tmp_path, ROWS_GIVEN, ids), method="gaussian-cov", draw=2, **how)
    privcov.release_private(_given(where, tmp_path, ROWS_GIVEN, IDS_GIVEN), method="gaussian-cov", draw=2, **how)
    assert book.account("t").releases == 2


@pytest.mark.parametrize("reason", ["", " ", "\u200b", "\u00ad", "\u2800", "\x00", "\x1b[;"])
def test_a_reason_can_be_read(tmp_path, reason):
    book = ledger(tmp_path)
    with pytest.raises(LedgerError, match="Give a reason"):
        book.set_limit("t", privcov.ZCDP(2.0), reason)
    assert book.set_limit("t", privcov.ZCDP(2.0), "\x1b[2Kbecause\u200b").limit_increases[0].endswith(": [2Kbecause")


def test_releases_are_numbered_for_each_table(tmp_path, capsys):
    """The first release of a second table was number 3."""
    book = Ledger(tmp_path / "ledger.sqlite")
    for name in ("one", "two"):
        book.set_limit(name, privcov.ZCDP(1.0))
    for name, draw in (("one", 1), ("one", 2), ("two", 1), ("one", 3)):
        transact(book, name, RHO, {"draw": draw}, lambda: "answer")
    assert [(e.name, e.number) for e in book.entries()] == [("one", 1), ("one", 2), ("two", 1), ("one", 3)]
    assert [e.number for e in book.entries("one")] == [1, 2, 3]
    assert [e.number for e in book.entries("one", last=2)] == [2, 3]
    assert [e.number for e in book.entries("two")] == [1]
    assert book.entries("one", token=book.entries("one")[1].token)[0].number == 2
    assert main(["ledger", "list", "--ledger", str(book.path)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"one: .*\n.*1, 2, 3\ntwo: .*\n.* 1\n", said)
