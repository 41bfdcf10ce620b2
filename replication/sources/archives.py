"""Arrays of an npz file from outside: no pickles, and no file that unpacks to more than the limit."""

from __future__ import annotations

import io
import zipfile
import zlib

import numpy as np

from replication.sources.papers import MAX_BYTES


def arrays(raw: bytes, title: str) -> dict[str, np.ndarray]:
    """Read the arrays of an npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile:
        raise _damaged(title) from None
    if total > MAX_BYTES:
        raise ValueError(f"this file unfolds to {total / 1e6:,.0f} MB, and the limit is {MAX_BYTES / 1e6:,.0f}.")
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    # numpy raises ValueError for pickled objects and for wrong headers, MemoryError for headers with too large sizes
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, MemoryError, NotImplementedError):
        raise _damaged(title) from None


def _damaged(title: str) -> ValueError:
    return ValueError(f"this npz file is damaged or holds more than arrays: write the {title} set with numpy.savez.")
