"""A table in place of the private one, measured as a release would measure it: invented rows, or public rows.

The rows are coded, shortened and weighted by the functions of the release, under the same declaration; only the noise
is simulated. So whatever can be declared has a preview: kinds of columns, missing cells that are measured, ids,
classes, row bounds. The number of rows of the planned release is the owner's own, whatever the number of these rows.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from privcov.core import checks
from privcov.core.randomness import stream
from privcov.measurements.exact.integer_gram import UNIT, flag_value, to_working
from privcov.measurements.exact.private_moment import anchor_of, exact_sum
from privcov.measurements.exact.reading import flags_of
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory.anchor import BOTH, COVARIANCE, anchor_squared
from privcov.postprocess.available_cases import available_cases
from privcov.postprocess.binary_columns import find_binary_columns
from privcov.postprocess.matrices import MeasuredMoment
from privcov.postprocess.moments import unpack
from privcov.postprocess.threshold import noise_variance
from privcov.tables.declaration.typical_ranges import NINE_IN_TEN, OF_FEW, is_few, spread
from privcov.tables.declared_columns import MAX_COLUMNS, Kinds
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import PublicFacts
from privcov.tables.readers.kinds import CATEGORY, DATE, INTEGER, NUMBER, ORDINAL, YES_NO, Kind

MAX_MISSING = 0.95  # of the cells
MAX_SKEW = 3.0
_NONE = 1e-12  # scale of the noise where there is none: formulas divide by its variance
ROWS, _CELLS = 5_000, 400_000  # rows that are drawn of a large table, or as many as have so many cells
MAX_ROWS = 5_000  # of a public table that are used
USUAL_SHARE = 0.9  # of a yes-no column whose typical value is declared: that value
STRUCTURES = {
    "blocks": "groups of four columns",
    "factor": "all columns move together",
    "neighbours": "neighbouring columns",
    "independent": "nothing moves together",
}


@dataclass(frozen=True)
class Invention:
    """What the owner supposes of the rows; nothing of it is read from them.

    n: number of rows. structure: a key of STRUCTURES. strength: the largest correlation, from 0 to 0.99. spread:
    standard deviation of each column as a fraction of its half-range, from 0.001 to 1. missing: share of the cells that
    are missing, from 0 to 0.95, the same in every column and related to nothing. skew: from 0 to 3; 0 for normal
    columns, else the deviation of the logarithm of lognormal ones. ValueError for a value out of range.
    """

    n: int
    structure: str = "blocks"
    strength: float = 0.5
    spread: float = 0.3
    missing: float = 0.0
    skew: float = 0.0

    def __post_init__(self) -> None:
        checks.integer("n", self.n, 2)
        checks.one_of("structure", self.structure, tuple(STRUCTURES))
        checks.in_range("strength", self.strength, 0.0, 0.99)
        checks.in_range("spread", self.spread, 0.001, 1.0)
        checks.in_range("missing", self.missing, 0.0, MAX_MISSING)
        checks.in_range("skew", self.skew, 0.0, MAX_SKEW)

    def correlation(self, d: int) -> np.ndarray:
        """Return the correlations of d columns, d x d."""
        at = np.arange(d)
        apart = np.abs(at[:, None] - at[None, :])
        if self.structure == "neighbours":
            return self.strength**apart
        same = {
            "factor": np.ones_like(apart, dtype=bool),
            "blocks": (at[:, None] // 4) == (at[None, :] // 4),
            "independent": apart == 0,
        }[self.structure]
        return np.where(apart == 0, 1.0, np.where(same, self.strength, 0.0))

    def shape(self, normal: np.ndarray) -> np.ndarray:
        """Return the values of columns from standard normal variables; nine in ten lie in one range for every skew."""
        if not self.skew:
            return normal
        return (np.exp(self.skew * normal) - math.cosh(self.skew * NINE_IN_TEN)) * self._unit

    def covariance(self, d: int) -> np.ndarray:
        """Return the covariance of what `shape` makes of normal variables with these correlations, d x d."""
        if not self.skew:
            return self.correlation(d)
        square = self.skew * self.skew
        return self._unit**2 * math.exp(square) * np.expm1(square * self.correlation(d))

    @property
    def _unit(self) -> float:
        return NINE_IN_TEN / math.sinh(self.skew * NINE_IN_TEN)


@dataclass(frozen=True, eq=False, repr=False)
class ExampleRows:
    """Rows under a declaration, in place of the private ones.

    table: the rows, public or drawn, under the declaration of the private table; nothing here protects them. n: number
    of rows, or of persons, that the release is planned for. description: what the rows are, in words. public: False for
    rows that were drawn.
    """

    table: PrivateDataset
    n: int
    description: str
    public: bool = False
    _covariance: np.ndarray | None = dataclasses.field(default=None)  # the covariance, in the data's units

    def __post_init__(self) -> None:
        checks.integer("n", self.n, 2)
        if self.table.files is not None or self.table.facts.bounds is None:
            raise ValueError("A stand-in has its rows in memory, and bounds or kinds for every column. Declare them.")

    @classmethod
    def of_public(cls, table: PrivateDataset, n: int) -> ExampleRows:
        """Return public rows in place of the private ones."""
        cells = cls(table, n, "")._cells
        description, count = f"a public table of {len(cells):,} rows", len(cells)
        if count > MAX_ROWS:
            sample = np.sort(stream(0, "rows", 0, "plan", "public").choice(count, MAX_ROWS, replace=False))
            of_class, each = (None if of is None else of[sample] for of in (table._class_of, table._rows_of_person))
            # A person is there with the weight of the rows that were drawn.
            persons = MAX_ROWS if each is None else max(1, round(float(np.sum(1 / each[each > 0]))))
            facts = table.facts if table.facts.n is None else dataclasses.replace(table.facts, n=persons)
            table = PrivateDataset(facts, table.name, cells[sample], of_class, None, each)
        example = cls(table, n, description, True)
        if example.weight and example.missing > MAX_MISSING:  # of no row the weight is refused
            raise ValueError(
                f"{example.missing:.0%} of the cells of this table are missing or not as declared, and the most is "
                f"{MAX_MISSING:.0%}. Check the kinds, the separator and the decimal mark."
            )
        return example

    @property
    def facts(self) -> PublicFacts:
        """The declaration, with the number of these rows."""
        return self.table.facts

    @property
    def _cells(self) -> np.ndarray:
        assert isinstance(self.table._rows, np.ndarray), "rows in files are refused"
        return self.table._rows

    @property
    def d(self) -> int:
        """Number of measured columns."""
        return self.facts.d

    @property
    def row_bound(self) -> float:
        """R, in working units."""
        return self.facts.row_bound

    @functools.cached_property
    def missing(self) -> float:
        """Share of the cells that are missing."""
        return float((~np.isfinite(self._cells)).mean())

    def under(self, facts: PublicFacts) -> ExampleRows:
        """Return the same rows under other facts: another rule for missing cells, row bound, or weights."""
        facts = dataclasses.replace(facts, n=self.facts.n if facts.n is not None else None)
        table, covariance = dataclasses.replace(self.table, facts=facts), self.facts.units.covariance(self.covariance)
        return dataclasses.replace(self, table=table, _covariance=covariance)

    @functools.cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of the rows in working units, of the available cases and without a shortened row: the truth."""
        facts, rule = self.facts, self.facts.missing
        if self._covariance is not None:
            return self._covariance / np.outer(facts.scale, facts.scale)
        if rule != "drop-row":
            rule = "pairs" if self.missing and 2 * facts.d <= MAX_COLUMNS else "typical"
        whole = dataclasses.replace(facts.with_fraction(1.0), missing=rule)
        if whole.missing == "pairs" and not whole.flagged:
            whole = dataclasses.replace(whole, missing="typical")
        law, same = NoiseDistribution("isotropic", _NONE, whole.width, 1), dataclasses.replace(self.table, facts=whole)
        return covariance_of(dataclasses.replace(self, table=same).noisy(law, None))

    @property
    def correlation(self) -> np.ndarray:
        """Correlation matrix of the rows, d x d; a column that never changes has zeros."""
        spread = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        spread = np.where(spread > 0, spread, np.inf)
        matrix = self.covariance / np.outer(spread, spread)
        np.fill_diagonal(matrix, 1.0)
        return matrix

    @functools.cached_property
    def clipped(self) -> float:
        """Fraction of the rows that are longer than R."""
        y = np.nan_to_num(to_working(self.facts.units, self._cells))
        return float((np.linalg.norm(y, axis=1) > self.row_bound * (1 + 1e-12)).mean())

    def noisy(self, distribution: NoiseDistribution, seed: int | None, repeat: int = 0) -> MeasuredMoment:
        """Return a measurement of the rows with simulated noise."""
        facts, law = self.facts, distribution
        matrix, anchor = self._moment.copy(), planned_anchor(facts, law.shape)
        matrix[-1] *= anchor
        matrix[:, -1] *= anchor
        if seed is not None:
            matrix = matrix + law.draw(stream(seed, "noise", repeat, "plan", "twin"))
        flags = flags_of(facts.d, facts.flagged, law, weight=flag_value(facts.units, facts.flagged))
        ones, std = np.ones(facts.d), law.off_diagonal_std
        diagonal = law.diagonal_std_or_stds if flags is None else law.diagonal_stds[: facts.d]
        return MeasuredMoment(
            matrix,
            row_bound=self.row_bound,
            scale=ones,
            origin=0 * ones,
            n_rows=self.n,
            entry_std=std,
            diagonal_std=diagonal,
            flags=flags,
            binary=find_binary_columns(facts.kinds, facts.units, facts.missing),
        )

    @functools.cached_property
    def _summed(self) -> tuple[np.ndarray, int]:
        anchor = anchor_of(self.facts, COVARIANCE)
        return exact_sum(self.table, self.facts.n_anchors, anchor).astype(np.float64), anchor

    @property
    def weight(self) -> float:
        """The total weight of the rows: their number, or that of the persons, as far as they count."""
        (whole, anchor), w = self._summed, self.facts.width
        if not (total := float(np.trace(whole[w:, w:])) / anchor**2):
            raise ValueError(
                f"No row counts under the declaration, of {self.description}: none has an id, a listed class, or all "
                "its cells where rows with a missing one are left out. Take another table, or another rule for missing "
                "cells."
            )
        return total

    @property
    def share(self) -> float:
        """Share of the rows, or of the weight of the persons, that counts: with all cells, a listed class and an id."""
        each = self.table._rows_of_person
        if each is None:
            return self.weight / len(self._cells)
        return self.weight / float(np.sum(1 / each[each > 0]))

    @functools.cached_property
    def _moment(self) -> np.ndarray:
        """The exact joint moment of the rows in unit-ball units, per unit of weight, with an anchor of 1."""
        (whole, anchor), w, weight = self._summed, self.facts.width, self.weight
        block, edge = whole[:w, :w] / UNIT**2 / weight, whole[:w, w:].sum(axis=1) / (anchor * UNIT) / weight
        return np.block([[block, edge[:, None]], [edge[None, :], np.ones((1, 1))]])


def covariance_of(exact: MeasuredMoment) -> np.ndarray:
    """Return the covariance of a measurement without noise, in working units; zero where no row has both cells."""
    if exact.flags is None:
        return unpack(exact.matrix, centre="joint", row_bound=exact.row_bound).target
    return np.nan_to_num(available_cases(exact.matrix, exact.flags, row_bound=exact.row_bound).covariance)


def entry_stds(noisy: MeasuredMoment) -> np.ndarray:
    """Return the standard deviation of the privacy noise on every entry of the covariance, in working units."""
    if noisy.flags is not None:
        return np.sqrt(available_cases(noisy.matrix, noisy.flags, row_bound=noisy.row_bound).variance)
    mean = unpack(noisy.matrix, centre="joint", row_bound=noisy.row_bound).mean
    edge = noisy.entry_std * noisy.row_bound / math.sqrt(noisy.matrix[-1, -1])
    stds = np.sqrt(noise_variance(mean, noisy.entry_std * noisy.row_bound**2, edge))
    np.fill_diagonal(stds, noisy.diagonal_std * noisy.row_bound**2)
    return stds


def planned_anchor(facts: PublicFacts, shape: str = "") -> float:
    """Return the constant that the joint moment of a release with noise of this shape has beside each row.

    For k classes it is sqrt(k) times smaller, because the noise on their sums adds up. Only laplace-cov, which treats
    mean and covariance alike, draws Laplace noise on several columns, and only of a table with kinds.
    """
    k, anchor_for = len(facts.classes) or 1, BOTH if shape == "laplace" and facts.width > 1 else COVARIANCE
    return math.sqrt(anchor_squared(anchor_for, facts.d, k, facts.relation) / k)


def kinds_of(facts: PublicFacts) -> Kinds:
    """Return the kinds of the declared columns, of numbers with bounds and nothing else as well."""
    if facts.kinds:
        return facts.kinds
    assert facts.bounds is not None, "a plan has bounds for every column"
    rows = zip(facts.columns, facts.bounds.tolist(), facts.origin.tolist(), strict=True)
    return tuple((name, Kind(NUMBER, low, high, typical=usual)) for name, (low, high), usual in rows)


def invented(
    facts: PublicFacts,
    invention: Invention,
    usual: Sequence[tuple[Any, Any] | None] = (),
    seed: int = 0,
    *,
    rows: int | None = None,
) -> ExampleRows:
    """Draw rows of the declared kinds.

    Behind the declared columns are normal variables with the correlations of ``invention``. A number, whole number or
    date varies by its ``spread``, in half-ranges about the typical value, after the transform; the levels of an ordinal
    column are such numbers, rounded; where there are few, answers fill more of their range, and vary by 5/3 of it.
    ``usual`` has for each declared column the two values between which most people lie, or None; within them it then
    varies. With a skew, numbers, whole numbers and dates without a transform are lognormal. Levels of a category are
    equally frequent; so are no and yes, unless a typical value is declared: nine in ten have it. Every person has one
    row.
    """
    rows = rows or min(invention.n, max(ROWS, _CELLS // facts.d))
    kinds = kinds_of(facts)
    rng, p = stream(seed, "rows", 0, "plan", "invented"), len(kinds)
    root = np.linalg.cholesky(invention.correlation(p) + 1e-12 * np.eye(p))
    latent = rng.standard_normal((rows, p)) @ root.T
    gone = rng.random((rows, p)).argsort(axis=0) < round(invention.missing * rows)  # the share is exact
    cells, at = np.empty((rows, facts.d)), 0
    uncut = np.empty_like(cells)
    for j, ((_, kind), most) in enumerate(zip(kinds, usual or [None] * p, strict=True)):
        ends = slice(at, at + kind.width)
        part = spread(kind, most) if most is not None else OF_FEW if is_few(kind) else invention.spread
        skewed = bool(invention.skew) and _may_be_skewed(kind)
        values = invention.shape(latent[:, j]) if skewed else latent[:, j]
        cells[:, ends], uncut[:, ends] = _column(kind, values, part, low_end=skewed and most is None, cut=most is None)
        cells[gone[:, j], ends] = np.nan
        at = ends.stop
    labels = rng.integers(len(facts.classes), size=rows) if facts.classes else None
    each = np.ones(rows, dtype=np.int64) if facts.person else None
    own = dataclasses.replace(facts, n=rows if facts.n is not None else None)
    parts = [
        STRUCTURES[invention.structure],
        "" if invention.structure == "independent" else f"correlation {invention.strength:g}",
        "" if usual and all(usual) else f"deviation {invention.spread:g} of half the range",
        "of the declared kinds" if facts.kinds else "",
        "within the typical ranges where they are declared" if any(usual) else "",
        "number columns skewed" if invention.skew else "",
        f"{100 * invention.missing:g} % of the cells missing" if invention.missing else "",
    ]
    description = f"an invented table: {', '.join(filter(None, parts))}"
    covariance = np.cov(uncut, rowvar=False, bias=True).reshape(facts.d, facts.d)  # cells are missing at random
    table = PrivateDataset(own, "invented", cells, labels, None, each)
    return ExampleRows(table, invention.n, description, _covariance=covariance)


def _may_be_skewed(kind: Kind) -> bool:
    return kind.kind in (NUMBER, INTEGER, DATE) and kind.transform is None and not is_few(kind)


def _column(
    kind: Kind, latent: np.ndarray, spread: float, *, low_end: bool, cut: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the measured cells of one column (rows x width) from a standard normal variable, clipped and as they are.

    ``low_end``: the column lies at the low end of its limits, unless another typical value than the middle is declared.
    ``cut``: no cell is beyond the limits.
    """
    if kind.kind == CATEGORY:
        cuts = [NormalDist().inv_cdf(k / kind.width) for k in range(1, kind.width)]
        levels = np.eye(kind.width)[np.searchsorted(cuts, latent)]
        return levels, levels
    ((low, high),), (usual,) = kind.limits, kind.origins
    if kind.kind == YES_NO:
        yes = 0.5 if kind.typical is None else USUAL_SHARE if usual == high else 1 - USUAL_SHARE
        answers = (latent > NormalDist().inv_cdf(1 - yes)).astype(np.float64)[:, None]
        return answers, answers
    half = spread * max(high - usual, usual - low)
    middle = math.isclose(usual, (low + high) / 2)
    cells = ((low + NINE_IN_TEN * half if low_end and middle else usual) + half * latent)[:, None]
    if kind.kind in (ORDINAL, INTEGER) and kind.transform is None:
        cells = np.rint(cells)
    clipped = np.clip(cells, low, high)
    return clipped, clipped if cut or is_few(kind) else cells
