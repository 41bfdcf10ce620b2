"""Downloads of a page: a report as HTML, and the study as a file that opens here and in the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from pages.shell import cached, frame, own_range, show, visitor_files
from pages.shell import script as python_script
from pages.shell.study import CSV, DEFAULT_SOURCE, Study
from privcov import places
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.releasing.release import Release
from privcov.sweeps.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

    from privcov.bundle.front import Front
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
        raise ValueError("A file of yours cannot be a saved study: the script has its settings.")
    key = study.method_key()
    given = study.given | study.settings(METHODS.get(key))
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


def seeds(study: Study, data: Dataset) -> str:
    """Return the seeds of a release in words."""
    return f"noise {study.seed}" + (f", rows {study.rows}" if data.provenance == "simulated" else "")


def result(
    name: str,
    title: str,
    front: Callable[[], Front],
    *,
    provenance: str,
    subject: str,
    behind: Callable[[], pd.DataFrame],
    script: str = "",
    words: Sequence[str] = (),
    notes: Sequence[str] | None = None,
    declared: bool = False,
    where: str | None = None,
    label: str = "Take home",
) -> None:
    """Show what a page takes home that shows something else than one release.

    ``front`` is the report's first side and ``behind`` its table, both made on click. ``where`` is the page's address,
    the present one unless given; ``label`` tells the box from another on the page.
    """
    link = address() if where is None else where

    def report_text() -> str:
        from privcov.bundle import report

        return report.of_curves(
            title, provenance, subject, [], words, behind(), declared=declared, script=script, address=link,
            front=front(), notes=notes,
        )  # fmt: skip

    with st.expander(label):
        _download(report_text, f"{name}-" if name else "")


def _download(report_text: Callable[[], str], stem: str = "") -> None:
    """Show the button of a report; ``stem`` tells several of one page apart."""
    show.download("Report as HTML", report_text, "report.html", f"download-{stem}report", HTML)


def section(
    study: Study,
    data: Dataset,
    rel: Release,
    default_source: str = DEFAULT_SOURCE,
    make: Callable[[str, str], str] | None = None,
    *,
    script: str = "",
    correlations: bool = False,
) -> None:
    """Show the downloads of a page that shows one release.

    ``make`` returns the report from script and address; without it the report is that of the release alone. ``script``
    is the page's own, where it is not that of Estimate. ``correlations``: whether the page judges them.
    """
    report_place, study_place, rest = st.columns([1, 1, 3], vertical_alignment="center")
    again, where = script or python_script.script(study, data, default_source), address()
    if cached.in_session(study, default_source):
        where = ""  # a link cannot bring a file along
    range_words = own_range.sentence(data)
    own = visitor_files.upload() if study.source_key(default_source) == CSV else None
    title = f"{METHODS.get(rel.method).label} on {own.name}" if own is not None else ""

    def report_text() -> str:
        from privcov.bundle import front, report

        if make is not None:
            return make(again, where)
        first = own_range.marked(
            front.of_release(rel, data, seeds(study, data), correlations=correlations), range_words
        )
        return report.of_release(rel, data, script=again, address=where, front=first, title=title)

    with report_place:
        _download(report_text)
    with study_place:
        try:
            text = one_release(study, data, default_source).to_json()
            show.download("Saved study", lambda: text, "plan.json", "download-study", JSON)
            words = f"The saved study runs in the shell: `{places.command()} study run plan.json`."
        except ValueError as problem:
            words = show.as_text(str(problem))
    rest.caption(words)


def spectra(study: Study, data: Dataset, rel: Release) -> None:
    """Show the downloads of Spectra."""
    range_words = own_range.sentence(data)

    def make(script: str, where: str) -> str:
        from privcov.bundle import front, report

        first = own_range.marked(front.of_spectrum(rel, data, seeds(study, data)), range_words)
        return report.of_release(
            rel, data, script=script, address=where, front=first, title=f"Eigenvalues of {data.name}"
        )

    section(study, data, rel, make=make, script=python_script.spectrum(study, data))
