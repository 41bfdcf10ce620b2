"""Which epsilon do I need? The smallest level (epsilon, rho or n) whose mean error meets a target.

Every level uses the same seeds (common random numbers), so a replicate's error hardly ever rises with the level and
the mean over replicates crosses the target once. A log grid brackets the crossing, bisection narrows it.

The interval inverts the pointwise 95 % t-band of the mean: it holds the levels at which the replicates do not rule out
that the expected error equals the target. Its coverage is that of Student's t interval at the one true level,
whatever the correlation between levels: 95 % for nearly normal errors (tests/sweeps/test_solve.py measures it).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from privcov import checks
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.measurements.clipping import row_norms
from privcov.metrics.errors import NORMS, REFERENCES, error, matrix_norm, reference_matrix
from privcov.parameters import build
from privcov.privacy import Guarantee, NoPrivacy
from privcov.releasing.run import run_method
from privcov.sweeps.answer import Answer
from privcov.sweeps.cells import Entry, build_entry
from privcov.sweeps.crossings import paired_interval

PER_DECADE = 2  # grid levels
RANGES = {"rho": (1e-6, 100.0), "epsilon": (1e-3, 100.0), "n": (10, 2_000_000)}
SHARP, BLUNT = 1.01, 1.03  # ratio of the last bracket: for the level itself, for the ends of its interval
_KEPT_CELLS = 40_000_000  # rows x columns of all replicates kept between levels: 320 MB; the rest is drawn again


def smallest(
    method: Entry,
    guarantee: Guarantee,
    target: float,
    *,
    source: str = "",
    source_params: dict | None = None,
    dataset: Dataset | None = None,
    lever: str = "",
    within: tuple[float, float] | None = None,
    norm: str = "frobenius",
    against: str = "truth",
    replicates: int = 20,
    seed: int = 0,
    row_bound: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Answer:
    """Return the smallest level at which the mean relative error is at most ``target``, or why there is none."""
    goal = checks.positive("target", target, "A relative error of 0.1 is 10 %.")
    search = _Search(
        method, guarantee, goal, source, source_params, dataset, lever, norm, against, replicates, seed, row_bound
    )
    low, high = within or RANGES[search.lever]
    checks.positive("within[0]", low)
    checks.in_range("within[1]", high, low, math.inf) if math.isfinite(high) else checks.number("within[1]", high)
    return search.answer(low, high, progress)


class _Search:
    """One search: its rows, and the errors measured so far, by level."""

    def __init__(
        self,
        method: Entry,
        guarantee: Guarantee,
        target: float,
        source: str,
        params: dict | None,
        dataset: Dataset | None,
        lever: str,
        norm: str,
        against: str,
        replicates: int,
        seed: int,
        row_bound: float | None,
    ) -> None:
        self.label, self.method, self.options = build_entry(method)
        self.guarantee, self.target, self.seed, self.bound = guarantee, target, seed, row_bound
        self.norm = checks.one_of("norm", norm, NORMS)
        self.against = checks.one_of("against", against, REFERENCES)
        self.replicates = checks.whole("replicates", replicates, 2, remedy="One replicate has no interval.")
        own = next((name for name in ("rho", "epsilon") if hasattr(guarantee, name)), None)
        if own is None:
            raise TypeError(f"guarantee must be PureDP, ApproxDP or ZCDP, got {guarantee!r}.")
        if self.method.card.refuses(guarantee.kind):
            raise ValueError(self.method.card.refuses(guarantee.kind))
        self.lever = checks.one_of("lever", lever or own, (own, "n"), f"A {guarantee.name} guarantee has a {own}.")
        if (dataset is None) == (not source):
            raise ValueError("Give a source (fresh rows in every replicate) or a dataset (the same rows), not both.")
        self.source, self.params, self.dataset = source, dict(params or {}), dataset
        if self.lever == "n":
            has_n = source and any(s.name == "n" for s in SOURCES.get(source).parameters)
            if not has_n:
                raise ValueError("Only a simulated source can be drawn with another n; this table has the one it has.")
        self.kept: dict[tuple, Dataset] = {}
        self.seen: dict[float, np.ndarray] = {}
        self.problem = ""
        self.progress: Callable[[int, int], None] | None = None

    # --- rows and errors -------------------------------------------------------------------------------------------

    def rows(self, level: float, replicate: int) -> Dataset:
        """Return the rows of a replicate at a level."""
        if self.dataset is not None:
            bound = self.bound or self.dataset.row_bound
            return self.kept.setdefault((), self.dataset.with_row_bound(bound))
        n = int(level) if self.lever == "n" else None
        if (n, replicate) in self.kept:
            return self.kept[n, replicate]
        given = self.params if n is None else {**self.params, "n": n}
        source = build(SOURCES.get(self.source).cls, f"Source {self.source!r}", given)
        drawn = make_dataset(source, seed=self.seed, repeat=replicate, row_bound=self.bound)
        if n is None and sum(d.rows.size for d in self.kept.values()) + drawn.rows.size <= _KEPT_CELLS:
            self.kept[n, replicate] = drawn
        return drawn

    def one(self, rows: Dataset, guarantee: Guarantee, replicate: int) -> float:
        """Return the relative error of one run; inf where it gave no matrix."""
        try:
            rel = run_method(self.method, rows, guarantee, seed=self.seed, repeat=replicate, **self.options)
            value = error(rel, rows, self.norm, relative=True, against=self.against)
        except ValueError as problem:
            self.problem = self.problem or str(problem)
            return math.inf  # a matrix that is not there meets no target
        return value if math.isfinite(value) else math.inf

    def errors(self, level: float) -> np.ndarray:
        """Return the relative error of each replicate at a level."""
        if level not in self.seen:
            guarantee = self.guarantee
            if self.lever != "n":
                assert not isinstance(guarantee, NoPrivacy)  # refused at the start
                own: dict[str, Any] = {self.lever: level}
                guarantee = dataclasses.replace(guarantee, **own)
            self.seen[level] = np.array(
                [self.one(self.rows(level, r), guarantee, r) for r in range(self.replicates)], dtype=np.float64
            )
            if self.progress is not None:
                self.progress(len(self.seen), self.about)
        return self.seen[level]

    def band(self, level: float, side: int) -> float:
        """Return the mean (side 0), or the end of its 95 % t interval (side -1 or 1)."""
        values = self.errors(level)
        if side == 0 or not np.isfinite(values).all():
            return float(values.mean())
        return paired_interval(values)[0 if side < 0 else 1]

    # --- the search ------------------------------------------------------------------------------------------------

    def answer(self, low: float, high: float, progress: Callable[[int, int], None] | None) -> Answer:
        """Search the levels from low to high."""
        grid, self.progress = grid_of(low, high, whole=self.lever == "n"), progress
        self.about = len(grid) + 12
        for level in grid:
            self.errors(level)
            # More rows cost more time, and every larger n meets the target too.
            if self.lever == "n" and self.band(level, 1) <= self.target:
                break
        last = max(self.seen)
        level, above = self.cross(0, SHARP)
        ends = (None, None)
        if level is not None:
            ends = self.cross(-1, BLUNT)[1], self.cross(1, BLUNT)[0]
        elif min(self.band(x, -1) for x in self.seen) <= self.target:
            ends = self.cross(-1, BLUNT)[1], None
        rows = self.rows(last, 0)
        parts = self.parts(last)
        tops = [x for x in self.seen if level is not None and x > level * SHARP and self.band(x, 0) > self.target]
        curve = pd.DataFrame(
            [(x, self.band(x, 0), self.band(x, -1), self.band(x, 1)) for x in sorted(self.seen)],
            columns=["level", "mean", "low", "high"],
        )
        return Answer(
            lever=self.lever,
            level=level,
            interval=ends,
            below=level is not None and above is None,
            target=self.target,
            method=self.label,
            title=self.method.card.label,
            norm=self.norm,
            against=self.against,
            guarantee=self.guarantee,
            n=rows.n,
            d=rows.d,
            searched=(grid[0], grid[-1]),
            replicates=self.replicates,
            fresh_rows=self.dataset is None,
            curve=curve,
            parts=parts,
            rises_again=min(tops, default=None),
            problem=self.problem if np.isinf(self.errors(last)).any() else "",
        )

    def cross(self, side: int, ratio: float) -> tuple[float | None, float | None]:
        """Return (first level that meets the target, last level below it that does not), ``ratio`` apart or less."""
        known = sorted(self.seen)
        at = next((i for i, x in enumerate(known) if self.band(x, side) <= self.target), None)
        if at is None:
            return None, None
        if at == 0:
            return known[0], None
        low, high = known[at - 1], known[at]
        while high / low > ratio:
            middle = _rounded(math.sqrt(low * high), whole=self.lever == "n")
            if not low < middle < high:
                break
            if self.band(middle, side) <= self.target:
                high = middle
            else:
                low = middle
        return high, low

    # --- what is left without noise --------------------------------------------------------------------------------

    def parts(self, level: float) -> dict[str, float]:
        """Return mean relative errors that no guarantee can remove, at the largest level that was tried.

        sampling: the sample itself against the truth (0 against anything else). diagonal: the sample's diagonal.
        clipped: the method without noise; unclipped: without noise and with a bound that no row exceeds.
        """
        replicates = []
        for r in range(self.replicates if self.dataset is None else 1):
            rows = self.rows(level, r)
            target = "precision" if self.method.card.target == "precision" else "covariance"
            part = {"clipped": self.one(rows, NoPrivacy(), r)}
            longest = max(float(row_norms(rows).max()) * (1 + 1e-9), rows.row_bound)
            part["unclipped"] = self.one(rows.with_row_bound(longest), NoPrivacy(), r)
            if self.against == "truth":
                truth, sample = (reference_matrix(rows, target, name) for name in ("truth", "sample"))
                part["sampling"] = _share(sample - truth, truth, self.norm)
            if target == "covariance" and self.against != "nonprivate":
                goal, sample = (reference_matrix(rows, target, name) for name in (self.against, "sample"))
                part["diagonal"] = _share(np.diag(np.diag(sample)) - goal, goal, self.norm)
            replicates.append(part)
        return {name: float(np.mean([p[name] for p in replicates])) for name in replicates[0]}


def _share(difference: np.ndarray, goal: np.ndarray, norm: str) -> float:
    """Return the norm of the difference over that of the goal."""
    size = matrix_norm(goal, norm)
    return matrix_norm(difference, norm) / size if size > 0 else math.inf


def _rounded(level: float, *, whole: bool) -> float:
    """Round to four significant digits, so that the printed level is the one that was run."""
    level = float(f"{level:.4g}")
    return round(level) if whole else level


def grid_of(low: float, high: float, *, whole: bool) -> list:
    """Return levels from low to high, about PER_DECADE to the decade."""
    steps = max(1, math.ceil(PER_DECADE * math.log10(high / low))) if high > low else 0
    inner = [_rounded(low * (high / low) ** (k / steps), whole=whole) for k in range(1, steps)]
    return sorted({low, high, *(x for x in inner if low < x < high)})
