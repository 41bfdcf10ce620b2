"""Unbiased estimates from one release: mean, covariance, the law of their noise, the number of rows.

The covariance is that of the clipped population: each cell inside its public limits, each row shortened to the row
bound. It is about the measured mean, or about the public typical values where no mean was measured.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from privcov.core import checks
from privcov.measurements.exact.private_moment import NoisySum
from privcov.measurements.exact.reading import count_std, read_sum
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise_theory.noise_law import NoiseLaw, law_of, moments_of, relative_count_std
from privcov.measurements.noise_theory.tails import quantile
from privcov.postprocess.available_cases import AvailableCases, available_cases
from privcov.postprocess.binary_columns import BinaryColumns, find_binary_columns
from privcov.releases.release import Release
from privcov.tables.declared_columns import typed_units

STRONG = 0.7  # correlation of two columns of two values from which on no kurtosis stands for their law (at .7: .93)
REASONS = (
    "",
    "no mean was measured",
    "the noise is as large as the variance",
    "the noise is larger than the answer",
    "the covariance has no inverse: the noise is too large, or a column follows from others (as all levels do)",
    "the interval has no end: the noise on the column's residual is too large",
    "too few rows have both cells",
    "an eigenvalue is too close to the next one",
    "the class has too few rows for its noise",
    "the pair is tested, and no interval is known",
    "columns of two values have no interval here: leave them out, or, for whole rows and weakly related columns, give "
    "their kurtosis, 1 / (p (1 - p)) - 6 for a share p",
    "levels of one column exclude each other, so their relation is no finding",
    "the level follows from the others of its column, which stand for it",
    "the column that makes the groups has values between its two, as in shortened rows",
    "no interval is known",
    "there are fewer than 20 rows for each column",
)
(
    NO_MEAN, NO_VARIANCE, TOO_NOISY, NO_INVERSE, NO_END, TOO_FEW, TIED, SMALL_CLASS, TESTED_ONLY, TWO_VALUED,
    ONE_COLUMN, FOLLOWS, NO_GROUPS, NO_INTERVAL, FEW_ROWS,
) = range(1, len(REASONS))  # fmt: skip


class Measurement(Protocol):
    """Whatever holds the noisy whole numbers of a private measurement: a private release, or an opened bundle."""

    @property
    def measurement(self) -> NoisySum | None:
        """The noisy whole numbers."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Estimates with their intervals, in working units.

    reason_code: positions in `REASONS`, 0 where the interval is identified. p_value: where the answer comes with a test
    of zero. std: standard errors, of noise and sampling together, where the answer comes with them.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reason_code: np.ndarray
    p_value: np.ndarray | None = None
    std: np.ndarray | None = None

    @property
    def identified(self) -> np.ndarray:
        """Which entries have an interval."""
        return self.reason_code == 0

    def without_intervals(self, where: np.ndarray, why: int = TWO_VALUED) -> Intervals:
        """Return the same estimates. Those at ``where`` get the reason ``why`` in place of interval and test."""
        p = None if self.p_value is None else np.where(where, np.nan, self.p_value)
        reason = np.where(where & (self.identified | (why == ONE_COLUMN)), why, self.reason_code)
        return dataclasses.replace(self, reason_code=reason, p_value=p)


@dataclass(frozen=True, eq=False)
class UnbiasedMoments:
    """The unbiased mean and covariance of one release, in working units, and the law of their noise.

    mean: None where it was not measured. covariance: unbiased; it may have negative eigenvalues. n_rows: number of
    independent rows, or persons. It sets the sampling error. scale, origin: the public half-ranges and typical values.
    noisy_moment: the noisy moment. available: where missing cells were measured. noisy_sum: the private measurement.
    binary: which columns have two values, as a level of a category has.
    """

    columns: tuple[str, ...]
    mean: np.ndarray | None
    covariance: np.ndarray
    n_rows: float
    law: NoiseLaw
    scale: np.ndarray
    origin: np.ndarray
    noisy_moment: NoisyMoment
    available: AvailableCases | None = None
    noisy_sum: NoisySum | None = None
    binary: BinaryColumns | None = None

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def centre(self) -> np.ndarray:
        """The mean, or zeros where none was measured: the covariance is then about the typical values."""
        return np.zeros(self.d) if self.mean is None else self.mean

    @property
    def population(self) -> str:
        """What the intervals are about, in words."""
        about = "" if self.mean is not None or self.noisy_moment.centre == "zero" else ", about the typical values"
        filled = self.noisy_sum is not None and self.noisy_sum.facts.missing == "typical"
        gaps = ", a missing cell as the typical value of its column" if filled else ""
        search, search_note = self.noisy_moment.bound_search, ""
        if search is not None and search.halvings:
            weight = ", by the weight of their persons," if search.steps > 1 else ""
            longer = search.longer(self.noisy_moment.n_rows)
            search_note = f" that a search found (by its noisy counts {longer}{weight} are longer, and are shortened)"
        return f"the clipped population: cells within their limits, rows within the row bound{search_note}{gaps}{about}"

    @property
    def span(self) -> np.ndarray:
        """Distance of the two values of a column that has two; 0 for any other."""
        return np.zeros(self.d) if self.binary is None else self.binary.span

    @property
    def blocks(self) -> dict[str, tuple[int, ...]]:
        """The positions of every declared column of two values, of all levels of a category."""
        return {} if self.binary is None else dict(zip(self.binary.names, self.binary.blocks, strict=True))

    @property
    def same_column(self) -> np.ndarray:
        """Which pairs are two levels of one category, d x d."""
        block = np.arange(self.d)
        for at in self.blocks.values():
            block[list(at)] = at[0]
        return (block[:, None] == block) & ~np.eye(self.d, dtype=bool)

    @property
    def is_redundant_level(self) -> np.ndarray:
        """Which columns are the last level of a category, which follows from its others."""
        last = np.array([max(np.flatnonzero(row), default=-1) for row in self.same_column])
        return (last >= 0) & (last < np.arange(self.d))

    @property
    def unknown(self) -> np.ndarray:
        """Which columns of two values have no sampling law here, because no mean was measured."""
        return (self.span > 0) & (self.mean is None)

    @property
    def shortened(self) -> np.ndarray:
        """Which columns of two values have any value between the two, as in rows that are shortened."""
        return (self.span > 0) & ~np.asarray(self.binary is None or self.binary.unshortened)

    @property
    def exact(self) -> np.ndarray:
        """Which columns have a variance that follows from their mean."""
        return (
            np.zeros(self.d, dtype=bool)
            if self.binary is None or self.mean is None
            else (self.span > 0) & self.binary.exact
        )

    @property
    def max_square_deviation(self) -> np.ndarray:
        """Largest squared deviation from the mean of a column of two values; 0 for other columns."""
        if self.binary is None:
            return np.zeros(self.d)
        below = np.nan_to_num(self.centre) - self.binary.low
        return np.where(self.span > 0, np.maximum(below, self.span - below) ** 2, 0.0)

    @property
    def square_slope(self) -> np.ndarray:
        """The t of a column with two values, low + high - 2 mean, so (x - mean)^2 = v + t (x - mean); 0 for others.

        Its size follows from the variance, t^2 = span^2 - 4 v, and its sign from the mean.
        """
        v = np.maximum(np.nan_to_num(np.diag(self.covariance)), 0.0)
        t = np.sqrt(np.maximum(self.span**2 - 4 * v, 0.0))
        middle = 0.0 if self.binary is None else self.binary.low + self.span / 2
        return np.where(self.span > 0, np.where(np.nan_to_num(self.centre) <= middle, t, -t), 0.0)

    def for_shape(self, kurtosis: float) -> UnbiasedMoments:
        """Return the release as that of n / (1 + k) Gaussian rows, for elliptical ones of excess kurtosis 3 k.

        Answers that do not change with the scale of all columns together, as correlations given others, slopes, R
        squared and loadings, have the same sampling error (Tyler 1983). Columns of two values have these answers
        only with a kurtosis that is at least their own, and only where no two of them are strongly related. Two such
        columns are elliptical under no kurtosis (at r = .89 and shares of 3 %, the intervals of a partial correlation
        covered it in .84 of 200 releases).
        """
        if not kurtosis:
            return self
        v, two = np.nan_to_num(np.diag(self.covariance)), self.span > 0
        own = (self.span[two] ** 2 / np.maximum(v[two], 1e-300) - 6) / 3
        two &= ~self.is_redundant_level
        between = np.nan_to_num(self.covariance[np.ix_(two, two)]) ** 2 / np.maximum(np.outer(v[two], v[two]), 1e-300)
        related = np.max(between - np.diag(np.diag(between)), initial=0.0) > STRONG**2
        moments = dataclasses.replace(self, n_rows=self.n_rows / (1 + kurtosis))
        if self.binary is None or kurtosis < np.max(own, initial=0.0) or related:
            return moments
        return dataclasses.replace(
            moments, binary=dataclasses.replace(self.binary, span=0 * self.span)
        )  # categories stay

    def z(self, level: float, noise: np.ndarray, sampling: np.ndarray, excess: np.ndarray | float) -> np.ndarray:
        """Return the quantile of |error| in standard deviations, for noise of this excess kurtosis beside sampling."""
        part = noise / np.maximum(noise + sampling, 1e-300)
        return quantile(level, excess * (part * part))


def within(line: tuple[Any, Any], error: Sequence[Any], z: Any) -> tuple[Any, Any, Any]:
    """Return the ends of all x with (l_0 + l_1 x)^2 <= z^2 V(x), and whether these are ends.

    V is a quadratic, given at -1, 0 and 1; there are two ends unless x may be anything (Fieller 1954).
    """
    zero, (first, slope), square = error[1], line, z * z
    curvature, leant = (error[0] + error[2]) / 2 - zero, (error[2] - error[0]) / 2
    a, b, c = slope * slope - square * curvature, first * slope - square * leant / 2, first * first - square * zero
    bounded = a > 0
    a = np.where(bounded, a, 1.0)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    return (-b - root) / a, (-b + root) / a, bounded


def unbiased_moments(x: Release | Measurement) -> UnbiasedMoments:
    """Return what is known from a release or an opened bundle."""
    total = getattr(x, "measurement", None)
    if isinstance(total, NoisySum):
        return unbiased_moments_of_sum(total)
    if not isinstance(x, Release):
        raise TypeError(
            f"x must be a release or an opened bundle, got {type(x).__name__}. Release a table with privcov.release or "
            "release_private; open a bundle with privcov.open_bundle."
        )
    if x.noisy_moment is None:
        raise ValueError(
            f"The method {x.method!r} keeps no noisy matrix, so the law of its error is not known: use auto-cov or "
            "gaussian-cov."
        )
    noisy_moment = merge_class_anchors(x.noisy_moment)
    relative = relative_count_std(noisy_moment)
    moments = combine_moments(
        noisy_moment, relative, noisy_moment.n_rows, x.columns, np.array(x.scale), np.array(x.origin), None
    )
    two = find_binary_columns(x.kinds, typed_units(x.kinds).with_row_bound(x.row_bound)) if x.kinds else None
    return dataclasses.replace(moments, binary=two)


def unbiased_moments_of_sum(total: NoisySum) -> UnbiasedMoments:
    """Return what is known from a private measurement."""
    noisy_moment, facts = read_sum(total, "joint"), total.facts
    relative = 0.0 if noisy_moment.count is None else count_std(total) / noisy_moment.count
    rows = noisy_moment.n_rows / facts.rows_per_person
    moments = combine_moments(
        noisy_moment, relative, rows, facts.columns, np.array(facts.scale), np.array(facts.origin), total
    )
    return dataclasses.replace(moments, binary=find_binary_columns(facts.kinds, facts.units, facts.missing))


def merge_class_anchors(noisy_moment: NoisyMoment) -> NoisyMoment:
    """Return a measurement with class sums as one with the mean alone, as `exact.reading.read_sum` reads it."""
    k, d = noisy_moment.distribution.n_anchors, noisy_moment.distribution.dimension
    if k < 2:
        return noisy_moment
    edge = noisy_moment.matrix[:d, d:].sum(axis=1, keepdims=True) / math.sqrt(k)
    corner = np.array([[np.trace(noisy_moment.matrix[d:, d:]) / k]])
    matrix = np.block([[noisy_moment.matrix[:d, :d], edge], [edge.T, corner]])
    noise = dataclasses.replace(noisy_moment.distribution, n_anchors=1, corner=False)
    return dataclasses.replace(noisy_moment, matrix=matrix, distribution=noise, centre="joint")


def combine_moments(
    noisy_moment: NoisyMoment,
    relative: float,
    rows: float,
    columns: tuple[str, ...],
    scale: np.ndarray,
    origin: np.ndarray,
    total: NoisySum | None,
) -> UnbiasedMoments:
    """Return what is known from a noisy moment with at most one anchor."""
    law, cases = law_of(noisy_moment, relative), None
    if noisy_moment.flags is not None:
        cases = available_cases(noisy_moment.matrix, noisy_moment.flags, row_bound=noisy_moment.row_bound)
    mean, covariance = moments_of(noisy_moment, law, rows) if cases is None else (cases.mean, cases.covariance)
    return UnbiasedMoments(columns, mean, covariance, rows, law, scale, origin, noisy_moment, cases, total)


def positions_of(columns: tuple[str, ...], names: str | Iterable[str], parameter: str) -> list[int]:
    """Return the positions of columns that are named, each once."""
    name_list = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    for at, name in enumerate(name_list):
        if not isinstance(name, str) or name not in columns:
            some = ", ".join(columns[:8]) + (" ..." if len(columns) > 8 else "")
            levels = [column for column in columns if column.startswith(f"{name}=")]
            suggestion = f" Name its levels: {', '.join(levels)}." if len(levels) > 1 else checks.suggest(name, columns)
            remedy = suggestion or f" Name one of: {some}."
            name_text = repr(name) if isinstance(name, (str, list, tuple, int)) else f"a {type(name).__name__}"
            raise ValueError(f"{parameter} names {name_text}, which is no column.{remedy}")
        if name in name_list[:at]:
            raise ValueError(f"{parameter} names {name!r} twice: name each column once.")
    return [columns.index(name) for name in name_list]
