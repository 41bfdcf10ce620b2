"""Draw one release, with the names of its columns, for a notebook: matrix, eigenvalues, network, uncertainty."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from privcov.core.words import SCALED, plain, to_powers
from privcov.inference.answers import answers
from privcov.metrics.errors import noise_edge, to_working_units
from privcov.metrics.graphs import edges, noisy_matrix, partial_correlations
from privcov.plots.errors import bars
from privcov.plots.graphs import network, positions
from privcov.plots.intervals import pairs
from privcov.plots.look import Picture
from privcov.plots.matrices import RIGHT, colour_limit, heatmap, still
from privcov.plots.palette import DARK, LIGHT, Palette
from privcov.plots.spectra import spectrum
from privcov.postprocess.binary_columns import same_column
from privcov.releases.display import headline, matrix_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from privcov.releases.release import Release
    from privcov.steward.expect import Expectation

SIDE = 480  # pixels of a square figure
_ROOM = 30  # pixels more for the numbers of the colour bar, which a page sets smaller
_TABLE = 8  # columns of the table in a notebook
_PAIRS = 20  # most correlations in the chart of the uncertainty
_PIXELS = 320  # side of the picture of the matrix in a notebook


def notebook_palette(dark: bool) -> Palette:
    """Return the colours for a light or a dark notebook."""
    return DARK if dark else LIGHT


def _head(figure: go.Figure, title: str, top: float, palette: Palette) -> go.Figure:
    """Set a title, room for it, and a ground of the figure's own."""
    look = {"text": to_powers(title), "font": {"size": 14}, "y": 0.98, "yanchor": "top"}
    return figure.update_layout(
        paper_bgcolor=palette.ground, plot_bgcolor=palette.ground, title=look, margin={"t": top}
    )


def _with_title(rel: Release, picture: Picture, palette: Palette, *, matrix_name: str = "") -> go.Figure:
    """Return the figure on its own ground, with method, guarantee, text alternative, and the name of its matrix."""
    figure, caption = picture.figure, f"{rel.method}, {rel.guarantee}"
    caption = f"{matrix_name.capitalize()}: {caption}" if matrix_name else caption
    title = f"{caption}: claimed, not given" if rel.claim_is_false else caption
    _head(figure, title, (figure.layout.margin.t or 0) + _ROOM, palette).update_layout(meta={"alt": picture.alt})
    if matrix_name:
        figure.update_layout(width=SIDE + 2 * _ROOM, height=SIDE + _ROOM, margin={"r": RIGHT + _ROOM})
    return figure


def matrix_figure(rel: Release, which: str = "", *, dark: bool = False) -> go.Figure:
    """Return a heatmap of one matrix."""
    matrix_name, matrix = _pictured(rel, which)
    palette = notebook_palette(dark)
    same, described = same_column(rel.kinds), f"the released {matrix_name}"
    picture = heatmap(matrix, rel.columns, colour_limit(matrix), palette, what=described, unknown=same)
    return _with_title(rel, picture, palette, matrix_name=matrix_name)


def _pictured(rel: Release, which: str = "") -> tuple[str, np.ndarray]:
    """Return a matrix and its name; "" is the correlation in place of a covariance, in which one unit hides others."""
    which = which or ("correlation" if rel.target == "covariance" else rel.target.replace(" ", "_"))
    return which.replace("_", " "), matrix_of(rel, which)


def spectrum_figure(rel: Release, *, dark: bool = False) -> go.Figure:
    """Return the eigenvalues of a covariance before and after its repair, and the band of the noise alone."""
    palette, edge = notebook_palette(dark), 0.0
    stages = [("Post-processed", np.linalg.eigvalsh(to_working_units(rel.matrix, rel.scale, rel.target)))]
    if rel.noisy_moment is not None and rel.target != "precision" and rel.noisy_moment.centre != "classes":
        stages.insert(0, ("Noisy", np.linalg.eigvalsh(noisy_matrix(rel))))
        if rel.noisy_moment.flags is None:  # where missing cells are measured, entries have noise of different sizes
            edge = noise_edge(rel)
    plain_units = bool((rel.scale == 1).all())
    unit = "in squared units of the data" if plain_units else f"of {SCALED}"
    if rel.target == "precision":
        unit = f"{unit}, inverted"
    return _with_title(rel, spectrum(stages, edge, palette, unit=unit), palette)


def network_figure(rel: Release, *, dark: bool = False) -> go.Figure:
    """Return the graph of a released precision matrix: an edge where the partial correlation is not zero."""
    precision = matrix_of(rel, "precision")
    graph, palette = edges(precision), notebook_palette(dark)
    strength = partial_correlations(precision)
    picture = network([("Drawn", graph)], positions(graph, len(graph)), rel.columns, palette, strength=strength)
    return _with_title(rel, picture, palette, matrix_name="network")


def errors_figure(rel: Release, *, dark: bool = False) -> go.Figure:
    """Return the largest correlations with their total intervals, for privacy noise and sampling together."""
    if len(rel.columns) == 1:
        raise ValueError("One column has no correlation. Release two columns or more.")
    palette = notebook_palette(dark)
    about = "Second moment about the origin, as a correlation"
    picture = pairs(
        answers(rel).correlations(),
        palette,
        x_title=about if rel.noisy_moment is not None and rel.noisy_moment.centre == "none" else "Correlation",
        what="Correlations",
        most=_PAIRS,
    )
    return _with_title(rel, picture, palette)


def expectation_figure(expectation: Expectation, *, dark: bool = False) -> go.Figure:
    """Return the expected error of a release as a bar, beside the answers to compare with."""
    palette = notebook_palette(dark)
    answers = [(expectation.method, expectation.error), ("clipping, without noise", expectation.nonprivate)]
    answers += [
        ("sampling", expectation.sampling),
        ("the variances alone", expectation.diagonal),
        ("zeros", expectation.zeros),
    ]
    figure = bars(answers, palette, quiet=4).figure
    return _head(figure, f"{expectation.n:,} rows, {expectation.d} columns, {expectation.guarantee}", _ROOM, palette)


def html(rel: Release) -> str:
    """Return a release for a notebook, without scripts: its matrix as a picture and a table, and its statement."""
    matrix, d = rel.matrix, len(rel.columns)
    matrix_name, view = _pictured(rel)
    picture = still(view, rel.columns, colour_limit(view), LIGHT, what=f"the released {matrix_name}")
    source = base64.b64encode(picture.png).decode()
    size = f"width:{_PIXELS}px;height:{_PIXELS}px;image-rendering:pixelated"
    parts = [
        f"<p><strong>{escape(headline(rel))}</strong></p>",
        f'<img src="data:image/png;base64,{source}" alt="{escape(picture.alt)}" style="{size}">',
    ]
    columns, more = rel.columns[:_TABLE], d > _TABLE
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns) + ("<th>…</th>" if more else "")
    rows = [
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(plain(float(value)))}</td>" for value in line[:_TABLE])
        + ("<td>…</td>" if more else "")
        + "</tr>"
        for name, line in zip(columns, matrix, strict=False)
    ]
    first = f"<caption>The first {_TABLE} of {d} columns</caption>" if more else ""
    parts.append(f"<table>{first}<thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
    lines = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in rel.statement.lines)
    parts.append(f"<dl>{lines}</dl>")
    return f"<div>{''.join(parts)}</div>"
