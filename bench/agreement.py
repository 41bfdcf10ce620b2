"""Section "agreement" of the bench: the measured answer of Trade-offs beside a hundred other releases, and its time.

Random questions on simulated rows of every structure that a source has, and on bundled tables: n from 200 to 200,000, d
from 2 to 200 (at most 10 million cells), every kind of guarantee. The releases beside have other rows and noise.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from functools import cache

import numpy as np

import privcov
from privcov.advice import ask, live
from privcov.advice.answer import Question
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.privacy import ApproxDP, PureDP, ZCDP

QUESTIONS, SEED, BESIDE = 40, 98_000, 100
CELLS = 10_000_000
SIMULATED = {
    "ar1-covariance": "fading",
    "sparse-covariance": "independent",
    "banded-covariance": "banded",
    "zipf-norms": "low-rank",
}
TABLES = ("wine", "example")


@dataclasses.dataclass(frozen=True)
class Case:
    """One question: a stored answer, and the rows of a replicate."""

    stored: ask.Reply
    rows: object


def cases() -> Iterator[Case]:
    """Random questions of both forms."""
    rng = np.random.default_rng(SEED)
    for number in range(QUESTIONS):
        level = float(np.exp(rng.uniform(np.log(0.1), np.log(5))))
        guarantee = [ZCDP(level / 5), ApproxDP(level, 1e-6), PureDP(level)][number % 3]
        if number % 8 == 7:
            data = privcov.source(TABLES[number // 8 % len(TABLES)], random_state=0)
            question = Question(data.n, data.d, guarantee, mean_known=data.mean_is_zero)
            rows = lambda _, data=data: data  # noqa: E731
        else:
            key = list(SIMULATED)[number % len(SIMULATED)]
            d = round(np.exp(rng.uniform(np.log(2), np.log(200))))
            n = round(np.exp(rng.uniform(np.log(200), np.log(min(200_000, CELLS / d)))))
            source = SOURCES.get(key).cls(n=n, d=d)
            question = Question(n, d, guarantee, structure=SIMULATED[key], mean_known=True)
            rows = lambda r, source=source: make_dataset(source, seed=SEED, repeat=r)  # noqa: E731
        far = ask.how_far(question)
        yield Case(far if number % 2 else ask.which_level(question, 1.3 * far.error), rows)


@cache
def found() -> tuple[list[float], list[float], list[float], list[bool]]:
    """By question: how far stored and measured error are from other releases, seconds, whether "about" is said."""
    stored, measured, seconds, about = [], [], [], []
    for case in cases():
        begun = time.perf_counter()
        reply = live.measured(case.stored, case.rows)
        seconds.append(time.perf_counter() - begun)
        there = dataclasses.replace(ask.how_far(reply.advice.question), line=reply.line)
        fresh = reply.draws > 1
        count = BESIDE if seconds[-1] < 4 * live.SECONDS else 10
        beside = live.measured(
            there, (lambda r, rows=case.rows: rows(1_000 + r)) if fresh else case.rows, seed=1,
            releases=count, draws=min(count, 20) if fresh else 1,
        )  # fmt: skip
        stored.append(abs(there.error / beside.error - 1))
        measured.append(abs(reply.error / beside.error - 1))
        about.append("about" in ask.sentence(reply))
    return stored, measured, seconds, about


def agreement() -> Iterator[tuple]:
    """Rows (what, found, goal)."""

    def off() -> str:
        stored, measured, _, about = found()
        within = np.mean((np.array(measured) <= 0.05) | about)
        return (
            f"{np.median(measured) / 0.05:.2f} x five per cent (median; {within:.0%} of {len(measured)} within it "
            "or said with 'about', "
            f"90 % of them within {np.quantile(measured, 0.9):.1%}; stored: median {np.median(stored):.1%})"
        )

    def late() -> str:
        seconds = found()[2]
        return f"{np.quantile(seconds, 0.9) / 3:.2f} x 3 s (nine in ten; median {np.median(seconds):.1f} s)"

    yield "measured answers over other releases", off, "<= 1"
    yield "time of an answer", late, "<= 1"
