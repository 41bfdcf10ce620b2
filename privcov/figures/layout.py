"""Where the nodes of a network stand: computed once from a reference graph, so that nothing moves with lambda."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

MOST = 40  # nodes; beyond this a circle is easier to read than a tangle
_STEPS = 300
_STRETCH = 1.4  # how much the flatter direction may be drawn out to fill the square
_BEND = 0.6  # distances to this power: a long chain folds up and fills the picture


def positions(reference: np.ndarray | None, d: int) -> np.ndarray:
    """d x 2 in the unit square [-1, 1]^2, the same for the same graph.

    reference: d x d bool. Small graphs with edges stand where the distances in the picture are like the numbers of
    steps between nodes (stress majorisation, Gansner, Koren and North 2004, from a circle); others on a circle,
    clockwise from the top in column order.
    """
    if reference is None:
        return _placed(b"", d)
    return _placed(np.ascontiguousarray(reference, dtype=bool).tobytes(), d)


@lru_cache(maxsize=64)
def _placed(graph: bytes, d: int) -> np.ndarray:
    """`positions` of a graph given as bytes, b"" for none: kept, because the slider asks for it at every step."""
    found = _place(np.frombuffer(graph, dtype=bool).reshape(d, d) if graph else None, d)
    found.flags.writeable = False
    return found


def _place(reference: np.ndarray | None, d: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(d) / d
    circle = np.column_stack([np.sin(angle), np.cos(angle)])
    if reference is None or d > MOST or d < 3 or not reference.any():
        return circle
    far = steps_between(reference)
    known = np.isfinite(far)
    # Parts that no edge joins stand a little further apart than any two nodes of one part.
    far[~known] = far[known].max() + 1
    wanted = far**_BEND
    placed = _settle(circle * wanted.max() / 2, wanted)
    placed -= (placed.max(axis=0) + placed.min(axis=0)) / 2
    # The widest direction lies flat, and the first node is on the left: a graph has no orientation of its own.
    _, axes = np.linalg.eigh(placed.T @ placed)
    placed = placed @ axes[:, ::-1]
    placed *= np.where(placed[0] > 0, -1.0, 1.0)
    placed -= (placed.max(axis=0) + placed.min(axis=0)) / 2
    reach = np.maximum(np.abs(placed).max(axis=0), 1e-9)
    return placed / np.maximum(reach, reach.max() / _STRETCH)


def steps_between(graph: np.ndarray) -> np.ndarray:
    """d x d: number of edges on the shortest way between two nodes, inf where there is none."""
    d = len(graph)
    far = np.where(np.eye(d, dtype=bool), 0.0, np.where(graph, 1.0, np.inf))
    for via in range(d):
        np.minimum(far, far[:, via, None] + far[None, via], out=far)
    return far


def _settle(start: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Stress majorisation with weights 1 / wanted^2: every step lowers the stress, and no random number is used."""
    d = len(start)
    off = ~np.eye(d, dtype=bool)
    weight = np.zeros((d, d))
    weight[off] = wanted[off] ** -2
    pinned = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    placed = start
    for _ in range(_STEPS):
        gap = np.linalg.norm(placed[:, None] - placed[None], axis=2)
        pull = np.where(off, -weight * wanted / np.maximum(gap, 1e-9), 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        placed = pinned @ (pull @ placed)
    return placed
