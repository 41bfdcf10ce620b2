"""The visitor's own table: asked once whether it is public, then declared in the form of Your data."""

from __future__ import annotations

import contextlib
import dataclasses
import re

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import frame, own_range, show, study_form, visitor_files
from pages.common.visitor_files import TableForm, Upload
from pages.your_data import state
from pages.your_data.declare import columns, file_format
from pages.your_data.declare.file_format import UploadedTable
from privcov.core.words import percent, plain
from privcov.measurements.clipping import share_out_of_bounds
from privcov.tables.declaration.csv_file import MAX_BYTES, codes_of, read_public
from privcov.tables.declaration.declaration import Declaration, public_upload, row_bound_fraction
from privcov.tables.readers import says_how
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.kinds import INTEGER, NUMBER
from privcov.tables.readers.numbers import number_of

ANSWERS = {"yes": "Yes, anyone may see its rows", "no": "No, its rows are confidential"}
_OWN = "from the file's own range"
_FEW = 10  # different values, whose lowest and highest are the bounds as well


def section() -> None:
    """Show the whole section, above the page's own pictures."""
    upload = visitor_files.upload()
    if upload is None or upload.declared is None:
        st.header("Your own table")
        _question()
        st.divider()
        return
    with st.expander(f"Your own table: {show.as_text(upload.file_name)}"):  # the pictures come first
        _question()
    own_range.warn(visitor_files.table())
    for note in upload.notes:
        st.text(note)


def _question() -> None:
    answer = st.radio(
        "Is this file already public?",
        list(ANSWERS),
        index=None,
        format_func=ANSWERS.get,
        horizontal=True,
        key="upload-public",
        on_change=visitor_files.forget_file,
        persist_state="session",
        help="Public: anyone may download it. An unpublished table about people is confidential, even without names.",
    )
    if answer is None:
        st.caption("Answer first; nothing is read before.")
    elif answer == "no":
        st.info("This page computes from the rows themselves. Your data makes one release of a confidential table.")
        frame.link("pages/5_Your_data.py", "Go on to Your data")
    else:
        _public()


def forget() -> None:
    """Remove the file and the answer: the next file is asked about again."""
    visitor_files.forget_file()
    st.session_state["upload-public"] = None
    visitor_files.empty_uploaders()


def take_over(form: TableForm) -> None:
    """Take a file that its owner called public on another page; guess a missing dialect."""
    st.session_state["upload-public"] = "yes"
    _take(form.file_id, form.file_name, UploadedTable(form.raw, form.dialect, form.workbook, form.sheets))


def _public() -> None:
    """Show the uploader of a public file, or the file and the form of its columns."""
    upload = visitor_files.upload()
    if upload is None or not upload.raw:
        st.caption("CSV, Excel or Parquet, column names in the first line. It stays in this session's memory.")
        file = visitor_files.uploader("Public table", "table")
        if file is not None:
            try:
                with st.spinner("Reading the file ..."):
                    contents = file_format.read_upload(file)
                if len(contents.raw) > MAX_BYTES:
                    contents.dialect = contents.dialect or Dialect()
                _take(file.file_id, file.name, contents)
            except ValueError as problem:
                st.session_state["upload"] = Upload(problem=str(problem))
            visitor_files.let_go(file)
        _problem(upload)
        return
    if upload.dialect is None:
        _ask(upload)
        _forget_button()
        return
    dialect = upload.dialect
    size = f"{len(upload.raw) / 1e6:,.2f} MB{dialect.in_words}"
    show.say("The file is read.")
    show.tag("Public", f"{upload.file_name}: {len(upload.header)} columns, {size}")
    if upload.workbook or not says_how(upload.file_name):
        with st.popover(
            "Written otherwise", key=f"upload-otherwise-{upload.widget_values.get('turn', 0)}"
        ):  # an answer closes it
            _ask(upload)
    state.show_form("upload")
    with st.expander("Columns and limits", expanded=upload.declared is None):
        _form(upload)
    _show_declaration(upload)
    _forget_button()


def _forget_button() -> None:
    st.button("Forget this file", on_click=forget, help="Removes the table and all made from it.")


def _problem(upload: Upload | None) -> None:
    if upload is not None and upload.problem:
        st.error(show.as_text(upload.problem))
        upload.problem = ""


def _take(file_id: str, name: str, file: UploadedTable) -> None:
    """Take a public file; ask for its format where it cannot be guessed; raise ValueError for its header."""
    if file.dialect is None and not file.workbook:
        with contextlib.suppress(ValueError):  # in none of the likely encodings
            file.dialect = file_format.guessed(file.raw)
    header = file.header()
    upload = visitor_files.new(file_id, name, file.raw, file.workbook, file.sheets)
    upload.dialect, upload.header, upload.problem = file.dialect, header, file.problem


def _ask(upload: Upload) -> None:
    if file_format.ask(upload, f"upload-written-{upload.file_id}", rows=True):
        if upload.ranged:  # the file was read differently before
            upload.column_table = None
        upload.ranged, upload.left_out, upload.declared = {}, {}, None
        upload.widget_values["turn"] = upload.widget_values.get("turn", 0) + 1
        visitor_files.forget_table()
        st.rerun()


def _form(upload: Upload) -> None:
    """Show the form of Your data, its button for the file's own range, and the button that uses the table."""
    key = f"upload-missing-{upload.file_id}"
    st.button(
        "Start with the file's own range",
        key=f"upload-range-{upload.file_id}",
        type="primary" if upload.declared is None else "secondary",
        on_click=_use_own_range,
        help="Where nothing is typed, takes the values between which nine in ten cells of a column lie, and shows the "
        "preview at once. Such a range is not private: replace it by what is publicly known.",
    )
    columns.section()
    st.toggle("Leave out rows with a missing cell", key=key, help="Else such a cell counts as the typical value.")
    upload.widget_values["drop"] = st.session_state[key]
    if st.button("Use this table", type="secondary" if upload.declared is None else "primary"):
        _use(upload)
        if not upload.problem:
            st.rerun()  # the strip was drawn before, with the previous table
    message = upload.problem
    _problem(upload)
    if upload.declared is not None and not message:
        try:
            changed = _entered(upload) != upload.declared
        except ValueError:
            changed = True
        if changed:
            st.info("Changed since: press the button again.")


def _use_own_range() -> None:
    """Fill the lines without limits from the file, and use the table; in a callback."""
    upload = visitor_files.upload()
    assert upload is not None  # the button stands above its table
    form_table = columns.to_change()
    try:
        table = read_public(upload.raw, upload.dialect)
    except ValueError as problem:
        upload.problem = str(problem)
        return
    for row, name in form_table["column"].items():
        low, high, typical, levels = ~columns.empty(form_table.loc[row, [*columns.NUMBERS, "levels"]])
        if not form_table.loc[row, "use"] or typical or (low and high) or levels:
            continue
        cells = table[name].to_numpy() if name in table.columns else np.array([])
        typed_codes = columns.codes_of(str(form_table.loc[row, "codes"]))
        codes = tuple(number for number in map(number_of, typed_codes) if number is not None) or codes_of(cells)
        cells = cells[np.isfinite(cells) & ~np.isin(cells, codes)]
        why = "no numbers" if not len(cells) else "one value" if cells.min() == cells.max() else ""
        if why or _numbers_rows(name, cells):
            form_table.loc[row, "use"], upload.left_out[name] = False, why or "numbers the rows"
            continue
        if form_table.loc[row, "kind"] not in (NUMBER, INTEGER):
            form_table.loc[row, "kind"] = NUMBER
        lower, upper = (float(f"{end:.4g}") for end in np.quantile(cells, (0.05, 0.95)))
        if lower < upper:
            form_table.loc[row, "typical"] = f"{lower:g} to {upper:g}"
        if lower == upper or len(np.unique(cells)) <= _FEW:
            for end, has_value, value in (("low", low, cells.min()), ("high", high, cells.max())):
                if not has_value:
                    form_table.loc[row, end] = float(value)
        if not str(form_table.loc[row, "codes"]).strip():
            form_table.loc[row, "codes"] = " | ".join(f"{code:g}" for code in codes)
        form_table.loc[row, "reason"] = _OWN
        upload.left_out.pop(name, None)
        upload.ranged[name] = tuple(form_table.loc[row, list(columns.NUMBERS)].map(str))
    if not form_table["use"].any():
        upload.problem = (
            "No column has numbers of more than one value, so the file has no range to start with. Give texts a kind "
            "with levels, or choose Written otherwise."
        )
    else:
        _use(upload)


def _numbers_rows(name: str, values: np.ndarray) -> bool:
    """Return whether a public column seems to hold ids: distinct whole numbers, named like ids or consecutive.

    A measurement of few rows may have whole numbers that differ, so one is called an id below a hundred rows by its
    name alone.
    """
    if (values != np.rint(values)).any() or len(np.unique(values)) < len(values):
        return False
    called = bool(re.search(r"(^|[^a-z])(id|nr|no|key|index|rownames?)$|^unnamed", name.strip().lower()))
    return called or (len(values) >= 100 and float(np.ptp(values)) == len(values) - 1)


def _entered(upload: Upload) -> Declaration:
    """Return the declaration in the form. Raises ValueError for what is missing or cannot be."""
    column_list = columns.entered("")
    drop = bool(upload.widget_values.get("drop"))
    return Declaration(
        name="csv",
        row_stands_for="one row",
        columns=column_list,
        n_public=not drop,
        missing="drop-row" if drop else "typical",
        row_bound_fraction=row_bound_fraction(column_list),
        dialect=upload.dialect or Dialect(),
    )


def _use(upload: Upload) -> None:
    """Read the rows under the declaration in the form, or keep the reason why that cannot be."""
    table = upload.column_table
    assert table is not None  # the form was drawn
    same = {
        name: tuple(table.loc[row, list(columns.NUMBERS)].map(str)) == upload.ranged[name]
        for row, name in table["column"].items()
        if name in upload.ranged
    }
    changed = table["column"].map(lambda name: not same.get(name, True)) & (table["reason"] == _OWN)
    table.loc[changed, "reason"] = ""
    try:
        declaration = _entered(upload)
        data, lines, missing = public_upload(upload.raw, declaration)
        visitor_files.hold_table(upload, data)
    except (ValueError, TypeError) as problem:
        upload.problem = str(problem)
        return
    if declaration != upload.declared:  # the slider for R belongs to the limits
        frame.change(lambda study: dataclasses.replace(study, bound=1.0))
    study_form.forget_bound()
    upload.declared, upload.problem = declaration, ""
    names = set(table["column"][table["use"]])
    upload.from_file = sum(stays and name in names for name, stays in same.items())
    words = [
        f"{name} ({upload.left_out[name]})" if name in upload.left_out else name
        for name in upload.header
        if name not in names
    ]
    notes = [f"Left out: {', '.join(words)}."] if words else []
    if data.n < lines:
        notes.append(f"Left out for a missing cell: {lines - data.n:,} of {lines:,} rows.")
    elif missing:
        worst = max(missing, key=lambda name: missing[name])
        notes.append(
            f"Missing cells at the typical value of their column: {sum(missing.values()):,}, most of them in {worst} "
            f"({percent(missing[worst] / lines)}). Correlations shrink by it."
        )
    upload.notes = tuple(notes)


def _show_declaration(upload: Upload) -> None:
    data = visitor_files.table()
    if upload.declared is None or data is None:
        return
    show.tag("Declared", f"{data.n:,} rows, {data.d} columns, R = {plain(data.row_bound)}")
    shares = share_out_of_bounds(data)
    if not shares.any():
        return
    assert data.bounds is not None  # shares are counted for a table with bounds only
    with st.expander("Clipped to the bounds, per column", expanded=True):
        st.dataframe(
            pd.DataFrame(
                {"column": data.columns, "low": data.bounds[:, 0], "high": data.bounds[:, 1], "clipped": shares}
            ).sort_values("clipped", ascending=False),
            hide_index=True,
            height=min(36 * (data.d + 1), 260),
            column_config={
                "column": "Column",
                "low": "Lowest",
                "high": "Highest",
                "clipped": st.column_config.ProgressColumn("Share of values clipped", format="percent"),
            },
        )
