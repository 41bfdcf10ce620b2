"""The file of a ledger: where it lives, its tables, its key, and how it is opened.

The tables guard themselves: no row is deleted, no cost rewritten, and a state only goes forward.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import sqlite3
import sys
from pathlib import Path

from privcov.ledger.key import read_or_make_key

_BUSY_SECONDS = 30
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS limits (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, guarantee TEXT NOT NULL, set_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS transactions (
  id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'committed', 'stored', 'failed')),
  kind TEXT NOT NULL CHECK (kind IN ('pure', 'zcdp')), amount TEXT NOT NULL, request TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  different_from TEXT NOT NULL, reserved_at TEXT NOT NULL, worker TEXT NOT NULL DEFAULT '', answer TEXT) STRICT;
CREATE TRIGGER IF NOT EXISTS rows_stay BEFORE DELETE ON transactions BEGIN
  SELECT RAISE(ABORT, 'a ledger row is never deleted'); END;
CREATE TRIGGER IF NOT EXISTS costs_stay BEFORE UPDATE OF id, token, name, kind, amount, request, fingerprint,
  different_from, reserved_at ON transactions BEGIN SELECT RAISE(ABORT, 'a ledger row is never rewritten'); END;
CREATE TRIGGER IF NOT EXISTS states_go_on BEFORE UPDATE OF state, answer ON transactions
  WHEN NOT ((OLD.state = 'reserved' AND NEW.state = 'committed' AND NEW.answer IS NULL)
    OR (OLD.state = 'committed' AND NEW.state = 'failed' AND NEW.answer IS NULL)
    OR (OLD.state = 'committed' AND NEW.state = 'stored' AND NEW.answer IS NOT NULL))
  BEGIN SELECT RAISE(ABORT, 'a ledger row only goes on'); END;
CREATE TRIGGER IF NOT EXISTS limits_stay BEFORE DELETE ON limits BEGIN
  SELECT RAISE(ABORT, 'the history of a limit is never deleted'); END;
CREATE TRIGGER IF NOT EXISTS limits_hold BEFORE UPDATE ON limits BEGIN
  SELECT RAISE(ABORT, 'the history of a limit is never rewritten'); END;
"""


class LedgerError(ValueError):
    """Why nothing was released; one sentence with what helps."""


def default_path() -> Path:
    """PRIVCOV_LEDGER, else a file in the user's own data folder: a cache folder may be emptied, a ledger may not."""
    given = os.environ.get("PRIVCOV_LEDGER")
    if given:
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "privcov" / "ledger.sqlite"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home())) / "privcov" / "ledger.sqlite"
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "privcov" / "ledger.sqlite"


class LedgerFile:
    """One SQLite file and the key beside it, made on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self.key = read_or_make_key(path.with_name(path.name + ".key"))
        except OSError as problem:
            raise self._unusable(problem) from None
        check = hmac.new(self.key, b"check", hashlib.sha256).hexdigest()
        with self.link() as link:
            link.execute("PRAGMA journal_mode=WAL")
        with self.link() as link:
            link.executescript("BEGIN IMMEDIATE;" + _SCHEMA + "COMMIT;")
            link.execute("INSERT OR IGNORE INTO facts VALUES ('key', ?)", (check,))
            (known,) = link.execute("SELECT value FROM facts WHERE name = 'key'").fetchone()
        if known != check:
            raise LedgerError(
                f"The key file beside {path} is not the one this ledger was made with, so tables would not be "
                "recognised. Put the old key file back."
            )

    @contextlib.contextmanager
    def link(self, write: bool = False):
        """A connection of its own for every step; with ``write`` one exclusive transaction, on disk when it ends."""
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)) as link:
                link.execute("PRAGMA synchronous=FULL")
                if write:
                    link.execute("BEGIN IMMEDIATE")
                try:
                    yield link
                except BaseException:
                    if link.in_transaction:
                        link.execute("ROLLBACK")
                    raise
                if write:
                    link.execute("COMMIT")
        except sqlite3.Error as problem:
            raise self._unusable(problem) from None

    def _unusable(self, problem: Exception) -> LedgerError:
        return LedgerError(
            f"The ledger {self.path} cannot be used ({problem}), so nothing is released. "
            "Make it readable and writable, or set PRIVCOV_LEDGER to a file that is."
        )
