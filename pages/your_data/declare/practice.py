"""A practice run of the data owner's page: the simulated survey of the bundled example, drawn anew and declared."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import streamlit as st

from pages.common import owner_token
from pages.your_data import state
from pages.your_data.declare.file_format import UploadedTable
from privcov.data_sources.example import FILE, Example, survey_csv
from privcov.tables.declaration.declaration import Column, Declaration, row_bound_fraction

# Between which values most adults lie, from what is known of them and not from this file.
_USUAL = {
    "age": (25, 80), "height": (150, 190), "weight": (50, 110), "systolic": (100, 155), "diastolic": (60, 100),
    "cholesterol": (3.5, 6.7), "glucose": (4.2, 7), "steps": (2500, 13_000), "sleep": (5, 9), "stress": (5, 23),
}  # fmt: skip
_ROWS = 20_000  # publicly known: it is written in data/README.md


def offer(fill: Callable[[Declaration], None]) -> None:
    """Show the button of the practice table; ``fill`` puts a declaration into the page's form."""
    left, right = st.columns([1, 3], vertical_alignment="center")
    left.button("Use the practice table", on_click=_take, args=(fill,), key="own-practice", width="stretch")
    right.caption(
        "20,000 invented people, already declared. "
        + (
            "It goes into the ledger."
            if owner_token.is_open()
            else "No token is needed; its ledger ends with this visit."
        )
    )


def declaration(turn: str) -> Declaration:
    """Return the public facts of the example table, with a new name each ``turn``, so its limit never runs out."""
    columns = tuple(Column(c.name, c.low, c.high, reason=c.why, typical_range=_USUAL[c.name]) for c in Example.table)
    return Declaration(
        name=f"practice table {turn}",
        row_stands_for="one invented person",
        columns=columns,
        row_bound_fraction=row_bound_fraction(columns),
    )


def _take(fill: Callable[[Declaration], None]) -> None:
    turn = secrets.token_hex(3)
    # Other invented people each time: the ledger would refuse the same rows under another name.
    state.keep_file(f"practice-{turn}", FILE.name, UploadedTable(survey_csv(int(turn, 16))), practice=True)
    example = declaration(turn)
    fill(example)
    state.owner_session().declared = example
    state.owner_session().widget_values["rows"] = _ROWS
