"""Read a bundle, a folder or a zip, into memory; nothing in it is followed, run or trusted."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from pathlib import Path

MOST_FILES = 200
MOST_BYTES = 2**28  # of all files together; the largest bundle has about 40 MB


class Wrong(Exception):
    """What does not hold, in one sentence."""


def must(holds: bool, sentence: str) -> None:
    """Raise `Wrong` with the sentence where it does not hold."""
    if not holds:
        raise Wrong(sentence)


def read_place(place: Path) -> dict[str, bytes]:
    """Return bytes by path inside the bundle. Nothing is unpacked.

    Raises `Wrong` for links, strange names and sizes.
    """
    must(os.path.lexists(place), f"there is no bundle at {str(place)!a}")
    return _folder(place) if place.is_dir() else _zip(place)


def _folder(place: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
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
            must(left >= 0 and len(files) < MOST_FILES, "it has more files or bytes than any bundle")
            files[name] = raw
    return files


def _zip(place: Path) -> dict[str, bytes]:
    must(place.is_file() and place.stat().st_size <= MOST_BYTES, "it is neither a folder nor a zip of a bundle's size")
    try:
        whole = place.read_bytes()
    except OSError as bad:
        raise Wrong(f"it is no zip that can be read ({type(bad).__name__})") from None
    return read_zip(whole)


def read_zip(whole: bytes) -> dict[str, bytes]:
    """Return bytes by path inside a zip that is in memory; raises as `read_place`."""
    try:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            return _members(archive, whole)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
        OSError,
        zlib.error,
        struct.error,
    ) as bad:
        raise Wrong(f"it is no zip that can be read ({type(bad).__name__})") from None


def _members(archive: zipfile.ZipFile, whole: bytes) -> dict[str, bytes]:
    """Return the files of a zip.

    Refuses gaps, comments and second entries of a name, in which another reader would find another file.
    """
    infos, left = archive.infolist(), MOST_BYTES
    files: dict[str, bytes] = {}
    must(len(infos) <= MOST_FILES and not archive.comment, "it has more files than any bundle, or a comment")
    end = 0
    for info in sorted(infos, key=lambda i: i.header_offset):
        name = info.filename
        parts = name.split("/")
        must(
            name.isascii() and name == info.orig_filename and "\\" not in name and ":" not in name, f"odd name {name!a}"
        )
        must(not {"", ".", ".."} & set(parts), f"{name!a} leads out of the folder, or is none of a file")
        must(name.lower() not in {other.lower() for other in files}, f"{name!a} is there twice")
        must(stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG), f"{name!a} is a link, and no file")
        must(not info.flag_bits & 0x9 and info.compress_type in (0, 8) and not info.extra, f"{name!a} is packed oddly")
        must(info.header_offset == end, f"something unlisted lies before {name!a}")
        end = info.header_offset + 30 + len(name) + info.compress_size
        raw = _content(info, whole[info.header_offset : end], left)
        left -= len(raw)
        files[name] = raw
    must(archive.start_dir == end, "something unlisted lies behind the last file")
    directory = sum(46 + len(i.filename) for i in infos)
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(infos), len(infos), directory, end, 0)
    must(whole[end + directory :] == last, "something unlisted lies in or behind the list of files")
    return files


def _content(info: zipfile.ZipInfo, member: bytes, most: int) -> bytes:
    """Return one file. A reader that follows the header before it, and not the list at the end, finds the same."""
    sign, _, flags, method, _, _, *sizes, extra = struct.unpack_from("<4s5H3L2H", member)
    listed = [info.CRC, info.compress_size, info.file_size, len(info.filename)]
    must(
        (sign, flags, method, extra) == (b"PK\3\4", info.flag_bits, info.compress_type, 0)
        and sizes == listed
        and member[30 : 30 + len(info.filename)] == info.filename.encode(),
        f"{info.filename!a} has another header than the list says",
    )
    raw, ended = member[30 + len(info.filename) :], True
    if info.compress_type:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        raw = unpacking.decompress(raw, most + 1)
        ended = unpacking.eof and not unpacking.unused_data
    must(len(raw) <= most, "it has more bytes than any bundle")
    must(ended and len(raw) == info.file_size, f"something unlisted lies behind {info.filename!a}")
    must(zlib.crc32(raw) == info.CRC, f"{info.filename!a} was changed")
    return raw
