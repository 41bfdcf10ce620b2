"""Statistics by which an attacker may distinguish two tables from an answer, and the sets that they cut out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.attacks.bounds import ALPHA, AuditableGuarantee, binomial_high, binomial_low, level_low

_CUTS = 160


@dataclass(frozen=True, eq=False)
class Statistic:
    """A function of an answer, one number each, and meaningful thresholds that are tried beside quantiles."""

    label: str
    of: Callable[[np.ndarray], np.ndarray]
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Region:
    """The set of answers with a statistic above (or at or below) the cut, more likely on the table ``favoured``."""

    statistic: Statistic
    cut: float
    above: bool
    favoured: int

    def hits(self, answers: np.ndarray) -> int:
        """Count the answers (count x d x d) that lie in the set."""
        over = self.statistic.of(answers) > self.cut
        return int(np.count_nonzero(over if self.above else ~over))

    @property
    def words(self) -> str:
        """The set in a few words."""
        return f"{self.statistic.label} {'>' if self.above else '<='} {self.cut:.4g}"


def statistics(train: tuple[np.ndarray, np.ndarray], centres: tuple[np.ndarray, np.ndarray] | None) -> list[Statistic]:
    """Return the statistics that are tried, about ``centres`` where known, else about the means of training answers."""
    d = train[0].shape[1]
    one, two = centres or tuple(t.mean(axis=0) for t in train)
    change = one - two
    size = float(np.sum(change**2))
    if size < 1e-18:  # as for a row and its negative: nothing is known of where to look
        change, size = np.eye(d)[:, :1] * np.eye(d)[:1], 1.0
    candidates = [
        Statistic(
            "position of the answer along the change (0: second table, 1: first)",
            lambda a: np.einsum("nij,ij->n", a - two, change) / size,
            (0.0, 1.0),
        )
    ]
    upper = np.triu_indices(d)
    if d > 1:
        flat = [t[:, upper[0], upper[1]] for t in train]
        spread = sum(np.cov(f.T) for f in flat) / 2
        weights = np.linalg.lstsq(spread, change[upper], rcond=1e-9)[0]
        scale = float(weights @ change[upper])
        weights = weights / scale if scale > 0 else weights
        candidates.append(
            Statistic(
                "position along the change, entries weighted by their noise",
                lambda a: (a - two)[:, upper[0], upper[1]] @ weights,
                (0.0, 1.0),
            )
        )
    candidates.append(
        Statistic(
            "distance to the second answer less distance to the first, sum over entries",
            lambda a: (np.abs(a - two) - np.abs(a - one))[:, upper[0], upper[1]].sum(axis=1),
        )
    )
    if d > 1:
        candidates += [
            Statistic(
                "nuclear distance to the second answer less that to the first",
                lambda a: (
                    np.abs(np.linalg.eigvalsh(a - two)).sum(axis=1) - np.abs(np.linalg.eigvalsh(a - one)).sum(axis=1)
                ),
            ),
            Statistic("smallest eigenvalue of answer - first", lambda a: np.linalg.eigvalsh(a - one)[:, 0], (0.0,)),
            Statistic("smallest eigenvalue of answer - second", lambda a: np.linalg.eigvalsh(a - two)[:, 0], (0.0,)),
            Statistic("largest eigenvalue of the answer", lambda a: np.linalg.eigvalsh(a)[:, -1]),
        ]
    return candidates


def best_regions(
    train: tuple[np.ndarray, np.ndarray], candidates: list[Statistic], claim: AuditableGuarantee, alpha: float = ALPHA
) -> tuple[Region, Region, float, float]:
    """Return the best sets for the level of the claim and for delta at epsilon 0, with bounds on the training draws."""
    best: list[tuple[float, Region | None]] = [(-np.inf, None), (-np.inf, None)]
    for statistic in candidates:
        values = [np.sort(statistic.of(t)) for t in train]
        pooled = np.sort(np.concatenate(values))
        cuts = pooled[np.linspace(0, len(pooled) - 1, _CUTS).astype(int)]
        # Sets that hold almost nothing may still hold nothing of one table: look at both ends closely.
        cuts = np.unique(np.concatenate([cuts, pooled[:20], pooled[-20:], statistic.cuts]))
        below = [np.searchsorted(v, cuts, side="right") for v in values]
        for above in (True, False):
            hits = [len(v) - b if above else b for v, b in zip(values, below, strict=True)]
            low = [binomial_low(h, len(v), alpha) for h, v in zip(hits, values, strict=True)]
            high = [binomial_high(h, len(v), alpha) for h, v in zip(hits, values, strict=True)]
            for favoured in (0, 1):
                p, q = low[favoured], high[1 - favoured]
                for i, scores in enumerate((level_low(claim, p, q), p - q)):
                    top = int(np.argmax(scores))
                    if scores[top] > best[i][0] or best[i][1] is None:
                        best[i] = (float(scores[top]), Region(statistic, float(cuts[top]), above, favoured))
    (proved, for_level), (difference, for_delta) = best
    assert for_level is not None  # something is tried, and the first set of both kinds is kept
    assert for_delta is not None
    return for_level, for_delta, proved, difference
