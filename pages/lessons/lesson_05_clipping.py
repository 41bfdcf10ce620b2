"""Lesson on clipping: a small row bound means bias, a large one noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pages.common import show
from pages.lessons.lesson import ESTIMATE, Control, Lesson, Option, Screen, compute_once, study
from pages.lessons.simulated import SEED, guarantee, simulate
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain
from privcov.measurements.clipping import share_clipped
from privcov.measurements.moment import clipped_moment
from privcov.metrics.errors import error, matrix_norm, reference_matrix
from privcov.plots.lessons import dots, line, over_control
from privcov.plots.look import Picture, pen
from privcov.plots.look import draw as figure
from privcov.plots.palette import Palette
from privcov.releases.public import release

MULTIPLES = tuple(round(2 ** (k / 4), 6) for k in range(-12, 6))
RHO, N = 0.02, 2_000
SHOWN, ASPECT = 30, 2.7  # rows that are drawn, and how much wider than high their picture is
DATA: dict[str, Any] = {"n": N, "d": 10, "family": "t5"}


@dataclass(frozen=True)
class Clipped:
    """Relative Frobenius sizes, to the sample, of the bias, the noise and the error of the release, at one row bound.

    ``share`` is the fraction of rows that are shortened (0 to 1).
    """

    multiple: float
    row_bound: float
    bias: float
    noise: float
    total: float
    share: float


@lru_cache(maxsize=1)
def public_bound() -> float:
    """Return the row bound that the source of these rows names from public facts, whatever n is."""
    return simulate("ar1-covariance", **{**DATA, "n": 1}).row_bound


def clipped(multiples: tuple[float, ...], n: int = N, seed: int = SEED) -> tuple[Clipped, ...]:
    """Release the same heavy-tailed rows with the same unit noise under multiples of the source's public bound."""
    base = simulate("ar1-covariance", **{**DATA, "n": n})
    sample = reference_matrix(base, "covariance", "sample")
    size = matrix_norm(sample, "frobenius")
    results = []
    for multiple in multiples:
        data = base.with_row_bound(base.row_bound * multiple)
        r2 = data.row_bound**2
        rel = release(data, ZCDP(RHO), "gaussian-cov", random_state=seed)
        assert rel.noisy_moment is not None  # the Gaussian mechanism measures one matrix
        exact = r2 * clipped_moment(data, n_anchors=0)
        results.append(
            Clipped(
                multiple,
                data.row_bound,
                matrix_norm(exact - sample, "frobenius") / size,
                matrix_norm(r2 * rel.noisy_moment.matrix - exact, "frobenius") / size,
                error(rel, data, relative=True),
                share_clipped(data),
            )
        )
    return tuple(results)


def shortening(multiple: float, palette: Palette) -> Picture:
    """Return the picture of some rows, each as far from the centre as it is long, and of what R leaves of it."""
    data = simulate("ar1-covariance", **DATA)
    rows, bound = np.asarray(data.rows)[:SHOWN], data.row_bound * multiple
    lengths = np.linalg.norm(rows, axis=1)
    ways = rows[:, :2] / np.linalg.norm(rows[:, :2], axis=1, keepdims=True)
    longer = lengths > bound
    ends = np.minimum(lengths, bound)[:, None] * ways
    full = lengths[:, None] * ways
    cut = np.full((3 * int(longer.sum()), 2), np.nan)  # a gap after each line
    cut[0::3], cut[1::3] = full[longer], ends[longer]
    angles = np.linspace(0, 2 * np.pi, 73)
    half = 1.05 * float(max(lengths.max(), bound))
    quiet = {"color": palette.quiet, "width": 1}
    traces = [
        line(
            bound * np.cos(angles), bound * np.sin(angles), "R", {"color": palette.ink, "width": 1.6}, hoverinfo="skip"
        ),
        line(cut[:, 0], cut[:, 1], "cut off", quiet),
        dots(ends[:, 0], ends[:, 1], "rows", "", pen(0, palette).marker(5)),
    ]
    y: dict[str, Any] = {"visible": False, "range": [-half, half]}
    x = y | {"range": [-ASPECT * half, ASPECT * half]}
    chart = figure(traces, palette, height=None, showlegend=False, x=x, y=y, margin=dict.fromkeys("lrtb", 2))
    return Picture(chart, f"{SHOWN} rows by length about a centre; {int(longer.sum())} are shortened to the circle R.")


def best_bound(results: tuple[Clipped, ...]) -> Clipped:
    """Return the result with the smallest error. It reads the rows: for simulated data only."""
    return min(results, key=lambda one: one.total)


def draw(multiple: float, screen: Screen) -> str:
    """Show bias, noise and error against the row bound."""
    few = compute_once(clipped, MULTIPLES, N, screen.seed)
    here = next(one for one in few if one.multiple == multiple)
    best = best_bound(few)
    shown = f"{SHOWN} of them in the picture, as far out as their rows are long"
    screen.tag("Simulated", f"{N:,} pupils, {shown}, {guarantee(RHO)}")
    names = {"bias": "bias by clipping", "privacy noise": "privacy noise", "gaussian-cov": "error of the release"}
    picture = over_control(
        [(one.row_bound, (one.bias, one.noise, one.total)) for one in few], names, screen.palette, x="R",
        x_label="Row bound R", y_label="Relative error against the sample", references=[("zero matrix", 1)],
        mark=here.row_bound,
    )  # fmt: skip
    screen.put(shortening(multiple, screen.palette), "low-rows")
    screen.put(picture, "large-clipping")
    return (
        f"R = {plain(here.row_bound)} shortens {show.percent(here.share)} of the rows: bias "
        f"{show.percent(here.bias)}, noise {show.percent(here.noise)}, **error {show.percent(here.total)}**"
        + (" (removing negative eigenvalues takes some noise away)" if here.total < here.noise else "")
        + (". **Least error of this draw.**" if here is best else ".")
    )


LESSON = Lesson(
    title="Clipping: bias against noise",
    aim=(
        "Some pupils' rows are far longer than others. Rows longer than R (the circle) are shortened to R; grey is cut "
        "off. A small R needs little noise and has much bias. The pupils are simulated, so errors may be looked at."
    ),
    control=Control(
        "Row bound R",
        MULTIPLES,
        1.0,
        "less noise, more bias",
        "less bias, more noise",
        lambda v: plain(v * public_bound()),
        "It begins at a bound from public facts alone.",
    ),
    draw=draw,
    question="Ten times as many rows, the same guarantee. The best R",
    choices=(
        Option("becomes larger", "Noise falls to a tenth and bias stays, so shorten fewer rows.", True),
        Option("becomes smaller: more long rows to shorten", "Their share and the bias stay; noise falls."),
        Option("stays: it depends on row lengths only", "Only the bias does; noise depends on R, n and the guarantee."),
    ),
    remember="Take R from public facts; reading it off the rows breaks the guarantee.",
    onward=(
        ESTIMATE,
        "Estimate: these rows under this R",
        lambda v: study("ar1-covariance", DATA, RHO, "gaussian-cov", bound=v),
    ),
)
