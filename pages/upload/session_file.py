"""A file in the visitor's session: taken in, let go, forgotten. Nothing of it is kept anywhere else.

Not in a URL, a shared cache, a log or a temporary file: the bytes are let go as soon as they are read; what stays is
one `Upload` in the session, which `forget` removes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shell import frame
from pages.shell.study import CSV
from privcov.data_sources.csv_file import PublicTable

if TYPE_CHECKING:
    import pandas as pd

MEGABYTES = 50
# Beyond 1 MB the web server would put an upload into a temporary file on its way in.
MultiPartParser.spool_max_size = (MEGABYTES + 1) * 2**20


@dataclass
class Upload:
    """What the session knows of a file. ``file_id`` names its widgets, so another file starts empty.

    typed: the editor's table as the visitor left it. used: what was typed when the table was declared.
    """

    file_id: str
    name: str
    header: tuple[str, ...] = ()
    table: PublicTable | None = None
    typed: pd.DataFrame | None = None
    used: tuple | None = None
    notes: tuple[str, ...] = ()
    shares: np.ndarray | None = None
    problem: str = ""


def megabytes() -> int:
    """Most that one file may have: an uploader's own limit would hide a lower one that the server was given."""
    return min(MEGABYTES, st.get_option("server.maxUploadSize"))


def uploader(label: str, what: str):
    """An uploader that is empty again once its file was read: its key changes with every file."""
    turn = st.session_state.get("upload-turn", 0)
    return st.file_uploader(label, type=["csv"], max_upload_size=megabytes(), key=f"upload-{what}-{turn}")


def new(file) -> Upload:
    """A new upload of this session, in place of the one before."""
    forget_file()
    st.session_state["upload"] = Upload(file.file_id, file.name)
    return st.session_state["upload"]


def let_go(*files) -> None:
    """Give the bytes back to the machine, as Streamlit itself does for chat files, and draw the page anew."""
    context = get_script_run_ctx()
    for file in files:
        if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
        file.close()
    st.session_state["upload-turn"] = st.session_state.get("upload-turn", 0) + 1
    st.rerun()


def forget_file() -> None:
    """Everything that came from a file; the answer to the question stays."""
    kept = ("upload-public", "upload-turn")
    for key in map(str, list(st.session_state)):
        if key in ("csv", "upload") or (key.startswith("upload-") and key not in kept):
            del st.session_state[key]
    forget_results()
    # Where the slider for R stood for one file says nothing about the next.
    frame.change(lambda study: dataclasses.replace(study, bound=1.0))


def forget() -> None:
    """The file and the answer: the next file is asked about again."""
    forget_file()
    st.session_state["upload-public"] = None
    st.session_state["upload-turn"] = st.session_state.get("upload-turn", 0) + 1


def forget_results(source: str = CSV) -> None:
    """Curves that other pages keep per study: those of a file must not outlive it or pass for another's."""
    for kept in ("sweeps", "pins", "estimate.pins", "roc"):
        for key in list(st.session_state.get(kept, {})):
            if getattr(key[0], "source", "") == source:
                del st.session_state[kept][key]
