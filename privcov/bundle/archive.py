"""Read a bundle, a folder or a zip, into memory; nothing in it is followed, run or trusted."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from pathlib import Path

MAX_FILES = 200
MAX_BYTES = 2**27  # of all files together; the largest bundle has about 40 MB
# The most bytes of a file, by its name; the first pattern that fits counts. No other file is unpacked.
SIZES = {
    r"manifest\.json": 2**16,
    r"(guarantee|ledger_entry|declaration)\.json|verify\.py|[a-z_A-Z]+\.txt|report\.html": 2**22,
    r"measurement\.json|extras/[a-z_]+\.(csv|svg|py|R)|matrices/[a-z_]+\.csv": 2**24,
    r"matrices\.npz": 2**25,
}
# What zip programs add of their own to an entry: times and owners.
_TIMES = {0x000A, 0x5455, 0x5855, 0x7855, 0x7875}


class BundleError(Exception):
    """What does not hold, in one sentence."""


def ensure(holds: bool, sentence: str) -> None:
    """Raise `BundleError` with the sentence where it does not hold."""
    if not holds:
        raise BundleError(sentence)


def read_place(place: Path) -> dict[str, bytes]:
    """Return bytes by path in the bundle, unpacking nothing; raise `BundleError` for links, strange names and sizes."""
    ensure(os.path.lexists(place), f"there is no bundle at {str(place)!a}")
    return _folder(place) if place.is_dir() else _zip(place)


def _folder(place: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    waiting = [(place, "")]
    while waiting:
        here, prefix = waiting.pop()
        for entry in sorted(os.scandir(here), key=lambda e: e.name):
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                ensure(prefix.count("/") < 2, f"unlisted folder {name!a}")
                waiting.append((Path(entry.path), f"{name}/"))
                continue
            ensure(stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode), f"{name!a} is a link, and no file")
            with open(entry.path, "rb") as file:
                raw = file.read(_most(name) + 1)
            _check_size(name, len(raw))
            files[name] = raw
            ensure(sum(map(len, files.values())) <= MAX_BYTES, "it has more bytes than any bundle")
    return files


def _most(name: str) -> int:
    most = next((most for form, most in SIZES.items() if re.fullmatch(form, name)), None)
    ensure(most is not None, f"{name!a} is not a file of a bundle")
    assert most is not None
    return most


def _check_size(name: str, size: int) -> None:
    most = _most(name)
    ensure(size <= most, f"{name} has more than the {most:,} bytes of any bundle")


def _zip(place: Path) -> dict[str, bytes]:
    ensure(place.is_file() and place.stat().st_size <= MAX_BYTES, "it is neither a folder nor a zip of a bundle's size")
    try:
        whole = place.read_bytes()
    except OSError as bad:
        raise BundleError(f"it is no zip that can be read ({type(bad).__name__})") from None
    return read_zip(whole)


def read_zip(whole: bytes) -> dict[str, bytes]:
    """Return bytes by path inside a zip that is in memory; raises as `read_place`."""
    try:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            return _members(archive, whole)
    except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError, OSError, zlib.error, struct.error) as bad:
        raise BundleError(f"it is no zip that can be read ({type(bad).__name__})") from None


def _members(archive: zipfile.ZipFile, whole: bytes) -> dict[str, bytes]:
    """Return the files of a zip, also of one that another program packed again.

    Refuses gaps, comments and second entries of a name, in which another reader would find another file.
    """
    infos, files = archive.infolist(), dict[str, bytes]()
    ensure(len(infos) <= MAX_FILES and not archive.comment, "it has more files than any bundle, or a comment")
    ensure(sum(i.file_size for i in infos) <= MAX_BYTES, "it has more bytes than any bundle")
    inside = _folder_of([i.filename for i in infos])
    end = 0
    for info in sorted(infos, key=lambda i: i.header_offset):
        name = info.filename
        ensure(
            name.isascii() and name == info.orig_filename and "\\" not in name and ":" not in name, f"odd name {name!a}"
        )
        kind = stat.S_IFMT(info.external_attr >> 16)
        folder = name.endswith("/") and info.file_size == 0 and kind in (0, stat.S_IFDIR)
        parts = name[: -1 if folder else None].split("/")
        ensure(not {"", ".", ".."} & set(parts), f"{name!a} leads out of the folder, or names no file")
        ensure(name.lower() not in {other.lower() for other in files}, f"{name!a} is there twice")
        ensure(folder or kind in (0, stat.S_IFREG), f"{name!a} is a link, and no file")
        ensure(not info.flag_bits & 0x1 and info.compress_type in (0, 8), f"{name!a} is packed oddly")
        ensure(not info.comment and _only_times(info.extra), f"{name!a} is packed oddly")
        ensure(info.header_offset == end, f"something unlisted lies before {name!a}")
        files[name], end = _content(info, whole, inside)
    ensure(archive.start_dir == end, "something unlisted lies behind the last file")
    list_bytes = sum(46 + len(i.filename) + len(i.extra) for i in infos)
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(infos), len(infos), list_bytes, end, 0)
    ensure(whole[end + list_bytes :] == last, "something unlisted lies in or behind the list of files")
    return {name[len(inside) :]: raw for name, raw in files.items() if not name.endswith("/")}


def _folder_of(names: list[str]) -> str:
    """Return the one folder in which all files are, with its slash; "" where they are not in one."""
    first = names[0].partition("/")[0] + "/" if names else ""
    return first if f"{first}manifest.json" in names and all(name.startswith(first) for name in names) else ""


def _only_times(extra: bytes) -> bool:
    """Return whether an entry holds nothing beside its file but times and owners."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<2H", extra)
        if kind not in _TIMES or size > len(extra) - 4:
            return False
        extra = extra[4 + size :]
    return not extra


def _content(info: zipfile.ZipInfo, whole: bytes, inside: str) -> tuple[bytes, int]:
    """Return one file and where it ends.

    A reader that follows the header before it, and not the list at the end, finds the same.
    """
    name = info.filename
    if not name.endswith("/"):
        _check_size(name[len(inside) :], info.file_size)
    start = info.header_offset
    sign, _, flags, method, _, _, *stated, extra = struct.unpack_from("<4s5H3L2H", whole, start)
    listed = [info.CRC, info.compress_size, info.file_size, len(name)]
    first = start + 30 + len(name) + extra
    end = first + info.compress_size
    if flags & 0x8 and stated[:3] == [0, 0, 0]:  # the sizes follow the file
        end += 4 * whole.startswith(b"PK\7\x08", end)
        stated[:3] = struct.unpack_from("<3L", whole, end)
        end += 12
    ensure(
        (sign, flags, method) == (b"PK\3\4", info.flag_bits, info.compress_type)
        and stated == listed
        and whole.startswith(name.encode(), start + 30)
        and _only_times(whole[start + 30 + len(name) : first]),
        f"{name!a} has another header than the list says",
    )
    raw, complete = whole[first : first + info.compress_size], True
    if info.compress_type:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        raw = unpacking.decompress(raw, info.file_size + 1)
        complete = unpacking.eof and not unpacking.unused_data
    ensure(complete and len(raw) == info.file_size, f"something unlisted lies behind {name!a}")
    ensure(zlib.crc32(raw) == info.CRC, f"{name!a} was changed")
    return raw, end
