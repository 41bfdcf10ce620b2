"""The only cached wrappers around privcov calls: keyed by configuration, never by an array.

Anything that comes from a visitor's file stays in the visitor's own session.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable

import streamlit as st

import privcov
from pages.shell import visitor_files
from pages.shell.study import CSV, DEFAULT_SOURCE, Study
from privcov import accounting
from privcov.data_sources.base import SOURCES
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.figures.look import Picture
from privcov.figures.palette import Palette
from privcov.parameters import build
from privcov.privacy import Guarantee
from privcov.releasing.release import Release

MOST_CELLS = 20_000_000  # rows x columns that a page may draw: 160 MB
WIDE = 300  # columns from which some methods take longer than a second


def in_session(study: Study, default_source: str = DEFAULT_SOURCE) -> bool:
    """Return whether the rows come from a visitor's file.

    No source can make such rows again, and nothing of them is shared.
    """
    key = study.source_key(default_source)
    return key == CSV or visitor_files.brought(key) is not None


def dataset(study: Study, default_source: str = DEFAULT_SOURCE) -> Dataset:
    """Return the rows of the study under its row bound.

    Raises ValueError for a CSV that is not declared yet and for a set whose files are absent.
    """
    key = study.source_key(default_source)
    if key == CSV:
        declared = visitor_files.table()
        if declared is None:
            raise ValueError("There is no CSV yet. Open Estimate, choose your own CSV and declare it there.")
        return declared.with_row_bound(declared.row_bound * study.bound)
    source = build(SOURCES.get(key).cls, f"Source {key!r}", dict(study.data))
    n, d = getattr(source, "n", 0), getattr(source, "d", 0)
    if n and d and n * d > MOST_CELLS:
        raise ValueError(
            f"n x d is {n * d:,} cells, and a page draws at most {MOST_CELLS:,}. Use fewer rows or columns; "
            "the Python package has no such limit."
        )
    if in_session(study, default_source):
        base = visitor_files.brought_rows(key, study.data)
    else:
        base = _rows(key, study.data, study.rows, source.state())
    return base.with_row_bound(base.row_bound * study.bound)


@st.cache_resource(max_entries=6, show_spinner="Drawing the rows ...")
def _rows(key: str, data: tuple, seed: int, state: str) -> Dataset:
    """Return the rows of a source under its default row bound."""
    return privcov.source(key, seed=seed, **dict(data))


def release(study: Study, *, method: str = "", default_source: str = DEFAULT_SOURCE) -> Release:
    """Return the study's release; ``method`` is the page's default where the study names none."""
    data = dataset(study, default_source)
    with st.spinner("Releasing ...") if data.d > WIDE else contextlib.nullcontext():
        return _released(study, data, method, default_source)


def _released(study: Study, data: Dataset, method: str, default_source: str) -> Release:
    """Return the release, from the shared cache unless the rows come from a visitor's file."""
    key = study.method_key(method)
    options = tuple(study.given.items()) + tuple(study.settings(METHODS.get(key)).items())
    if in_session(study, default_source):
        return privcov.release(key, data, study.guarantee, seed=study.seed, **dict(options))
    source = study.source_key(default_source)
    state = SOURCES.get(source).cls.state()
    return _release(source, study.data, study.rows, state, study.bound, key, options, study.guarantee, study.seed)


@st.cache_resource(max_entries=64, show_spinner=False)
def _release(
    source: str, data: tuple, rows: int, state: str, bound: float, method: str, options: tuple, guarantee, seed: int
) -> Release:
    """Return the release of a source's rows."""
    base = _rows(source, data, rows, state)
    return privcov.release(method, base.with_row_bound(base.row_bound * bound), guarantee, seed=seed, **dict(options))


def picture(study: Study, name: str, palette: Palette, make: Callable[[], Picture]) -> Picture:
    """Return a picture of the study's rows alone, which stays while method, guarantee and seed move.

    ``name`` says which picture it is.
    """
    if in_session(study):
        return make()
    source = study.source_key()
    state = SOURCES.get(source).cls.state()
    return _picture(source, study.data, study.rows, state, study.bound, name, palette.dark, make)


@st.cache_resource(max_entries=64, show_spinner=False)
def _picture(
    source: str, data: tuple, rows: int, state: str, bound: float, name: str, dark: bool, _make: Callable
) -> Picture:
    """Return the picture, cached by everything but the function that draws it."""
    return _make()


@functools.lru_cache(maxsize=1024)
def attacker_success(guarantee: Guarantee) -> float:
    """Return `accounting.attacker_success`, cached because it is a search for zCDP and pages repeat it."""
    return accounting.attacker_success(guarantee)
