"""Gaussian generators that start from the precision matrix: models of Su et al. 2019 and of Wang et al. 2018.

Theta depends on the parameters and the seed only; Sigma is its inverse, and the graph has a link wherever Theta is not
zero off the diagonal. Row bound and rows as in `gaussian`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core.parameters import parameter
from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES
from privcov.data_sources.gaussian import COLUMNS, ROWS, Gaussian, toeplitz
from privcov.tables.dataset import Truth

_W_COLUMNS = 10_000


class PrecisionModel(Gaussian):
    """Base of the models: a subclass gives Theta, symmetric and positive definite."""

    def theta(self, seed: int) -> np.ndarray:
        """Return the precision matrix, symmetric and positive definite; random parts come from the seed alone."""
        raise NotImplementedError

    def truth(self, seed: int) -> Truth:
        """Return covariance, precision and graph."""
        theta = self.theta(seed)
        sigma = np.linalg.inv(theta)
        return Truth((sigma + sigma.T) / 2, theta, (theta != 0) & ~np.eye(self.d, dtype=bool))


@SOURCES.add(
    key="precision-wishart",
    label="Dense graph without structure",
    group="Simulated",
    order=36,
    summary="Theta = W W' / 10,000 with standard normal W: near the identity, but every pair is weakly linked.",
    reference="Su et al. 2019, Section 5.1, Model 1 (p = 100 and n = 100, 200, 400 in its Table 1).",
)
@dataclass(frozen=True)
class PrecisionWishart(PrecisionModel):
    """Theta = W W' / 10,000, W d x 10,000 standard normal, drawn from the seed.

    Notes
    -----
    Drawn as L L' with the Bartlett factor L of W W', which has the same distribution at a ten-thousandth of the
    numbers. All pairs are linked, so there is nothing false to find and a ROC curve has no meaning here.
    """

    n: int = parameter(2_000, **ROWS)
    d: int = parameter(20, **COLUMNS)

    def theta(self, seed: int) -> np.ndarray:
        """Draw Theta from the seed."""
        rng = stream(seed, "truth", self.card.key, self.d)
        factor = np.tril(rng.standard_normal((self.d, self.d)), -1)
        np.fill_diagonal(factor, np.sqrt(rng.chisquare(_W_COLUMNS - np.arange(self.d))))
        return factor @ factor.T / _W_COLUMNS


@SOURCES.add(
    key="precision-full",
    label="Full graph: all pairs alike",
    group="Simulated",
    order=38,
    summary="A precision matrix with 1 on the diagonal and 1/2 everywhere else: every pair is linked equally.",
    reference="Su et al. 2019, Section 5.1, Model 2 (p = 100 and n = 100, 200, 400 in its Tables 1 and 2).",
)
@dataclass(frozen=True)
class PrecisionFull(PrecisionModel):
    """Theta_ii = 1, Theta_ij = 1/2; eigenvalues 1/2 and (d + 1)/2. All pairs are linked: no ROC curve."""

    n: int = parameter(2_000, **ROWS)
    d: int = parameter(20, **COLUMNS)

    def theta(self, seed: int) -> np.ndarray:
        """Return Theta."""
        return np.full((self.d, self.d), 0.5) + 0.5 * np.eye(self.d)


@SOURCES.add(
    key="precision-ar2",
    label="AR(2) graph",
    group="Simulated",
    order=40,
    summary="A sparse precision matrix whose graph links variables at distance one and two.",
    reference="Su et al. 2019, Section 5.1, Model 3 (n = 2000 and p = 20 in its Figure 1). "
    "The printed diagonal 0 must be 1 (0 is indefinite).",
)
@dataclass(frozen=True)
class PrecisionAR2(PrecisionModel):
    """Theta has 1, 1/2, 1/4 at distances 0, 1, 2.

    Notes
    -----
    Differs from the paper, which prints 0 on the diagonal: such a matrix has trace 0, so a negative eigenvalue, and is
    no precision matrix. With 1, as in its Models 2 and 4, the eigenvalues lie in (1/4, 5/2): the symbol
    1 + cos t + cos(2t) / 2 is smallest, 1/4, at cos t = -1/2, and largest, 5/2, at t = 0.
    """

    n: int = parameter(2_000, **ROWS)
    d: int = parameter(20, **COLUMNS)

    def theta(self, seed: int) -> np.ndarray:
        """Return Theta."""
        row = np.zeros(self.d)
        row[:3] = (1.0, 0.5, 0.25)[: self.d]
        return toeplitz(row)


@SOURCES.add(
    key="precision-random",
    label="Random graph",
    group="Simulated",
    order=42,
    summary="Each pair is linked with probability 0.1, all links alike; the condition number is the number of columns.",
    reference="Su et al. 2019, Section 5.1, Model 4, after Cai, Liu and Luo (2011) (n = 2000 and p = 20 in its "
    "Figure 1).",
)
@dataclass(frozen=True)
class PrecisionRandom(PrecisionModel):
    """Theta = I + A / alpha, where A has 1/2 at each pair with probability 0.1.

    alpha makes the condition number of A + alpha I equal to d, and the division gives the unit diagonal. Where no pair
    is linked (small d) no alpha gives that condition number, and Theta is the identity.
    """

    n: int = parameter(2_000, **ROWS)
    d: int = parameter(20, **COLUMNS)

    def theta(self, seed: int) -> np.ndarray:
        """Draw Theta from the seed."""
        rng = stream(seed, "truth", self.card.key, self.d)
        upper = np.triu(0.5 * (rng.random((self.d, self.d)) < 0.1), 1)
        links = upper + upper.T
        if not links.any():
            return np.eye(self.d)
        low, *_, high = np.linalg.eigvalsh(links)
        # (high + alpha) / (low + alpha) = d
        return np.eye(self.d) + links * ((self.d - 1) / (high - self.d * low))


# What the slides of Wang et al. 2018 leave out, chosen once here: neighbours per variable on average, the distribution
# of the linked entries (uniform on [WEAK, STRONG] with a random sign), and the smallest eigenvalue before the unit
# diagonal.
NEIGHBOURS, WEAK, STRONG, SMALLEST = 2.0, 0.5, 1.0, 0.5


@SOURCES.add(
    key="sparse-inverse",
    label="Sparse inverse covariance",
    group="Simulated",
    order=44,
    summary="Two neighbours per variable on average; n = r d rows, which is a guess at the r of Wang et al. 2018.",
    reference="Wang et al. 2018, slides, Tables 1 and 2 (r = 0.5, 1, 1.5). They print neither n, d nor the "
    "distribution of the matrix, nor a meaning of r: its Laplace errors halve when r doubles and the noise is "
    "2d/(n epsilon), so n grows with r.",
)
@dataclass(frozen=True)
class SparseInverse(PrecisionModel):
    """Theta = A + alpha I scaled to unit diagonal, where A is a random sparse matrix.

    A links each pair with probability 2/(d - 1), entries uniform on +-[1/2, 1], and alpha makes the smallest eigenvalue
    1/2 before scaling. Everything but "sparse" is our choice: the paper prints none of it. Rows: n = r d, at least one.
    """

    r: float = parameter(
        1.0,
        "Rows per column r",
        low=0.1,
        high=200.0,
        log=True,
        help="n = r d, our guess: Wang et al. 2018 never says what its r is.",
        ends=("more noise", "less noise"),
        reference="Wang et al. 2018, slides, Tables 1 and 2: r = 0.5, 1 and 1.5.",
    )
    d: int = parameter(100, **COLUMNS)

    @property
    def n(self) -> int:  # type: ignore[override] # follows from r and d here; elsewhere a field
        """The number of rows: r times d."""
        return max(1, round(self.r * self.d))

    def theta(self, seed: int) -> np.ndarray:
        """Draw Theta from the seed."""
        rng = stream(seed, "truth", self.card.key, self.d)
        shape = (self.d, self.d)
        linked = rng.random(shape) < NEIGHBOURS / max(self.d - 1, 1)
        values = linked * rng.uniform(WEAK, STRONG, shape) * rng.choice((-1.0, 1.0), shape)
        upper = np.triu(values, 1)
        links = upper + upper.T
        alpha = SMALLEST - float(np.linalg.eigvalsh(links)[0])
        return np.eye(self.d) + links / alpha
