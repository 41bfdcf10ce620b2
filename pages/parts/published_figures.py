"""Figures without printed numbers: the findings that the texts read off them, tested on computed curves."""

from __future__ import annotations

import streamlit as st

from pages.parts import published_again, published_summary, show
from privcov.experiments import published
from privcov.experiments.published_checks import Check, checks_of
from privcov.experiments.published_figures import FIGURES

HOLDS = {True: ":green-badge[holds]", False: ":red-badge[does not hold]", None: ":gray-badge[not computed]"}


@st.cache_data(show_spinner=False, max_entries=4)
def _checks(stamp: tuple) -> dict[str, list[Check]]:
    return {key: checks_of(key) for key in FIGURES}


def section() -> None:
    """A box per figure: its findings, what was left open, and a way to compute it again."""
    st.header("Figures")
    st.caption("The pictures print no numbers. What the texts read off them is tested here on curves computed again.")
    for key, checks in _checks(published_summary.stored_at()).items():
        table = published.TABLES[key]
        held = sum(check.holds is True for check in checks)
        title = f"{table.name}: {table.title} - {held} of {len(checks)} findings hold"
        with st.expander(show.as_text(title), key=f"published-figure-{key}"):
            for check in checks:
                st.markdown(f"{HOLDS[check.holds]} **{show.as_text(check.question)}** {show.as_text(check.verdict)}")
            for choice in (*table.choices, *table.left_out):
                st.caption(show.as_text(choice))
            st.code(f"python -m privcov reproduce --preset full {key}", language="bash")
            published_again.to_trade_offs(table, "Open the curves in Trade-offs")
