"""Step 1: what is publicly known about the table. The header is read, and not a byte after it."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from pages.common import frame, show, visitor_files
from pages.common.study import CSV
from pages.your_data import example_table, state
from pages.your_data.declare import choices, columns, drafts, file_format, practice, public_file
from pages.your_data.state import owner_session, practising, set_value, widget_args
from pages.your_data.wording import MISSING, MISSING_WHEN, SEARCHED, facts_in_words, text_table
from privcov.core.words import percent
from privcov.tables.declaration.declaration import Declaration, row_bound_fraction, row_bound_search
from privcov.tables.declared_columns import LEAST_FRACTION
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.table_files import quote

ROWS_PUBLIC = {
    True: "Public: it may be known to everybody",
    False: "Not public: it is hidden, and a noisy count is made",
}


def section() -> None:
    """Show Declare: the file, what a row stands for, and the columns."""
    session = owner_session()
    if not practising():
        drafts.keep_in_tab(session)
    if not session.raw:
        _file()
        return
    if session.dialect is None:
        _ask_format()
        _to_estimate()
        return
    size = f"{len(session.raw) / 1e6:,.2f} MB not read{session.dialect.in_words}"
    show.tag("Unread", f"{session.file_name}: {len(session.header)} column names read, {size}")
    with st.container(horizontal=True):
        st.button("Written in another way", key=f"own-rewrite-{session.file_id}", on_click=_ask_again)
        if not practising():
            drafts.replace()
    _to_estimate()
    drafts.load()
    _table_facts()
    columns.section()
    _finish()


# --- the file -----------------------------------------------------------------------------------------------


def _file() -> None:
    st.markdown(
        "Only the column names are read now, and no row before you declare the table. **Forget** removes the rows from "
        "this session's memory."
    )
    file = visitor_files.uploader("Confidential table", "own")
    if file is None:
        if owner_session().problem:
            st.error(show.as_text(owner_session().problem))
        practice.offer(drafts.fill)
        return
    state.take(file)


def _ask_format() -> None:
    """Show the question how the file is written, with the names of its columns and nothing else of it."""
    session = owner_session()
    show.tag("Unread", session.file_name)
    if file_format.ask(session, f"own-written-{session.file_id}-{session.turn}", rows=False):
        st.rerun()


def _ask_again() -> None:
    """Ask anew how the file is written; in a callback. What was typed stays where the names stay."""
    columns.take_in()
    session = owner_session()
    session.dialect, session.turn = None, session.turn + 1


def _to_estimate() -> None:
    """Show the way of a public file to Estimate, which then has it without a second upload."""
    session = owner_session()
    with st.expander("Is the file already public?"):
        st.markdown(
            "Only if anyone may download it. Estimate then shows its rows, and every method can be tried on them; what "
            "was typed here is left."
        )
        if st.button("Anyone may see its rows: open it on Estimate", key=f"own-public-{session.file_id}"):
            public_file.take_over(session)
            state.forget()
            frame.change(lambda study: dataclasses.replace(study, source=CSV, data=()))
            st.switch_page(frame.file_of("Estimate"))


# --- the questions ------------------------------------------------------------------------------------------


def _table_facts() -> None:
    """Show the questions about the table: those that need an answer, and the others under Advanced."""
    session = owner_session()
    st.header("The table")
    show.say("The file is read.")
    left, right = st.columns(2, gap="large")
    person = session.widget_values.get("person")
    with left:
        st.text_input(
            "Name of the table",
            placeholder="health survey 2025",
            max_chars=80,
            help="The ledger limits all releases of these people under this one name.",
            **widget_args("name", ""),
        )
        _mark("name")
        st.text_input("One row stands for", placeholder="one patient", max_chars=80, **widget_args("unit", ""))
        _mark("unit")
    with right:
        st.number_input(
            "Most rows that one person can have",
            min_value=1,
            max_value=100_000,
            step=1,
            placeholder="not asked: ids say whose row it is" if person else "1 when every row is another person",
            disabled=bool(person),
            help="The guarantee protects all rows of a person together. Repeats are never counted in the file.",
            **widget_args("people", None),
        )
        _mark("people")
        public = list(ROWS_PUBLIC)
        st.radio(
            "Number of persons" if person else "Number of rows",
            public,
            format_func=ROWS_PUBLIC.get,
            **widget_args("public", None, among=public),
        )
        _mark("public")
    _ask_for_ids()
    _missing()
    with st.expander("Advanced: ids of persons, classes, row bound"):
        left, right = st.columns(2, gap="large")
        with left:
            _person()
            _row_bound_share()
        with right:
            _label()


def _ask_for_ids() -> None:
    """Show a question where a column's name looks like an id, and the button that answers it."""
    session = owner_session()
    ids = [
        name for name in session.header if columns.names_a_person(name) and name != session.widget_values.get("label")
    ]
    if session.widget_values.get("person") or not ids:
        return
    st.warning(
        show.as_text(
            f"Does {', '.join(map(repr, ids[:3]))} say whose row it is? Then a person may have several rows: take it "
            "as the column of ids, or enter the largest possible number above. It is left out of the matrix."
        )
    )
    for place, name in zip(st.columns(3), ids[:3], strict=False):
        place.button(
            show.as_text(f"Take {quote(name)} as the ids"),
            key=f"own-ids-{session.file_id}-{session.header.index(name)}",
            on_click=_take_ids,
            args=(name,),
        )


def _take_ids(name: str) -> None:
    set_value("person", name)
    columns.leave_out(name)


def _row_bound_share() -> None:
    st.number_input(
        "Row bound, as a share of the longest possible row",
        min_value=LEAST_FRACTION,
        max_value=1.0,
        step=0.05,
        format="%g",
        help="Longer rows are shortened to it; at 1 none is. The noise falls with its square, which helps where most "
        "rows lie near the typical values, as with columns that are rarely yes. Take it from what you know, never "
        "from the file.",
        placeholder="from the typical ranges, else 1",
        **widget_args("fraction", None),
    )
    st.selectbox(
        "Search for a shorter row bound",
        list(SEARCHED),
        help="A release then spends 5 % of its guarantee on noisy counts of the lengths of the rows, and shortens the "
        "row bound to where most rows end. It pays where limits are far from most values, and takes ten columns or "
        "more. Yes-no columns and categories in shortened rows have no means by group.",
        placeholder="yes for ten numbers or more with limits alone, else no",
        **widget_args("search", None, among=list(SEARCHED)),
    )


def _missing() -> None:
    missing = list(MISSING)
    st.radio(
        "Missing cells, from what you know of the table",
        missing,
        format_func=MISSING.get,
        captions=[MISSING_WHEN[rule] for rule in missing],
        **widget_args("missing", None, among=missing),
    )
    _mark("missing")
    if owner_session().widget_values.get("missing"):
        example_table.missing_share()
    st.text_input(
        "Codes for missing cells, in every column",
        placeholder="none, or such as: -9 | 999",
        help="What is written where a value is missing, compared as text and as a number. A code of one column alone "
        "goes into its line below.",
        **widget_args("codes", ""),
    )


def _label() -> None:
    """Show the column of classes, which leaves the matrix when it is picked, and their list."""
    label = st.selectbox(
        "Classes (optional)",
        list(owner_session().header),
        placeholder="no column holds classes",
        help=(
            "Such as a treatment arm: class means and counts are measured with the rest. The column leaves the matrix."
        ),
        **_leaving("label"),
    )
    if label is not None:
        st.text_area(
            "Every class there can be, one on a line",
            height=100,
            help="The public list. Any other label counts as no row.",
            **widget_args("classes", ""),
        )
        _mark("classes")


def _person() -> None:
    """Show the column of the ids of persons, which leaves the matrix when it is picked."""
    st.selectbox(
        "Column that says whose row it is",
        list(owner_session().header),
        placeholder="no column of ids",
        help="Each person then counts as one, however many rows they have. A row without an id counts as no row.",
        **_leaving("person"),
    )


def _leaving(field: str) -> dict[str, Any]:
    """Return what keeps the choice of a column that leaves the matrix when it is picked."""
    arguments = widget_args(field, None, among=owner_session().header)

    def picked() -> None:
        arguments["on_change"]()
        if (name := owner_session().widget_values[field]) is not None:
            columns.leave_out(name)

    return arguments | {"on_change": picked}


# --- done ---------------------------------------------------------------------------------------------------


def _finish() -> None:
    session = owner_session()
    draft = drafts.draft(session)
    with st.container(horizontal=True):
        pressed = st.button("Declare", type="primary", key=f"own-declare-{session.file_id}", on_click=_look_at_all)
        show.download("Save a draft", lambda: draft, "draft.json", "own-draft", "application/json")
    if session.problem:  # what was missing shrinks while the form is filled
        session.problem = ""
        try:
            declaration = entered()
        except (ValueError, TypeError) as problem:
            session.problem = str(problem)
        else:
            if pressed and declaration != session.declared:
                session.declared, session.owner_view = declaration, None
    if session.problem:
        st.error(show.as_text(session.problem))
    if session.declared is None:
        return
    changed_since()
    if session.problem:  # what was declared before is not what the form says
        return
    d, n_entries = len(session.declared.columns), len(session.declared.measured)
    more = f" {n_entries} are measured, one for each level of a category." if n_entries != d else ""
    st.success(show.as_text(f"Declared: {d} columns of {session.declared.name!r}.{more}"))
    _as_used(session.declared)
    with st.expander("What the choices cost the receiver"), show.problems():
        st.html(text_table(choices.lines(session.declared)))
        st.caption(
            f"{choices.GUARANTEE}, {choices.rows():,} rows of an invented table, {percent(choices.missing())} of the "
            "cells missing (your own figure, here or on Plan); Plan has your own guarantee. The interval leaves out "
            "that filled cells pull correlations towards zero."
        )
    text = session.declared.to_json()
    first, second, _ = st.columns([2, 2, 5])
    with first:
        state.next_step("Go on to Plan", "plan")
    with second:
        show.download("Save the declaration", lambda: text, "declaration.json", "own-save", "application/json")


def _look_at_all() -> None:
    """Have every cell looked at in the run that follows; for the button."""
    owner_session().problem = "pressed"


def changed_since() -> None:
    """Show a sentence where the form differs from what was declared."""
    session = owner_session()
    if session.declared is None or session.column_table is None:
        return
    try:
        changed = entered() != session.declared
    except (ValueError, TypeError):
        changed = True
    if changed:
        st.info("You changed something since: press Declare again, or it is left out.")


def entered() -> Declaration:
    """Return the declaration in the form. Raises ValueError for what is missing, in one sentence."""
    answers = owner_session().widget_values
    column_list = columns.entered(str(answers.get("codes") or ""), list(_unanswered(answers).values()))
    label, person = answers.get("label") or "", answers.get("person") or ""
    classes = tuple(c.strip() for c in str(answers.get("classes") or "").splitlines() if c.strip())
    return Declaration(
        name=str(answers.get("name") or "").strip(),
        row_stands_for=str(answers.get("unit") or "").strip(),
        columns=column_list,
        rows_per_person=1 if person else int(answers["people"]),
        n_public=bool(answers["public"]),
        label=label,
        classes=classes if label else (),
        missing=str(answers["missing"]),
        person=person,
        row_bound_fraction=float(answers.get("fraction") or row_bound_fraction(column_list)),
        dialect=owner_session().dialect or Dialect(),
        missing_codes=columns.codes_of(str(answers.get("codes") or "")),
        row_bound_search=SEARCHED[answers["search"]] if answers.get("search") else row_bound_search(column_list),
    )


def _unanswered(answers: dict) -> dict[str, str]:
    """Return the fields above the table that need an answer and have none, each in words."""
    persons = answers.get("person")
    words = {name: str(answers.get(name) or "").strip() for name in ("name", "unit", "classes")}
    fields = {
        "name": ("the name of the table", words["name"]),
        "unit": ("what one row stands for", words["unit"]),
        "people": (
            "how many rows one person can have (1 when every row is another person)",
            persons or answers.get("people") is not None,
        ),
        "public": (
            f"whether the number of {'persons' if persons else 'rows'} is public",
            answers.get("public") is not None,
        ),
        "missing": ("what a missing cell counts as", answers.get("missing")),
        "classes": ("the list of classes", not answers.get("label") or words["classes"]),
    }
    return {field: label for field, (label, answer) in fields.items() if not answer}


def _mark(field: str) -> None:
    """Show below a question that it has no answer, once Declare was pressed."""
    session = owner_session()
    if session.problem and field in _unanswered(session.widget_values):
        st.caption(":red[Still missing.]")


def _as_used(declaration: Declaration) -> None:
    """Show every bound as it will be used, so that a slip is seen before a row is read."""
    st.markdown("**This will be used.** A wrong digit changes the answer.")
    lines = [f"{c.name}: {c.in_words}" for c in declaration.columns]
    with st.container(height=300 if len(lines) > 10 else "content"):
        st.text("\n".join(lines))
    code_lines = (
        [f"Missing in every column: {', '.join(declaration.missing_codes)}."] if declaration.missing_codes else []
    )
    st.markdown(show.as_text(" ".join([*facts_in_words(declaration), *code_lines])))
