"""What the first nine lessons draw, and one sentence that says what is to be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.lessons.book import answered
from pages.lessons.first import BOUNDS, DS, MULTIPLES, NS
from pages.lessons.second import RUNS
from pages.shell import frame, show
from privcov.figures import errors, graphs
from privcov.figures import lessons as pictures
from privcov.figures.layout import positions
from privcov.figures.look import Picture, plain
from privcov.figures.matrices import colour_limit
from privcov.figures.spectra import spectrum
from privcov.lessons import numbers as lessons
from privcov.lessons import repair, repeats

LARGER = 1.3  # type of a picture in the lecture hall
_COMPUTED = {
    1: lessons.neighbours,
    3: lessons.of_many,
    4: lessons.of_width,
    6: repair.cut,
    7: repair.shrunk,
    8: repeats.false_edges,
}
_CLIP_N = lessons.CLIP_DATA["n"]
_GRIDS = {
    2: lambda: lessons.changes(BOUNDS),
    3: lambda: lessons.deviations(NS),
    5: lambda: (lessons.clipped(MULTIPLES), lessons.clipped(MULTIPLES, 10 * _CLIP_N)),
    9: lambda: repeats.reruns(RUNS),
}


@st.cache_resource(max_entries=128, show_spinner="Computing ...")
def _at(number: int, value: Any):
    return _COMPUTED[number](value)


@st.cache_resource(max_entries=16, show_spinner="Computing ...")
def _grid(number: int):
    return _GRIDS[number]()


def draw(number: int, value: Any, *, full: bool) -> str:
    """The pictures of a lesson at a value of its lever. Returns what is to be seen, in words."""
    return _DRAWN[number](value, full)


def put(picture: Picture, key: str, full: bool) -> None:
    """A picture; larger in the lecture hall."""
    show.picture(sized(picture, full), f"lesson-{key}")


def sized(picture: Picture, full: bool) -> Picture:
    """With larger type in the lecture hall."""
    return pictures.enlarged(picture, LARGER) if full else picture


def _guarantee(rho: float) -> str:
    """rho, and the epsilon that a class is more likely to know."""
    return f"{rho:g}-zCDP (epsilon = {lessons.epsilon(rho):.2g} at delta = {lessons.DELTA:g})"


def _table(x: str, points: list[tuple[float, dict[str, float]]]) -> pd.DataFrame:
    """The table that `errors.curves` draws, without bands: (x, value of every series)."""
    return pd.DataFrame(
        [
            {"method": name, x: at, "mean": value, "low": value, "high": value}
            for at, values in points
            for name, value in values.items()
        ]
    )


def _neighbours(way: float, full: bool) -> str:
    found = _at(1, way)
    palette = frame.palette()
    one, other = found.moments
    show.tag(
        "Simulated", f"row {lessons.PERSON + 1} is the one person's; the matrices are exact, nobody would see them"
    )
    tables = [("first table", found.tables[0]), ("second table", found.tables[1])]
    put(pictures.panels(tables, found.row_bound, palette, marked=lessons.PERSON), "tables-tables", full)
    matrices = [("second moment, first", one), ("second", other), ("difference", other - one)]
    put(pictures.panels(matrices, float(np.abs(one).max()), palette), "three-matrices", full)
    return (
        f"The matrices differ by **{plain(found.size)}** in the Frobenius norm. Under the row bound "
        f"{plain(found.row_bound)} no two neighbours differ by more than **{plain(found.bound)}**."
    )


def _changes(bound: float, full: bool) -> str:
    found = _grid(2)
    show.tag("Simulated", f"tables of {lessons.ROWS} rows and {lessons.COLUMNS} columns; {lessons.PAIRS} random pairs")
    picture = pictures.worst_changes(
        found.bounds, found.random, found.worst, found.proved, frame.palette(), marked=bound
    )
    put(picture, "large-changes", full)
    at = BOUNDS.index(bound)
    return (
        f"At R = {bound:g} the worst pair found moves the matrix by **{found.worst[at]:.4f}**; the proved bound is "
        f"**{found.proved[at]:.4f}**. A typical random pair: {np.median(found.random[at]):.3f}."
    )


def _of_many(n: int, full: bool) -> str:
    found, palette = _at(3, n), frame.palette()
    noise, sampling = lessons.deviations((n,))[0]
    show.tag("Simulated", f"Gaussian mechanism, {_guarantee(lessons.N_RHO)}, {lessons.N_D} columns")
    pair = [("without privacy", found.sample), ("released", found.released)]
    put(pictures.panels(pair, colour_limit(found.sample), palette), "two-many", full)
    names = ("privacy noise", "sample")  # the colour that the sample has in the next lesson
    table = _table("n", [(at, dict(zip(names, pair, strict=True))) for at, pair in zip(NS, _grid(3), strict=True)])
    curves = errors.curves(
        table, palette, x="n", x_label="Rows n", y_label="Deviation of an entry", references=[],
        order=list(names), labels={"sample": "sampling error"}, marked=float(n), height=None,
    )  # fmt: skip
    put(curves, "curve-many", full)
    larger = "the privacy noise" if noise > sampling else "the sampling error"
    return (
        f"At n = {n:,} the privacy noise on an entry has the deviation **{plain(noise)}**, the sampling error "
        f"**{plain(sampling)}**: {larger} is the larger. The release is **{show.percent(found.error)}** off the sample."
    )


def _of_width(d: int, full: bool) -> str:
    found, palette = _at(4, d), frame.palette()
    show.tag("Simulated", f"{lessons.D_N:,} rows for every d, {_guarantee(lessons.D_RHO)}")
    three = [("truth", found.truth), ("every entry kept", found.dense), ("small entries dropped", found.sparse)]
    put(pictures.panels(three, colour_limit(found.truth), palette), "three-wide", full)
    names = {
        lessons.DENSE: "every entry kept",
        lessons.SPARSE: "small entries dropped",
        "sample": "sample, not private",
    }
    table = _table("d", [(at, dict(zip(names, _at(4, at).errors, strict=True))) for at in DS])
    curves = errors.curves(
        table, palette, x="d", x_label="Columns d", y_label="Error against truth", references=[("zero matrix", 1)],
        order=list(names), labels=names, marked=float(d), height=None,
    )  # fmt: skip
    put(curves, "curve-wide", full)
    dense, sparse, sample = found.errors
    return (
        f"With {d} columns: **{show.percent(dense)}** wrong with every entry, **{show.percent(sparse)}** with the "
        f"small ones dropped; the sample itself {show.percent(sample)}."
    )


def _clipped(multiple: float, full: bool) -> str:
    (found, more), palette = _grid(5), frame.palette()
    here = next(one for one in found if one.multiple == multiple)
    best, later = lessons.best_bound(found), lessons.best_bound(more)
    show.tag("Simulated", f"t5 rows, n = {_CLIP_N:,}, {_guarantee(lessons.CLIP_RHO)}")
    names = {"bias": "bias by clipping", "privacy noise": "privacy noise", "gaussian-cov": "error of the release"}
    table = _table("R", [(x.row_bound, dict(zip(names, (x.bias, x.noise, x.total), strict=True))) for x in found])
    curves = errors.curves(
        table, palette, x="R", x_label="Row bound R", y_label="Relative error against the sample",
        references=[("zero matrix", 1)], order=list(names), labels=names, marked=here.row_bound, height=None,
    )  # fmt: skip
    put(curves, "large-clipping", full)
    # What ten times the rows do to it is the question: told only to those who have answered.
    return (
        f"At R = {plain(here.row_bound)}, {here.share:.1%} of the rows are shortened: bias {show.percent(here.bias)}, "
        f"noise {show.percent(here.noise)}, **error {show.percent(here.total)}**"
        + (
            " (less than the noise: removing negative eigenvalues takes some of it away)"
            if here.total < here.noise
            else ""
        )
        + f". The best R here is "
        f"{plain(best.row_bound)}"
        + (f"; with ten times the rows it is {plain(later.row_bound)}." if answered(5) else ".")
    )


def _cut(level: float, full: bool) -> str:
    found, palette = _at(6, level), frame.palette()
    show.tag("Simulated", f"{repair.CUT_DATA['n']:,} rows, {_guarantee(repair.CUT_RHO)}, one noisy matrix")
    three = [("truth", found.truth), ("released", found.noisy), (f"cut at {level:g}", found.kept)]
    put(pictures.panels(three, colour_limit(found.truth), palette), "three-cut", full)
    real, absent = found.pairs
    cards = st.columns(3)
    told = [
        ("Real pairs kept", f"{found.true} of {real}"),
        ("Noise kept as if real", f"{found.false} of {absent}"),
        ("Error against the truth", show.percent(found.error)),
    ]
    for card, (label, value) in zip(cards, told, strict=True):
        card.metric(label, value, border=True, height="stretch")
    return f"The noise on an entry has the deviation {plain(found.noise_std)}; the real entries are 0.6 and 0.3."


def _shrunk(rho: float, full: bool) -> str:
    found, palette = _at(7, rho), frame.palette()
    data = repair.SHRINK_DATA
    show.tag("Simulated", f"{data['n']:,} rows, {data['d']} columns, {_guarantee(rho)}")
    series = [("Truth", found.truth), ("Noisy", found.noisy), ("Shrunk", found.shrunk)]
    unit = "in squared units of the data"
    put(spectrum(series, found.edge, palette, scale="linear", unit=unit, height=None), "large-spectrum", full)
    before, after = found.errors
    return (
        f"Largest eigenvalue: truth {plain(found.truth[-1])}, noisy **{plain(found.noisy[-1])}**, shrunk "
        f"**{plain(found.shrunk[-1])}**. Error against the truth: {show.percent(before)} before, "
        f"**{show.percent(after)}** after."
    )


def _false_edges(position: int, full: bool) -> str:
    found, palette = _at(8, position), frame.palette()
    data = repeats.GRAPH_DATA
    show.tag("Simulated", f"{data['n']:,} rows, {data['d']} independent columns, {_guarantee(repeats.GRAPH_RHO)}")
    place, truth = positions(None, data["d"]), np.zeros_like(found.exact)
    sides = st.columns(2)
    for side, title, key, graph in zip(
        sides,
        ("**Private release**", "**Same rows, no privacy noise**"),
        ("released", "exact"),
        (found.released, found.exact),
        strict=True,
    ):
        with side:
            st.markdown(title)
            kinds = [kind for kind in graphs.against_reference(graph, truth) if kind[0] == "False"]
            put(graphs.network(kinds, place, found.columns, palette, height=None), f"graph-{key}", full)
    noisy, exact = found.counts
    seen = (
        f"**{noisy} of {found.pairs}** pairs are linked in the release, {exact} without the noise: all false."
        if noisy or exact
        else f"None of the {found.pairs} pairs is linked, which is the truth."
    )
    return f"Lambda is {found.share:.0%} of the one that empties the graph. {seen}"


def _reruns(k: int, full: bool) -> str:
    grid, palette = _grid(9), frame.palette()
    found = next(one for one in grid if one.k == k)
    show.tag("Simulated", f"each run {repeats.RUN_RHO:g}-zCDP, the same {repeats.RUN_DATA['n']:,} rows")
    three = [("nobody may see this", found.exact), ("one run", found.one), (f"average of {k:,}", found.average)]
    put(pictures.panels(three, colour_limit(found.exact), palette), "three-reruns", full)
    names = {"average": "error of the average", "expected": "expected: 1 over the root of k"}
    table = _table("k", [(x.k, dict(zip(names, (x.error, x.expected), strict=True))) for x in grid])
    curves = errors.curves(
        table, palette, x="k", x_label="Runs k", y_label="Relative error", references=[], order=list(names),
        labels=names, marked=float(k), height=None,
    )  # fmt: skip
    put(curves, "curve-reruns", full)
    return (
        f"Error **{show.percent(found.error)}**. Spent in all: rho = **{found.rho:.3g}**, that is epsilon = "
        f"**{found.epsilon:.3g}** at delta = {lessons.DELTA:g}. An attacker who knows everybody else "
        f"guesses right with a chance of **{found.attacker:.3f}**."
    )


_DRAWN = {
    1: _neighbours,
    2: _changes,
    3: _of_many,
    4: _of_width,
    5: _clipped,
    6: _cut,
    7: _shrunk,
    8: _false_edges,
    9: _reruns,
}
