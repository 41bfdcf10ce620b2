"""Lesson on graphs from noise: the edges that a method draws between independent columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.common.study import Study
from pages.lessons.lesson import GRAPHS, Control, Lesson, Option, Screen, compute_once
from pages.lessons.simulated import SCHOOL, SEED, guarantee, simulate
from privcov.core.guarantees import ZCDP
from privcov.core.words import percent
from privcov.metrics.graphs import edges, without_noise_at
from privcov.plots.graphs import against_reference, network, positions
from privcov.releases.public import release

RHO = 0.05
DATA: dict[str, Any] = {"n": 2_000, "d": len(SCHOOL), "rho": 0.0}
METHOD = "glasso-gaussian"


@dataclass(frozen=True, eq=False)
class FalseEdges:
    """Graphs (d x d bool) of independent columns, so that every edge is false, at one lambda.

    ``released`` comes from the private release, ``exact`` from the same rows without noise. ``share`` is lambda over
    the smallest lambda that empties the released graph.
    """

    released: np.ndarray
    exact: np.ndarray
    lam: float
    share: float
    columns: tuple[str, ...]

    @property
    def pairs(self) -> int:
        """Number of pairs of columns, which is the largest number of edges."""
        d = len(self.columns)
        return d * (d - 1) // 2

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of edges, (released, exact)."""
        return int(self.released.sum()) // 2, int(self.exact.sum()) // 2


def false_edges(position: int, seed: int = SEED) -> FalseEdges:
    """Return the graphs at a position of the release's lambda path; position 0 is the sparsest."""
    data = simulate("ar1-covariance", **DATA)
    rel = release(data, ZCDP(RHO), METHOD, random_state=seed)
    assert rel.path is not None  # the method draws one
    fit = rel.path[position]
    assert fit.precision is not None  # every lambda of this path has an answer
    exact = edges(without_noise_at(rel, data, fit.lam))
    return FalseEdges(edges(fit.precision), exact, fit.lam, fit.lam / rel.path[0].lam, SCHOOL)


def draw(position: int, screen: Screen) -> str:
    """Show the graphs with and without privacy noise."""
    result = compute_once(false_edges, position, screen.seed)
    screen.tag("Simulated", f"{DATA['n']:,} pupils, independent columns, {guarantee(RHO)}")
    place, truth = positions(None, DATA["d"]), np.zeros_like(result.exact)
    graphs = [("Private release", result.released, "graph-released"), ("No privacy noise", result.exact, "graph-exact")]
    pictures = []
    for title, graph, key in graphs:
        kinds = [kind for kind in against_reference(graph, truth) if kind[0] == "False"]
        pictures.append((title, network(kinds, place, result.columns, screen.palette, height=None), key))
    screen.side_by_side(pictures)
    noisy, exact = result.counts
    sentence = (
        f"Links among {result.pairs} pairs: **{noisy}** in the release, {exact} without privacy noise, all false."
        if noisy or exact
        else f"None of the {result.pairs} pairs is linked: the truth."
    )
    return f"Lambda is {percent(result.share)} of the one that empties the graph. {sentence}"


LESSON = Lesson(
    title="Graphs from noise",
    aim=(
        "A graph links two columns that go together once all others are known; lambda is the price of a link. Here "
        "sleep, marks and the others are simulated independently: the true graph has **no edge**."
    ),
    control=Control(
        "Penalty lambda, step along the path",
        tuple(range(11)),
        4,
        "large: few edges",
        "small: many edges",
        lambda v: f"{v + 1}",
    ),
    draw=draw,
    question="A private graph has 40 edges. Which free check tells how many to expect from nothing?",
    choices=(
        Option(
            "Compare it with the graph of the raw rows",
            "That reads the rows without noise: a second, unprotected release.",
        ),
        Option(
            "Release a second graph and keep common edges",
            "Not free: rho adds up. And both share the rows' sampling error.",
        ),
        Option(
            "Run it on simulated independent columns with the same noise",
            "n, d, R and the noise distribution are public. If that draws 40 edges too, do not believe yours. "
            "Dependent columns may have more false edges.",
            True,
        ),
    ),
    remember="Ask how many edges the method draws where there are none.",
    onward=(
        GRAPHS,
        "Graph recovery: with a true graph to find",
        lambda v: Study(source="precision-ar2", method=METHOD, rho=RHO),
    ),
)
