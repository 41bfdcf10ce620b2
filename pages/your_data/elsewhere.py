"""The data owner's page on a server that other people reach: why not here, and how on one's own machine."""

from __future__ import annotations

import streamlit as st

from pages.common import frame, show
from pages.your_data.state import forget

_HOME = """
In a copy of the project, on the machine that holds the table (make and Python 3.11, 3.12 or 3.13 are needed):

```
make run
```

builds its own environment and answers at `http://127.0.0.1:8501` to that machine alone. Under **Your data** there:
declare the table, plan, release once, take everything home; a practice table of invented people is there to try it.
Without the app, `python -m privcov release` does the same in a shell.
"""


def section(reason: str) -> None:
    """Show why the page is not available here, by the sentence of `hosted.refusal`, and what to do instead."""
    forget()  # a session may hold data from before the server was reached by others
    st.info(show.as_text(reason))
    st.markdown("The zip of a release can be read here: it holds no row. Choose **Read a bundle** above.")
    st.header("On your own machine")
    st.markdown(_HOME)
    st.header("What can be planned here")
    st.markdown(
        "A table's sizes and the guarantee tell what a release would be worth: simulate one as large. The "
        "practice table is missing here too: its release needs a ledger, and a server keeps none."
    )
    left, right, _ = st.columns([2, 2, 5])
    with left:
        frame.link("pages/1_Estimate.py", "To Estimate")
    if right.button("Security and limits", key="own-security"):
        security()


@st.dialog("Security and limits", width="large")
def security() -> None:
    """Show the project's security file without its title: what the private path promises and what it does not."""
    st.markdown((frame.ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("\n")[2])
