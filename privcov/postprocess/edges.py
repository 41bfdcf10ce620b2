"""Edge, no edge, or undecided: what the known privacy noise leaves open about a graph.

The question of a pair is whether the graphical lasso at this lambda would link it on the same rows without the noise.
The released matrix is S + N with a known law of N that is symmetric about zero. Before anything is known about S, what
is known about it afterwards is S + N - N', N' of that law (a flat prior; for a single entry the shares below are then
the confidence levels of the one-sided test that inverts |s_ij| > lambda). So copies are drawn around the released
matrix, each is repaired and solved like the release, and the share of copies that link the pair says how sure the
answer is. Copies carry the noise twice, which makes the answer more cautious where the noise bends the spectrum.

Sampling noise is not part of it: an edge that is decided here is one of these rows, and whether it is one of the
population is asked by adding a draw of the sampling noise to ``noise_draw``. Free: only the release is read. The answer
is about each pair by itself; among many pairs some of the "edge" answers are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov import checks
from privcov.postprocess.glasso import solve_path
from privcov.postprocess.repair import repair_for_lasso

EDGE, UNDECIDED, NO_EDGE = 1, 0, -1
FEWEST = 20  # below, a share of 95 % is hardly a number of copies


@dataclass(frozen=True, eq=False)
class EdgeStates:
    """state: d x d int8, 1 edge, 0 undecided, -1 no edge; symmetric, diagonal -1. share: of the copies that link it.

    copies: how many copies had an answer at this lambda; the others had no solution or no variance left.
    """

    state: np.ndarray
    share: np.ndarray
    copies: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """(edges, undecided, no edges), over pairs."""
        upper = self.state[np.triu_indices(len(self.state), 1)]
        edges, undecided, none = (int((upper == kind).sum()) for kind in (EDGE, UNDECIDED, NO_EDGE))
        return edges, undecided, none


def edge_states(
    matrix: np.ndarray,
    noise_draw: Callable[[np.random.Generator], np.ndarray],
    lam: float,
    *,
    rng: np.random.Generator,
    copies: int = 60,
    level: float = 0.95,
    repair: str = "psd",
    floor: float = 0.01,
) -> EdgeStates:
    """Which pairs are decided at this lambda, given the law of the noise.

    matrix: d x d, the noisy matrix before its repair. noise_draw: rng -> d x d, a fresh draw of what the noise did to
    it, in the same units as matrix and ``lam``. copies: at least 20. level: in (0.5, 1); a pair linked in at least this
    share of the copies is an edge, in at most 1 - level no edge. repair, floor: as for the release.
    A copy without an answer links nothing and separates nothing: it counts against both, so where many fail everything
    is undecided.
    """
    matrix = checks.square("matrix", matrix)
    checks.positive("lam", lam)
    copies = checks.whole("copies", copies, FEWEST)
    level = checks.strictly_between("level", level, 0.5, 1.0)
    linked, separate, solved = np.zeros(matrix.shape), np.zeros(matrix.shape), 0
    for _ in range(copies):
        copy = matrix + noise_draw(rng)
        if np.trace(copy) <= 0:
            continue
        fit = solve_path(repair_for_lasso(copy, repair, floor).matrix, [lam])[0]
        if fit.precision is None:
            continue
        solved += 1
        linked += fit.precision != 0
        separate += fit.precision == 0
    state = np.full(matrix.shape, UNDECIDED, dtype=np.int8)
    state[linked >= level * copies] = EDGE
    state[separate >= level * copies] = NO_EDGE
    share = linked / max(solved, 1)
    np.fill_diagonal(state, NO_EDGE)
    np.fill_diagonal(share, 0.0)
    return EdgeStates(state, share, solved)
