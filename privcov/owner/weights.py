"""How much a person's rows weigh together, from the owner's guess of how many they are; no row is read.

With M = ``most_weight`` a person with k rows has the weight min(k, M), and the noise of a release is calibrated for M.
What is released is divided by the total weight, n E[min(k, M)] for n persons, so the noise is M / E[min(k, M)] times
that of M = 1, where every person has the weight 1. M > 1 therefore never lowers the noise: it changes what is
estimated, from the average person towards the average row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from privcov import checks
from privcov.public_facts import MOST_PER_PERSON

RowsEach = float | Mapping[int, float]  # a mean number of rows of a person, or shares of persons by number of rows
_LARGEST_GUESS = float(MOST_PER_PERSON)


def expected_weight(most_weight: int, rows_each: RowsEach) -> float:
    """Return E[min(k, M)], the mean weight of a person with k rows.

    Examples
    --------
    >>> expected_weight(1, 2.8)
    1.0
    >>> round(expected_weight(3, 2.8), 3)
    2.056
    >>> expected_weight(3, {1: 0.5, 2: 0.25, 10: 0.25})
    1.75
    """
    most = checks.whole("most_weight", most_weight, 1, MOST_PER_PERSON)
    if isinstance(rows_each, Mapping):
        shares = {
            checks.whole("A number of rows in rows_each", k, 1, MOST_PER_PERSON): checks.in_range(
                f"The share of persons with {k} rows in rows_each", share, 0.0, math.inf
            )
            for k, share in rows_each.items()
        }
        if not 0 < (whole := math.fsum(shares.values())) < math.inf:
            raise ValueError("rows_each must give at least one number of rows a share above 0. Give a mean instead.")
        return math.fsum(share / whole * min(k, most) for k, share in shares.items())
    mean = checks.in_range(
        "rows_each", rows_each, 1.0, _LARGEST_GUESS, "A person in the table has at least one row: guess their mean."
    )
    return -mean * math.expm1(most * math.log1p(-1 / mean)) if mean > 1 else 1.0


def weight_words(most_weight: int, rows_each: RowsEach) -> str:
    """Return what the planned noise assumes of the weights of persons, in one sentence; "" for M = 1.

    Examples
    --------
    >>> weight_words(3, 1.0)[:60]
    'The noise is planned for a weight of 1 per person on average'
    """
    if most_weight == 1:
        return ""
    weight = expected_weight(most_weight, rows_each)
    least = ", the least there can be: more rows per person make it smaller" if weight == 1 else ""
    return (
        f"The noise is planned for a weight of {weight:.3g} per person on average{least}, by the owner's guess and "
        f"never from the file; that is {most_weight / weight:.3g} times the noise of a largest weight of 1."
    )
