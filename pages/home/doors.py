"""Below the demonstration on Home: three cards, each with its two-minute tour, and the list of every page."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.shell import frame, tour
from pages.shell.study import CSV, Study


def doors() -> None:
    """Show the cards Teach, Explore and Release; each opens the first step of its tour, already set up."""
    st.header("Where do you want to go?")
    for place, one in zip(st.columns(len(tour.TOURS), gap="medium"), tour.TOURS, strict=True):
        with place, st.container(border=True, height="stretch", key=f"door-{one.key}"):
            st.markdown(f"### {one.title}\n\n**{one.whom}.** {one.summary}")
            if shut := tour.elsewhere(one.steps[0]):
                st.caption(shut)
            frame.to_step(one.steps[0], f"Start: two minutes, {len(one.steps)} steps", tour.word(one, 0))
    pressed = st.button(
        "Open your own table",
        key="home-own",
        on_click=_choose_own,
        help="CSV or Excel. Public: every method can be tried on it. Confidential: one release, on your own machine.",
    )
    if pressed:
        st.switch_page(frame.file_of("Estimate"))


def _choose_own() -> None:
    """Choose the visitor's own table as the data set; in a callback."""
    frame.change(lambda study: dataclasses.replace(study, source=CSV, data=()))


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
