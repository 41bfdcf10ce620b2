"""The pass over the files of a table: parts to workers, progress by the block, and an end on request.

A worker is a thread, and never raises what might hold a cell: it sends back a sentence. Nothing is written anywhere, so
a pass that is interrupted leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from privcov.core import parallel
from privcov.measurements.exact.file_pass.table_sums import BLOCK_ROWS, ExactSums, SumAccumulator, SumSpec
from privcov.tables.dataset import FileRows, Progress
from privcov.tables.persons_in_files import IdsChanged
from privcov.tables.public_facts import MAX_FILE_ROWS
from privcov.tables.readers import Part, TableFileError, blocks_of, parts_of

_FEW_CELLS = 100_000  # a part of so few cells is summed by numpy in less time than numba takes to import


@dataclass(frozen=True)
class Refused:
    """A sentence that a worker sends in place of an exception, whose text or traceback might hold a cell."""

    sentence: str
    of_file: bool = False  # the reader refused the file, in its own words


class PassError(RuntimeError):
    """A pass over a table failed; one sentence that says nothing about what the cells hold."""


def sum_part(part: Part, spec: SumSpec, pulse: _Pulse | None = None) -> ExactSums | Refused:
    """Return the sums of one part; it never raises what might hold a cell."""
    try:
        small = part.rows is not None and part.rows * len(spec.columns) < _FEW_CELLS
        adding = SumAccumulator(spec, compiled=not small)
        read = spec.sources, spec.label, BLOCK_ROWS
        kinds = tuple(kind for _, kind in spec.kinds)
        for block in blocks_of(part, *read, private=True, person=spec.person, kinds=kinds):
            adding.take(block)
            if pulse and not pulse.beat(block.cells.shape[1]):
                return Refused("The pass was interrupted.")
        return adding.sums()
    except TableFileError as problem:
        return Refused(str(problem), of_file=True)
    except IdsChanged:
        return Refused(
            "The files do not hold the ids that they held when they were opened. Open them again once nobody writes to "
            "them.",
            of_file=True,
        )
    except MemoryError:
        return Refused("The memory did not suffice for a block of the table. Use fewer workers (PRIVCOV_WORKERS).")
    except Exception:  # even the kind of an error may depend on a row
        return Refused("A part of the table could not be summed.")


class _Pulse:
    """Progress block by block, and an end within a block, for workers that are threads of this process."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.going, self._progress, self._total = True, progress, total
        self._lock, self._began, self._read, self._reported = threading.Lock(), time.monotonic(), 0, 0

    def beat(self, rows: int) -> bool:
        """Count so many more rows as read; return False when the pass is over."""
        with self._lock:
            self._read += rows
            self._report(self._read)
        return self.going

    def reach(self, rows: int) -> None:
        """Report that so many rows are summed, wherever their workers are."""
        with self._lock:
            self._report(rows)

    def _report(self, rows: int) -> None:
        """Report the progress where it is new."""
        if self._progress and rows > self._reported and self.going:
            self._reported = rows
            self._progress(rows, self._total, time.monotonic() - self._began)

    @contextlib.contextmanager
    def ended_by_interrupts(self) -> Iterator[None]:
        """End the workers on Ctrl-C, without which the wait for them would be for a whole file."""
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


def add_up(files: FileRows, spec: SumSpec) -> ExactSums:
    """Sum all rows in one pass over all files, in parallel; progress goes to ``files.progress``."""
    assert files.table.n is not None, "the rows of files are counted when they are opened"
    total, whole = files.table.n, None
    pulse = _Pulse(files.progress, total)
    parts = parts_of(files.table)
    ids = [None] * len(parts) if files.persons is None else files.persons
    assert len(ids) == len(parts), "a table that did not change is cut as before"
    tasks = [(part, dataclasses.replace(spec, ids=some)) for part, some in zip(parts, ids, strict=True)]
    results = parallel.run_tasks(lambda task: sum_part(*task, pulse), tasks, threads=True)
    try:
        with pulse.ended_by_interrupts():
            for _, answer in results:
                if isinstance(answer, Refused):
                    raise (TableFileError if answer.of_file else PassError)(answer.sentence)
                whole = answer if whole is None else whole.plus(answer)
                pulse.reach(whole.n_rows)
    finally:
        pulse.going = False
        results.close()
    if whole is None or whole.n_rows == 0:
        raise TableFileError("The files hold no rows. Give at least one.")
    if whole.n_rows > MAX_FILE_ROWS or (total is not None and whole.n_rows != total):
        raise TableFileError(
            f"The files do not hold the rows that they held when they were opened, or more than {MAX_FILE_ROWS:,}. "
            "Open them again once nobody writes to them."
        )
    return whole
