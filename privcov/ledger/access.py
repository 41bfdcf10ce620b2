"""Access rights of the files of a ledger: its owner alone may read and write them.

The key, the secret behind fingerprints, tokens and seals, is 32 random bytes in such a file.
"""

from __future__ import annotations

import os
import secrets
import shlex
import stat
from pathlib import Path

# Endings: the database, SQLite's own files, the key and the counter.
NAMES = ("", "-wal", "-shm", "-journal", ".key", ".head")


def files_of(path: Path) -> list[Path]:
    """Return every file of a ledger."""
    return [path.with_name(path.name + end) for end in NAMES]


def check_access(path: Path) -> None:
    """Refuse a ledger whose files other users may read, write or replace."""
    folders = {path.parent.resolve()}
    for file in files_of(path):
        try:
            status = file.stat()
        except FileNotFoundError:  # not there yet, or removed by the last process that closed the database
            continue
        folders.add(file.resolve().parent)  # for a link, the folder of the file that it leads to
        if status.st_uid != os.geteuid():
            raise LedgerError(_owned_by_another(file))
        if stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) & 0o077:
            raise LedgerError(
                f"{file} is open to other users of this computer (mode {stat.S_IMODE(status.st_mode):03o}), so nothing "
                f"is released. Check that it is as you left it, then run: chmod 600 {shlex.quote(str(file))}"
            )
    for folder in sorted(folders):
        _check_folder(folder)


def _check_folder(folder: Path) -> None:
    """Refuse a folder of another user, or one in which other users may replace files."""
    status = folder.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise LedgerError(_owned_by_another(folder))
    if stat.S_IMODE(status.st_mode) & 0o022:
        raise LedgerError(
            f"Other users of this computer may replace files in {folder} (mode {stat.S_IMODE(status.st_mode):03o}), "
            "the ledger among them, so nothing is released. Put the ledger into a folder of its own, or run: "
            f"chmod go-w {shlex.quote(str(folder))}"
        )


def _owned_by_another(path: Path) -> str:
    return (
        f"{path} belongs to another user, so nothing is released. Use PrivCov as that user, or set PRIVCOV_LEDGER to a "
        "file of your own."
    )


class LedgerError(ValueError):
    """Raised where the ledger refuses or cannot be used; the message says why, and what helps."""


class LedgerUnusable(LedgerError):
    """Raised where the files cannot be read or written; a cost may have been entered already, and then counts."""


SIZE = 32


def unfinished(path: Path) -> Path:
    """Return the temporary file of a key."""
    return path.with_name(f"{path.name}.new")


def make_key(path: Path) -> bytes:
    """Write a new key to a new file, as a whole or not at all."""
    key, fresh = secrets.token_bytes(SIZE), unfinished(path)
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return key


def read_key(path: Path) -> bytes:
    """Return the key in the file."""
    key = path.read_bytes()
    if len(key) != SIZE:
        raise OSError(f"the key file {path.name} does not hold {SIZE} bytes; put the old key file back")
    return key
