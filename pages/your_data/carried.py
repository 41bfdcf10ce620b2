"""A confidential file that was given on Estimate: kept unread for Your data, so that nobody gives it twice."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.shell import frame, hosted, owner_token, show, visitor_files
from pages.upload import public_file
from pages.your_data import state
from pages.your_data.state import owner_session


def section() -> None:
    """Show the uploader of a confidential file, or the names of its columns and the way to Your data."""
    if reason := hosted.refusal():  # the whole file would be sent, although only its first line is read
        st.info(show.as_text(reason))
        return
    if not owner_token.opened():
        owner_token.ask()
        return
    session = owner_session()
    if not session.raw:
        st.markdown("Only the names of the columns are looked at.")
        file = visitor_files.uploader("Confidential table", "header")
        if file is not None:
            state.take(file)
        if session.problem:
            st.error(show.as_text(session.problem))
        return
    names = " ".join(f'<span class="pc-tag"><bdi>{escape(name)}</bdi></span>' for name in session.header)
    what = "Columns of" if session.header else "How it is written is asked on Your data:"
    st.html(f"<div>{what} <b><bdi>{escape(session.file_name)}</bdi></b></div><div>{names}</div>")
    st.info(
        "This page computes nothing from its rows. Your data has the file already, unread: declare there what you know "
        "of every column, then make one release, recorded in a ledger."
    )
    frame.link("pages/5_Your_data.py", "Go on to Your data")
    st.button("Forget this file", on_click=_forget)


def _forget() -> None:
    """Remove the file and the answer: the next file is asked about again."""
    state.forget()
    public_file.ask_again()
