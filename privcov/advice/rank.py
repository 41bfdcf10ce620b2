"""Measured answers, ranked by the worst ratio to the best answer, with ties where the cells do not separate them.

The first of the ranking is recommended when it is a method that beats the trivial answers by a tenth, and by more than
the Monte-Carlo error, and is nowhere beaten by the zero matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from privcov.advice.evidence import Answer
from privcov.estimators.base import METHODS

SURE = 2.5  # standard errors: with six replicates a side, a difference beyond this is no accident at about 97 %
WORTH = 0.9  # an error above nine tenths of the trivial answer's is as good as that, whatever the Monte-Carlo error
TIE = 0.95  # worst ratios within five per cent are a tie, whatever the Monte-Carlo error
FLOOR = 0.01  # errors below one per cent count as one per cent in a ratio: no choice depends on what lies below
TRIVIAL = ("zero", "diagonal")
AUTO = ("auto-cov", "auto-precision")


@dataclass(frozen=True)
class Line:
    """One answer of the ranking.

    ``error`` and ``se`` are in the structure ``where`` the ratio to the best answer is largest; ``worst`` is that
    ratio, >= 1 (errors below `FLOOR` count as that). ``to_zero`` and the like are its error over theirs there, or NaN.
    It clearly beats every trivial answer in the structures ``wins``; zero beats it in ``harms``, and then it is never
    recommended.
    """

    key: str
    label: str
    error: float
    se: float
    where: str
    worst: float
    to_zero: float
    to_diagonal: float
    to_nonprivate: float
    wins: tuple[str, ...]
    harms: tuple[str, ...]
    trivial: bool
    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Judged:
    """A ranking, best first, its pick (a method, or "") and the methods that tie with it up to Monte-Carlo error."""

    pick: str
    trivial: str
    ties: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, eq=False)
class Ruled:
    """The rule applied to many questions at once; arrays (answer, question) or (question,).

    order: answers from first to last. worst: largest ratio to the best answer over the structures, inf where an answer
    is missing. where: the structure of that ratio. harms: the zero matrix beats it in some structure. trivial: the best
    trivial answer. worth: whether the first answer is a method that clearly beats it.
    """

    order: np.ndarray
    worst: np.ndarray
    where: np.ndarray
    harms: np.ndarray
    trivial: np.ndarray
    worth: np.ndarray


def plainest_first(keys: Iterable[str]) -> list[str]:
    """Return trivial answers, then methods in the order of the gallery: what stands first where all else is equal."""
    return sorted(keys, key=_plainness)


def rule(keys: Sequence[str], errors: np.ndarray, ses: np.ndarray) -> Ruled:
    """Apply the rule to errors and their standard errors, (structure, answer, question).

    First comes the answer with the smallest worst ratio to the best answer over the structures, so with one structure
    that with the smallest error. Of several structures, whatever the zero matrix beats in one of them comes last. Auto
    comes before any method that is better by less than five per cent, so that advice does not change with noise.
    """
    best = np.maximum(np.nanmin(errors, axis=1, keepdims=True), FLOOR)
    ratios = np.maximum(errors, FLOOR) / best
    ratios = np.where(np.isfinite(errors).all(axis=0), ratios, np.inf)
    worst, where = ratios.max(axis=0), ratios.argmax(axis=0)
    harms = np.any((errors > 1) & (errors - 1 > SURE * ses), axis=0)
    place = np.broadcast_to(np.arange(len(keys))[:, None], worst.shape)
    last = harms & (len(errors) > 1)  # with one structure the error says the same
    apart, auto = np.array([key not in TRIVIAL for key in keys]), np.array([[key in AUTO] for key in keys])
    after = (place, errors.max(axis=0), worst, last, np.isinf(worst))
    order = np.lexsort(after, axis=0)
    best = np.where(apart[order[0]], worst.min(axis=0), 0.0)
    order = np.lexsort((*after, ~(auto & ~harms & (TIE * worst <= best))), axis=0)
    trivial = np.where(apart[:, None], np.inf, worst).argmin(axis=0)
    each = np.arange(worst.shape[1])
    first, there = order[0], where[trivial, each]
    mine, theirs = errors[there, first, each], errors[there, trivial, each]
    sure = theirs - mine > SURE * np.hypot(ses[there, first, each], ses[there, trivial, each])
    less = worst[first, each] < WORTH * worst[trivial, each]
    worth = apart[first] & ~harms[first, each] & sure & less & (WORTH * theirs > mine)
    return Ruled(order, worst, where, harms, trivial, worth)


def judge_answers(at: Mapping[str, Mapping[str, Answer]], allowed: set[str]) -> Judged:
    """Rank the answers to a question by `rule`; ``at`` has those of each structure, trivial and non-private too."""
    kept = {s: {k: a for k, a in answers.items() if k in allowed or k in TRIVIAL} for s, answers in at.items()}
    keys = plainest_first(set.intersection(*(set(answers) for answers in kept.values())))
    errors = np.array([[[answers[k].error] for k in keys] for answers in kept.values()])
    ses = np.array([[[answers[k].se] for k in keys] for answers in kept.values()])
    ruled = rule(keys, errors, ses)
    structures = list(kept)
    lines = []
    for i in ruled.order[:, 0]:
        where = structures[ruled.where[i, 0]]
        harms = tuple(s for s, answers in kept.items() if _beats(answers["zero"], answers[keys[i]]))
        lines.append(_line(keys[i], where, float(ruled.worst[i, 0]), harms, kept, at))
    pick = lines[0]
    trivial = keys[ruled.trivial[0]]
    if not ruled.worth[0]:
        return Judged("", trivial, (), tuple(lines))
    ties = [x.key for x in lines[1:] if not x.trivial and not x.harms and not _better(pick, x, TIE)]
    return Judged(pick.key, trivial, tuple(ties), tuple(lines))


def _line(
    key: str,
    where: str,
    worst: float,
    harms: tuple[str, ...],
    kept: Mapping[str, Mapping[str, Answer]],
    at: Mapping[str, Mapping[str, Answer]],
) -> Line:
    answer = kept[where][key]

    def over(other: str) -> float:
        answers = at[where].get(other)
        return answer.error / answers.error if answers is not None and answers.error > 1e-9 else math.nan

    rivals = {s: [answers[t] for t in TRIVIAL if t in answers] for s, answers in kept.items()}
    wins = tuple(s for s in kept if key not in TRIVIAL and all(_beats(kept[s][key], r, WORTH) for r in rivals[s]))
    label = METHODS.get(key).label if key != "zero" else "Zero"
    return Line(
        key, label, answer.error, answer.se, where, worst,
        over("zero"), over("diagonal"), over("non-private"), wins, harms, key in TRIVIAL,
        {x: kept[x][key] for x in kept},
    )  # fmt: skip


def _beats(one: Answer, other: Answer, worth: float = 1.0) -> bool:
    """Return whether one answer is better than another by the factor ``worth`` and beyond the Monte-Carlo error."""
    return worth * other.error > one.error and other.error - one.error > SURE * math.hypot(one.se, other.se)


def _better(one: Line, other: Line, worth: float = 1.0) -> bool:
    """Return whether a worst ratio is smaller, and no accident: the line beats the other where the other does worst."""
    return one.worst < worth * other.worst and _beats(one.answers[other.where], other.answers[other.where], worth)


@cache
def _plainness(key: str) -> tuple:
    """Return the order of the gallery: additive noise before thresholds before spectral methods."""
    card = METHODS.get(key)
    families = list(dict.fromkeys(c.family for c in METHODS.all()))
    return (key not in TRIVIAL, families.index(card.family), card.order)
