"""A row bound from noisy counts of the row norms, in bins a factor of sqrt(2) wide.

Bin k counts the rows with 2^-((k+1)/2) < |y| / R <= 2^(-k/2), k = 0 .. 23; rows beyond R count in bin 0, and rows
shorter than R / 4096 are not counted.

**Sensitivity.** A row is in one bin or in none. Replacing a row lowers one count by 1 and raises one by 1, or moves
less: l1 norm 2, l2 norm sqrt(2), attained by two rows of different bins. A row more or less moves one count: 1 and 1.
The width of the bins plays no part. The rows of a person with weights that add up to at most 1 move the counts by a
vector of l1 norm, and so of l2 norm, at most 1: the bounds are the same.

**The guarantee of the whole.** The second moment under a bound b of one's choice has the sensitivity of moment.py in
units of b^2, for every b > 0. So for every value of the noisy counts the second measurement keeps its share, and the
two shares add up (adaptive composition): rho = rho_1 + rho_2, mu^2 = mu_1^2 + mu_2^2, epsilon = epsilon_1 + epsilon_2.

**The choice for a covariance.** b = R 2^(-k/2) shortens the rows of the bins before k. Shortening a row from l to b
takes l^2 - b^2 of its square out of the sum, and the noise falls with b^2. In units of R^2, k minimises
    3/2 sum_(m<k) c_m (2^-(m + 1/2) - 2^-k)  +  2^-k N,
N a fixed part of n E|W|_F at b = R, W the noise without anchors: 1/2 of Wishart noise, 1/(2 sqrt(2)) of Gaussian
(shrinkage, which follows, removes most of W; tuned on simulated rows). k is at most the last bin whose count is
visible, above t = 3 standard deviations s of its noise (5 for Laplace noise, whose tails are longer): in 97 of 100
searches no bin is visible by chance. The m bins before the last one whose counts are not visible hold together their
noisy sum, in the proportions of their counts, where the sum exceeds 2 s sqrt(m); else they may hold the rows that are
not accounted for, but at most s / 10 each. Where the visible bins hold less than half of the rows, or half of the rows
would not be visible in one bin, R stays.

**The choice for a graph.** A graph is the same for a covariance and a multiple of it. Rows that are shortened to one
length keep their directions, which is enough for elliptical rows, and the noise falls with b^2. So b is f times r, the
median norm by the visible counts: f = 1.3 where q < 1/2, 1 where q < 2, 0.85 where q < 6, else 0.65, with q = n t^2 and
t the noise of an entry in units of a variance at b = 1.3 r: the noise against the sampling error there. As n E|W|_F is
d times the noise of an entry about, q = (1.3^2 n E|W|_F)^2 / n: public where n is. Tuned on simulated rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import BudgetShare, Event, PureDP
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import rounded_up
from privcov.measurements.noise_theory.anchor import COVARIANCE
from privcov.tables.dataset import Dataset

BINS = 24
GRAPH = "graph"
SEARCHES = (COVARIANCE, GRAPH)  # what a row bound is searched for
SEARCH_SHARE = 0.05  # of the guarantee
_WIDE, _SHORTER, _SHORTEST = 1.3, ((0.5, 1.3), (2.0, 1.0), (6.0, 0.85)), 0.65  # f by q, for a graph


@dataclass(frozen=True)
class RowBoundSearch:
    """What a search for a row bound published: noisy counts of the rows per bin, and how often R^2 was halved.

    steps: the number of steps of a count that make one row.
    """

    counts: tuple[float, ...]
    halvings: int
    event: Event
    steps: int = 1

    @property
    def factor(self) -> float:
        """The new row bound, in units of the declared one."""
        return 2.0 ** (-self.halvings / 2)

    @property
    def kept_square(self) -> float:
        """Share of the sum of all squares that shortened rows keep, by the visible counts; 1 where R stays."""
        std = self.event.scale * (math.sqrt(2) if self.event.mechanism == "laplace" else 1.0)
        counts = np.asarray(self.counts, dtype=np.float64)
        counts = np.where(counts > visible(std, laplace=self.event.mechanism == "laplace"), counts, 0.0)
        squares = 2.0 ** -(np.arange(BINS) + 0.5)
        if not self.halvings or not counts.any():
            return 1.0
        return float(counts @ np.minimum(squares, 2.0**-self.halvings)) / float(counts @ squares)

    def longer(self, rows: float) -> str:
        """Return the share of the rows that the new bound shortens, with two standard deviations of its noise."""
        part = math.fsum(self.counts[: self.halvings]) / self.steps / max(rows, 1.0)
        std = self.event.scale * (math.sqrt(2) if self.event.mechanism == "laplace" else 1.0)
        doubt = 2 * std * math.sqrt(self.halvings) / self.steps / max(rows, 1.0)
        return f"{100 * min(max(part, 0.0), 1.0):.1f} % \u00b1 {100 * doubt:.1f} % of the rows"


def exact_histogram(dataset: Dataset) -> np.ndarray:
    """Return the counts per bin: NOT private. They are kept with the data set."""

    def compute() -> np.ndarray:
        norms = row_norms(dataset) / dataset.row_bound
        with np.errstate(divide="ignore"):
            k = np.clip(np.floor(-2 * np.log2(norms)), 0, BINS)  # a zero row falls beyond the last bin
        return np.bincount(k.astype(int), minlength=BINS + 1)[:BINS].astype(float)

    return dataset.cache.once(("norm histogram", dataset.row_bound), compute)


def visible(std: float, *, laplace: bool) -> float:
    """Return the smallest count at which a bin is visible, given the standard deviation of its noise."""
    return (5.0 if laplace else 3.0) * std


def halvings(
    counts: Sequence[float] | np.ndarray, std: float, n: float | None, noise: float, *, laplace: bool, search_for: str
) -> int:
    """Return k, so that b = R 2^(-k/2), from the noisy counts: post-processing.

    std: of the noise on a count. n: number of rows, None where it is not public. noise: N of the docstring above.
    """
    counts, threshold = np.asarray(counts, dtype=np.float64), visible(std, laplace=laplace)
    rows = max(float(counts.sum()), 1.0) if n is None else n
    is_visible = counts > threshold
    visible_rows = float(counts[is_visible].sum())
    if not is_visible.any() or visible_rows < rows / 2 or rows / 2 < threshold:
        return 0
    if search_for == GRAPH:
        return _halvings_for_graph(
            np.where(is_visible, counts, 0.0), rows, noise * (2 if laplace else 2 * math.sqrt(2))
        )
    last = int(np.flatnonzero(is_visible)[-1])
    filled = _fill_hidden_bins(counts[:last], ~is_visible[:last], rows - visible_rows, std)
    candidates = np.arange(last + 1)
    losses = [float(filled[:k] @ (2.0 ** -(candidates[:k] + 0.5) - 2.0**-k)) for k in candidates]
    return int(np.argmin(1.5 * np.array(losses) + noise * 2.0**-candidates))


def _halvings_for_graph(counts: np.ndarray, rows: float, norm: float) -> int:
    """Return k of the choice for a graph; norm: n E|W|_F at b = R."""
    below = np.cumsum(counts) - counts
    half = counts.sum() / 2
    k = int(np.flatnonzero(below <= half)[-1])
    while not counts[k]:
        k -= 1
    median = 2.0 ** -((k + (half - below[k]) / counts[k]) / 2)
    q = (_WIDE**2 * norm) ** 2 / rows
    short = next((f for most, f in _SHORTER if q < most), _SHORTEST)
    return min(max(round(-2 * math.log2(short * median)), 0), BINS - 1)


def _fill_hidden_bins(counts: np.ndarray, hidden: np.ndarray, unaccounted: float, std: float) -> np.ndarray:
    """Return the counts with those of the hidden bins replaced: by their noisy sum where it is clear, else by a bound.

    unaccounted: number of rows that the visible bins do not hold. std: of the noise on a count.
    """
    filled, number = counts.copy(), int(hidden.sum())
    if not number:
        return filled
    together, positive = float(counts[hidden].sum()), np.maximum(counts[hidden], 0.0)
    if together > 2 * std * math.sqrt(number):
        filled[hidden] = together * positive / positive.sum()
    else:
        filled[hidden] = min(max(unaccounted, 0.0) / number, std / 10)
    return filled


def noise_in_rows(share: BudgetShare, d: int) -> float:
    """Return N of the docstring above for a measurement under this share; it is public before anything is drawn."""
    if isinstance(share, PureDP):  # the Frobenius norm of Wishart-difference noise is about sqrt(2) (d + 1) sqrt(d) C n
        return math.sqrt(2) * (d + 1) * math.sqrt(d) / share.epsilon / 2
    return accounting.gaussian_scale(share, math.sqrt(2)) * math.sqrt(d * (d + 1)) / 2 / 2


def _scale(share: BudgetShare, relation: str) -> tuple[float, float]:
    pure = isinstance(share, PureDP)
    delta = rounded_up(math.sqrt((4 if pure else 2) if relation == "replace-one" else 1), 1, 1)
    return delta, (accounting.laplace_scale if pure else accounting.gaussian_scale)(share, delta)


def norm_noise(share: BudgetShare, relation: str) -> float:
    """Return the standard deviation of the noise on one count: public before anything is measured."""
    return _scale(share, relation)[1] * (math.sqrt(2) if isinstance(share, PureDP) else 1.0)


def measure_norms(
    dataset: Dataset, share: BudgetShare, *, rng: np.random.Generator, relation: str
) -> tuple[np.ndarray, float, Event]:
    """Return the counts of row norms, with noise.

    Guarantee: the share, under the named relation. Spends: the whole share. Source: own proof, in the docstring of the
    module.
    """
    pure = isinstance(share, PureDP)
    delta, scale = _scale(share, relation)
    noise = rng.laplace(size=BINS) if pure else rng.standard_normal(BINS)
    event = Event(
        share="norms",
        statistic="row norms counted in bins",
        mechanism="laplace" if pure else "gaussian",
        norm="l1 norm" if pure else "l2 norm",
        sensitivity=delta,
        scale=scale,
        proof="privcov/measurements/norm_histogram.py",
        unit="a count of rows",
    )
    return exact_histogram(dataset) + scale * noise, norm_noise(share, relation), event


def search_row_bound(
    dataset: Dataset, share: BudgetShare, rest: BudgetShare, *, search_for: str, rng: np.random.Generator, relation: str
) -> tuple[Dataset, RowBoundSearch]:
    """Return the rows under the row bound that noisy counts suggest; ``rest`` is the share of the matrix.

    Guarantee: the share, under the named relation. Spends: the whole share. Source: own proof, in the docstring of the
    module.
    """
    counts, std, event = measure_norms(dataset, share, rng=rng, relation=relation)
    n = None if relation == "add-remove" else dataset.n
    noise, laplace = noise_in_rows(rest, dataset.d), isinstance(share, PureDP)
    k = halvings(counts, std, n, noise, laplace=laplace, search_for=search_for)
    search = RowBoundSearch(tuple(counts.tolist()), k, event)
    return dataset.with_row_bound(dataset.row_bound * search.factor) if k else dataset, search
