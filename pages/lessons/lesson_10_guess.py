"""Lesson on guessing: a class guesses which of two tables a release was made from, beside the best guess there can be.

The two tables differ in one row. The attacker knows both tables and the method, and has to say which one a release was
made from. The Gaussian mechanism adds independent N(0, sigma^2) to each entry on and above the diagonal, so the
likelihood ratio of a release M is known exactly,

    ln P(M | first) - ln P(M | second) = sum over i <= j of ((M - B)_ij^2 - (M - A)_ij^2) / (2 sigma^2),

with A and B the exact moments. Guessing by its sign is optimal (Neyman and Pearson) and right with probability
Phi(mu / 2), with mu the distance of A and B over sigma. The two rows are two axes of full length, which attains the
proved sensitivity, so this is the largest chance that the guarantee of the release permits: the attacker meter's value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrik

from pages.common import show
from pages.common.study import Study
from pages.lessons.lesson import AUDIT, RHO_HELP, Control, Lesson, Option, Screen, by_both_names
from pages.lessons.simulated import guarantee
from privcov.core import accounting
from privcov.core.guarantees import ZCDP
from privcov.core.randomness import stream
from privcov.measurements.moment import NoisyMoment, clipped_moment, measure_moment
from privcov.plots.lessons import line, panels
from privcov.plots.look import Picture, pen, ribbon, ticks
from privcov.plots.look import draw as figure
from privcov.plots.palette import Palette
from privcov.tables.dataset import Dataset

NAMES = ("A", "B")
N, D = 10, 3
ROW_BOUND = 1.0
WRONG = 0.05  # error probability of a score's interval and of the funnel
HUNDRED = 100
ATTACKER = "optimal attacker"


@dataclass(frozen=True, eq=False)
class Round:
    """One release (d x d), its truth 0 or 1 (A or B), the optimal attacker's guess, and the noise of an entry."""

    number: int
    release: np.ndarray
    truth: int
    nats: float
    sigma: float

    @property
    def optimal(self) -> int:
        """0 or 1: the table that is more likely, by the privacy loss."""
        return int(self.nats < 0)

    @property
    def optimal_is_right(self) -> bool:
        """Whether the optimal attacker names the right table."""
        return self.optimal == self.truth


@lru_cache(maxsize=1)
def tables() -> tuple[Dataset, Dataset]:
    """Return two n x d tables: the same people but for the last row, which is one axis of full length or another."""
    rng = stream(0, "lesson", "guess", "rows")
    rows = rng.standard_normal((N, D))
    rows *= ROW_BOUND * rng.uniform(0.3, 1.0, (N, 1)) / np.linalg.norm(rows, axis=1)[:, None]
    pair = []
    for name, axis in zip(NAMES, np.eye(D)[:2], strict=True):
        rows[-1] = ROW_BOUND * axis
        pair.append(Dataset.from_rows(rows, ROW_BOUND, name=f"table {name}", provenance="simulated"))
    return pair[0], pair[1]


def exact_moments() -> tuple[np.ndarray, np.ndarray]:
    """Return the two second moments that the class may see, d x d, in units of the row bound squared."""
    first, second = (clipped_moment(table, n_anchors=0) for table in tables())
    return first, second


def likelihood_ratio(measurement: NoisyMoment, first: np.ndarray, second: np.ndarray) -> float:
    """Return ln P(release | first) - ln P(release | second) in nats, for upper-triangle Gaussian noise."""
    event = measurement.event
    assert event is not None  # every round asks for a guarantee
    if event.law != "upper-triangle":
        raise ValueError(f"The likelihood ratio is that of upper-triangle noise, got {event.law!r}.")
    upper = np.triu_indices(len(first))
    m, a, b = measurement.matrix[upper], first[upper], second[upper]
    return float((((m - b) ** 2 - (m - a) ** 2) / (2 * event.scale**2)).sum())


def play(rho: float, seed: int, number: int) -> Round:
    """Play round ``number`` (from 1) of the game ``seed`` at rho-zCDP: a fair coin picks the table that is released."""
    coin = stream(seed, "lesson", "guess", "coin", number).integers(2)
    measurement = measure_moment(
        tables()[coin],
        ZCDP(rho),
        centre="zero",
        shape="upper-triangle",
        rng=stream(seed, "lesson", "guess", "noise", number),
    )
    assert measurement.event is not None  # a guarantee is asked for
    nats = likelihood_ratio(measurement, *exact_moments())
    return Round(number, measurement.matrix, int(coin), nats, measurement.event.scale)


def limit(rho: float) -> float:
    """Return the attacker meter's value for these releases: exact, from the event of the measurement."""
    rng = stream(0, "lesson", "guess", "event")
    measurement = measure_moment(tables()[0], ZCDP(rho), centre="zero", shape="upper-triangle", rng=rng)
    assert measurement.event is not None  # a guarantee is asked for
    return accounting.attacker_on_events((measurement.event,), ZCDP(rho))


def funnel(rate: float, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 2.5 % and 97.5 % binomial quantiles of the share of right guesses, each of ``rounds`` alone."""
    ends = []
    for p in (WRONG / 2, 1 - WRONG / 2):
        hits = np.ceil(bdtrik(p, rounds, rate))
        below = np.maximum(hits - 1, 0)  # where rounding went one too far
        ends.append(np.where(bdtr(below, rounds, rate) >= p, below, hits) / rounds)
    return ends[0], ends[1]


def optimal_rounds(rho: float, seed: int, rounds: int = HUNDRED) -> list[bool]:
    """Return whether the optimal attacker is right, in each of the first rounds of the game ``seed``."""
    return [play(rho, seed, number).optimal_is_right for number in range(1, rounds + 1)]


def running_scores(guesses: Sequence[bool], limit: float, palette: Palette) -> Picture:
    """Return the picture of the optimal attacker's share of right guesses against the rounds, over the `funnel`."""
    last = len(guesses)
    grid = np.unique(np.round(np.geomspace(1, last, 160)).astype(int))
    low, high = funnel(limit, grid)
    within = ribbon(grid, 100 * low, 100 * high, palette.quiet, 0.22, name=f"{show.percent(1 - WRONG)} at the limit")
    within.showlegend = True
    rounds = np.arange(1, last + 1)
    style = pen(0, palette)
    hits = np.cumsum(guesses)
    hover = "after %{x} rounds: %{y:.1~f} % right<extra></extra>"
    scores = line(rounds, 100 * hits / rounds, ATTACKER, style.line(2.2), hovertemplate=hover)
    # The limit is named in the legend: next to its line the words would lie on the scores.
    dotted = {"color": palette.ink, "dash": "dot", "width": 1.6}
    most = line([1, last], [100 * limit] * 2, f"limit {show.chance(limit, exact=True)}", dotted, hoverinfo="skip")
    x = {"title": "Rounds played", "type": "log", "range": [-0.03, math.log10(last) + 0.03]}
    chart = figure(
        [within, scores, most],
        palette,
        height=None,
        showlegend=True,
        x=x | ticks([k for e in range(4) for k in (10**e, 2 * 10**e, 5 * 10**e) if k <= last]),
        y={"title": "Right (%)", "range": [0, 104]},
    )
    return Picture(
        chart,
        f"Running score. {ATTACKER}: {hits[-1]} of {last} right. The limit is {show.chance(limit, exact=True)}; after "
        f"{last:,} rounds {show.percent(1 - WRONG)} of guessers at the limit are right in {show.percent(low[-1])} to "
        f"{show.percent(high[-1])} of their rounds.",
    )


def usual_seed(rho: float) -> int:
    """Return the seed of the game on screen: the first from 10^6 rho on whose score fits the sentence."""
    low, high = usual(rho, HUNDRED)
    for seed in itertools.count(round(1e6 * rho)):
        if low <= sum(optimal_rounds(rho, seed)) <= high:
            return seed
    raise AssertionError("a hundred as usual comes in 19 of 20 games")


def usual(rho: float, rounds: int) -> tuple[int, int]:
    """Return how many of the rounds the optimal attacker has right, in 95 % of games at least."""
    low, high = (round(rounds * float(end[0])) for end in funnel(limit(rho), np.array([rounds])))
    return low, high


def draw(rho: float, screen: Screen) -> str:
    """Draw the two tables' matrices, the first release, and a hundred rounds of the optimal attacker."""
    seed, palette = usual_seed(rho), screen.palette
    first, second = exact_moments()
    screen.tag("Simulated", f"an earlier game with a usual score, {guarantee(rho)}; only mean squares differ")
    three = [("A, exact", first), ("B, exact", second), ("round 1", play(rho, seed, 1).release)]
    screen.put(panels(three, float(abs(first).max()), palette), "three-guess")
    screen.put(running_scores(optimal_rounds(rho, seed), limit(rho), palette), "curve-scores")
    low, high = usual(rho, HUNDRED)
    return (
        f"The limit with this noise is **{show.chance(limit(rho), exact=True)}**: of {HUNDRED} rounds the optimal "
        f"attacker is usually right in **{low} to {high}**. Any method under {ZCDP(rho)}: "
        f"{show.chance(accounting.attacker_success(ZCDP(rho)), most=True)}."
    )


LESSON = Lesson(
    title="Guess the neighbour",
    aim=(
        "The school's tables A and B (sleep, marks, steps of ten pupils) differ in one pupil. A coin picks one, you "
        "see its noisy mean products. **Which was it?** "
        "Teal is above zero, orange below."
    ),
    control=Control(
        "Rho",
        (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
        0.5,
        "stronger: nearly a coin toss",
        "weaker: nearly certain",
        by_both_names,
        RHO_HELP + " Another rho is another game with its own score.",
    ),
    draw=draw,
    draws=False,
    question="After 20 rounds a class has 17 right, and the limit is 69\u00a0%. What does that show?",
    choices=(
        Option(
            "The guarantee is broken: 85 % is more than 69 %",
            "The exact 95 % binomial interval begins at 62 %, below the limit.",
        ),
        Option(
            "Little: the interval around 17 of 20 contains the limit",
            "The limit is for the long run; a score of 20 rounds strays far from it by luck.",
            True,
        ),
        Option(
            "People are better than the optimal attacker",
            "Nobody is, in the long run: naming the likelier table is optimal (Neyman and Pearson).",
        ),
    ),
    remember="A guarantee limits how often anybody guesses right in the long run, whatever else they know.",
    onward=(AUDIT, "Privacy audit: what an attacker learns", lambda v: Study(rho=v)),
)
