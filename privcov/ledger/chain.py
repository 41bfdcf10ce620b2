"""The chain of a ledger: one sealed record for every step, so that a row cannot be changed, added or left out.

A step is a limit that was set, or a release that was reserved, committed, stored or failed. Its seal is a keyed hash of
the seal before it and of every field that the row has at that step; an answer enters by its SHA-256. Fields never
change and states only go forward, so the row at any earlier step follows from the present one. The whole chain is
computed again each time the ledger is used, and an answer is compared with its hash when it is read.

An older copy of the ledger is a valid chain too, only shorter. So the head of the chain, which is its number of steps
and the last seal, is stored a second time in a file next to the key (`privcov.ledger.counter`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from dataclasses import dataclass

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS chain (
  step INTEGER PRIMARY KEY, subject TEXT NOT NULL CHECK (subject IN ('ledger', 'limit', 'release')),
  number INTEGER NOT NULL, state TEXT NOT NULL, note TEXT NOT NULL, seal TEXT NOT NULL) STRICT""",
    "CREATE INDEX IF NOT EXISTS steps_of ON chain (subject, number)",
    """CREATE TRIGGER IF NOT EXISTS chain_stays BEFORE DELETE ON chain BEGIN
  SELECT RAISE(ABORT, 'a record of the chain is never deleted'); END""",
    """CREATE TRIGGER IF NOT EXISTS chain_holds BEFORE UPDATE ON chain BEGIN
  SELECT RAISE(ABORT, 'a record of the chain is never rewritten'); END""",
)
_RELEASE = ("token", "name", "kind", "amount", "request", "fingerprint", "reserved_at")


class BrokenChain(Exception):
    """Raised where the rows are not the recorded ones."""


@dataclass(frozen=True)
class Head:
    """The end of a chain: the number of records, and the seal of the last one."""

    steps: int
    seal: str


class Chain:
    """The records of a ledger; every method works inside the caller's exclusive transaction."""

    def __init__(self, key: bytes) -> None:
        self._key = hmac.new(key, b"chain", hashlib.sha256).digest()

    @staticmethod
    def exists(connection: sqlite3.Connection) -> bool:
        """Return True when the ledger has a chain."""
        return bool(
            connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'chain' AND type = 'table'").fetchone()
        )

    def begin(self, connection: sqlite3.Connection, note: str) -> None:
        """Write the first record."""
        self._record(connection, "ledger", 0, "begun", note, [])

    def enter_limit(self, connection: sqlite3.Connection, name: str, guarantee: str, set_at: str) -> None:
        """Add a row to the limits, with its record."""
        (number,) = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM limits").fetchone()
        self._record(connection, "limit", number, "set", "", [name, guarantee, set_at])
        connection.execute("INSERT INTO limits VALUES (?, ?, ?, ?)", (number, name, guarantee, set_at))

    def enter_release(self, connection: sqlite3.Connection, **fields: str) -> None:
        """Add a reserved row to the transactions, with its record."""
        values = [fields[name] for name in _RELEASE]
        (number,) = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM transactions").fetchone()
        self._record(connection, "release", number, "reserved", "", [*values, ""])
        names, places = ", ".join(_RELEASE), ", ".join("?" * len(_RELEASE))
        connection.execute(
            f"INSERT INTO transactions (id, state, {names}) VALUES (?, 'reserved', {places})", (number, *values)
        )

    def move(
        self,
        connection: sqlite3.Connection,
        token: str,
        state: str,
        worker: str | None = None,
        answer: str | None = None,
    ) -> None:
        """Move the row of a token to ``state``; a ``worker`` of None keeps the one that is entered."""
        number, entered, *fields = connection.execute(
            f"SELECT id, worker, {', '.join(_RELEASE)} FROM transactions WHERE token = ?", (token,)
        ).fetchone()
        worker = entered if worker is None else worker
        self._record(connection, "release", number, state, digest(answer), [*fields, worker])
        connection.execute(
            "UPDATE transactions SET state = ?, worker = ?, answer = ? WHERE id = ?", (state, worker, answer, number)
        )

    @staticmethod
    def head(connection: sqlite3.Connection) -> Head:
        """Return the end of the chain as stored, unchecked."""
        return Head(
            *(connection.execute("SELECT step, seal FROM chain ORDER BY step DESC LIMIT 1").fetchone() or (0, ""))
        )

    def verified(self, connection: sqlite3.Connection) -> Head:
        """Compute the seals of all records again from the rows, and return the head."""
        rows: dict[tuple[str, int], tuple[str, str, list]] = {("ledger", 0): ("", "", [])}
        limits = connection.execute("SELECT id, name, guarantee, set_at FROM limits ORDER BY id").fetchall()
        rows |= {("limit", number): ("set", "", fields) for number, *fields in limits}
        query = f"SELECT id, state, worker, {', '.join(_RELEASE)} FROM transactions ORDER BY id"
        for number, state, worker, *fields in connection.execute(query).fetchall():
            rows["release", number] = (state, worker, fields)
        states, head = {}, Head(0, "")
        for step, subject, number, state, note, seal in connection.execute(
            "SELECT step, subject, number, state, note, seal FROM chain ORDER BY step"
        ):
            if (subject, number) not in rows:
                raise BrokenChain
            _, worker, fields = rows[subject, number]
            if subject == "release":
                fields = [*fields, "" if state == "reserved" else worker]
            if step != head.steps + 1 or seal != self._seal(head, subject, number, state, note, fields):
                raise BrokenChain
            states[subject, number], head = state, Head(step, seal)
        complete = {**states, ("ledger", 0): ""} == {row: state for row, (state, _, _) in rows.items()}
        if not complete or any(state == "reserved" and worker for state, worker, _ in rows.values()):
            raise BrokenChain
        return head

    @staticmethod
    def read_answer(connection: sqlite3.Connection, token: str) -> str | None:
        """Return the stored answer of a token, None where there is none."""
        row = connection.execute("SELECT id, answer FROM transactions WHERE token = ?", (token,)).fetchone()
        if row is None:
            return None
        number, answer = row
        (note,) = connection.execute(
            "SELECT note FROM chain WHERE subject = 'release' AND number = ? ORDER BY step DESC LIMIT 1", (number,)
        ).fetchone()
        if note != digest(answer):
            raise BrokenChain
        return answer

    def _record(
        self, connection: sqlite3.Connection, subject: str, number: int, state: str, note: str, fields: list[str]
    ) -> None:
        head = self.head(connection)
        row = (head.steps + 1, subject, number, state, note, self._seal(head, subject, number, state, note, fields))
        connection.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)", row)

    def _seal(self, before: Head, subject: str, number: int, state: str, note: str, fields: list[str]) -> str:
        words = json.dumps([before.steps + 1, before.seal, subject, number, state, note, fields])
        return hmac.new(self._key, words.encode(), hashlib.sha256).hexdigest()


def digest(answer: str | None) -> str:
    """Return the hash by which an answer enters the chain."""
    return "" if answer is None else hashlib.sha256(answer.encode()).hexdigest()
