"""Ten lessons with one lever and one question each, and the demonstrations; every screen has its own link."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, lesson_view

study = frame.page("Lessons", keeps=("part", "lesson", "lever", "demo", "demo_lever", "full"))
full = frame.own("full") == "1"
lesson_view.look(full=full)
if lesson_view.part() == "demos":
    from pages.parts import demos

    with st.container(horizontal=True, key="lesson-chooser"):
        lesson_view.size_and_link(full=full)
    lesson_view.heading("Demonstrations")
    demos.section(full=full)
else:
    lesson_view.section(study, full=full)
