"""A file in another encoding as a stream of UTF-8, so that everything after it reads one encoding."""

from __future__ import annotations

import codecs
import gzip
import io
from typing import Any

from privcov.table_files.facts import TableFileError

_CHUNK = 1 << 20


class Recoded(io.RawIOBase):
    """The text of a stream in another encoding, in UTF-8, read from its beginning to its end.

    The stream is closed with this one. wrong: message of the TableFileError for bytes that are not of the ``encoding``.
    """

    def __init__(self, stream: gzip.GzipFile | io.FileIO, encoding: str, wrong: str) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder(encoding)()
        self._wrong, self._ready, self._ended = wrong, b"", False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, space: Any) -> int:
        """Fill the space, wholly where the stream has as much."""
        view, at = memoryview(space).cast("B"), 0
        while at < len(view) and self._more():
            now = self._ready[: len(view) - at]
            view[at : at + len(now)] = now
            at, self._ready = at + len(now), self._ready[len(now) :]
        return at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Read on to an offset from the beginning; the stream has just been opened."""
        assert whence == 0, "a stream that is decoded has no other places"
        left = offset
        while left and (some := self.read(min(left, _CHUNK))):
            left -= len(some)
        return offset - left

    def close(self) -> None:
        """Close both streams."""
        self._stream.close()
        super().close()

    def _more(self) -> bool:
        """Return whether there is more text, after decoding some where none is ready."""
        while not self._ready and not self._ended:
            some = self._stream.read(_CHUNK)
            self._ended = not some
            try:
                self._ready = self._decoder.decode(some, final=self._ended).encode("utf-8")
            except UnicodeError:
                raise TableFileError(self._wrong) from None
        return bool(self._ready)
