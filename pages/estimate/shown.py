"""What Estimate shows of a covariance: correlations where columns have units, the strongest pairs, and a verdict."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from pages.common import address, frame, own_range, script, show, study_results, visitor_files
from pages.common.show import CORRELATIONS, COVARIANCES
from pages.common.study import CSV, Study
from privcov.bundle.usefulness import STILL
from privcov.bundle.usefulness import verdict as in_words
from privcov.core.words import SCALED
from privcov.estimators.base import METHODS
from privcov.metrics.errors import reference_matrix
from privcov.postprocess.matrices import correlation
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

_MAX_PAIRS = 3
_WEAK = 0.1  # a correlation below it is no strong one


def choose(data: Dataset, rel: Release) -> str:
    """Return how the matrices are shown; where columns have units, the person chooses."""
    if data.bounds is None or rel.target != "covariance" or data.d == 1:
        return ""
    return address.bind_widget(
        st.segmented_control, "Matrices", [CORRELATIONS, COVARIANCES], name="shown", default=CORRELATIONS,
        key="estimate.shown", required=True, label_visibility="collapsed",
    )  # fmt: skip


def matrix_of_rows(matrix: np.ndarray, data: Dataset, how: str) -> np.ndarray:
    """Return a matrix of the rows in working units as it is shown."""
    if how == CORRELATIONS:
        return correlation(matrix, floor=STILL)
    return matrix * np.outer(data.scale, data.scale) if how == COVARIANCES else matrix


def colours(data: Dataset, rel: Release, how: str) -> str:
    """Return what the colours mean."""
    if how == CORRELATIONS:
        floor = 0.0 if rel.noisy_moment is None else rel.noisy_moment.distribution.diagonal_std * rel.row_bound**2
        low = int((np.diag(rel.matrix) / rel.scale**2 < floor).sum())
        note = (
            f". {low} of {data.d} released variances are below the noise, which takes their place here" if low else ""
        )
        return f"correlation, from -1 (orange: columns move apart) over 0 to 1 (teal: they move together){note}"
    if how == COVARIANCES:
        return "covariance in the columns' own units"
    return f"{rel.target}, {SCALED}" if data.bounds is not None else rel.target


def strongest(data: Dataset, released: np.ndarray, noise: float) -> str:
    """Return the strongest correlations of the sample and what the release says of them, as text.

    ``noise``: its deviation on a covariance before repairs, in working units. Empty where no pair correlates.
    """
    covariance = reference_matrix(data, "covariance", "sample")
    sample, spread = matrix_of_rows(covariance, data, CORRELATIONS), np.sqrt(np.diag(covariance))
    strong = np.argsort(-np.abs(np.triu(sample, 1)), axis=None, kind="stable")[:_MAX_PAIRS]
    pairs = [
        f"{data.columns[i]} and {data.columns[j]} {sample[i, j]:.2f}, "
        f"{_as_released(released[i, j], noise / (spread[i] * spread[j]))}"
        for i, j in zip(*np.unravel_index(strong, sample.shape), strict=True)
        if i < j and abs(sample[i, j]) >= _WEAK and min(covariance[i, i], covariance[j, j]) > STILL
    ]
    note = " (±: deviation of the noise before repairs)" if any("±" in pair for pair in pairs) else ""
    return f"Strongest pairs of the sample: {'; '.join(pairs)}{note}." if pairs else ""


def _as_released(value: float, noise: float) -> str:
    """Return a released correlation with its noise, as far as there is anything to tell."""
    if value == 0:
        return "released as 0"
    return f"released {value:.2f}" + (f" ± {noise:.2g}" if noise < 1 else ", lost in the noise")


def verdict(relative_error: float, data: Dataset, rel: Release, how: str = "") -> str:
    """Return whether the release is of use as it is shown, as markdown."""
    word, why = in_words(relative_error, data, rel, correlations=how == CORRELATIONS)
    alone = " One column has a variance and no covariance: give two or more." * (data.d == 1)
    return f"**{word}** {why}".strip() + alone


HTML = "text/html"


def page_address() -> str:
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


def report(study: Study, data: Dataset, rel: Release, *, correlations: bool) -> None:
    """Show the report of one release; ``correlations``: whether the page judges them."""
    again = script.script(study, data)
    where = "" if study_results.is_uploaded(study) else page_address()  # a link cannot bring a file along
    range_words = own_range.sentence(data)
    own = visitor_files.upload() if study.source_key() == CSV else None
    title = f"{METHODS.get(rel.method).label} on {own.file_name}" if own is not None else ""

    def report_text() -> str:
        from privcov.bundle import report, summary

        first = own_range.with_warning(
            summary.summarize_release(rel, data, seeds(study, data), correlations=correlations), range_words
        )
        return report.report_on_release(rel, data, script=again, address=where, front=first, title=title)

    show.download("Report as HTML", report_text, "report.html", "download-report", HTML)
