"""The file of a ledger: its place, its tables, and how it is opened.

Triggers of the tables refuse to delete a row, to rewrite a cost and to move a state back. Every use of the tables,
reading included, holds the write lock of the database and begins with the check of the chain, unless the file is
unchanged since the last check. So the database has no write-ahead log: its one file changes with every commit.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import hmac
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from privcov.ledger.access import LedgerError, LedgerUnusable, check_access, read_key
from privcov.ledger.chain import SCHEMA, BrokenChain, Chain, Head
from privcov.ledger.counter import BrokenCounter, Checkpoint, Counter
from privcov.ledger.creation import ANEW, beside, create_if_missing, lost_error

FORMAT = "2"  # of the tables and of what is written in them
BUT_FOR_N = "json_replace({}, '$.facts.n', 'public')"  # a request without its public n, which a changed table changes
_BUSY_SECONDS = 30
_TABLES = (
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    """CREATE TABLE IF NOT EXISTS limits (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, guarantee TEXT NOT NULL, set_at TEXT NOT NULL) STRICT""",
    """CREATE TABLE IF NOT EXISTS transactions (
  id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'committed', 'stored', 'failed')),
  kind TEXT NOT NULL CHECK (kind IN ('pure', 'zcdp')), amount TEXT NOT NULL, request TEXT NOT NULL,
  fingerprint TEXT NOT NULL, reserved_at TEXT NOT NULL, worker TEXT NOT NULL DEFAULT '', answer TEXT) STRICT""",
    "CREATE INDEX IF NOT EXISTS costs_of ON transactions (name, kind, amount)",
    f"CREATE INDEX IF NOT EXISTS like ON transactions (name, {BUT_FOR_N.format('request')})",
    "CREATE INDEX IF NOT EXISTS marks_of ON transactions (fingerprint, name)",
    """CREATE TRIGGER IF NOT EXISTS rows_stay BEFORE DELETE ON transactions BEGIN
  SELECT RAISE(ABORT, 'a ledger row is never deleted'); END""",
    """CREATE TRIGGER IF NOT EXISTS costs_stay BEFORE UPDATE OF id, token, name, kind, amount, request, fingerprint,
  reserved_at ON transactions BEGIN SELECT RAISE(ABORT, 'a ledger row is never rewritten'); END""",
    """CREATE TRIGGER IF NOT EXISTS states_go_on BEFORE UPDATE OF state, answer ON transactions
  WHEN NOT ((OLD.state = 'reserved' AND NEW.state = 'committed' AND NEW.answer IS NULL)
    OR (OLD.state = 'committed' AND NEW.state = 'failed' AND NEW.answer IS NULL)
    OR (OLD.state = 'committed' AND NEW.state = 'stored' AND NEW.answer IS NOT NULL))
  BEGIN SELECT RAISE(ABORT, 'a ledger row only goes on'); END""",
    """CREATE TRIGGER IF NOT EXISTS limits_stay BEFORE DELETE ON limits BEGIN
  SELECT RAISE(ABORT, 'the history of a limit is never deleted'); END""",
    """CREATE TRIGGER IF NOT EXISTS limits_hold BEFORE UPDATE ON limits BEGIN
  SELECT RAISE(ABORT, 'the history of a limit is never rewritten'); END""",
)


def default_path() -> Path:
    """Return the path in PRIVCOV_LEDGER, else one in the user's data folder: a cache folder may be emptied."""
    value = os.environ.get("PRIVCOV_LEDGER")
    if value:
        return Path(value).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "privcov" / "ledger.sqlite"
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "privcov" / "ledger.sqlite"


class LedgerFile:
    """One SQLite file, with the key that seals its records and its counter in the same folder; made on first use.

    ``path`` is absolute. Raises LedgerError where the files cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path = path.absolute()  # the working directory may change
        try:
            create_if_missing(path, self._fill)
            check_access(path)
            self._read_key()
        except (OSError, sqlite3.Error) as problem:
            raise self._unusable(problem) from None
        with self._alone() as connection:
            self.counter.tidy()
            self._check_key(connection)
        with self.connect():
            pass

    @contextlib.contextmanager
    def connect(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Check the chain and yield a connection; with ``write`` its changes are one transaction on the disk."""
        with self._alone() as connection:
            before = self._settled(connection)
            yield connection
            if write and (after := Chain.head(connection)) != before:
                self._commit(connection, before, after)

    # --- the chain and the counter ------------------------------------------------------------------------------

    def _settled(self, connection: sqlite3.Connection) -> Head:
        """Check chain and counter, settle on the head of the chain, and return it; LedgerError where they disagree."""
        self._check_key(connection)
        if not Chain.exists(connection):
            raise lost_error(self.path)
        checkpoint = self._read_counter()
        unchanged = checkpoint is not None and checkpoint.mark == self._mark and not checkpoint.next
        # With a write-ahead log changes would leave the file as it was.
        alone = connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        if unchanged and checkpoint is not None and checkpoint.settled == Chain.head(connection) and alone:
            return checkpoint.settled
        try:
            head = self.chain.verified(connection)
        except BrokenChain:
            raise self.altered() from None
        if checkpoint is None:
            raise LedgerError(
                f"The counter {self.counter.path} is missing, so it cannot be told whether this ledger is the newest, "
                f"and nothing is released. Put the file back; if it is lost, begin without the record: {ANEW}"
            )
        if not checkpoint.allows(head):
            raise LedgerError(
                f"The ledger {self.path} is an older or another copy: the counter next to it does not name the last "
                f"of its {head.steps} steps, so nothing is released. Put the newest copy of all its files back; if "
                f"there is none, begin without the record: {ANEW}"
            )
        self.counter.write(Checkpoint(head, mark=self._mark))
        return head

    @property
    def _mark(self) -> str:
        """Inode, size and times of the database, which the caller has locked."""
        s = self.path.stat()
        return f"{s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}"

    def _commit(self, connection: sqlite3.Connection, before: Head | None, after: Head) -> None:
        """Commit the database between the two writes of the counter."""
        self.counter.write(Checkpoint(before, after))
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        if Chain.head(connection) == after:  # else another process has gone on, and settled it
            self.counter.write(Checkpoint(after, mark=self._mark))

    def _fill(self) -> None:
        """Make the tables of a new ledger and the first record; the key exists, and the lock file is held."""
        self._read_key()
        if (checkpoint := self._read_counter()) is not None and checkpoint.settled is not None:
            raise lost_error(self.path)  # the counter has a settled head, so this ledger is not a new one
        with self._alone() as connection:
            for statement in (*_TABLES, *SCHEMA):
                connection.execute(statement)
            connection.executemany("INSERT INTO facts VALUES (?, ?)", (("key", self._key_check), ("format", FORMAT)))
            self.chain.begin(connection, datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))
            self._commit(connection, None, Chain.head(connection))

    def _read_counter(self) -> Checkpoint | None:
        try:
            return self.counter.read()
        except BrokenCounter:
            raise LedgerError(
                f"The counter {self.counter.path} was altered or belongs to another ledger, so nothing is released. "
                "Put the newest copy of all files of the ledger back; if there is none, begin without the record: "
                f"{ANEW}"
            ) from None

    def altered(self) -> LedgerError:
        """Return the error for rows that are not the recorded ones."""
        return LedgerError(
            f"The ledger {self.path} was altered by something else than PrivCov, so nothing is released. Put the "
            f"newest copy of all its files back; if there is none, begin without the record: {ANEW}"
        )

    # --- the key ------------------------------------------------------------------------------------------------

    def _read_key(self) -> None:
        self.key = read_key(beside(self.path, ".key"))
        self.chain = Chain(self.key)
        # Of a link the target is replaced, because another path may lead there too.
        self.counter = Counter(beside(self.path, ".head").resolve(), self.key)
        self._key_check = hmac.new(self.key, b"check", hashlib.sha256).hexdigest()

    def _check_key(self, connection: sqlite3.Connection) -> None:
        """Raise LedgerError where the database was made with another key, or in another form."""
        try:
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
        except sqlite3.OperationalError:  # a database, and no ledger
            facts = {}
        if "key" not in facts:
            raise lost_error(self.path)
        if facts.get("format") != FORMAT:
            raise LedgerError(
                f"The ledger {self.path} is of another version of PrivCov, which this one does not read, so nothing is "
                f"released. Use that version, or begin without the record, which is kept under another name: {ANEW}"
            )
        if facts["key"] != self._key_check:
            raise LedgerError(
                f"The key file beside {self.path} is not the one this ledger was made with, so tables would not be "
                "recognised. Put the old key file back."
            )

    # --- the database -------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that holds the exclusive lock; uncommitted changes are undone at the end."""
        try:
            check_access(self.path)
            if not self.path.exists():
                raise lost_error(self.path)
            where = f"{self.path.absolute().as_uri()}?mode=rw"  # never makes the file
            with contextlib.closing(
                sqlite3.connect(where, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        except (sqlite3.Error, OSError) as problem:
            raise self._unusable(problem) from None

    def _unusable(self, problem: Exception) -> LedgerUnusable:
        return LedgerUnusable(
            f"The ledger {self.path} cannot be used ({problem}), so nothing is released. "
            "Make it readable and writable, or set PRIVCOV_LEDGER to a file that is."
        )
