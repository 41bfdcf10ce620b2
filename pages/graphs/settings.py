"""Settings of Graph recovery: the methods that draw a graph, the reference network, and the presets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from pages.common import address, frame, show
from pages.common.study import Study
from privcov.core.guarantees import KINDS
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.estimators.glasso import Glasso
from privcov.measurements.labels import CLASSES
from privcov.metrics.graphs import reference_graph
from privcov.plots.words import duration, plain
from privcov.postprocess.fit import Fit
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

SOURCE = "precision-ar2"
METHOD = "auto-precision"
TESTED = -1  # the place on the slider of the tested edges, which no lambda draws
LARGE = 300  # columns


def offered(kind: str) -> tuple[tuple[str, ...], str]:
    """Return (keys of the methods that draw a graph under this kind of guarantee, why others are left out)."""
    drawing = [c for c in METHODS.all() if issubclass(c.cls, Glasso)]
    able = tuple(c.key for c in drawing if not c.refuses(kind))
    unable = [c.label for c in drawing if c.refuses(kind)]
    why = f"Not offered under {KINDS[kind].name}, which they cannot give: {', '.join(unable)}." if unable else ""
    return able, why


def effective(study: Study) -> Study:
    """Return the study with a method that draws a graph under its guarantee: its own, or the page's."""
    able, _ = offered(study.kind)
    if study.method in able:
        return study
    if not able:
        raise ValueError(f"No method draws a graph under {KINDS[study.kind].name}. Choose another kind under More.")
    return study.with_method(METHOD if METHOD in able else able[0])


def path_of(rel: Release) -> tuple[Fit, ...]:
    """Return the lambda path of a release of this page."""
    assert rel.path is not None  # every method that is offered here draws one
    return rel.path


def is_tested(rel: Release) -> bool:
    """Return whether the release draws the edges of a test, which no lambda of its path has chosen."""
    rule, raw = rel.parameters.get("rule"), rel.raw
    return rule == "edge-test" and rel.parameters["tuning"] == "released" and raw is not None and raw.centre != CLASSES


def place_of(rel: Release, at: int) -> str:
    """Return in words which of the networks of a release is shown."""
    if at == TESTED:
        return f"edge test, {show.percent(float(rel.parameters['rate']))} false edges expected of Gaussian rows"
    return f"lambda = {plain(path_of(rel)[at].lam)}"


def graph_at(rel: Release, at: int) -> np.ndarray:
    """Return the precision matrix at a position that the slider offers."""
    precision = rel.precision if at == TESTED else path_of(rel)[at].precision
    assert precision is not None  # the slider leaves out the lambdas without an answer
    return precision


@dataclass(frozen=True, eq=False)
class Reference:
    """The graph with which edges are compared; its name is "" for the true graph, its words are for a sentence."""

    graph: np.ndarray | None
    name: str = ""
    words: str = ""


def reference(data: Dataset) -> Reference:
    """Return the true graph of a generator, the chosen published network of public data, or none."""
    if data.graphs:
        names = list(data.graphs)
        name = st.session_state.get("graph.reference")
        name = name if name in names else names[0]
        return Reference(data.graphs[name], name, f"the published network ({name})")
    try:
        return Reference(reference_graph(data), "", "the true graph")
    except ValueError:
        return Reference(None)


def choose_reference(data: Dataset) -> None:
    """Show the select box for data with published networks; nothing for other data."""
    if len(data.graphs) == 0:
        return
    names = list(data.graphs)
    edges = {name: int(np.triu(graph, 1).sum()) for name, graph in data.graphs.items()}
    address.bound(
        st.columns([2, 3])[0].selectbox,
        "Reference network",
        names,
        name="reference",
        default=names[0],
        key="graph.reference",
        format_func=lambda name: name if str(edges[name]) in name else f"{name} ({edges[name]} edges)",
        help="Published, not the truth about these rows: an edge called false may be real.",
    )


@dataclass(frozen=True)
class Preset:
    """A button that sets the whole page; its ``key``, part of the widget's, never changes."""

    key: str
    label: str
    description: str
    study: Study


_PAPER: dict[str, Any] = {"method": "glasso-gaussian", "kind": "approx", "epsilon": 2.0, "delta": 1e-3}
_PRINT = (("accuracy", "print"),)
_DIFFERS = (
    "Su et al. 2019, Figure 1: 20 variables, 2,000 rows, delta .001, epsilon 2 (the figure has 1 as well). Unlike the "
    "paper: exact calibration, repaired spectrum, no penalty on the diagonal, rows shortened to a public length. "
    "The published form: Advanced, Noise calibration."
)
PRESETS = (
    Preset(
        "Paper 2, figure 1: AR(2)",
        "Su et al. 2019, Figure 1: AR(2)",
        _DIFFERS,
        Study(source="precision-ar2", options=_PRINT, **_PAPER),
    ),
    Preset(
        "Paper 2, figure 1: random",
        "Su et al. 2019, Figure 1: random",
        _DIFFERS,
        Study(source="precision-random", options=_PRINT, **_PAPER),
    ),
    Preset(
        "Paper 2, figure 3: Sachs",
        "Su et al. 2019, Figure 3: Sachs",
        "Eleven proteins in 7,466 cells against a published network. The paper "
        "names neither the network's version nor the data's scale.",
        Study(source="sachs", options=_PRINT, **_PAPER),
    ),
)


def presets() -> None:
    """Show examples: a row of buttons, each of which sets the whole page."""
    st.markdown("**Examples**  \n:small[Each sets the whole page.]")
    able = [p for p in PRESETS if p.study.source in {c.key for c in SOURCES.all()}]
    for place, preset in zip(st.columns(len(able)), able, strict=True):
        place.button(preset.label, key=f"preset-{preset.key}", on_click=_apply, args=(preset,), width="stretch")


def _apply(preset: Preset) -> None:
    """Set the page to a preset; for its button."""
    state = st.session_state
    frame.change(lambda s: dataclasses.replace(preset.study, seed=s.seed))
    state["graph.told"] = (preset.study, preset.description)
    state["graph-tab"] = CURVES


def ask_first(study: Study, data: Dataset) -> None:
    """Stop the page before a large path is solved, until its button is pressed."""
    if data.d <= LARGE or st.session_state.get("graph.large") == study:
        return
    # 200 columns took 0.2 s and 784 took 25 s, on one thread.
    takes = duration(0.2 * (data.d / 200) ** 3.5)
    st.info(
        f"Twenty lambdas with {data.d:,} columns take {takes}, roughly, and the page waits. Time grows faster "
        "than the cube of the columns."
    )
    if not st.button("Solve it", type="primary"):
        st.stop()
    st.session_state["graph.large"] = study


CURVES, MATRICES = "ROC curve", "Matrices"


def describe(study: Study) -> None:
    """Show the description of the example on the screen."""
    example, words = st.session_state.get("graph.told", (None, ""))
    if example is not None and dataclasses.replace(example, seed=study.seed) == study:
        st.caption(words)
