"""Step 1: what is publicly known about the table. The header is read, and not a byte after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import show
from pages.upload import limits_table, session_file
from pages.your_data import columns as own_columns
from pages.your_data import practice, state
from pages.your_data.columns import NUMBERS, blank, empty, names_a_person
from pages.your_data.state import keep, own
from privcov.data_sources.csv_file import MAX_BYTES, MAX_HEADER_BYTES, read_header
from privcov.data_sources.private_file import Column, Declaration
from privcov.table_files.facts import quote

ROWS_PUBLIC = {
    True: "Public: it may be known to everybody",
    False: "Not public: it is hidden, and a noisy count is made",
}
MISSING = {
    "typical": "A missing cell counts as the typical value",
    "drop-row": "A row with a missing cell is left out (only where the number of rows is not public)",
}
_HOW = """
1. **Declare**: say what everybody may know about the table: what a row is, which columns, between which limits.
2. **Plan**: see what an answer would look like at three strengths of protection, and pick one.
3. **Release**: set a limit for these people once, and confirm one noisy measurement.
4. **Answers**: matrices, graph, models and a synthetic table, all from that measurement, and one file to take home.

You need a CSV with column names in its first line and numbers below, one row per person or visit, and what you know
about the columns: their units and the values they can take.
"""


def section() -> None:
    """Declare: the file, what a row stands for, and the columns."""
    mine = own()
    if not mine.raw:
        _file()
        return
    show.tag(
        "Unread", f"{mine.file_name}: {len(mine.header)} column names read, {len(mine.raw) / 1e6:,.2f} MB not read"
    )
    _load()
    _table_facts()
    own_columns.section()
    _finish()


# --- the file -----------------------------------------------------------------------------------------------


def _file() -> None:
    st.markdown(_HOW)
    st.markdown(
        "Choose the confidential CSV. Only its first line, the column names, is read now; the rows stay unread in this "
        "session's memory until you ask for the owner's view or for the release, and go when you press **Forget**, and "
        "two minutes after the tab is reloaded or closed: save the declaration, to have the form again. Nothing of it "
        "enters the address, a log, a file or a cache that others share."
    )
    file = session_file.uploader("Confidential CSV", "own")
    if file is None:
        if own().problem:
            st.error(show.as_text(own().problem))
        practice.offer(_fill)
        return
    try:
        if file.size > MAX_BYTES:
            raise ValueError(
                f"The file has {file.size / 1e6:,.1f} MB and the limit is {MAX_BYTES / 1e6:,.0f} MB: keep fewer rows, "
                "columns or decimals."
            )
        header = tuple(read_header(file.getvalue()[: MAX_HEADER_BYTES + 1]))
    except ValueError as problem:
        own().problem = str(problem)
        session_file.let_go(file)
        return
    state.take(file, header)


def _load() -> None:
    mine = own()
    with st.expander("Use a saved declaration"):
        saved = st.file_uploader("Declaration", type=["json"], max_upload_size=1, key=f"own-load-{mine.file_id}")
        if saved is not None and st.button("Fill the form from it", key=f"own-fill-{mine.file_id}"):
            with show.problems():
                _fill(Declaration.from_json(saved.getvalue().decode("utf-8", errors="replace")))
                st.rerun()


def _fill(found: Declaration) -> None:
    """The saved declaration into the form, as far as this file has its columns."""
    mine = own()
    columns = {c.name: c for c in found.columns}
    strange = [name for name in [*columns, found.label] if name and name not in mine.header]
    if strange:
        raise ValueError(f"The declaration names the column {strange[0]!r}, which this file does not have.")
    table = blank(mine.header)
    for row, name in enumerate(mine.header):
        known = columns.get(name)
        table.loc[row, "use"] = known is not None
        if known is not None:
            for field in NUMBERS:
                value = getattr(known, field)
                table.loc[row, field] = np.nan if value is None else value
            table.loc[row, "reason"] = known.reason
    mine.typed = table
    mine.kept |= {
        "name": found.name,
        "unit": found.row_stands_for,
        "people": found.rows_per_person,
        "public": found.n_public,
        "missing": found.missing,
        "label": found.label or None,
        "classes": "\n".join(found.classes),
    }
    mine.turn += 1  # the widgets start anew, from what was kept


# --- the questions ------------------------------------------------------------------------------------------


def _table_facts() -> None:
    mine = own()
    st.header("The table")
    left, right = st.columns(2, gap="large")
    with left:
        st.text_input(
            "Name of the table",
            placeholder="health survey 2025",
            max_chars=80,
            help="How the ledger knows it. All releases of these people go under one name: it is what limits them.",
            **keep("name", ""),
        )
        st.text_input("One row stands for", placeholder="one patient", max_chars=80, **keep("unit", ""))
        st.number_input(
            "Most rows that one person can have",
            min_value=1,
            max_value=100_000,
            step=1,
            placeholder="1 when every row is another person",
            help="The guarantee protects all rows of a person together. It is a promise about how the table was made; "
            "repeats are never counted in the file.",
            **keep("people", None),
        )
        ids = [name for name in mine.header if names_a_person(name)]
        if ids:
            st.warning(
                show.as_text(
                    f"Does {', '.join(map(repr, ids[:3]))} say whose row it is? Then one person may have several rows: "
                    "enter the largest number that is possible. Such a column is left out of the matrix below."
                )
            )
    with right:
        public, missing = list(ROWS_PUBLIC), list(MISSING)
        st.radio("Number of rows", public, format_func=ROWS_PUBLIC.get, **keep("public", None, among=public))
        st.radio("Missing cells", missing, format_func=MISSING.get, **keep("missing", "typical", among=missing))
        label = _label()
        if label is not None:
            st.text_area(
                "Every class there can be, one on a line",
                height=100,
                help="The public list. A row with any other label counts as no row.",
                **keep("classes", ""),
            )


def _label() -> str | None:
    """The column of classes, which leaves the matrix when it is picked: it cannot be both."""
    kept = keep("label", None, among=own().header)

    def picked() -> None:
        kept["on_change"]()
        if (name := own().kept["label"]) is not None:
            own_columns.leave_out(name)

    return st.selectbox(
        "Classes (optional)",
        list(own().header),
        placeholder="no column holds classes",
        help="A column of labels, such as a treatment arm: class means and counts are then measured with the rest. It "
        "is not a column of the matrix.",
        **kept | {"on_change": picked},
    )


# --- done ---------------------------------------------------------------------------------------------------


def _finish() -> None:
    mine = own()
    pressed = st.button("Declare", type="primary", key=f"own-declare-{mine.file_id}")
    if pressed or mine.problem:  # what was missing shrinks while the form is filled
        mine.problem = ""
        try:
            found = entered()
        except (ValueError, TypeError) as problem:
            mine.problem = str(problem)
        else:
            if pressed and found != mine.declared:
                mine.declared, mine.look = found, None
    if mine.problem:
        st.error(show.as_text(mine.problem))
    if mine.declared is None:
        return
    changed_since()
    d = len(mine.declared.columns)
    st.success(show.as_text(f"Declared: {d} columns of {mine.declared.name!r}."))
    own_columns.as_used(mine.declared)
    text = mine.declared.to_json()
    first, second, _ = st.columns([2, 2, 5])
    with first:
        state.next_step("Go on to Plan", "plan")
    with second:
        show.download("Save the declaration", lambda: text, "declaration.json", "own-save", "application/json")


def changed_since() -> None:
    """Say so where the form says something else than what was declared."""
    mine = own()
    if mine.declared is None or mine.typed is None:
        return
    try:
        changed = entered() != mine.declared
    except (ValueError, TypeError):
        changed = True
    if changed:
        st.info("You changed something since. Press Declare again, or the other steps go on with what was declared.")


def entered() -> Declaration:
    """What the form says. ValueError for what is missing, in one sentence."""
    kept, typed = own().kept, own().typed
    rows = typed[typed["use"]]
    if not len(rows):
        raise ValueError("No column is chosen, and at least one is needed: tick those that go into the matrix.")
    if unread := limits_table.unread(typed, own_columns.FIELDS):
        raise ValueError(unread)
    if lacking := _lacking(kept, rows):
        raise ValueError(f"Still missing: {'; '.join(lacking)}.")
    columns = tuple(
        Column(line.column, _number(line.low), _number(line.high), _number(line.typical), str(line.reason).strip())
        for line in rows.itertuples()
    )
    label = kept.get("label") or ""
    classes = tuple(c.strip() for c in str(kept.get("classes") or "").splitlines() if c.strip())
    return Declaration(
        name=str(kept.get("name") or "").strip(),
        row_stands_for=str(kept.get("unit") or "").strip(),
        columns=columns,
        rows_per_person=int(kept["people"]),
        n_public=bool(kept["public"]),
        label=label,
        classes=classes if label else (),
        missing=kept.get("missing") or "typical",
    )


def _lacking(kept: dict, rows: pd.DataFrame) -> list[str]:
    """Everything that is not filled in yet, so that nobody learns of it one press at a time."""
    asked = {
        "the name of the table": str(kept.get("name") or "").strip(),
        "what one row stands for": str(kept.get("unit") or "").strip(),
        "how many rows one person can have (1 when every row is another person)": kept.get("people") is not None,
        "whether the number of rows is public": kept.get("public") is not None,
        "the list of classes": not kept.get("label") or str(kept.get("classes") or "").strip(),
    }
    lacking = [what for what, given in asked.items() if not given]
    for what, fields in (("lowest and highest value", ("low", "high")), ("the reason for the bounds", ("reason",))):
        holes = np.any([empty(rows[f]) for f in fields], axis=0)
        if holes.any():
            names = [quote(name) for name in rows["column"][holes]]
            lacking.append(f"{what} of {', '.join(names[:3])}" + (f" and {len(names) - 3} more" * (len(names) > 3)))
    return lacking


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)
