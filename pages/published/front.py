"""The page in words: a paragraph per paper, and every claim with its verdict."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shell import show
from privcov import places
from privcov.papers.names import AUTHORS

_SHOWN = ("paper", "place", "claim", "verdict", "printed", "as published", "sound", "evidence", "note", "command")


@st.cache_data(show_spinner=False, max_entries=2)
def _stored(name: str, stamp: float) -> pd.DataFrame:
    """Return what `python -m replication claims` has decided, cached until the file changes."""
    return pd.read_csv(places.results("replication") / name, keep_default_na=False)


def stored(name: str) -> pd.DataFrame:
    """Return a file of data/replication."""
    return _stored(name, (places.results("replication") / name).stat().st_mtime)


def section() -> None:
    """Show the paragraphs and the claims."""
    for line in stored("paragraphs.csv").itertuples():
        st.markdown(f"**{AUTHORS[line.paper]}.** {show.as_text(line.paragraph)}")
    table = stored("claims.csv")
    with st.expander(f"Every claim: {len(table)} sentences, bounds and guarantees"):
        counts = table["verdict"].value_counts()
        st.markdown("; ".join(f"{word} {count}" for word, count in counts.items()) + ".")
        shown = table.assign(paper=table["paper"].map(AUTHORS))[list(_SHOWN)]
        shown = shown.rename(columns=lambda name: name[:1].upper() + name[1:])
        st.dataframe(shown, hide_index=True, width="stretch")
        show.download("Claims (CSV)", lambda: shown.to_csv(index=False), "claims.csv", key="published-claims-csv")
    st.caption(
        "Decided by `python -m replication claims` in the folder of the project; `python -m replication report FILE` "
        "writes everything as one page and a zip of CSV files."
    )
