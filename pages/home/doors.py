"""Below the demonstration on Home: three doors, each with its two-minute path, and the list of every page."""

from __future__ import annotations

import streamlit as st

from pages.shell import frame, tour
from pages.shell.study import Study


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
            for entry in entries:
                frame.link(entry.file, entry.label, study)
                st.caption(entry.about)
