"""The question "Which method?", wherever a method is chosen, answered from the shipped evidence and public facts.

No row is read. What the question opens is loaded when the visitor opens it: `advice_panel`.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shell import show
from pages.shell.study import DEFAULT_SOURCE, Study
from privcov.estimators.base import METHODS

TITLE = "Which method?"
_ICON = ":material/help:"


def section(study: Study, where: str, *, default_source: str = DEFAULT_SOURCE, offered: Sequence[str] = ()) -> None:
    """Show a popover that answers for the study's guarantee.

    ``where`` makes its keys unique on a page. ``offered`` are the keys on offer here, () for all; where all of them
    draw a graph, graphs come first.
    """
    panel = st.popover(TITLE, icon=_ICON, width="content", key=f"advice-{where}", on_change="rerun")
    if not panel.open:
        return
    from pages.shell import advice_panel

    kinds = {METHODS.get(key).target for key in offered} or {"covariance", "precision"}
    targets = [t for t in ("covariance", "graph", "precision") if {"graph": "precision"}.get(t, t) in kinds]
    with panel, show.problems():
        advice_panel.for_study(study, where, default_source, targets, offered)
