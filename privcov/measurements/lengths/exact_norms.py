"""How long the private rows are: exact counts in bins, plus exact discrete noise, and the row bound that follows.

At the declared R a row becomes whole numbers k with |k| <= m (integer_gram.py). Bin j counts the rows with e_(j+1) <
|k|^2 <= e_j, where e_j = floor(m^2 / 2^(j/2)) for j = 0 .. BINS - 1: lengths fall by 2^(1/4) from bin to bin. The last
bin takes all shorter rows, the zero row among them. A row without a listed class, or left out by the rule for missing
cells, is in no bin.

**Sensitivity.** A row is in one bin or in none. Replacing a row lowers one count by 1 and raises one by 1, or moves
less: l1 norm 2, l2 norm sqrt(2), attained by two rows of different bins. A row more or less moves one count: 1 and 1. k
rows of a person move k times as much in either norm, attained by k rows of one bin that become k rows of another one.

**Persons with ids.** A row counts as its weight in whole steps: W = 2^20 where its person has r <= M rows, floor(W M /
r) with more, nothing without an id. So the rows of a person weigh at most M W together, in whatever bins they are. A
person in place of another changes the counts by a - b, both without negative entries and with sums of at most M W: l1
norm 2 M W, l2 norm at most sqrt(|a|^2 + |b|^2) <= sqrt(2) M W. A person more or less: M W and M W.

**The bound.** R is lowered to the share sqrt(e_j) / m for the largest j whose tail is not too long. The tail of j holds
the rows of the bins before j, which that bound would shorten. Its noisy count and two standard deviations of the noise
on it must be at most a tenth of the rows. So the bound is a function of the noisy counts and of public facts, and
the second measurement, whose noise is calibrated for that bound, composes with the first one like any whose question
depends on an earlier answer. Where the noise on the counts is large, R stays as declared.

**The split.** The norms get the fraction ``norm_budget`` of the level (of epsilon under pure DP, else of rho) and the
matrix the rest, in fractions that are rounded down, so both together spend at most the whole.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from privcov import accounting, checks
from privcov.declared_columns import LEAST_FRACTION, LEAST_ROW_BOUND
from privcov.measurements import exact_noise
from privcov.measurements.exact_noise import calibrated, no_more_than_typed
from privcov.measurements.integer_gram import UNIT, whole_blocks
from privcov.measurements.lengths.bins import BINS, STEP_BITS, by_length, edges, steps_of
from privcov.measurements.tables.file_moment import sums_of
from privcov.privacy import ApproxDP, BudgetShare, Event, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import MOST_FILE_ROWS, PublicFacts

RULE = 1  # of the bins and of the bound that follows: a stored answer is read by the rule that made it
LARGEST_BUDGET = 0.5
STATISTIC = "numbers of rows by length"  # of the event, by which a statement knows it
CHOSEN_AFTER = (
    "was chosen after the first draw, from the noisy numbers of rows by length alone; the noise of the matrix was "
    "planned in steps of R^2, before R was known"
)
MOST_SHORTENED = 0.1  # of the rows
CERTAIN = 2  # standard deviations by which a tail must be short enough
_LEAST_BUDGET = 1e-6


def count_change(relation: str, *, pure: bool, rows: int = 1) -> int:
    """Return the square of the largest change of counts of rows in bins that do not overlap.

    Reference
    ---------
    Own proof, in the docstring of the module.
    """
    return rows * rows * ((4 if pure else 2) if relation == "replace-one" else 1)


@dataclass(frozen=True, eq=False)
class NoisyNorms:
    """Noisy numbers of rows by length: the first of two measurements, from which R follows.

    Attributes
    ----------
    facts : PublicFacts
        What was declared, with the R before.
    budget : float
        The fraction of the guarantee that was spent on it.
    counts : tuple of int
        The noisy count of each bin, the longest rows first; in steps of 2^-20 where rows have ids.
    event : Event
        What was done to the rows, for the accountant.
    """

    facts: PublicFacts
    budget: float
    counts: tuple[int, ...]
    event: Event

    @property
    def chosen(self) -> PublicFacts:
        """The facts under the row bound that follows, which the second measurement has."""
        rows = self.facts.n if self.facts.n is not None and self.facts.weight_is_public else None
        all_rows = max(sum(self.counts), 1) if rows is None else rows * steps_of(self.facts)
        std, last, tail = counts_std(self.event), 0, 0
        for j, count in enumerate(self.counts[:-1], start=1):
            tail += count
            if tail + CERTAIN * std * math.sqrt(j) <= MOST_SHORTENED * all_rows:
                last = j
        return self.facts.shortened(math.sqrt(edges()[last] / UNIT**2))

    def to_dict(self) -> dict:
        """Return the fields as JSON values."""
        return {
            "rule": RULE,
            "facts": self.facts.to_dict(),
            "budget": self.budget,
            "counts": list(self.counts),
            "event": dataclasses.asdict(self.event),
        }


def checked_budget(budget: object) -> float:
    """Return the fraction of the guarantee for the norms."""
    return checks.in_range(
        "norm_budget", budget, _LEAST_BUDGET, LARGEST_BUDGET, "It is a fraction of the guarantee, such as 0.05."
    )


def split(guarantee: Guarantee, budget: float) -> tuple[PureDP | ZCDP, PureDP | ZCDP]:
    """Return the shares of the norms and of the matrix, whose exact composition never exceeds the whole."""
    if isinstance(guarantee, NoPrivacy):
        raise TypeError("NoPrivacy has no share for the lengths of rows. Ask for PureDP, ApproxDP or ZCDP.")
    if isinstance(guarantee, ApproxDP):
        guarantee = ZCDP(accounting.approx_to_zcdp(guarantee.epsilon, guarantee.delta))
    shares = accounting.split(no_more_than_typed(guarantee), norms=budget, matrix=1 - budget)
    norms, matrix = shares["norms"], shares["matrix"]
    assert isinstance(norms, PureDP | ZCDP), "shares are of the kind of the whole"
    assert isinstance(matrix, PureDP | ZCDP), "shares are of the kind of the whole"
    return norms, matrix


def planned_norms(facts: PublicFacts, share: BudgetShare) -> Event:
    """Return the event of `measure_norms_exactly` with the same share, from public facts alone.

    Guarantee
    ---------
    That of `measure_norms_exactly`, which it describes.

    Spends
    ------
    Nothing: it sees public facts only.

    Reference
    ---------
    Own proof, in the docstring of the module.
    """
    least = 0.5 ** ((BINS - 1) / 4)
    if facts.row_bound_fraction * least < LEAST_FRACTION or facts.row_bound * least < LEAST_ROW_BOUND:
        raise ValueError(
            f"norm_budget may lower the row bound to {least:.2g} of R, and R = {facts.row_bound:g} is too small for "
            "that: leave norm_budget out."
        )
    pure = isinstance(share, PureDP)
    square = count_change(facts.relation, pure=pure, rows=facts.rows_per_person * facts.most_weight * steps_of(facts))
    bound, scale = calibrated(share, square, "laplace", pure=pure)
    exact_noise.check_scale(scale)
    return Event(
        share="norms",
        statistic=STATISTIC,
        mechanism="laplace" if pure else "discrete-gaussian",
        norm="l1 norm" if pure else "l2 norm",
        sensitivity=bound,
        scale=scale,
        proof="privcov/measurements/lengths/exact_norms.py",
        law="discrete, exact" if pure else "exact",
        unit=f"steps of 2^-{STEP_BITS} rows by weight" if facts.person else "rows",
    )


def counts_std(event: Event) -> float:
    """Return the standard deviation of the noise on one count."""
    return event.scale * (math.sqrt(2) if event.pure else 1.0)


def measure_norms_exactly(private: PrivateDataset, share: BudgetShare, budget: float) -> NoisyNorms:
    """Count the rows by their length, and add exact noise.

    Guarantee
    ---------
    The share, for all rows of a person together; replace-one where n is public, else add-remove.

    Spends
    ------
    The whole share, up to rounding: the scale is rounded up.

    Reference
    ---------
    Canonne, Kamath and Steinke 2020 for discrete noise; own proof, in the docstring of the module.
    """
    event = planned_norms(private.facts, share)
    counts = noiseless_norms(private) if private.files is None else sums_of(private).norms
    add = exact_noise.add_discrete_laplace if event.pure else exact_noise.add_discrete_gaussian
    largest = MOST_FILE_ROWS * steps_of(private.facts)
    values = counts if exact_noise.fits(largest, event.scale) else counts.astype(object)
    return NoisyNorms(private.facts, budget, tuple(map(int, add(values, event.scale))), event)


def noiseless_norms(private: PrivateDataset) -> np.ndarray:
    """Return the exact counts: NOT private. Only the exact measurement calls it."""
    anchors, counts = max(1, len(private.facts.classes)), np.zeros(BINS, dtype=np.int64)
    for z, rows_of_person in whole_blocks(private, anchors):
        counted = (z[:, -anchors:] != 0).any(axis=1)  # a row that counts as none has no anchor
        squares = (z[:, :-anchors] ** 2).sum(axis=1)
        counts += by_length(squares, np.asarray(counted), rows_of_person, private.facts.most_weight)
    return counts
