"""What the owner takes home of a release: its bundle."""

from __future__ import annotations

import streamlit as st

from pages.common import show
from privcov.bundle.read import Opened, bundle_of
from privcov.core import places
from privcov.ledger import Entry


def bundle(opened: Opened, entry: Entry, declaration: dict | None) -> None:
    """Show the button of the bundle, which is made when it is pressed."""
    record = entry.to_dict()
    st.download_button(
        "Download the bundle",
        data=lambda: bundle_of(opened, record, declaration),
        file_name=f"release-{entry.number}.zip",
        mime="application/zip",
        on_click="ignore",
        key="own-bundle",
        type="primary",
        width="stretch",
        help="One zip with every answer. Take home says what is in it, and how its reader checks it.",
    )


def section(opened: Opened, entry: Entry, declaration: dict | None) -> None:
    """Show what is in the bundle."""
    st.markdown(
        "The bundle is one zip: every matrix as CSV and npz, the statement, the method card, the ledger entry, the "
        "declaration, a one-page report, and `verify.py`. Who gets it checks it without the data: "
        f"`{places.command()} verify release.zip` derives the guarantee and every file again from the noisy whole "
        "numbers, but the matrices as the method estimates them. `verify.py` needs Python and numpy "
        "only, and checks the guarantee and the noisy covariance. The folder `extras` has intervals, the codebook, and "
        "readers for Python and R without privcov."
    )
    if declaration is None:
        st.caption("The declaration is not open in this session; its public facts go in, the reasons do not.")
    st.header("Statement")
    for title, text in opened.release.statement.lines:
        name, words = st.columns([1, 6])
        name.markdown(f"**{title}**")
        words.text(text)
    for note in opened.release.notes:
        st.caption(show.as_text(note))
    with st.expander("Ledger entry"):
        st.json(entry.to_dict(), expanded=1)
