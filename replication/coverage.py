"""How often the intervals contain the truth, measured on simulated releases: the evidence shown beside every answer.

Two numbers count an answer: the mean over all its entries, and one entry a replicate, drawn at random, whose binomial
count allows an exact test. data/coverage/README.md says what was set with a look at these seeds. Gaussian populations
are drawn without limits; the others are clipped, and so is their truth.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP
from privcov.core.randomness import stream
from privcov.data_sources.example import Example, survey_csv
from privcov.inference import contrasts, entries, regression, spectrum
from privcov.inference.coverage_record import FILE, LEVEL
from privcov.inference.unbiased import (
    Intervals,
    UnbiasedMoments,
    combine_moments,
    merge_class_anchors,
    unbiased_moments,
)
from privcov.measurements.exact.private_moment import planned_event, settle_shape
from privcov.measurements.exact.reading import noise_of
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory.anchor import ANCHOR_SQUARED
from privcov.measurements.noise_theory.noise_law import relative_count_std
from privcov.postprocess.binary_columns import BinaryColumns
from privcov.postprocess.edge_test import discoveries
from privcov.releases.public import release as public_release
from privcov.steward.example_rows import ExampleRows
from privcov.steward.preview import noise_for as planned_noise_for
from privcov.tables.dataset import Dataset
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import make_facts, working_units

SEED = 20_261
COLUMNS = (
    "cell",
    "answer",
    "replicates",
    "reported",
    "covered",
    "coverage",
    "wrong",
    "refused",
    "length",
    "false_discoveries",
)
GUARANTEES: dict[str, Guarantee] = {
    "rho .5": ZCDP(0.5),
    "rho 500": ZCDP(500.0),
    "rho .05": ZCDP(0.05),
    "rho .01": ZCDP(0.01),
    "eps 3 pure": PureDP(3.0),
    "eps 1 pure": PureDP(1.0),
    "eps 1 approximate": ApproxDP(1.0, 1e-6),
}


@dataclass(frozen=True)
class Cell:
    """One setting; ``more`` is "" or one of "hidden n", "classes", "persons", "laplace"."""

    population: str
    d: int
    n: int
    guarantee: str
    more: str = ""

    @property
    def name(self) -> str:
        """The cell in words, its key in the table."""
        return ", ".join(filter(None, (self.population, f"d={self.d}", f"n={self.n}", self.guarantee, self.more)))


QUICK = (
    Cell("neighbours", 5, 20_000, "rho .5"),
    Cell("neighbours", 8, 5_000, "rho .05"),
    Cell("neighbours", 5, 2_000, "rho .01"),
    Cell("factor", 5, 5_000, "eps 1 approximate"),
    Cell("factor", 8, 20_000, "rho .05"),
    Cell("blocks", 6, 5_000, "rho .5"),
    Cell("blocks", 6, 20_000, "eps 3 pure"),
    Cell("neighbours", 5, 5_000, "eps 1 pure"),
    Cell("neighbours", 3, 3_000, "eps 1 pure", "laplace"),
    Cell("factor", 12, 20_000, "eps 3 pure"),
    Cell("neighbours", 5, 5_000, "rho .05", "hidden n"),
    Cell("blocks", 6, 5_000, "rho .05", "classes"),
    Cell("example", 10, 10_000, "rho .05"),
    Cell("hospital", 6, 2_000, "rho .05"),
    Cell("hospital", 6, 1_000, "rho .5", "persons"),
    Cell("levels", 6, 5_000, "rho .5"),
    Cell("levels", 6, 20_000, "rho .05"),
    Cell("short", 6, 5_000, "rho .5"),
    Cell("short", 6, 20_000, "rho .05"),
    Cell("groups", 5, 2_000, "rho .5"),
    Cell("groups", 5, 20_000, "rho .05"),
    Cell("groups", 5, 10_000, "eps 1 pure"),
    Cell("heavy", 6, 5_000, "rho .5"),
    Cell("heavy", 6, 20_000, "rho .05"),
    Cell("pairs", 4, 2_000, "rho .5"),
    Cell("pairs", 4, 20_000, "rho .05"),
    Cell("pairs", 4, 20_000, "eps 3 pure"),
    *(Cell(f"skewed {sigma:g}", 4, 1_000, "rho 500") for sigma in (1.0, 1.5, 2.0, 2.5)),
    Cell("skewed 2.5", 4, 200, "rho 500"),
    Cell("skewed 2.5", 4, 20_000, "rho 500"),
    Cell("categories", 6, 2_000, "rho .5"),
    Cell("categories", 6, 20_000, "rho .05"),
    Cell("searched bound", 12, 5_000, "rho .5"),
    Cell("searched bound", 12, 20_000, "rho .05"),
    Cell("searched bound", 12, 20_000, "eps 1 pure"),
    Cell("searched bound heavy", 12, 20_000, "rho .05"),
)
FULL = (
    *QUICK,
    Cell("neighbours", 20, 20_000, "rho .05"),
    Cell("neighbours", 50, 50_000, "rho .5"),
    Cell("factor", 50, 20_000, "rho .05"),
    Cell("blocks", 20, 20_000, "eps 3 pure"),
    Cell("blocks", 20, 5_000, "rho .5"),
    Cell("factor", 10, 5_000, "eps 3 pure"),
    Cell("neighbours", 10, 5_000, "rho .5", "hidden n"),
    Cell("neighbours", 10, 20_000, "eps 3 pure", "hidden n"),
    Cell("blocks", 8, 20_000, "eps 3 pure", "classes"),
    Cell("example", 10, 5_000, "rho .5"),
    Cell("example", 10, 20_000, "eps 1 approximate"),
    Cell("hospital", 6, 20_000, "eps 3 pure"),
)
SHORT = 0.6  # of the longest possible row, to which rows are shortened
GROUPED = (2, 3)  # the columns of two values that make groups
MISSING = (0.05, 0.1, 0.2, 0.3)  # share of the cells of each column that are missing
BY_ENTRY = ("means", "variances", "covariances", "correlations")  # answers without a joint law of all entries
BINARY, BY = 2, [0, 1, 3]  # a response of two values, and its regressors
_PARTS = ("estimate", "low", "high", "reason_code")
PRESETS = {"quick": (QUICK, 2_000), "full": (FULL, 4_000)}


@dataclass(frozen=True, eq=False)
class Population:
    """A population in working units, and how rows are drawn from it (Gaussian where ``rows`` is None).

    ``gaps`` is the difference of the two class means, ``two`` the columns of two values, ``kurtosis`` what is assumed.
    """

    mean: np.ndarray
    covariance: np.ndarray
    rows: Callable[[int, np.random.Generator], np.ndarray] | None = None
    gaps: np.ndarray | None = None
    two: BinaryColumns | None = None
    kurtosis: float = 0.0


@cache
def population_of(kind: str, d: int, more: str) -> Population:
    """Return the population of a cell."""
    at = np.arange(d)
    if kind == "example":
        return _of_table(_example())
    if kind == "hospital":
        rows = _visits(400_000, stream(SEED, "rows", 0, "hospital", "truth"), more == "persons")
        return Population(*_moments(rows), lambda n, rng: _visits(n, rng, more == "persons"))
    if kind in ("levels", "short"):
        span, names = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), ("rare", "common", "level")
        whole = kind == "levels"
        two = BinaryColumns(np.zeros(6), span, ((1,), (2,), (3, 4, 5)), whole, names, whole)
        return _with_two_values(kind, _levels if kind == "levels" else _shortened, two)
    if kind == "categories":
        two = BinaryColumns(
            np.zeros(6), np.array([0.0, 1, 1, 1, 1, 1]), ((1, 2, 3, 4), (5,)), True, ("region", "yes"), True
        )
        return _with_two_values(kind, _regions, two)
    if kind.startswith("skewed"):
        sigma = float(kind.split()[1])
        rows = _skewed(sigma, 4_000_000, stream(SEED, "rows", 0, kind, "truth"))
        return Population(*_moments(rows), lambda n, rng: _skewed(sigma, n, rng))
    if kind == "groups":
        two = BinaryColumns(np.zeros(5), np.array([0.0, 0, 1, 1, 1]), ((2,), (3,), (4,)), True, ("a", "b", "c"), True)
        return _with_two_values(kind, _groups, two)
    apart = np.abs(at[:, None] - at[None, :])
    structure = {
        "neighbours": 0.6**apart,
        "factor": np.where(apart == 0, 1.0, 0.5),
        "blocks": np.where(apart == 0, 1.0, np.where((at[:, None] // 2) == (at[None, :] // 2), 0.5, 0.0)),
        "heavy": 0.6**apart,
        "pairs": 0.9**apart,
        "searched bound": 0.6**apart,
        "searched bound heavy": 0.6**apart,
    }[kind]
    # No cell of pairs is beyond its bounds; those of a searched bound are ten standard deviations away.
    spread = {"pairs": 0.15, "searched bound": 0.1, "searched bound heavy": 0.1}.get(kind, 0.3) * (
        1 + 0.15 * np.cos(at)
    )
    within, mean = structure * np.outer(spread, spread), (0.1 if "searched" in kind else 0.2) * np.cos(at)
    if kind.endswith("heavy"):  # Student's t with 5 degrees of freedom, excess kurtosis 6
        root = np.linalg.cholesky(within)

        def drawn(n: int, rng: np.random.Generator) -> np.ndarray:
            rows = rng.standard_normal((n, d)) @ root.T
            return (mean + rows * np.sqrt(3 / rng.chisquare(5, n))[:, None])[None]

        return Population(mean, within, drawn, kurtosis=2.0)
    if more != "classes":
        return Population(mean, within)
    gap = 0.15 * (1 + np.sin(at))
    return Population(mean, within + 0.21 * np.outer(gap, gap), gaps=gap)


def _with_two_values(
    kind: str, drawn: Callable[[int, np.random.Generator], np.ndarray], two: BinaryColumns
) -> Population:
    truth = drawn(4_000_000, stream(SEED, "rows", 0, kind, "truth"))
    return Population(*_moments(truth[None]), lambda n, rng: drawn(n, rng)[None], two=two)


def _example() -> np.ndarray:
    """Return the rows of the simulated survey of another seed than the shipped one, in working units."""
    table = np.loadtxt(io.StringIO(survey_csv(2).decode()), delimiter=",", skiprows=1)
    names = tuple(c.name for c in Example.table)
    bounds = [(c.low, c.high) for c in Example.table]
    return working_units(names, None, bounds, [c.typical for c in Example.table], 1.0).to_working(table)


def _of_table(rows: np.ndarray) -> Population:
    return Population(*_moments(rows[None]), lambda n, rng: rows[None, rng.integers(0, len(rows), n)])


def _visits(n: int, rng: np.random.Generator, repeated: bool) -> np.ndarray:
    """Return laboratory values, a score and two yes-or-no columns, one visit or four of each person: (visits, n, 6)."""
    own = rng.standard_normal((1, n, 3))
    fresh = rng.standard_normal((4 if repeated else 1, n, 6))
    age, sick, sex = own[..., 0], own[..., 1], own[..., 2] > 0
    columns = [
        0.3 * age + 0 * fresh[..., 0],
        np.exp(0.4 * (0.6 * sick + 0.8 * fresh[..., 1])) / 2 - 0.6,
        0.35 * (0.5 * sick + 0.4 * age + 0.75 * fresh[..., 2]),
        np.rint(2 * (0.7 * sick + 0.7 * fresh[..., 3])) / 8,
        np.where(sex, 1.0, -1.0) + 0 * fresh[..., 4],
        np.where(0.5 * sick + 0.85 * fresh[..., 5] > 0.5, 1.0, -1.0),
    ]
    return np.clip(np.stack(columns, axis=-1), -1.0, 1.0)


def _levels(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a number, a rare yes (3 %), a common one, and levels of 2, 6 and 30 %, related by one score."""
    score, fresh = rng.standard_normal(n), rng.standard_normal((3, n))
    level = np.digitize(rng.random(n) + 0.04 * np.tanh(score), [0.02, 0.08, 0.38])
    columns = [0.3 * (0.6 * score + 0.8 * fresh[0]), 0.4 * score + 0.9 * fresh[1] > 1.852, score + fresh[2] > 0.3]
    return np.column_stack([*columns, *(level == k for k in range(3))]).astype(np.float64)


def _shortened(n: int, rng: np.random.Generator) -> np.ndarray:
    rows = _levels(n, rng)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True) / (SHORT * math.sqrt(6)), 1.0)


def _regions(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a number, four regions of 50, 30, 14 and 6 %, and a yes of 10 %, related by one score."""
    score, fresh = rng.standard_normal(n), rng.standard_normal((2, n))
    region = np.digitize(rng.random(n) + 0.04 * np.tanh(score), [0.5, 0.8, 0.94])
    columns = [0.3 * (0.6 * score + 0.8 * fresh[0]), *(region == k for k in range(4)), 0.4 * score + fresh[1] > 1.38]
    return np.column_stack(columns).astype(np.float64)


def _skewed(sigma: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return lognormal columns within a limit that 1 in 10,000 exceeds: (1, n, 4)."""
    return np.minimum(np.exp(sigma * (rng.standard_normal((n, 4)) - 3.719)), 1.0)[None]


def _groups(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a t with 5 degrees of freedom, a skewed number, a yes of 2 %, one of 40 % and one of 5 %."""
    score, fresh = rng.standard_normal(n), rng.standard_normal((3, n))
    yes = np.stack([0.3 * score + 0.95 * f > cut for f, cut in zip(fresh, (2.05, 0.25, 1.64), strict=True)], axis=1)
    heavy = 0.15 * rng.standard_normal(n) * np.sqrt(5 / rng.chisquare(5, n)) + 0.2 * yes[:, 0] + 0.1 * yes[:, 1]
    skewed = 0.1 * np.exp(0.7 * rng.standard_normal(n)) + 0.1 * yes[:, 2] - 0.05 * yes[:, 1]
    return np.column_stack([heavy, skewed, yes]).astype(np.float64)


def _moments(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance over all visits of all persons, every visit with the same weight."""
    flat = rows.reshape(-1, rows.shape[-1])
    mean = flat.mean(axis=0)
    return mean, flat.T @ flat / len(flat) - np.outer(mean, mean)


def _share(cell: Cell) -> float:
    return SHORT if cell.population == "short" else 1.0


@cache
def noise_for(cell: Cell) -> NoiseDistribution:
    """Return the noise that a private release of the cell would have."""
    names = tuple(f"x{j + 1}" for j in range(cell.d))
    units = working_units(names, None, [(-1.0, 1.0)] * cell.d, [0.0] * cell.d, _share(cell))
    classes = ("a", "b") if cell.more == "classes" else ()
    hidden = cell.more == "hidden n"
    facts = make_facts(names, units, classes, None if hidden else cell.n, not hidden, 1, "typical")
    guarantee, k = GUARANTEES[cell.guarantee], len(classes) or 1
    pure = isinstance(guarantee, PureDP)
    pure_shape = "laplace" if cell.more == "laplace" else "wishart-difference"
    asked = pure_shape if pure else "isotropic"
    event = planned_event(facts, guarantee, shape=asked)
    noise = noise_of(facts, settle_shape(facts, asked, k), event.scale, k, k, cell.n)
    return dataclasses.replace(noise, corner=hidden or bool(classes))


def release(cell: Cell, rng: np.random.Generator) -> tuple[UnbiasedMoments, NoisyMoment]:
    """Draw rows and noise of a cell."""
    if cell.population == "pairs":
        return _with_missing(cell, rng)
    if cell.population.startswith("searched"):
        return _with_search(cell, rng)
    people, n, d, s = population_of(cell.population, cell.d, cell.more), cell.n, cell.d, math.sqrt(ANCHOR_SQUARED)
    noise, r = noise_for(cell), _share(cell) * math.sqrt(cell.d)
    if people.gaps is not None:
        sizes = np.array([n - (b := rng.binomial(n, 0.3)), b])
        within = people.covariance - 0.21 * np.outer(people.gaps, people.gaps)
        drawn = [_gaussian(within, int(size), rng) for size in sizes]
        centres = [people.mean - 0.3 * people.gaps, people.mean + 0.7 * people.gaps]
        means = [m + c for (m, _), c in zip(drawn, centres, strict=True)]
        second = sum(size * (c + np.outer(m, m)) for size, m, (_, c) in zip(sizes, means, drawn, strict=True)) / n
        edge = np.column_stack([size * m for size, m in zip(sizes, means, strict=True)]) / n
        corner = np.diag(sizes / n)
    else:
        if people.rows is None:
            mean, covariance = _gaussian(people.covariance, n, rng)
            mean = mean + people.mean
        else:
            mean, covariance = _moments(people.rows(n, rng))
        second, edge, corner = covariance + np.outer(mean, mean), mean[:, None], np.eye(1)
    whole = np.block([[second / r**2, s * edge / r], [s * edge.T / r, ANCHOR_SQUARED * corner]]) + noise.draw(rng)
    count = None
    if noise.corner:
        share = float(np.trace(whole[d:, d:])) / ANCHOR_SQUARED
        whole, count = whole / share, n * share
        noise = dataclasses.replace(noise, scale=noise.scale / share, corner=noise.n_anchors > 1)
    if noise.n_anchors == 1:
        whole[-1, -1] = ANCHOR_SQUARED
    centre = "classes" if noise.n_anchors > 1 else "joint"
    measured = NoisyMoment(whole, noise, None, centre, None if count else n, r, count)
    names = tuple(f"x{j + 1}" for j in range(d))
    rows = measured.n_rows
    relative = relative_count_std(measured)
    known = combine_moments(merge_class_anchors(measured), relative, rows, names, np.ones(d), np.zeros(d), None)
    return dataclasses.replace(known, binary=people.two), measured


def _with_missing(cell: Cell, rng: np.random.Generator) -> tuple[UnbiasedMoments, NoisyMoment]:
    """Draw rows with missing cells, which are measured by pairs, and the noise of their private release."""
    people = population_of(cell.population, cell.d, cell.more)
    rows = people.mean + rng.standard_normal((cell.n, cell.d)) @ np.linalg.cholesky(people.covariance).T
    rows[rng.random(rows.shape) < MISSING] = np.nan
    table = ExampleRows(PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * cell.d, missing="pairs"), cell.n, "")
    noise = planned_noise_for(table, GUARANTEES[cell.guarantee])
    noisy = table.noisy(noise, int(rng.integers(2**62)))
    measured = NoisyMoment(noisy.matrix, noise, None, "joint", cell.n, noisy.row_bound, flags=noisy.flags)
    names = table.table.facts.columns
    return combine_moments(measured, 0.0, cell.n, names, np.ones(cell.d), np.zeros(cell.d), None), measured


def _with_search(cell: Cell, rng: np.random.Generator) -> tuple[UnbiasedMoments, NoisyMoment]:
    """Draw rows, and release them under the row bound that a search finds; the truth is of rows of any length."""
    people = population_of(cell.population, cell.d, cell.more)
    if people.rows is None:
        rows = people.mean + rng.standard_normal((cell.n, cell.d)) @ np.linalg.cholesky(people.covariance).T
    else:
        rows = people.rows(cell.n, rng)[0]
    data = Dataset.from_rows(rows, bounds=[(-1, 1)] * cell.d)
    found = public_release(data, GUARANTEES[cell.guarantee], random_state=int(rng.integers(2**62)))
    assert found.noisy_moment is not None, "the moment was measured"
    return unbiased_moments(found), found.noisy_moment


def _gaussian(covariance: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance (over n) of n Gaussian rows, by Bartlett's factor."""
    d, root = len(covariance), np.linalg.cholesky(covariance)
    factor = np.tril(rng.standard_normal((d, d)), -1)
    factor[np.diag_indices(d)] = np.sqrt(rng.chisquare(n - 1 - np.arange(d)))
    left = root @ factor
    return root @ rng.standard_normal(d) / math.sqrt(n), left @ left.T / n


def answers_of(
    known: UnbiasedMoments, measured: NoisyMoment, wanted: Collection[str], k: float = 0.0
) -> Iterator[tuple[str, Intervals]]:
    """Yield the name and the intervals of every answer that is wanted."""
    if set(wanted) <= set(BY_ENTRY):
        yield from _by_entry(known, k)
        return
    few = list(range(1, min(known.d, 5)))
    if "group_means" in wanted:
        parts = [found for by in GROUPED for found in contrasts.group_mean_intervals(known, by, LEVEL)]
        yield "group_means", Intervals(*(np.array([getattr(p, end)[:2] for p in parts]) for end in _PARTS))
    shape = known.for_shape(k)
    if "regress, two values" in wanted:
        yield "regress, two values", regression.regress(shape, BINARY, BY, 0.0, LEVEL).slopes
    fit = regression.regress(shape, 0, few, 0.0, LEVEL)
    yield "regress", fit.slopes
    if known.d > 5:
        yield "regress, all columns", regression.regress(shape, 0, list(range(1, known.d)), 0.0, LEVEL).slopes
    if not {"means", "components"} & set(wanted):
        return
    partial = regression.partial_correlations(shape, LEVEL)
    yield from _by_entry(known, k)
    yield "partial_correlations", _above(partial)
    yield "edges", _above(regression.edges(known, partial, k))
    yield "r_squared", fit.r_squared
    yield "regress, ridge", regression.regress(shape, 0, few, 0.05, LEVEL).slopes
    yield "eigenvalues", spectrum.eigenvalues(known, LEVEL, k)
    yield "components", spectrum.components(shape, 1, LEVEL)
    if measured.distribution.n_anchors > 1:
        yield "contrast", contrasts.contrast(known, measured, 1, 0, LEVEL)


def _by_entry(known: UnbiasedMoments, k: float) -> Iterator[tuple[str, Intervals]]:
    yield "means", entries.means(known, LEVEL)
    yield "variances", entries.variances(known, LEVEL, k)
    yield "covariances", _above(entries.covariances(known, LEVEL, k))
    yield "correlations", _above(entries.correlations(known, LEVEL, k))


def _above(found: Intervals) -> Intervals:
    """Return the pairs of a square answer, each once."""
    upper = np.triu_indices(len(found.estimate), 1)
    p = None if found.p_value is None else found.p_value[upper]
    estimate, low, high, reason = (getattr(found, end)[upper] for end in _PARTS)
    return Intervals(estimate, low, high, reason, p)


def truths(cell: Cell) -> dict[str, np.ndarray]:
    """Return the number of the population behind every entry of every answer."""
    people = population_of(cell.population, cell.d, cell.more)
    c, upper, few = people.covariance, np.triu_indices(cell.d, 1), list(range(1, min(cell.d, 5)))

    def slopes(on: list[int], ridge: float = 0.0, y: int = 0) -> np.ndarray:
        return np.linalg.solve(c[np.ix_(on, on)] + ridge * np.eye(len(on)), c[on, y])

    if people.two is not None and cell.population != "categories":
        groups = {
            "group_means": np.concatenate([_group_means(people, by) for by in GROUPED]),
            "regress, two values": slopes(BY, y=BINARY),
        }
        if cell.population == "groups":
            return {**groups, "regress": slopes(few)}
        if cell.population == "short":
            del groups["group_means"]
    root = np.sqrt(np.diag(c))
    plain = (people.mean, np.diag(c), c[upper], (c / np.outer(root, root))[upper])
    if cell.population.startswith("skewed"):
        return {"means": people.mean}
    if cell.population in ("pairs", "categories"):
        return dict(zip(BY_ENTRY, plain, strict=True))
    inverse = np.linalg.inv(c)
    own = np.sqrt(np.diag(inverse))
    partial = (-inverse / np.outer(own, own))[upper]
    values, axes = np.linalg.eigh(c)
    first = axes[:, -1] * np.sign(axes[np.argmax(np.abs(axes[:, -1])), -1])
    found = {
        **dict(zip(BY_ENTRY, plain, strict=True)),
        "partial_correlations": partial,
        "edges": partial,
        "regress": slopes(few),
        "r_squared": np.array(c[few, 0] @ slopes(few) / c[0, 0]),
        "regress, ridge": slopes(few, 0.05),
        "regress, all columns": slopes(list(range(1, cell.d))),
        "eigenvalues": values[::-1],
        "components": first[:, None],
    }
    if people.two is not None:
        found |= groups
    if cell.d <= 5:
        del found["regress, all columns"]
    return found if people.gaps is None else {**found, "contrast": people.gaps}


def _group_means(people: Population, by: int) -> np.ndarray:
    """Return the means of the first two columns where another is 0, where it is 1, and the differences."""
    p, both = people.mean[by], people.covariance[:2, by] + people.mean[:2] * people.mean[by]
    low, high = (people.mean[:2] - both) / (1 - p), both / p
    return np.array([low, high, high - low])


def measure(cell: Cell, replicates: int, wanted: Collection[str] | None = None) -> list[dict[str, Any]]:
    """Return one line of the table for every answer of a cell, or for those that are wanted."""
    true = {name: truth for name, truth in truths(cell).items() if wanted is None or name in wanted}
    sums: dict[str, list[tuple[float, ...]]] = {}
    kurtosis = population_of(cell.population, cell.d, cell.more).kurtosis
    for number in range(replicates):
        rng = stream(SEED, "rows", number, cell.name, "coverage")
        known, measured = release(cell, rng)
        for name, found in answers_of(known, measured, true, kurtosis):
            if name not in true:
                continue
            truth, shown = true[name], np.ravel(found.identified)
            inside = np.ravel((found.low <= truth) & (truth <= found.high)) & shown
            one = int(rng.integers(len(shown)))
            wide = float(np.median(np.ravel(found.high - found.low)[shown])) if shown.any() else math.nan
            false = math.nan
            zero = np.abs(np.ravel(truth)) < 1e-12
            if found.p_value is not None and zero.any():
                real = discoveries(found.p_value, 0.05)
                false = float((real & zero).sum() / max(real.sum(), 1))
            line = (shown[one], inside[one], shown.mean(), inside.mean(), wide, false)
            sums.setdefault(name, []).append(line)
    return [_line(cell, name, np.array(lines, dtype=np.float64)) for name, lines in sums.items()]


def _line(cell: Cell, answer: str, lines: np.ndarray) -> dict[str, Any]:
    shown, inside = float(lines[:, 2].mean()), float(lines[:, 3].mean())
    wide, false = lines[:, 4][~np.isnan(lines[:, 4])], lines[:, 5][~np.isnan(lines[:, 5])]
    return {
        "cell": cell.name,
        "answer": answer,
        "replicates": len(lines),
        "reported": int(lines[:, 0].sum()),
        "covered": int(lines[:, 1].sum()),
        "coverage": f"{inside / shown:.4f}" if shown else "",
        "wrong": f"{shown - inside:.4f}",
        "refused": f"{1 - shown:.4f}",
        "length": f"{np.median(wide):.4g}" if len(wide) else "",
        "false_discoveries": f"{false.mean():.4f}" if len(false) else "",
    }


def run(preset: str, folder: Path, progress: Callable[[int, int, str], None] | None = None) -> Path:
    """Measure the cells of a preset that the table does not have yet, and store each when it is done."""
    cells, replicates = PRESETS[preset]
    path = folder / FILE
    stored: dict[str, list[dict[str, Any]]] = {}
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                stored.setdefault(line["cell"], []).append(line)
    for done, cell in enumerate(cells):
        kept = {line["answer"]: line for line in stored.get(cell.name, []) if int(line["replicates"]) >= replicates}
        if missing := truths(cell).keys() - kept.keys():
            if progress is not None:
                progress(done, len(cells), cell.name)
            kept |= {line["answer"]: line for line in measure(cell, replicates, missing)}
            stored[cell.name] = [kept[name] for name in truths(cell)]
            _write(path, stored)
    return path


def _write(path: Path, stored: dict[str, list[dict[str, Any]]]) -> None:
    order = [cell.name for cell in FULL if cell.name in stored]
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(line for name in order for line in stored[name])
    beside.replace(path)


def refuted(path: Path, nominal: float = 0.94, family: float = 0.05) -> list[dict[str, str]]:
    """Return the lines with coverage below ``nominal``, by one-sided tests of all together (Clopper, Pearson 1934).

    Means of skewed columns are not among them: their sentence says how often they are covered.
    """
    from scipy.stats import binom

    with path.open(encoding="utf-8", newline="") as file:
        lines = [x for x in csv.DictReader(file) if int(x["reported"]) and not x["cell"].startswith("skewed")]
    least = family / max(len(lines), 1)
    return [line for line in lines if binom.cdf(int(line["covered"]), int(line["reported"]), nominal) < least]
