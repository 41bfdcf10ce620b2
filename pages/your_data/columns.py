"""Which columns go into the matrix, and between which public limits: typed by the owner, never proposed."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import streamlit as st

from pages.upload import limits_table
from pages.upload.limits_table import Field
from pages.your_data.state import Own, keep, own
from privcov.data_sources.private_file import Declaration

NUMBERS = ("low", "high", "typical")
FIELDS = (
    Field("use", "Use", "tick"),
    Field("column", "Column", "name"),
    Field("low", "Lowest", "number"),
    Field("high", "Highest", "number"),
    Field("typical", "Typical", "number", "Optional: a usual value, between the two."),
    Field("reason", "Why these", "text", "It goes into the record.", most=200),
)
_NAMES_A_PERSON = re.compile(
    r"(^|[^a-z])(id|ids|uid|pid|ssn|subj|subject|patient|person|participant|respondent|customer|client|user|member|"
    r"name|surname|email|phone)([^a-z]|$)|num$|id$",
    re.I,
)


def names_a_person(name: str) -> bool:
    """A column name that looks as if it said whose row it is."""
    return bool(_NAMES_A_PERSON.search(name))


def section() -> None:
    """The form in which bounds and reasons are declared, column by column."""
    st.header("The columns")
    st.markdown(
        "For each column that goes into the matrix, type the lowest and the highest value the quantity **can** have, "
        "from what you know about it and not from this file (an age lies between 0 and 120), and write down why. "
        "Values beyond are clipped. A typical value in between is optional; without it the middle is used."
    )
    mine = own()
    if mine.typed is None:
        mine.typed = blank(mine.header)
    mine.typed = limits_table.draw(
        mine.typed, FIELDS, _key(mine), "One line per column, with its public limits and the reason for them.", take_in
    )
    _many(mine)


def _key(mine: Own) -> str:
    return f"own-cells-{mine.file_id}-{mine.turn}"


def take_in() -> None:
    """What was typed since the last run, for runs and callbacks in which the table is not drawn."""
    mine = own()
    if mine.typed is not None:
        mine.typed = limits_table.taken_in(mine.typed, FIELDS, _key(mine))


def _many(mine: Own) -> None:
    """The same answer for many columns, so that a wide table needs no hundred clicks."""
    with st.expander("Several columns at once"):
        used = int(mine.typed["use"].sum())
        first, second, told = st.columns([1, 1, 4], vertical_alignment="center")
        if first.button("Tick all", key=f"own-all-{mine.file_id}"):
            mine.typed["use"] = True
            st.rerun()
        if second.button("Tick none", key=f"own-none-{mine.file_id}"):
            mine.typed["use"] = False
            st.rerun()
        told.caption(f"{used} of {len(mine.header)} columns are ticked. Cells can also be pasted from a spreadsheet.")
        places = st.columns([1, 1, 3, 2], vertical_alignment="bottom")
        low = places[0].number_input("Lowest for all", format="%g", **keep("all-low", None))
        high = places[1].number_input("Highest for all", format="%g", **keep("all-high", None))
        reason = places[2].text_input(
            "Why, for all", placeholder="yes or no, coded 0 and 1", max_chars=200, **keep("all-reason", "")
        )
        if places[3].button("Fill in where empty", key=f"own-all-fill-{mine.file_id}", width="stretch"):
            for field, value in (("low", low), ("high", high), ("reason", reason or None)):
                if value is not None:
                    mine.typed.loc[mine.typed["use"] & empty(mine.typed[field]), field] = value
            st.rerun()


def leave_out(name: str) -> None:
    """Untick a column; for callbacks, before the table is drawn."""
    take_in()
    mine = own()
    if mine.typed is not None and mine.typed.loc[mine.typed["column"] == name, "use"].any():
        mine.typed.loc[mine.typed["column"] == name, "use"] = False


def as_used(declared: Declaration) -> None:
    """Every bound as it will be used: a slip of the fingers is seen here, before a row is read."""
    st.markdown("**These bounds will be used.** Compare them with what you meant: a wrong digit changes the answer.")
    lines = [
        f"{c.name}: from {_exact(c.low)} to {_exact(c.high)}, "
        + ("the middle is typical" if c.typical is None else f"typical {_exact(c.typical)}")
        for c in declared.columns
    ]
    with st.container(height=300 if len(lines) > 10 else "content"):
        st.text("\n".join(lines))


def _exact(number: float) -> str:
    """The fewest digits that mean this very double."""
    return f"{float(number):,}".removesuffix(".0")


def empty(cells: pd.Series) -> pd.Series:
    """Which cells were left empty: no number, or no words."""
    return cells.isna() | (cells.astype(str).str.strip() == "")


def blank(header: tuple[str, ...]) -> pd.DataFrame:
    """Limits start empty: one that is proposed would be copied."""
    return pd.DataFrame(
        {
            "use": [not names_a_person(name) for name in header],
            "column": list(header),
            **{name: np.full(len(header), np.nan, dtype=object) for name in NUMBERS},
            "reason": [""] * len(header),
        }
    )
