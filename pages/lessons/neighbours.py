"""Lesson on neighbours: two tables that differ in one row, and what that does to their second moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.common.study import Study
from pages.lessons.lesson import AUDIT, Control, Lesson, Option, Screen, compute_once
from pages.lessons.simulated import SEED, simulate
from privcov.core import checks
from privcov.core.randomness import stream
from privcov.core.words import percent, plain
from privcov.measurements.clipping import clip_rows
from privcov.measurements.moment import clipped_moment, sensitivity
from privcov.metrics.errors import matrix_norm
from privcov.plots.lessons import panels
from privcov.tables.dataset import Dataset

TABLE = {"n": 8, "d": 4}
PERSON = 2  # the row that is replaced


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Two tables (n x d) that differ in row PERSON, and their second moments (d x d).

    ``size`` is the Frobenius norm of the moments' difference, ``bound`` the largest of any two neighbours.
    """

    tables: tuple[np.ndarray, np.ndarray]
    moments: tuple[np.ndarray, np.ndarray]
    size: float
    bound: float
    row_bound: float


def neighbours(way: float) -> NeighbourPair:
    """Return two tables; one person's row goes ``way`` (0 to 1) of the way to one of full length at right angles."""
    way = checks.in_range("way", way, 0.0, 1.0)
    simulated = simulate("ar1-covariance", **TABLE)
    # Shortened to the row bound before they are shown, so that the matrices are those of the tables on the screen.
    short = clip_rows(np.asarray(simulated.rows), simulated.row_bound)
    first = Dataset.from_rows(short, simulated.row_bound, columns=simulated.columns, provenance="simulated")
    own = first.rows[PERSON]
    other = stream(SEED, "lesson", "neighbour").standard_normal(first.d)
    other -= (other @ own) / (own @ own) * own
    rows = first.rows.copy()
    rows[PERSON] = (1 - way) * own + way * first.row_bound * other / np.linalg.norm(other)
    second = Dataset.from_rows(rows, first.row_bound, columns=first.columns, provenance="simulated")
    r2 = first.row_bound**2
    one, two = (r2 * clipped_moment(data, n_anchors=0) for data in (first, second))
    return NeighbourPair(
        (np.asarray(first.rows), np.asarray(second.rows)),
        (one, two),
        matrix_norm(two - one, "frobenius"),
        r2 * sensitivity(first.d, first.n, norm="l2", n_anchors=0),
        first.row_bound,
    )


def draw(way: float, screen: Screen) -> str:
    """Show the two tables and their matrices."""
    pair, palette = compute_once(neighbours, way), screen.palette
    one, other = pair.moments
    screen.tag("Simulated", f"row {PERSON + 1} is one person's; exact matrices, which would not be released")
    tables = [("first table", pair.tables[0]), ("second table", pair.tables[1])]
    screen.put(panels(tables, pair.row_bound, palette, marked_row=PERSON), "tables-tables")
    matrices = [("of the first", one), ("of the second", other), ("difference", other - one)]
    screen.put(panels(matrices, float(np.abs(one).max()), palette), "three-matrices")
    return (
        "Below the tables: their second moments, the mean products of two columns. Their distance (Frobenius: the root "
        f"of the sum of squares) is **{plain(pair.size)}**. Of rows at most {plain(pair.row_bound)} long, the row "
        f"bound, any neighbours are at most **{plain(pair.bound)}** apart."
    )


LESSON = Lesson(
    title="What is a neighbour?",
    aim=(
        "**Neighbours** differ in one person's row. Under a strong guarantee a release hardly tells which one was used."
        " Teal is above zero, orange below."
    ),
    control=Control(
        "How different the new row is",
        tuple(round(0.1 * k, 1) for k in range(11)),
        0.5,
        "the same person",
        "a row of full length, at right angles",
        percent,
        "Share of the way to the longest permitted row.",
    ),
    draw=draw,
    draws=False,
    question="Which two tables are neighbours here, where everybody knows n?",
    choices=(
        Option(
            "Every row differs, but only in the last digit",
            "Size does not count: with every row changed, the tables are n steps apart.",
        ),
        Option(
            "One row differs, in every one of its cells",
            "One person, one row; only the row bound limits the change.",
            True,
        ),
        Option("One of them has a row less", "That is add or remove, which hides n as well."),
    ),
    remember="A neighbour changes one whole row, within the row bound.",
    onward=(AUDIT, "Privacy audit: attack pairs of neighbours", lambda v: Study()),
)
