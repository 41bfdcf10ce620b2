"""Downloads of a page: its report as HTML."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages.common import cached, frame, own_range, script, show, visitor_files
from pages.common.study import CSV, Study
from privcov.estimators.base import METHODS
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

HTML = "text/html"


def address() -> str:
    """Return path and query of the page as it is now; nothing of a file is in it."""
    file = frame.file_of(st.session_state["page"])
    path = "/" if file == "app.py" else "/" + Path(file).stem.split("_", 1)[1]
    query = urlencode(st.session_state["address"], safe=":,")
    return path + ("?" + query if query else "")


def unlinked(words: str) -> str:
    """Return markdown without its links, for a report."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)


def seeds(study: Study, data: Dataset) -> str:
    """Return the seeds of a release in words."""
    return f"noise {study.seed}" + (f", rows {study.rows}" if data.provenance == "simulated" else "")


def section(study: Study, data: Dataset, rel: Release, *, correlations: bool) -> None:
    """Show the report of one release; ``correlations``: whether the page judges them."""
    again = script.script(study, data)
    where = "" if cached.in_session(study) else address()  # a link cannot bring a file along
    range_words = own_range.sentence(data)
    own = visitor_files.upload() if study.source_key() == CSV else None
    title = f"{METHODS.get(rel.method).label} on {own.file_name}" if own is not None else ""

    def report_text() -> str:
        from privcov.bundle import front, report

        first = own_range.marked(
            front.of_release(rel, data, seeds(study, data), correlations=correlations), range_words
        )
        return report.of_release(rel, data, script=again, address=where, front=first, title=title)

    show.download("Report as HTML", report_text, "report.html", "download-report", HTML)
