"""Which method? The shipped evidence, asked with public facts, wherever a method is chosen. No row is read.

What the question opens is loaded when somebody opens it: `advice_panel`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import streamlit as st

from pages.shell import show
from pages.shell.study import DEFAULT_SOURCE, Study
from privcov.estimators.base import METHODS
from privcov.privacy import Guarantee
from privcov.public_facts import PublicFacts

TITLE = "Which method?"
_ICON = ":material/help:"


def section(
    study: Study,
    where: str,
    *,
    default_source: str = DEFAULT_SOURCE,
    offered: Sequence[str] = (),
    chosen: Sequence[str] = (),
    use: Callable[[str], None] | None = None,
) -> None:
    """A popover that answers for the study's guarantee. where: makes its keys unique on a page.

    offered: keys on offer here, () for all; where all of them draw a graph, graphs come first. chosen: keys that are
    chosen already, () for the study's. use: what "Use it" does with a key; else it becomes the study's method.
    """
    width: Literal["stretch", "content"] = "stretch" if where == "sidebar" else "content"
    panel = st.popover(TITLE, icon=_ICON, width=width, key=f"advice-{where}", on_change="rerun")
    if not panel.open:
        return
    from pages.shell import advice_panel

    kinds = {METHODS.get(key).target for key in offered} or {"covariance", "precision"}
    targets = [t for t in ("covariance", "graph", "precision") if {"graph": "precision"}.get(t, t) in kinds]
    with panel, show.problems():
        advice_panel.for_study(study, where, default_source, targets, offered, chosen or (study.method_key(),), use)


def for_owner(facts: PublicFacts, guarantee: Guarantee, rows: int, spread: float) -> None:
    """The same on the data owner's Plan: declared facts, the owner's own guess of n and of the spread, and no file.

    spread: usual deviation of a column as a share of its half-range.
    """
    panel = st.expander(TITLE, icon=_ICON, key="own-advice", on_change="rerun")
    if not panel.open:
        return
    from pages.shell import advice_panel

    with panel, show.problems():
        advice_panel.for_owner(facts, guarantee, rows, spread)
