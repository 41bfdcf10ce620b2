"""For teachers: the run sheet of a class, the link and its QR code, sheets to print, and the figures."""

from __future__ import annotations

import base64
import os
from html import escape
from urllib.parse import urlsplit

import streamlit as st

from pages.common import address, frame, show
from pages.lessons import sheets, site
from pages.lessons.run_sheets import SHEETS, Step, is_local, link, title
from privcov.core import paths


def draw(minutes: int) -> None:
    """Show the run sheet of so many minutes, and the downloads."""
    base = st.session_state.get("teach-base") or here()
    left, right = st.columns([2, 1], gap="large")
    with right:
        _link(link(base, SHEETS[minutes][0].number))
    with left:
        begins = 0
        for step in SHEETS[minutes]:
            _step(step, begins)
            begins += step.minutes
    with right:
        st.markdown("**To print**")
        with st.container(horizontal=True, gap="small"):
            show.download(
                "Run sheet",
                lambda: sheets.run_sheet(minutes, base),
                f"run-sheet-{minutes}.html",
                "teach-run",
                "text/html",
            )
            show.download("Handout", lambda: sheets.handout(base), "handout.html", "teach-handout", "text/html")
            show.download("Key", sheets.key, "key.html", "teach-key", "text/html")
            zipped = "application/zip"
            show.download("All figures (SVG)", sheets.figures, "lesson-figures.zip", "teach-figures", zipped)
            show.download("Lessons as a folder", site.folder, "lessons.zip", "teach-folder", zipped)
        st.caption(
            "HTML files to print; the handout has one page a lesson. The folder opens from a disk or any server."
        )


def here() -> str:
    """Return the address of the lessons as files, or of this workbench as the class or the browser has it."""
    if files := os.environ.get(paths.LESSONS):
        return files
    parts, host = urlsplit(st.context.url or ""), st.get_option("browser.serverAddress")
    path = parts.path.rstrip("/").removesuffix("/Lessons")
    if is_local(f"//{parts.netloc}") and not is_local(f"//{host}"):
        return f"http://{host}:{parts.port}{path}"
    return f"{parts.scheme}://{parts.netloc}{path}" if parts.netloc else "http://127.0.0.1:8501"


def choose() -> int:
    """Show the choice of a run sheet, and return its minutes."""
    return address.bind_widget(
        st.segmented_control, "Run sheet", list(SHEETS), name="minutes", default=min(SHEETS), key="teach-minutes",
        required=True, label_visibility="collapsed", format_func=lambda m: f"{m} minutes",
    )  # fmt: skip


def _step(step: Step, begins: int) -> None:
    screen = step.end_screen()
    right = next(choice for choice in step.lesson.choices if choice.right)
    with st.container(border=True):
        when, body = st.columns([1, 6])
        when.markdown(f"**{begins}\u2013{begins + step.minutes}** min")
        with body:
            lesson = {"part": "", "lesson": "" if step.number == 1 else str(step.number)}
            frame.link("pages/6_Lessons.py", title(step.number), own={k: v for k, v in lesson.items() if v})
            st.markdown(
                f"**Do:** {step.do}  \n**Ask:** {step.lesson.question}  \n**Expect:** {screen.sentence} "
                f"Right answer: {right.text}."
            )


def _link(address: str) -> None:
    """Show the address of the first lesson, its QR code, and where the class finds this workbench."""
    image = base64.b64encode(sheets.qr(address, 180).encode()).decode()
    st.html(f'<img alt="QR code of {escape(address, quote=True)}" src="data:image/svg+xml;base64,{image}">')
    st.code(address, language=None, wrap_lines=True)
    st.text_input(
        "Address of the workbench",
        key="teach-base",
        placeholder=here(),
        help="As the class types it, for links, QR codes and sheets.",
    )
    if is_local(address):
        st.caption(
            f"Opens on this computer only. `{paths.command()} app --class` lets the room in, or type its address."
        )
