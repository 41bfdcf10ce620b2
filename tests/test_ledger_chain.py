"""A ledger that was lost, emptied, rolled back or edited is refused; a crash at any step locks nobody out."""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import privcov
from privcov.ledger import Ledger, LedgerError
from privcov.ledger import ledger as ledger_book
from privcov.ledger.access import NAMES
from privcov.ledger.chain import Chain
from privcov.ledger.creation import _leads_to
from tests.ledgers import transact
from tests.patience import patient

ROOT = Path(__file__).parents[1]
RHO = privcov.ZCDP(0.125)
FILES = ("", ".key", ".head")


def ledger(folder: Path) -> Ledger:
    book = Ledger(folder / "ledger.sqlite")
    book.set_limit("t", privcov.ZCDP(1.0))
    return book


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Path:
    """A ledger with releases that were stored, failed and reserved."""
    made = ledger(tmp_path_factory.mktemp("once"))
    transact(made, "t", RHO, {"m": 1}, lambda: "answer")
    with pytest.raises(ZeroDivisionError):
        transact(made, "t", RHO, {"m": 2}, lambda: 1 / 0)
    made._reserve("t", RHO, {"m": 3}, "a token", "")
    return made.path


@pytest.fixture
def book(made_once, tmp_path) -> Ledger:
    """A copy of it: three releases."""
    for end in FILES:
        shutil.copy(f"{made_once}{end}", tmp_path)
    return Ledger(tmp_path / "ledger.sqlite")


def beside(book: Ledger, end: str) -> Path:
    return book.path.with_name(book.path.name + end)


def copy(book: Ledger) -> dict[str, bytes]:
    """The bytes of every file."""
    return {end: beside(book, end).read_bytes() for end in NAMES if beside(book, end).exists()}


def put(book: Ledger, files: dict[str, bytes]) -> None:
    """These files and no others."""
    for end in NAMES:
        beside(book, end).unlink(missing_ok=True)
    for end, content in files.items():
        beside(book, end).write_bytes(content)
        beside(book, end).chmod(0o600)


def rewrite(book: Ledger, *statements: str) -> None:
    """By somebody who takes the triggers away, and puts them back."""
    with closing(sqlite3.connect(book.path, isolation_level=None)) as link, link:
        triggers = link.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            link.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            link.execute(statement)
        for _, sql in triggers:
            link.execute(sql)


def refused(book: Ledger, word: str) -> None:
    """By one that opens the files, and by one that has had them open, for whatever is asked."""
    with pytest.raises(LedgerError, match=word) as said:
        Ledger(book.path)
    assert str(book.path) in str(said.value)
    for ask in (
        lambda: book.account("t"),
        lambda: book.set_limit("t", RHO),
        lambda: transact(book, "t", RHO, {"m": "new"}, pytest.fail),
    ):
        with pytest.raises(LedgerError, match=word):
            ask()


# --- lost, emptied, rolled back -----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["gone", "empty", "another database"])
def test_a_ledger_that_is_gone_or_empty_beside_its_key_is_not_begun_again(book, how):
    book.path.unlink()
    if how == "empty":
        book.path.touch(0o600)
    elif how == "another database":
        with closing(sqlite3.connect(book.path)) as link, link:
            link.execute("CREATE TABLE other (x)")
        book.path.chmod(0o600)
    kept = copy(book)
    refused(book, "lost, emptied or replaced.*begin-anew")
    assert copy(book) == kept, "a refusal changes no file"


@pytest.mark.parametrize("mark", [b"", b"beginning"])
def test_a_lock_file_that_was_left_behind_begins_no_ledger_in_place_of_a_lost_one(book, mark):
    files = copy(book)
    put(book, {end: files[end] for end in (".key", ".head")})
    beside(book, ".beginning").write_bytes(mark)
    refused(book, "lost, emptied or replaced")
    assert {end: files[end] for end in (".key", ".head")} == copy(book)
    put(book, files)
    assert Ledger(book.path).account("t").releases == 3


def test_an_older_copy_is_refused_after_every_step(tmp_path):
    """Each of the files alone, and the database with what SQLite keeps beside it; all of them again are fine."""
    book, copies = Ledger(tmp_path / "ledger.sqlite"), []
    steps = [
        lambda: book.set_limit("t", privcov.ZCDP(1.0)),
        lambda: book._reserve("t", RHO, {}, "token", ""),
        lambda: book._commit("token"),
        lambda: book._finish("token", "stored", "answer"),
        lambda: book.set_limit("t", privcov.ZCDP(0.5)),
    ]
    for step in steps:
        copies.append(copy(book))
        step()
    newest = copy(book)
    for old in copies:
        put(book, newest | {"": old[""]})
        refused(book, "older or another copy")
        put(book, newest | {".head": old[".head"]})
        refused(book, "older or another copy")
    put(book, newest)
    assert Ledger(book.path).stored("token") == "answer"


def test_a_lost_or_edited_counter_is_refused(book):
    counter = beside(book, ".head")
    text = counter.read_text()
    counter.unlink()
    refused(book, "counter .*ledger.sqlite.head is missing")
    put(book, copy(book) | {".head": b""})
    for wrong in (
        "",
        "{}",
        "[]",
        "no json",
        text.replace(": [", ": [1"),
        text + " ",
        "\0",
        text.replace("null", "[0]"),
    ):
        counter.write_text(wrong)
        refused(book, "counter .*ledger.sqlite.head was altered")
    counter.write_bytes(b"\xff")
    refused(book, "was altered")
    counter.write_text(text)
    assert Ledger(book.path).account("t").releases == 3


def test_a_lost_key_is_never_replaced(book):
    key = beside(book, ".key")
    content = key.read_bytes()
    key.unlink()
    with pytest.raises(LedgerError, match="Put the old key file back"):
        Ledger(book.path)
    assert not key.exists()
    for wrong in (bytes(32), content[:-1]):
        key.write_bytes(wrong)
        key.chmod(0o600)
        with pytest.raises(LedgerError, match="old key file"):
            Ledger(book.path)


# --- edited -------------------------------------------------------------------------------------------------

ROW = ["token", "name", "kind", "amount", "request", "fingerprint", "reserved_at", "state", "worker"]
OTHER = {"state": "'failed'", "kind": "'pure'", "request": "'{}'", "amount": "'1/16'"}


@pytest.mark.parametrize("field", [*ROW, "id"])
@pytest.mark.parametrize("row", [1, 2, 3])
def test_no_field_of_a_release_can_be_edited(book, field, row):
    was = f"(SELECT {field} FROM transactions WHERE id = {row})"
    other = "9" if field == "id" else OTHER.get(field, f"{was} || 'x'")
    if (field, row) == ("state", 2):
        other = "'committed'"
    rewrite(book, f"UPDATE transactions SET {field} = {other} WHERE id = {row}")
    refused(book, "altered")


@pytest.mark.parametrize("field", ["id", "name", "guarantee", "set_at"])
def test_no_field_of_a_limit_can_be_edited(book, field):
    book.set_limit("u", RHO)
    rewrite(book, f"UPDATE limits SET {field} = {'9' if field == 'id' else repr('x')} WHERE id = 2")
    refused(book, "altered")


@pytest.mark.parametrize("field", ["step", "subject", "number", "state", "note", "seal"])
@pytest.mark.parametrize("step", [1, 2, 4, 9])
def test_no_field_of_a_record_can_be_edited(book, field, step):
    other = {"step": "99", "number": "2", "subject": "'ledger'", "note": "'x'", "seal": "upper(seal)"}.get(field, "'x'")
    if (field, step) == ("subject", 1):
        other = "'limit'"
    rewrite(book, f"UPDATE chain SET {field} = {other} WHERE step = {step}")
    refused(book, "altered")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM transactions WHERE id = 1",
        "DELETE FROM limits WHERE id = 1",
        "DELETE FROM chain WHERE step = 3",
        "INSERT INTO limits (name, guarantee, set_at) SELECT name, guarantee, set_at FROM limits",
        "INSERT INTO transactions SELECT 9, 'new', name, state, kind, amount, request, fingerprint, "
        "reserved_at, worker, answer FROM transactions WHERE id = 1",
        "INSERT INTO chain SELECT step + 100, subject, number, state, note, seal FROM chain WHERE step = 2",
        "UPDATE transactions SET state = 'reserved', worker = '', answer = NULL WHERE id = 2",
    ],
)
def test_no_row_can_be_taken_out_put_in_or_put_back(book, statement):
    rewrite(book, statement)
    refused(book, "altered")


def test_the_last_rows_cannot_be_taken_out_with_their_records(book):
    """The chain that is left is sound; the counter knows that it was longer."""
    rewrite(book, "DELETE FROM transactions WHERE id = 3", "DELETE FROM chain WHERE subject = 'release' AND number = 3")
    refused(book, "older or another copy")


def test_two_ledgers_that_went_apart_are_never_one_again(book, monkeypatch):
    """Their last steps are the same to the letter; only the step before it tells them apart."""
    monkeypatch.setattr(ledger_book, "_now", lambda: "now")
    start, ends = copy(book), []
    for rho in (0.5, 0.25):
        put(book, start)
        book.set_limit("t", privcov.ZCDP(rho))
        book.set_limit("u", RHO)
        ends.append(copy(book))
    put(book, ends[0] | {"": ends[1][""]})
    refused(book, "older or another copy")


@pytest.mark.parametrize("answer", ["'other'", "NULL"])
def test_an_edited_answer_is_refused_when_it_is_read(book, answer):
    rewrite(book, f"UPDATE transactions SET answer = {answer} WHERE id = 1")
    with pytest.raises(LedgerError, match="altered"):
        book.stored(book.entries()[0].token)
    with pytest.raises(LedgerError, match="altered"):
        transact(book, "t", RHO, {"m": 1}, pytest.fail)


def test_rows_of_another_ledger_do_not_pass(book, tmp_path):
    """The same steps under another key: the seals are other ones."""
    (tmp_path / "other").mkdir(mode=0o700)
    other = ledger(tmp_path / "other")
    put(book, copy(book) | {"": copy(other)[""]})
    refused(book, "not the one this ledger was made with")
    with closing(sqlite3.connect(book.path)) as link, link:
        found = link.execute("UPDATE facts SET value = ? WHERE name = 'key'", (book._file._key_check,))
        assert found.rowcount == 1
    refused(book, "altered")


# --- a ledger of another version -------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["DELETE FROM facts WHERE name = 'format'", "UPDATE facts SET value = '1'"])
def test_a_ledger_of_another_version_is_refused_in_one_sentence_and_left_as_it_is(book, statement):
    rewrite(book, statement + " WHERE name = 'format'" * ("UPDATE" in statement))
    before = copy(book)
    refused(book, "of another version of PrivCov, which this one does not read")
    assert copy(book) == before


# --- crashes ------------------------------------------------------------------------------------------------

# Every line of the ledger's own code is a place to die at: the child kills itself at the n-th one.
DIE = """
import os, signal, sys
import privcov
from privcov.ledger import Ledger
from tests.ledgers import transact
path, first, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def run(where, at):
    lines = 0
    def trace(frame, event, arg):
        nonlocal lines
        if os.sep + "ledger" + os.sep not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        if lines == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    def draw():
        os.close(os.open(where + ".drawn", os.O_CREAT | os.O_EXCL))
        return "answer"
    sys.settrace(trace)
    book = Ledger(where)
    book.set_limit("t", privcov.ZCDP(1.0))
    transact(book, "t", privcov.ZCDP(0.125), {"m": 1}, draw, token="token")
    sys.settrace(None)
    return lines

at = first
while True:
    folder = f"{path}/{at}"
    os.mkdir(folder, 0o700)
    pid = os.fork()
    if pid == 0:
        run(f"{folder}/ledger.sqlite", at)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status):
        assert os.WEXITSTATUS(status) == 0
        break
    at += every
"""


def die(folder: Path, first: int, every: int) -> list[Path]:
    """Ledgers of processes that were killed at every so many lines."""
    done = subprocess.run(
        [sys.executable, "-c", DIE, str(folder), str(first), str(every)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return sorted((f / "ledger.sqlite" for f in folder.iterdir()), key=lambda f: int(f.parent.name))


def stands(path: Path) -> str:
    """The state in which a dead process left its release; the ledger holds, and nothing is drawn twice."""
    drawn = path.with_name(path.name + ".drawn").exists()
    book = Ledger(path)
    assert json.loads(beside(book, ".head").read_text())["next"] is None, "opening settles"
    known = [e for e in book.entries() if e.token == "token"]
    state = known[0].state if known else "nothing"
    assert book.account("t").releases == len(known)
    assert drawn <= (state in ("committed", "stored", "failed"))
    assert (state == "stored") <= drawn
    if book.account("t").limit is None:
        assert state == "nothing"
        book.set_limit("t", privcov.ZCDP(1.0))
    again = []
    if state in ("nothing", "reserved"):
        assert transact(book, "t", RHO, {"m": 1}, lambda: again.append(1) or "again", token="token") == "again"
    elif state == "stored":
        assert transact(book, "t", RHO, {"m": 1}, pytest.fail, token="token") == "answer"
    else:
        with pytest.raises(LedgerError, match="counts as spent"):
            transact(book, "t", RHO, {"m": 1}, pytest.fail, token="token", wait=0.0)
    assert book.account("t").spent_rho == Fraction(1, 8)
    assert {f.name for f in path.parent.iterdir()} <= {path.name + end for end in (*NAMES, ".drawn")}, "no litter"
    return state


def test_a_kill_at_any_line_locks_nobody_out_and_draws_nothing_twice(tmp_path):
    """A new ledger, a limit and a release; every 89th line of the ledger's code."""
    states = [stands(path) for path in die(tmp_path, 11, 89)]
    assert set(states) >= {"nothing", "reserved", "stored"}


@pytest.mark.deep
def test_a_kill_at_every_line(tmp_path):
    states = [stands(path) for path in die(tmp_path, 1, 1)]
    assert set(states) >= {"nothing", "reserved", "committed", "stored"}


STEPS = {
    "before the counter": ("counter", 1, "before", "nothing"),
    "after the counter": ("counter", 1, "after", "nothing"),
    "after the commit": ("counter", 2, "before", "reserved"),
    "after the settling": ("counter", 2, "after", "reserved"),
}


@pytest.mark.parametrize("step", STEPS)
def test_between_commit_and_counter_no_step_is_lost_and_none_can_be_taken_back(tmp_path, step, monkeypatch):
    """The process dies around each of the two writes of the counter; afterwards an older copy is refused again."""
    book = ledger(tmp_path)
    old, (_, write, when, state) = copy(book), STEPS[step]
    honest, writes = book._file.counter.write, []

    class Killed(BaseException):
        pass

    def killed(reached):
        writes.append(reached)
        if when == "after" or len(writes) < write:
            honest(reached)
        if len(writes) == write:
            raise Killed

    monkeypatch.setattr(book._file.counter, "write", killed)
    with pytest.raises(Killed):
        book._reserve("t", RHO, {"m": 1}, "token", "")
    now = Ledger(book.path)
    assert [e.state for e in now.entries()] == [state] * (state != "nothing")
    if state == "nothing":
        now.set_limit("u", RHO)
    put(now, copy(now) | {"": old[""]})
    with pytest.raises(LedgerError, match="older or another copy"):
        Ledger(now.path)


# --- several at once ----------------------------------------------------------------------------------------

READ = """
import sys, time
from privcov.ledger import Ledger
end = time.monotonic() + 60
while not any(e.token == "last" and e.state == "stored" for e in Ledger(sys.argv[1]).entries("t")):
    assert time.monotonic() < end
"""


def test_no_reader_is_alarmed_while_others_write(tmp_path):
    """A process opens it over and over, a thread reads, and two threads write."""
    book, stop, problems = ledger(tmp_path), threading.Event(), []
    reader = subprocess.Popen([sys.executable, "-c", READ, str(book.path)], cwd=ROOT, stderr=subprocess.PIPE, text=True)

    def kept(work):
        try:
            work()
        except Exception as problem:
            problems.append(problem)

    def read():
        while not stop.is_set():
            book.account("t")

    def write(me: int):
        for i in range(12):
            transact(book, "t", privcov.ZCDP(0.01), {"m": [me, i]}, lambda: "x")

    threads = [threading.Thread(target=kept, args=(w,)) for w in (read, lambda: write(0), lambda: write(1))]
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join()
    transact(book, "t", privcov.ZCDP(0.01), {"m": "last"}, lambda: "x", token="last")
    stop.set()
    threads[0].join()
    _, said = reader.communicate(timeout=patient(30))
    assert (reader.returncode, problems) == (0, []), said
    assert len(book.entries()) == 25


def test_a_lock_file_that_goes_while_it_is_looked_at_is_not_ours(tmp_path, monkeypatch):
    lock = tmp_path / "lock"
    handle = os.open(lock, os.O_CREAT | os.O_RDWR)
    assert _leads_to(lock, handle)
    monkeypatch.setattr(Path, "exists", lambda self: True)  # it was there a moment ago
    lock.unlink()
    assert not _leads_to(lock, handle)
    lock.touch()  # that of the next one
    assert not _leads_to(lock, handle)
    os.close(handle)


def test_a_ledger_that_many_begin_at_once_has_one_key(tmp_path):
    books, problems = [], []
    start = threading.Barrier(8)

    def begin():
        start.wait()
        try:
            books.append(Ledger(tmp_path / "new" / "ledger.sqlite"))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len({book.key for book in books}) == 1
    books[0].set_limit("t", RHO)
    assert all(book.account("t").limit == RHO for book in books)
    assert {f.name for f in (tmp_path / "new").iterdir()} <= {f"ledger.sqlite{end}" for end in NAMES}


# --- many entries -------------------------------------------------------------------------------------------


def filled(folder: Path, count: int) -> Ledger:
    """A ledger with many stored releases of one table, as large as real ones."""
    book = Ledger(folder / f"{count}.sqlite")
    book.set_limit("t", privcov.ZCDP(1e6))
    facts = {"n": 1000, "columns": [f"a column {j}" for j in range(40)]}
    mark = json.dumps({"cells": "a" * 32, "persons": "b" * 32, "classes": "c" * 32})
    with book._file.connect(write=True) as link:
        for number in range(count):
            fields = {"token": f"token {number}", "name": "t", "kind": "zcdp", "amount": "1/8", "fingerprint": mark}
            request = json.dumps({"draw": number, "facts": facts}, sort_keys=True)
            book._file.chain.enter_release(link, **fields, request=request, reserved_at="2026-01-01T00:00:00+00:00")
            book._file.chain.move(link, fields["token"], "committed", worker="host:1")
            book._file.chain.move(link, fields["token"], "stored", answer="y" * 6000)
    return Ledger(book.path)


def test_a_release_takes_no_longer_with_many_entries(tmp_path):
    """Medians of nine, the ledger opened anew each time, as a shell does; with each row read again 80 times as long."""
    medians, facts = [], {"n": 1000, "columns": []}
    for count in (10, 5_000):
        book, seconds = filled(tmp_path, count), []
        for number in range(9):
            begun = time.perf_counter()
            again = Ledger(book.path)
            with again.reserve("t", RHO, {"draw": -number, "facts": facts}) as payment:
                payment.store("answer")
            assert payment.entry.number == count + number + 1
            assert again.account("t").releases == count + number + 1
            seconds.append(time.perf_counter() - begun)
        medians.append(statistics.median(seconds))
    assert medians[1] < 6 * medians[0]


def test_a_ledger_that_nobody_wrote_to_is_not_checked_again(book, monkeypatch):
    monkeypatch.setattr(Chain, "verified", lambda *_: pytest.fail("checked again"))
    assert Ledger(book.path).account("t").releases == 3


def test_a_change_whose_time_was_set_back_is_found(book):
    before = book.path.stat()
    raw = bytearray(book.path.read_bytes())
    at = raw.index(b"1/8")
    raw[at : at + 3] = b"1/9"
    with book.path.open("r+b") as file:
        file.write(raw)
    os.utime(book.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert book.path.stat().st_size == before.st_size
    with pytest.raises(LedgerError, match="altered"):
        Ledger(book.path)
    with pytest.raises(LedgerError, match="altered"):
        book.account("t")


def test_a_request_with_another_public_number_of_rows_is_one_of_a_changed_table(tmp_path):
    book = Ledger(tmp_path / "ledger.sqlite")
    book.set_limit("t", privcov.ZCDP(1.0))
    transact(book, "t", RHO, {"facts": {"n": 100, "d": 2}}, lambda: "answer")
    with pytest.raises(LedgerError, match="draw"):
        transact(book, "t", RHO, {"facts": {"n": 101, "d": 2}}, pytest.fail)
    transact(book, "t", RHO, {"facts": {"n": 100, "d": 3}}, lambda: "another")


def test_a_change_in_a_write_ahead_log_is_found(book):
    """There the file itself stays as it was while somebody holds the database open."""
    with closing(sqlite3.connect(book.path)) as link:
        link.execute("PRAGMA journal_mode=WAL")
        assert book.account("t").releases == 3
        link.execute("DROP TRIGGER costs_stay")
        link.execute("UPDATE transactions SET amount = '0'")
        link.commit()
        for use in (book, None):
            with pytest.raises(LedgerError, match="altered"):
                (use or Ledger(book.path)).account("t")
