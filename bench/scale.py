"""How the cost grows with the rows, the columns, the workers and the cells: section "scale" of the bench.

The exact pass over Parquet files of simulated rows, as for a private release, and the paper-4 table of sweeps; each row
is the time of a size over that of a smaller one, medians of alternating runs.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.ingest import SECRETS, in_turns, write_parquet
from bench.sweep import plans, seconds
from privcov import PrivateDataset
from privcov.core import parallel
from privcov.measurements.exact.file_pass.file_moment import sums_of

ROWS, COLUMNS = 500_000, 50
CELLS = (10, 40)  # replicates


def scale() -> Iterator[tuple[str, Callable[[], str], str]]:
    """(what, found, goal) of the rows of the section."""
    with tempfile.TemporaryDirectory(prefix="privcov-bench-") as folder:
        small = Path(folder, "small.parquet")

        def over(rows: int, d: int) -> str:
            large = Path(folder, f"{rows}-{d}.parquet")
            for path, n, columns in ((small, ROWS, COLUMNS), (large, rows, d)):
                if not path.exists():
                    write_parquet(path, n, columns)
            more, less = in_turns(lambda: _pass(large, d), lambda: _pass(small, COLUMNS))
            cells = 1e9 * more / (rows * d)
            return f"{more / less:.2f} x n={ROWS:,} d={COLUMNS} ({more:.2f} s, {less:.2f} s; {cells:.1f} ns a number)"

        yield "8 times the rows: n=4,000,000 d=50", lambda: over(8 * ROWS, COLUMNS), "<= 8.8"
        yield "a fifth of the columns: n=500,000 d=10", lambda: over(ROWS, 10), ""
        yield "twice the columns: n=500,000 d=100", lambda: over(ROWS, 100), ""
        yield "four times the columns: n=500,000 d=200", lambda: over(ROWS, 200), ""
        yield "both cores: n=500,000 d=50", lambda: _workers(small), ""
        yield "4 times the cells of a sweep", _cells, "<= 4.4"


def _pass(path: Path, d: int) -> None:
    sums_of(PrivateDataset.from_files(path, bounds=[(-6, 6)] * d), SECRETS)


def _workers(path: Path) -> str:
    if not path.exists():
        write_parquet(path, ROWS, COLUMNS)
    kept = parallel.worker_count()
    one, both = in_turns(lambda: _limited(path, 1), lambda: _limited(path, kept))
    return f"{one / both:.2f} x one thread's speed ({one:.2f} s, {both:.2f} s)"


def _limited(path: Path, workers: int) -> None:
    before = os.environ.get("PRIVCOV_WORKERS")
    os.environ["PRIVCOV_WORKERS"] = str(workers)
    try:
        _pass(path, COLUMNS)
    finally:
        os.environ.pop("PRIVCOV_WORKERS")
        if before is not None:
            os.environ["PRIVCOV_WORKERS"] = before


def _cells() -> str:
    few, many = (sum(plan.steps for plan in plans(replicates)) for replicates in CELLS)
    assert math.isclose(many / few, CELLS[1] / CELLS[0])
    more, less = in_turns(lambda: seconds(1, CELLS[1]), lambda: seconds(1, CELLS[0]))
    return f"{more / less:.2f} x {few:,} cells ({more:.2f} s, {less:.2f} s; {1e3 * more / many:.1f} ms a cell)"
