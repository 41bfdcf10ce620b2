"""Lesson on epsilon: two tables that differ in one row, and how well a noisy answer tells them apart.

The answer is the mean of a product of two cells, each from -1 to 1, with Laplace noise of scale b = (2/n)/epsilon. The
two tables are 2/n apart, the sensitivity, so the ratio of the densities is between e^-epsilon and e^epsilon and attains
both. The densities have e^(-epsilon/2) of their area in common, and the best guess is right with probability one minus
half of that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pages.common import show
from pages.common.study import Study
from pages.lessons.lesson import AUDIT, Control, Lesson, Option, Screen, compute_once
from pages.lessons.simulated import SCHOOL
from privcov.core import checks
from privcov.core.randomness import stream
from privcov.core.words import plain
from privcov.plots.lessons import line, panels
from privcov.plots.look import Picture, pen, ribbon, vline
from privcov.plots.look import draw as figure
from privcov.plots.palette import Palette

PUPIL = 2  # the row that is exchanged
# Sleep and marks of eight pupils, as distances from the usual value in halves of the range.
CELLS = ((0.2, 0.4), (-0.5, -0.3), (1.0, 1.0), (0.6, 0.1), (-0.2, 0.3), (0.1, -0.2), (-0.7, -0.6), (0.4, 0.5))
OTHER = (1.0, -1.0)


@dataclass(frozen=True, eq=False)
class TwoTables:
    """Two tables (n x 3: sleep, marks, their product) that differ in row PUPIL, and what is released of one of them.

    ``means`` of the products; ``scale`` of the Laplace noise; ``heights`` of both densities at the ``release``.
    """

    tables: tuple[np.ndarray, np.ndarray]
    means: tuple[float, float]
    scale: float
    release: float
    heights: tuple[float, float]

    @property
    def overlap(self) -> float:
        """The area that the two densities have in common."""
        return math.exp(-abs(self.means[0] - self.means[1]) / (2 * self.scale))


def two_tables(epsilon: float, seed: int) -> TwoTables:
    """Release the mean product of the first table."""
    checks.positive("epsilon", epsilon)
    tables = []
    for exchanged in (CELLS[PUPIL], OTHER):
        cells = np.array([exchanged if k == PUPIL else row for k, row in enumerate(CELLS)])
        tables.append(np.column_stack([cells, cells.prod(axis=1)]))
    one, other = (float(table[:, 2].mean()) for table in tables)
    scale = 2 / len(CELLS) / epsilon
    release = one + scale * float(stream(seed, "lesson", "epsilon").laplace())
    heights = tuple(float(density(release, mean, scale)) for mean in (one, other))
    return TwoTables((tables[0], tables[1]), (one, other), scale, release, (heights[0], heights[1]))


def density(x: np.ndarray | float, mean: float, scale: float) -> np.ndarray:
    """Return the density of a release."""
    return np.exp(-np.abs(np.asarray(x) - mean) / scale) / (2 * scale)


def picture(pair: TwoTables, palette: Palette) -> Picture:
    """Return the picture of both densities, of what they have in common, and of the release."""
    half = max(0.5 + 4 * pair.scale, abs(pair.release) + pair.scale)
    x = np.unique([*np.linspace(-half, half, 61), *pair.means])
    one, other = (density(x, mean, pair.scale) for mean in pair.means)
    common = ribbon(x, np.zeros_like(x), np.minimum(one, other), palette.quiet, 0.25, name="in common")
    common.showlegend = True
    traces = [common]
    for k, (name, curve) in enumerate((("first table", one), ("second table", other))):
        traces.append(line(x, curve, name, pen(k, palette).line(2.2), hoverinfo="skip"))
    chart = figure(
        traces,
        palette,
        height=None,
        showlegend=True,
        shapes=[vline(pair.release, palette.ink, "dot", 1.6)],
        x={"title": "Mean product, released", "range": [-half, half]},
        y={"title": "Density", "rangemode": "tozero"},
    )
    return Picture(
        chart,
        f"Densities of the release from either table, with peaks at {pair.means[0]:.3f} and {pair.means[1]:.3f}; "
        f"{show.percent(pair.overlap)} of their area is common. A dotted line at the release {plain(pair.release)}.",
    )


def draw(epsilon: float, screen: Screen) -> str:
    """Show the two tables, and the densities of their releases."""
    pair = compute_once(two_tables, epsilon, screen.seed)
    screen.tag("Simulated", f"{len(CELLS)} pupils of a school, cells scaled to -1 to 1; nothing exact is for release")
    tables = [("first table", pair.tables[0]), ("second table", pair.tables[1])]
    names = (*SCHOOL[:2], "product")
    screen.put(panels(tables, 1.0, screen.palette, marked_row=PUPIL, columns=names), "tables-tables")
    screen.put(picture(pair, screen.palette), "curve-epsilon")
    (one, other), ratio = pair.means, pair.heights[0] / pair.heights[1]
    times, which = (ratio, "first") if ratio >= 1 else (1 / ratio, "second")
    most, right = math.exp(epsilon), show.chance(1 - pair.overlap / 2, exact=True)
    apart, common = f"2/{len(CELLS)}", show.percent(pair.overlap)
    return (
        f"Mean product: {one:.4f} or {other:.4f}. Products are from -1 to 1: one row moves the mean by {apart} at "
        "most. "
        f"Laplace noise: scale {apart}/epsilon = {plain(pair.scale)}. The release {plain(pair.release)} (dotted) is "
        f"**{plain(times)} times** as likely from the {which} table; at most **e^epsilon = {plain(most)}**. Common "
        f"area: e^(-epsilon/2) = {common}; the best guess is right in 1 - area/2: **{right}**."
    )


LESSON = Lesson(
    title="What is epsilon?",
    aim=(
        "**Neighbours** are two tables that differ in one row, here that of pupil 3. With noise, a release can come "
        "from both; **epsilon** limits how much likelier from one."
    ),
    control=Control(
        "Epsilon", (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0), 1.0, "stronger privacy", "more accuracy", plain
    ),
    draw=draw,
    question="Epsilon goes from 1 to 2. The largest ratio of the two curves",
    choices=(
        Option("grows by 1", "Epsilon grows by 1; the ratio is at most e to the power of epsilon."),
        Option("doubles", "Epsilon doubles; the ratio goes from 2.7 to 7.4."),
        Option(
            "is squared: from 2.7 to 7.4", "e² is e times e. Two answers under epsilon 1 together have epsilon 2.", True
        ),
    ),
    remember="One row changes the chance of any answer by a factor of at most e^epsilon.",
    onward=(AUDIT, "Privacy audit: attack pairs of neighbours", lambda v: Study()),
)
