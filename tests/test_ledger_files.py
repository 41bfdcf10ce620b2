"""The files of a ledger: who may use them, what a failure leaves behind, a full disk, and beginning anew."""

import errno
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import privcov
from privcov.ledger import Ledger, LedgerError, creation
from privcov.ledger import access as ledger_key
from privcov.ledger.chain import Chain
from privcov.ledger.counter import Counter
from privcov.ledger.file import LedgerFile
from tests.ledgers import transact

ROOT = Path(__file__).parents[1]
RHO = privcov.ZCDP(0.125)


@pytest.fixture
def book(tmp_path) -> Ledger:
    made = Ledger(tmp_path / "ledger.sqlite")
    made.set_limit("t", privcov.ZCDP(1.0))
    return made


def beside(book: Ledger, end: str) -> Path:
    return book.path.with_name(book.path.name + end)


def refusals(book: Ledger):
    """What opening says, and what one says that is open."""
    for ask in (lambda: Ledger(book.path), lambda: transact(book, "t", RHO, {}, pytest.fail)):
        with pytest.raises(LedgerError) as said:
            ask()
        yield str(said.value)


def test_no_statement_numbers_its_placeholders():
    """With a sequence of values `?1` warns from Python 3.12 on, and is refused later; a name takes a mapping."""
    for file in (ROOT / "privcov").rglob("*.py"):
        assert not re.search(r"\?\d", file.read_text(encoding="utf-8")), file


# --- who may use them ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o640, 0o620, 0o601, 0o666])
@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal", ".key", ".head"])
def test_a_file_that_others_may_use_is_refused_with_the_command(book, end, mode):
    file = beside(book, end)
    file.touch(0o600)
    file.chmod(mode)
    for said in refusals(book):
        assert said.endswith(f"run: chmod 600 {file}")
    file.chmod(0o600)
    if end not in ("-wal", "-shm", "-journal"):
        assert Ledger(book.path).account("t").releases == 0


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o702, 0o1777])
def test_a_folder_in_which_others_may_swap_the_files_is_refused(book, mode):
    book.path.parent.chmod(mode)
    try:
        for said in refusals(book):
            assert said.endswith(f"run: chmod go-w {book.path.parent}")
        book.path.parent.chmod(mode & ~0o022)
        assert Ledger(book.path).account("t").releases == 0
    finally:
        book.path.parent.chmod(0o700)


def test_a_link_into_a_folder_in_which_others_may_swap_the_file_is_refused(book, tmp_path):
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    for folder, mode in ((shared, 0o777), (mine, 0o700)):
        folder.mkdir()
        folder.chmod(mode)
    (mine / "new.sqlite").symlink_to(shared / "new.sqlite")
    with pytest.raises(LedgerError, match=rf"chmod go-w {shared}$"):
        Ledger(mine / "new.sqlite")
    assert not list(shared.iterdir())
    for end in ("", ".key", ".head"):
        beside(book, end).rename(shared / f"ledger.sqlite{end}")
        beside(book, end).symlink_to(shared / f"ledger.sqlite{end}")
    for said in refusals(book):
        assert said.endswith(f"chmod go-w {shared}")


def test_a_ledger_is_one_whichever_links_lead_to_it(book, tmp_path):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    for end in ("", ".key", ".head"):
        (other / f"ledger.sqlite{end}").symlink_to(beside(book, end))
    through = Ledger(other / "ledger.sqlite")
    assert transact(through, "t", RHO, {"m": 1}, lambda: "one") == transact(book, "t", RHO, {"m": 1}, pytest.fail)
    transact(book, "t", RHO, {"m": 2}, lambda: "two")
    assert through.account("t") == Ledger(book.path).account("t")
    assert through.account("t").releases == 2


def test_a_ledger_with_hard_links_is_never_two(book, tmp_path):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    for end in ("", ".key", ".head"):
        os.link(beside(book, end), other / f"ledger.sqlite{end}")
    transact(book, "t", privcov.ZCDP(0.9), {"m": 1}, lambda: "one")
    with pytest.raises(LedgerError, match="older or another copy"):
        transact(Ledger(other / "ledger.sqlite"), "t", privcov.ZCDP(0.9), {"m": 2}, pytest.fail)
    assert Ledger(book.path).account("t").releases == 1


def test_a_relative_path_stays_the_same_ledger_in_another_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    monkeypatch.chdir(tmp_path)
    book = Ledger("ledger.sqlite")
    book.set_limit("t", privcov.ZCDP(1.0))
    monkeypatch.chdir(tmp_path / "elsewhere")
    transact(book, "t", RHO, {"m": 1}, lambda: "one")
    assert Ledger(tmp_path / "ledger.sqlite").account("t").releases == 1


def test_a_path_with_a_blank_is_quoted_in_the_command(tmp_path):
    (tmp_path / "my files").mkdir(mode=0o700)
    path = tmp_path / "my files" / "l.sqlite"
    Ledger(path)
    path.chmod(0o644)
    with pytest.raises(LedgerError, match=f"chmod 600 '{path}'"):
        Ledger(path)


@pytest.mark.parametrize("end", ["", ".key", ".head", "folder"])
def test_a_file_of_another_user_is_refused(book, end, monkeypatch):
    """Another user's file cannot be made here, so its owner is claimed to be another one."""
    goal, honest = book.path.parent if end == "folder" else beside(book, end), Path.stat

    class Other:
        def __init__(self, found: os.stat_result) -> None:
            self.st_mode, self.st_uid = found.st_mode, found.st_uid + 12345

    monkeypatch.setattr(Path, "stat", lambda self, **how: (Other if self == goal else lambda s: s)(honest(self, **how)))
    for said in refusals(book):
        assert said.startswith(f"{goal} belongs to another user")


def test_every_file_is_made_for_its_owner_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = Ledger(tmp_path / "new" / "deep" / "ledger.sqlite")
        made.set_limit("t", RHO)
    finally:
        os.umask(before)
    found = {f.name: stat.S_IMODE(f.stat().st_mode) for f in made.path.parent.iterdir()}
    assert set(found.values()) == {0o600}
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


# --- what a failure leaves ----------------------------------------------------------------------------------


class Planted(OSError):
    def __init__(self) -> None:
        super().__init__(errno.ENOSPC, "No space left on device")


def broken(*_, **__):
    raise Planted


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ledger_key.os, "link"),
        (ledger_key.os, "fsync"),
        (creation, "make_key"),
        (creation, "sync_folder"),
        (Chain, "begin"),
        (Counter, "write"),
        (LedgerFile, "_commit"),
        (LedgerFile, "_read_key"),
        (creation.os, "write"),
    ],
)
def test_a_ledger_that_cannot_begin_leaves_nothing_behind(tmp_path, monkeypatch, owner, name):
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, broken)
        with pytest.raises(LedgerError, match=r"No space left on device.*nothing is released"):
            Ledger(tmp_path / "a" / "b" / "ledger.sqlite")
    assert list(tmp_path.iterdir()) == []
    Ledger(tmp_path / "a" / "b" / "ledger.sqlite").set_limit("t", RHO)


def test_what_was_there_stays_when_a_ledger_cannot_begin(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir(mode=0o700)
    (tmp_path / "a" / "other").write_text("mine")
    (tmp_path / "a" / "ledger.sqlite").touch(0o600)
    monkeypatch.setattr(Counter, "write", broken)
    with pytest.raises(LedgerError, match="nothing is released"):
        Ledger(tmp_path / "a" / "ledger.sqlite")
    assert {f.name for f in (tmp_path / "a").iterdir()} == {"other", "ledger.sqlite"}


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + b"x" * 2000])
def test_another_file_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "table.sqlite"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(LedgerError, match="nothing is released"):
        Ledger(path)
    assert [f.name for f in tmp_path.iterdir()] == ["table.sqlite"]
    assert path.read_bytes() == content


def test_a_folder_that_others_may_write_to_is_left_empty(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(LedgerError, match="chmod go-w"):
        Ledger(tmp_path / "open" / "ledger.sqlite")
    assert list((tmp_path / "open").iterdir()) == []


# --- a disk that is full ------------------------------------------------------------------------------------


class Full:
    """From `now` on the disk is full: nothing can be written to the counter, or committed."""

    def __init__(self, book: Ledger, where: str, monkeypatch) -> None:
        self.now, file, commit, write = False, book._file, book._file._commit, book._file.counter.write

        def maybe(honest):
            def act(*words):
                if self.now:
                    raise sqlite3.OperationalError("database or disk is full") if where == "database" else Planted
                honest(*words)

            return act

        if where == "database":
            monkeypatch.setattr(file, "_commit", maybe(commit))
        elif where == "counter":
            monkeypatch.setattr(file.counter, "write", maybe(write))
        else:  # the step is committed, and only the settling fails
            monkeypatch.setattr(
                file.counter, "write", lambda checkpoint: (write if checkpoint.next else maybe(write))(checkpoint)
            )


@pytest.mark.parametrize("where", ["database", "counter", "settling"])
def test_a_full_disk_while_storing_says_that_the_cost_was_spent(book, monkeypatch, where):
    disk = Full(book, where, monkeypatch)

    def draw():
        disk.now = True
        return "answer"

    with pytest.raises(LedgerError) as said:
        transact(book, "t", RHO, {"m": 1}, draw)
    assert "was drawn, so its cost counts as spent" in str(said.value)
    assert "make the same request again" in str(said.value)
    assert "full" in str(said.value) or "No space" in str(said.value)
    disk.now = False
    if where == "settling":  # what was committed is there
        assert transact(book, "t", RHO, {"m": 1}, pytest.fail) == "answer"
    else:
        with pytest.raises(LedgerError, match="counts as spent"):
            transact(book, "t", RHO, {"m": 1}, pytest.fail, wait=0.0)
    assert book.account("t").spent_rho == Fraction(1, 8)


@pytest.mark.parametrize("where", ["database", "counter", "settling"])
@pytest.mark.parametrize("step", ["_reserve", "_commit"])
def test_a_full_disk_before_the_draw_draws_nothing_and_enters_it_once(book, monkeypatch, where, step):
    disk, honest = Full(book, where, monkeypatch), getattr(book, step)

    def from_here(*words):
        disk.now = True
        return honest(*words)

    with monkeypatch.context() as patch:
        patch.setattr(book, step, from_here)
        with pytest.raises(LedgerError, match=r"nothing was drawn.*make the same request again"):
            transact(book, "t", RHO, {"m": 1}, pytest.fail)
    disk.now = False
    if (where, step) == ("settling", "_commit"):  # it was taken on, so it may have been drawn for all that is known
        with pytest.raises(LedgerError, match="counts as spent"):
            transact(book, "t", RHO, {"m": 1}, pytest.fail, wait=0.0)
    else:
        assert transact(book, "t", RHO, {"m": 1}, lambda: "answer") == "answer"
    assert book.account("t").spent_rho == Fraction(1, 8)


def test_a_disk_that_is_full_while_a_failure_is_noted_still_passes_the_failure_on(book, monkeypatch):
    disk = Full(book, "database", monkeypatch)

    def draw():
        disk.now = True
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        transact(book, "t", RHO, {"m": 1}, draw)


def test_an_interruption_while_storing_is_noted_at_once(book, monkeypatch):
    honest = book._finish

    def interrupted(token, state, answer):
        if state == "stored":
            raise KeyboardInterrupt
        honest(token, state, answer)

    monkeypatch.setattr(book, "_finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        transact(book, "t", RHO, {"m": 1}, lambda: "answer")
    assert book.entries()[0].state == "failed"


# --- anew ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["sound", "lost", "empty", "no counter", "no key", "no database", "altered"])
def test_a_new_ledger_is_begun_when_that_is_said_and_the_old_files_are_kept(book, how):
    transact(book, "t", RHO, {"m": 1}, lambda: "x")
    if how == "lost":
        book.path.unlink()
    elif how == "empty":
        book.path.write_bytes(b"")
    elif how == "no database":
        book.path.write_bytes(b"text")
    elif how in ("no counter", "no key"):
        beside(book, {"no counter": ".head", "no key": ".key"}[how]).unlink()
    elif how == "altered":
        beside(book, ".head").write_text("x")
    old = {f.name.removeprefix("ledger.sqlite"): f.read_bytes() for f in book.path.parent.iterdir()}
    now = Ledger.begin_anew(book.path)
    assert (now.entries(), now.names(), now.key != book.key) == ((), (), True)
    (aside,) = {f.name.split(".sqlite")[0] for f in book.path.parent.iterdir() if f.name.startswith("ledger.until-")}
    kept = {f.name.partition(".sqlite")[2]: f for f in book.path.parent.glob(f"{aside}*")}
    assert kept.keys() == old.keys()
    for end in (".key", ".head", *([""] if how in ("empty", "no database") else [])):
        assert end not in old or kept[end].read_bytes() == old[end]
    if how == "sound":
        assert [e.state for e in Ledger(kept[""]).entries()] == ["stored"], "the old record can be read as before"
    elif how in ("no counter", "no key", "altered"):
        with closing(sqlite3.connect(kept[""])) as link, link:
            assert link.execute("SELECT state FROM transactions").fetchall() == [("stored",)]
    with pytest.raises(LedgerError):
        book.account("t")
    assert Ledger(now.path).set_limit("t", RHO).limit == RHO


def test_nothing_is_set_aside_where_there_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="There is no ledger at"):
        Ledger.begin_anew(tmp_path / "ledger.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_is_in_use_is_not_set_aside(book, monkeypatch):
    monkeypatch.setattr(creation, "_BUSY_SECONDS", 0.1)
    with book._file.connect(write=True), pytest.raises(LedgerError, match="in use by another process"):
        Ledger.begin_anew(book.path)
    assert Ledger(book.path).account("t").limit == privcov.ZCDP(1.0)


def test_one_that_waits_for_a_ledger_that_is_set_aside_enters_nothing(book):
    """Its lock is on the old file, and the counter is the new one's."""
    held, go, said = threading.Event(), threading.Event(), []
    honest = os.rename

    def slow(old, new):
        held.set()
        go.wait(5)
        honest(old, new)

    def late():
        held.wait(5)
        threading.Timer(0.3, go.set).start()
        try:
            book.set_limit("t", RHO)
        except LedgerError as problem:
            said.append(str(problem))

    waiting = threading.Thread(target=late)
    waiting.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(creation.os, "rename", slow)
        now = Ledger.begin_anew(book.path)
    waiting.join()
    assert len(said) == 1
    assert now.names() == Ledger(now.path).names() == ()


def shell(path: Path, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "privcov", "ledger", *words, "--ledger", str(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_shell_begins_anew_only_with_yes(book):
    transact(book, "t", RHO, {"m": 1}, lambda: "x")
    asked = shell(book.path, "begin-anew")
    assert asked.returncode == 2
    assert "forgets every limit and everything spent" in asked.stderr
    assert "--yes" in asked.stderr
    assert len(Ledger(book.path).entries()) == 1
    done = shell(book.path, "begin-anew", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "until-" in done.stdout
    assert Ledger(book.path).entries() == ()


# --- draws --------------------------------------------------------------------------------------------------


@pytest.fixture
def table():
    return privcov.PrivateDataset.from_rows([[0.1, 0.2], [0.3, 0.1], [0.0, 0.5]], row_bound=1.0, name="t")


def test_one_draw_is_one_release_however_its_number_is_written(book, table):
    made = [privcov.release_private(table, RHO, "auto-cov", ledger=book, draw=d) for d in (1, 1.0)]
    assert len({one.to_json() for one in made}) == 1
    assert len(book.entries()) == 1
    assert book.entries()[0].request["draw"] == 1
    assert type(book.entries()[0].request["draw"]) is int


@pytest.mark.parametrize("draw", [0, -1, 1.5, "2", None, False, float("nan"), float("inf"), 10**9 + 1])
def test_what_is_no_number_of_a_draw_is_refused_before_anything_is_entered(book, table, draw):
    with pytest.raises(ValueError, match=r"draw must be .*got draw=") as said:
        privcov.release_private(table, RHO, "auto-cov", ledger=book, draw=draw)
    assert f"draw={draw!r}" in str(said.value)
    assert book.entries() == ()


def test_a_folder_is_never_renamed_for_a_new_ledger(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.txt").write_text("kept")
    with pytest.raises(LedgerError, match="is a folder"):
        Ledger.begin_anew(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["papers"]
