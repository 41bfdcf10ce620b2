"""Creation of a ledger, and its replacement by a new one.

A ledger is three files: the database, the key and the counter. They are made together or not at all, while a lock file
is held, and after a failure those already made are removed. A process that is killed leaves the lock file with a mark
in it. The next process finds the mark and a free lock, and makes the missing files. A key or a counter without a
database and without that mark means that a ledger was lost: a new one is then made on command only.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from privcov.core import paths
from privcov.ledger.access import NAMES, LedgerError, make_key, unfinished
from privcov.ledger.counter import sync_folder

_LOCK, _MARK = ".beginning", b"beginning"
_BUSY_SECONDS = 5.0
ANEW = f"{paths.command()} ledger begin-anew"


def beside(path: Path, end: str) -> Path:
    """Return the file of the ledger with a given ending."""
    return path.with_name(path.name + end)


def lost_error(path: Path) -> LedgerError:
    """Return the error for a key or a counter whose database is missing or empty."""
    return LedgerError(
        f"The ledger {path} was lost, emptied or replaced: its key or counter is there, its record is not, so nothing "
        f"is released. Put the newest copy of all its files back; if there is none, begin without that record: {ANEW}"
    )


def create_if_missing(path: Path, fill: Callable[[], None]) -> None:
    """Make the files of a ledger unless they exist."""
    if _there(path) and beside(path, ".key").exists() and not beside(path, _LOCK).exists():
        return
    folders = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(path) as lock:
            _begin(path, lock, fill)
    except BaseException:
        for folder in folders:  # the deepest first
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _begin(path: Path, lock: int, fill: Callable[[], None]) -> None:
    """Make the missing files while the lock is held, and remove them where that fails."""
    key, counter = beside(path, ".key"), beside(path, ".head")
    unfinished(key).unlink(missing_ok=True)  # left by a process that was killed while it made the key
    if _there(path):
        if not key.exists():
            raise LedgerError(
                f"The key file {key} is missing, without which no table is recognised, so nothing is released. Put the "
                f"old key file back; if it is lost, begin without the record of this ledger: {ANEW}"
            )
        return
    if (key.exists() or counter.exists()) and os.read(lock, len(_MARK)) != _MARK:
        raise lost_error(path)
    os.lseek(lock, 0, os.SEEK_SET)
    os.write(lock, _MARK)
    os.fsync(lock)
    missing = [file for file in (counter, path, key) if not file.exists()]
    try:
        if key in missing:
            make_key(key)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        fill()
        sync_folder(path.parent)
    except BaseException:
        for file in [*missing, *(beside(path, end) for end in ("-wal", "-shm", "-journal"))]:
            file.resolve().unlink(missing_ok=True)  # for a link, the file that it leads to
        raise


def _there(path: Path) -> bool:
    """Return True when the database has content; raise LedgerError where the file is no database."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        return False
    if start not in (b"", b"SQLite format 3\0"):
        raise LedgerError(
            f"The ledger {path} cannot be used (it is not a database), so nothing is released. Put the newest copy of "
            "it back, or set PRIVCOV_LEDGER to another file."
        )
    return bool(start)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[int]:
    """Yield the lock file, open and held by this process alone; it is removed afterwards."""
    lock = beside(path, _LOCK)
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            mine = _leads_to(lock, handle)
        except BaseException:
            os.close(handle)
            raise
        if mine:  # else the previous holder removed the file, and another process may hold a new one
            break
        os.close(handle)
    try:
        yield handle
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _leads_to(lock: Path, handle: int) -> bool:
    """Return True when the name still leads to the open file; the previous holder of the lock may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), lock.stat())
    except FileNotFoundError:
        return False


# --- anew ---------------------------------------------------------------------------------------------------


def archive(path: Path) -> Path:
    """Rename every file of a ledger; it can still be opened under the new name."""
    if path.is_dir():
        raise LedgerError(f"{path} is a folder, and no ledger. Give the path of the ledger's file.")
    there = [end for end in NAMES if beside(path, end).exists()]
    if not there:
        raise LedgerError(f"There is no ledger at {path}: it begins by itself with the first limit.")
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S%fZ")
    aside = path.with_name(f"{path.stem}.until-{stamp}{path.suffix}")
    with _without_writers(path):
        # A process that is killed here leaves some of the files: the ledger is refused until the command is repeated.
        for end in NAMES:
            with contextlib.suppress(FileNotFoundError):
                os.rename(beside(path, end), beside(aside, end))
        sync_folder(path.parent)
    return aside


@contextlib.contextmanager
def _without_writers(path: Path) -> Iterator[None]:
    """Hold the exclusive lock of the database, if it can be opened, with all of its content in its one file."""
    if not _opens(path):
        yield
        return
    with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as problem:
            raise LedgerError(
                f"The ledger {path} is in use by another process ({problem}). End that one, and give the command again."
            ) from None
        yield
        connection.execute("ROLLBACK")


def _opens(path: Path) -> bool:
    try:
        if not _there(path):
            return False
        with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except (LedgerError, OSError, sqlite3.Error):
        return False
    return True
