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
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import streamlit as st
from scipy.special import bdtr, bdtrik, betaincinv

from pages.common import show
from pages.common.study import Study
from pages.lessons.lesson import AUDIT, RHO_HELP, Control, Lesson, Option, Screen
from pages.lessons.simulated import guarantee
from privcov.core import accounting, checks
from privcov.core.guarantees import ZCDP
from privcov.core.randomness import stream
from privcov.measurements.moment import Measured, clipped_moment, measure_moment
from privcov.plots.lessons import line, panels
from privcov.plots.look import Picture, pen, ribbon, ticks
from privcov.plots.look import draw as figure
from privcov.plots.palette import Palette
from privcov.tables.dataset import Dataset

NAMES = ("A", "B")
N, D = 10, 3
ROW_BOUND = 1.0
WRONG = 0.05  # chance that the interval of a score misses, and that a score at the limit leaves the funnel
HUNDRED = 100
MAX_ROUNDS = 5_000  # rounds of one game
ATTACKER = "optimal attacker"
FIRST = 20  # rounds that the axis of the scores has from the start


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


def likelihood_ratio(measured: Measured, first: np.ndarray, second: np.ndarray) -> float:
    """Return ln P(release | first) - ln P(release | second) in nats, for upper-triangle Gaussian noise."""
    event = measured.event
    assert event is not None  # every round asks for a guarantee
    if event.law != "upper-triangle":
        raise ValueError(f"The likelihood ratio is that of upper-triangle noise, got {event.law!r}.")
    upper = np.triu_indices(len(first))
    m, a, b = measured.matrix[upper], first[upper], second[upper]
    return float((((m - b) ** 2 - (m - a) ** 2) / (2 * event.scale**2)).sum())


def play(rho: float, seed: int, number: int) -> Round:
    """Play round ``number`` (from 1) of the game ``seed`` at rho-zCDP: a fair coin picks the table that is released."""
    coin = stream(seed, "lesson", "guess", "coin", number).integers(2)
    measured = measure_moment(
        tables()[coin],
        ZCDP(rho),
        centre="zero",
        shape="upper-triangle",
        rng=stream(seed, "lesson", "guess", "noise", number),
    )
    assert measured.event is not None  # a guarantee is asked for
    nats = likelihood_ratio(measured, *exact_moments())
    return Round(number, measured.matrix, int(coin), nats, measured.event.scale)


def limit(rho: float) -> float:
    """Return the attacker meter's value for these releases: exact, from the event of the measurement."""
    rng = stream(0, "lesson", "guess", "event")
    measured = measure_moment(tables()[0], ZCDP(rho), centre="zero", shape="upper-triangle", rng=rng)
    assert measured.event is not None  # a guarantee is asked for
    return accounting.attacker_on_events((measured.event,), ZCDP(rho))


def score_interval(hits: int, rounds: int) -> tuple[float, float]:
    """Return the exact 95 % interval (Clopper and Pearson 1934) of the chance of being right, from ``hits``."""
    rounds = checks.whole("rounds", rounds, 1)
    hits = checks.whole("hits", hits, 0, rounds)
    low = float(betaincinv(hits, rounds - hits + 1, WRONG / 2)) if hits else 0.0
    high = float(betaincinv(hits + 1, rounds - hits, 1 - WRONG / 2)) if hits < rounds else 1.0
    return low, high


def funnel(rate: float, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 2.5 % and 97.5 % binomial quantiles of the share of right guesses, each of ``rounds`` alone."""
    ends = []
    for p in (WRONG / 2, 1 - WRONG / 2):
        hits = np.ceil(bdtrik(p, rounds, rate))
        below = np.maximum(hits - 1, 0)  # where rounding went one too far
        ends.append(np.where(bdtr(below, rounds, rate) >= p, below, hits) / rounds)
    return ends[0], ends[1]


@dataclass
class Game:
    """One game; ``votes`` has right or wrong, of the class, by round, and ``optimal`` (round, right) of all rounds."""

    rho: float
    seed: int
    votes: dict[int, bool] = field(default_factory=dict)
    optimal: list[tuple[int, bool]] = field(default_factory=list)
    shown: Round | None = None  # the round whose truth is on the screen
    guess: int | None = None

    def next(self) -> Round:
        """Return the next round."""
        return play(self.rho, self.seed, len(self.optimal) + 1)

    def vote(self, table: int) -> None:
        """Record the vote of the class for table 0 or 1, and show the truth of the round."""
        self.shown, self.guess = self.next(), table
        self.votes[self.shown.number] = table == self.shown.truth
        self.optimal.append((self.shown.number, self.shown.optimal_is_right))

    def go_on(self) -> None:
        """Go on to the next round, before its vote."""
        self.shown = self.guess = None

    def hundred(self) -> None:
        """Play a hundred rounds of the optimal attacker, without votes of the class."""
        self.go_on()
        for _ in range(HUNDRED):
            played = self.next()
            self.optimal.append((played.number, played.optimal_is_right))


def _game(rho: float) -> Game:
    """Return the session's game at this rho; its coins and noise are the visit's own, so nobody knows them before."""
    games = st.session_state.setdefault("lesson_games", {})
    if rho not in games:
        games[rho] = Game(rho, secrets.randbelow(2**32))
    return games[rho]


@st.cache_resource(max_entries=32, show_spinner=False)
def _limit(rho: float) -> float:
    """Return `limit`, computed once for all visitors."""
    return limit(rho)


def running_scores(
    series: Sequence[tuple[str, Sequence[tuple[int, bool]]]],
    limit: float,
    interval: tuple[float, float] | None,
    palette: Palette,
) -> Picture:
    """Return the picture of the share of right guesses against the guesser's own number of guesses, over the `funnel`.

    ``series`` is (name, [(round, right)]) in the order of the rounds, the attacker first; ``interval`` is that of the
    last guesser's score, drawn at its end, or None.
    """
    last = max([len(guesses) for _, guesses in series] + [FIRST])
    grid = np.unique(np.round(np.geomspace(1, last, 160)).astype(int))
    low, high = funnel(limit, grid)
    named = f"{show.percent(1 - WRONG)} at the limit"
    traces = [ribbon(grid, 100 * low, 100 * high, palette.quiet, 0.22, name=named)]
    traces[0].showlegend = True
    words, lowest = [], 100.0
    for i, (name, guesses) in enumerate(series):
        style = pen(i, palette)
        right = np.array([hit for _, hit in guesses], dtype=float)
        score = 100 * np.cumsum(right) / np.arange(1, len(right) + 1)
        lowest = min([lowest, *score])
        trace = line(
            np.arange(1, len(right) + 1),
            score,
            name,
            style.line(2.2),
            mode="lines+markers" if len(right) <= 40 else "lines",
            marker=style.marker(8),
            hovertemplate="after %{x} rounds: %{y:.1~f} % right<extra>" + name + "</extra>",
        )
        words.append(f"{name}: {int(right.sum())} of {len(right)} right" if len(right) else f"{name}: no round yet")
        if i + 1 == len(series) and interval is not None and len(right):
            trace.error_y = {
                "type": "data",
                "symmetric": False,
                "array": [0.0] * (len(right) - 1) + [100 * interval[1] - score[-1]],
                "arrayminus": [0.0] * (len(right) - 1) + [score[-1] - 100 * interval[0]],
                "thickness": 1.6,
                "width": 6,
            }
            lowest = min(lowest, 100 * interval[0])
            words[-1] += f", 95 % binomial interval {interval[0]:.2f} to {interval[1]:.2f}"
        traces.append(trace)
    # The limit is named in the legend: next to its line the words would lie on the scores.
    dotted = {"color": palette.ink, "dash": "dot", "width": 1.6}
    named = f"limit {show.chance(limit)}"
    traces.append(line([1, last], [100 * limit, 100 * limit], named, dotted, hoverinfo="skip"))
    drawn = figure(
        traces,
        palette,
        height=None,
        showlegend=True,
        x={
            "title": "Rounds played",
            "type": "log",
            "range": [-0.03, math.log10(last) + 0.03],
            **ticks([k for e in range(4) for k in (10**e, 2 * 10**e, 5 * 10**e) if k <= last]),
        },
        y={"title": "Right (%)", "range": [40 if last > 2 * HUNDRED and lowest >= 40 else 0, 104]},
    )
    return Picture(
        drawn,
        "Running scores. " + "; ".join(words) + f". The limit is {show.chance(limit)}; after {last:,} rounds "
        f"{show.percent(1 - WRONG)} of guessers at the limit are right in {show.percent(low[-1])} to "
        f"{show.percent(high[-1])} of their rounds.",
    )


def draw(rho: float, screen: Screen) -> str:
    """Show the two tables' matrices, the release, the votes and the scores; the truth after the vote."""
    game, palette = _game(rho), screen.palette
    now = game.shown or game.next()
    first, second = exact_moments()
    screen.tag("Simulated", f"round {now.number}, {guarantee(rho)}")
    three = [("A, exact", first), ("B, exact", second), (f"round {now.number}", now.release)]
    screen.put(panels(three, float(abs(first).max()), palette), "three-guess")
    _buttons(game)
    st.markdown(_outcome(game, now))
    right = list(game.votes.items())
    interval = score_interval(sum(game.votes.values()), len(right)) if right else None
    series = [(ATTACKER, game.optimal), ("votes here", right)]
    screen.put(running_scores(series, _limit(rho), interval, palette), "curve-scores")
    return ""


def printed_seed(rho: float) -> int:
    """Return the seed of the game on paper: the first from 10^6 rho on whose hundred is usual, as its sentence says."""
    low, high = usual(rho, HUNDRED)
    for seed in itertools.count(round(1e6 * rho)):
        game = Game(rho, seed)
        game.hundred()
        if low <= sum(hit for _, hit in game.optimal) <= high:
            return seed
    raise AssertionError("a hundred as usual comes in 19 of 20 games")


def usual(rho: float, rounds: int) -> tuple[int, int]:
    """Return how many of the rounds the optimal attacker has right, in 95 % of games at least."""
    low, high = (round(rounds * float(end[0])) for end in funnel(limit(rho), np.array([rounds])))
    return low, high


def printed(rho: float, screen: Screen) -> str:
    """Draw the two tables' matrices, the first release, and a hundred rounds of the optimal attacker."""
    game, palette = Game(rho, printed_seed(rho)), screen.palette
    now, (first, second) = game.next(), exact_moments()
    game.hundred()
    screen.tag("Simulated", f"an earlier game, {guarantee(rho)}; A and B differ in the mean squares of x1 and x2")
    three = [("A, exact", first), ("B, exact", second), ("round 1", now.release)]
    screen.put(panels(three, float(abs(first).max()), palette), "three-guess")
    screen.put(running_scores([(ATTACKER, game.optimal)], limit(rho), None, palette), "curve-scores")
    low, high = usual(rho, HUNDRED)
    return (
        f"The limit is **{show.chance(limit(rho))}**: of {HUNDRED} rounds the optimal attacker is usually right in "
        f"**{low} to {high}**."
    )


def scores(rho: float, screen: Screen) -> None:
    """Show the scores in words, and the limit."""
    game, most = _game(rho), _limit(rho)
    rounds, hits = len(game.votes), sum(game.votes.values())
    lines = []
    if rounds:
        low, high = map(show.percent, score_interval(hits, rounds))
        lines.append(f"- **Votes:** {hits} of {rounds}; 95 % binomial interval {low} to {high}")
    if game.optimal:
        same = sum(hit for number, hit in game.optimal if number in game.votes)
        told = [f"{same} of the same {rounds}"] if rounds else []
        if (played := len(game.optimal)) > rounds:
            told.append(f"{sum(hit for _, hit in game.optimal):,} of all {played:,}")
        lines.append(f"- **Optimal attacker:** {', '.join(told)}")
    least, most_hits = usual(rho, HUNDRED)
    any_noise = show.chance(accounting.attacker_success(ZCDP(rho)), most=True)
    told = f"{show.chance(most)}; of {HUNDRED} usually {least} to {most_hits}"
    lines += [f"- **Limit** with this noise: {told}", f"- Any method under {ZCDP(rho)}: {any_noise}"]
    st.markdown("\n".join(lines))
    show.attacker_meter(most, screen.palette)


def _buttons(game: Game) -> None:
    voted, full_up = game.shown is not None, len(game.optimal) + HUNDRED > MAX_ROUNDS
    with st.container(horizontal=True, key="lesson-votes"):
        for i, name in enumerate(NAMES):
            st.button(
                f"It was {name}",
                key=f"lesson-vote-{name}",
                on_click=game.vote,
                args=(i,),
                disabled=voted or len(game.optimal) >= MAX_ROUNDS,
                shortcut=name,
                type="primary",
                help="The truth is out: go to the next release." if voted else None,
            )
        st.button(
            "Next release",
            key="lesson-next-release",
            on_click=game.go_on,
            disabled=not voted,
            shortcut="N",
            help=None if voted else "Vote first.",
        )
        st.button(
            f"Attacker plays {HUNDRED}",
            key="lesson-hundred",
            on_click=game.hundred,
            disabled=full_up,
            help=f"At most {MAX_ROUNDS:,} rounds: start again." if full_up else None,
        )
        if game.optimal:
            st.button("New game", key="lesson-new-game", on_click=_end, args=(game.rho,), help="Other coins and noise.")


def _end(rho: float) -> None:
    """Forget the game at this rho, so that another begins."""
    st.session_state["lesson_games"].pop(rho, None)


def _outcome(game: Game, now: Round) -> str:
    """Return the question before the vote, or the outcome of the round after it."""
    if game.shown is None:
        return "Which table is the release closer to, in the mean squares of x1 and x2? Vote."
    assert game.guess is not None  # set with ``shown``
    favoured = NAMES[now.optimal]
    return (
        f"It was **{NAMES[now.truth]}**. You said {NAMES[game.guess]}, "
        + ("right." if game.guess == now.truth else "wrong.")
        + f" The optimal attacker said {favoured}: this release is {_odds(abs(now.nats))} times as likely from "
        f"{favoured}."
    )


def _odds(nats: float) -> str:
    """Return exp(nats) in words."""
    return f"{math.exp(nats):.2f}" if nats < 2 else f"{math.exp(nats):,.0f}" if nats < 20 else "over 100 million"


LESSON = Lesson(
    title="Guess the neighbour",
    aim=(
        "Tables A and B differ in one row. A coin picks one, you see its release. **Which was it?** Teal is above "
        "zero, orange below."
    ),
    control=Control(
        "Rho",
        (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
        0.5,
        "stronger: nearly a coin toss",
        "weaker: nearly certain",
        help=RHO_HELP + " Another rho is another game with its own score.",
        is_rho=True,
    ),
    draw=draw,
    beside=scores,
    printed=printed,
    question="After 20 rounds a class has 17 right, and the limit is 69\u00a0%. What does that show?",
    choices=(
        Option(
            "The guarantee is broken: 85 % is more than 69 %",
            "The exact 95 % binomial interval begins at 62 %, below the limit.",
        ),
        Option(
            "Little: the interval around 17 of 20 contains the limit",
            "The limit is for the long run; the funnel shows how far a lucky score strays.",
            True,
        ),
        Option(
            "People are better than the optimal attacker",
            "Nobody is: the likelihood ratio is optimal (Neyman and Pearson).",
        ),
    ),
    remember="The attacker meter is the highest long-run share of right guesses about a fair coin, whatever else the "
    "guesser knows.",
    onward=(AUDIT, "Privacy audit: what an attacker learns", lambda v: Study(rho=v)),
)
