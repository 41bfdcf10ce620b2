"""The secret behind fingerprints, tokens and seals: 32 random bytes in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

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
