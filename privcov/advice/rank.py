"""Measured answers, ranked by the worst ratio to the best answer, with ties where the cells do not separate them.

A method is recommended when it beats the trivial answers by a tenth, and by more than the Monte-Carlo error, and is
nowhere beaten by the zero matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from privcov.advice.evidence import Answer, Evidence, Point
from privcov.estimators.base import METHODS

SURE = 2.5  # standard errors: with six replicates a side, a difference beyond this is no accident at about 97 %
WORTH = 0.9  # an error above nine tenths of the trivial answer's is as good as that, whatever the Monte-Carlo error
TIE = 0.95  # worst ratios within five per cent are a tie, whatever the Monte-Carlo error
FLOOR = 0.01  # errors below one per cent count as one per cent in a ratio: no choice depends on what lies below
TRIVIAL = ("zero", "diagonal")


@dataclass(frozen=True)
class Line:
    """One answer of the ranking.

    error, se: in the structure where it does worst against the best answer there (``where``). worst: that ratio, >= 1
    (errors below `FLOOR` count as that).
    to_zero, to_diagonal, to_nonprivate: its error over theirs there, NaN where there is none. wins: structures in which
    it clearly beats every trivial answer. harms: those in which zero beats it; then it is never
    recommended. trivial: it is one of the trivial answers. answers: its error in every structure.
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
    """A ranking and what it recommends.

    lines: best first. pick: a method, or "" for none. ties: methods that are as good as the pick, up to the Monte-Carlo
    error.
    """

    pick: str
    trivial: str
    ties: tuple[str, ...]
    lines: tuple[Line, ...]


def judge(evidence: Evidence, cells: Iterable[tuple[str, Point]], allowed: set[str]) -> Judged:
    """Rank what was measured in every cell by the worst ratio to the best answer of the cell."""
    at = {structure: evidence.at(structure, point) for structure, point in cells}
    kept = {s: {k: a for k, a in answers.items() if k in allowed or k in TRIVIAL} for s, answers in at.items()}
    everywhere = set.intersection(*(set(answers) for answers in kept.values()))
    lines = sorted(
        (_line(key, {s: kept[s] for s in kept}, at) for key in everywhere), key=lambda x: (x.worst, _plainness(x.key))
    )
    trivial = next(x for x in lines if x.trivial)
    safe = [x for x in lines if not x.trivial and not x.harms]
    ties = [x for x in safe if not _better(safe[0], x, TIE)]
    beating = [x for x in ties if _better(x, trivial, WORTH)]
    if not beating or beating[0] is not safe[0]:
        return Judged("", trivial.key, (), tuple(lines))
    pick = min(beating, key=lambda x: _plainness(x.key))
    return Judged(pick.key, trivial.key, tuple(x.key for x in ties if x is not pick), tuple(lines))


def _line(key: str, kept: dict[str, dict[str, Answer]], at: dict[str, dict[str, Answer]]) -> Line:
    """Return the line of one answer."""
    ratios = {}
    for structure, answers in kept.items():
        best = min(a.error for a in answers.values())
        ratios[structure] = max(answers[key].error, FLOOR) / max(best, FLOOR)
    where = max(ratios, key=ratios.__getitem__)
    answer = kept[where][key]

    def over(other: str) -> float:
        answers = at[where].get(other)
        return answer.error / answers.error if answers is not None and answers.error > 1e-9 else math.nan

    rivals = {s: [answers[t] for t in TRIVIAL if t in answers] for s, answers in kept.items()}
    wins = tuple(s for s in kept if key not in TRIVIAL and all(_beats(kept[s][key], r, WORTH) for r in rivals[s]))
    harms = tuple(s for s, answers in kept.items() if _beats(answers["zero"], answers[key]))
    label = METHODS.get(key).label if key != "zero" else "Zero"
    return Line(
        key, label, answer.error, answer.se, where, ratios[where],
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
