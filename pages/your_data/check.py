"""The owner's check on the step Release: which columns of the file can be used, before anything is spent."""

from __future__ import annotations

import secrets

import pandas as pd
import streamlit as st

from pages.shell import show
from pages.shell.hosted import Hosted
from pages.your_data.declare import leave_out
from pages.your_data.state import Own, go_on, look_over, own
from privcov.data_sources.private_file import PrivateFileError
from privcov.owner.check import CHOICE, MARK, OwnerCheck, advice
from privcov.owner.needs import needs

_LINE = 33  # pixels of one line of a table in this theme
_STYLE = '<style>.st-key-own-checked [data-testid="stElementToolbar"] {display: none;}</style>'


def panel() -> None:
    """What the check found, or the button that asks for it."""
    mine = own()
    if mine.checked is None:
        st.button(
            "Check the file",
            key="own-check",
            on_click=_read,
            help="Reads the rows and shows, to you alone, which cells can be used. It spends nothing; Release does it "
            "too.",
        )
        return
    found = mine.checked
    with st.container(border=True, key="own-checked"):
        st.html(_STYLE)
        verdict()
        for line in advice(found):
            st.markdown(show.as_text(line))
        if lacking := found.wasted:
            st.markdown(
                "A column with hardly a number takes its share of the guarantee and answers nothing. Correct the file "
                "and take it again, tick the column to release it nevertheless, or leave all of them out."
            )
            with st.container(height=200 if len(lacking) > 4 else "content"):
                for name, key in _ticks(mine, found):
                    st.checkbox(show.as_text(f"Release {name!r} as it is"), key=key)
            st.button("Leave them out", key="own-leave-out", on_click=_leave_out, args=(lacking,))
        with st.expander("Column by column"):
            _details(mine, found)
        st.caption(CHOICE)


def verdict() -> None:
    """The one sentence, under its mark; nothing before the check."""
    if found := own().checked:
        show.tag("Owner's view", MARK)
        st.markdown(show.as_text(found.verdict))


def passed() -> bool:
    """Whether a release may be confirmed: the file is checked, and every column with hardly a number is accepted."""
    mine = own()
    if mine.checked is None:
        with st.spinner("Checking the file ..."):
            _read()
        if mine.checked is not None and mine.checked.wasted:
            st.rerun()  # the panel with its ticks stands above the button
    if mine.checked is None:
        return False
    if all(st.session_state.get(key) for _, key in _ticks(mine, mine.checked)):
        return True
    mine.problem = "Nothing was spent. Some columns hold hardly a number: tick each of them above, or leave them out."
    return False


def _read() -> None:
    """What goes wrong inside is an identifier: a message of a library might quote a cell."""
    mine = own()
    try:
        mine.checked = look_over()
    except (Hosted, PrivateFileError) as problem:
        mine.problem = str(problem)
    except Exception:
        mine.problem = f"The check failed (id {secrets.token_hex(4)}). Nothing was released."


def _ticks(mine: Own, found: OwnerCheck) -> list[tuple[str, str]]:
    """(column with hardly a number, key of its tick)."""
    lacking = found.wasted
    at = {c.name: place for place, c in enumerate(found.columns)}
    return [(name, f"own-accept-{mine.file_id}-{mine.turn}-{at[name]}") for name in lacking]


def _leave_out(names: tuple[str, ...]) -> None:
    """Back to Declare with these columns unticked; what is declared stays until it is declared anew."""
    for name in names:
        leave_out(name)
    go_on("declare")


def _details(mine: Own, found: OwnerCheck) -> None:
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
        for c in found.columns
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
    if found.label:
        st.markdown(show.as_text(f"{found.unlisted:,} of {found.rows:,} rows have no label of the list."))
    classes = len(mine.declared.classes) if mine.declared else 0
    st.markdown(needs(found.rows, len(found.columns), classes, found.seconds, in_files=False).sentence)
