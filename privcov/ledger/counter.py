"""The counter: a file next to the key that says how long the chain of a ledger is.

The database and this file cannot be written in one step. So the file names the next head before the database commits,
and the head checkpoint afterwards, all under the lock of the database:

    settled = old              no step is being written
    settled = old, next = new  on disk before the database commits
    settled = new              on disk before the step counts as done

Beside the settled head stands the mark of the database, which is its inode, size and times: where the file still has
that mark, and no write-ahead log, it was not written to since the chain was checked, and the check need not be
repeated. Whoever resets the clock of the machine, or writes by a memory map that was dirty before, can hide a change
from the mark.

A process that takes the lock accepts the settled head, or the next one where there is one, and settles on the head of
the database. So the ledger can be used after a crash at any moment. After a crash between the commit and the settling,
a copy from before that one step is accepted as well. Nothing was drawn after the step, because no draw follows a step
before it is settled.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from pathlib import Path

from privcov.ledger.access import unfinished
from privcov.ledger.chain import Head

FORMAT = "privcov-ledger-head-2"


class BrokenCounter(Exception):
    """Raised where the file was not written with this key."""


@dataclass(frozen=True)
class Checkpoint:
    """Content of the counter: the settled head, None before the first, and the next one while a step is written.

    mark: of the database with the settled head.
    """

    settled: Head | None
    next: Head | None = None
    mark: str = ""

    def allows(self, head: Head) -> bool:
        """Return True for the settled head and for the next one."""
        return head in (self.settled, self.next)


class Counter:
    """The counter, sealed with a key; it is written only under the exclusive lock of the database."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.path, self._fresh = path, unfinished(path)
        self._key = hmac.new(key, b"counter", hashlib.sha256).digest()

    def read(self) -> Checkpoint | None:
        """Return the content of the file, None where there is no file."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise BrokenCounter from None
        try:
            fields = json.loads(text)
            heads = [None if h is None else Head(*h) for h in (fields["settled"], fields["next"])]
            checkpoint = Checkpoint(heads[0], heads[1], fields["mark"])
        except (ValueError, TypeError, KeyError):
            raise BrokenCounter from None
        if text != self._text(checkpoint):
            raise BrokenCounter
        return checkpoint

    def write(self, checkpoint: Checkpoint) -> None:
        """Replace the content, as a whole or not at all; it is on disk when this returns."""
        self.tidy()
        try:
            with os.fdopen(os.open(self._fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
                file.write(self._text(checkpoint))
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._fresh, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                self.tidy()
            raise
        sync_folder(self.path.parent)

    def tidy(self) -> None:
        """Remove the unfinished file of a process that was killed while it wrote."""
        self._fresh.unlink(missing_ok=True)

    def _text(self, checkpoint: Checkpoint) -> str:
        heads = [None if h is None else [h.steps, h.seal] for h in (checkpoint.settled, checkpoint.next)]
        fields = {"format": FORMAT, "settled": heads[0], "next": heads[1], "mark": checkpoint.mark}
        seal = hmac.new(self._key, json.dumps(fields).encode(), hashlib.sha256).hexdigest()
        return json.dumps({**fields, "seal": seal}) + "\n"


def sync_folder(folder: Path) -> None:
    """Write the names in the folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
