"""The visitor's own table: asked once whether it is public, then read and declared, or kept unread for Your data."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import own_range, show, strip, visitor_files
from pages.shell.visitor_files import Upload
from pages.upload import how_written, limits_table
from pages.upload.limits_table import Field
from privcov.data_sources.csv_file import MAX_BYTES, PublicTable, codes_of, read_public, without
from privcov.data_sources.declaration import declare
from privcov.figures.words import plain
from privcov.measurements.clipping import share_out_of_bounds
from privcov.table_files import says_how
from privcov.table_files.dialect import Dialect

ANSWERS = {"yes": "Yes, anyone may see its rows", "no": "No, its rows are confidential"}
LIMITS = {"bounds": "Bounds per column", "row": "One row bound"}
NUMBERS = ("low", "high", "typical")
_FIELDS = (
    Field("use", "Use", "tick"),
    Field("column", "Column", "name"),
    Field("low", "Lowest", "number", "Lowest possible value."),
    Field("high", "Highest", "number", "Highest possible value."),
    Field("typical", "Typical", "number", "Optional, between the two."),
    Field(
        "missing",
        "Missing",
        "count",
        "Empty or infinite cells. Rows with one are left out, but an empty cell takes the typical value of its column.",
    ),
    Field("remark", "Remark", "fact"),
)


def section(confidential: Callable[[], None]) -> None:
    """Show the whole section, above the page's own pictures; ``confidential`` shows the door of a confidential file."""
    upload = visitor_files.upload()
    if upload is None or upload.used is None:
        st.header("Your own table")
        _asked(confidential)
        st.divider()
        return
    with st.expander(f"Your own table: {show.as_text(upload.name)}"):  # the pictures come first
        _asked(confidential)
    own_range.warn(visitor_files.table())
    if own_range.sentence(visitor_files.table()):
        key = f"upload-wide-{upload.file_id}"
        st.toggle(
            "Twice as wide",
            key=key,
            on_change=_widen,
            help="As publicly known bounds often are, so that the error flatters less. They still come from the file.",
            persist_state="session",
        )
    for note in upload.notes:
        st.text(note)


def _asked(confidential: Callable[[], None]) -> None:
    """Show the question, and what follows from its answer."""
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
        confidential()
    else:
        _public()


def forget() -> None:
    """Remove the file and the answer: the next file is asked about again."""
    visitor_files.forget_file()
    ask_again()
    visitor_files.empty_uploaders()


def ask_again() -> None:
    """Remove the answer alone, for a file that another page holds."""
    st.session_state["upload-public"] = None


# --- a public file ------------------------------------------------------------------------------------------


def _public() -> None:
    """Show the uploader of a public file, or the file and its limits."""
    upload = visitor_files.upload()
    if upload is None or upload.table is None:
        st.caption(
            "CSV, Excel or Parquet, column names in the first line. How it is written is guessed. The table stays in "
            "this session's memory."
        )
        file = visitor_files.uploader("Public table", "table")
        if file is not None:
            _begin(visitor_files.new(file.file_id, file.name), file)
            visitor_files.let_go(file)
        if upload is not None and upload.problem:
            st.error(show.as_text(upload.problem))
        if upload is not None and upload.raw:
            _ask(upload)
        return
    show.say("The table is read.")
    _summary(upload, upload.table)
    if upload.raw:
        with st.popover("Written otherwise"):
            _ask(upload)
    declared = upload.used is not None
    with st.expander("Columns and limits", expanded=not declared):
        _declaration(upload, upload.table)
    if declared:
        _declared(upload)
    st.button("Forget this file", on_click=forget, help="Removes the table and all made from it.")


def _ask(upload: Upload) -> None:
    """Ask how the file is written, and read it again."""
    dialect = how_written.asked(upload.raw, f"upload-written-{upload.file_id}", rows=True)
    if dialect is not None:
        upload.problem, upload.typed = "", None
        _read(upload, upload.raw, dialect)
        st.rerun()


def take_over(file_id: str, name: str, raw: bytes, dialect: Dialect | None) -> None:
    """Read a file that its owner has called public on another page; without a dialect that is guessed."""
    upload = visitor_files.new(file_id, name)
    st.session_state["upload-public"] = "yes"
    if dialect is None:
        _guess(upload, raw)
    else:
        _read(upload, raw, dialect)


def _begin(upload: Upload, file) -> None:
    try:
        with st.spinner("Reading the file ..."):
            raw = how_written.text_of(file)
    except ValueError as problem:
        upload.problem = str(problem)
        return
    if says_how(upload.name) or len(raw) > MAX_BYTES:
        _read(upload, raw, Dialect())
    else:
        _guess(upload, raw)


def _guess(upload: Upload, raw: bytes) -> None:
    """Read the file as it seems to be written; where that may be wrong, its bytes stay until the table is used."""
    try:
        dialect = how_written.guessed(raw)
    except ValueError:  # in none of the likely encodings: it is asked
        upload.raw = raw
        return
    if dialect != Dialect():
        upload.raw = raw
    if dialect is not None:
        _read(upload, raw, dialect)


def _read(upload: Upload, raw: bytes, dialect: Dialect) -> None:
    """Read a public file, or keep the reason why it cannot be read."""
    try:
        with st.spinner("Reading the file ..."):
            table = read_public(raw, dialect)
        visitor_files.keep(upload, table)
    except ValueError as problem:
        upload.problem = str(problem)
        return
    upload.dialect = dialect
    upload.codes = {name: found for name in table.columns if (found := codes_of(table.frame[name].to_numpy()))}
    _take_codes(upload, taken=True)


def _take_codes(upload: Upload, *, taken: bool) -> None:
    """Take what seems to stand for a missing cell as that, or as a number; a table in use has to be used anew."""
    assert upload.as_read is not None  # it was read
    upload.taken = taken
    upload.table = without(upload.as_read, upload.codes) if taken else upload.as_read
    upload.typed = upload.used = None
    upload.ranged.clear()
    visitor_files.forget_table()


def _summary(upload: Upload, table: PublicTable) -> None:
    counts = [_count(table.n_rows, "row"), _count(len(table.columns), "numeric column")]
    counts += [
        _count(number, what)
        for number, what in (
            (sum(table.missing.values()), "missing cell"),
            (sum(table.infinite.values()), "infinite cell"),
            (len(table.constant), "constant column"),
        )
        if number
    ]
    marks = "" if upload.dialect == Dialect() else f"; read with {upload.dialect.divider}, {upload.dialect.marks}"
    marks += f", {upload.dialect.encoding}" if upload.dialect.encoding != "utf-8" else ""
    show.tag("Public", f"{upload.name}: {', '.join(counts)}{marks}")
    if upload.codes:
        listed = sorted({f"{code:g}" for found in upload.codes.values() for code in found}, key=float)
        key = f"upload-codes-{upload.file_id}"
        st.toggle(
            f"{', '.join(listed)} in {_count(len(upload.codes), 'column')}: missing cells",
            value=True,
            key=key,
            on_change=lambda: _take_codes(upload, taken=st.session_state[key]),
            persist_state="session",
        )
    if table.dropped:
        with st.expander(f"Columns left out ({len(table.dropped)})"):
            st.text("\n".join(table.dropped.values()))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _declaration(upload: Upload, table: PublicTable) -> None:
    """Show what the visitor types, and the button that makes a data set of it."""
    how = st.segmented_control(
        "Public limits",
        list(LIMITS),
        default="bounds",
        required=True,
        format_func=LIMITS.__getitem__,
        key=f"upload-how-{upload.file_id}",
        persist_state="session",
    )
    bounds = how == "bounds"
    st.caption(
        "Type the lowest and highest value each column can have, from what you know (an age: 0 to 120), not from "
        "this file. Values beyond are clipped. Without a typical value the middle is used."
        if bounds
        else "Type the largest Euclidean norm a row may have, from what you know, not from this file. Longer "
        "rows are shortened. For columns in very different units, bounds per column are better."
    )
    if bounds:
        st.button(
            "Start with the file's own range",
            key=f"upload-range-{upload.file_id}",
            type="primary" if upload.used is None else "secondary",
            on_click=_use_own_range,
            help="Takes the lowest and the highest cell of every column as its bounds, where none are typed, and shows "
            "the preview at once. Such bounds are not private: replace them by what is publicly known.",
        )
    typed = _editor(upload, table, bounds)
    row_bound = None
    if not bounds:
        row_bound = st.number_input(
            "Row bound R",
            value=None,
            format="%g",
            placeholder="a number above 0",
            width=260,
            key=f"upload-row-{upload.file_id}",
            persist_state="session",
        )
    entered = (how, typed, row_bound)
    if st.button("Use this table", type="primary" if upload.used is not None or not bounds else "secondary"):
        try:
            _use(upload, table, entered)
        except (ValueError, TypeError) as problem:
            upload.problem = str(problem)
        else:
            st.rerun()  # the strip was drawn before, with the previous table
    if upload.problem:
        st.error(show.as_text(upload.problem))
        upload.problem = ""
    elif upload.used is not None and not _same(upload.used, entered):
        st.info("Changed since: press the button again.")


def _editor(upload: Upload, table: PublicTable, bounds: bool) -> pd.DataFrame:
    if upload.typed is None:
        upload.typed = _blank(table)
    fields = _FIELDS if bounds else tuple(f for f in _FIELDS if f.kind != "number")
    key = f"upload-cells-{upload.file_id}-{'bounds' if bounds else 'row'}"

    def keep() -> None:
        upload.typed = limits_table.taken_in(upload.typed, fields, key)

    upload.typed = limits_table.draw(upload.typed, fields, key, "A line per numeric column: its public limits.", keep)
    return upload.typed


def _blank(table: PublicTable) -> pd.DataFrame:
    """Return an empty table: a limit proposed from the rows would be copied, and would reveal something about a row."""
    endless = {c: f"{number:,} infinite" for c, number in table.infinite.items()}
    constant = dict.fromkeys(table.constant, "one value throughout")
    names = {c: "numbers the rows" for c in table.columns if _numbers_rows(c, table.frame[c].to_numpy())}
    return pd.DataFrame(
        {
            "use": [c not in names for c in table.columns],
            "column": list(table.columns),
            **{name: np.full(len(table.columns), np.nan, dtype=object) for name in NUMBERS},
            "missing": [table.missing.get(c, 0) + table.infinite.get(c, 0) for c in table.columns],
            "remark": [
                ", ".join(remarks[c] for remarks in (constant, endless, names) if c in remarks) for c in table.columns
            ],
        }
    )


def _numbers_rows(name: str, values: np.ndarray) -> bool:
    """Return whether a public column seems to name the rows: other whole numbers throughout, and called so or counted.

    A measurement of few rows may have whole numbers that differ, so one is called an id below a hundred rows by its
    name alone.
    """
    if not np.isfinite(values).all() or (values != np.rint(values)).any() or len(np.unique(values)) < len(values):
        return False
    called = bool(re.search(r"(^|[^a-z])(id|nr|no|key|index|rownames?)$|^unnamed", name.strip().lower()))
    return called or (len(values) >= 100 and float(np.ptp(values)) == len(values) - 1)


def _use_own_range() -> None:
    """Fill empty bounds with the range of the file and use the table; in a callback."""
    upload = visitor_files.upload()
    assert upload is not None  # the button stands above its table
    table = upload.table
    assert table is not None
    key = f"upload-cells-{upload.file_id}-bounds"
    typed = limits_table.taken_in(_blank(table) if upload.typed is None else upload.typed, _FIELDS, key).copy()
    for row, name in typed["column"].items():
        low, high = own_range.of_column(table, name, _times(upload))
        if not low < high:
            typed.loc[row, "use"] = False  # one value throughout
            continue
        values = table.frame[name].to_numpy()
        middle = float(np.nanmedian(values)) if np.isnan(values).any() else np.nan
        for end, value in (("low", low), ("high", high), ("typical", middle)):
            if typed.loc[row, end] != typed.loc[row, end]:
                typed.loc[row, end] = value
                upload.ranged |= {(name, end): value} if end != "typical" else {}
    upload.typed = typed
    if typed["use"].any():
        _try_to_use(upload, table)
    else:
        upload.problem = "Every column has one value throughout, so the file has no range to start with. Type bounds."


def _times(upload: Upload) -> float:
    """Return how many times as wide as in the file the switch wants bounds."""
    key = f"upload-wide-{upload.file_id}"
    return own_range.WIDE if st.session_state.get(key) else 1.0


def _widen() -> None:
    """Take the bounds that come from the file as wide as the switch says; in its callback."""
    upload = visitor_files.upload()
    assert upload is not None  # the switch stands below its table
    table, typed = upload.table, upload.typed
    assert table is not None
    assert typed is not None
    typed = limits_table.taken_in(typed, _FIELDS, f"upload-cells-{upload.file_id}-bounds").copy()
    for row, name in typed["column"].items():
        for end, value in zip(("low", "high"), own_range.of_column(table, name, _times(upload)), strict=True):
            if typed.loc[row, end] == upload.ranged.get((name, end)):
                typed.loc[row, end] = upload.ranged[name, end] = value
    upload.typed = typed
    _try_to_use(upload, table)


def _try_to_use(upload: Upload, table: PublicTable) -> None:
    """Use the table with bounds by column, or keep the reason why it cannot be used; in a callback."""
    try:
        _use(upload, table, ("bounds", upload.typed, None))
    except (ValueError, TypeError) as problem:
        upload.problem = str(problem)


def _use(upload: Upload, table: PublicTable, entered: tuple) -> None:
    """Declare the table, and free what earlier pictures of a CSV have kept."""
    how, typed, row_bound = entered
    rows = typed[typed["use"]]
    columns = tuple(rows["column"])
    if how == "bounds":
        if unread := limits_table.unread(typed, _FIELDS):
            raise ValueError(unread)
        bounds = {r.column: (r.low, r.high) for r in rows.itertuples()}
        typical = dict(zip(columns, rows["typical"], strict=True))
        data, notes = declare(table, columns, bounds, typical)
    elif row_bound is None:
        raise ValueError("Enter the largest norm a row may have.")
    else:
        data, notes = declare(table, columns, row_bound=row_bound)
    strip.forget_bound()
    visitor_files.hold_table(data)
    upload.raw = b""
    wide = [c for c in columns if (c, "high") in upload.ranged and own_range.far(table.frame[c].to_numpy())]
    if wide:
        notes.append(
            f"A few values set the range of {', '.join(wide)}, and with it the noise: closer limits clip them."
        )
    upload.used, upload.notes = (how, typed.copy(), row_bound), tuple(notes)
    upload.shares = share_out_of_bounds(data) if how == "bounds" else None


def _same(used: tuple, entered: tuple) -> bool:
    """Return whether the entries are those that were used."""
    what = ["use", *NUMBERS] if entered[0] == "bounds" else ["use"]
    return (
        used[0] == entered[0]
        and used[1][what].equals(entered[1][what])
        and (entered[0] == "bounds" or used[2] == entered[2])
    )


def _declared(upload: Upload) -> None:
    """Show how the declaration changed the rows."""
    data = visitor_files.table()
    assert data is not None  # `_use` keeps it and records what was used
    left = f" ({len(upload.table.dropped)} left out)" if upload.table is not None and upload.table.dropped else ""
    show.tag("Declared", f"{_count(data.n, 'row')}, {_count(data.d, 'column')}{left}, R = {plain(data.row_bound)}")
    if upload.shares is None or not upload.shares.any():
        return
    assert data.bounds is not None  # shares are counted for a table with bounds only
    with st.expander("Clipped to the bounds, per column", expanded=True):
        st.dataframe(
            pd.DataFrame(
                {"column": data.columns, "low": data.bounds[:, 0], "high": data.bounds[:, 1], "clipped": upload.shares}
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
