"""The owner's check on the step Release: which columns of the file can be used, before anything is spent."""

from __future__ import annotations

import secrets

import pandas as pd
import streamlit as st

from pages.common import show
from pages.common.hosted import HostedError
from pages.your_data.declare.columns import leave_out
from pages.your_data.state import OwnerSession, go_on, look_over, owner_session
from privcov.steward.check import CHOICE, MARK, OwnerCheck, advice
from privcov.tables.declaration.declaration import PrivateFileError

_LINE = 33  # pixels of one line of a table in this theme
_STYLE = '<style>.st-key-own-checked [data-testid="stElementToolbar"] {display: none;}</style>'


def panel() -> None:
    """Show the result of the check, or the button that starts it."""
    session = owner_session()
    if session.checked is None:
        st.button(
            "Check the file",
            key="own-check",
            on_click=_read,
            help="Shows, to you alone, which cells can be used. It spends nothing; Release does it too.",
        )
        return
    result = session.checked
    with st.container(border=True, key="own-checked"):
        st.html(_STYLE)
        verdict()
        for line in advice(result):
            st.markdown(show.as_text(line))
        if lacking := result.wasted:
            st.markdown(
                "Such a column takes its share of the guarantee and answers nothing. Correct the file, tick the column "
                "to release it all the same, or leave all of them out."
            )
            with st.container(height=200 if len(lacking) > 4 else "content"):
                for name, key in _ticks(session, result):
                    st.checkbox(show.as_text(f"Release {name!r} as it is"), key=key)
            st.button("Leave them out", key="own-leave-out", on_click=_leave_out, args=(lacking,))
        with st.expander("Column by column"):
            _details(session, result)
        st.caption(CHOICE)


def verdict() -> None:
    """Show the verdict in one sentence, under its mark; nothing before the check."""
    if result := owner_session().checked:
        show.tag("Owner's view", MARK)
        st.markdown(show.as_text(result.verdict))


def may_confirm() -> bool:
    """Return whether a release may be confirmed: file checked, and every column with hardly a number accepted."""
    session = owner_session()
    if session.checked is None:
        with st.spinner("Checking the file ..."):
            _read()
        if session.checked is not None and session.checked.wasted:
            st.rerun()  # the panel with its ticks is above the button
    if session.checked is None:
        return False
    if all(st.session_state.get(key) for _, key in _ticks(session, session.checked)):
        return True
    session.problem = (
        "Nothing was spent. Some columns hold hardly a number: tick each of them above, or leave them out."
    )
    return False


def _read() -> None:
    """Check the file. An error inside is shown by an identifier: a message of a library might quote a cell."""
    session = owner_session()
    try:
        session.checked = look_over()
    except (HostedError, PrivateFileError) as problem:
        session.problem = str(problem)
    except Exception:
        session.problem = f"The check failed (id {secrets.token_hex(4)}). Nothing was released."


def _ticks(session: OwnerSession, result: OwnerCheck) -> list[tuple[str, str]]:
    """Return (column with hardly a number, key of its tick)."""
    lacking = result.wasted
    at = {c.name: place for place, c in enumerate(result.columns)}
    return [(name, f"own-accept-{session.file_id}-{session.turn}-{at[name]}") for name in lacking]


def _leave_out(names: tuple[str, ...]) -> None:
    """Go back to Declare with these columns unticked; what is declared stays until it is declared anew."""
    for name in names:
        leave_out(name)
    go_on("declare")


def _details(session: OwnerSession, result: OwnerCheck) -> None:
    lines = [
        {
            "Column": c.name,
            "Numbers": c.numbers,
            "Missing": show.percent(c.share(c.missing + c.infinite)),
            "Not readable": show.percent(c.share(c.unreadable)),
            "Outside": show.percent(c.share(c.outside)),
            "Looks like": ", ".join(c.looks),
            "Perhaps codes": ", ".join(f"{code:g} ({show.percent(c.share(n))})" for code, n in c.codes.items()),
        }
        for c in result.columns
    ]
    st.dataframe(
        pd.DataFrame(lines),
        hide_index=True,
        height=min(_LINE * (len(lines) + 1) + 2, 320),
        column_config={
            "Numbers": st.column_config.NumberColumn(format="localized", width=80),
            **{name: st.column_config.Column(width=80) for name in ("Missing", "Not readable", "Outside")},
            "Looks like": st.column_config.Column(width=160),
        },
    )
    if result.label:
        st.markdown(show.as_text(f"{result.unlisted:,} of {result.rows:,} rows have no label of the list."))
