"""Step 1: which columns go in, of which kind, between which public limits: declared by the owner, never proposed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import show
from pages.common.visitor_files import TableForm
from pages.your_data.declare import limits_table
from pages.your_data.declare.limits_table import Field
from pages.your_data.state import current_value, form, set_value, widget_args
from privcov.tables.declaration.declaration import Column
from privcov.tables.declaration.spreadsheet import cells_of, columns_of, kind_fields, kind_texts
from privcov.tables.declaration.typical_ranges import ends_in, range_in
from privcov.tables.declared_columns import kinds_of_entries
from privcov.tables.persons import id_text
from privcov.tables.readers.kinds import (
    CATEGORY,
    DATE,
    INTEGER,
    KINDS,
    NUMBER,
    ORDINAL,
    TRANSFORMS,
    YES_NO,
    kind_by_name,
)
from privcov.tables.readers.numbers import number_of
from privcov.tables.readers.table_files import listed, quote

DECADES = 5  # times the beginning of a typical range, from which a log scale is proposed
_FEW = 5  # wrong columns that are named at once
MAX_WORDS = 200  # letters of a reason
NUMBERS = ("low", "high", "typical")
_OF_NUMBERS = tuple(f"{kind} {transform}" for kind in (NUMBER, INTEGER) for transform in TRANSFORMS)
NUMERIC = (NUMBER, INTEGER, *_OF_NUMBERS)
CHOICES = (*KINDS, *_OF_NUMBERS)
FIELDS = (
    Field("use", "Use", "tick"),
    Field("column", "Column", "name"),
    Field("kind", "Kind", "choice", "What its cells are.", options=CHOICES, numeric=NUMERIC),
    Field(
        "typical",
        "Typical",
        "limit",
        "Between which values nine in ten people lie, such as 20 to 70; or a usual value or level. Categories: none.",
        range=True,
    ),
    Field("low", "Lowest", "limit", "Of numbers, and the first date; levels have none."),
    Field("high", "Highest", "limit", "Of numbers, and the last date; levels have none."),
    Field(
        "levels",
        "Levels or date form",
        "text",
        "yes-no: F | M, ordinal: low | high, category: A | B, with | ... at the end for all others; date: dd.mm.yyyy",
    ),
    Field("codes", "Missing codes", "text", "What is written for a missing cell of this column: -9 | 999"),
    Field("reason", "Why these", "text", "It goes into the record.", most=MAX_WORDS),
)
_TYPICAL = next(field for field in FIELDS if field.name == "typical")
_WORDS = ("levels", "codes", "reason")
_NAMES_A_PERSON = re.compile(
    r"(^|[^a-z])(id|ids|uid|pid|ssn|name|surname|email|phone)([^a-z]|$)|id$|idnum$|"
    r"^(subj|subject|patient|person|participant|resp|respondent|customer|client|user|member)[^a-z]*(no|nr|num|number|code|key|ref|hash)?"
    r"[^a-z]*$",  # alone or numbered: years_customer says something of a person, not who it is
    re.I,
)


def names_a_person(name: str) -> bool:
    """Return whether a column name looks like that of an identifier of persons."""
    return bool(_NAMES_A_PERSON.search(name))


def section() -> None:
    """Show the form in which kinds, bounds and reasons are declared, column by column."""
    st.header("The columns")
    st.markdown(
        "Type where nine in ten people lie (**Typical**, an age: 20 to 70), from what you know, not from this file. "
        "The noise then falls to what the column needs, often to a fifth. **Lowest** and **Highest** are the limits "
        "of what is possible; values beyond them are clipped. Leave them empty: they are then three times as far as "
        "Typical. "
        + "Without Typical they need a reason. " * form().reasons
        + "A column of texts has a **kind** with its levels, such as F | M, and one of dates the form that they are in."
    )
    session = form()
    if session.column_table is None:
        session.column_table = blank(session.header)
        session.undo_stack.clear()
    take_in()  # the table remembers the state before
    session.column_table = limits_table.draw(
        session.column_table,
        FIELDS,
        _key(session),
        "A line per column: its kind, its public limits and their reason.",
        take_in,
        mistakes if session.problem else None,
    )
    undo = f"{session.prefix}-undo-{session.file_id}"
    st.button("Undo", key=undo, on_click=_undo, disabled=not session.undo_stack, help="Takes the last change back.")
    if doubtful := _doubtful(session.column_table):
        st.warning(
            show.as_text(
                f"{listed(doubtful, 5)}: declared as a number, and the name sounds like text or a date. A cell with "
                "a text would be missing: choose another kind, if it is no number."
            )
        )
    _ask_for_logs(session)
    _many(session, session.column_table)


def _ask_for_logs(session: TableForm) -> None:
    """Show which columns reach over decades, and the button that measures them on a log scale."""
    assert session.column_table is not None  # the table of columns was drawn before
    decades = (
        session.column_table["use"]
        & session.column_table["kind"].isin((NUMBER, INTEGER))
        & session.column_table["typical"].map(_decades)
    )
    names = session.column_table["column"][decades].tolist()
    if not names:
        return
    st.warning(
        show.as_text(
            f"{listed(names, 5)}: the typical range ends at {DECADES} times where it begins, or more. On a log "
            "scale all people count; without it the few largest do."
        )
    )
    key = f"{session.prefix}-logs-{session.file_id}"
    st.button("Measure log(1 + x) of them", key=key, on_click=_take_logs, args=(names,))


def _take_logs(names: list[str]) -> None:
    table = to_change()
    here = table["column"].isin(names)
    table.loc[here, "kind"] = table["kind"][here] + " log1p"


def _decades(cell: object) -> bool:
    ends = limits_table.range_of(cell) if isinstance(cell, str) else None
    return ends is not None and 0 < DECADES * ends[0] <= ends[1]


def _doubtful(table: pd.DataFrame) -> list[str]:
    """Return the ticked columns of numbers whose names sound like text."""
    numeric = table["column"][table["use"] & table["kind"].isin(NUMERIC)]
    return [name for name in numeric if kind_by_name(name) != NUMBER]


def _key(session: TableForm) -> str:
    return f"{session.prefix}-cells-{session.file_id}-{session.turn}"


def take_in() -> None:
    """Keep what was typed since the last run, for runs and callbacks in which the table is not drawn."""
    session = form()
    if session.column_table is not None and (
        (table := limits_table.taken_in(session.column_table, FIELDS, _key(session))) is not session.column_table
    ):
        session.undo_stack.append(session.column_table)
        session.column_table = table


def to_change() -> pd.DataFrame:
    """Return the table as it is typed, and remember it as it is before a button changes it; in a callback."""
    take_in()
    session = form()
    assert session.column_table is not None  # the buttons stand below the table
    session.undo_stack.append(session.column_table.copy())
    return session.column_table


def _undo() -> None:
    take_in()
    session = form()
    assert session.column_table is not None  # the button stands below the table
    before = session.undo_stack.pop()
    before.attrs[_key(session)] = session.column_table.attrs.get(
        _key(session), 0
    )  # what was typed is not taken in again
    session.column_table = before


def holes(rows: pd.DataFrame) -> list[tuple[str, str, pd.Series]]:
    """Return what lines may lack: (words, field to mark, lines that lack it)."""
    levelled = rows["kind"].isin((YES_NO, ORDINAL, CATEGORY))
    ranged = rows["typical"].map(lambda cell: isinstance(cell, str) and ends_in(cell) is not None)
    bare = ~levelled & ~ranged
    return [
        (
            "where nine in ten people lie, or lowest and highest value",
            "typical",
            bare & (empty(rows["low"]) | empty(rows["high"])),
        ),
        ("the reason for the bounds", "reason", bare & empty(rows["reason"]) & form().reasons),
        ("the levels", "levels", levelled & empty(rows["levels"])),
    ]


def mistakes(table: pd.DataFrame) -> dict[tuple[int, str], str]:
    """Return a sentence for each cell of the ticked lines that lacks something or cannot be."""
    rows = table[table["use"]]
    lacking = {
        (row, field): f"Still missing: {label}." for label, field, lack in holes(rows) for row in rows.index[lack]
    }
    return lacking | impossible(rows, str(form().widget_values.get("codes") or ""))


def impossible(rows: pd.DataFrame, codes: str = "") -> dict[tuple[int, str], str]:
    """Return a sentence for each impossible cell of a complete line; the table itself marks its texts."""
    everywhere = codes_of(codes)
    lacking = [row for _, _, lack in holes(rows) for row in rows.index[lack]]
    unread = rows[list(NUMBERS)].map(lambda cell: isinstance(cell, str) and not limits_table.range_of(cell)).any(axis=1)
    text_rows = rows.index[unread & rows["kind"].isin(NUMERIC)]
    full, problems = rows.index.difference([*text_rows, *lacking]), {}
    for line in rows.loc[full].itertuples():
        try:
            column = column_of(line)
            column.of_kind()
            kinds_of_entries([column.to_dict()], everywhere)
        except ValueError as problem:
            ranged = isinstance(line.typical, str) and ends_in(line.typical) is not None
            at = "levels" if str(line.levels).strip() else "typical" if ranged else "low"
            problems[line.Index, "codes" if "The code " in str(problem) else at] = str(problem)
    return problems


def entered(codes: str, lacking: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return the columns in the form.

    Raises one ValueError that names everything that is missing (also ``lacking``) or impossible.
    """
    table = form().column_table
    assert table is not None  # the table of columns was drawn before
    rows, missing = table[table["use"]], list(lacking)
    if not len(rows):
        raise ValueError("No column is chosen, and at least one is needed: tick those that go into the matrix.")
    for field, _, lack in holes(rows):
        if lack.any():
            missing.append(f"{field} of {listed(rows['column'][lack].tolist())}")
    wrong = list(impossible(rows, codes).values())
    problems = [f"Still missing: {'; '.join(missing)}."] if missing else []
    problems += [limits_table.unread(table[table["kind"].isin(NUMERIC)], FIELDS)]
    problems += [*wrong[:_FEW], f"And {len(wrong) - _FEW} more." if len(wrong) > _FEW else ""]
    if text := " ".join(filter(None, problems)):
        raise ValueError(text)
    return tuple(column_of(line) for line in rows.itertuples())


def _many(session: TableForm, table: pd.DataFrame) -> None:
    """Show how to give the same answer for many columns, or many answers at once."""
    with st.expander("Several columns at once", key=f"{session.prefix}-many-{session.file_id}"):
        part = st.text_input(
            "Columns whose name contains", placeholder="any: all columns", max_chars=80, **widget_args("all-part", "")
        )
        mask = _match_part(table, part)
        st.caption(f"{mask.sum()} of {len(session.header)} columns, {(mask & table['use']).sum()} of them ticked.")
        places = st.columns([2, 2, 2, 5], vertical_alignment="bottom")
        places[0].number_input("Lowest for all", format="%g", **widget_args("all-low", None))
        places[1].number_input("Highest for all", format="%g", **widget_args("all-high", None))
        places[2].text_input("Typical for all", placeholder="20 to 70", **widget_args("all-typical", ""))
        places[3].text_input(
            "Why, for all", placeholder="yes or no, coded 0 and 1", max_chars=MAX_WORDS, **widget_args("all-reason", "")
        )
        kind, levels, codes = st.columns([3, 5, 3], vertical_alignment="bottom")
        kind.selectbox("Kind for all", CHOICES, placeholder="as it is", **widget_args("all-kind", None, among=CHOICES))
        levels.text_input("Levels or date form, for all", placeholder="no | yes", **widget_args("all-levels", ""))
        codes.text_input("Missing codes for all", placeholder="-9 | 999", **widget_args("all-codes", ""))
        fill, every, none, _ = st.columns([2, 1, 1, 2])
        fill.button(
            "Fill in where empty",
            key=f"{session.prefix}-all-fill-{session.file_id}",
            on_click=_fill_in,
            help="In the ticked columns of this selection. A kind goes to columns without levels, a text kind to "
            "columns without limits; a limit goes to numbers.",
        )
        every.button("Tick all", key=f"{session.prefix}-all-{session.file_id}", on_click=_tick, args=(True,))
        none.button("Tick none", key=f"{session.prefix}-none-{session.file_id}", on_click=_tick, args=(False,))
        st.text_area(
            "Or paste lines: name, low, high, typical, kind, why",
            height=100,
            max_chars=100_000,
            placeholder="age, 0, 120, , integer, human lifetimes\nsex, , , , yes-no: F | M, as on the form",
            help="From a spreadsheet or a text file, in any order, also what the command declare writes; cells may be "
            "empty. Cells can also be pasted into the table above.",
            **widget_args("pasted", ""),
        )
        st.button("Take these lines", key=f"{session.prefix}-pasted-take-{session.file_id}", on_click=_take_lines)
        if problem := session.widget_values.get("pasted-said"):
            st.error(show.as_text(problem))


def _match_part(table: pd.DataFrame, part: str) -> pd.Series:
    return table["column"].str.contains(part.strip(), case=False, regex=False)


def _fill_in() -> None:
    """Fill empty cells of the ticked columns that are meant, and empty the fields; in a callback."""
    table, n_filled, has_value = to_change(), 0, False
    mask = _match_part(table, current_value("all-part")) & table["use"]
    for name, none in {**dict.fromkeys(("kind", *NUMBERS)), **dict.fromkeys(("typical", *_WORDS), "")}.items():
        if (value := current_value(f"all-{name}")) != none:
            has_value = True
            open_ = empty(table["levels"] if name == "kind" else table[name])
            if name == "kind" and value in (YES_NO, ORDINAL, CATEGORY):  # what has limits is none of these
                open_ &= table[list(NUMBERS)].apply(empty).all(axis=1)
            if name in NUMBERS:
                open_ &= table["kind"].isin(NUMERIC)
            table.loc[mask & open_, name] = limits_table.parse_cell(value, _TYPICAL) if name == "typical" else value
            n_filled += int((mask & open_).sum())
            set_value(f"all-{name}", none)  # or the next selection of columns would get it
    hint = "" if has_value else "Write first what is to go into the empty cells. "
    st.toast(f"{hint}{n_filled} cells were filled; cells that were not empty, and columns without a tick, stay.")


def _tick(use: bool) -> None:
    table = to_change()
    table.loc[_match_part(table, current_value("all-part")), "use"] = use


def _take_lines() -> None:
    """Put the pasted lines into the table, all or none; in a callback."""
    session = form()
    try:
        take_codebook(current_value("pasted"))
    except ValueError as problem:
        session.widget_values["pasted-said"] = f"{problem} Nothing was taken."
        return
    session.widget_values["pasted-said"] = ""
    set_value("pasted", "")


def take_codebook(text: str) -> None:
    """Put the lines of a codebook into the table, all or none; raise ValueError as `pasted` does."""
    session = form()
    lines = pasted(text, session.header, "," if session.dialect and session.dialect.decimal == "," else ".")
    cells = {cell["name"]: cell for cell in cells_of(text).values()}
    table = to_change()
    for column in lines:
        here = table["column"] == column.name
        values = {name: value for name, value in line_of(column).items() if name != "weight"}
        values |= {name: _cell(getattr(column, name)) for name in ("low", "high") if cells[column.name].get(name)}
        if not (cells[column.name].get("kind") or cells[column.name].get("levels")):
            del values["kind"]
        elif values["kind"] != table.loc[here, "kind"].item():
            table.loc[here, "levels"] = ""  # those of another kind
        for field, value in values.items():
            if value == value and value != "":
                table.loc[here, field] = value
        table.loc[here, "use"] = True


def pasted(text: str, header: Sequence[str], decimal: str = ".") -> tuple[Column, ...]:
    """Return the columns of lines "name, low, high, typical, kind, why".

    Raises ValueError for what `columns_of` refuses, and for a name that the file does not have.
    """
    columns = columns_of(text, decimal)
    for column in columns:
        if column.name not in header:
            raise ValueError(f"The lines name the column {quote(column.name)}, which this file does not have.")
        line_of(column)  # a level that the table cannot hold
    return columns


def line_of(column: Column) -> dict[str, Any]:
    """Return a declared column as a line of the table; raise ValueError for a level or a code that it cannot hold."""
    kind, levels = kind_texts(column)
    limits = {name: _cell(getattr(column, name)) for name in NUMBERS}
    reason, weight = column.reason, column.weight
    if column.typical_range is not None:  # what follows from it stays empty, and follows again
        bare = dataclasses.replace(
            column, low=None, high=None, typical=None, weight=1.0, reason="", missing_codes=()
        )  # a code may lie within the limits that follow
        limits |= {name: np.nan for name in ("low", "high") if getattr(bare, name) == getattr(column, name)}
        limits["typical"] = " to ".join(limits_table.shown_number(end) for end in column.typical_range)
        reason = "" if reason == bare.reason else reason
        weight = 1.0 if dataclasses.replace(column, weight=1.0).weight == weight else weight
    codes = codes_text(column.missing_codes)
    return {
        "kind": kind, **limits, "levels": levels, "codes": codes, "reason": reason,
        "weight": weight,
    }  # fmt: skip


def column_of(line: Any) -> Column:
    """Return the column that a line of the table declares. Raises ValueError for a kind that cannot be."""
    name, levels = str(line.column), str(line.levels).strip()
    kind = kind_fields(f"{line.kind}: {levels}" if levels else line.kind, f"Column {quote(name)}")
    limits: dict[str, Any] = {field: _limit(getattr(line, field), kind) for field in NUMBERS}
    typical = limits["typical"]
    if isinstance(typical, str) and (ends := range_in(typical, kind)):
        numbers = limits_table.range_of(typical) if kind["kind"] in (NUMBER, INTEGER) else None
        limits |= {"typical": None, "typical_range": numbers or ends}
    return Column(
        name=name,
        reason=str(line.reason).strip(),
        weight=float(line.weight),
        missing_codes=codes_of(line.codes),
        **limits,
        **kind,
    )


def codes_of(text: str) -> tuple[str, ...]:
    """Return codes for missing cells, which stand between bars, commas or semicolons."""
    return tuple(code.strip() for code in re.split(r"[|,;]", text) if code.strip())


def codes_text(codes: Sequence[str]) -> str:
    """Return codes as `codes_of` reads them. Raises ValueError for one that it would not."""
    text = " | ".join(codes)
    if codes_of(text) != tuple(codes):
        raise ValueError(
            "A code for missing cells has a bar, comma or semicolon inside, which this form cannot hold: release the "
            "table from the command line."
        )
    return text


def _cell(limit: float | str | None) -> float | str:
    return np.nan if limit is None else limit if isinstance(limit, str) else float(limit)


def _limit(cell: float | str | None, kind: dict[str, Any]) -> float | str | None:
    """Return a limit as it is declared: a number, or the text of a date or of a level; None for an empty cell."""
    if cell is None or cell != cell or cell == "":
        return None
    if kind["kind"] == DATE:
        return id_text(cell)
    if isinstance(cell, float) and kind["values"]:  # a level that is written with digits
        return next((level for level in kind["values"] if number_of(level) == cell), id_text(cell))
    return cell


def leave_out(name: str) -> None:
    """Untick a column; for callbacks, before the table is drawn."""
    take_in()
    session = form()
    if (
        session.column_table is not None
        and session.column_table.loc[session.column_table["column"] == name, "use"].any()
    ):
        session.column_table.loc[session.column_table["column"] == name, "use"] = False


def empty(cells: pd.Series) -> pd.Series:
    """Return which cells were left empty: no number, or no words."""
    return cells.isna() | (cells.astype(str).str.strip() == "")


def blank(header: tuple[str, ...]) -> pd.DataFrame:
    """Return an empty table of columns, with kinds as their names sound: a proposed limit would be copied."""
    kinds = [kind_by_name(name) for name in header]
    return pd.DataFrame(
        {
            "use": [kind != "" and not names_a_person(name) for name, kind in zip(header, kinds, strict=True)],
            "column": list(header),
            "kind": [kind or NUMBER for kind in kinds],
            **{name: np.full(len(header), np.nan, dtype=object) for name in NUMBERS},
            **{name: [""] * len(header) for name in _WORDS},
            "weight": [1.0] * len(header),
        }
    )
