"""Lesson ten: the class guesses which of two neighbours a release was made from, beside the optimal attacker."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import streamlit as st

from pages.lessons.pictures import put
from pages.shell import frame, show
from privcov.figures import lessons as pictures
from privcov.lessons import guess
from privcov.lessons import numbers as lessons
from privcov.lessons.guess import NAMES, Round

HUNDRED = 100
MOST = 5_000  # rounds of one game
_KEPT = 20  # games of a session


@dataclass
class Game:
    """One game: a rho and a seed. votes: of the class, by number of the round. optimal: (number, right) of all."""

    rho: float
    seed: int
    votes: dict[int, bool] = field(default_factory=dict)
    optimal: list[tuple[int, bool]] = field(default_factory=list)
    shown: Round | None = None  # the round whose truth is told
    said: int | None = None

    def next(self) -> Round:
        return guess.play(self.rho, self.seed, len(self.optimal) + 1)

    def vote(self, said: int) -> None:
        self.shown, self.said = self.next(), said
        self.votes[self.shown.number] = said == self.shown.truth
        self.optimal.append((self.shown.number, self.shown.optimal_is_right))

    def go_on(self) -> None:
        self.shown = self.said = None

    def hundred(self) -> None:
        """The class looks on."""
        self.go_on()
        for _ in range(HUNDRED):
            played = self.next()
            self.optimal.append((played.number, played.optimal_is_right))


def _game(rho: float, seed: int) -> Game:
    games = st.session_state.setdefault("lesson_games", {})
    if (rho, seed) not in games:
        if len(games) >= _KEPT:
            games.pop(next(iter(games)))
        games[rho, seed] = Game(rho, seed)
    return games[rho, seed]


@st.cache_resource(max_entries=32, show_spinner=False)
def _limit(rho: float) -> float:
    return guess.limit(rho)


def draw(rho: float, seed: int, *, full: bool) -> None:
    """The two tables' matrices, the release, the votes and the scores."""
    game, palette = _game(rho, seed), frame.palette()
    now = game.shown or game.next()
    first, second = guess.exact_moments()
    show.tag(
        "Simulated",
        f"round {now.number}, {rho:g}-zCDP; A and B differ in the mean squares of x1 and x2",
    )
    three = [("A, exact", first), ("B, exact", second), (f"released in round {now.number}", now.release)]
    put(pictures.panels(three, float(abs(first).max()), palette), "three-guess", full)
    _buttons(game)
    st.markdown(_told(game, now))
    right = list(game.votes.items())
    interval = guess.score_interval(sum(game.votes.values()), len(right)) if right else None
    series = [("the class", right), ("optimal attacker", game.optimal)]
    put(pictures.running_scores(series, _limit(rho), interval, palette), "curve-scores", full)


def scores(rho: float, seed: int) -> None:
    """The scores in words, and the limit."""
    game, limit = _game(rho, seed), _limit(rho)
    rounds, hits = len(game.votes), sum(game.votes.values())
    lines = []
    if rounds:
        low, high = guess.score_interval(hits, rounds)
        same = sum(hit for number, hit in game.optimal if number in game.votes)
        lines.append(f"- **Class:** {hits} of {rounds} right; 95% binomial interval {low:.0%} to {high:.0%}")
        lines.append(f"- **Optimal attacker** on the same releases: {same} of {rounds}")
    if len(game.optimal) > rounds:
        best = sum(hit for _, hit in game.optimal)
        lines.append(f"- On all {len(game.optimal):,} releases: {best:,} right, {best / len(game.optimal):.1%}")
    lines.append(
        f"- **Limit** for anybody: {limit:.1%} (epsilon = {lessons.epsilon(rho):.2g}, delta = {lessons.DELTA:g})"
    )
    st.markdown("\n".join(lines))
    show.attacker_meter(limit, frame.palette())


def _buttons(game: Game) -> None:
    told, full_up = game.shown is not None, len(game.optimal) + HUNDRED > MOST
    with st.container(horizontal=True, key="lesson-votes"):
        for i, name in enumerate(NAMES):
            st.button(
                f"It was {name}",
                key=f"lesson-vote-{name}",
                on_click=game.vote,
                args=(i,),
                disabled=told or len(game.optimal) >= MOST,
                shortcut=name,
                type="primary",
                help="The truth of this round is out: go to the next release." if told else None,
            )
        st.button(
            "Next release",
            key="lesson-next-release",
            on_click=game.go_on,
            disabled=not told,
            shortcut="N",
            help=None if told else "Vote first.",
        )
        st.button(
            f"Attacker plays {HUNDRED}",
            key="lesson-hundred",
            on_click=game.hundred,
            disabled=full_up,
            help=f"A game has at most {MOST:,} rounds: start again."
            if full_up
            else "The optimal one, by the likelihood ratio.",
        )
        if game.optimal:
            st.button(
                "New game", key="lesson-new-game", on_click=_new_game, help="Other coins and other noise, in the link."
            )


def _new_game() -> None:
    frame.change(lambda s: dataclasses.replace(s, seed=s.seed + 1))


def _told(game: Game, now: Round) -> str:
    if game.shown is None:
        return "Which table is the release closer to? Vote, then the truth is told."
    favoured = NAMES[now.optimal]
    return (
        f"It was **{NAMES[now.truth]}**. You said {NAMES[game.said]}, "
        + ("right." if game.said == now.truth else "wrong.")
        + f" The optimal attacker said {favoured}: this release is {_odds(abs(now.nats))} times as likely from "
        f"{favoured}."
    )


def _odds(nats: float) -> str:
    return f"{math.exp(nats):.2f}" if nats < 2 else f"{math.exp(nats):,.0f}" if nats < 20 else "over 100 million"
