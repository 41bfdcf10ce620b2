"""Settings of Graph recovery: the methods that draw a graph, and the reference network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.common import address
from pages.common.study import Study
from privcov.core.guarantees import KINDS
from privcov.core.words import duration
from privcov.estimators.base import METHODS
from privcov.estimators.glasso import Glasso
from privcov.measurements.labels import CLASSES
from privcov.metrics.graphs import reference_graph
from privcov.postprocess.fit import PathPoint
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

SOURCE = "precision-ar2"
METHOD = "auto-precision"
TESTED = -1  # slider position of the edge test, which has no lambda
LARGE = 300  # columns


def methods_for(kind: str) -> tuple[tuple[str, ...], str]:
    """Return (keys of the methods that draw a graph under this kind of guarantee, why others are left out)."""
    drawing = [c for c in METHODS.all() if issubclass(c.cls, Glasso)]
    able = tuple(c.key for c in drawing if not c.refuses(kind))
    unable = [c.label for c in drawing if c.refuses(kind)]
    why = f"Not offered under {KINDS[kind].name}, which they cannot give: {', '.join(unable)}." if unable else ""
    return able, why


def effective(study: Study) -> Study:
    """Return the study with a method that draws a graph under its guarantee: its own, or the page's."""
    able, _ = methods_for(study.kind)
    if study.method in able:
        return study
    if not able:
        raise ValueError(f"No method draws a graph under {KINDS[study.kind].name}. Choose another kind under More.")
    return study.with_method(METHOD if METHOD in able else able[0])


def path_of(rel: Release) -> tuple[PathPoint, ...]:
    """Return the lambda path of a release of this page."""
    assert rel.path is not None  # every method that is offered here draws one
    return rel.path


def is_tested(rel: Release) -> bool:
    """Return whether the release's edges come from the edge test, and not from a lambda."""
    rule, raw = rel.parameters.get("rule"), rel.noisy_moment
    return rule == "edge-test" and rel.parameters["tuning"] == "released" and raw is not None and raw.centre != CLASSES


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
    address.bind_widget(
        st.columns([2, 3])[0].selectbox,
        "Reference network",
        names,
        name="reference",
        default=names[0],
        key="graph.reference",
        format_func=lambda name: name if str(edges[name]) in name else f"{name} ({edges[name]} edges)",
        help="Published, not the truth about these rows: an edge called false may be real.",
    )


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
