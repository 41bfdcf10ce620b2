"""The form of Declare kept and filled: drafts in the visitor's tab, saved declarations, and a corrected file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.common import show, visitor_files
from pages.your_data import state
from pages.your_data.declare import columns, limits_table
from pages.your_data.state import OwnerSession, owner_session
from pages.your_data.wording import SEARCHED
from privcov.core import checks
from privcov.tables.declaration.csv_file import MAX_HEADER_BYTES, read_header
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.declared_columns import LEAST_FRACTION
from privcov.tables.readers import as_csv

_DRAFT, _HEAD = "privcov draft", 100  # the format of a draft, and the letters in which it stands
_OF_TABLE: dict[str, Callable[[Any], Any]] = {  # answers about the table that a draft keeps, with their types
    "name": str,
    "unit": str,
    "people": lambda value: checks.integer("people", value, 1, 100_000),
    "person": str,
    "public": bool,
    "missing": str,
    "missing-share": lambda value: checks.in_range("missing-share", value, 0.0, 0.9),
    "codes": str,
    "fraction": lambda value: checks.in_range("fraction", value, LEAST_FRACTION, 1.0),
    "search": lambda value: checks.one_of("search", value, tuple(SEARCHED)),
    "label": str,
    "classes": str,
}
_TAB, _TAB_KEY, _REPLACED = "tab-draft", "tab-kept", "tab-replaced"
_IN_TAB = st.components.v2.component(
    "privcov_draft",
    js="""
const NAME = "privcov-draft";
export default function ({ data, setStateValue }) {
  if (data.draft === null) setStateValue("draft", sessionStorage.getItem(NAME) ?? "");
  else if (data.draft) sessionStorage.setItem(NAME, data.draft);
  else sessionStorage.removeItem(NAME);
}
""",
)


def replace() -> None:
    """Show the uploader of a corrected file, for which the form stays."""
    session = owner_session()
    with st.popover("Replace the file"):
        st.markdown("With a corrected file. What was typed stays for every column that the new file has as well.")
        file = visitor_files.uploader("Corrected table", "own-again")
        if file is not None and session.column_table is not None:
            st.session_state[_TAB], st.session_state[_REPLACED] = draft(session), True
            state.take(file)
        if problem := session.widget_values.pop("unread", ""):
            st.error(show.as_text(problem))


def load() -> None:
    """Show how to fill the form from a saved declaration or draft."""
    session = owner_session()
    with st.expander("Use a saved declaration, a draft or a codebook"):
        st.markdown(
            "A codebook is a CSV or text file with a line for each column, under headings: name, kind, low, high, "
            "typical (also a range, such as 20 to 70), levels, codes (for missing cells), why."
        )
        file = st.file_uploader(
            "Declaration", type=["json", "csv", "tsv", "txt"], max_upload_size=1, key=f"own-load-{session.file_id}"
        )
        if file is not None and st.button("Fill the form from it", key=f"own-fill-{session.file_id}"):
            with show.problems():
                text = _text(file.getvalue())
                if not file.name.lower().endswith(".json"):
                    columns.take_codebook(text)
                    session.turn += 1  # the widgets start anew, from what was taken
                elif f'"{_DRAFT}"' in text[:_HEAD]:
                    restore(text)
                else:
                    fill(Declaration.from_json(text))
                st.rerun()


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Byte {error.start + 1:,} of the file is not UTF-8: save the file as UTF-8, or paste its lines under "
            "Several columns at once."
        ) from None


def keep_in_tab(session: OwnerSession) -> None:
    """Keep the draft in the visitor's tab, where it outlasts a reload; an untouched form of the same columns takes it.

    The server then forgets the file and the form. `forget_all` empties the tab.
    """
    before: str | None = st.session_state.get(_TAB)  # None: the tab has not been asked yet
    if session.turn or session.undo_stack or any(map(session.widget_values.get, _OF_TABLE)):
        session.widget_values["touched"] = True  # also after Undo
    touched = "touched" in session.widget_values
    if session.column_table is not None and touched:
        st.session_state[_TAB] = before = draft(session)
    _IN_TAB(data={"draft": before}, key=_TAB_KEY, height=0, on_draft_change=_take_draft)
    names = [f'"column": {json.dumps(name, ensure_ascii=False)}' for name in session.header]
    fits = before and names and (_REPLACED in st.session_state or all(name in before for name in names))
    if fits and not touched:
        st.session_state.pop(_REPLACED, None)
        st.session_state[_TAB] = ""  # a spoilt one is not tried again
        with show.problems():
            restore(str(before))
            session.widget_values["restored"] = True
            st.rerun()
    if before and names and not fits and not touched:
        st.caption("This tab keeps what was typed for a table with other columns. Typing here replaces it.")
    if "restored" in session.widget_values:
        st.caption("What was typed before in this tab is there again. **Forget this file** removes it.")
    for words, names in session.widget_values.get("others", {}).items():
        st.caption(show.as_text(f"{words}: {', '.join(names)}."))


def _take_draft() -> None:
    text = st.session_state[_TAB_KEY].draft
    st.session_state[_TAB] = text if isinstance(text, str) else ""


def forget_all() -> None:
    """Forget the file with everything made from it, and the draft in the tab."""
    state.forget()
    st.session_state[_TAB] = ""
    st.session_state.pop(_REPLACED, None)


def draft(session: OwnerSession) -> str:
    """Return what is typed so far as JSON, which `restore` reads."""
    assert session.column_table is not None  # the table of columns was drawn before
    lines = session.column_table.astype(object).where(session.column_table.notna(), None).to_dict("records")
    table = {name: session.widget_values[name] for name in _OF_TABLE if session.widget_values.get(name) is not None}
    return json.dumps({"format": _DRAFT, "table": table, "columns": lines}, indent=2, ensure_ascii=False)


def restore(text: str) -> None:
    """Put a draft into the form, as far as this file has its columns. Raises ValueError for another form."""
    session = owner_session()
    try:
        fields = json.loads(text)
        lines, table = fields["columns"], fields["table"]
        answers = {name: _OF_TABLE[name](value) for name, value in table.items()}
        form_table = columns.blank(session.header)
        for line in lines:
            here = form_table["column"] == line["column"]
            form_table.loc[here, "weight"] = float(line["weight"])
            for field in columns.FIELDS:
                if field.editable and line[field.name] is not None:
                    form_table.loc[here, field.name] = limits_table.parse_cell(line[field.name], field)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as problem:
        raise ValueError(f"This draft cannot be read ({type(problem).__name__}): save it again or type anew.") from None
    for name in ("person", "label"):
        if answers.get(name) not in session.header:
            answers[name] = None
    session.column_table = form_table
    session.undo_stack.clear()
    session.widget_values = {
        name: value for name, value in session.widget_values.items() if name not in _OF_TABLE
    } | answers
    before = [str(line["column"]) for line in lines]
    session.widget_values["others"] = {
        words: names
        for words, names in (
            ("Left out, because this file has no such columns", [n for n in before if n not in session.header]),
            ("New in this file", [n for n in session.header if n not in before]),
        )
        if names
    }
    session.turn += 1  # the widgets start anew, from what was kept


def fill(declaration: Declaration) -> None:
    """Put a saved declaration into the form, as far as this file has its columns."""
    session = owner_session()
    by_name = {c.name: c for c in declaration.columns}
    raw = as_csv(session.workbook, session.file_name, declaration.dialect) if session.workbook else session.raw
    if read_header(raw[: MAX_HEADER_BYTES + 1], declaration.dialect) != list(session.header):
        raise ValueError(
            f"The declaration says {declaration.dialect.divider} and {declaration.dialect.encoding}, by which this "
            "file has other columns: correct its dialect."
        )
    strange = [n for n in [*by_name, declaration.label, declaration.person] if n and n not in session.header]
    if strange:
        raise ValueError(f"The declaration names the column {strange[0]!r}, which this file does not have.")
    table = columns.blank(session.header)
    for row, name in enumerate(session.header):
        column = by_name.get(name)
        table.loc[row, "use"] = column is not None
        if column is not None:
            for field, value in columns.line_of(column).items():
                table.loc[row, field] = value
    codes = columns.codes_text(declaration.missing_codes)
    session.column_table, session.dialect, session.raw = table, declaration.dialect, raw
    session.undo_stack.clear()
    session.widget_values |= {
        "name": declaration.name,
        "unit": declaration.row_stands_for,
        "people": declaration.rows_per_person,
        "person": declaration.person or None,
        "public": declaration.n_public,
        "missing": declaration.missing,
        "codes": codes,
        "fraction": declaration.row_bound_fraction,
        "search": next(word for word, value in SEARCHED.items() if value is declaration.row_bound_search),
        "label": declaration.label or None,
        "classes": "\n".join(declaration.classes),
    }
    session.turn += 1  # the widgets start anew, from what was kept
