"""One pass over a big table, over what cannot be avoided: section "ingest" of the bench.

Unavoidable are reading the numbers (`blocks_of` alone, on as many threads as the pass) and the float Gram product alone
(numpy on all cores, rows in memory). Both are measured in the same run as the pass and in turns with it, medians of
three. The pass makes the ledger's marks as well.

    python -m bench.ingest FILE.parquet --rows 5000000 --columns 50

writes a simulated table of that size, a row group at a time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from privcov import Dataset, PrivateDataset
from privcov.core import parallel
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.moment import clipped_moment
from privcov.tables.readers import blocks_of, parts_of

ROOT = Path(__file__).resolve().parents[1]
ROWS, COLUMNS, CSV_ROWS, MEMORY_ROWS, MEMORY_COLUMNS = 5_000_000, 50, 500_000, 1_000_000, 100
GROUP, ROUNDS = 100_000, 3
SECRETS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x2545F4914F6CDD1D)
_PEAK = """
import resource, sys
from bench.ingest import private_pass
private_pass(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)
"""


def groups(rows: int, d: int, seed: int = 0) -> Iterator[np.ndarray]:
    """A simulated table, at most GROUP rows at a time: standard normals with one common factor."""
    rng = np.random.default_rng(seed)
    for start in range(0, rows, GROUP):
        b = min(GROUP, rows - start)
        yield rng.normal(size=(b, d)) + 0.5 * rng.normal(size=(b, 1))


def write_parquet(path: Path | str, rows: int = ROWS, d: int = COLUMNS) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j + 1}" for j in range(d)]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names]), compression="zstd") as out:
        for group in groups(rows, d):
            out.write_table(pa.table(list(group.T), names=names), row_group_size=GROUP)


def write_csv(path: Path | str, rows: int = CSV_ROWS, d: int = COLUMNS) -> None:
    import pyarrow as pa
    import pyarrow.csv

    names = [f"x{j + 1}" for j in range(d)]
    with pa.csv.CSVWriter(path, pa.schema([(name, pa.float64()) for name in names])) as out:
        for group in groups(rows, d):
            out.write_table(pa.table(list(group.T), names=names))


def private_pass(path: Path | str) -> None:
    sums_of(PrivateDataset.from_files(path, bounds=[(-6, 6)] * COLUMNS), SECRETS)


def reading(path: Path | str) -> None:
    """Opening, counting and reading, as the passes do it, and nothing else."""
    table = PrivateDataset.from_files(path, bounds=[(-6, 6)] * COLUMNS).files.table
    for _ in parallel.run_tasks(_read, [(part, table.columns) for part in parts_of(table)], threads=True):
        pass


def _read(task: tuple) -> int:
    part, columns = task
    return sum(block.cells.shape[1] for block in blocks_of(part, columns, private=False))


def in_turns(*acts: Callable[[], object]) -> list[float]:
    """Median seconds of each; one round first that does not count (compiling, the file in the machine's cache)."""
    taken: list[list[float]] = [[] for _ in acts]
    for round_ in range(ROUNDS + 1):
        for act, found in zip(acts, taken, strict=True):
            begun = time.perf_counter()
            act()
            if round_:
                found.append(time.perf_counter() - begun)
    return [statistics.median(found) for found in taken]


def ingest(rows: int = ROWS, csv_rows: int = CSV_ROWS, memory_rows: int = MEMORY_ROWS) -> Iterator[tuple]:
    """(what, found, goal) of the rows of the section; smaller numbers of rows try it out."""
    with tempfile.TemporaryDirectory(prefix="privcov-bench-") as folder:
        parquet, text = Path(folder, "t.parquet"), Path(folder, "t.csv")
        size = f"n={rows:,} d={COLUMNS}"
        yield f"Parquet, {size}: private sums", lambda: _over_both(private_pass, _made(parquet, rows), rows), "<= 1.5"
        yield f"Parquet, {size}: peak memory", lambda: _peak(_made(parquet, rows)), "<= 1"
        yield f"CSV, n={csv_rows:,} d={COLUMNS}: private sums", lambda: _over_reading(_made(text, csv_rows)), "<= 1.3"
        what = f"in memory, n={memory_rows:,} d={MEMORY_COLUMNS}: clipped moment"
        yield what, lambda: _in_memory(memory_rows), "<= 1.3"


def _made(path: Path, rows: int) -> Path:
    if not path.exists():
        needed = rows * COLUMNS * (20 if path.suffix == ".csv" else 9)
        if shutil.disk_usage(path.parent).free < 1.2 * needed:
            raise RuntimeError(f"The bench needs {needed / 1e9:.1f} GB in {path.parent}. Set TMPDIR to a larger disk.")
        (write_csv if path.suffix == ".csv" else write_parquet)(path, rows)
    return path


def _over_both(act: Callable, path: Path, rows: int) -> str:
    resident = next(groups(GROUP, COLUMNS))
    times = max(1, rows // GROUP)

    def gram() -> None:
        for _ in range(times):
            resident.T @ resident

    taken, read, product = in_turns(lambda: act(path), lambda: reading(path), gram)
    return (
        f"{taken / (read + product):.2f} x reader and Gram product alone "
        f"({taken:.2f} / ({read:.2f} + {product:.2f}) s, {rows / taken:,.0f} rows/s)"
    )


def _over_reading(path: Path) -> str:
    taken, read = in_turns(lambda: private_pass(path), lambda: reading(path))
    return f"{taken / read:.2f} x its reader alone ({taken:.2f} / {read:.2f} s)"


def _peak(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path)], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
    )
    return f"{float(done.stdout):.2f} x one GB (largest resident size of a process that makes the private sums)"


def _in_memory(rows: int) -> str:
    from scipy.linalg.blas import dsyrk

    data = Dataset.from_rows(np.concatenate(list(groups(rows, MEMORY_COLUMNS))), row_bound=40.0)
    x = data.rows

    def blocked() -> np.ndarray:
        gram = np.zeros((MEMORY_COLUMNS, MEMORY_COLUMNS))
        for start in range(0, rows, 4_000):
            gram += x[start : start + 4_000].T @ x[start : start + 4_000]
        return gram

    def ours() -> None:
        data.cache.forget()
        clipped_moment(data, n_anchors=1)

    with parallel.ONE_BLAS_THREAD:
        taken, *variants = in_turns(ours, lambda: x.T @ x, blocked, lambda: dsyrk(1.0, x.T))
    names = ("X'X", "X'X in blocks", "dsyrk")
    best = min(range(3), key=variants.__getitem__)
    return f"{taken / variants[best]:.2f} x {names[best]}, the fastest of three, one thread ({taken:.2f} s)"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a simulated table as a Parquet file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    given = parser.parse_args()
    write_parquet(given.file, given.rows, given.columns)
