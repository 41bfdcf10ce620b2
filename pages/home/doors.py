"""Below the demonstration on Home: three cards, each with its two-minute tour, and the list of every page."""

from __future__ import annotations

import streamlit as st

from pages.shell import frame, tour
from pages.shell.study import Study


def doors() -> None:
    """Show the cards Teach, Explore and Release; each opens the first step of its tour, already set up."""
    st.header("Where do you want to go?")
    for place, one in zip(st.columns(len(tour.TOURS), gap="medium"), tour.TOURS, strict=True):
        with place, st.container(border=True, height="stretch", key=f"door-{one.key}"):
            st.markdown(f"### {one.title}\n\n**{one.whom}.** {one.summary}")
            if shut := tour.elsewhere(one.steps[0]):
                st.caption(shut)
            frame.to_step(one.steps[0], f"Start: two minutes, {len(one.steps)} steps", tour.word(one, 0))


def every_page(study: Study) -> None:
    """Show one line per page, by the groups of the menu.

    ``study`` is the study that the links carry.
    """
    st.header("Every page")
    groups = [(name, entries) for name, entries in frame.MENU if name]
    for place, (name, entries) in zip(st.columns(len(groups), gap="large"), groups, strict=True):
        with place, st.container(gap="small"):
            st.html(f'<div class="pc-group">{name}</div>')
            for entry in entries:
                with st.container(gap=None, key=f"page-{entry.label.lower().replace(' ', '-')}"):
                    frame.link(entry.file, entry.label, study)
                    st.caption(entry.about)
