"""Step 1: which columns go in, between which public limits: typed or pasted by the owner, never proposed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import show
from pages.upload import limits_table
from pages.upload.limits_table import Field
from pages.your_data.state import Own, keep, keep_now, own, shown
from privcov.table_files.facts import quote

MOST_WORDS = 200  # letters of a reason
NUMBERS = ("low", "high", "typical")
FIELDS = (
    Field("use", "Use", "tick"),
    Field("column", "Column", "name"),
    Field("low", "Lowest", "number"),
    Field("high", "Highest", "number"),
    Field("typical", "Typical", "number", "Optional: a usual value, between the two."),
    Field("reason", "Why these", "text", "It goes into the record.", most=MOST_WORDS),
)
_OF_LINE = tuple(field for field in FIELDS if field.name in NUMBERS)
_NAMES_A_PERSON = re.compile(
    r"(^|[^a-z])(id|ids|uid|pid|ssn|subj|subject|patient|person|participant|respondent|customer|client|user|member|"
    r"name|surname|email|phone)([^a-z]|$)|num$|id$",
    re.I,
)


def names_a_person(name: str) -> bool:
    """Return whether a column name looks like that of an identifier of persons."""
    return bool(_NAMES_A_PERSON.search(name))


def section() -> None:
    """Show the form in which bounds and reasons are declared, column by column."""
    st.header("The columns")
    st.markdown(
        "Type the lowest and the highest value that each quantity **can** have, and why: from what you know, not from "
        "this file (an age lies between 0 and 120). Values beyond are clipped. Without a typical value the middle is "
        "used."
    )
    mine = own()
    if mine.typed is None:
        mine.typed = blank(mine.header)
    mine.typed = limits_table.draw(
        mine.typed, FIELDS, _key(mine), "One line per column, with its public limits and their reason.", take_in
    )
    _many(mine, mine.typed)


def _key(mine: Own) -> str:
    """Return the key of the table of columns."""
    return f"own-cells-{mine.file_id}-{mine.turn}"


def take_in() -> None:
    """Keep what was typed since the last run, for runs and callbacks in which the table is not drawn."""
    mine = own()
    if mine.typed is not None:
        mine.typed = limits_table.taken_in(mine.typed, FIELDS, _key(mine))


def _many(mine: Own, typed: pd.DataFrame) -> None:
    """Show how to give the same answer for many columns, or many answers at once."""
    with st.expander("Several columns at once"):
        part = st.text_input(
            "Columns whose name contains", placeholder="any: all columns", max_chars=80, **keep("all-part", "")
        )
        meant = _meant(typed, part)
        st.caption(f"{meant.sum()} of {len(mine.header)} columns, {(meant & typed['use']).sum()} of them ticked.")
        places = st.columns([2, 2, 2, 5], vertical_alignment="bottom")
        for place, name in zip(places[:3], NUMBERS, strict=True):
            label = next(field.label for field in FIELDS if field.name == name)
            place.number_input(f"{label} for all", format="%g", **keep(f"all-{name}", None))
        places[3].text_input(
            "Why, for all", placeholder="yes or no, coded 0 and 1", max_chars=MOST_WORDS, **keep("all-reason", "")
        )
        fill, every, none, _ = st.columns([2, 1, 1, 2])
        fill.button("Fill in where empty", key=f"own-all-fill-{mine.file_id}", on_click=_fill_in)
        every.button("Tick all", key=f"own-all-{mine.file_id}", on_click=_tick, args=(True,))
        none.button("Tick none", key=f"own-none-{mine.file_id}", on_click=_tick, args=(False,))
        st.text_area(
            "Or paste lines: name, lowest, highest, typical, why",
            height=100,
            max_chars=100_000,
            placeholder="age, 0, 120, , human lifetimes",
            help="From a spreadsheet or a text file, in any order; typical may be empty. Cells can also be pasted into "
            "the table above.",
            **keep("pasted", ""),
        )
        st.button("Take these lines", key=f"own-pasted-take-{mine.file_id}", on_click=_take_lines)
        if said := mine.kept.get("pasted-said"):
            st.error(show.as_text(said))


def _meant(typed: pd.DataFrame, part: str) -> pd.Series:
    """Return which columns have this part in their name."""
    return typed["column"].str.contains(part.strip(), case=False, regex=False)


def _fill_in() -> None:
    """Fill empty cells of the ticked columns that are meant, and empty the fields; in a callback."""
    take_in()
    typed = own().typed
    assert typed is not None  # the button stands below the table
    meant = _meant(typed, shown("all-part")) & typed["use"]
    for name, none in {**dict.fromkeys(NUMBERS), "reason": ""}.items():
        if (value := shown(f"all-{name}")) != none:
            typed.loc[meant & empty(typed[name]), name] = value
            keep_now(f"all-{name}", none)  # or it would go into the next columns, which are other ones


def _tick(use: bool) -> None:
    """Tick the columns that are meant, or take their ticks away; in a callback."""
    take_in()
    typed = own().typed
    assert typed is not None  # the button stands below the table
    typed.loc[_meant(typed, shown("all-part")), "use"] = use


def _take_lines() -> None:
    """Put the pasted lines into the table, all or none; in a callback."""
    take_in()
    mine = own()
    assert mine.typed is not None  # the button stands below the table
    try:
        lines = pasted(shown("pasted"), mine.header)
    except ValueError as problem:
        mine.kept["pasted-said"] = str(problem)
        return
    for name, cells in lines.items():
        for field, value in {"use": True, **cells}.items():
            mine.typed.loc[mine.typed["column"] == name, field] = value
    mine.kept["pasted-said"] = ""
    keep_now("pasted", "")


def pasted(text: str, header: Sequence[str]) -> dict[str, dict[str, float | str]]:
    """Return {column: {field: value}} of lines "name, lowest, highest, typical, why", separated by tabs, ; or commas.

    A first line of titles is left out. Raises ValueError for a name that the file does not have, or has twice here.
    """
    mark = next((mark for mark in "\t;" if mark in text), ",")
    found: dict[str, dict[str, float | str]] = {}
    for number, line in enumerate(csv.reader(io.StringIO(text.strip()), delimiter=mark, skipinitialspace=True), 1):
        name, *cells = (cell.strip() for cell in line) if any(cell.strip() for cell in line) else ("",)
        numbers = [limits_table.meant(cell, field) for cell, field in zip(cells, _OF_LINE, strict=False)]
        if not name or (number == 1 and name not in header and numbers and isinstance(numbers[0], str)):
            continue
        if name not in header or name in found:
            what = "this file does not have" if name not in header else "is there twice"
            raise ValueError(f"Line {number} names the column {quote(name)}, which {what}. Nothing was taken.")
        found[name] = dict(zip((field.name for field in _OF_LINE), numbers, strict=False))
        if len(cells) > len(NUMBERS):
            found[name]["reason"] = f"{mark} ".join(cells[len(NUMBERS) :])[:MOST_WORDS]
    if not found:
        raise ValueError("No line names a column: paste one line for each, such as: age, 0, 120, , human lifetimes.")
    return found


def leave_out(name: str) -> None:
    """Untick a column; for callbacks, before the table is drawn."""
    take_in()
    mine = own()
    if mine.typed is not None and mine.typed.loc[mine.typed["column"] == name, "use"].any():
        mine.typed.loc[mine.typed["column"] == name, "use"] = False


def empty(cells: pd.Series) -> pd.Series:
    """Return which cells were left empty: no number, or no words."""
    return cells.isna() | (cells.astype(str).str.strip() == "")


def blank(header: tuple[str, ...]) -> pd.DataFrame:
    """Return an empty table of columns: a proposed limit would be copied."""
    return pd.DataFrame(
        {
            "use": [not names_a_person(name) for name in header],
            "column": list(header),
            **{name: np.full(len(header), np.nan, dtype=object) for name in NUMBERS},
            "reason": [""] * len(header),
        }
    )
