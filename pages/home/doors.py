"""Below the demonstration on Home: three doors, each with its two-minute path, and the list of every page."""

from __future__ import annotations

import streamlit as st

from pages.shell import frame, tour
from pages.shell.study import Study

PAGES = {
    "Estimate": "One data set, one method, one guarantee: the matrices, the error, and a statement of what was spent.",
    "Trade-offs": "Error against epsilon, n or d for several methods; which epsilon is needed; who wins where.",
    "Graph recovery": "Which links between columns survive the noise, and which are drawn from it.",
    "Spectra": "What noise does to eigenvalues, and what can be repaired for free.",
    "Your data": "A confidential CSV: declare, plan, release once, take everything home.",
    "Lessons": "One lever and one question per screen; at the end the class plays against the best attacker.",
    "Methods": "Every method on a card, guarantees converted and composed, and what every word means.",
    "Published results": "The papers' tables and figures beside ours, and why they agree or not.",
    "Privacy audit": "Every privacy claim checked; broken mechanisms fail before your eyes.",
}


def doors() -> None:
    """Teach, Explore, Release: each opens a page that is already set up, on the first step of its path."""
    st.header("Where do you want to go?")
    for place, found in zip(st.columns(len(tour.PATHS), gap="medium"), tour.PATHS, strict=True):
        with place, st.container(border=True, height="stretch", key=f"door-{found.key}"):
            st.markdown(f"### {found.title}\n\n**{found.whom}.** {found.told}")
            if shut := tour.elsewhere(found.steps[0]):
                st.caption(shut)
            frame.to_step(found.steps[0], f"Start: two minutes, {len(found.steps)} steps", tour.word(found, 0))
    st.caption("A path only points the way: every page stays open meanwhile, and Leave ends it at any step.")


def every_page(study: Study) -> None:
    """One line per page, by the groups of the menu. study: what the links carry."""
    st.header("Every page")
    groups = [(name, entries) for name, entries in frame.MENU if name]
    for place, (name, entries) in zip(st.columns(len(groups), gap="large"), groups, strict=True):
        with place, st.container(gap="xxsmall"):
            st.html(f'<div class="pc-group">{name}</div>')
            for file, label in entries:
                frame.link(file, label, study)
                st.caption(PAGES[label])
