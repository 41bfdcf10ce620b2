"""Lesson on re-runs: the same release again and again, averaged, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pages.common import show
from pages.common.study import Study
from pages.lessons.lesson import METHODS, Control, Lesson, Option, Screen, compute_once, count
from pages.lessons.simulated import AT_DELTA, SEED, epsilon, simulate
from privcov.core import accounting
from privcov.core.guarantees import ZCDP
from privcov.measurements.moment import clipped_moment
from privcov.metrics.errors import matrix_norm
from privcov.metrics.graphs import noisy_matrix
from privcov.plots.lessons import over_control, panels
from privcov.plots.matrices import colour_limit
from privcov.releases.public import release

RUNS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
RHO = 0.01
DATA = {"n": 1_000, "d": 10}


@dataclass(frozen=True, eq=False)
class Rerun:
    """The first, and the average, of k releases of the same rows; ``exact`` is their clipped covariance, not released.

    ``error`` is that of the average against ``exact``, relative Frobenius, and ``expected`` its root mean square over
    noise draws. ``rho`` and ``epsilon`` are those of all k together; ``attacker`` is the best chance of a right guess.
    """

    k: int
    exact: np.ndarray
    one: np.ndarray
    average: np.ndarray
    error: float
    expected: float
    rho: float
    epsilon: float
    attacker: float


def reruns(ks: tuple[int, ...], seed: int = SEED) -> tuple[Rerun, ...]:
    """Average the unrepaired Gaussian mechanism over runs with a seed each; one result after each of ``ks``."""
    data = simulate("ar1-covariance", **DATA)
    exact = data.row_bound**2 * clipped_moment(data, n_anchors=0)
    size = matrix_norm(exact, "frobenius")
    total, results, first = np.zeros_like(exact), [], None
    for run in range(1, max(ks) + 1):
        rel = release(data, ZCDP(RHO), "gaussian-cov", random_state=seed + run - 1, repair="none")
        first = rel if first is None else first
        total += noisy_matrix(rel)
        if run not in ks:
            continue
        average = total / run
        assert rel.noisy_moment is not None  # one matrix is measured,
        assert rel.noisy_moment.event is not None  # with a guarantee
        event, distribution, d = rel.noisy_moment.event, rel.noisy_moment.distribution, data.d
        noise_norm = data.row_bound**2 * math.hypot(
            math.sqrt(d) * distribution.diagonal_std, math.sqrt(d * (d - 1)) * distribution.off_diagonal_std
        )
        results.append(
            Rerun(
                run,
                exact,
                noisy_matrix(first),
                average,
                matrix_norm(average - exact, "frobenius") / size,
                noise_norm / math.sqrt(run) / size,
                accounting.self_compose(ZCDP(RHO), run).rho,
                epsilon(run * RHO),
                accounting.attacker_on_events((event,) * run, ZCDP(run * RHO)),
            )
        )
    return tuple(results)


def draw(k: int, screen: Screen) -> str:
    """Show the exact matrix, one run and the average; the error against k."""
    every, palette = compute_once(reruns, RUNS, screen.seed), screen.palette
    result = next(one for one in every if one.k == k)
    screen.tag("Simulated", f"each run {RHO:g}-zCDP, the same {DATA['n']:,} pupils")
    three = [("exact, confidential", result.exact), ("one run", result.one), (f"average of {k:,}", result.average)]
    screen.put(panels(three, colour_limit(result.exact), palette), "three-reruns")
    names = {"average": "error of the average", "expected": "expected: 1/sqrt(k)"}
    picture = over_control(
        [(one.k, (one.error, one.expected)) for one in every], names, palette, x="k", x_label="Runs k",
        y_label="Relative error", mark=float(k),
    )  # fmt: skip
    screen.put(picture, "curve-reruns")
    return (
        f"Error of the average **{show.percent(result.error)}**. Spent: rho = **{result.rho:.3g}**, or epsilon = "
        f"**{result.epsilon:.3g}** at {AT_DELTA}. Attacker's best chance: "
        f"**{show.chance(result.attacker, exact=True)}**."
    )


LESSON = Lesson(
    title="What a re-run costs",
    aim=(
        "The covariance of the same pupils is released again and again, then averaged. The noise averages out, and "
        "with it the protection. Teal is above zero, orange below."
    ),
    control=Control("Number of runs", RUNS, 1, "released once", "released again and again", count),
    draw=draw,
    question="An analyst runs a private method nine times and publishes the run that looks best. What was spent?",
    choices=(
        Option("One run: eight were never published", "The analyst saw all nine, and may have chosen by them."),
        Option(
            "Nine runs: nine times rho",
            "In zCDP rho adds up over all runs seen. Showing only the best of a random number of runs can cost "
            "less (Liu and Talwar 2019).",
            True,
        ),
        Option("Nothing: each run has fresh noise", "Fresh noise averages out: k runs leave 1/k of its variance."),
    ),
    remember="Averaging k runs divides the noise by sqrt(k), on average, and multiplies rho by k.",
    onward=(METHODS, "Methods: every method on a card", lambda v: Study(rho=RHO)),
)
