"""Step 2: the table that the plan is computed on, an invented one or public rows, and its previews."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.common import show, visitor_files
from pages.common.fields import ends
from pages.your_data.declare import file_format
from pages.your_data.state import owner_session, public_rows, widget_args
from privcov.core.guarantees import Guarantee
from privcov.steward.example_rows import STRUCTURES, ExampleRows, Invention, invented
from privcov.steward.preview import Preview, noise_for, preview, searched
from privcov.tables.declaration.csv_file import read_header
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.public_facts import PublicFacts
from privcov.tables.readers import as_csv

T = TypeVar("T")
START = 1000  # rows, until somebody says how many
WITHIN_LIMITS = 0.1  # usual deviation, in halves of the range: limits are wider than typical ranges


def ask(declaration: Declaration) -> Invention:
    """Show the settings of the table, which counts persons where rows have ids, and return them."""
    rows = st.number_input(
        "About how many persons" if declaration.person else "About how many rows",
        min_value=2,
        max_value=4_000_000,
        step=1000,
        help="Your own knowledge; the file is not asked.",
        **widget_args("rows", START),
    )
    if rows == START:
        st.caption("A start: type how many there are, from what you know.")
    more = {"spread": _spread()} if has_limits_alone(declaration) else {}
    with st.expander("Advanced: the invented table"):
        if owner_session().public_table:
            st.caption("Not used: the plan is computed on the public table below.")
        structure = st.selectbox(
            "What moves together",
            list(STRUCTURES),
            format_func=STRUCTURES.__getitem__,
            **widget_args("structure", "blocks", among=list(STRUCTURES)),
        )
        strength = st.slider(
            "Correlation within it",
            0.0,
            0.95,
            step=0.05,
            disabled=structure == "independent",
            **widget_args("strength", 0.5),
        )
        ends("unrelated", "nearly the same")
        missing = missing_share()
    _ask_for_public()
    return Invention(int(rows), structure, strength, missing=missing, **more)


def has_limits_alone(declaration: Declaration) -> bool:
    """Return whether the invented table needs a deviation: a column without a typical range, and no public table."""
    return any(column.typical_range is None for column in declaration.columns) and not owner_session().public_table


def _spread() -> float:
    """Show the usual deviation of a column, as a share of half of its range, and return it."""
    spread = st.slider(
        "Usual deviation, as a share of half the range",
        0.05,
        0.6,
        step=0.05,
        help="How much of its declared range a column uses. Bounds that are too wide make this small and the noise "
        "large beside it.",
        **widget_args("spread", WITHIN_LIMITS),
    )
    ends("bounds too wide", "too tight")
    return spread


def missing_share() -> float:
    """Show the share of missing cells, on Declare and on Plan, and return it."""
    missing = st.slider(
        "Missing cells, about",
        0.0,
        0.9,
        step=0.05,
        format="percent",
        help="Your own knowledge, of an average column. The file is not asked. Plan takes it.",
        **widget_args("missing-share", 0.0),
    )
    ends("none", "nearly all")
    return missing


def _ask_for_public() -> None:
    session = owner_session()
    with st.expander("Advanced: a public table like this one"):
        if session.public_table:
            st.markdown(show.as_text(f"The plan is computed on {session.public_table_name}."))
            st.button("Use the invented table again", key="own-like-drop", on_click=_drop)
            return
        st.markdown(
            "Such as the file that was published last year, with the same columns. Its rows need no protection, and "
            "they are read: **never give the confidential file here.**"
        )
        file = visitor_files.uploader("Public table with the same columns", "like")
        if session.public_table_problem:
            st.error(show.as_text(session.public_table_problem))
        if file is not None:
            session.public_table_problem = ""
            try:
                contents = file_format.read_upload(file)
                raw = as_csv(contents.workbook, file.name, session.dialect) if contents.workbook else contents.raw
            except ValueError as problem:
                session.public_table_problem = str(problem)
            else:
                if raw == session.raw:
                    session.public_table_problem = (
                        "This is the confidential file itself, which the plan must not read. Give another."
                    )
                else:
                    session.public_table, session.public_table_name = raw, file.name
            visitor_files.let_go(file)


def _drop() -> None:
    session = owner_session()
    session.public_table, session.public_table_name = b"", ""


def table(declaration: Declaration, facts: PublicFacts, invention: Invention) -> ExampleRows:
    """Return the table of the plan. Raises ValueError where the public one cannot be read as declared."""
    if owner_session().public_table:
        key = ("public", hash(owner_session().public_table), declaration.to_json(), invention.n)
        return once(key, lambda: _public(declaration, facts, invention.n))
    usual = tuple(column.typical_range for column in declaration.columns)
    return once(("invented", invention, usual, facts_key(facts)), lambda: invented(facts, invention, usual))


def _public(declaration: Declaration, facts: PublicFacts, rows: int) -> ExampleRows:
    """Return the public table, read under the declaration; it may lack the ids of persons."""
    if declaration.person and declaration.person not in read_header(owner_session().public_table, declaration.dialect):
        declaration = dataclasses.replace(declaration, person="")
    return ExampleRows.of_public(public_rows(declaration), rows).under(facts)


def facts_key(facts: PublicFacts) -> str:
    """Return everything that the noise may depend on, as a key."""
    return json.dumps(facts.to_dict(), sort_keys=True)


def once(key: tuple, make: Callable[[], T]) -> T:
    """Return what `make` returns, kept in this session: the declaration enters no shared cache."""
    cache = st.session_state.setdefault("own-previews", {})
    if key not in cache:
        while len(cache) >= 60:
            cache.pop(next(iter(cache)))
        cache[key] = make()
    return cache[key]


def previewed(simulated: ExampleRows, facts: PublicFacts, guarantee: Guarantee) -> Preview:
    """Return the preview of a guarantee."""
    declaration = owner_session().declared
    search = declaration is not None and declaration.row_bound_search
    key = (simulated, guarantee, facts_key(facts), search)
    return once(key, lambda: preview_release(simulated, guarantee, search=search))


def preview_release(
    simulated: ExampleRows, guarantee: Guarantee, *, search: bool, replicates: int | None = None
) -> Preview:
    """Return the preview of a release with or without a search for the row bound."""
    table, noise = searched(simulated, guarantee) if search else (simulated, noise_for(simulated, guarantee))
    return preview(table, guarantee, noise, replicates=replicates)
