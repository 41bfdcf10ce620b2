"""`answers`: what a release says about its population, each number with an interval for all of its error.

An interval contains the number of the population with the stated probability, over the drawing of rows and of noise
together. Where no such interval is known, the answer says so: ``identified`` is False, and ``reason`` says why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from privcov.core import checks
from privcov.inference import contrasts, coverage_record, entries, regression, spectrum
from privcov.inference.unbiased import (
    NO_INVERSE,
    ONE_COLUMN,
    REASONS,
    TESTED_ONLY,
    TOO_NOISY,
    Intervals,
    Measurement,
    UnbiasedMoments,
    positions_of,
    unbiased_moments,
)
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.edge_test import discoveries
from privcov.releases.release import Release

if TYPE_CHECKING:
    import pandas as pd

_METHODS = {
    "means": "normal error of the noise and of sampling",
    "variances": "inverted test, noise and sampling at the tested variance",
    "covariances": "normal error of the noise and of sampling",
    "correlations": "Fieller's interval under the exact noise",
    "partial_correlations": "Fieller's interval after the regression on all other columns, its bias removed",
    "regress": "inverted test of each slope, the bias of noisy regressors removed",
    "predict": "normal error of the mean of the residual and of the slopes",
    "eigenvalues": "second-order expansion, and Weyl's bound where eigenvalues are close",
    "components": "first-order expansion of the axes",
    "contrast": "delta method; equal spread in all classes is assumed",
    "group_means": "inverted test of each mean and of the difference; equal spread in both groups is assumed",
    "edges": "test of the de-biased graphical lasso; intervals of partial correlations, where identified",
}
MAX_REGRESSORS = 1 / 3  # for each row: at 1/2 intervals of 95 % contain the truth in 91 %, at 3/4 in 78 %
_LEAST_KEPT = 0.98  # of the squares of the rows under a searched bound; less was not measured
_PAIRS = "missing cells are measured by pairs, and the joint law of those entries is not derived"
FALSE_DISCOVERIES = 0.05


class Groups(NamedTuple):
    """What a release says of its k classes.

    ``shares`` are of all rows and noisy; ``means`` (k x d) are NaN for a class with too few rows for its noise.
    ``within`` is the unbiased covariance within classes; it may have negative eigenvalues.
    """

    classes: tuple[str, ...]
    shares: np.ndarray
    means: np.ndarray
    within: np.ndarray


class ReleaseAnswers:
    """Answers of one release, each with an interval for privacy noise and sampling together.

    Every method returns a DataFrame with one row for each column (``column``), or pair (``first``, ``second``), and
    with ``estimate``, ``ci_low``, ``ci_high``, ``identified`` and ``reason``. Its ``attrs`` name the method, the
    population, the level, what is assumed of the rows and the coverage that was measured on simulated releases.

    Parameters
    ----------
    moments : UnbiasedMoments
        From `unbiased_moments`.
    level : float
        Nominal coverage of every interval.
    kurtosis : float
        Excess kurtosis of the rows that is assumed: 0 for Gaussian rows.
    classes : tuple of str
        Names of the classes.
    release : Release or None
        The release of simulated or public rows.
    """

    def __init__(
        self,
        moments: UnbiasedMoments,
        level: float,
        kurtosis: float,
        classes: tuple[str, ...] = (),
        release: Release | None = None,
    ) -> None:
        self._moments, self.level, self.kurtosis, self._third = moments, level, kurtosis, kurtosis / 3
        self.classes, self._release, self._shape = classes, release, moments.for_shape(self._third)

    if not TYPE_CHECKING:  # a type checker would take any name

        def __getattr__(self, name: str) -> object:
            """Suggest a close name."""
            raise AttributeError(f"There is no answer {name!r}.{checks.suggest(name, dir(type(self)))}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._moments.columns

    @property
    def scale(self) -> np.ndarray:
        """The public unit of every column: from its typical value to the farther bound, over its weight."""
        return self._moments.scale

    @property
    def origin(self) -> np.ndarray:
        """The public typical value of every column, in the owner's units."""
        return self._moments.origin

    @property
    def groupings(self) -> tuple[str, ...]:
        """The names that `group_means` takes: columns declared with two values, categories, and their levels."""
        block_items = self._moments.blocks.items()
        levels = ((name, *(self.columns[j] for j in block if len(block) > 1)) for name, block in block_items)
        return tuple(name for group_names in levels for name in group_names if name)

    @property
    def rows(self) -> float:
        """Number of independent rows, or persons, behind the sampling error; noisy where it is not public."""
        return self._moments.n_rows

    def __repr__(self) -> str:
        return f"ReleaseAnswers({len(self.columns)} columns, about {self.rows:,.0f} rows, level {self.level:g})"

    def means(self) -> pd.DataFrame:
        """Return the mean of every column.

        Returns
        -------
        DataFrame
            One row for each column.
        """
        intervals = entries.means(self._moments, self.level)
        return self._frame("means", {"column": self.columns}, intervals, self.scale, self.origin)

    def variances(self) -> pd.DataFrame:
        """Return the variance of every column.

        Each estimate is unbiased, and below zero where noise hides the variance: the interval then begins at zero.

        Returns
        -------
        DataFrame
            One row for each column.
        """
        intervals = entries.variances(self._moments, self.level, self._third)
        return self._frame("variances", {"column": self.columns}, intervals, self.scale**2)

    def covariances(self) -> pd.DataFrame:
        """Return the covariance of every pair of columns.

        Returns
        -------
        DataFrame
            One row for each pair.
        """
        intervals = entries.covariances(self._moments, self.level, self._third)
        return self._by_pair("covariances", intervals, np.outer(self.scale, self.scale))

    @checks.explain_arguments
    def correlations(self, rate: float = FALSE_DISCOVERIES) -> pd.DataFrame:
        """Return the correlation of every pair of columns, and which are real.

        Each estimate is unbiased, and may lie beyond -1 or 1: report it with its interval. `Release.correlation` is one
        positive semi-definite matrix, shrunk towards zero: use that for further computing.

        Parameters
        ----------
        rate : float, optional
            Rate of false discoveries among the pairs with ``reject``.

        Returns
        -------
        DataFrame
            One row for each pair, with ``p_value`` (of no correlation) and ``reject``.
        """
        return self._by_pair("correlations", entries.correlations(self._moments, self.level, self._third), rate=rate)

    @checks.explain_arguments
    def partial_correlations(
        self, rate: float = FALSE_DISCOVERIES, given: str | Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return the correlation of every pair given other columns, and which are real.

        Parameters
        ----------
        rate : float, optional
            Rate of false discoveries among the pairs with ``reject``.
        given : str, sequence of str or None, optional
            The columns that are held fixed; None takes all others. Under noise few of them have shorter intervals.

        Returns
        -------
        DataFrame
            One row for each pair, with ``p_value`` and ``reject``.
        """
        self._whole()
        among = None  # all pairs
        if given is None:
            intervals = regression.partial_correlations(self._shape, self.level)
        else:
            controls = self._positions(given, "given")
            intervals = regression.controlled_correlations(self._shape, self.level, controls)
            among = [j for j in range(len(self.columns)) if j not in controls]
        noise = np.isin(intervals.reason_code, (TOO_NOISY, NO_INVERSE))
        intervals = dataclasses.replace(intervals, estimate=np.where(noise, np.nan, intervals.estimate))
        intervals = intervals.without_intervals(self._moments.same_column, ONE_COLUMN)
        return self._by_pair("partial_correlations", intervals, rate=rate, among=among)

    def edges(self, rate: float = FALSE_DISCOVERIES) -> pd.DataFrame:
        """Return the graph of partial correlations by the edge test of auto-precision. It suits many columns.

        Parameters
        ----------
        rate : float, optional
            Rate of false discoveries among the pairs with ``reject``.

        Returns
        -------
        DataFrame
            One row for each pair, with ``p_value`` and ``reject``.
        """
        self._whole()
        intervals = regression.edges(
            self._moments, regression.partial_correlations(self._shape, self.level), self._third
        )
        return self._by_pair("edges", intervals.without_intervals(self._moments.same_column, ONE_COLUMN), rate=rate)

    @checks.explain_arguments
    def regress(
        self, y: str, on: str | Sequence[str] | None = None, ridge: float | Literal["auto"] = 0.0
    ) -> pd.DataFrame:
        """Return the slopes of the linear regression of one column on others.

        Parameters
        ----------
        y : str
            The response.
        on : str, sequence of str or None, optional
            The regressors; None takes all other columns but the last level of every category, which follows from its
            others, and the response's own category. Under noise a few of them have far shorter intervals.
        ridge : float or "auto", optional
            Added to the variances of the regressors in units of ``scale``; at least 0. The target is then the ridge
            coefficient of the population. "auto" takes the smallest with which there are slopes, 0 where it can.

        Returns
        -------
        DataFrame
            One row for each regressor, with ``std_error``, the standard deviation of noise and sampling together at the
            estimate, and ``p_value``, of no slope; intervals are not symmetric, so they are no multiples of the
            standard error. ``attrs["r_squared"]`` and ``attrs["intercept"]`` hold estimate, ci_low, ci_high,
            identified, reason and coverage of R squared (of the fit without a ridge; absent with one) and of the
            intercept; ``attrs["ridge"]`` is the ridge.

        Raises
        ------
        ValueError
            For a column that is not there or is named twice, the response among the regressors, all levels of
            a category in both, more regressors than a third of the rows, and a negative ridge.
        """
        target, regressors, ridge = self._regression(y, on, ridge)
        scale, origin = self.scale, self.origin
        start = -(origin / scale)[regressors]
        fit = regression.regress(self._shape, target, regressors, ridge, self.level, start[None])
        names = tuple(self.columns[j] for j in regressors)
        whole = len(regressors) == len(self._default_regressors(target))
        case = "regress, ridge" if ridge else "regress, all columns" if whole else "regress"
        case = "regress, two values" if self._moments.span[target] > 0 else case
        table = self._frame("regress", {"column": names}, fit.slopes, scale[target] / scale[regressors], case=case)
        assert fit.slopes.std is not None, "slopes have standard errors"
        assert fit.slopes.p_value is not None, "and tests"
        table.insert(2, "std_error", fit.slopes.std * scale[target] / scale[regressors])
        table["p_value"] = np.where(fit.slopes.identified, fit.slopes.p_value, np.nan)
        table.attrs["response"], table.attrs["ridge"] = self.columns[target], ridge
        table.attrs["intercept"] = self._one(fit.expected, "predict", origin[target], scale[target])
        if not ridge:
            table.attrs["r_squared"] = self._one(fit.r_squared, "r_squared")
        return table

    @checks.explain_arguments
    def predict(
        self,
        y: str,
        at: pd.DataFrame | Mapping[str, float],
        on: str | Sequence[str] | None = None,
        ridge: float | Literal["auto"] = 0.0,
    ) -> pd.DataFrame:
        """Return the fitted mean response of a linear regression at given values of the regressors.

        Parameters
        ----------
        y : str
            The response.
        at : DataFrame or mapping of column to number
            The regressors of each row, or of one, in the owner's units.
        on : str, sequence of str or None, optional
            The regressors, as in `regress`; None takes those that ``at`` has.
        ridge : float or "auto", optional
            As in `regress`.

        Returns
        -------
        DataFrame
            One row for each row of ``at``. The interval is for the mean response, not a new person.

        Raises
        ------
        ValueError
            As `regress` does, and for a regressor that ``at`` lacks.
        """
        import pandas as pd

        rows = at if isinstance(at, pd.DataFrame) else pd.DataFrame([dict(at)])
        target, regressors, ridge = self._regression(y, list(rows.columns) if on is None else on, ridge)
        names = [self.columns[j] for j in regressors]
        if lacking := [name for name in names if name not in rows.columns]:
            raise ValueError(f"at has no column {lacking[0]!r}, which is a regressor. Give it, or leave it out of on.")
        points = (rows[names].to_numpy(dtype=np.float64) - self.origin[regressors]) / self.scale[regressors]
        if not np.isfinite(points).all():
            raise ValueError("at must hold finite numbers: leave out the rows that lack one.")
        fit = regression.regress(self._shape, target, regressors, ridge, self.level, points)
        table = self._frame(
            "predict", {"row": tuple(rows.index)}, fit.expected, self.scale[target], self.origin[target]
        )
        table.attrs["ridge"] = ridge
        return table

    def _regression(
        self, y: str, on: str | Sequence[str] | None, ridge: float | Literal["auto"]
    ) -> tuple[int, list[int], float]:
        """Return the positions of the response and of the regressors, and the ridge."""
        self._whole()
        (target,) = self._positions([y], "y")
        regressors = self._default_regressors(target) if on is None else self._positions(on, "on")
        if target in regressors:
            raise ValueError(f"on names the response {y!r}: leave it out of the regressors.")
        if not regressors:
            raise ValueError("on must name at least one regressor, got none. Name a column, or leave on out for all.")
        for name, block in self._moments.blocks.items():
            if len(block) > 1 and set(block) <= {target, *regressors}:
                raise ValueError(f"y and on name all levels of {name!r}, and one follows from the others: omit it.")
        if len(regressors) / max(self.rows, 1.0) > MAX_REGRESSORS:
            raise ValueError(
                f"on names {len(regressors)} regressors, and the release stands for about {self.rows:,.0f} rows: "
                "name at most a third as many."
            )
        if ridge == "auto":
            return target, regressors, regression.least_ridge(self._shape, target, regressors)
        return target, regressors, checks.in_range("ridge", ridge, 0.0, 1e6)

    def _default_regressors(self, target: int) -> list[int]:
        follows = self._moments.is_redundant_level | self._moments.same_column[target]
        return [j for j in range(len(self.columns)) if j != target and not follows[j]]

    def _one(self, intervals: Intervals, case: str, origin: float = 0.0, unit: float = 1.0) -> dict[str, Any]:
        estimate, low, high = (
            float(origin + unit * np.ravel(x)[0]) for x in (intervals.estimate, intervals.low, intervals.high)
        )
        reason = int(np.ravel(intervals.reason_code)[0])
        low, high = (float("nan"), float("nan")) if reason else (low, high)
        answer = {"estimate": estimate, "ci_low": low, "ci_high": high, "identified": not reason}
        return answer | {"reason": REASONS[reason], "coverage": self._coverage(case)}

    def eigenvalues(self) -> pd.DataFrame:
        """Return the eigenvalues of the covariance with every column in half-ranges, largest first.

        Returns
        -------
        DataFrame
            One row for each axis (``axis``).
        """
        self._whole()
        intervals = spectrum.eigenvalues(self._moments, self.level, self._third)
        return self._frame("eigenvalues", {"axis": tuple(range(1, len(self.columns) + 1))}, intervals)

    @checks.explain_arguments
    def components(self, n_components: int | None = None) -> pd.DataFrame:
        """Return the loadings of the first axes of the covariance with every column in half-ranges.

        Parameters
        ----------
        n_components : int or None, optional
            How many, at most the number of columns; by default three, or all of fewer columns.

        Returns
        -------
        DataFrame
            One row for each axis and column; where a loading is not identified, it has no estimate. ``attrs["axes"]``
            has all of them, which are orthonormal.
        """
        self._whole()
        d = len(self.columns)
        count = min(3, d) if n_components is None else checks.integer("n_components", n_components, 1, d)
        intervals = spectrum.components(self._shape, count, self.level)
        estimate = np.where(
            intervals.identified, intervals.estimate, np.nan
        )  # an axis that noise turned may point anywhere
        flat = Intervals(*(a.T.ravel() for a in (estimate, intervals.low, intervals.high, intervals.reason_code)))
        labels = {
            "axis": tuple(k + 1 for k in range(count) for _ in self.columns),
            "column": tuple(name for _ in range(count) for name in self.columns),
        }
        table = self._frame("components", labels, flat)
        table.attrs["axes"] = tuple(map(tuple, intervals.estimate.T.tolist()))
        return table

    def contrast(self, a: str, b: str) -> pd.DataFrame:
        """Return the mean of class a less the mean of class b, for every column.

        Parameters
        ----------
        a, b : str
            Names of two classes.

        Returns
        -------
        DataFrame
            One row for each column.

        Raises
        ------
        ValueError
            For a release without classes, and for a class that is not there.
        """
        whole = self._class_sums()
        at = [self._class(name, parameter) for name, parameter in ((a, "a"), (b, "b"))]
        if at[0] == at[1]:
            raise ValueError(f"a and b name the same class {a!r}: name two.")
        intervals = contrasts.contrast(self._moments, whole, at[0], at[1], self.level)
        return self._frame("contrast", {"column": self.columns}, intervals, self.scale)

    @checks.explain_arguments
    def group_means(self, by: str) -> pd.DataFrame:
        """Return the means of every other column in groups that a column makes.

        Parameters
        ----------
        by : str
            A column that is declared with two values, as a yes-no question, a level of a category or a whole number
            from 0 to 1; or a category, which makes one group of each level.

        Returns
        -------
        DataFrame
            One row for each group (``group``) and other column. Two values also give the difference of the means.

        Raises
        ------
        ValueError
            For a column that is not there or has no two values by its declaration.
        """
        self._whole()
        blocks = self._moments.blocks
        at = list(blocks[by]) if isinstance(by, str) and by in blocks else self._positions([by], "by")
        if not (self._moments.span[at] > 0).all():
            raise ValueError(
                f"by names {by!r}, which is not declared with two values. Name "
                + (f"one of {', '.join(self.groupings[:8])}." if self.groupings else "another: no column is.")
            )
        origin = self.origin
        other_columns = [j for j in range(len(self.columns)) if j not in at and not self._moments.same_column[at[0], j]]
        if not other_columns:
            raise ValueError(f"by names {by!r}, and there is no other column.")
        parts: list[tuple[str, Intervals, np.ndarray]] = []  # group, intervals in units of the columns, their zero
        for j in at:
            intervals = contrasts.group_mean_intervals(self._moments, j, self.level)
            if len(at) > 1:  # a level of a category
                parts.append((self.columns[j], intervals[contrasts.HIGHER], origin))
            else:
                low, high = self._values(j)
                parts += zip((low, high, f"{high} less {low}"), intervals, (origin, origin, 0 * origin), strict=True)
        groups, found, zeros = zip(*parts, strict=True)
        labels = {
            "group": tuple(name for name in groups for _ in other_columns),
            "column": tuple(self.columns[j] for _ in groups for j in other_columns),
        }
        fields = ("estimate", "low", "high", "reason_code")
        ends = [np.concatenate([getattr(one, field)[other_columns] for one in found]) for field in fields]
        where = np.concatenate([zero[other_columns] for zero in zeros])
        scale = np.tile(self.scale[other_columns], len(parts))
        return self._frame("group_means", labels, Intervals(*ends), scale, where)

    def _values(self, j: int) -> tuple[str, str]:
        """Return the names of the two groups that a column of two values makes, the lower value first."""
        moments, name = self._moments, self.columns[j]
        assert moments.binary is not None, "it has two values"
        if name not in moments.binary.names:  # a level
            return f"not {name}", name
        low = moments.origin[j] + moments.scale[j] * moments.binary.low[j]
        return f"{name}={low:g}", f"{name}={low + moments.scale[j] * moments.span[j]:g}"

    def _positions(self, names: str | Iterable[str], parameter: str) -> list[int]:
        """Return the positions of columns that are named, those of a yes-no question also as they are declared."""
        alone = {name: block[0] for name, block in self._moments.blocks.items() if len(block) == 1}
        name_list = [names] if isinstance(names, str) or not isinstance(names, Iterable) else names
        aliases = {name: self.columns[j] for name, j in alone.items() if name not in self.columns}
        column_names = [aliases.get(name, name) if isinstance(name, str) else name for name in name_list]
        return positions_of(self.columns, column_names, parameter)

    def groups(self) -> Groups:
        """Return shares, means and the pooled covariance of the classes, without intervals; `contrast` has them.

        Returns
        -------
        Groups
            In the owner's units.

        Raises
        ------
        ValueError
            For a release without classes.
        """
        whole = self._class_sums()
        classes, within = contrasts.within_of(self._moments, whole)
        scale = self.scale
        means = np.where(classes.small[:, None], np.nan, self.origin + scale * classes.means.T)
        return Groups(self.classes, classes.shares, means, within * np.outer(scale, scale))

    def _class_sums(self) -> NoisyMoment:
        if len(self.classes) < 2:
            raise ValueError(
                "This release has no class sums: declare classes and release again to compare their means."
            )
        self._whole()
        if self._moments.noisy_sum is not None:
            return read_sum(self._moments.noisy_sum, "classes")
        assert self._release is not None
        assert self._release.noisy_moment is not None, "it has classes"
        return self._release.noisy_moment

    def _class(self, name: str, parameter: str) -> int:
        if name not in self.classes:
            raise ValueError(f"{parameter} names {name!r}, which is no class.{checks.suggest(name, self.classes)}")
        return self.classes.index(name)

    def _whole(self) -> None:
        """Refuse what needs the joint law of all entries."""
        if self._moments.available is not None:
            raise ValueError(f"This answer is not given: {_PAIRS}. Ask for means, variances or correlations.")

    def _by_pair(
        self,
        answer: str,
        intervals: Intervals,
        unit: np.ndarray | None = None,
        rate: float | None = None,
        among: list[int] | None = None,
    ) -> pd.DataFrame:
        rate = None if rate is None else checks.strictly_between("rate", rate, 0.0, 1.0)
        at = np.arange(len(self.columns)) if among is None else np.array(among, dtype=np.int64)
        i, j = (at[k] for k in np.triu_indices(len(at), 1))
        flat = Intervals(*(m[i, j] for m in (intervals.estimate, intervals.low, intervals.high, intervals.reason_code)))
        labels = {"first": tuple(self.columns[k] for k in i), "second": tuple(self.columns[k] for k in j)}
        table = self._frame(answer, labels, flat, 1.0 if unit is None else unit[i, j])
        if rate is not None:
            p = np.full(len(i), np.nan) if intervals.p_value is None else intervals.p_value[i, j]
            untold = (flat.reason_code > 0) & (flat.reason_code != TESTED_ONLY) & (answer == "partial_correlations")
            p = np.where(untold, np.nan, p)
            table["p_value"] = p
            table["reject"] = discoveries(p, rate)
            table.attrs["false_discovery_rate"] = rate
        return table

    def _frame(
        self,
        answer: str,
        labels: dict[str, tuple[Any, ...]],
        intervals: Intervals,
        unit: np.ndarray | float = 1.0,
        origin: np.ndarray | float = 0.0,
        case: str = "",
    ) -> pd.DataFrame:
        import pandas as pd

        numbers = {"estimate": origin + unit * intervals.estimate}
        for name, end in (("ci_low", intervals.low), ("ci_high", intervals.high)):
            numbers[name] = np.where(intervals.identified, origin + unit * end, np.nan)
        why = [REASONS[k] for k in intervals.reason_code]
        table = pd.DataFrame({**labels, **numbers, "identified": intervals.identified, "reason": why})
        table.attrs.update(
            answer=answer,
            method=_METHODS[answer],
            population=self._moments.population,
            level=self.level,
            assumes=self._assumed(answer),
            coverage=self._coverage(case or answer),
        )
        return table

    def _assumed(self, answer: str) -> str:
        if answer == "means":
            return "rows with a variance, so many that their mean is close to normal"
        if answer in ("contrast", "group_means"):
            return "the same spread in all groups, and so many rows in each that their means are close to normal"
        if (
            answer in ("regress", "predict", "partial_correlations", "edges")
            and not self.kurtosis
            and self._moments.binary is not None
        ):
            return "columns linear in the others on average, numbers with errors of one spread"
        if not self.kurtosis:
            rows = "Gaussian rows; under heavier tails give the kurtosis: else intervals are short, false pairs real"
        else:
            rows = f"elliptical rows of excess kurtosis {self.kurtosis:g}"
        if self._moments.binary is None:
            return rows
        weakly = " and weakly related" if self.kurtosis else ""  # strongly related ones are far from elliptical
        assumption = "other columns Gaussian around a mean and with a spread that hardly depend on these"
        return f"{rows}; columns of two values as declared{weakly}, {assumption}"

    def _coverage(self, case: str) -> str:
        like = "plain" if self._moments.binary is None else "short" if self._moments.shortened.any() else "levels"
        if self._moments.available is not None:
            like = "pairs" if like == "plain" and not self.kurtosis else ""
        elif self.kurtosis:
            like = "heavy" if like == "plain" else ""
        search = self._moments.noisy_moment.bound_search
        if search is not None and search.halvings and like in ("plain", "heavy"):
            like = "searched" if search.kept_square >= _LEAST_KEPT else ""
        return coverage_record.sentence(case, self.level, self.rows, len(self.columns), like)


@checks.explain_arguments
def answers(x: Release | Measurement, *, level: float = 0.95, kurtosis: float = 0.0) -> ReleaseAnswers:
    """Return the answers of a release, with intervals for privacy noise and sampling together.

    Parameters
    ----------
    x : Release or OpenedBundle
        A release of `release_private`, what `open_bundle` returns, or a release of simulated or public rows by a method
        with one noisy matrix.
    level : float, optional
        Nominal coverage of every interval, from 0.5 to 0.999.
    kurtosis : float, optional
        Excess kurtosis of the rows that is assumed, from 0 to 300: 0 for Gaussian rows, 6 for Student's t with five
        degrees of freedom, as `scipy.stats.kurtosis` counts. It widens the sampling part of every interval and test but
        those of means and contrasts. Means, variances, covariances, correlations, slopes, eigenvalues and contrasts of
        columns of two values need none; their other answers have intervals only under a kurtosis that is at least their
        own, 1 / (p (1 - p)) - 6 for a share p. Where rows have heavier tails than is assumed, or columns of two values
        are declared as numbers, intervals are too short, and more pairs than the rate are called real.

    Returns
    -------
    ReleaseAnswers
        The answers.

    Raises
    ------
    TypeError
        For anything but a release or an opened bundle.
    ValueError
        For a method without one noisy matrix, a guarantee that is not established, and a level out of range.

    Guarantee
    ---------
    That of the release: everything here is post-processing of its noisy matrix.

    Spends
    ------
    Nothing.

    Reference
    ---------
    Own derivations, in privcov/inference/.

    Examples
    --------
    >>> import privcov
    >>> data = privcov.source("ar1-covariance", n=20_000, d=3, random_state=0)
    >>> rel = privcov.release(data, privcov.ZCDP(rho=1.0), "auto-cov", random_state=1, centre="joint")
    >>> found = privcov.answers(rel)
    >>> found.correlations()[["first", "second", "identified", "reject"]].to_string(index=False).splitlines()[1].split()
    ['x1', 'x2', 'True', 'True']
    """
    level = checks.in_range("level", level, 0.5, 0.999, "Write 0.95 for 95 %.")
    kurtosis = checks.in_range("kurtosis", kurtosis, 0.0, 300.0)
    moments = unbiased_moments(x)
    if moments.noisy_sum is not None:
        names, release = tuple(moments.noisy_sum.facts.classes), None
    else:
        assert isinstance(x, Release)
        merged = moments.noisy_moment.centre == "joint"  # of class sums, which `merge_class_anchors` adds up
        by_class = merged and x.noisy_moment is not None and x.noisy_moment.centre == "classes"
        names, release = x.classes if by_class else (), x
    return ReleaseAnswers(moments, level, kurtosis, names if len(names) > 1 else (), release)
