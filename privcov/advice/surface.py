"""The evidence between its cells: errors over n, d and the strength of the noise, for many questions at once.

Errors of matrices are interpolated on their logarithms, those of graphs as they are, linearly in the logarithms of n, d
and strength. At a cell that gives the cell; between cells it never leaves their range, and falls with the strength
wherever they do.

Beyond the cells the noise over the signal, 1 / (n strength), is kept where n can make up for it: few people under a
strong guarantee err like fewer people under a weaker one, because there noise is all of the error.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from privcov.advice.evidence import Answer, read
from privcov.advice.grid import TARGETS

SMALLEST = 1e-4  # errors below count as this on a logarithmic scale; they are no error in the table


@dataclass(frozen=True, eq=False)
class Surface:
    """The errors (structure, n, d, strength, answer) of one target under one kind of guarantee, NaN if not measured.

    Where ``logarithmic``, ``values`` are logarithms and ``spreads``, the standard errors, relative to the error.
    """

    structures: tuple[str, ...]
    answers: tuple[str, ...]
    ns: np.ndarray
    ds: np.ndarray
    strengths: np.ndarray
    values: np.ndarray
    spreads: np.ndarray
    logarithmic: bool
    replicates: int

    def place(self, n: ArrayLike, d: float, strength: ArrayLike) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """Return n, d and strength within the cells that stand for the question, and how far away they are.

        The distance is a factor of at least 1, the largest of those in n, d and noise over signal. A smaller n under
        the same noise over signal is no distance: it can only overstate the error of sampling.
        """
        n, strength = np.broadcast_arrays(np.asarray(n, float), np.asarray(strength, float))
        signal = n * strength
        here = np.clip(n, self.ns[0], self.ns[-1])
        here = np.where(signal < here * self.strengths[0], np.clip(signal / self.strengths[0], self.ns[0], here), here)
        level = np.clip(signal / here, self.strengths[0], self.strengths[-1])
        columns = float(np.clip(d, self.ds[0], self.ds[-1]))
        noise = signal / (here * level)
        apart = max(columns / d, d / columns)
        return here, columns, level, np.maximum.reduce([here / n, np.full_like(n, apart), noise, 1 / noise])

    def errors(self, structures: tuple[str, ...], n: np.ndarray, d: float, strength: np.ndarray) -> tuple:
        """Return errors and standard errors, (structure, answer, question), at n and strength as of `place`."""
        which = np.array([self.structures.index(s) for s in structures])[:, None]
        axes = [_between(self.ns, n), _between(self.ds, np.full_like(n, d)), _between(self.strengths, strength)]
        value = spread = np.zeros((1, 1, 1))
        for corner in itertools.product((0, 1), repeat=3):
            share, index = 1.0, []
            for (low, fraction), up in zip(axes, corner, strict=True):
                share = share * (fraction if up else 1 - fraction)
                index.append(low + up)
            if not np.any(share):
                continue
            weight = np.broadcast_to(share, n.shape)[..., None]
            cells = (which, *index)
            value = value + np.where(weight > 0, weight * self.values[cells], 0.0)
            spread = spread + np.where(weight > 0, weight * self.spreads[cells], 0.0)
        if self.logarithmic:
            value = np.exp(value)
            value = np.where(value <= SMALLEST * (1 + 1e-9), 0.0, value)
            spread = spread * value
        return np.moveaxis(value, 2, 1), np.moveaxis(spread, 2, 1)

    def at(self, structure: str, n: float, d: float, strength: float) -> dict[str, Answer]:
        """Return every answer to one question, the zero matrix (or the empty graph) among them."""
        here, columns, level, _ = self.place(np.full((1, 1), n), d, np.full((1, 1), strength))
        errors, spreads = self.errors((structure,), here, columns, level)
        pairs = zip(self.answers, errors[0, :, 0], spreads[0, :, 0], strict=True)
        return {key: Answer(float(error), float(se)) for key, error, se in pairs if np.isfinite(error)}


def _between(knots: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the knot below each x and the fraction of the way to the next, on logarithms."""
    low = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    fraction = np.log(x / knots[low]) / np.log(knots[low + 1] / knots[low])
    return low, np.clip(fraction, 0.0, 1.0)


@lru_cache(maxsize=16)
def surface(target: str, kind: str) -> Surface:
    """Return the evidence of a target under a kind of guarantee, ready for interpolation."""
    evidence = read(target)
    points = [p for p in evidence.points if p.kind == kind]
    ns, ds, strengths = (np.array(sorted({getattr(p, name) for p in points})) for name in ("n", "d", "strength"))
    structures = tuple(s.key for s in TARGETS[target].structures)
    measured = {key for s in structures for p in points for key in evidence.at(s, p)}
    answers = tuple(sorted(measured))
    values = np.full((len(structures), len(ns), len(ds), len(strengths), len(answers)), np.nan)
    spreads = values.copy()
    logarithmic = target != "graph"
    for (i, structure), p in itertools.product(enumerate(structures), points):
        at = i, *(int(np.searchsorted(k, v)) for k, v in ((ns, p.n), (ds, p.d), (strengths, p.strength)))
        for key, answer in evidence.at(structure, p).items():
            error = max(answer.error, SMALLEST) if logarithmic else answer.error
            values[*at, answers.index(key)] = np.log(error) if logarithmic else error
            spreads[*at, answers.index(key)] = answer.se / error if logarithmic else answer.se
    return Surface(
        structures,
        answers,
        ns.astype(float),
        ds.astype(float),
        strengths,
        values,
        spreads,
        logarithmic,
        evidence.replicates,
    )
