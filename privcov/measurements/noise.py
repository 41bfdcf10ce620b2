"""Distributions of symmetric noise matrices: a seed fixes the pattern of a draw, and the scale multiplies it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.core import checks

FREE_GROUPS = "free-groups"
SHAPES = (
    "upper-triangle",
    "isotropic",
    "free-trace",
    FREE_GROUPS,
    "laplace",
)  # independent, up to sums of the diagonal
WISHART = ("wishart-difference", "wishart")
COUPLED = "coupled-wishart"


@dataclass(frozen=True)
class NoiseDistribution:
    """Distribution of a symmetric d x d noise block, with extra rows: one anchor for the mean, or one per class.

    upper-triangle  entries on and above the diagonal i.i.d. N(0, sigma^2).
    isotropic       the same density in every direction of Frobenius norm 1: off-diagonal variance sigma^2/2, at the
                    sensitivity of upper-triangle.
    free-trace      isotropic, with the component along the identity shrunk by sqrt(d + 1). The squared Mahalanobis
                    length of a replace-one difference G = xx' - yy' becomes ||G||_F^2 + (tr G)^2, which is convex in
                    (|x|^2, |y|^2) and equals 2 at its largest vertex (1,1), just as ||G||_F^2 alone.
    free-groups     isotropic, with the sum of the diagonal over every group of columns known as if it had been measured
                    once more, with variance sigma^2 / weight; free_groups.py has the weights that cost nothing. One
                    group of weight 1 is "free-trace"; a group of one column has the variance sigma^2 / (1 + weight).
    laplace         entries on and above the diagonal i.i.d. Laplace(b).
    wishart-difference  A - B, independent W_p(p + 1, C I); p the size of the whole matrix, the mean included.
    wishart         W_p(m, C I) less its mean m C I, m = freedom + p - 1.
    coupled-wishart  A - B, (A, B) of density proportional to exp(-max(tr A, tr B) / t), see exact/wishart.py, as it is
                    read from a private release, p = dimension + measured. With one anchor and n public the corner is
                    known, so the noise on the trace of the block is that of tr(A - B).

    scale: sigma, b, 2C or t, in the unit of the noisy matrix; 0 is no noise. dimension: d. freedom: m - p + 1 of
    "wishart". measured: anchors of the matrix that "coupled-wishart" noise was drawn for. groups, weights: the number
    of the group of every column, from 0 on, and the weight of every group, above 0, for "free-groups".

    n_anchors: 0, 1 (the mean), or the number of classes (their sums). Anchors come last, with off-diagonal noise. Where
    anchors meet, the off-diagonal entries are zero in every data set and get no noise. The diagonal entries hold counts
    and get diagonal noise; where n is public, the mean of this noise is subtracted, because the counts add up to n.
    corner: whether the sum of the counts must be hidden too.
    """

    shape: str
    scale: float
    dimension: int
    n_anchors: int = 0
    corner: bool = False
    freedom: float = 0.0
    measured: int = 0
    groups: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        checks.one_of("shape", self.shape, (*SHAPES, *WISHART, COUPLED))
        columns = self.dimension if self.shape == FREE_GROUPS else 0
        if len(self.groups) != columns or sorted(set(self.groups)) != [*range(len(self.weights))]:
            raise ValueError(
                f"groups must number the group of each of {columns} columns from 0 on, with one weight for every "
                f"group, got groups={self.groups!r} and weights={self.weights!r}: only free-groups noise has them."
            )
        for weight in self.weights:
            checks.positive("A weight", weight)

    def to_dict(self) -> dict:
        """Return the fields by name."""
        fields = dataclasses.asdict(self)
        if self.shape != FREE_GROUPS:  # no other has any
            del fields["groups"], fields["weights"]
        return fields

    @classmethod
    def from_dict(cls, data: dict) -> NoiseDistribution:
        """Read what `to_dict` gives."""
        fields = dict(data)
        for name in fields.keys() & {"groups", "weights"}:
            fields[name] = tuple(fields[name])
        return cls(**fields)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw one noise matrix, symmetric, of size d + n_anchors."""
        d = self.dimension
        if self.shape in WISHART:
            return self.scale * self._wishart(rng)
        if self.shape == COUPLED:
            return self.scale * self._coupled(rng)
        if self.shape in ("isotropic", "free-trace", FREE_GROUPS):
            a = rng.standard_normal((d, d))
            block = (a + a.T) / 2
            if self.shape == "free-trace":
                small = rng.standard_normal() / np.sqrt(d * (d + 1))
                block[np.diag_indices(d)] += small - np.trace(block) / d
            elif self.shape == FREE_GROUPS:
                block[np.diag_indices(d)] += self.group_correction(np.diag(block))
        else:
            entries = rng.standard_normal if self.shape == "upper-triangle" else _laplace(rng)
            upper = np.triu(entries((d, d)))
            block = upper + np.triu(upper, 1).T
        if not self.n_anchors:
            return self.scale * block
        k = int(self.n_anchors)
        draw = _laplace(rng) if self.shape == "laplace" else rng.standard_normal
        whole = np.zeros((d + k, d + k))
        whole[:d, :d] = block
        whole[:d, d:] = draw((d, k)) * (self.unit_off_diagonal_std / self.std_of_one_draw)
        whole[d:, :d] = whole[:d, d:].T
        if self.corner or k > 1:
            whole[d:, d:] = self._corner(draw(k))
        return self.scale * whole

    def _group_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (group of every column, number of columns of every group, weight of every group)."""
        groups = np.array(self.groups, dtype=np.int64)
        return groups, np.bincount(groups).astype(np.float64), np.array(self.weights, dtype=np.float64)

    def group_correction(self, diagonal: np.ndarray) -> np.ndarray:
        """Return what takes the sum of independent N(0, 1) over every group to its variance, m / (1 + m weight)."""
        groups, sizes, weights = self._group_arrays()
        factors = (1 / np.sqrt(1 + sizes * weights) - 1) / sizes
        return (np.bincount(groups, diagonal) * factors)[groups]

    def _corner(self, diagonal: np.ndarray) -> np.ndarray:
        """Return the noise where the anchors meet: no off-diagonal, and a public sum stays what it is."""
        return np.diag(diagonal if self.corner else diagonal - diagonal.mean())

    def _wishart(self, rng: np.random.Generator) -> np.ndarray:
        """Draw Wishart noise at scale 1, so C = 1/2, and drop what the corner does not need."""
        d, p = self.dimension, self.size
        if self.shape == "wishart-difference":
            plus, minus = rng.standard_normal((2, p, p + 1))
            whole = (plus @ plus.T - minus @ minus.T) / 2
        else:
            # Bartlett: the Cholesky factor has chi-distributed numbers on the diagonal. Drawn as quantiles, they move
            # smoothly with the degrees of freedom, and so does the noise with epsilon.
            from scipy.special import gammaincinv

            factor = np.tril(rng.standard_normal((p, p)), -1)
            half = (self.degrees_of_freedom - np.arange(p)) / 2
            factor[np.diag_indices(p)] = np.sqrt(2 * gammaincinv(half, rng.random(p)))
            whole = (factor @ factor.T - self.degrees_of_freedom * np.eye(p)) / 2
        if self.n_anchors:
            whole[d:, d:] = self._corner(np.diag(whole)[d:])
        return whole

    def _coupled(self, rng: np.random.Generator) -> np.ndarray:
        """Draw coupled noise at t = 1.

        The larger trace is Gamma(2D), the smaller its product with a Beta(D, 1) number, D = p(p + 1)/2, and the
        matrices of trace one are Wishart matrices over their traces.
        """
        d, k = self.dimension, self.measured
        p = d + k
        freedom = p * (p + 1) / 2
        plus, minus = (a @ a.T for a in rng.standard_normal((2, p, p + 1)))
        larger = rng.gamma(2 * freedom)
        traces = rng.permutation([larger, larger * rng.random() ** (1 / freedom)])
        whole = traces[0] * plus / np.trace(plus) - traces[1] * minus / np.trace(minus)
        whole = np.triu(whole) + np.triu(whole, 1).T
        if k == 1:
            whole[np.diag_indices(d)] += whole[d, d] / d
        read = np.zeros((self.size, self.size))
        read[:d, :d] = whole[:d, :d]
        edge = whole[:d, d:] if self.n_anchors > 1 else whole[:d, d:].sum(axis=1, keepdims=True) / np.sqrt(k)
        read[:d, d:], read[d:, :d] = edge, edge.T
        if self.n_anchors > 1:
            read[d:, d:] = self._corner(np.diag(whole)[d:])
        return read

    @property
    def size(self) -> int:
        """Number of rows of the noise matrix."""
        return self.dimension + self.n_anchors

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom m of one Wishart matrix."""
        return self.size + 1 if self.shape == "wishart-difference" else self.freedom + self.size - 1

    @property
    def removed_mean(self) -> float:
        """Mean m C that additive Wishart noise would add to the diagonal; it is public and already subtracted."""
        return self.scale / 2 * self.degrees_of_freedom if self.shape == "wishart" else 0.0

    @property
    def std_of_one_draw(self) -> float:
        """Standard deviation at scale 1 of one drawn number: sqrt(2) for Laplace noise, else 1."""
        return np.sqrt(2.0) if self.shape == "laplace" else 1.0

    @property
    def unit_off_diagonal_std(self) -> float:
        """Standard deviation of an off-diagonal entry at scale 1."""
        if self.shape == COUPLED:
            return float(np.sqrt(coupled_moments(self.dimension + self.measured)[0] / 2))
        if self.shape in WISHART:
            return float(np.sqrt(self.degrees_of_freedom * (2 if self.shape == "wishart-difference" else 1)) / 2)
        stds: dict[str, float] = {"upper-triangle": 1.0, "laplace": np.sqrt(2.0)}
        return stds[self.shape] if self.shape in stds else np.sqrt(0.5)

    @property
    def off_diagonal_std(self) -> float:
        """Standard deviation of the noise on one off-diagonal entry."""
        return float(self.scale * self.unit_off_diagonal_std)

    @property
    def diagonal_std_or_stds(self) -> float | np.ndarray:
        """`diagonal_std` where all diagonal entries have the same noise, else `diagonal_stds`."""
        stds = self.diagonal_stds
        return self.diagonal_std if (stds == stds[0]).all() else stds

    @property
    def diagonal_std(self) -> float:
        """Standard deviation of the noise on one diagonal entry; the largest, where those of groups differ."""
        d = self.dimension
        if self.shape == FREE_GROUPS:
            return float(self.diagonal_stds.max())
        if self.shape == "free-trace":
            return float(self.scale * np.sqrt(1 - 1 / d + 1 / (d * (d + 1))))
        if self.shape in WISHART:
            return float(np.sqrt(2) * self.off_diagonal_std)
        if self.shape == COUPLED:
            flat, trace = coupled_moments(d + self.measured)
            shift = 1 / d if self.measured == 1 else 0.0
            return float(self.scale * np.sqrt(flat * (1 + shift**2) + trace * (1 + shift) ** 2))
        return float(self.scale * self.std_of_one_draw)

    @property
    def diagonal_stds(self) -> np.ndarray:
        """Standard deviation of the noise on every diagonal entry, length d; all equal but for groups that differ."""
        if self.shape != FREE_GROUPS:
            return np.full(self.dimension, self.diagonal_std)
        groups, sizes, weights = self._group_arrays()
        variance = 1 - weights / (1 + sizes * weights)
        return self.scale * np.sqrt(variance)[groups]

    @property
    def count_std(self) -> float:
        """Standard deviation, as drawn, of the noise on the diagonal entry of an anchor, which holds a count."""
        if self.shape == COUPLED:
            return float(self.scale * np.sqrt(sum(coupled_moments(self.dimension + self.measured))))
        one = self.unit_off_diagonal_std * np.sqrt(2) if self.shape in WISHART else self.std_of_one_draw
        return float(self.scale * one)

    def form_variance(self, form: np.ndarray) -> float:
        """Return the variance of <A, N>, the sum of the products of all entries, for the noise N and a symmetric A.

        Own derivation. Different entries are uncorrelated in every shape but two. In a group of m columns of weight w
        the diagonal has the covariance I - w / (1 + m w) 11', in units of sigma^2; "free-trace" is one group of weight
        1. For coupled noise see `coupled_moments`.
        """
        d, unit = self.dimension, self.scale**2
        a = np.asarray(form, dtype=np.float64)
        if a.shape != (self.size, self.size) or not np.array_equal(a, a.T):
            raise ValueError(f"form must be symmetric, of shape ({self.size}, {self.size}), got {a.shape}.")
        on, corner = np.diag(a)[:d], np.diag(a)[d:]
        if self.n_anchors and not self.corner:
            corner = corner - corner.mean()  # the counts add up to n
        if self.shape == COUPLED:
            return unit * self._coupled_variance(a, corner)
        off = 2 * (float(np.sum(a[:d, :d] ** 2)) - float(on @ on)) + 4 * float(np.sum(a[:d, d:] ** 2))
        one = self.unit_off_diagonal_std * np.sqrt(2) if self.shape in WISHART else self.std_of_one_draw
        variance = off * self.unit_off_diagonal_std**2 + float(on @ on + corner @ corner) * one**2
        if self.shape == "free-trace":
            variance -= float(on.sum()) ** 2 / (d + 1)
        elif self.shape == FREE_GROUPS:
            groups, sizes, weights = self._group_arrays()
            variance -= float(np.sum(np.bincount(groups, on) ** 2 * weights / (1 + sizes * weights)))
        return float(unit * variance)

    def _coupled_variance(self, a: np.ndarray, corner: np.ndarray) -> float:
        """Return the variance of <A, N> at t = 1, by the form on the whole matrix that reading makes of A."""
        d, k = self.dimension, self.measured
        whole = np.zeros((d + k, d + k))
        whole[:d, :d] = a[:d, :d]
        if k == 1:
            whole[d, d] = np.trace(a[:d, :d]) / d
        whole[:d, d:] = a[:d, d:] if self.n_anchors > 1 else a[:d, d:] / np.sqrt(k)
        whole[d:, :d] = whole[:d, d:].T
        if self.n_anchors > 1:
            whole[d:, d:] += np.diag(corner)
        flat, trace = coupled_moments(d + k)
        return flat * float(np.sum(whole**2)) + trace * float(np.trace(whole)) ** 2

    @property
    def wishart_scale(self) -> float:
        """2C of the independent Wishart difference of this size whose off-diagonal entries vary as much."""
        return float(self.off_diagonal_std * np.sqrt(2 / (self.size + 1)))

    @property
    def spectral_edge(self) -> float:
        """Upper end of the spectrum of the noise for large d.

        Semicircle: 2 sqrt(d) off-diagonal standard deviations. Additive Wishart (Marchenko-Pastur):
        C (sqrt(m) + sqrt(d))^2 - m C. Difference of two with m = d: 3.33 d C, the end of their free convolution.
        """
        if self.shape == "wishart":
            return float(self.scale / 2 * (self.size + 2 * np.sqrt(self.degrees_of_freedom * self.size)))
        if self.shape in ("wishart-difference", COUPLED):
            return float(self.wishart_scale / 2 * self.size * np.sqrt((11 + 5 * np.sqrt(5)) / 2))
        return 2 * float(np.sqrt(self.size)) * self.off_diagonal_std


def coupled_moments(p: int) -> tuple[float, float]:
    """Return (alpha, beta): <N, H> has variance alpha |H|^2 + beta (tr H)^2 for symmetric H and coupled N at t = 1.

    Own derivation. The distribution is the same in every basis, so the variance has that form. With D = p(p + 1)/2,
    a >= b the two traces: E a^2 = 2D (2D + 1), E (b/a)^2 = D / (D + 2), E b/a = D / (D + 1); a matrix of trace one has
    the mean I/p and the mean squared norm 2 (p + 1) / (p^2 + p + 2). Summed over a basis the form is
    alpha D + beta p = E |N|^2, and for H = I it is alpha p + beta p^2 = E (tr N)^2.
    """
    d = p * (p + 1) / 2
    larger, ratio, square = 2 * d * (2 * d + 1), d / (d + 1), 1 + d / (d + 2)
    norm = larger * (square * 2 * (p + 1) / (p * p + p + 2) - 2 * ratio / p)
    trace = larger * (square - 2 * ratio)
    alpha = (norm - trace / p) / (d - 1)
    return alpha, (trace - alpha * p) / p**2


def _laplace(rng: np.random.Generator) -> Callable[[int | tuple[int, ...]], np.ndarray]:
    return lambda size: rng.laplace(size=size)
