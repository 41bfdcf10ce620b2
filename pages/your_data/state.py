"""The data owner's table in one session: the unread bytes, what was declared, and what was planned.

Nothing of it is in a URL, a shared cache, a log or a file. The rows are parsed for the owner's view, the check and the
release, and freed at once each time.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from pages.common import hosted, owner_token, visitor_files
from pages.common.visitor_files import TableForm
from pages.your_data.declare import file_format
from pages.your_data.declare.file_format import UploadedTable
from privcov.core.guarantees import Guarantee
from privcov.ledger import Ledger
from privcov.steward.check import OwnerCheck, check_upload
from privcov.steward.owner_view import OwnerView
from privcov.tables.declaration.csv_file import MAX_BYTES
from privcov.tables.declaration.declaration import Declaration, read_private
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.readers.dialect import Dialect

DOORS = {"release": "Release a table", "bundle": "Read a bundle"}
STEPS = {
    "declare": "1 Declare",
    "plan": "2 Plan",
    "view": "Owner's view (optional)",
    "release": "3 Release",
    "answers": "4 Answers",
}


@dataclass
class OwnerSession(TableForm):
    """The owner's table in this session, whose file is unread beyond its first line.

    ``guarantee`` is the one picked on Plan; ``owner_view`` and ``checked`` are results of the owner's view and check.
    ``release_token`` is the token of the last release. ``public_table`` is a public file of the same columns, on which
    Plan is computed. ``book`` is the ledger of a practice without the token, removed with the table.
    """

    guarantee: Guarantee | None = None
    owner_view: OwnerView | None = field(default=None, repr=False)
    checked: OwnerCheck | None = field(default=None, repr=False)
    release_token: str = ""
    public_table: bytes = field(default=b"", repr=False)
    public_table_name: str = ""
    public_table_problem: str = ""
    book: Path | None = None


def owner_session() -> OwnerSession:
    """Return the session's one table."""
    return st.session_state.setdefault("own", OwnerSession())


def show_form(form_name: Literal["own", "upload"]) -> None:
    """Choose the form that is shown from here on, also for callbacks before the next run: the owner's or Estimate's."""
    st.session_state["form"] = form_name


def form() -> TableForm:
    """Return the form that is shown."""
    public = visitor_files.upload() if st.session_state.get("form") == "upload" else None
    return owner_session() if public is None else public


def practising() -> bool:
    """Return whether the table is that of a practice without the token."""
    return "own" in st.session_state and owner_session().book is not None


def _guard() -> None:
    """Raise as `owner_token.guard` does; a practice, whose ledger is its own, needs no token."""
    hosted.guard()
    if not practising():
        owner_token.guard()


def forget() -> None:
    """Remove the bytes and everything made from them; also called by the button on every step."""
    for key in list(st.session_state):
        if str(key).startswith("own"):
            del st.session_state[key]
    visitor_files.empty_uploaders()


def take(file) -> None:
    """Keep a new file and read its first line only; the bytes stay in this session and nowhere else.

    What is wrong with its first line is kept as the problem of the page. Raises as `keep_file` does.
    """
    owner_token.guard()
    try:
        if file.size > MAX_BYTES:
            raise ValueError(
                f"The file has {file.size / 1e6:,.1f} MB and the limit is {MAX_BYTES / 1e6:,.0f} MB: keep fewer rows, "
                "columns or decimals."
            )
        keep_file(file.file_id, file.name, file_format.read_upload(file))
    except ValueError as problem:
        owner_session().problem = owner_session().widget_values["unread"] = str(problem)
    visitor_files.let_go(file)


def keep_file(file_id: str, name: str, file: UploadedTable, *, practice: bool = False) -> None:
    """Keep this file instead of whatever was held.

    Without a dialect it is a plain CSV, or else the owner is asked how it is written, by its first line alone.
    Raises ValueError for a first line that holds no names of columns, `hosted.HostedError` on a server that other
    people reach, and `TokenRequiredError` for a visit that has not entered the token, but for the table of a
    ``practice``.
    """
    if not practice:
        owner_token.guard()
    hosted.guard()
    if file.dialect is None and not file.workbook and file_format.plain_header(file.raw):
        file.dialect = Dialect()
    header = file.header()
    forget()
    session = owner_session()
    session.file_id, session.file_name, session.header = file_id, name, header
    session.dialect, session.problem = file.dialect, file.problem
    session.raw, session.workbook, session.sheets = file.raw, file.workbook, file.sheets
    if not owner_token.is_open():
        folder = tempfile.mkdtemp(prefix="privcov-practice-")
        session.book = Path(folder) / "ledger.sqlite"
        weakref.finalize(session, shutil.rmtree, folder, ignore_errors=True)


def open_ledger() -> Ledger:
    """Return the owner's ledger, or that of a practice without the token; raises as `keep_file` does."""
    _guard()
    return Ledger(owner_session().book)


def rows() -> PrivateDataset:
    """Return the declared table, for the caller to free at once; raises as `keep_file`, and PrivateFileError."""
    _guard()
    return read_private(owner_session().raw, _get_declaration())


def public_rows(declaration: Declaration) -> PrivateDataset:
    """Return the public table that Plan is computed on, read under a declaration; raises as `rows` does."""
    owner_token.guard()
    return read_private(owner_session().public_table, declaration)


def look_over() -> OwnerCheck:
    """Return the result of the owner's check of the file; raises as `rows` does."""
    _guard()
    return check_upload(owner_session().raw, _get_declaration())


def _get_declaration() -> Declaration:
    declaration = owner_session().declared
    assert declaration is not None  # every step after Declare checks for it before it reads
    return declaration


def widget_args(
    name: str, default: object, *, among: Sequence | None = None, argument: Literal["value", "default"] = "value"
) -> dict[str, Any]:
    """Return arguments that make a widget keep its value: its key, and its value from before another step was shown.

    The value is passed a second time, see `fields.default_args`. ``among``: options of a widget that has an index;
    ``argument`` is the name under which the value is passed where there is no index.
    """
    return widget_args_in(form().widget_values, _key_of(name), name, default, among=among, argument=argument)


def widget_args_in(
    store: dict, key: str, name: str, default: object, *, among: Sequence | None, argument: Literal["value", "default"]
) -> dict[str, Any]:
    """Return the arguments of `widget_args` for the widget of a key, whose value ``store`` keeps by its name."""
    if key not in st.session_state:
        st.session_state[key] = store.get(name, default)

    current = st.session_state[key]

    def remember() -> None:
        store[name] = st.session_state[key]

    name_of_value = argument if among is None else "index"
    value = current if among is None else among.index(current) if current in among else None
    return {"key": key, "on_change": remember, name_of_value: value}


def set_value(name: str, value: object) -> None:
    """Set the value that `widget_args` keeps by this name; in a callback."""
    form().widget_values[name] = st.session_state[_key_of(name)] = value


def forget_value(name: str) -> None:
    """Forget the value that `widget_args` keeps by this name; its widget begins anew in the next run."""
    form().widget_values.pop(name, None)
    st.session_state.pop(_key_of(name), None)


def current_value(name: str) -> Any:
    """Return the current value of a kept widget; in a callback, the value that the visitor just chose."""
    return st.session_state[_key_of(name)]


def _key_of(name: str) -> str:
    session = form()
    return f"{session.prefix}-{name}-{session.file_id}-{session.turn}"


_TOP = st.components.v2.component(
    "privcov_top",
    js="""
export default function () {
  document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
}
""",
)


def take_step() -> None:
    """Take the step that a button chose, from its top: the button may have stood far down."""
    if (step := st.session_state.pop("own-next", None)) is None:
        st.session_state["own-step"] = st.session_state.get("own-step", "declare")
        return
    st.session_state["own-step"] = step
    turn = st.session_state["own-tops"] = st.session_state.get("own-tops", 0) + 1
    _TOP(key=f"own-top-{turn}", height=0)


def next_step(label: str, step: str) -> None:
    """Show a button to the next step; the bar on top leads to any step."""
    st.button(label, type="primary", on_click=go_on, args=(step,), key=f"own-to-{step}")


def go_on(step: str) -> None:
    """Go to another step; in a callback, or before a rerun."""
    st.session_state["own-next"] = step
