"""Laws of symmetric noise matrices: what is drawn, and what is publicly known about it.

A draw is a unit draw times the scale, so with one seed the picture only melts while epsilon moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov import checks

SHAPES = ("upper-triangle", "isotropic", "free-trace", "laplace")


@dataclass(frozen=True)
class NoiseLaw:
    """Law of a symmetric d x d noise block, with an anchored extra row for the mean when ``joint``.

    scale: sigma (Gaussian) or b (Laplace), in the unit of the noisy matrix; 0 means no noise.

    upper-triangle  entries on and above the diagonal i.i.d. N(0, sigma^2): the shape in all five papers.
    isotropic       the same density in every direction of Frobenius norm 1: off-diagonal variance sigma^2/2.
                    Same sensitivity, so a free gain over upper-triangle.
    free-trace      isotropic, with the component along the identity shrunk by sqrt(d + 1). The squared
                    Mahalanobis length of a replace-one difference G = xx' - yy' becomes ||G||_F^2 + (tr G)^2,
                    which is convex in (|x|^2, |y|^2) and equals 2 at its largest vertex (1,1), just as
                    ||G||_F^2 alone: the trace gets more accurate by a factor of about d at no privacy cost.
    laplace         entries on and above the diagonal i.i.d. Laplace(b).

    joint: the last row and column carry the mean. Their noise has the off-diagonal law of the shape; the
    corner is a public constant and gets none, unless ``corner`` says that it is a count that must be hidden.
    """

    shape: str
    scale: float
    dimension: int
    joint: bool = False
    corner: bool = False

    def __post_init__(self) -> None:
        checks.one_of("shape", self.shape, SHAPES)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One noise matrix, symmetric, of size d (or d + 1 when joint)."""
        d = self.dimension
        if self.shape in ("isotropic", "free-trace"):
            a = rng.standard_normal((d, d))
            block = (a + a.T) / 2
            if self.shape == "free-trace":
                small = rng.standard_normal() / np.sqrt(d * (d + 1))
                block[np.diag_indices(d)] += small - np.trace(block) / d
        else:
            entries = rng.standard_normal if self.shape == "upper-triangle" else _laplace(rng)
            upper = np.triu(entries((d, d)))
            block = upper + np.triu(upper, 1).T
        if not self.joint:
            return self.scale * block
        whole = np.zeros((d + 1, d + 1))
        whole[:d, :d] = block
        edge = _laplace(rng)(d) if self.shape == "laplace" else rng.standard_normal(d)
        whole[:d, d] = whole[d, :d] = edge * (self.edge_std / self.std_of_one_draw)
        if self.corner:
            whole[d, d] = _laplace(rng)(1)[0] if self.shape == "laplace" else rng.standard_normal()
        return self.scale * whole

    @property
    def std_of_one_draw(self) -> float:
        return np.sqrt(2.0) if self.shape == "laplace" else 1.0

    @property
    def edge_std(self) -> float:
        """Standard deviation of an off-diagonal entry at scale 1."""
        return {"upper-triangle": 1.0, "laplace": np.sqrt(2.0)}.get(self.shape, np.sqrt(0.5))

    @property
    def off_diagonal_std(self) -> float:
        """Standard deviation of the noise on one off-diagonal entry."""
        return float(self.scale * self.edge_std)

    @property
    def diagonal_std(self) -> float:
        """Standard deviation of the noise on one diagonal entry."""
        d = self.dimension
        if self.shape == "free-trace":
            return float(self.scale * np.sqrt(1 - 1 / d + 1 / (d * (d + 1))))
        return float(self.scale * self.std_of_one_draw)

    @property
    def edge(self) -> float:
        """Where the noise spectrum ends for large d (semicircle): 2 sqrt(d) off-diagonal deviations."""
        size = self.dimension + self.joint
        return 2 * float(np.sqrt(size)) * self.off_diagonal_std


def _laplace(rng: np.random.Generator):
    return lambda size: rng.laplace(size=size)
