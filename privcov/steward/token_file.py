"""The token of the server that started last, in a file that its owner alone can read: for ``privcov app token``."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from privcov.ledger import default_path

_FOLDER, _FILE = 0o700, 0o600


class TokenFileError(OSError):
    """Error for a token that cannot be kept or read, in one sentence with the remedy."""


def token_path() -> Path:
    """Return the path of the file: in a folder of its own beside the ledger."""
    return default_path().parent / "server" / "token"


def write_token(token: str) -> None:
    """Keep the token in place of an earlier one, as a whole or not at all."""
    path = token_path()
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True, mode=_FOLDER)
        path.parent.mkdir(exist_ok=True, mode=_FOLDER)
        _check(path.parent, _FOLDER)
        if os.path.lexists(path):
            _check(path, _FILE)
        fresh.unlink(missing_ok=True)  # left by a process of the same number that was killed
        try:
            with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE), "w", encoding="ascii") as file:
                file.write(token)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except TokenFileError:
        raise
    except OSError as problem:
        raise TokenFileError(f"The token cannot be kept in {path} ({problem.strerror}).") from None


def read_token() -> str:
    """Return the token of the server that started last."""
    path = token_path()
    try:
        _check(path.parent, _FOLDER)
        _check(path, _FILE)
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise TokenFileError(
            f"There is no token in {path}: no server has started here, or PRIVCOV_TOKEN was set. Start one with "
            "privcov app, as the same user and with the same PRIVCOV_LEDGER."
        ) from None


def _check(path: Path, mode: int) -> None:
    """Raise TokenFileError for another owner, other rights or a link."""
    status = path.lstat()
    kind, rights = ("folder" if mode == _FOLDER else "file"), stat.S_IMODE(status.st_mode)
    if not (stat.S_ISDIR if mode == _FOLDER else stat.S_ISREG)(status.st_mode) or status.st_uid != os.geteuid():
        raise TokenFileError(
            f"{path} must be a {kind} of the user who runs PrivCov, and is none. Remove it; the next start makes it."
        )
    if rights != mode:
        raise TokenFileError(
            f"The {kind} {path} must have mode {mode:04o}, and has {rights:04o}. Check that nobody else has changed "
            f"it, then run: chmod {mode:o} {shlex.quote(str(path))}"
        )
