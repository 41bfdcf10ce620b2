"""Rows, releases and pictures of a study, shared by all visits: keyed by configuration, never by an array.

After a change of the study (`frame.change`) the page runs again, and what is not in a cache under the new study is
computed. What comes from a visitor's file stays in the visitor's own session.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

import privcov
from pages.common import memory, visitor_files
from pages.common.study import CSV, DEFAULT_SOURCE, Study
from privcov.core import accounting
from privcov.core.guarantees import Guarantee
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.plots.look import Picture
from privcov.plots.palette import Palette
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

MAX_CELLS = 20_000_000  # rows x columns that a page may draw: 160 MB
MATRICES = 8  # of d x d numbers, that a page makes of one release
WIDE = 300  # columns from which some methods take longer than a second
T = TypeVar("T")


class ByteLimitedCache:
    """Cache that all visits share, keyed by configuration; a full cache drops the least recently used value."""

    def __init__(self, limit: int) -> None:
        self.limit, self.total = limit, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple, tuple[int, Any]] = OrderedDict()

    def get(self, key: tuple, make: Callable[[], T]) -> T:
        """Return the value under a key; make it where it is missing."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        value = make()
        size = bytes_of((key, value))
        with self._lock:
            self.total += size - self._kept.pop(key, (0, None))[0]
            self._kept[key] = (size, value)
            while self.total > self.limit:
                self.total -= self._kept.popitem(last=False)[1][0]
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self.total = 0

    def __repr__(self) -> str:
        """Return every key."""
        return repr(list(self._kept))


def bytes_of(value: object) -> int:
    """Return the bytes of a value when it is written down, its arrays not copied."""
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return len(rest) + sum(array.raw().nbytes for array in arrays)


SHARED = ByteLimitedCache(512_000_000)  # rows, releases and pictures of all visits together


def is_uploaded(study: Study, default_source: str = DEFAULT_SOURCE) -> bool:
    """Return whether rows come from a visitor's file: no source makes them again, and nothing of them is shared."""
    return study.source_key(default_source) == CSV


def dataset(study: Study, default_source: str = DEFAULT_SOURCE) -> Dataset:
    """Return the rows of the study in its row bound; raise ValueError for an undeclared CSV and for absent files."""
    key = study.source_key(default_source)
    if key == CSV:
        table = visitor_files.table()
        if table is None:
            raise ValueError("There is no table yet. Open Estimate, choose your own table and declare it there.")
        _enter(table.n, table.d)
        return table.with_row_bound(table.row_bound * study.bound)
    source = build(SOURCES.get(key).cls, f"Source {key!r}", dict(study.data))
    n, d = getattr(source, "n", 0), getattr(source, "d", 0)
    if n and d and n * d > MAX_CELLS:
        raise ValueError(
            f"n x d is {n * d:,} cells, and a page draws at most {MAX_CELLS:,}. Use fewer rows or columns; "
            "the Python package has no such limit."
        )
    _enter(n, d)
    base = _rows(key, study.data, study.rows)
    return base.with_row_bound(base.row_bound * study.bound)


def _enter(n: int, d: int) -> None:
    """Wait until a table and the matrices of its columns fit into memory beside those of other visits."""
    memory.CELL_BUDGET.enter(n * d + MATRICES * d * d, lambda: st.session_state.get("visit"))


def _rows(key: str, data: tuple, seed: int) -> Dataset:
    """Return the rows of a source under its default row bound."""

    def draw() -> Dataset:
        with st.spinner("Drawing the rows ..."):
            return privcov.source(key, random_state=seed, **dict(data))

    return SHARED.get(("rows", key, data, seed), draw)


def release(study: Study, *, method: str = "", default_source: str = DEFAULT_SOURCE) -> Release:
    """Return the study's release, from the shared cache unless the rows come from a visitor's file.

    ``method`` is the page's default where the study names none.
    """
    data, key = dataset(study, default_source), study.method_key(method)
    options = study.method_options | study.settings(METHODS.get(key))

    def make() -> Release:
        return privcov.release(data, study.guarantee, key, random_state=study.seed, **options)

    with st.spinner("Releasing ...") if data.d > WIDE else contextlib.nullcontext():
        if is_uploaded(study, default_source):
            return make()
        rows = study.source_key(default_source), study.data, study.rows, study.bound
        return SHARED.get(("release", *rows, key, tuple(options.items()), study.guarantee, study.seed), make)


def cached_for_release(study: Study, prefix: tuple, make: Callable[[], T], default_source: str = DEFAULT_SOURCE) -> T:
    """Return a value of the study's release, cached except for a visitor's file."""
    if is_uploaded(study, default_source):
        return make()
    return SHARED.get((*prefix, study.source_key(default_source), study), make)


def picture(study: Study, name: str, palette: Palette, make: Callable[[], Picture]) -> Picture:
    """Return a named picture of the study's rows alone, which stays while method, guarantee and seed move."""
    if is_uploaded(study):
        return make()
    return SHARED.get(("picture", study.source_key(), study.data, study.rows, study.bound, name, palette.dark), make)


@functools.lru_cache(maxsize=1024)
def attacker_success(guarantee: Guarantee) -> float:
    """Return `accounting.attacker_success`, cached because it is a search for zCDP and pages repeat it."""
    return accounting.attacker_success(guarantee)
