"""The answer to a question measured on its rows: releases of the named method take the place of the stored number.

Every level has the same rows and noise (common random numbers), so the smallest level that is enough is found by
steps and interpolation from the stored one.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

import numpy as np
from scipy.special import stdtrit

from privcov.advice.ask import CLOSE, ENDS, SURE, Reply, reply_at, rounded_level
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.metrics.errors import error
from privcov.parameters import build
from privcov.privacy import Guarantee, with_level
from privcov.releasing.run import run_method

SECONDS = 2.5  # for the releases of one answer, about
FEWEST, MOST = 5, 100  # releases behind a number
SURELY = 10  # before it is judged from them that they are enough
CELLS = 20_000_000  # of all tables together, which a page keeps while the level moves
SHARE = 0.15  # of the seconds, for one level of a search
FLAT = 1.02  # errors up to so many times the smallest are as near to one that is out of reach
POINTS = 13  # levels of a curve
APART = 1.3  # times as large or small is a level of a curve beside the answer's, at least
STEP, SHARP = 1.5, 1.02  # ratio of two levels of a search: first, and last


def measured(
    reply: Reply,
    rows: Callable[[int], Dataset],
    *,
    seed: int = 0,
    releases: int = 0,
    draws: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Reply:
    """Return the reply with its method's own error, or with the smallest level at which that is small enough.

    ``rows`` returns fresh rows of a replicate, or always the same table. Errors are relative, to the truth where it is
    known, else to the sample. ``releases`` on ``draws`` tables make a number; 0 for as many as a sure mean needs and
    `SECONDS` permit. ValueError for rows that the method refuses, and where ``stop`` ends it.
    """
    runs = _Runs(reply, rows, seed, releases, draws, stop)
    level, least = (reply.level, False) if reply.wanted is None else _smallest(runs, reply.level, reply.wanted)
    there = reply_at(dataclasses.replace(reply.advice.question, guarantee=runs.at(level)), reply.wanted)
    found = runs.errors(level)
    return dataclasses.replace(
        there,
        line=next(line for line in there.advice.ranking if line.key == reply.line.key),
        reached=reply.wanted is None or float(found.mean()) <= reply.wanted,
        error=float(found.mean()),
        spread=float(found.std(ddof=1)),
        standard_error=_standard_error(found, len(runs.tables)),
        least=least,
        releases=len(found),
        draws=len(runs.tables),
    )


def curve_of(
    reply: Reply, rows: Callable[[int], Dataset], *, seed: int = 0, stop: Callable[[], bool] = lambda: False
) -> tuple[tuple[float, float], ...]:
    """Return (level, mean error) of ten releases at levels of the kind, whatever the level of the reply is."""
    runs = _Runs(reply, rows, seed, SURELY, 0, stop)
    return tuple((level, runs.mean(level)) for level in np.geomspace(*ENDS[reply.guarantee.kind], POINTS).tolist())


def with_curve(reply: Reply, curve: tuple[tuple[float, float], ...]) -> Reply:
    """Return the reply with a curve through its own error."""
    far = [point for point in curve if not 1 / APART < point[0] / reply.level < APART]
    return dataclasses.replace(reply, curve=tuple(sorted([*far, (reply.level, reply.error)])))


class _Runs:
    """Releases of one method at any level; their number is what the first level has time for, unless it is given."""

    def __init__(
        self, reply: Reply, rows: Callable[[int], Dataset], seed: int, releases: int, draws: int, stop: Callable
    ) -> None:
        self.guarantee, self.rows, self.seed, self.stop = reply.guarantee, rows, seed, stop
        self.method = build(METHODS.get(reply.line.key).cls, f"Method {reply.line.key!r}", {})
        self.seconds = SECONDS if reply.wanted is None else SHARE * SECONDS
        self.releases, self.draws = releases, draws
        self.tables: list[Dataset] = []
        self.seen: dict[float, np.ndarray] = {}

    def at(self, level: float) -> Guarantee:
        """Return the guarantee at a level."""
        return with_level(self.guarantee, level)

    def one(self, level: float, replicate: int) -> float:
        """Return the error of one release."""
        if self.stop():
            raise ValueError("Stopped.")
        data = self.tables[replicate % len(self.tables)]
        rel = run_method(self.method, data, self.at(level), seed=self.seed, repeat=replicate)
        return error(rel, data, relative=True, against="sample" if data.truth is None else "truth")

    def errors(self, level: float) -> np.ndarray:
        """Return the errors of all releases at a level."""
        if level in self.seen:
            return self.seen[level]
        found: list[float] = []
        begun, drawing = time.monotonic(), 0.0
        while len(found) < (self.releases or MOST):
            late = time.monotonic() - begun > self.seconds
            if not self.releases and len(found) >= FEWEST and (late or self.enough(np.array(found))):
                break
            if not self.seen and (len(self.tables) < self.draws if self.draws else self.room(drawing)):
                before = time.monotonic()
                self.tables.append(self.rows(len(self.tables)))
                drawing += time.monotonic() - before
            found.append(self.one(level, len(found)))
        self.releases = self.releases or len(found)
        self.seen[level] = np.array(found)
        return self.seen[level]

    def room(self, drawing: float) -> bool:
        """Return whether one more table may be drawn after so many seconds of drawing."""
        cells = self.tables[0].n * self.tables[0].d if self.tables else 0
        return drawing <= self.seconds / 2 and cells * (len(self.tables) + 1) <= CELLS

    def enough(self, errors: np.ndarray) -> bool:
        """Return whether the mean is sure, or as sure as these tables can make it."""
        if len(errors) < SURELY:
            return False
        tables, goal = len(self.tables), SURE / 2 * errors.mean()
        if _standard_error(errors, tables) <= goal or self.room(0.0) or len(errors) < 2 * tables:
            return _standard_error(errors, tables) <= goal
        noise = errors - np.array([errors[k::tables].mean() for k in range(tables)])[np.arange(len(errors)) % tables]
        return bool(math.hypot(*noise) / math.sqrt(len(errors) - tables) <= goal / 2 * math.sqrt(len(errors)))

    def mean(self, level: float) -> float:
        """Return the mean error at a level."""
        return float(self.errors(level).mean())


def _standard_error(errors: np.ndarray, tables: int) -> float:
    """Return the standard error of the mean of releases that took the tables in turn.

    That over tables is larger by Student's factor: of two means that happen to agree nothing is sure.
    """
    alone = errors.std(ddof=1) / math.sqrt(len(errors))
    means = [errors[k::tables].mean() for k in range(tables)]
    if tables < 2:
        return float(alone)
    factor = stdtrit(tables - 1, 0.975) / stdtrit(np.inf, 0.975)
    return float(max(alone, factor * np.std(means, ddof=1) / math.sqrt(tables)))


def _smallest(runs: _Runs, start: float, wanted: float) -> tuple[float, bool]:
    """Return the smallest level that is enough, and whether it is the smallest of all; the best where none is."""
    low, high = ENDS[runs.guarantee.kind]
    at = float(np.clip(start, low, high))
    if runs.mean(at) <= wanted:
        while at > low and runs.mean(max(low, at / STEP)) <= wanted:
            at = max(low, at / STEP)
        if at == low:
            return low, True
        below, above = max(low, at / STEP), at
    else:
        while at < high and runs.mean(min(high, STEP * at)) > wanted:
            at = min(high, STEP * at)
        if at == high:
            best = min(map(runs.mean, runs.seen))
            return min(level for level in runs.seen if runs.mean(level) <= FLAT * best), False
        below, above = at, min(high, STEP * at)
    while above / below > SHARP and runs.mean(above) < CLOSE * wanted:
        # Errors are about a power of the level between two near ones.
        fall = math.log(runs.mean(below) / wanted) / math.log(runs.mean(below) / runs.mean(above))
        middle = below * (above / below) ** float(np.clip(fall, 0.1, 0.9))
        below, above = (below, middle) if runs.mean(middle) <= wanted else (middle, above)
    return rounded_level(above), False
