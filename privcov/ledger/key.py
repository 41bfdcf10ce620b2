"""The secret behind fingerprints and tokens: 32 bytes from the operating system in a file only its owner reads."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

SIZE = 32


def read_or_make_key(path: Path) -> bytes:
    """The key in the file, made once; several processes at once agree on one. Raises OSError where that fails."""
    if not path.exists():
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(SIZE))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)  # complete or not at all, and never over another one
        finally:
            fresh.unlink(missing_ok=True)
    key = path.read_bytes()
    if len(key) != SIZE:
        raise OSError(f"the key file {path.name} does not hold {SIZE} bytes")
    if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise OSError(f"the key file {path.name} can be read by others; make it readable by its owner only (chmod 600)")
    return key
