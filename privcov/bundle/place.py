"""A bundle as it lies somewhere, a folder or a zip, read into memory with nothing followed, run or trusted."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from pathlib import Path

MOST_FILES = 200
MOST_BYTES = 2**28  # of all files together; the largest bundle has some 40 MB


class Wrong(Exception):
    """What does not hold, in one sentence."""


def must(holds: bool, sentence: str) -> None:
    """Raises `Wrong` with the sentence where it does not hold."""
    if not holds:
        raise Wrong(sentence)


def read_place(place: Path) -> dict[str, bytes]:
    """Path inside the bundle -> bytes. Raises `Wrong` for links, strange names and sizes; nothing is unpacked."""
    must(os.path.lexists(place), f"there is no bundle at {str(place)!a}")
    return _folder(place) if place.is_dir() else _zip(place)


def _folder(place: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left, waiting = MOST_BYTES, [(place, "")]
    while waiting:
        here, prefix = waiting.pop()
        for entry in sorted(os.scandir(here), key=lambda e: e.name):
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                must(prefix.count("/") < 2, f"unlisted folder {name!a}")
                waiting.append((Path(entry.path), f"{name}/"))
                continue
            must(stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode), f"{name!a} is a link, and no file")
            with open(entry.path, "rb") as file:
                raw = file.read(left + 1)
            left -= len(raw)
            must(left >= 0 and len(found) < MOST_FILES, "it has more files or bytes than any bundle")
            found[name] = raw
    return found


def _zip(place: Path) -> dict[str, bytes]:
    must(place.is_file() and place.stat().st_size <= MOST_BYTES, "it is neither a folder nor a zip of a bundle's size")
    try:
        with zipfile.ZipFile(place) as archive:
            return _members(archive, place.stat().st_size)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OSError, zlib.error) as bad:
        raise Wrong(f"it is no zip that can be read ({type(bad).__name__})") from None


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, bytes]:
    """The files of a zip. No gap, comment or second entry of a name in which another reader would find another file."""
    infos, left = archive.infolist(), MOST_BYTES
    found: dict[str, bytes] = {}
    must(len(infos) <= MOST_FILES and not archive.comment, "it has more files than any bundle, or a comment")
    end = 0
    for info in sorted(infos, key=lambda i: i.header_offset):
        name = info.filename
        parts = name.split("/")
        must(
            name.isascii() and name == info.orig_filename and "\\" not in name and ":" not in name, f"odd name {name!a}"
        )
        must(not {"", ".", ".."} & set(parts), f"{name!a} leads out of the folder, or is none of a file")
        must(name.lower() not in {other.lower() for other in found}, f"{name!a} is there twice")
        must(stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG), f"{name!a} is a link, and no file")
        must(not info.flag_bits & 0x9 and info.compress_type in (0, 8) and not info.extra, f"{name!a} is packed oddly")
        must(info.header_offset == end, f"something unlisted lies before {name!a}")
        end = info.header_offset + 30 + len(name) + info.compress_size
        with archive.open(info) as file:
            raw = file.read(left + 1)
        left -= len(raw)
        must(left >= 0 and len(raw) == info.file_size, "it has more bytes than any bundle")
        found[name] = raw
    must(archive.start_dir == end, "something unlisted lies behind the last file")
    directory = sum(46 + len(i.filename) for i in infos)
    must(size == end + directory + 22, "something unlisted lies in or behind the list of files")
    return found
