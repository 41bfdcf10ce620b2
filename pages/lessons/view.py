"""The page of the lessons: choose a lesson or a part, and play it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.common import frame, show
from pages.lessons import player
from pages.lessons.catalogue import LESSONS, NUMBERS, place

PARTS = {"lessons": "Lessons", "demos": "Demonstrations", "teach": "Teach"}
_STYLE = f"<style>{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"


def look() -> None:
    """Set the style of this page."""
    st.html(_STYLE)


def part() -> str:
    """Return the part of the page that the address names."""
    part_name = frame.page_setting("part", "lessons")
    if part_name not in PARTS:
        frame.leave_out("part", f"The parts are {', '.join(PARTS)}.")
        return "lessons"
    return part_name


def heading(title: str) -> None:
    """Show the title and the parts of the page."""
    current = part()
    if st.session_state["fresh_page"] or st.session_state.get("lesson-part") != current:
        st.session_state["lesson-part"] = current
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-heading"):
        st.title(title)
        st.segmented_control(
            "Part",
            list(PARTS),
            key="lesson-part",
            format_func=PARTS.__getitem__,
            required=True,
            label_visibility="collapsed",
            on_change=_part_changed,
            width="content",
        )


def _part_changed() -> None:
    """Write the chosen part into the address."""
    frame.set_query(part="" if st.session_state["lesson-part"] == "lessons" else st.session_state["lesson-part"])


def draw() -> None:
    """Show the lesson that the address names."""
    number = _number()
    _check_place(number)
    _chooser(number)
    heading(f"{place(number)}. {LESSONS[number].title}")
    with show.problems():
        player.put(number, frame.palette())


def _number() -> int:
    """Return the number of the lesson that the address names."""
    text = frame.page_setting("lesson", "1")
    if text in map(str, NUMBERS):
        return int(text)
    frame.leave_out("lesson", f"The lessons are 1 to {len(NUMBERS)}.")
    return 1


def _check_place(number: int) -> None:
    """Say where the address names a place that the control does not have; the player finds the others itself."""
    text, places = frame.page_setting("lever"), [str(option) for option in LESSONS[number].control.options]
    if text and text not in places:
        frame.leave_out("lever", f"In lesson {place(number)} it is one of {', '.join(places)}.")


def _go(number: int) -> None:
    frame.set_query(lesson="" if number == 1 else str(number), lever="")


def _step(by: int) -> None:
    """Go on from the lesson that the address names by now: quick keys may come together, before a run."""
    at = NUMBERS.index(_number()) + by
    _go(NUMBERS[min(max(at, 0), len(NUMBERS) - 1)])


def _chooser(number: int) -> None:
    """Show the row of buttons that chooses a lesson."""
    if st.session_state["fresh_page"] or st.session_state.get("lesson-number") != number:
        st.session_state["lesson-number"] = number
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-chooser"):
        first, last = number == NUMBERS[0], number == NUMBERS[-1]
        st.button("Previous", key="lesson-previous", on_click=_step, args=(-1,), disabled=first)
        st.segmented_control(
            "Lesson",
            NUMBERS,
            key="lesson-number",
            required=True,
            on_change=lambda: _go(st.session_state["lesson-number"]),
            label_visibility="collapsed",
            format_func=lambda number: str(place(number)),
        )
        st.button("Next", key="lesson-next", on_click=_step, args=(1,), disabled=last)
