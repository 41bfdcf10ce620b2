"""Show the lessons, with one control and one question each, the demonstrations, and the sheets for a class."""

from __future__ import annotations

import streamlit as st

from pages.common import frame, hosted, owner_token
from pages.lessons import view

frame.page("Lessons", keeps=("part", "lesson", "lever", "demo", "demo_lever", "minutes"))
view.look()
if view.part() == "demos":
    from pages.lessons import demos

    view.heading("Demonstrations")
    demos.draw()
elif view.part() == "teach":
    from pages.lessons import teach

    with st.container(horizontal=True, key="lesson-chooser"):
        minutes = teach.choose()
    view.heading("Teach")
    if hosted.for_class() and not owner_token.is_open():  # it has the answers
        owner_token.ask()
    else:
        teach.draw(minutes)
else:
    view.draw()
