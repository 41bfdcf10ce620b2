"""Who may read and write the files of a ledger: its owner, and nobody else."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from privcov.ledger.errors import LedgerError

# The database, what SQLite keeps beside it, the key and the counter.
NAMES = ("", "-wal", "-shm", "-journal", ".key", ".head")


def check_access(path: Path) -> None:
    """LedgerError, with the command that helps, where others may read or write the ledger's files or swap them.

    Windows keeps no such bits; there the folder of the user's own data is the protection.
    """
    if os.name == "nt":
        return
    folders = {path.parent.resolve()}
    for file in (path.with_name(path.name + end) for end in NAMES):
        try:
            found = file.stat()
        except FileNotFoundError:  # not there yet, or the last process to close the database took it away
            continue
        folders.add(file.resolve().parent)  # of a link: where the file is
        if found.st_uid != os.geteuid():
            raise LedgerError(_owned_by_another(file))
        if stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077:
            raise LedgerError(
                f"{file} is open to other users of this computer (mode {stat.S_IMODE(found.st_mode):03o}), so nothing "
                f"is released. Look whether it is as you left it, then run: chmod 600 {shlex.quote(str(file))}"
            )
    for folder in sorted(folders):
        _check_folder(folder)


def _check_folder(folder: Path) -> None:
    found = folder.stat()
    if found.st_uid not in (os.geteuid(), 0):
        raise LedgerError(_owned_by_another(folder))
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise LedgerError(
            f"Other users of this computer may replace files in {folder} (mode {stat.S_IMODE(found.st_mode):03o}), the "
            "ledger among them, so nothing is released. Put the ledger into a folder of its own, or run: "
            f"chmod go-w {shlex.quote(str(folder))}"
        )


def _owned_by_another(path: Path) -> str:
    return (
        f"{path} belongs to another user, so nothing is released. Use PrivCov as that user, or set PRIVCOV_LEDGER to a "
        "file of your own."
    )
