"""Below the demonstration on Home: three doors to pages that are already set up, and the list of every page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from pages.common import frame, hosted, study_results
from pages.common.fields import parameter_widget
from pages.common.study import CSV, Study
from privcov.data_sources.base import SOURCES

_PRIVATE = "Your data"
ELSEWHERE = f"Shut on this server (**{_PRIVATE}** says why); it works on your own machine."


@dataclass(frozen=True)
class Door:
    """One card: for whom it is, and the page that it opens, at a study (None: the visitor's) and ``own`` settings."""

    key: str
    title: str
    about: str
    page: str
    label: str
    study: Study | None = None
    own: Mapping[str, str] = field(default_factory=dict)


DOORS = (
    Door(
        "teach",
        "Teach",
        "**A class tomorrow.** Ten lessons, and a game against the best possible attacker.",
        "Lessons",
        "Open the first lesson",
        Study(kind="approx", epsilon=1.0),
        {"lesson": "1"},
    ),
    Door(
        "explore",
        "Explore",
        "**Your size, one question.** What privacy costs there, and which method costs least.",
        "Trade-offs",
        "How far from the truth?",
    ),
    Door(
        "release",
        "Release",
        "**A confidential table.** A practice table, from declaration to the file.",
        _PRIVATE,
        "Try the practice table",
    ),
)


def doors(study: Study) -> None:
    """Show the cards Teach, Explore (of a study of any size) and Release; each opens its page, already set up."""
    st.header("Where do you want to go?")
    for place, door in zip(st.columns(len(DOORS), gap="medium"), DOORS, strict=True):
        with place, st.container(border=True, height="stretch", key=f"door-{door.key}"):
            st.markdown(f"### {door.title}\n\n{door.about}")
            shut = door.page == _PRIVATE and bool(hosted.refusal())
            if shut:
                st.caption(ELSEWHERE)
            if door.key == "explore":
                _size(study)
                _ask(door, study)
                _own_table()
            else:
                label, own = ("Read a bundle", {"door": "bundle"}) if shut else (door.label, door.own)
                frame.link(frame.file_of(door.page), label, door.study or study, own)


def _ask(door: Door, study: Study) -> None:
    """Show the button of a question. It is no link: a number that is still being typed would overtake a link."""
    sizes = study.sizes()
    large = sizes.get("n", 0) * sizes.get("d", 0) > study_results.MAX_CELLS
    if large:
        st.caption(
            f"More than {study_results.MAX_CELLS:,} cells (rows times columns) are not drawn here: choose fewer."
        )
    if st.button(door.label, key="home-ask", disabled=large):
        file = frame.file_of(door.page)
        st.switch_page(file, query_params=frame.query_for(file, study, door.own))


def _own_table() -> None:
    pressed = st.button(
        "Open your own table",
        key="home-own",
        on_click=_choose_own,
        help="CSV, Excel or Parquet. Public: every method can be tried on it. Confidential: one release, on your own "
        "machine.",
    )
    if pressed:
        st.switch_page(frame.file_of("Estimate"))


def _size(study: Study) -> None:
    """Show the number of rows and of columns of simulated data; a table has its own."""
    card = {c.key: c for c in SOURCES.all()}.get(study.source_key())
    for spec in card.parameters if card else ():
        if spec.name in ("n", "d"):
            parameter_widget(spec, "data", study, owner=study.source_key())


def _choose_own() -> None:
    frame.change(lambda study: dataclasses.replace(study, source=CSV, data=()))


def every_page(study: Study) -> None:
    """Show one line per page, by the groups of the menu, with links that carry the study."""
    st.header("Every page")
    groups = [(name, entries) for name, entries in frame.MENU if name]
    for place, (name, entries) in zip(st.columns(len(groups), gap="large"), groups, strict=True):
        with place, st.container(gap="small"):
            st.html(f'<div class="pc-group">{name}</div>')
            for entry in entries:
                with st.container(gap=None, key=f"page-{entry.label.lower().replace(' ', '-')}"):
                    frame.link(entry.file, entry.label, study)
                    st.caption(entry.about)
