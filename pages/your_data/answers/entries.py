"""Every answer that follows from one release: means, pairs, axes and the graph, each with its total interval.

The numbers are those of `privcov.answers`. What may be noise alone is pale, and what is not identified has its reason.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import frame, show
from pages.common.glossary import term
from pages.your_data.answers import models
from pages.your_data.answers.context import (
    OF_ALL,
    ShownRelease,
    about,
    doubtful,
    lines,
    matrix_verdict,
    rescale,
    square,
    under_test,
    unknown,
    verdict,
)
from privcov.bundle.safe import cells, table
from privcov.core.words import percent, plain
from privcov.estimators.base import METHODS
from privcov.plots.graphs import network, positions
from privcov.plots.intervals import intervals, numbers, off_zero, pairs, strongest_first
from privcov.plots.matrices import colour_limit, heatmap
from privcov.plots.palette import Palette
from privcov.postprocess.binary_columns import find_binary_columns
from privcov.postprocess.terms import mean_terms
from privcov.releases.display import matrix_of
from privcov.releases.private_request import private_methods

VIEWS = {
    "matrices": "Matrices",
    "columns": "Means",
    "pairs": "Which are real",
    "spectrum": "Spectrum and PCA",
    "graph": "Graph",
    "regression": "Regression",
    "groups": "Groups",
    "classes": "Classes",
}


def section(panel: ShownRelease, name: str, label: str, last: Callable[[], None]) -> None:
    """Show the bar of views and the chosen one; ``name``, ``label``, ``last``: one more view."""
    facts = panel.measurement.facts
    whole = not facts.flagged  # missing cells measured by pairs have no joint law of all entries
    fits = {
        **dict.fromkeys(("spectrum", "graph", "regression"), whole),
        "classes": whole and len(facts.classes) > 1,
        "groups": whole and facts.units.fits_bounds and bool(find_binary_columns(facts.kinds, facts.units)),
    }
    views = {k: v for k, v in VIEWS.items() if fits.get(k, True)} | {name: label}
    view = panel.segments("View", views, "answer")
    with show.problems():
        if view == name:
            last()
        else:
            _DRAWN[view](panel, frame.palette())
    panel.settings()


# --- matrices -----------------------------------------------------------------------------------------------

MATRICES = {
    "correlation": "Correlation",
    "covariance": "Covariance",
    "partial": "Partial correlation",
    "precision": "Precision",
}
_EXPLAINED = {
    "correlation": "How two columns move together, from -1 to 1.",
    "covariance": "How two columns vary together.",
    "partial": "What is left between two columns when all others are fixed.",
    "precision": "The inverse; eigenvalues below the noise are raised before it is taken.",
}
_UNITLESS, _ESTIMATED = ("correlation", "partial"), ("correlation", "covariance")
_UNSHRUNK = "Negative eigenvalues, which only noise can make, are set to zero; so is it in matrices/ of the bundle."


def _matrices(panel: ShownRelease, palette: Palette) -> None:
    target = panel.segments("Matrix", MATRICES, "matrix")
    method = _method(panel) if target in _ESTIMATED else ""
    matrix = matrix_of(panel.estimate(method), target) if method else getattr(panel.matrices, target)
    size = np.outer(panel.ranges, panel.ranges)
    working = matrix if target in _UNITLESS else matrix * size if target == "precision" else matrix / size
    pale, unknown_pairs = doubtful(panel.answers(), target, panel.rate, panel.measurement)
    left, right = st.columns([3, 2], gap="large")
    with left:
        picture = heatmap(
            working,
            panel.columns,
            colour_limit(working),
            palette,
            what=f"released {target}",
            pale=pale,
            unknown=unknown_pairs,
        )
        show.picture(picture, f"square-own-{target}")
        unit = target if target in _UNITLESS else f"{target}, {panel.range_unit}"
        show.colour_note(unit, "Values beyond the scale, as on the diagonal, have the colour of its end.")
        if target not in _UNITLESS and panel.measurement.facts.bounds is not None:
            st.caption("From 0 to 1: from the lowest to the highest possible value.")
    with right:
        correlations = panel.answers().correlations(panel.rate)
        if method:
            st.markdown(matrix_verdict(panel.error_of(method)))
        elif len(correlations):
            st.markdown(verdict(correlations))
        st.markdown(_EXPLAINED[target])
        if target in _ESTIMATED:
            st.caption(METHODS.get(method).summary if method else _UNSHRUNK)
            if method:
                st.caption("Shrunk, for further computing. *Which are real* has the numbers to report.")
        if pairs := int(under_test(correlations).sum()):
            real = pairs - int(np.triu(pale, 1).sum())
            gone = int(np.triu(unknown_pairs, 1).sum()) - len(correlations) + pairs
            st.markdown(
                f"**{real}** of {pairs} pairs{_of_columns(correlations)} are real (rate of false discoveries "
                f"{percent(panel.rate)})." + _describe_rest(pairs - real, gone)
            )
        if target not in (*_UNITLESS, "precision"):
            noise = panel.matrices.noise_std / size
            off = noise[~np.eye(len(noise), dtype=bool)]
            typical = float(np.median(off)) if len(off) else float(noise[0, 0])
            st.markdown(f"Privacy noise on an entry: {plain(typical)} (deviation, as in the picture).")
        if target in OF_ALL:
            st.markdown(f"Eigenvalues of the correlation below {plain(panel.matrices.floor)} were raised to it.")
        units = "" if target in _UNITLESS else ", in the columns' own units"
        st.caption(f"The numbers{units}:")
        names = cells(panel.columns)
        cells_of = pd.DataFrame(matrix, index=pd.Index(names, name="column"), columns=names)
        number = st.column_config.NumberColumn(format="%.3g")
        st.dataframe(cells_of, height=min(35 * (len(names) + 1) + 3, 320), column_config=dict.fromkeys(names, number))
        text = table(matrix, panel.columns, panel.columns, corner=target)
        show.download(
            f"{MATRICES[target]} as CSV",
            lambda: text,
            f"{'-'.join(filter(None, (target, method)))}.csv",
            f"own-csv-{target}",
        )


def _method(panel: ShownRelease) -> str:
    """Show the methods that can estimate the covariance of this measurement; return the chosen one, "" for none."""
    facts, kind = panel.measurement.facts, panel.guarantee.kind
    fit = [c for c in private_methods() if c.target == "covariance" and not c.refuses(kind)]
    labels = {c.key: c.label for c in fit if c.missing_cells or not facts.flagged} | {"": "Unshrunk"}
    if "wishart" not in panel.measurement.shape:
        labels.pop("wishart-difference", None)
    if panel.measurement.shape == "laplace":  # the shrinkage of the first method is not that of Laplace noise
        labels = {"laplace-cov": labels.pop("laplace-cov")} | labels
    return st.selectbox(
        "Estimated by",
        list(labels),
        format_func=labels.__getitem__,
        help="All of them use the one measurement, so another one spends nothing.",
        **panel.keep("by", next(iter(labels)), among=list(labels)),
    )


def _describe_rest(doubtful: int, gone: int) -> str:
    """Return how the pairs that are not real are drawn."""
    pale = " The others are pale: they may be noise alone." if doubtful > gone else ""
    return pale + (f" {gone} are hatched: not identified." if gone else "")


# --- columns ------------------------------------------------------------------------------------------------

_OF_COLUMNS = {"means": "Means", "variances": "Variances"}
_MAX_COLUMNS = 40  # columns in one picture


def _columns(panel: ShownRelease, palette: Palette) -> None:
    statistic = panel.segments("Answer", _OF_COLUMNS, "of-columns")
    answer = getattr(panel.answers(), statistic)()
    unknown(answer)
    rows, bounds = answer.head(_MAX_COLUMNS), panel.measurement.facts.bounds
    ranges = panel.ranges[rows["column"]]
    if statistic == "variances":
        clear, rows = rows["ci_low"] > 0, rescale(rows, ranges**2)
    else:
        clear, rows = rows["identified"], rescale(rows, ranges, 0.0 if bounds is None else bounds[:_MAX_COLUMNS, 0])
    show.picture(
        intervals(
            list(rows["column"]),
            *numbers(rows),
            palette,
            clear=clear.to_numpy(),
            x_title=f"{_OF_COLUMNS[statistic][:-1]}, {panel.range_unit}",
            what=_OF_COLUMNS[statistic],
            level=panel.level,
        ),
        "own-columns",
    )
    if len(answer) > _MAX_COLUMNS:
        st.caption(f"The first {_MAX_COLUMNS} of {len(answer)} columns.")
    about(answer)
    kinds = panel.measurement.facts.kinds
    if statistic == "means" and kinds:
        terms = mean_terms(kinds, answer["estimate"])
        answer = answer.assign(meaning=[f"{t.what} {t.text}" for t in terms])
    lines(panel, answer, statistic)


# --- pairs --------------------------------------------------------------------------------------------------

PAIRS = {
    "correlations": "Correlations",
    "partial_correlations": "Partial correlations",
    "edges": "Edges",
    "covariances": "Covariances",
}
_STRONGEST = 15
_OF_PAIRS = {
    "correlations": "How two columns move together, from -1 to 1. Each estimate is unbiased: with its interval, the "
    "number to report. The matrix of *Matrices* is shrunk, for further computing.",
    "partial_correlations": "What is left between two columns when all others are fixed.",
    "edges": "Partial correlations. Where the noise is too large for their intervals, the de-biased graphical lasso "
    "tests them.",
    "covariances": "How two columns vary together. The table below is in their own units.",
}


def real_ones(answer: pd.DataFrame, appearance: str = "pale") -> str:
    """Return how many pairs the test calls real, and what that promises; ``appearance`` says how they look."""
    rate, count = answer.attrs["false_discovery_rate"], int(answer["reject"].sum())
    if not under_test(answer).any():
        return "There are no two columns to compare."
    text = f"**{count}** of {under_test(answer).sum()} pairs{_of_columns(answer)} are **real**"
    if count:
        text += f". On average at most {percent(rate)} of the pairs called real have no relation"
    return text + (
        f". The others are {appearance}: they may be noise alone." if count < under_test(answer).sum() else "."
    )


def _of_columns(answer: pd.DataFrame) -> str:
    """Return words that exclude pairs of two levels of one column, where there are such pairs."""
    return "" if under_test(answer).all() else " of different columns (levels of one column exclude each other)"


def _pairs(panel: ShownRelease, palette: Palette) -> None:
    if len(panel.columns) < 2:
        st.info("A single column has no pairs.")
        return
    by_entry = ("correlations", "covariances")
    options = {k: label for k, label in PAIRS.items() if k in by_entry or not panel.measurement.facts.flagged}
    statistic = panel.segments("Answer", options, "of-pairs")
    st.markdown(_OF_PAIRS[statistic])
    if statistic == "covariances":
        answer = panel.answers().covariances()
        small = rescale(answer, panel.ranges[answer["first"]].to_numpy() * panel.ranges[answer["second"]].to_numpy())
    else:
        answer = small = getattr(panel.answers(), statistic)(panel.rate)
        st.markdown(real_ones(answer))
    if statistic != "edges":
        unknown(answer)
    title = "Partial correlations" if statistic == "edges" else PAIRS[statistic]
    if (small["identified"] | off_zero(small)).any():
        show.picture(
            pairs(
                small,
                palette,
                x_title=title[:-1] + f", {panel.range_unit}" * (statistic == "covariances"),
                what=f"The strongest {PAIRS[statistic].lower()}",
                most=_STRONGEST,
            ),
            "own-pairs",
        )
    about(answer)
    with st.expander("How to read"):
        st.markdown(
            f"{term('total-interval', 'Total interval')}: where the value of the population may be, privacy noise and "
            "sampling together. An open mark has no interval. The strongest of many pairs are on average weaker than "
            "they look, because the largest errors make the largest estimates: read the interval, not the mark."
        )
    lines(panel, strongest_first(answer), statistic)


# --- spectrum -----------------------------------------------------------------------------------------------

_AXES = 20


def _spectrum(panel: ShownRelease, palette: Palette) -> None:
    answers = panel.answers()
    values = answers.eigenvalues()
    rows = values.head(_AXES)
    show.picture(
        intervals(
            [f"axis {k}" for k in rows["axis"]],
            *numbers(rows),
            palette,
            clear=(rows["ci_low"] > 0).to_numpy(),
            x_title="Eigenvalue, columns scaled by bounds and weights",
            what="Spectrum",
            level=panel.level,
        ),
        "own-spectrum",
    )
    total = float(values["estimate"].sum())
    if total > 0:
        st.markdown(f"The first axis holds about {show.percent(values['estimate'].iloc[0] / total)} of the variance.")
    else:
        st.markdown("No variance is left above the noise.")
    about(values)
    loadings = answers.components()
    st.markdown("**Loadings of the first axes**")
    unknown(loadings)
    about(loadings)
    lines(panel, loadings, "components")


# --- graph --------------------------------------------------------------------------------------------------

_NAMED = 30  # edges named below the picture


def _graph(panel: ShownRelease, palette: Palette) -> None:
    if len(panel.columns) < 2:
        st.info("A single column has no graph.")
        return
    answer = panel.answers().edges(panel.rate)
    real = square(answer, "reject", panel.columns, fill=False)
    show.picture(
        network(
            [("Drawn", real)],
            positions(real, len(real)),
            panel.columns,
            palette,
            strength=square(answer, "estimate", panel.columns, fill=1.0),
            rest=f"{int((~answer['reject']).sum())} pairs have no edge.",
            height=520,
        ),
        "own-network",
    )
    st.markdown(real_ones(answer, "not drawn"))
    linked = answer[answer["reject"]].sort_values("p_value")
    if len(linked):
        names = [f"{a} and {b}" for a, b in zip(linked["first"], linked["second"], strict=True)]
        more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        st.markdown(show.as_text(f"Edges: {'; '.join(names[:_NAMED])}{more}."))
    about(answer)
    lines(panel, strongest_first(answer), "edges")


_DRAWN = {
    "matrices": _matrices,
    "columns": _columns,
    "pairs": _pairs,
    "spectrum": _spectrum,
    "graph": _graph,
    "regression": models.regression,
    "groups": models.groups,
    "classes": models.classes,
}
