"""Write reports as one HTML file, with figures drawn in it; nothing is fetched or run.

First comes what a reader needs who has a minute (`privcov.bundle.front`), on one printed side, and then the tables.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from privcov.bundle import front as fronts
from privcov.bundle.front import Front
from privcov.bundle.paper import STYLE, grid, listed, section, text
from privcov.data_sources.base import SOURCES
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.figures.errors import curves
from privcov.figures.exports import svg
from privcov.figures.look import Picture
from privcov.figures.matrices import colour_limit, heatmap
from privcov.figures.palette import LIGHT, PAPER_CAPTION
from privcov.figures.words import SCALED, percent, plain
from privcov.metrics.errors import answers_to_beat, error, reference_matrix, working
from privcov.postprocess.two_values import same_column
from privcov.privacy import Guarantee, NoPrivacy
from privcov.releasing.release import Release
from privcov.sweeps import studies
from privcov.sweeps.plan import CLASSIFICATION, Plan, metric_name

if TYPE_CHECKING:
    from jinja2 import Environment

_MEASURED = ("mean", "low", "high", "replicates", "failed")  # columns of a summary
MOST_LISTED = 12  # columns; a larger matrix is a picture only
MOST_LINES = 200  # of a table; the CSV has the rest
MOST_PRINTED = 24  # of them, on paper
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
    front: Front | None = None,
    date: datetime.date | None = None,
) -> str:
    """Return a report: its ``front`` on the first side, and behind it ``parts``, which are HTML already.

    ``provenance`` is Simulated, Public or Released; ``script`` the Python script that computes the same; ``address``
    the path and query of the page that shows the same, or ""; ``date`` today unless given.
    """
    from markupsafe import Markup

    drawn = "" if front is None or front.picture is None else figure(front.picture, front.caption)
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=title,
            provenance=provenance,
            subject=subject,
            front=front,
            figure=Markup(drawn),
            date=(date or datetime.date.today()).isoformat(),
            parts=[Markup(part) for part in parts if part],
            script=script,
            address=address,
            versions=f"Python {platform.python_version()}, numpy {np.__version__}, pandas {pd.__version__}",
            style=Markup(STYLE),
            caption=PAPER_CAPTION,
            printed=MOST_PRINTED,
        )
        + "\n"
    )


def of_release(
    rel: Release,
    data: Dataset,
    *,
    script: str = "",
    address: str = "",
    more: Sequence[str] = (),
    title: str = "",
    front: Front | None = None,
) -> str:
    """Return the report of one release: matrices, errors, trivial answers to compare with, the statement.

    ``data`` holds the rows it was made from, simulated or public; ``more`` further sections, see `section` and
    `figure`; ``front`` the first side, that of the release unless given.
    """
    card, against = METHODS.get(rel.method), "sample" if data.truth is None else "truth"
    parts = [
        section("Errors", _errors(rel, data, against)),
        section("Matrices", _matrices(rel, data, against)),
        *more,
        section("Statement", grid(("", ""), rel.statement.lines)),
        section("Settings", grid(("", ""), _settings(rel, data))),
        section("How to read this", listed(_notes(rel, data))),
    ]
    return build(
        title or f"{card.label} on {data.name}",
        data.provenance.capitalize(),
        f"{data.n:,} rows, {data.d} columns; {rel.given or 'nothing measured'}",
        *parts,
        script=script,
        address=address,
        front=front or fronts.of_release(rel, data),
    )


def _errors(rel: Release, data: Dataset, against: str) -> str:
    lines = [
        (
            f"{norm.capitalize()} error to the {against}, relative",
            percent(error(rel, data, norm, relative=True, against=against)),
        )
        for norm in ("frobenius", "spectral")
    ]
    beat = "" if rel.target == "precision" else _answers_to_beat(rel, data)
    return grid(("Measure", "Value"), lines) + beat


def _answers_to_beat(rel: Release, data: Dataset) -> str:
    lines = [(name, percent(level)) for name, level in answers_to_beat(data, rel.target)]
    return "<p>Relative Frobenius errors to compare with:</p>" + grid(("Answer", "Error"), lines)


def _matrices(rel: Release, data: Dataset, against: str) -> str:
    reference = reference_matrix(data, rel.target, against)
    released = working(rel.matrix, rel.scale, rel.target)
    limit, known = colour_limit(reference), same_column(rel.kinds)
    shown = [
        (against.capitalize(), reference),
        ("Released", released),
        (f"Released less {against}", released - reference),
    ]
    pictures = "".join(
        figure(
            heatmap(m, data.columns, limit, LIGHT, what=f"{name.lower()} {rel.target}", unknown=known), name, width=300
        )
        for name, m in shown
    )
    unit = f", {SCALED}" if data.bounds is not None else ""
    words = (
        f"<p>{escape(rel.target.capitalize())}{unit}. Orange is {plain(-limit)} or less, teal {plain(limit)} or more; "
        "first column on top and left.</p>"
    )
    table = ""
    if data.d <= MOST_LISTED:
        lines = [(name, *map(plain, row)) for name, row in zip(data.columns, rel.matrix, strict=True)]
        table = "<p>Released, in the units of the data:</p>" + grid(("", *data.columns), lines)
    return f'<div class="row">{pictures}</div>{words}{table}'


def _settings(rel: Release, data: Dataset) -> list[tuple[str, str]]:
    settings = [
        ("Method", METHODS.get(rel.method).label),
        ("Data", data.name),
        ("Row bound R", f"{data.row_bound:.9g}"),
    ]
    return (
        settings
        + [(k, str(v)) for k, v in rel.parameters.items()]
        + [(f"Note {i}", n) for i, n in enumerate(rel.notes, 1)]
    )


def _notes(rel: Release, data: Dataset) -> list[str]:
    rows = "n is public" if rel.n is not None else "n is not public"
    return [
        "One draw of the noise: another seed gives another matrix. No interval is stated in this report.",
        f"Not covered by the guarantee: choosing settings by looking at results; {rows}.",
        NOISE,
        *([DECLARED] if data.provenance == "public" else []),
    ]


def of_curves(
    title: str,
    provenance: str,
    subject: str,
    pictures: Sequence[tuple[Picture, str]],
    words: Sequence[str],
    table: pd.DataFrame,
    *,
    declared: bool = False,
    script: str = "",
    address: str = "",
    front: Front | None = None,
    notes: Sequence[str] | None = None,
) -> str:
    """Return a report of curves with their table.

    ``pictures`` holds (picture, what its lines and bands are) and ``words`` what the curves show. ``declared`` says
    that the rows come from a table that was declared public; ``front`` is the first side; ``notes`` say how to read the
    numbers, unless they come from seeded noise.
    """
    notes = [NOISE] if notes is None else list(notes)
    notes += [DECLARED] if declared else []
    return build(
        title,
        provenance,
        subject,
        "".join(figure(picture, caption) for picture, caption in pictures),
        section("In words", listed(words)) if words else "",
        section("Table", frame(table)),
        section("How to read this", listed(notes)) if notes else "",
        script=script,
        address=address,
        front=front,
    )


def frame(table: pd.DataFrame) -> str:
    """Return a table as HTML, numbers with four digits: the first `MOST_LINES` lines, and `MOST_PRINTED` on paper."""

    def shown(value: object) -> str:
        if isinstance(value, (float, np.floating)):
            return "" if np.isnan(value) else f"{value:.4g}"
        return str(value)

    lines = [[shown(v) for v in row] for row in table.head(MOST_LINES).itertuples(index=False)]
    rest, kind, cut = len(table) - len(lines), "", ""
    if len(lines) > MOST_PRINTED:
        kind, cut = "long", f'<p class="paper">The first {MOST_PRINTED} of {len(table):,} lines.</p>'
    more = f"<p>and {rest:,} more lines.</p>" if rest else ""
    return grid([str(c) for c in table.columns], lines, kind) + cut + more


def of_study(plans: Sequence[Plan], table: pd.DataFrame) -> str:
    """Return the report of a study, as ``python -m privcov study run`` writes it: each point's mean and quantiles."""
    summary = studies.summary(plans, table)
    sources = list(dict.fromkeys(plan.source for plan in plans))
    groups = {SOURCES.get(key).group for key in sources}
    failed = int(table["value"].isna().sum())
    words = [f"{len(table):,} values; mean over replicates, with their 10 % and 90 % quantiles (low, high)."]
    if failed:
        reason = table.loc[table["value"].isna(), "problem"].mode().iloc[0]
        words.append(f"{failed} of them are missing and in no mean. Most often: {reason}")
    fresh = "fresh rows and fresh noise" if groups == {"Simulated"} else "fresh noise; public rows stay as they are"
    words.append(
        f"Each replicate has {fresh}; the quantiles say how far single replicates lie, not how sure the mean is."
    )
    what = "mean over replicates, with their 10 % to 90 % range."
    pictures = [(f"{name}: {what}", drawn) for name, drawn in _study_curves(summary)]
    first = _study_front(plans, summary, pictures, groups)
    return build(
        f"Study on {', '.join(SOURCES.get(key).label for key in sources)}",
        "Simulated" if groups == {"Simulated"} else "Public",
        f"{len(plans)} plan{'s' if len(plans) > 1 else ''}, {sum(p.steps for p in plans):,} runs of a method",
        section("Results", listed(words) + "".join(figure(drawn, caption) for caption, drawn in pictures[1:])),
        section("Table", frame(_labelled(summary))),
        section("The study", f"<pre>{escape(studies.write(plans))}</pre>"),
        front=first,
    )


def _study_front(
    plans: Sequence[Plan], summary: pd.DataFrame, pictures: Sequence[tuple[str, Picture]], groups: set[str]
) -> Front:
    """Return the first side of the report of a study."""
    guarantees = guarantees_of(plans)
    answer, advice = smallest_of(summary)
    caption, picture = pictures[0] if pictures else ("", None)
    rows = "simulated" if groups == {"Simulated"} else "public"
    assumptions = [
        ("Data", ", ".join(f"{plan.source} {plan.source_params or ''}".strip() for plan in plans[: fronts.FEW])),
        ("Rows", fronts.WHERE[rows]),
        ("Row bound", ", ".join(dict.fromkeys(f"R = {p.row_bound:g}" if p.row_bound else "as usual" for p in plans))),
        ("Guarantees", ", ".join(map(str, guarantees[: 2 * fronts.FEW])) + (" ..." if len(guarantees) > 8 else "")),
        ("Seed", ", ".join(dict.fromkeys(str(plan.seed) for plan in plans))),
    ]
    return Front(answer, advice, fronts.odds(guarantees), assumptions, picture, caption)


def guarantees_of(plans: Iterable[Plan]) -> list[Guarantee | NoPrivacy]:
    """Return the guarantees of plans, each once."""
    return list(dict.fromkeys(guarantee for plan in plans for guarantee in plan.guarantees))


def smallest_of(summary: pd.DataFrame) -> tuple[str, str]:
    """Return (answer, recommendation) on the private point with the smallest mean of the study's first error."""
    part = summary[(summary["guarantee"] != "none") & (summary["metric"] != "majority-error")]
    part = part[part["metric"] == part["metric"].iloc[0]] if len(part) else part
    if not part["mean"].notna().any():
        return "No private run of this study gave a number.", "Read in the table why, and change the study."
    best = part.loc[part["mean"].idxmin()]
    told = {k: v for k, v in best.drop(["method", "metric", *_MEASURED]).items() if not pd.isna(v) and k != "guarantee"}
    where = ", ".join(f"{name} = {v:g}" if isinstance(v, (int, float)) else f"{name} = {v}" for name, v in told.items())
    relative = str(best["metric"]).startswith("relative-")
    amount = percent(float(best["mean"])) if relative else plain(float(best["mean"]))
    answer = f"The smallest mean error is {amount}: {_label(best['method'])}" + (f" at {where}." if where else ".")
    useless = relative and best["mean"] >= 1
    return answer, fronts.HOPELESS if useless else f"Use {_label(best['method'])} where {amount} is small enough."


def _study_curves(summary: pd.DataFrame) -> list[tuple[str, Picture]]:
    """Return one picture per metric, where exactly one number varies from point to point; none elsewhere."""
    pictures = []
    for metric, part in summary.groupby("metric", sort=False):
        settings = part.drop(columns=["metric", *_MEASURED])
        varied = [name for name in settings if name != "method" and settings[name].nunique(dropna=False) > 1]
        if len(varied) != 1 or not pd.api.types.is_numeric_dtype(part[varied[0]]) or not (part["mean"] > 0).any():
            continue
        x = varied[0]
        relative = metric.startswith("relative-")
        drawn = curves(
            part,
            LIGHT,
            x=x,
            x_label=x.replace("_", " "),
            y_label=metric_name(metric),
            order=list(dict.fromkeys(part["method"])),
            labels={entry: _label(entry) for entry in part["method"]},
            references=[("zero matrix", 1.0)] if relative else [],
            log=bool((part[x] > 0).all()),
            log_error=metric not in CLASSIFICATION,
        )
        pictures.append((metric_name(metric), drawn))
    return pictures


def _label(entry: str) -> str:
    """Return the label of a method that a table names by its key, perhaps with settings."""
    key, _, settings = entry.partition(" ")
    return METHODS.get(key).label + (f", {settings}" if settings else "")


def _labelled(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the summary with the labels of methods, without what is the same in every line and stands below it."""
    shown = summary.assign(method=[_label(entry) for entry in summary["method"]])
    same = [name for name in ("guarantee", "delta", "metric", "failed") if name in shown and shown[name].nunique() == 1]
    return shown.drop(columns=[name for name in same if name != "failed" or not shown[name].any()])
