"""What a private release of a table of this size is worth: releases of invented rows, simulated now.

The rows are invented under a declaration, and measured by the functions of a private release: the same row bound, the
same anchor for the mean, the same noise, and the method's own post-processing. Only the noise is simulated.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from privcov.core import accounting, checks, extras
from privcov.core.guarantees import Guarantee, with_level
from privcov.core.randomness import RandomState, seed_of, stream
from privcov.core.words import chance
from privcov.measurements.exact.integer_gram import UNIT, counts_of
from privcov.measurements.exact.norm_counts import counts_event, halvings_of, shares
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.norm_histogram import BINS
from privcov.postprocess.matrices import correlation
from privcov.releases.private_request import DEFAULT_METHODS, PrivateRequest, private_request
from privcov.releases.public import delta_warning
from privcov.steward.example_rows import ROWS, STRUCTURES, Invention, planned_anchor
from privcov.steward.preview import simulated_release
from privcov.tables.declaration.declaration import Column, Declaration
from privcov.tables.declaration.declaration import row_bound_fraction as fraction_of
from privcov.tables.declaration.typical_ranges import NINE_IN_TEN
from privcov.tables.declared_columns import MAX_COLUMNS
from privcov.tables.public_facts import MAX_FILE_ROWS, PublicFacts

ENDS = {"zcdp": (1e-5, 10.0), "approx": (0.01, 20.0), "pure": (0.01, 20.0)}  # levels that are searched
FEWEST_ROWS, MAX_ROWS = 10, 10**8  # that are searched
_TABLES = 5
# Releases where their number is not given: two of each table at least, more until the mean is known this well (relative
# standard error between releases), _MOST or _WORK / d^2 of them at most.
_MOST, _WORK, _WELL = 50, 400_000, 0.02
_CELLS = 800_000  # of a table that is drawn, at least ROWS rows
_NEAR = 0.01  # relative, of a level or a number of rows that is searched for
_ROUGH, _AROUND = 2 * _TABLES, 0.3  # releases of a first search, and how far on both sides the slope is taken
_FLAT, _STEEP, _STEPS = 0.2, 2.0, 8  # of the logarithm of an error, and steps of the second search


@dataclass(frozen=True, eq=False)
class Expectation:
    """The expected error of a private release, and the errors of the answers to compare it with.

    All errors of covariances are relative Frobenius errors to the covariance of the invented table, each column divided
    by half of its range: in units of the data a column with a wide range would decide alone.

    Attributes
    ----------
    n, d : int
        Sizes of the table.
    guarantee : Guarantee
        The guarantee that was asked about.
    method : str
        Key of the method.
    error : float
        Mean error of the covariance over the releases.
    error_se : float
        Standard error of the mean, from the differences between the invented tables.
    error_range : tuple of (float, float)
        Nine in ten releases have an error between these two.
    correlation_error : float
        Root mean square error of the correlations, over pairs and releases.
    zeros : float
        Error of the zero matrix, which is 1.
    diagonal : float
        Error of the variances alone, not private.
    nonprivate : float
        Error of the clipped cells and shortened rows without noise: what clipping alone costs.
    sampling : float
        Sampling error: the table's covariance against the population's.
    attacker : float
        The best chance to guess which of two neighbouring tables a release comes from.
    table : str
        What the invented table is, in words.
    errors : ndarray of shape (releases,)
        The error of each release.
    """

    n: int
    d: int
    guarantee: Guarantee
    method: str
    error: float
    error_se: float
    error_range: tuple[float, float]
    correlation_error: float
    zeros: float
    diagonal: float
    nonprivate: float
    sampling: float
    attacker: float
    table: str
    errors: np.ndarray = field(repr=False)

    def __repr__(self) -> str:
        low, high = self.error_range
        doubt = delta_warning(self.n, self.guarantee)
        return (
            f"{self.method} on {self.n:,} rows and {self.d} columns under {self.guarantee}:\n"
            f"  error {self.error:.1%} (nine in ten releases: {low:.1%} to {high:.1%}); "
            f"of a correlation {self.correlation_error:.2g}\n"
            f"  to compare: zeros {self.zeros:.0%}, the variances alone {self.diagonal:.1%}, "
            f"clipping without noise {self.nonprivate:.1%}, sampling {self.sampling:.1%}\n"
            f"  attacker's best chance {chance(self.attacker)}\n"
            f"  for invented rows: {self.table}" + (f"\n  {doubt}" if doubt else "")
        )

    def plot(self, *, dark: bool = False) -> Any:
        """Return the expected error as a bar beside the answers to compare with, as a plotly figure."""
        extras.require("plotly", "Figures")
        from privcov.plots import notebook

        return notebook.expectation_figure(self, dark=dark)


@checks.explain_arguments
def expect(
    n: int,
    d: int,
    guarantee: Guarantee,
    method: str = "auto-cov",
    *,
    spread: float | None = None,
    structure: Literal["factor", "blocks", "neighbours", "independent"] = "blocks",
    strength: float = 0.5,
    skew: float = 0.0,
    row_bound_fraction: float | None = None,
    row_bound_search: bool | None = None,
    target: Literal["sample", "population"] = "sample",
    releases: int | None = None,
    random_state: RandomState = None,
) -> Expectation:
    """Return what a private release of a table of this size is worth, by simulation.

    The table is invented: columns about their typical values, in no order that matters. Five real tables
    were declared by where nine in ten values lie. In 57 of 60 settings the error of their private releases lay between
    the expected errors of normal and of skewed columns (``skew`` 0 and 1), up to a factor of 1.3 (``make bench
    ARGS=expected``). Under limits alone the deviations are unknown: try several.

    Parameters
    ----------
    n : int
        Number of rows, from 2; public, one row per person.
    d : int
        Number of columns, from 1 to 200.
    guarantee : PureDP, ApproxDP or ZCDP
        The guarantee of the release.
    method : str
        Key of a method that private rows are offered.
    spread : float or None
        None: for every column it is declared where nine in ten values lie, from which the row bound follows. A number
        from 0.001 to 1: bounds alone are declared, and the standard deviation of a column is this part of its
        half-range.
    structure : {"factor", "blocks", "neighbours", "independent"}
        Which columns move together: all, groups of four, neighbouring ones, none.
    strength : float
        The largest correlation, from 0 to 0.99.
    skew : float
        0 for normal columns; from 0 to 3 the deviation of the logarithm of lognormal columns, 1 for incomes. Nine in
        ten values lie in one range for every skew.
    row_bound_fraction : float or None
        The row bound as a part of the longest possible row, from 0.001 to 1; None: what follows from the declaration.
    row_bound_search : bool or None
        Whether a release by ``auto-cov`` of ten columns or more searches for a shorter row bound. None: as a
        declaration does that has bounds alone, so with a ``spread`` and without a ``row_bound_fraction``.
    target : {"sample", "population"}
        What the errors are to, and what ``auto-cov`` estimates: the covariance of the rows, or the one behind them.
    releases : int or None
        Number of simulated releases, from 2, rounded up to a multiple of the five tables. None: from 10 to 50, until
        the standard error of the mean between releases is 2 % of it.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of the invented rows and of the noise; None draws fresh ones.

    Returns
    -------
    Expectation
        The errors, with those of the answers to compare them with.

    Raises
    ------
    ValueError
        For sizes, a spread or a strength out of range, for a method that private rows are not offered or that estimates
        no covariance, and for a guarantee whose noise is beyond what is drawn.

    Examples
    --------
    >>> import privcov
    >>> found = privcov.expect(20_000, 10, privcov.ZCDP(0.5), releases=20, random_state=0)
    >>> found.error < found.diagonal < found.zeros
    True
    """
    n = checks.integer("n", n, 2, MAX_FILE_ROWS)
    d = checks.integer("d", d, 1, MAX_COLUMNS)
    if spread is not None:
        checks.in_range("spread", spread, 0.001, 1.0)
    if row_bound_fraction is not None:
        checks.in_range("row_bound_fraction", row_bound_fraction, 0.001, 1.0)
    facts = dataclasses.replace(_public_facts(d, spread, row_bound_fraction), n=n)
    invention = Invention(n, structure, strength, skew=skew)
    seed = seed_of(random_state)
    if row_bound_search is None:
        row_bound_search = spread is not None and row_bound_fraction is None
    own = {"target": checks.one_of("target", target, ("sample", "population"))} if method == DEFAULT_METHODS[0] else {}
    search = {"row_bound_search": "auto"} if row_bound_search and own else {}
    request = private_request(method, facts, guarantee, parameters=own | search)
    if request.method.card.target != "covariance":
        raise ValueError(f"{request.method.card.label} estimates a precision matrix. Choose a covariance method.")
    suffix, events = "", request.events()
    if request.measurement_request.search_for:
        bound = _bound_found(request, spread, invention, seed)
        suffix, law = ", by a search", request.noise(n, bound)
        facts, row_bound_fraction = bound, bound.row_bound_fraction
        request = private_request(method, facts, guarantee, parameters=own)
    else:
        law = request.noise(n)
    count = max(10, min(_MOST, _WORK // d**2)) if releases is None else checks.integer("releases", releases, 2, 10_000)
    tables = _tables(d, spread, row_bound_fraction, invention, seed)
    sampling = float(np.mean([table.sampling_error(n) for table in tables]))
    if target == "population":
        population = invention.covariance(d) * (spread or 1.0) ** 2 / facts.scale[0] ** 2
        tables = [dataclasses.replace(table, covariance=population) for table in tables]
    with _one_blas_thread():
        by_table, squares = _release_errors(
            request, tables, law, seed, math.ceil(count / _TABLES), fixed=bool(releases)
        )
    errors, means = by_table.ravel(), by_table.mean(axis=0)
    low, high = (float(q) for q in np.quantile(errors, (0.05, 0.95), method="median_unbiased"))
    return Expectation(
        n,
        d,
        guarantee,
        method,
        error=float(errors.mean()),
        error_se=float(np.std(means, ddof=1)) / math.sqrt(_TABLES),
        error_range=(low, high),
        correlation_error=math.sqrt(float(squares.mean())),
        zeros=1.0,
        diagonal=float(np.mean([table.error_of(np.diag(np.diag(table.covariance))) for table in tables])),
        nonprivate=float(np.mean([table.error_of(table.clipped * facts.row_bound**2) for table in tables])),
        sampling=sampling,
        attacker=accounting.attacker_success(accounting.trade_off_of(events, guarantee)),
        table=(
            f"{STRUCTURES[structure]}, correlation {0 if structure == 'independent' else strength:g}; "
            + (f"columns lognormal with sigma {skew:g}; " if skew else "")
            + (
                "where nine in ten values lie is declared"
                if spread is None
                else f"deviation {spread:g} of half a range, cells cut at the bounds"
            )
            + f"; rows are shortened to {facts.units.row_bound / facts.units.longest:.2g} of the longest{suffix}"
        ),
        errors=errors,
    )


def _one_blas_thread() -> contextlib.AbstractContextManager:
    """Return a limit of BLAS to one thread: at small matrices several wait for each other, ten times as long.

    Only the main thread sets the limit. Setting it locks the loader of libraries while it waits for Python, so another
    thread that imports a library at that moment would wait forever. The app has its own limit.
    """
    if threading.current_thread() is not threading.main_thread():
        return contextlib.nullcontext()
    return threadpool_limits(limits=1, user_api="blas")


def _bound_found(request: PrivateRequest, spread: float | None, invention: Invention, seed: int) -> PublicFacts:
    """Return the facts under the row bound that a search finds in an invented table, up to the noise of its counts."""
    facts, query = request.input.facts, request.measurement_request
    assert facts.n is not None, "the number of rows is public"
    cells = _cells(min(facts.n, max(ROWS, _CELLS // facts.d)), facts.d, spread, invention, _TABLES * seed)
    y = facts.units.to_working(cells)
    squares = np.minimum((y * y).sum(axis=1) / facts.row_bound**2, 1.0) * UNIT**2
    counts = counts_of(squares, None, BINS) * (facts.n / len(y))
    first, rest = shares(query.share)
    halved = halvings_of(counts.tolist(), facts, counts_event(facts, first), rest, query.search_for)
    return facts.with_shorter_bound(2.0 ** (-halved / 2))


def _cells(rows: int, d: int, spread: float | None, invention: Invention, seed: int) -> np.ndarray:
    """Return the cells of invented rows; skewed columns within limits alone lie at the low end of them."""
    normals = stream(seed, "rows", 0, "expect", "invented").standard_normal((rows, d))
    root = np.linalg.cholesky(invention.correlation(d) + 1e-12 * np.eye(d))
    cells = invention.shape(normals @ root.T)
    if spread is None:
        return cells
    return spread * (cells + NINE_IN_TEN) - 1.0 if invention.skew else spread * cells


@dataclass(frozen=True, eq=False)
class _Table:
    """One invented table: its covariance in working units, and the moment of its shortened rows.

    ``moment`` is per row, (d + 1) x (d + 1), in units of R, with an anchor of 1. ``fourth``: mean fourth power of the
    distance of a row from the mean.
    """

    covariance: np.ndarray
    moment: np.ndarray
    fourth: float

    @property
    def clipped(self) -> np.ndarray:
        """The covariance of the shortened rows, in units of R."""
        return self.moment[:-1, :-1] - np.outer(self.moment[:-1, -1], self.moment[:-1, -1])

    def error_of(self, covariance: np.ndarray) -> float:
        """Return the relative Frobenius error of a covariance in working units."""
        return float(np.linalg.norm(covariance - self.covariance) / np.linalg.norm(self.covariance))

    def sampling_error(self, n: int) -> float:
        """Return the root mean square relative error of the covariance of n such rows.

        The variances of the products y_i y_j add up to E |y|^4 - |C|^2.
        """
        return math.sqrt(max(self.fourth / float(np.sum(self.covariance**2)) - 1, 0.0) / n)


def _tables(d: int, spread: float | None, fraction: float | None, invention: Invention, seed: int) -> list[_Table]:
    """Return several invented tables, because the error also differs from table to table.

    Of a large table fewer rows are drawn. Their sampling error is then brought down to that of n rows, because a
    method cannot tell it from structure: each table moves towards the population, of which all pairs of columns with
    one correlation have the same moment.
    """
    rows = min(invention.n, max(ROWS, _CELLS // d))
    fewer = dataclasses.replace(invention, n=rows)
    tables = [_table(d, spread, fraction, fewer, _TABLES * seed + j) for j in range(_TABLES)]
    if rows == invention.n:
        return tables
    part, pairs = math.sqrt(rows / invention.n), invention.correlation(d)
    covariance = _averaged(np.mean([table.covariance for table in tables], axis=0), pairs)
    moment = np.mean([table.moment for table in tables], axis=0)
    moment[:d, :d] = _averaged(moment[:d, :d], pairs)
    moment[:d, d] = moment[d, :d] = moment[:d, d].mean()  # columns are alike
    return [
        _Table((1 - part) * covariance + part * one.covariance, (1 - part) * moment + part * one.moment, one.fourth)
        for one in tables
    ]


def _averaged(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the matrix with its mean over all entries at which ``pairs`` has the same value."""
    _, where = np.unique(pairs, return_inverse=True)
    where = where.ravel()
    return (np.bincount(where, matrix.ravel()) / np.bincount(where))[where].reshape(matrix.shape)


@lru_cache(maxsize=64)
def _table(d: int, spread: float | None, fraction: float | None, invention: Invention, seed: int) -> _Table:
    facts = _public_facts(d, spread, fraction)
    cells = _cells(invention.n, d, spread, invention, seed)
    y = facts.units.to_working(cells)
    # Limits that follow from typical ranges cut off cells that the rows have; declared limits are those of the column.
    true = y if spread is not None else (cells - facts.origin) / facts.scale
    joint = np.hstack([y / facts.row_bound, np.ones((len(y), 1))])
    joint[:, :-1] /= np.maximum(1.0, np.linalg.norm(joint[:, :-1], axis=1))[:, None]
    fourth = float(np.mean(((true - true.mean(axis=0)) ** 2).sum(axis=1) ** 2))
    return _Table(np.cov(true, rowvar=False, bias=True).reshape(d, d), joint.T @ joint / len(y), fourth)


def _release_errors(
    request: PrivateRequest, tables: list[_Table], law: NoiseDistribution, seed: int, rounds: int, *, fixed: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of simulated releases, a row for each round through the tables, and of their correlations.

    Unless the number of rounds is ``fixed``, they end when the mean is known well.
    """
    facts, off = request.input.facts, ~np.eye(request.input.facts.d, dtype=bool)
    assert facts.n is not None, "the number of rows is public"
    release, floor = simulated_release(request, law, facts.n), law.diagonal_std * facts.row_bound**2
    edge = np.append(np.ones(facts.d), planned_anchor(facts, law.shape))
    exact = [table.moment * np.outer(edge, edge) for table in tables]
    true = [correlation(table.covariance, floor=1e-12) for table in tables]
    errors, squares = np.empty((rounds, len(tables))), np.zeros((rounds, len(tables)))
    for k in range(rounds):
        for j, table in enumerate(tables):
            noise = law.draw(stream(seed, "noise", k * len(tables) + j, "plan", "twin"))
            estimate = release(exact[j] + noise, None)
            errors[k, j] = table.error_of(estimate)
            if off.any():
                squares[k, j] = float(np.mean((correlation(estimate, floor=floor) - true[j])[off] ** 2))
        made = errors[: k + 1]
        if k and not fixed and made.var(axis=0, ddof=1).mean() <= made.size * (_WELL * made.mean()) ** 2:
            return made, squares[: k + 1]
    return errors, squares


@lru_cache(maxsize=16)
def _public_facts(d: int, spread: float | None, fraction: float | None = None) -> PublicFacts:
    """Return the facts of a declaration of d columns: bounds alone, or where nine in ten cells of each lie."""
    limits = {"typical_range": (-NINE_IN_TEN, NINE_IN_TEN)} if spread is None else {"low": -1.0, "high": 1.0}
    columns = tuple(Column(f"x{j + 1}", **limits) for j in range(d))
    declaration = Declaration("expected", "one row", columns, row_bound_fraction=fraction or fraction_of(columns))
    return declaration.facts


def fraction_declared(d: int, spread: float | None) -> float:
    """Return the row bound that follows from the declaration, as a part of the longest row."""
    return _public_facts(d, spread).units.row_bound / _public_facts(d, spread).units.longest


def least_level(error: float, n: int, d: int, guarantee: Guarantee, **supposed: Any) -> Expectation:
    """Return the expectation at the smallest level of the guarantee's kind with at most this error.

    Where no level suffices, at the largest level: its error shows so. ``supposed`` are further arguments of `expect`.
    """
    checks.in_range("error", error, 1e-4, 0.99, "The zero matrix has an error of 1; 5 % is 0.05.")
    supposed["random_state"] = seed_of(supposed.get("random_state"))  # one noise at every level

    def at(level: float, **rough: int) -> Expectation:
        return expect(n, d, with_level(guarantee, level), **(supposed | rough))

    return _least(error, at, *ENDS[guarantee.kind])


def least_rows(error: float, d: int, guarantee: Guarantee, **supposed: Any) -> Expectation:
    """Return the expectation with the smallest number of rows with at most this error; otherwise as `least_level`."""
    checks.in_range("error", error, 1e-4, 0.99, "The zero matrix has an error of 1; 5 % is 0.05.")
    supposed["random_state"] = seed_of(supposed.get("random_state"))

    def at(rows: float, **rough: int) -> Expectation:
        return expect(math.ceil(rows), d, guarantee, **(supposed | rough))

    return _least(error, at, FEWEST_ROWS, MAX_ROWS)


def _least(error: float, at: Callable[..., Expectation], low: float, high: float) -> Expectation:
    """Return the expectation at the smallest value within the error: with one noise, errors fall with the value.

    A search with few releases finds the region and the slope. A search with all releases finds the value.
    """
    expectations: dict[float, Expectation] = {}

    @cache
    def rough(log: float) -> float:
        return math.log(at(_rounded_up(math.exp(log)), releases=_ROUGH).error / error)

    @cache
    def excess(log: float) -> float:
        expectations[log] = at(_rounded_up(math.exp(log)))
        return math.log(expectations[log].error / error)

    low, high = math.log(low), math.log(high)
    if rough(high) > 0 or rough(low) <= 0:
        end = high if rough(high) > 0 else low
        return at(_rounded_up(math.exp(end)))
    value = brentq(rough, low, high, xtol=2 * _NEAR)
    ends = max(low, value - _AROUND), min(high, value + _AROUND)
    slope = min(max((rough(ends[0]) - rough(ends[1])) / (ends[1] - ends[0]), _FLAT), _STEEP)
    for _ in range(_STEPS):
        if -2 * _NEAR * slope <= excess(value) <= 0:
            break
        value = min(max(value + excess(value) / slope + _NEAR / 2, low), high)
    within = [log for log in expectations if expectations[log].error <= error]
    if within:
        return expectations[min(within)]
    above, value = max(expectations), high  # near a floor, where errors hardly fall any more
    while excess(value) <= 0 and value - above > 2 * _NEAR:
        middle = (above + value) / 2
        above, value = (above, middle) if excess(middle) <= 0 else (middle, value)
    return expectations[value]


def _rounded_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit - 1e-6) * unit:.6g}")
