"""Write reports as one HTML file, with figures drawn in it; nothing is fetched or run.

First comes the summary for a busy reader (`privcov.bundle.summary`), on one printed side, and then the tables.
"""

from __future__ import annotations

import datetime
import platform
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from privcov.bundle import summary as fronts
from privcov.bundle.html import STYLE, bullet_list, grid, section, text
from privcov.bundle.summary import ReportSummary
from privcov.core.words import SCALED, percent, plain
from privcov.estimators.base import METHODS
from privcov.metrics.errors import baseline_errors, error, reference_matrix, to_working_units
from privcov.plots.exports import svg
from privcov.plots.look import Picture
from privcov.plots.matrices import colour_limit, heatmap
from privcov.plots.palette import LIGHT, PAPER_CAPTION
from privcov.postprocess.binary_columns import same_column
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_LISTED = 12  # columns; a larger matrix is a picture only
DECLARED = (
    "The rows are a table that was declared public. This report holds matrices computed from it and no row of it; "
    "the guarantee describes the noise, and does not make the declaration true."
)
NOISE = "The seeded, floating-point noise of this report is for study: a private table is released on Your data only."


def figure(picture: Picture, caption: str, width: int = 640) -> str:
    """Return a figure as it appears in a report: SVG, ``width`` pixels wide, with a caption."""
    return f"<figure>{svg(picture, width=width)}<figcaption>{text(caption)}</figcaption></figure>"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return the templates; whatever they show is escaped, and parts of a report are marked as HTML already."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["text"] = lambda words: Markup(text(words))
    return environment


def build(
    title: str,
    provenance: str,
    subject: str,
    *parts: str,
    script: str = "",
    address: str = "",
    front: ReportSummary | None = None,
    date: datetime.date | None = None,
) -> str:
    """Return a report: its ``front`` on the first side, and behind it ``parts``, which are HTML already.

    ``provenance`` is Simulated, Public or Released; ``script`` the Python script that computes the same; ``address``
    the path and query of the page that shows the same, or ""; ``date`` today unless given.
    """
    from markupsafe import Markup

    figure_html = "" if front is None or front.picture is None else figure(front.picture, front.caption)
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=title,
            provenance=provenance,
            subject=subject,
            front=front,
            figure=Markup(figure_html),
            date=(date or datetime.date.today()).isoformat(),
            parts=[Markup(part) for part in parts if part],
            script=script,
            address=address,
            versions=f"Python {platform.python_version()}, numpy {np.__version__}, pandas {pd.__version__}",
            style=Markup(STYLE),
            caption=PAPER_CAPTION,
        )
        + "\n"
    )


def report_on_release(
    rel: Release,
    data: Dataset,
    *,
    script: str = "",
    address: str = "",
    title: str = "",
    front: ReportSummary | None = None,
) -> str:
    """Return the report of one release: matrices, errors, trivial answers to compare with, the statement.

    ``data`` holds the rows it was made from, simulated or public; ``front`` the first side, that of the release unless
    given.
    """
    card, against = METHODS.get(rel.method), "sample" if data.truth is None else "truth"
    parts = [
        section("Errors", _errors(rel, data, against)),
        section("Matrices", _matrices(rel, data, against)),
        section("Statement", grid(("", ""), rel.statement.lines)),
        section("Settings", grid(("", ""), _settings(rel, data))),
        section("How to read this", bullet_list(_notes(rel, data))),
    ]
    return build(
        title or f"{card.label} on {data.name}",
        data.provenance.capitalize(),
        f"{data.n:,} rows, {data.d} columns; {rel.actual_guarantee or 'nothing measured'}",
        *parts,
        script=script,
        address=address,
        front=front or fronts.summarize_release(rel, data),
    )


def _errors(rel: Release, data: Dataset, against: str) -> str:
    lines = [
        (
            f"{norm.capitalize()} error to the {against}, relative",
            percent(error(rel, data, norm, relative=True, against=against)),
        )
        for norm in ("frobenius", "spectral")
    ]
    errors = grid(("Measure", "Value"), lines)
    if rel.target == "precision":
        return errors
    answers = [(name, percent(level)) for name, level in baseline_errors(data, rel.target)]
    return f"{errors}<p>Relative Frobenius errors to compare with:</p>" + grid(("Answer", "Error"), answers)


def _matrices(rel: Release, data: Dataset, against: str) -> str:
    reference = reference_matrix(data, rel.target, against)
    matrix = to_working_units(rel.matrix, rel.scale, rel.target)
    limit, same_pairs = colour_limit(reference), same_column(rel.kinds)
    panels = [(against.capitalize(), reference), ("Released", matrix), (f"Released less {against}", matrix - reference)]
    pictures = "".join(
        figure(
            heatmap(m, data.columns, limit, LIGHT, what=f"{name.lower()} {rel.target}", unknown=same_pairs),
            name,
            width=300,
        )
        for name, m in panels
    )
    unit = f", {SCALED}" if data.bounds is not None else ""
    words = f"<p>{escape(rel.target.capitalize())}{unit}. Values beyond the scale have the colour of its end.</p>"
    table = ""
    if data.d <= MAX_LISTED:
        lines = [(name, *map(plain, row)) for name, row in zip(data.columns, rel.matrix, strict=True)]
        table = "<p>Released, in the units of the data:</p>" + grid(("", *data.columns), lines)
    return f'<div class="row">{pictures}</div>{words}{table}'


def _settings(rel: Release, data: Dataset) -> list[tuple[str, str]]:
    return [
        ("Method", METHODS.get(rel.method).label),
        ("Data", data.name),
        ("Row bound R", f"{data.row_bound:.9g}"),
        *((k, str(v)) for k, v in rel.parameters.items()),
        *((f"Note {i}", n) for i, n in enumerate(rel.notes, 1)),
    ]


def _notes(rel: Release, data: Dataset) -> list[str]:
    rows = "n is public" if rel.n is not None else "n is not public"
    return [
        "One draw of the noise: another seed gives another matrix. No interval is stated in this report.",
        f"Not covered by the guarantee: choosing settings by looking at results; {rows}.",
        NOISE,
        *([DECLARED] if data.provenance == "public" else []),
    ]
