"""Finished cells on disk, so that a repeated or extended sweep computes only what is new.

A cell is found by the hash of everything its number depends on, the code included. No row is kept: a cell holds a
target, a value and a problem. A store that cannot be read or written is not used, and its ``problem`` is the reason.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import sqlite3
import sys
import threading
import warnings
import weakref
from functools import cache
from pathlib import Path

from privcov.core.guarantees import Guarantee, to_dict
from privcov.core.paths import cache_folder
from privcov.data_sources.base import Source
from privcov.estimators.base import Method

FORMAT = "cells-1"
# Options of `release` that a plan may leave out; spelling them out finds the same cell.
_DEFAULTS = {"centre": "auto", "tuning": "released", "neighbours": "replace-one"}
_PACKAGE = Path(__file__).resolve().parents[1]
MAX_STORED_RESULTS = 2_000_000


class Store:
    """Table from cell key to (target, value, problem) in one sqlite file, safe for several threads and processes.

    ``problem`` is "" while it works, else one sentence; from then on nothing is found and nothing is kept.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.problem = ""
        self._lock = threading.Lock()
        self._link: sqlite3.Connection | None = None
        try:
            self.path = cache_folder() / "cells.sqlite" if path is None else Path(path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._link = sqlite3.connect(self.path, timeout=5, check_same_thread=False, isolation_level=None)
            weakref.finalize(self, self._link.close)  # an open one that is forgotten warns from Python 3.13 on
            self._link.execute("PRAGMA journal_mode=WAL")
            self._link.execute("PRAGMA synchronous=NORMAL")
            self._link.execute(
                "CREATE TABLE IF NOT EXISTS cells (key BLOB PRIMARY KEY, target TEXT, value REAL, problem TEXT)"
            )
            (last,) = self._link.execute("SELECT coalesce(max(rowid), 0) FROM cells").fetchone()
            self._link.execute("DELETE FROM cells WHERE rowid <= ?", (last - MAX_STORED_RESULTS,))
        except (OSError, RuntimeError, sqlite3.Error) as problem:
            self._give_up(problem)

    def get(self, keys: list[bytes]) -> list[tuple[str, float, str]] | None:
        """Return the cells of these keys, in order, or None unless all of them are there."""
        cells = []
        with self._lock:
            if self._link is None:
                return None
            try:
                for key in keys:
                    row = self._link.execute(
                        "SELECT target, value, problem FROM cells WHERE key = ?", (key,)
                    ).fetchone()
                    if row is None:
                        return None
                    target, value, problem = row
                    cells.append((str(target), float("nan") if value is None else float(value), str(problem)))
            except (sqlite3.Error, ValueError) as problem:
                self._give_up(problem)
                return None
        return cells

    def put(self, keys: list[bytes], cells: list[tuple[str, float, str]]) -> None:
        """Keep a finished cell; the last one of a key stays."""
        with self._lock:
            if self._link is None:
                return
            rows = [(key, *cell) for key, cell in zip(keys, cells, strict=True)]
            try:
                self._link.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", rows)
            except sqlite3.Error as problem:
                self._give_up(problem)

    def __len__(self) -> int:
        with self._lock:
            return 0 if self._link is None else self._link.execute("SELECT count(*) FROM cells").fetchone()[0]

    def close(self) -> None:
        """Close the file; the store can still be opened again."""
        with self._lock:
            if self._link is not None:
                self._link.close()
            self._link, self.problem = None, self.problem or "The store of finished runs is closed."

    def _give_up(self, problem: Exception) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        where = getattr(self, "path", "the user's cache folder")
        self.problem = (
            f"Finished runs are not kept between sessions: {where} cannot be used ({problem}). Everything is computed "
            "afresh; delete that file, or set PRIVCOV_CACHE_DIR to a folder that can be written."
        )
        warnings.warn(self.problem, RuntimeWarning, stacklevel=3)


def place_part(source: Source, row_bound: float, seed: int) -> str:
    """Return the part of a cell's key that identifies the rows."""
    parameters = dataclasses.asdict(source)
    parts = [source.card.key, parameters, float(row_bound), seed, source.state(), code_of(type(source).__module__)]
    return json.dumps(parts, sort_keys=True)


def method_part(method: Method, options: dict) -> str:
    """Return the part of a cell's key that identifies the method, with everything that can change its numbers."""
    card = method.card
    every_option = {"calibration": card.default_calibration} | _DEFAULTS | options
    code = code_of(type(method).__module__)
    identity = [card.key, dataclasses.asdict(method), every_option, card.version, code]
    return json.dumps(identity, sort_keys=True, default=str)


def guarantee_part(guarantee: Guarantee) -> str:
    """Return the part of a cell's key that names the guarantee."""
    return json.dumps(to_dict(guarantee), sort_keys=True)


def key_of(place: str, method: str, guarantee: str, replicate: int, metric: str) -> bytes:
    """Return the 16 bytes that name one cell."""
    text = "\x1f".join((FORMAT, place, method, guarantee, str(replicate), metric))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


@cache
def code_of(module: str) -> str:
    """Return a hash of the package and of the file of a module, so that changed code brings back no old number."""
    digest = hashlib.blake2b(digest_size=8)
    own = getattr(sys.modules[module], "__file__", None)  # none of a prompt, or of a zip
    for file in (*sorted(_PACKAGE.rglob("*.py")), *([Path(own)] if own else [])):
        with contextlib.suppress(OSError):
            digest.update(file.read_bytes())
    return digest.hexdigest()
