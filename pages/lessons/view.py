"""The page of the lessons: choose a lesson or a part, and play it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.common import address, frame, show
from pages.lessons import player
from pages.lessons.catalogue import LESSONS, NUMBERS

PARTS = {"lessons": "Lessons", "demos": "Demonstrations", "teach": "Teach"}
_STYLE = f"<style>{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"


def look() -> None:
    """Set the style of this page."""
    st.html(_STYLE)


def part() -> str:
    """Return the part of the page that the address names."""
    return address.settle("part", "lesson-part", address.one_of(list(PARTS)), "lessons")


def heading(title: str) -> None:
    """Show the title and the parts of the page."""
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-heading"):
        st.title(title)
        address.bind_widget(
            st.segmented_control, "Part", list(PARTS), name="part", default="lessons", key="lesson-part",
            format_func=PARTS.__getitem__, required=True, label_visibility="collapsed", width="content",
        )  # fmt: skip


def draw() -> None:
    """Show the lesson that the address names."""
    number = _number()
    _check_place(number)
    _chooser(number)
    heading(f"{number}. {LESSONS[number].title}")
    with show.problems():
        player.put(number, frame.palette())


def _number() -> int:
    return address.settle("lesson", "lesson-number", address.one_of(NUMBERS), NUMBERS[0])


def _check_place(number: int) -> None:
    """Say where the address names a place that the control does not have; the player finds the others itself."""
    text, places = frame.page_setting("lever"), [str(option) for option in LESSONS[number].control.options]
    if text and text not in places:
        frame.leave_out("lever", f"In lesson {number} it is one of {', '.join(places)}.")


def _step(by: int) -> None:
    """Go on from the lesson that the address names by now: quick keys may come together, before a run."""
    number = NUMBERS[min(max(NUMBERS.index(_number()) + by, 0), len(NUMBERS) - 1)]
    frame.set_query(lesson="" if number == NUMBERS[0] else str(number), lever="")


def _chooser(number: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-chooser"):
        first, last = number == NUMBERS[0], number == NUMBERS[-1]
        st.button("Previous", key="lesson-previous", on_click=_step, args=(-1,), disabled=first)
        address.bind_widget(
            st.segmented_control, "Lesson", NUMBERS, name="lesson", default=NUMBERS[0], key="lesson-number",
            clears=("lever",), required=True, label_visibility="collapsed",
            format_func=str,
        )  # fmt: skip
        st.button("Next", key="lesson-next", on_click=_step, args=(1,), disabled=last)
