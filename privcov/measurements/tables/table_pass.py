"""The pass over the files of a table: parts to workers, progress by the block, and an end when it is asked for.

A worker never raises what might carry a cell: it sends back a sentence. Nothing is written anywhere, so a pass that is
interrupted, or whose cluster is lost, leaves nothing behind. A worker of a cluster may write results to its disk when
its memory runs short: sums of private rows come back sealed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from privcov import engine
from privcov.dataset import FileRows, Progress
from privcov.measurements.tables.sealing import KEY_BYTES, opened, sealed
from privcov.measurements.tables.table_sums import BLOCK_ROWS, PUBLIC_BLOCK_ROWS, Adding, Sums, SumSpec
from privcov.public_facts import MOST_FILE_ROWS
from privcov.table_files import Part, TableFileError, blocks_of, parts_of

_FEW_CELLS = 100_000  # numpy has summed a part of so few before numba is imported


@dataclass(frozen=True)
class Refused:
    """What a worker sends back in place of an exception, whose text or traceback might hold a cell."""

    sentence: str
    of_file: bool = False  # the reader refused the file, in its own words


class PassError(RuntimeError):
    """A pass over a table failed; one sentence that says nothing about what the cells hold."""


def sum_part(task: tuple[Part, SumSpec]) -> Sums | bytes | Refused:
    """The sums of one part, in whatever process or thread it is; as bytes where they are asked for under a seal.

    Never raises what might carry a cell.
    """
    part, ask = task
    pulse = _PULSES.get(ask.run)
    try:
        small = part.rows is not None and part.rows * len(ask.columns) < _FEW_CELLS
        adding = Adding(ask, compiled=not small)
        for block in blocks_of(
            part, ask.columns, ask.label, rows=BLOCK_ROWS if ask.private else PUBLIC_BLOCK_ROWS, private=ask.private
        ):
            adding.take(block)
            if pulse and not pulse.beat(block.cells.shape[1]):
                return Refused("The pass was interrupted.")
        return sealed(adding.sums(), ask.seal) if ask.seal else adding.sums()
    except TableFileError as problem:
        return Refused(str(problem), of_file=True)
    except MemoryError:
        return Refused("The memory did not suffice for a block of the table. Use fewer workers (PRIVCOV_WORKERS).")
    except Exception as problem:
        why = "" if ask.private else f" ({type(problem).__name__})"  # even the kind of a fault may tell of a row
        return Refused(f"A part of the table could not be summed{why}.")


class _Pulse:
    """Progress block by block, and an end within a block, for workers that are threads of this process."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.going, self._progress, self._total = True, progress, total
        self._lock, self._began, self._read, self._told = threading.Lock(), time.monotonic(), 0, 0

    def beat(self, rows: int) -> bool:
        """So many rows more were read; False when the pass is over."""
        with self._lock:
            self._read += rows
            self._tell(self._read)
        return self.going

    def reach(self, rows: int) -> None:
        """So many rows are summed, wherever their workers are."""
        with self._lock:
            self._tell(rows)

    def _tell(self, rows: int) -> None:
        if self._progress and rows > self._told and self.going:
            self._told = rows
            self._progress(rows, self._total, time.monotonic() - self._began)

    @contextlib.contextmanager
    def ended_by_interrupts(self) -> Iterator[None]:
        """Ctrl-C is raised where the threads are waited for; they are told first, or the wait is for a whole file."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return

        def end(*what: Any) -> None:
            self.going = False
            before(*what)

        signal.signal(signal.SIGINT, end)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


_PULSES: dict[int, _Pulse] = {}


def add_up(files: FileRows, ask: SumSpec) -> Sums:
    """One pass over all files, in parallel; reports to ``files.progress``.

    Raises TableFileError (also where there are more or fewer rows than before), EngineError or PassError, each with one
    sentence that says nothing of the cells of private rows.
    """
    key = secrets.token_bytes(KEY_BYTES) if ask.private and engine.remote() else b""
    assert files.table.n is not None, "the rows of files are counted when they are opened"
    total, ask = files.table.n, dataclasses.replace(ask, run=secrets.randbits(63), seal=key)
    whole, pulse = None, _Pulse(files.progress, total)
    tasks = [(part, ask) for part in parts_of(files.table)]
    found = engine.each(sum_part, tasks, threads=True, confidential=ask.private)
    _PULSES[ask.run] = pulse
    try:
        with pulse.ended_by_interrupts():
            for _, made in found:
                if isinstance(made, Refused):
                    raise (TableFileError if made.of_file else PassError)(made.sentence)
                sums = opened(made, key) if isinstance(made, bytes) else made
                whole = sums if whole is None else whole.plus(sums)
                pulse.reach(whole.seen)
    finally:
        pulse.going = False
        found.close()
        del _PULSES[ask.run]
    if whole is None or whole.seen == 0:
        raise TableFileError("The files hold no rows. Give at least one.")
    if whole.seen > MOST_FILE_ROWS or (total is not None and whole.seen != total):
        raise TableFileError(
            f"The files do not hold the rows that they held when they were opened, or more than {MOST_FILE_ROWS:,}. "
            "Open them again once nobody writes to them."
        )
    return whole
