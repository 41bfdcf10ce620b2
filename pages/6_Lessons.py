"""Show the lessons, with one control and one question each, and the demonstrations; every screen has its own link."""

from __future__ import annotations

import streamlit as st

from pages.lessons import view
from pages.shell import frame

study = frame.page("Lessons", keeps=("part", "lesson", "lever", "unit", "demo", "demo_lever", "full"))
full = frame.own("full") == "1"
view.look(full=full)
if view.part() == "demos":
    from pages.lessons import demos

    with st.container(horizontal=True, key="lesson-chooser"):
        view.size_and_link(full=full)
    view.heading("Demonstrations")
    demos.draw(full=full)
else:
    view.draw(study, full=full)
