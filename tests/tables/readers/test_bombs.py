"""Files that ask for endless memory or time, in a process that has little of both, by every reader of tables."""

import gzip
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.patience import patient

SECONDS = 20
READ = """
import resource, sys
import pandas, pyarrow.csv, pyarrow.parquet
from pathlib import Path
from privcov.tables import readers
from privcov.bundle.archive import BundleError, read_zip
from privcov.tables.declaration.csv_file import read_public

path, megabytes, seconds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 1_000_000, -1))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, -1))
try:
    if path.name == "public.csv":
        read_public(path.read_bytes())
    elif path.suffix == ".zip":
        read_zip(path.read_bytes())
    elif path.name == "upload.parquet":
        readers.as_csv(path.read_bytes(), path.name)
    else:
        table = readers.count_rows(readers.describe(path))
        for part in readers.parts_of(table):
            for _ in readers.blocks_of(part, table.columns, private=True):
                pass
    print("read")
except (ValueError, BundleError) as problem:
    print(problem)
"""


def repeated(path: Path) -> None:
    """A Parquet file of 30 million equal cells in a few kilobytes."""
    chunk = pa.table({"x": pa.array([1.0]).take(pa.array([0] * 1_000_000))})
    with pq.ParquetWriter(path, chunk.schema) as writer:
        for _ in range(30):
            writer.write_table(chunk)


def nested(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as whole:
        for k in range(9):
            whole.writestr(f"extras/a{'b' * k}.csv", bytes(2**24))


def packed(start: bytes, cell: bytes, times: int) -> Callable[[Path], None]:
    """What writes a file of repeated parts, gzip where it is named so."""

    def write(path: Path) -> None:
        whole = start + cell * times
        path.write_bytes(gzip.compress(whole, 1) if path.suffix == ".gz" else whole)

    return write


HEADER = ",".join(f"x{k}" for k in range(200)).encode() + b"\n"
# name, megabytes beyond what the libraries take, what writes the file, what is said
ATTACKS = {
    "cells": ("public.csv", 1_900, packed(HEADER, b"1," * 199 + b"1\n", 120_000), "read"),
    "rows": ("public.csv", 700, packed(b"x,y\n", b"1,2\n", 12_000_000), "more rows than the limit"),
    "blank lines": ("public.csv", 700, packed(b"x,y\n", b"\n", 49_000_000), "no rows"),
    "one line": ("public.csv", 700, packed(b"x,y\n", b"1", 49_000_000), "beyond 4,000,000"),
    "gzip": ("t.csv.gz", 400, packed(b"x,y\n", b"1,2\n", 15_000_000), "read"),
    "gzip of one line": ("t.csv.gz", 400, packed(b"x,y\n", b"1", 500_000_000), "beyond 4,000,000"),
    "parquet": ("t.parquet", 400, repeated, "read"),
    "parquet that is sent": ("upload.parquet", 1_500, repeated, "read"),
    "zip": ("t.zip", 400, nested, "more bytes than any bundle"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory is one of addresses, on Linux")
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_that_unpacks_or_asks_for_too_much_stays_in_its_memory_and_time(tmp_path, attack):
    name, megabytes, write, words = ATTACKS[attack]
    write(path := tmp_path / name)
    limit = int(patient(SECONDS))
    command = [sys.executable, "-c", READ, path, str(megabytes), str(limit)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=10 * limit)
    assert (ran.returncode, ran.stdout.count("\n")) == (0, 1), ran.stderr[-500:]
    assert words in ran.stdout
