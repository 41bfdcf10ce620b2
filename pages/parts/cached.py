"""The only cached wrappers around privcov calls: keyed by configuration, never by an array.

Anything that comes from an upload stays in the visitor's own session.
"""

from __future__ import annotations

import streamlit as st

import privcov
from pages.parts.study import CSV, DEFAULT_SOURCE, Study
from privcov._release import Release
from privcov.data_sources.base import SOURCES
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS

MOST_CELLS = 20_000_000  # rows x columns that a page may draw: 160 MB


def dataset(study: Study, default_source: str = DEFAULT_SOURCE) -> Dataset:
    """Rows of the study under its row bound. Raises ValueError for a CSV that is not declared yet."""
    key = study.source_key(default_source)
    if key == CSV:
        found = st.session_state.get("csv")
        if found is None:
            raise ValueError("There is no CSV yet. Open Estimate, choose your own CSV and declare it there.")
        return found.with_row_bound(found.row_bound * study.bound)
    n, d = (dict(study.data).get(name) or _default(key, name) for name in ("n", "d"))
    if n and d and n * d > MOST_CELLS:
        raise ValueError(
            f"n x d is {n * d:,} cells, and a page draws at most {MOST_CELLS:,}. Use fewer rows or columns; "
            "the Python package has no such limit."
        )
    base = _rows(key, study.data, study.rows)
    return base.with_row_bound(base.row_bound * study.bound)


def _default(key: str, name: str) -> int | None:
    return next((s.default for s in SOURCES.get(key).parameters if s.name == name), None)


@st.cache_resource(max_entries=6, show_spinner="Drawing the rows ...")
def _rows(key: str, data: tuple, seed: int) -> Dataset:
    return privcov.source(key, seed=seed, **dict(data))


def release(study: Study, *, method: str = "", default_source: str = DEFAULT_SOURCE) -> Release:
    """The study's release; ``method`` is the page's default where the study names none."""
    data = dataset(study, default_source)
    key = study.method_key(method)
    options = tuple(study.options) if study.method else ()
    options += tuple(study.settings(METHODS.get(key)).items())
    if study.source_key(default_source) == CSV:
        return privcov.release(key, data, study.guarantee, seed=study.seed, **dict(options))
    return _release(
        study.source_key(default_source), study.data, study.rows, study.bound, key, options, study.guarantee, study.seed
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _release(
    source: str, data: tuple, rows: int, bound: float, method: str, options: tuple, guarantee, seed: int
) -> Release:
    base = _rows(source, data, rows)
    return privcov.release(method, base.with_row_bound(base.row_bound * bound), guarantee, seed=seed, **dict(options))
