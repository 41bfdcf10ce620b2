"""The page in words: a paragraph per paper, every claim with its verdict, and the report to take along."""

from __future__ import annotations

import streamlit as st

from pages.published import summary
from pages.shell import show
from privcov import places
from privcov.bundle.replication import archive, claims, report
from privcov.bundle.replication.paragraphs import paragraph
from privcov.papers.names import AUTHORS


@st.cache_data(show_spinner="Deciding every claim ...", max_entries=4)
def _claims(stamp: tuple) -> list[claims.Row]:
    """Return the table of claims, the stored one where it is not older than the numbers."""
    return archive.kept_claims() or claims.rows()


@st.cache_resource(show_spinner=False, max_entries=1)
def _archive(stamp: tuple) -> archive.Archive:
    """Return the archive, cached until a stored number changes."""
    return archive.make()


def section() -> None:
    """Show the paragraphs, the claims and the report."""
    stamp = summary.stored_at()
    table = _claims(stamp)
    for paper, name in AUTHORS.items():
        st.markdown(f"**{name}.** {show.as_text(paragraph(paper, table))}")
    with st.expander(f"Every claim: {len(table)} sentences, bounds and guarantees"):
        _table(table)
    left, right, _ = st.columns([1.4, 1.4, 2])
    left.download_button(
        "Report (HTML)", lambda: report.html(_archive(stamp), table), "replication.html", "text/html",
        on_click="ignore", key="published-report", width="stretch",
    )  # fmt: skip
    right.download_button(
        "Everything (zip of CSV)", lambda: _archive(stamp).zipped(), "replication.zip", "application/zip",
        on_click="ignore", key="published-archive", width="stretch",
    )  # fmt: skip
    st.caption(f"Either takes some seconds to make. In a shell: `{places.command()} reproduce --report FILE`.")


def _table(table: list[claims.Row]) -> None:
    """Show every claim with its verdict."""
    st.markdown(f"{claims.counted(table)}.".capitalize())
    shown = claims.frame(table)
    shown["paper"] = shown["paper"].map(AUTHORS)
    order = ["paper", "place", "claim", "verdict", "printed", "as published", "sound", "evidence", "note", "command"]
    shown = shown[order].rename(columns=lambda name: name[:1].upper() + name[1:])
    st.dataframe(shown, hide_index=True, width="stretch")
    show.download("Claims (CSV)", lambda: shown.to_csv(index=False), "claims.csv", key="published-claims-csv")
