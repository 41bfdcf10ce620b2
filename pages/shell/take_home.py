"""Downloads of a page: a report as HTML, and the study as a file that opens here and in the shell."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages.shell import cached, frame, show
from pages.shell import script as python_script
from pages.shell.study import DEFAULT_SOURCE, Study
from privcov import places
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.releasing.release import Release
from privcov.sweeps.plan import Plan

HTML, JSON = "text/html", "application/json"


def address() -> str:
    """Return path and query of the page as it is now; nothing of a file is in it."""
    file = frame.file_of(st.session_state["page"])
    path = "/" if file == "app.py" else "/" + Path(file).stem.split("_", 1)[1]
    query = urlencode(st.session_state["address"], safe=":,")
    return path + ("?" + query if query else "")


def unlinked(words: str) -> str:
    """Return markdown without its links, for a report."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)


def one_release(study: Study, data: Dataset, default_source: str = DEFAULT_SOURCE) -> Plan:
    """Return the release on the page as a plan of one cell: `privcov.run` gives the page's error, bit for bit."""
    if cached.in_session(study, default_source):
        raise ValueError("A saved study names a data source, and a file of yours is none: the script has its settings.")
    key = study.method_key()
    given = dict(study.options) if study.method else {}
    given |= study.settings(METHODS.get(key))
    return Plan(
        source=study.source_key(default_source),
        source_params=dict(study.data),
        methods=[(key, given)],
        guarantees=[study.guarantee],
        metrics=[f"relative-frobenius-to-{'sample' if data.truth is None else 'truth'}"],
        replicates=1,
        seed=study.rows,
        row_bound=data.row_bound,
        noise_seed=study.seed,
    )


def section(
    study: Study,
    data: Dataset,
    rel: Release,
    default_source: str = DEFAULT_SOURCE,
    make: Callable[[str, str], str] | None = None,
) -> None:
    """Show the downloads of a page that shows one release.

    ``make`` returns the report from script and address; without it the report is that of the release alone.
    """
    left, right, rest = st.columns([1, 1, 2], vertical_alignment="center")
    with left:
        script, where = python_script.script(study, data, default_source), address()
        if cached.in_session(study, default_source):
            where = ""  # a link cannot bring a file along

        def report_text() -> str:
            from privcov.bundle import report

            return report.of_release(rel, data, script=script, address=where) if make is None else make(script, where)

        show.download("Report as HTML", report_text, "report.html", "download-report", HTML)
    with right:
        try:
            text = one_release(study, data, default_source).to_json()
            show.download("Saved study", lambda: text, "plan.json", "download-study", JSON)
            words = (
                "The saved study is one cell of a plan: it opens on Trade-offs under *Open a saved study*, which leads "
                f"to Estimate, and runs in the shell with `{places.command()} run plan.json`."
            )
        except ValueError as problem:
            words = show.as_text(str(problem))
    rest.caption("The report is one file that needs no network. " + words)
