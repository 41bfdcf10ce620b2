"""Write a simulated table of any size to files, block by block.

Rows are independent draws from one truth, so a large table is repeats of a small one: block k is the source's repeat k.
The files depend on the source, its parameters and the seed, and not on how many files the rows are spread over.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from privcov import checks, extras
from privcov.cli.streams import Failed, all_or_none
from privcov.data_sources.base import SOURCES, Source, make_dataset
from privcov.data_sources.private_file import Column, Declaration
from privcov.dataset import Dataset, Progress
from privcov.parameters import build
from privcov.randomness import stream

BLOCK_ROWS = 131_072  # also the rows of a row group
BLOCK_CELLS = 8_388_608  # 64 MB; some copies of a block exist while it is drawn
MOST_ROWS = 10_000_000_000
_KINDS = (".csv.gz", ".csv", ".parquet", ".arrow")


def generate(
    key: str,
    out: Path,
    *,
    seed: int = 0,
    files: int = 1,
    declaration: Path | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> tuple[Path, ...]:
    """Write rows of a simulated source and return the paths, all of them or, after an error, none.

    The ending of ``out`` decides the format; several files are called stem-1-of-4 and so on. ``declaration`` is where
    to put the public facts, for a rehearsal. progress(rows, total, seconds) is called after each block. Memory: a few
    blocks of at most ``BLOCK_CELLS`` numbers, or one whole draw of a source without a fixed truth. Raises ValueError
    with one sentence, also where the disk is full.
    """
    card = SOURCES.get(key)
    if card.group != "Simulated":
        raise ValueError(f"generate writes simulated rows and {key!r} is {card.group.lower()}. Choose another source.")
    kind = next((kind for kind in _KINDS if out.name.lower().endswith(kind)), None)
    if kind is None:
        raise ValueError(f"--out must end in one of {', '.join(_KINDS)}, got {out.name!r}.")
    extras.require("pyarrow", "Files of simulated rows")
    table = _Rows(card.cls, key, parameters, checks.whole("seed", seed, 0))
    files = checks.whole("files", files, 1, min(table.n, 10_000), "Every file needs a row.")
    stem = out.name[: -len(kind)]
    names = (
        [out.name] if files == 1 else [f"{stem}-{at}-of-{files}{out.name[len(stem) :]}" for at in range(1, files + 1)]
    )
    paths = tuple(out.with_name(name) for name in names)
    if declaration and declaration.resolve() in [path.resolve() for path in paths]:
        raise ValueError(f"The rows and their declaration cannot both be {declaration}. Choose another name for one.")
    with _plain_errors(out), all_or_none() as begin:
        places = {path: begin(path) for path in paths}
        declared = begin(declaration) if declaration else None
        _write(table, places, kind, progress)
        if declared:
            text = _declared(table, f"{stem} (simulated)").to_json() + "\n"
            with _plain_errors(declared):
                declared.write_text(text, encoding="utf-8")
    return paths


# --- rows ---------------------------------------------------------------------------------------------------


class _Rows:
    """The blocks of one table: ``n`` rows; the columns' names and the public facts are known before the first."""

    def __init__(self, cls: type[Source], key: str, parameters: dict, seed: int) -> None:
        self.key, self.seed = key, seed
        one = build(cls, f"Source {key!r}", {**parameters, "n": 1} if "n" in parameters else parameters)
        self._repeats = False
        if "n" in {field.name for field in dataclasses.fields(one)}:
            one = dataclasses.replace(one, n=1)
            self._repeats = make_dataset(one, seed=seed).truth is not None
        if self._repeats:
            default = next(spec.default for spec in cls.card.parameters if spec.name == "n")
            self.n = checks.whole("n", parameters.get("n", default), 1, MOST_ROWS)
            self.source = one
            self.facts = make_dataset(one, seed=seed)
        else:  # its truth, if it has one, is drawn with the rows: two draws would not be one table
            self.source = build(cls, f"Source {key!r}", parameters)
            self.facts = make_dataset(self.source, seed=seed)
            self.n = self.facts.n
        self.person = self.source.person
        self.owned = self.source.as_owned(stream(seed, "data", 0, key), seed) is not None
        self.columns = (*([self.person] if self.person else []), *self.facts.columns)

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield arrays of b x d rows, n rows in all."""
        if not self._repeats:
            yield self._as_held(self.source, 0, self.facts)
            return
        most = min(BLOCK_ROWS, max(1, BLOCK_CELLS // len(self.columns)))
        for repeat, start in enumerate(range(0, self.n, most)):
            rows = min(most, self.n - start)
            source = dataclasses.replace(self.source, n=rows)
            yield self._as_held(source, repeat, self._drawn(source, repeat))

    def _as_held(self, source: Source, repeat: int, drawn: Dataset) -> np.ndarray:
        """Return the drawn rows as a file holds them."""
        held = source.as_owned(stream(self.seed, "data", repeat, self.key), self.seed) if self.owned else None
        return np.asarray(drawn.rows) if held is None else held

    def _drawn(self, source: Source, repeat: int) -> Dataset:
        dataset = make_dataset(source, seed=self.seed, repeat=repeat)
        truth = self.facts.truth
        assert dataset.truth is not None, "only a source with a truth is drawn again"
        assert truth is not None
        if not np.array_equal(dataset.truth.covariance, truth.covariance):
            raise RuntimeError(f"The truth of source {self.key!r} differs between draws, so they are not one table.")
        return dataset


def _declared(table: _Rows, name: str) -> Declaration:
    facts = table.facts
    columns = [Column(column) for column in facts.columns]
    if facts.bounds is not None:
        reason = "public limits of the simulated source"
        rows = zip(facts.columns, facts.bounds.tolist(), facts.origin.tolist(), strict=True)
        columns = [Column(column, low, high, typical, reason) for column, (low, high), typical in rows]
    return Declaration(
        name=name,
        row_stands_for=f"one simulated row of {table.key} (seed {table.seed}), no person",
        columns=tuple(columns),
        row_bound=facts.row_bound if facts.bounds is None else None,
        missing="pairs" if table.owned else "typical",
        person=table.person,
    )


# --- files --------------------------------------------------------------------------------------------------


def _write(table: _Rows, places: dict[Path, Path], kind: str, progress: Progress | None) -> None:
    """Write the rows in order, the same number in each file or one more, under the names of ``places``."""
    began, total, blocks, rest = time.monotonic(), 0, table.blocks(), np.empty((0, len(table.columns)))
    for at, (path, place) in enumerate(places.items()):
        left = table.n * (at + 1) // len(places) - table.n * at // len(places)
        with _plain_errors(path), _writer(place, kind, table.columns) as write:
            while left:
                rest = rest if len(rest) else next(blocks)
                now, rest = rest[:left], rest[left:]
                write(now)
                left -= len(now)
                total += len(now)
                if progress:
                    progress(total, table.n, time.monotonic() - began)


@contextlib.contextmanager
def _writer(place: Path, kind: str, columns: tuple[str, ...]) -> Iterator[Callable[[np.ndarray], None]]:
    """Yield write(rows) for one open file of float64 columns, complete when the block ends."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    schema = pa.schema([(column, pa.float64()) for column in columns])
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(pa.OSFile(str(place), "wb"))
        if kind == ".parquet":  # doubles hardly repeat, so a dictionary of them would only cost time
            writer = stack.enter_context(pq.ParquetWriter(sink, schema, use_dictionary=False))
        elif kind == ".arrow":
            writer = stack.enter_context(pa.ipc.new_file(sink, schema))
        else:
            sink = stack.enter_context(pa.CompressedOutputStream(sink, "gzip")) if kind == ".csv.gz" else sink
            writer = stack.enter_context(arrow_csv.CSVWriter(sink, schema))

        def write(rows: np.ndarray) -> None:
            arrays = [pa.array(np.ascontiguousarray(column)) for column in rows.T]
            writer.write_batch(pa.record_batch(arrays, schema=schema))

        yield write


@contextlib.contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn what the system says against a file into one sentence."""
    try:
        yield
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else "it could not be written"
        raise Failed(
            f"{path.name} could not be written ({why}). Nothing is left of it: make room, or choose another place."
        ) from None
