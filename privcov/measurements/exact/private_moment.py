"""The measurement of private rows: an exact sum of whole numbers, plus exact discrete noise.

Rows become whole numbers k with |k| <= m (integer_gram.py). The row is z = (k, a) for the mean, with classes z = (k, a
e_class), so that |z|^2 <= b = m^2 + a^2. a^2 is at most m^2 / 2, or for the choices of anchor.py another public number;
nothing below depends on which. Measured is T = sum z z', in whole numbers throughout.

**Discrete Gaussian.** Entry T_ii gets scale sigma and T_ij, i < j, scale tau >= sigma / sqrt(2), all independent. For
one entry that changes by g, discrete Gaussian noise of scale s gives g^2 / (2 s^2)-zCDP, and rho adds up (Canonne,
Kamath and Steinke 2020, Theorem 4). So a change G costs
    rho = sum_i G_ii^2 / (2 sigma^2) + sum_{i<j} G_ij^2 / (2 tau^2) <= ||G||_F^2 / (2 sigma^2).
Only the zCDP (epsilon, delta) curve is claimed: the curve of continuous Gaussian noise need not hold.
  replace-one  G = zz' - ww', ||G||_F^2 = |z|^4 + |w|^4 - 2<z,w>^2 <= 2 b^2.
  add-remove   G = zz', ||G||_F^2 = |z|^4 <= b^2.
**Free groups** (replace-one, but not one column alone): free_groups.py proves that the sum t_g of the diagonal over
every group g of columns may be measured once more, with variance sigma^2 / kappa_g, at the same bound. For a group of
one column both looks at T_jj are one draw of scale sigma / sqrt(1 + kappa_g), rounded up: same cost, same information.
A larger group is measured a second time. Its two noisy sums, tr_g T and t_g, have variances m sigma^2 and sigma^2 /
kappa_g, m the number of its columns, so they are averaged with weights 1 : m kappa_g: every diagonal entry of the group
is moved by kappa_g (t_g - tr_g T) / (1 + m kappa_g). This is "free-groups" of noise.py. **Discrete Laplace**, scale s
on the upper triangle: epsilon = (sum_{i<=j} |G_ij|) / s. The sum is a whole number, so it is at most the whole part of
any bound:
  replace-one  `flagged_l1`, proved in triangle_l1.py.
  add-remove   (|z|_1^2 + |z|^2) / 2, |z|_1 <= sqrt(d) m + a, where d numbers of a row at most are not zero.
**Wishart difference**, see wishart.py: epsilon = ||G||_* / scale; replace-one 2 b, add-remove b. Under replace-one, and
for at most 10 columns and anchors together, the **coupled** distribution of exact/wishart.py takes its place: epsilon
= max(tr G+, tr G-) / scale, at most b / scale. Both are drawn exactly, at any scale. A row without a listed class, or
left out by the rule for missing cells, counts as zeros, and zeros never make G larger in any of these norms.

**Several rows of one person**: k rows change T by a sum of k matrices G, and every norm by at most k times as much as
one row does. The sensitivity of the event is k times that of one row, and the guarantee is for the person.

**Persons with ids**: a row of a person with r rows is cut to v = (u, a_u) with |u|^2 <= m^2 / r and a_u^2 <= a^2 / r
(`integer_gram.weigh_rows`), so a person adds A = sum v v', positive semidefinite, with
    trace over the columns <= m^2,  trace over the anchors <= a^2,  trace <= b,
whoever has however many rows; for rows left out the traces are smaller. For persons A and B
  ||A - B||_F^2 <= ||A||_F^2 + ||B||_F^2 <= 2 b^2 (<A, B> >= 0, and ||A||_F <= tr A); ||A||_F^2 <= b^2
  ||A - B||_* <= tr A + tr B <= 2 b, ||A||_* <= b; tr (A - B)+ <= tr A <= b, because A - B <= A
  free trace: with t, s the traces over the columns the cost is at most (t + a^2)^2 + (s + a^2)^2 + (t - s)^2, as above.
  l1: rows with weights, in triangle_l1.py; add-remove (|z|_1^2 + |z|^2) / 2, rounded down.
The noise for one row protects the whole person. **The corner of one anchor** is n a^2, up to the cut, and is set to
that public number (`integer_gram.with_public_corner`): A becomes A + (a^2 - sum a_u^2) ee', still positive semidefinite
with the same bounds on its traces, and in the l1 norm one entry less changes.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import BudgetShare, Event
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.exact.integer_gram import ANCHOR, BITS, UNIT, noiseless_gram, with_public_corner
from privcov.measurements.exact.noise import calibrated, root_up
from privcov.measurements.exact.norm_counts import counts_event, search_exactly, shares
from privcov.measurements.exact.stored_sum import VERSION, fields_of
from privcov.measurements.exact.wishart import LARGEST_COUPLED, as_int64
from privcov.measurements.noise import FREE_GROUPS
from privcov.measurements.noise_theory.anchor import BOTH, anchor_squared, integer_anchor, with_anchor
from privcov.measurements.noise_theory.free_groups import Group, groups_of, noise_description, weights_of
from privcov.measurements.norm_histogram import RowBoundSearch
from privcov.measurements.triangle_l1 import flagged_l1
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import MAX_FILE_ROWS, MAX_ROWS, PublicFacts

GAUSSIAN = ("upper-triangle", "isotropic", "free-trace", FREE_GROUPS)
PURE = ("laplace", "wishart-difference", "coupled-wishart")
EXACT_AT_ANY_SCALE = ("wishart-difference", "coupled-wishart")
GRID = f"steps of R^2 / 2^{2 * BITS}"
_WHAT = {1: "mean and second moment, jointly", 2: "class sums, counts and second moment, jointly"}
_NORMS = {
    "isotropic": "Frobenius norm",
    FREE_GROUPS: "Frobenius norm and sums of squares of groups of columns, jointly",
    "laplace": "l1 norm of the upper triangle",
    "wishart-difference": "nuclear norm",
    "coupled-wishart": "larger trace of the two parts",
}
_LAWS = {  # what the stored field ``law`` of an event says
    "isotropic": "exact, off-diagonal scale / sqrt(2)",
    "laplace": "discrete, exact",
    "wishart-difference": "rounded exactly",
    "coupled-wishart": "rounded exactly",
}
_PROOFS = {
    "coupled-wishart": "privcov/measurements/exact/wishart.py",
    FREE_GROUPS: "privcov/measurements/noise_theory/free_groups.py",
}


@dataclass(frozen=True, eq=False)
class NoisySum:
    """What was measured: noisy whole numbers, with the public facts that are needed to use them; it may be published.

    total: noisy sum of zz', symmetric, of facts.width rows and ``n_anchors`` last ones (for the mean, or one per
    class); int64, or Python integers beyond 64 bits. With classes, or n not public, the anchors' diagonal holds noisy
    counts of rows. sums: second noisy sums of the diagonal over groups of several columns, for "free-groups". scale: of
    the noise on a diagonal entry, in steps of R^2 / 2^40: sigma, b, 2 C or t. anchor: a, the constant appended to every
    row, in steps of R / 2^20. search: the noisy counts from which R was found, and before: the declared facts; None
    where R was declared.
    """

    facts: PublicFacts
    total: np.ndarray
    n_anchors: int
    shape: str
    scale: float
    event: Event
    anchor: int = ANCHOR
    sums: tuple[int, ...] = ()
    search: RowBoundSearch | None = None
    before: PublicFacts | None = None

    @property
    def original_facts(self) -> PublicFacts:
        """The facts as they were declared, before a search of the row bound."""
        return self.before or self.facts

    @property
    def events(self) -> tuple[Event, ...]:
        """What was done to the rows, in order."""
        return (self.event,) if self.search is None else (self.search.event, self.event)

    def to_dict(self) -> dict:
        """Return the fields as JSON values; whole numbers stay exact."""
        return {
            "facts": self.original_facts.to_dict(),
            "total": self.total.tolist(),
            "sums": list(self.sums),
            "anchors": self.n_anchors,
            "shape": self.shape,
            "scale": self.scale,
            "event": dataclasses.asdict(self.event),
            "grid": 2 ** (2 * BITS),
            "anchor": self.anchor,
            "version": VERSION,
            **({} if self.search is None else {"search": dataclasses.asdict(self.search)}),
        }

    @classmethod
    def from_dict(cls, fields: dict) -> NoisySum:
        """Read what `to_dict` wrote; the guarantee is that of the stored event, and only the form is checked."""
        return cls(**fields_of(fields))


def norm_bound(facts: PublicFacts, shape: str, n_anchors: int, anchor: int = ANCHOR) -> int:
    """Return the square of the largest change of T between neighbours, in the norm of the shape, as a whole number.

    Reference: own proofs, in the docstring of the module, triangle_l1.py, wishart.py and exact/wishart.py.
    """
    d, k, m2 = facts.max_nonzero, facts.rows_per_person, UNIT**2
    a2 = anchor**2
    b = m2 + a2
    if facts.n is None:
        l1 = (d * m2 + math.isqrt(4 * d * a2 * m2) + a2 + b) // 2
        square = {"isotropic": b**2, "laplace": l1**2, "wishart-difference": b**2}[shape]
    elif shape in GAUSSIAN:
        square = 2 * b**2
    elif shape == "laplace":
        square = flagged_l1(facts, UNIT, anchor, n_anchors) ** 2
    else:
        square = {"wishart-difference": 2 * b, "coupled-wishart": b}[shape] ** 2
    return k * k * square


def settle_shape(facts: PublicFacts, shape: str, n_anchors: int) -> str:
    """Return the shape that is drawn for a requested one: the least noisy of its kind with a proof."""
    checks.one_of("shape", shape, (*GAUSSIAN, *PURE))
    if shape in ("wishart-difference", "coupled-wishart"):
        coupled = facts.n is not None and facts.width + n_anchors <= LARGEST_COUPLED
        return "coupled-wishart" if coupled else "wishart-difference"
    if shape not in GAUSSIAN:
        return shape
    return FREE_GROUPS if facts.n is not None else "isotropic"


def weights(facts: PublicFacts, anchor: int) -> tuple[tuple[Group, ...], tuple[Fraction, ...]]:
    """Return the groups of columns of "free-groups" noise and their exact weights, proved in free_groups.py."""
    groups = groups_of(facts, facts.flagged)
    return groups, weights_of(groups, anchor)


def measure_exactly(
    private: PrivateDataset, share: BudgetShare, *, shape: str, anchor_for: str = BOTH, search_for: str = ""
) -> NoisySum:
    """Clip the rows, cut them to whole numbers, sum, and add exact noise; search_for: as of `MeasurementRequest`.

    Guarantee: the share, for all rows of a person together; replace-one where n is public, else add-remove. Spends: the
    whole share, up to rounding: the scale is rounded up. Source: Canonne, Kamath and Steinke 2020, Theorem 4, for
    discrete Gaussian noise; own proofs, in the docstrings of the module, of free_groups.py and of norm_counts.py.
    """
    facts = private.facts
    if search_for:
        first, rest = shares(share)
        row_bound_search = search_exactly(private, first, rest, search_for)
        shorter = (
            dataclasses.replace(private, facts=facts.with_shorter_bound(row_bound_search.factor))
            if row_bound_search.halvings
            else private
        )
        noisy = measure_exactly(shorter, rest, shape=shape, anchor_for=anchor_for)
        return dataclasses.replace(noisy, search=row_bound_search, before=facts)
    event = planned_event(facts, share, shape=shape, anchor_for=anchor_for)
    n_anchors = facts.n_anchors
    shape, anchor = shape_and_anchor(facts, shape, anchor_for)
    gram = exact_sum(private, n_anchors, anchor)
    # Which of the two follows from public facts alone, never from the number of rows.
    fits = exact_noise.fits(_largest_sum(facts, private.files is not None), event.scale)
    gram = gram.astype(np.int64 if fits else object)
    groups = weights(facts, anchor) if shape == FREE_GROUPS else ((), ())
    total, sums = _noisy(gram, facts.width, shape, event.scale, groups)
    for column, flag in facts.column_flag_pairs:
        total[column, flag] = total[flag, column] = 0  # as in every table
    return NoisySum(facts, total, n_anchors, shape, event.scale, event, anchor, sums)


def exact_sum(private: PrivateDataset, n_anchors: int, anchor: int = ANCHOR) -> np.ndarray:
    """Return the exact sum of zz' that is measured, of rows in memory or in files: NOT private."""
    if private.files is None:
        gram = noiseless_gram(private, n_anchors, anchor)
    else:
        gram = sums_of(private, anchor=anchor).gram(n_anchors, anchor)
    return with_public_corner(gram, private.facts, n_anchors, anchor)


def shape_and_anchor(facts: PublicFacts, shape: str, anchor_for: str) -> tuple[str, int]:
    """Return the shape of the noise and the anchor of a measurement, from public facts alone."""
    return settle_shape(facts, shape, facts.n_anchors), anchor_of(facts, anchor_for)


def anchor_of(facts: PublicFacts, anchor_for: str) -> int:
    """Return a, the constant that is appended to every row, from public facts alone."""
    return integer_anchor(anchor_for, facts.d, facts.n_anchors, facts.relation)


def planned_event(facts: PublicFacts, share: BudgetShare, *, shape: str, anchor_for: str = BOTH) -> Event:
    """Return the event of `measure_exactly` with the same arguments, from public facts alone.

    Guarantee: that of `measure_exactly`, which it describes. Spends: nothing: it sees public facts only. Source: as
    `measure_exactly`.
    """
    n_anchors = facts.n_anchors
    shape, anchor = shape_and_anchor(facts, shape, anchor_for)
    bound, scale = _scale(facts, shape, n_anchors, share, anchor)
    square = anchor_squared(anchor_for, facts.d, n_anchors, facts.relation)
    beside = (", with flags of missing cells" if facts.flagged else "") + _count_note(facts)
    if shape not in EXACT_AT_ANY_SCALE:
        exact_noise.check_scale(scale)
    return Event(
        share="matrix",
        statistic=with_anchor(f"sum of {_WHAT[min(n_anchors, 2)]}{beside}", square),
        mechanism="discrete-gaussian" if shape in GAUSSIAN else shape,
        norm=_NORMS[shape],
        sensitivity=bound,
        scale=scale,
        proof=_PROOFS.get(shape, "privcov/measurements/exact/private_moment.py"),
        law=noise_description(*weights(facts, anchor)) if shape == FREE_GROUPS else _LAWS[shape],
        unit=GRID,
    )


def planned_events(
    facts: PublicFacts,
    share: BudgetShare,
    *,
    shape: str,
    anchor_for: str = BOTH,
    search_for: str = "",
    bound: PublicFacts | None = None,
) -> tuple[Event, ...]:
    """Return the events of `measure_exactly` with the same arguments, from public facts alone.

    bound: the facts under the row bound that a search found; those of ``facts`` where it is not known yet.

    Guarantee: that of `measure_exactly`, which it describes. Spends: nothing: it sees public facts only. Source: as
    `measure_exactly`.
    """
    if not search_for:
        return (planned_event(facts, share, shape=shape, anchor_for=anchor_for),)
    first, rest = shares(share)
    return counts_event(facts, first), planned_event(bound or facts, rest, shape=shape, anchor_for=anchor_for)


def _count_note(facts: PublicFacts) -> str:
    if not facts.person:
        return "" if facts.n is not None else ", with the count of rows"
    return ", of persons of weight 1 at most" + ("" if facts.n is not None else ", with their number")


def _scale(facts: PublicFacts, shape: str, n_anchors: int, share: BudgetShare, anchor: int) -> tuple[float, float]:
    """Return (sensitivity rounded up, scale): sensitivity / scale is within the share in exact arithmetic."""
    return calibrated(share, norm_bound(facts, shape, n_anchors, anchor), shape, pure=shape in PURE)


def _largest_sum(facts: PublicFacts, in_files: bool) -> int:
    """Return a bound on every number of the sum, from public facts alone."""
    rows = facts.n if facts.n is not None else MAX_FILE_ROWS if in_files else MAX_ROWS
    return rows * 2 * UNIT**2  # no anchor is longer than a row


def _noisy(
    gram: np.ndarray,
    d: int,
    shape: str,
    scale: float,
    groups: tuple[tuple[Group, ...], tuple[Fraction, ...]] = ((), ()),
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return (noisy sum, second noisy sums of groups); entries of two different classes stay zero."""
    if shape == "wishart-difference":
        return _structured(exact_noise.add_wishart_difference(gram, scale), d), ()
    if shape == "coupled-wishart":
        return _structured(exact_noise.add_coupled_wishart(gram, scale), d), ()
    rows, columns = np.triu_indices(len(gram))
    mask = (rows == columns) | (rows < d)
    rows, columns = rows[mask], columns[mask]
    diagonal, values, sums = rows == columns, gram[rows, columns], ()
    if shape == "laplace":
        values = exact_noise.add_discrete_laplace(values, scale)
    else:
        off = exact_noise.add_discrete_gaussian(values[~diagonal], scale_over(scale, 2))
        on, sums = noisy_diagonal(values[diagonal], scale, groups)
        values = values.astype(object)
        values[diagonal], values[~diagonal] = on, off
    total = np.zeros(gram.shape, dtype=object)
    total[rows, columns] = values
    total[columns, rows] = values
    return _structured(as_int64(total), d), sums


def _structured(total: np.ndarray, d: int) -> np.ndarray:
    total[d:, d:] = np.diag(np.diag(total)[d:])
    return total


def norm_of(shape: str) -> str:
    """Return the norm in which the sensitivity of a shape is stated; each shape that is drawn has its own."""
    return _NORMS[shape]


def scale_over(scale: float, divisor: int | Fraction) -> float:
    """Return the smallest float whose square is at least scale^2 / divisor."""
    return root_up(Fraction(scale) ** 2 / divisor)


def noisy_diagonal(
    exact: np.ndarray, scale: float, groups: tuple[tuple[Group, ...], tuple[Fraction, ...]]
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Add discrete Gaussian noise to a diagonal and to the second sums of its groups, one draw for each scale.

    With noise for the bound of `norm_bound` off the diagonal, the guarantee is that of the measurement, see
    free_groups.py. By itself it spends nothing: the measurement that calls it states the event.
    """
    scales, numbers, scale_of = [scale] * len(exact), exact.tolist(), cache(partial(scale_over, scale))
    for group, kappa in zip(*groups, strict=True):
        if len(group.columns) == 1:
            scales[group.columns[0]] = scale_of(1 + kappa)
        else:
            scales.append(scale_of(kappa))
            numbers.append(int(sum(exact[j] for j in group.columns)))
    values, scale_array = np.array(numbers, dtype=exact.dtype), np.array(scales)
    noisy = np.zeros(len(values), dtype=object)
    for one in sorted(set(scales), reverse=True):
        noisy[scale_array == one] = exact_noise.add_discrete_gaussian(values[scale_array == one], one)
    return noisy[: len(exact)], tuple(int(v) for v in noisy[len(exact) :])
