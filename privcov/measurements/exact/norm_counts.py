"""The search of norm_histogram.py for private rows: counts and noise are whole numbers.

A clipped row k has |k|^2 <= m^2 = 2^40 (integer_gram.py), and is in bin j where 2^(40 - j - 1) < |k|^2 <= 2^(40 - j): a
comparison of whole numbers, the flags and the anchor left out. A row counts 1; with ids a row of a person with r rows
counts the whole part of 2^20 / r, in steps of 2^-20 rows, so a person counts at most 2^20 steps. A row that the sums
leave out is zero, and is in no bin. With c the largest count of one person (1, ``rows_per_person``, or 2^20 steps):

    replace-one   two vectors of counts >= 0 with l1 norm at most c differ by at most 2 c in the l1 norm, and by at
                  most sqrt(2) c in the l2 norm: |u - v|^2 <= |u|^2 + |v|^2. Two rows of different bins attain both.
    add-remove    c in both norms.

The sum under the new bound is measured as any other (exact/private_moment.py). Its event holds for every bound, so the
shares add up as in norm_histogram.py; discrete Gaussian noise is accounted in zCDP, and so is the split of (epsilon,
delta).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, BudgetShare, Event, PureDP, ZCDP
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.exact.integer_gram import ANCHOR, STEPS, counts_of, integer_blocks
from privcov.measurements.norm_histogram import BINS, SEARCH_SHARE, RowBoundSearch, halvings, noise_in_rows
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import MAX_FILE_ROWS, MAX_ROWS, PublicFacts


def steps_of(facts: PublicFacts) -> int:
    """Return the steps in which a row is counted."""
    return STEPS if facts.person else 1


def norm_counts(private: PrivateDataset) -> np.ndarray:
    """Return the counts of the bins, in steps: NOT private. Only the search calls it."""
    if private.files is not None:
        return sums_of(private).norms
    d, counts = private.facts.d, np.zeros(BINS, dtype=np.int64)
    for z, rows_of_person in integer_blocks(private, private.facts.n_anchors, ANCHOR):
        counts += counts_of((z[:, :d] ** 2).sum(axis=1), rows_of_person, BINS)  # whole numbers below 2^53, so exact
    return counts


def shares(share: BudgetShare) -> tuple[BudgetShare, BudgetShare]:
    """Return the share of the counts and that of the sum, which never exceed the whole together."""
    if not isinstance(share, (PureDP, ApproxDP, ZCDP)):
        raise TypeError(f"Private rows need a guarantee, and {share} is none. Ask for PureDP, ApproxDP or ZCDP.")
    parts = accounting.split_mixed(exact_noise.no_more_than_typed(share), norms=SEARCH_SHARE, matrix=1 - SEARCH_SHARE)
    return parts["norms"], parts["matrix"]


def counts_event(facts: PublicFacts, share: BudgetShare) -> Event:
    """Return the event of the noisy counts, from public facts alone.

    Guarantee: the share. Spends: nothing: it sees public facts only. Source: own proof, in the docstring of the module.
    """
    pure, most = isinstance(share, PureDP), facts.rows_per_person * steps_of(facts)
    square = most**2 * ((4 if pure else 2) if facts.n is not None else 1)
    bound, scale = exact_noise.calibrated(share, square, "laplace", pure=pure)
    exact_noise.check_scale(scale)
    return Event(
        share="norms",
        statistic="row norms counted in bins" + (", of persons of weight 1 at most" if facts.person else ""),
        mechanism="laplace" if pure else "discrete-gaussian",
        norm="l1 norm" if pure else "l2 norm",
        sensitivity=bound,
        scale=scale,
        proof="privcov/measurements/exact/norm_counts.py",
        law="discrete, exact",
        unit="a count of rows" if not facts.person else f"a count of rows / 2^{STEPS.bit_length() - 1}",
    )


def search_exactly(private: PrivateDataset, share: BudgetShare, rest: BudgetShare, search_for: str) -> RowBoundSearch:
    """Return noisy counts of the row norms, and how often R^2 is halved for the sum, whose share is ``rest``.

    Guarantee: the share, for all rows of a person together. Spends: the whole share, up to rounding: the scale is
    rounded up. Source: own proof, in the docstring of the module.
    """
    event = counts_event(private.facts, share)
    values = norm_counts(private)
    most = MAX_ROWS if private.files is None else MAX_FILE_ROWS
    fits = exact_noise.fits(most * STEPS, event.scale)  # follows from public facts alone
    add = exact_noise.add_discrete_laplace if event.mechanism == "laplace" else exact_noise.add_discrete_gaussian
    counts = [int(count) for count in add(values.astype(np.int64 if fits else object), event.scale)]
    return RowBoundSearch(
        tuple(counts), halvings_of(counts, private.facts, event, rest, search_for), event, steps_of(private.facts)
    )


def halvings_of(counts: Sequence[float], facts: PublicFacts, event: Event, rest: BudgetShare, search_for: str) -> int:
    """Return how often R^2 is halved, from the noisy counts and public facts."""
    steps, laplace = steps_of(facts), event.mechanism == "laplace"
    std = event.scale / steps * (math.sqrt(2) if laplace else 1.0)
    noise = noise_in_rows(rest, facts.d) * facts.rows_per_person
    return halvings([count / steps for count in counts], std, facts.n, noise, laplace=laplace, search_for=search_for)
