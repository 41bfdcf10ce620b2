"""Lesson on the sensitivity of a covariance: the largest change one row can make, proved and searched for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.lessons.lesson import ESTIMATE, Control, Lesson, Option, Screen, compute_once, study
from pages.lessons.simulated import SCHOOL, SEED
from privcov.core.randomness import stream
from privcov.core.words import plain
from privcov.measurements import moment
from privcov.measurements.clipping import clip_rows
from privcov.metrics.errors import matrix_norm
from privcov.plots.lessons import dots, line, panels
from privcov.plots.look import Picture, pen, vline
from privcov.plots.look import draw as figure
from privcov.plots.palette import Palette, wash
from privcov.tables.dataset import Dataset

BOUNDS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
ROWS, COLUMNS, PAIRS, STEPS = 10, 3, 60, 400


@dataclass(frozen=True, eq=False)
class Changes:
    """Frobenius changes of the second moment: of each random pair, of the worst pair found, and the proved bound.

    There are k ``bounds`` of rows; ``random`` is k x PAIRS, and ``pair`` the worst pair of rows at bound 1.
    """

    pair: np.ndarray
    bounds: np.ndarray
    random: np.ndarray
    worst: np.ndarray
    proved: np.ndarray


def changes(bounds: tuple[float, ...]) -> Changes:
    """Search over pairs of rows without using the proof: random pairs, then small steps from the best."""
    rng = stream(SEED, "lesson", "search")
    pairs = rng.uniform(-1.0, 1.0, (PAIRS, 2, COLUMNS))
    worst = max(pairs, key=lambda pair: _change(pair, 1.0))
    largest = _change(worst, 1.0)
    for step in range(STEPS):
        candidate = worst + rng.standard_normal(worst.shape) * 0.5 * 0.985**step
        if (change := _change(candidate, 1.0)) > largest:
            worst, largest = candidate, change
    return Changes(
        clip_rows(worst, 1.0),
        np.array(bounds),
        np.array([[_change(r * pair, r) for pair in pairs] for r in bounds]),
        np.array([_change(r * worst, r) for r in bounds]),
        np.array([r**2 * moment.sensitivity(COLUMNS, ROWS, norm="l2", n_anchors=0) for r in bounds]),
    )


def _change(pair: np.ndarray, row_bound: float) -> float:
    """Return how far replacing one row by the other moves the second moment; the other rows are zero."""
    moments = []
    for row in pair:
        rows = np.zeros((ROWS, COLUMNS))
        rows[0] = row
        moments.append(moment.clipped_moment(Dataset.from_rows(rows, row_bound), n_anchors=0))
    return row_bound**2 * matrix_norm(moments[1] - moments[0], "frobenius")


def picture(result: Changes, palette: Palette, *, row_bound: float) -> Picture:
    """Return the picture of how far one row moves the second moment, against the row bound, with one bound marked."""
    bounds, pairs = result.bounds, result.random.shape[1]
    proved, worst = pen(0, palette), pen(1, palette)
    traces = [
        dots(
            np.repeat(bounds, pairs),
            result.random.ravel(),
            "random pairs of rows",
            "R = %{x:.3g}: %{y:.3g}<extra>a random pair</extra>",
            {"size": 5, "color": wash(palette.quiet, 0.45)},
        ),
        line(
            bounds,
            result.proved,
            "proved bound",
            proved.line(2.2),
            hovertemplate="R = %{x:.3g}: at most %{y:.4g}<extra>proved</extra>",
        ),
        dots(
            bounds,
            result.worst,
            "worst pair found by search",
            "R = %{x:.3g}: %{y:.4g}<extra>worst found</extra>",
            worst.marker(11),
        ),
    ]
    chart = figure(
        traces,
        palette,
        height=None,
        shapes=[vline(row_bound, palette.quiet, "dot", 1)],
        x={"title": "Row bound R", "tickvals": list(bounds), "ticktext": [plain(b) for b in bounds], "type": "log"},
        y={"title": "Change of the mean products", "rangemode": "tozero"},
    )
    at = int(np.abs(bounds - row_bound).argmin())
    return Picture(
        chart,
        f"Change of the second moment when one row is replaced, at {len(bounds)} row bounds. At R = {plain(row_bound)} "
        f"the worst of the pairs found moves it by {plain(float(result.worst[at]))}; the proved bound is "
        f"{plain(float(result.proved[at]))}, and the largest of {pairs} random pairs reaches "
        f"{plain(float(result.random[at].max()))}.",
    )


def draw(bound: float, screen: Screen) -> str:
    """Show the worst pair, and the changes of all pairs with the proved bound."""
    result = compute_once(changes, BOUNDS)
    screen.tag("Simulated", f"{ROWS} pupils, one of whom is exchanged; {PAIRS} random pairs of rows")
    names = ("worst pair found: first table", "second table")
    pair = [(name, bound * row[None]) for name, row in zip(names, result.pair, strict=True)]
    screen.put(panels(pair, bound, screen.palette, columns=SCHOOL[:COLUMNS]), "table-worst")
    screen.put(picture(result, screen.palette, row_bound=bound), "large-changes")
    at = BOUNDS.index(bound)
    return (
        f"Change at R = {bound:g}: worst found **{result.worst[at]:.4f}**, proved bound sqrt(2) R²/{ROWS} = "
        f"**{result.proved[at]:.4f}**, median random pair {np.median(result.random[at]):.3f}. The two worst rows have "
        "length R and are at right angles."
    )


LESSON = Lesson(
    title="Sensitivity of a covariance",
    aim=(
        "A pupil is exchanged, and the mean products of all pairs of columns move. **Change**: the root of the sum of "
        "their nine squared moves (Frobenius). Noise must hide the **largest** change. Each dot is a pair of rows."
    ),
    control=Control("Row bound R", BOUNDS, 1.0, "short rows", "long rows"),
    draw=draw,
    draws=False,
    question="R is doubled. The largest possible change",
    choices=(
        Option("doubles", "True for a mean; here cells are multiplied with each other."),
        Option("becomes four times as large", "Twice the cells are four times the products.", True),
        Option(
            "stays: real rows did not get longer",
            "Sensitivity covers all permitted rows; otherwise the noise would reveal the real lengths.",
        ),
    ),
    remember="Sensitivity is the largest change by one row: for mean products sqrt(2) R²/n, whatever the rows.",
    onward=(
        ESTIMATE,
        "Estimate: move R on real noise",
        lambda v: study("ar1-covariance", {"d": 10, "n": 2_000}, 0.1, "gaussian-cov", bound=v),
    ),
)
