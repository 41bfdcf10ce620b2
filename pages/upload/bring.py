"""The papers' own sets on a page: where their rows come from, a download when asked, and a visitor's own copy.

A file that a visitor brings goes through the same checks as one in the data folder and stays in the visitor's session.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pages.shell import hosted
from pages.shell.show import as_text
from pages.upload import session_file
from privcov.data_sources.base import SOURCES
from privcov.data_sources.fetch import download
from privcov.data_sources.papers import PaperData, Raw
from privcov.dataset import Dataset
from privcov.parameters import build


@dataclass
class Brought:
    """A set from a visitor's files. rows: the data set last made of it, by the source's parameters."""

    names: str
    raw: Raw
    rows: dict[tuple, Dataset] = field(default_factory=dict)


def find(key: str) -> Brought | None:
    """What this visitor brought for a source."""
    return st.session_state.get("brought", {}).get(key)


def dataset(key: str, data: tuple) -> Dataset:
    """The rows of a brought set under the source's parameters and its default row bound."""
    brought = find(key)
    if data not in brought.rows:
        source = build(SOURCES.get(key).cls, f"Source {key!r}", dict(data))
        brought.rows = {data: source.make_from(brought.raw)}
    return brought.rows[data]


def section(key: str) -> None:
    """Below the source's parameters: nothing for a source without files."""
    cls = SOURCES.get(key).cls
    if not issubclass(cls, PaperData):
        return
    brought = find(key)
    if brought is not None:
        st.caption(as_text(f"From your {brought.names}, in this session only."))
        st.button("Forget this file", key=f"bring-forget-{key}", on_click=forget, args=(key,))
        return
    try:
        cls.read()
    except ValueError:  # absent, or another file: the page shows the sentence
        _offer(key, cls)


def _offer(key: str, cls: type[PaperData]) -> None:
    # A visitor does not fill the disk of a server that others run: there, its operator fetches the sets.
    if (
        cls.openml is not None
        and not hosted.reached()
        and st.button(
            f"Download (about {cls.openml.megabytes} MB)",
            key=f"bring-download-{key}",
            help="From OpenML, through scikit-learn. It is checked and kept in the server's data folder.",
        )
    ):
        try:
            with st.spinner(f"Downloading the {cls.title} set; this can take a minute ..."):
                download(key)
        except ValueError as problem:
            st.error(as_text(str(problem)))
        else:
            st.rerun()
    turn = st.session_state.get("upload-turn", 0)
    files = st.file_uploader(
        "Bring the file",
        accept_multiple_files=True,
        max_upload_size=session_file.megabytes(),
        key=f"bring-{key}-{turn}",
        help=as_text(f"{cls.names()}; the name does not matter. It is checked, and stays in this session."),
    )
    if files:
        _take(key, cls, files)
    problem = st.session_state.get("bring-problem", {}).get(key)
    if problem:
        st.error(as_text(problem))


def _take(key: str, cls: type[PaperData], files: list) -> None:
    names = " and ".join(file.name for file in files)
    problems = st.session_state.setdefault("bring-problem", {})
    problems.pop(key, None)
    forget(key)
    try:
        with st.spinner("Reading the file ..."):
            raw = cls.parse([file.getvalue() for file in files])
    except ValueError as problem:
        problems[key] = f"{names}: {problem}"
    else:
        st.session_state.setdefault("brought", {})[key] = Brought(names, raw)
    session_file.let_go(*files)


def forget(key: str) -> None:
    """The set that was brought for a source, and the curves that pages keep of it."""
    st.session_state.get("brought", {}).pop(key, None)
    session_file.forget_results(key)
