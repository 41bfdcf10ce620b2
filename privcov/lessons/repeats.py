"""What the lessons show of graphs that noise draws, and of releasing again and again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcov import accounting
from privcov._running import release
from privcov.lessons.numbers import DELTA, SEED, made
from privcov.measurements.moment import clipped_moment
from privcov.metrics.errors import matrix_norm
from privcov.metrics.graphs import edges, noisy_matrix, without_noise_at
from privcov.privacy import ZCDP

# --- 8: graphs from noise -----------------------------------------------------------------------------------

GRAPH_RHO = 0.1
GRAPH_DATA: dict[str, Any] = {"n": 2_000, "d": 16, "rho": 0.0}
GRAPH_METHOD = "glasso-gaussian"


@dataclass(frozen=True, eq=False)
class FalseEdges:
    """Graphs (d x d bool) of columns that are independent, so every edge is false, at one lambda.

    released: from the private release. exact: from the same rows without noise. share: lambda over the smallest lambda
    that empties the released graph. pairs: how many edges there could be.
    """

    released: np.ndarray
    exact: np.ndarray
    lam: float
    share: float
    columns: tuple[str, ...]

    @property
    def pairs(self) -> int:
        """Pairs of columns."""
        d = len(self.columns)
        return d * (d - 1) // 2

    @property
    def counts(self) -> tuple[int, int]:
        """Edges of (released, exact)."""
        return int(self.released.sum()) // 2, int(self.exact.sum()) // 2


def false_edges(position: int) -> FalseEdges:
    """position: along the lambda path of the release, 0 the sparsest."""
    data = made("ar1-covariance", **GRAPH_DATA)
    rel = release(GRAPH_METHOD, data, ZCDP(GRAPH_RHO), seed=SEED)
    fit = rel.path[position]
    exact = edges(without_noise_at(rel, data, fit.lam))
    return FalseEdges(edges(fit.precision), exact, fit.lam, fit.lam / rel.path[0].lam, data.columns)


# --- 9: composition, and what a re-run costs ----------------------------------------------------------------

RUN_RHO = 0.01
RUN_DATA = {"n": 1_000, "d": 10}


@dataclass(frozen=True, eq=False)
class Rerun:
    """k releases of the same rows, averaged.

    exact: the clipped covariance that nobody may see. one, average: the first release, and the mean of all k (d x d).
    error: of the average against ``exact``, relative Frobenius; expected: its root mean square over noise draws.
    rho, epsilon: zCDP of all k together, and its exact (epsilon, DELTA); attacker: best chance of a right guess.
    """

    k: int
    exact: np.ndarray
    one: np.ndarray
    average: np.ndarray
    error: float
    expected: float
    rho: float
    epsilon: float
    attacker: float


def reruns(ks: tuple[int, ...]) -> tuple[Rerun, ...]:
    """The unrepaired Gaussian mechanism run with seeds 1, 2, ..., read after each of ``ks`` runs (ascending)."""
    data = made("ar1-covariance", **RUN_DATA)
    exact = data.row_bound**2 * clipped_moment(data, joint=0)
    size = matrix_norm(exact, "frobenius")
    total, found, first = np.zeros_like(exact), [], None
    for run in range(1, max(ks) + 1):
        rel = release("gaussian-cov", data, ZCDP(RUN_RHO), seed=SEED + run - 1, repair="none")
        first = rel if first is None else first
        total += noisy_matrix(rel)
        if run not in ks:
            continue
        average = total / run
        event, d = rel.raw.event, data.d
        deviation = data.row_bound**2 * math.hypot(
            math.sqrt(d) * rel.raw.law.diagonal_std, math.sqrt(d * (d - 1)) * rel.raw.law.off_diagonal_std
        )
        mu = math.sqrt(run) * event.sensitivity / event.scale
        found.append(
            Rerun(
                run,
                exact,
                noisy_matrix(first),
                average,
                matrix_norm(average - exact, "frobenius") / size,
                deviation / math.sqrt(run) / size,
                accounting.repeated(ZCDP(RUN_RHO), run).rho,
                accounting.epsilon_of_gaussian(DELTA, mu),
                accounting.attacker_on_events((event,) * run, ZCDP(run * RUN_RHO)),
            )
        )
    return tuple(found)
