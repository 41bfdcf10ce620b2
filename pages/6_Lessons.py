"""Show the lessons, with one control and one question each, the demonstrations, and the sheets for a class."""

from __future__ import annotations

import streamlit as st

from pages.common import frame
from pages.lessons import view

frame.page("Lessons", keeps=("part", "lesson", "lever", "unit", "demo", "demo_lever", "minutes", "full"))
full = frame.page_setting("full") == "1"
view.look(full=full)
if view.part() == "demos":
    from pages.lessons import demos

    with st.container(horizontal=True, key="lesson-chooser"):
        view.size_and_link(full=full)
    view.heading("Demonstrations")
    demos.draw(full=full)
elif view.part() == "teach":
    from pages.lessons import teach

    with st.container(horizontal=True, key="lesson-chooser"):
        teach.choose()
    view.heading("Teach")
    teach.draw()
else:
    view.draw(full=full)
