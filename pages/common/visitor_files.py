"""A visitor's own table in the session. Nothing is kept elsewhere.

Not in a URL, a shared cache, a log or a temporary file. What stays of a public file is one `Upload`, until
`forget_file`.
"""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import streamlit as st
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.common import frame, hosted, memory
from pages.common.study import CSV
from privcov.tables.dataset import Dataset
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.readers.dialect import Dialect

if TYPE_CHECKING:
    import pandas as pd

MEGABYTES, HOSTED_MEGABYTES = 120, 50  # largest file; the second on a server for others
# Beyond 1 MB the web server would put an upload into a temporary file on its way in.
MultiPartParser.spool_max_size = (MEGABYTES + 1) * 2**20
# Keys of the session whose results are removed with the file from which they were made.
WITH_FILES = ("follow.own",)
QUOTA = 2 * MEGABYTES * 2**20  # bytes of files that one visit has sent and no page has read yet
TOGETHER = 3 * MEGABYTES * 2**20  # the same of all visits
ARRIVING = 2 * MEGABYTES * 2**20  # bytes of the files of all visits that are on their way in
KEPT = 600_000_000  # bytes of the tables that all visits keep of their files, where others reach the server


def _within_quota(add: Callable[..., None]) -> Callable[..., None]:
    """Return the function that takes a file, which refuses one beyond the quota: an address takes any number."""

    def add_file(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        sizes = {
            visit: sum(len(f.data) for f in list(files.values())) for visit, files in list(self.file_storage.items())
        }
        if sizes.get(session_id, 0) + len(file.data) > QUOTA:
            raise HTTPException(413, f"More than {QUOTA >> 20} MB of files wait in this visit: reload the page.")
        if sum(sizes.values()) + len(file.data) > TOGETHER:
            raise HTTPException(413, f"More than {TOGETHER >> 20} MB of files wait in all visits: try again later.")
        add(self, session_id, file)

    return add_file


MemoryUploadedFileManager.add_file = _within_quota(MemoryUploadedFileManager.add_file)  # type: ignore[method-assign] # wrapped

_arriving = [0]  # written by the thread of the server's loop alone


def _count_bytes(parse: Callable[[MultiPartParser], Awaitable[FormData]]) -> Callable[..., Awaitable[FormData]]:
    """Return the function that reads a request with a file, which refuses it where too much is on its way."""

    async def counted(self: MultiPartParser) -> FormData:
        mine, chunks = 0, self.stream

        async def stream() -> AsyncGenerator[bytes, None]:
            nonlocal mine
            async for chunk in chunks:
                if _arriving[0] + len(chunk) > ARRIVING:
                    raise HTTPException(413, f"More than {ARRIVING >> 20} MB of files arrive at once: try again later.")
                mine += len(chunk)
                _arriving[0] += len(chunk)
                yield chunk

        self.stream = stream()
        try:
            return await parse(self)
        finally:
            _arriving[0] -= mine

    return counted


MultiPartParser.parse = _count_bytes(MultiPartParser.parse)  # type: ignore[method-assign,assignment] # wrapped


@dataclass(eq=False)
class TableForm:
    """A file of this session, and the form in which its columns are declared.

    ``file_id`` is part of the widgets' keys, so another file starts empty. ``raw`` is the text of the table,
    ``workbook`` the Excel file that it is from, ``sheets`` the names of its sheets. ``dialect`` is None until it is
    known how the file is written. ``column_table``: the table of columns; ``undo_stack``: its earlier states. ``turn``
    rises when the form is filled from a file. ``widget_values`` holds widget values, for a return to an earlier step.
    """

    prefix: ClassVar[str] = "own"  # of the keys of its widgets
    reasons: ClassVar[bool] = True  # whether limits need a reason

    file_id: str = ""
    file_name: str = ""
    raw: bytes = field(default=b"", repr=False)
    workbook: bytes = field(default=b"", repr=False)
    sheets: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    dialect: Dialect | None = None
    column_table: pd.DataFrame | None = None
    undo_stack: deque[pd.DataFrame] = field(default_factory=lambda: deque(maxlen=50), repr=False)
    declared: Declaration | None = None
    problem: str = ""
    turn: int = 0
    widget_values: dict = field(default_factory=dict)


@dataclass(eq=False)
class Upload(TableForm):
    """A public file.

    ``ranged``: the table of columns filled from the file's range; ``left_out``: why columns are missing. ``notes`` is
    what is said of the rows. ``from_file`` counts the columns in use that have their range from the file.
    """

    prefix: ClassVar[str] = "upload"
    reasons: ClassVar[bool] = False

    ranged: dict[str, tuple] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    from_file: int = 0
    notes: tuple[str, ...] = ()
    rows_size: int = 0

    @property
    def size(self) -> int:
        """Bytes of the file and of the declared table."""
        return len(self.raw) + len(self.workbook) + self.rows_size


_uploads: weakref.WeakSet[Upload] = weakref.WeakSet()
_one = threading.Lock()


def _enter(upload: Upload, more: int) -> None:
    """Count more bytes of an upload; raise ValueError where the tables of other visits leave no room for them."""
    with _one:
        _uploads.add(upload)
        other_bytes = sum(other.size for other in _uploads if other is not upload)
        if other_bytes and hosted.is_reachable() and other_bytes + len(upload.raw) + len(upload.workbook) + more > KEPT:
            raise ValueError(
                f"The tables of other visitors fill this server: together they may take {KEPT / 1e6:,.0f} MB. Bring "
                "fewer rows or columns, or try again later."
            )
        upload.rows_size = more


def table() -> Dataset | None:
    """Return the visitor's own table, once it is declared."""
    return st.session_state.get("csv")


def hold_table(upload: Upload, data: Dataset) -> None:
    """Keep the declared table in place of the one before, and remove what pages keep of that one."""
    _enter(upload, 2 * data.rows.nbytes)  # rows, and the same in working units
    forget_results()
    st.session_state["csv"] = data


def forget_table() -> None:
    """Remove the declared table and what pages keep of it; the file stays."""
    forget_results()
    st.session_state.pop("csv", None)


def upload() -> Upload | None:
    """Return the visitor's own file, also before it is declared."""
    return st.session_state.get("upload")


def megabytes() -> int:
    """Return the largest size of a file: an uploader's own limit would hide a lower one that the server was given."""
    most = HOSTED_MEGABYTES if hosted.is_reachable() else MEGABYTES
    return min(most, st.get_option("server.maxUploadSize"))


def uploader(label: str, purpose: str):
    """Show an uploader that is empty again once its file was read: its key changes with every file."""
    turn = st.session_state.get("upload-turn", 0)
    return st.file_uploader(
        label, type=["csv", "tsv", "xlsx", "parquet"], max_upload_size=megabytes(), key=f"upload-{purpose}-{turn}"
    )


def wait_for_room(size: int) -> None:
    """Wait until a file of so many bytes, which takes eleven times as many, can be read beside what others work on."""
    memory.CELL_BUDGET.enter(size, lambda: st.session_state.get("visit"))


def new(file_id: str, name: str, raw: bytes, workbook: bytes = b"", sheets: tuple[str, ...] = ()) -> Upload:
    """Return a new upload of this session, in place of the one before; raise ValueError where it finds no room."""
    forget_file()
    upload = st.session_state["upload"] = Upload(file_id, name, raw, workbook, sheets)
    try:
        _enter(upload, 0)
    except ValueError:
        upload.raw = upload.workbook = b""
        raise
    return upload


def let_go(*files) -> None:
    """Free the bytes of the files, as Streamlit itself does for chat files, and run the page again."""
    context = get_script_run_ctx()
    for file in files:
        if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
        file.close()
    empty_uploaders()
    st.rerun()


def empty_uploaders() -> None:
    """Give every uploader a new key, which empties it."""
    st.session_state["upload-turn"] = st.session_state.get("upload-turn", 0) + 1


def forget_file() -> None:
    """Remove everything that came from a file; the answer to the question stays."""
    if (gone := upload()) is not None:
        _uploads.discard(gone)
    exempt = ("upload-public", "upload-turn")
    for key in map(str, list(st.session_state)):
        if key in ("csv", "upload") or (key.startswith("upload-") and key not in exempt):
            del st.session_state[key]
    forget_results()
    # The position of the slider for R belongs to one file and does not carry over to the next.
    frame.change(lambda study: dataclasses.replace(study, bound=1.0))


def forget_results() -> None:
    """Remove the curves that pages keep of a file: they must not outlive it or be shown for another file."""
    for store in WITH_FILES:
        for key in list(st.session_state.get(store, {})):
            if getattr(key[0], "source", "") == CSV:
                del st.session_state[store][key]
