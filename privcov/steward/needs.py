"""Estimates of the memory, disk and time that a release of a private table needs, beside what this computer has."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from privcov.core import parallel
from privcov.ledger.file import default_path
from privcov.tables.readers.csv_rows import BLOCK_BYTES

_LIBRARIES = 300e6
_PER_ENTRY_KEPT = 2 * 130  # bytes of an entry of the joint matrix in the ledger: the answer, and its journal
_PER_ENTRY_HELD = 600  # whole numbers of any size, and some matrices of floats
_COPIES = 40  # of a block of a file while it is read: 32 ahead, columns, whole numbers
_FLOPS = 2e9  # of one core, for a product of matrices


@dataclass(frozen=True, repr=False)
class Needs:
    """Estimated bytes and seconds, rounded up; what is free is None where the system does not report it."""

    memory: float
    memory_there: float | None
    disk: float
    disk_there: float | None
    seconds: float

    @property
    def sentence(self) -> str:
        """All of it in words, with a warning where something does not suffice."""
        short = [
            name
            for name, need, there in (("memory", self.memory, self.memory_there), ("disk", self.disk, self.disk_there))
            if there is not None and need > there
        ]
        text = (
            f"A release needs about {_size(self.memory)} of memory{_of(self.memory_there)}, {_size(self.disk)} of disk"
            f"{_of(self.disk_there)} and {_clock(self.seconds)}."
        )
        return f"{text} There is too little {' and '.join(short)}." if short else text


def needs(rows: int, d: int, classes: int, seconds: float, *, in_files: bool, ledger: Path | None = None) -> Needs:
    """Estimate what a release of d columns needs, by the seconds of one reading; ``in_files``: not held in memory."""
    entries, workers = (d + max(1, classes)) ** 2, parallel.workers()
    held = workers * _COPIES * BLOCK_BYTES if in_files else 3 * 8 * rows * d
    product = 2 * rows * entries / (_FLOPS * workers)
    place = ledger or default_path()
    while not place.exists() and place != place.parent:
        place = place.parent
    return Needs(
        _LIBRARIES + held + _PER_ENTRY_HELD * entries,
        _memory_there(),
        100_000 + _PER_ENTRY_KEPT * entries,
        shutil.disk_usage(place).free,
        seconds + product,
    )


def _memory_there() -> float | None:
    """Return the free memory of this computer, or of the container around this process."""
    free = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError):
        if "SC_AVPHYS_PAGES" in os.sysconf_names:
            free.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        most, now = (
            int(Path(f"/sys/fs/cgroup/memory.{name}").read_text(encoding="ascii")) for name in ("max", "current")
        )
        free.append(max(0, most - now))
    except (OSError, ValueError):  # no container, or one without a limit
        pass
    return min(free, default=None)


def _of(there: float | None) -> str:
    return "" if there is None else f" (of {_size(there)} free)"


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1, -(-count // 1e6)):,.0f} MB"


def _clock(seconds: float) -> str:
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
