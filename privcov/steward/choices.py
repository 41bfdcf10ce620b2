"""What to declare before a release: row bound, rule for missing cells, weights of columns.

Every choice is tried on the table that stands in for the private one, a simulated one or public rows, so it
depends on public facts alone. What counts is the error of the correlations: weights change the unit of every other
error.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privcov.core.guarantees import Guarantee
from privcov.core.words import percent
from privcov.steward.example_rows import ExampleRows, kinds_of
from privcov.steward.preview import Preview, noise_for, preview
from privcov.tables.declared_columns import MAX_COLUMNS, typed_units
from privcov.tables.public_facts import PublicFacts
from privcov.tables.readers.kinds import MAX_WEIGHT

FRACTIONS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.42, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1)
WORTH = 0.95  # a choice is worth naming where it leaves at most this share of the error
_TABLES = 4  # that are drawn for each choice


@dataclass(frozen=True, eq=False)
class Choice:
    """One choice, and what it changes on the table that stands in for the private one.

    ``name`` is "row_bound_fraction", "weight" (``value`` has one for each declared column) or "missing". ``error``:
    expected root mean square error of the correlations with this and all earlier choices of the list, ``before``:
    without this choice, ``why`` a reason for the owner, and ``facts`` the declaration with all of them.
    """

    name: str
    value: str | float | tuple[float, ...]
    error: float
    before: float
    why: str
    facts: PublicFacts


class _Way(NamedTuple):
    """One combination to try."""

    missing: str
    weight: bool
    row_bound_fraction: float


def choices(table: ExampleRows, facts: PublicFacts, guarantee: Guarantee, *, weigh: bool = False) -> list[Choice]:
    """Return the changes of the declaration that together had the smallest error."""
    weights = _weights_for(table, facts) if weigh else ()
    previews: dict[_Way, Preview] = {}

    def under(way: _Way) -> PublicFacts:
        other = dataclasses.replace(facts, missing=way.missing)
        return (weighed(other, weights) if way.weight else other).with_fraction(way.row_bound_fraction)

    def preview_of(way: _Way) -> Preview:
        if way not in previews:
            same = table.under(under(way))
            noise = noise_for(same, guarantee)
            previews[way] = preview(same, guarantee, noise, replicates=_TABLES)
        return previews[way]

    def error(way: _Way) -> float:
        return preview_of(way).correlation_error

    current = _Way(facts.missing, False, facts.row_bound_fraction)
    rules = [facts.missing]
    if table.missing and facts.missing == "typical" and _can_measure(facts):
        rules.append("pairs")
    heavy = (False, True) if weights else (False,)
    best = min(itertools.starmap(_Way, itertools.product(rules, heavy, FRACTIONS)), key=error)
    for name, value in current._asdict().items():  # what hardly matters stays as it is declared
        plainer = best._replace(**{name: value})
        if error(plainer) * WORTH <= error(best):
            best = plainer
    changes, now = [], current
    for name in reversed(_Way._fields):  # row bound first: the other choices help little while rows are long
        if (value := getattr(best, name)) == getattr(current, name):
            continue
        then = now._replace(**{name: value})
        if name == "row_bound_fraction":
            why = _why_bound(best.row_bound_fraction, current.row_bound_fraction, preview_of(then))
        else:
            why = _why_weights(facts, weights) if name == "weight" else _why_pairs(table.missing)
        changes.append(Choice(name, weights if name == "weight" else value, error(then), error(now), why, under(then)))
        now = then
    return changes


def weighed(facts: PublicFacts, weights: tuple[float, ...]) -> PublicFacts:
    """Return the facts with these weights of the declared columns."""
    pairs = zip(kinds_of(facts), weights, strict=True)
    heavy = tuple((name, dataclasses.replace(kind, weight=c)) for (name, kind), c in pairs)
    return dataclasses.replace(facts, units=typed_units(heavy, facts.row_bound_fraction), kinds=heavy)


def _weights_for(table: ExampleRows, facts: PublicFacts) -> tuple[float, ...]:
    """Return a weight c for every declared column, c^2 proportional to 1 / s, the least of them 1.

    The noise on the correlation of two columns is proportional to R^2 / (c_i s_i c_j s_j), s the standard deviation at
    the weight 1 and R^2 the sum of all c^2. The sum of its squares over all pairs is (sum c^2)^2 (sum 1 / (c s)^2)^2,
    up to the pairs of a column with itself, and least at that c.
    """
    spread, at, own = np.sqrt(np.maximum(np.diag(table.under(facts).covariance), 0.0)), 0, []
    for _, kind in kinds_of(facts):
        own.append(float(np.sqrt(np.mean((spread[at : at + kind.width] / kind.weight) ** 2))))
        at += kind.width
    sizes = np.array(own)
    sizes = np.where(sizes > 0, sizes, sizes.max() or 1.0)
    return tuple(min(float(f"{c:.2g}"), MAX_WEIGHT) for c in np.sqrt(sizes.max() / sizes))


def _can_measure(facts: PublicFacts) -> bool:
    pairs = dataclasses.replace(facts, missing="pairs")
    return bool(pairs.flagged) and pairs.width <= MAX_COLUMNS


def _why_pairs(missing: float) -> str:
    return (
        f"{percent(missing)} of the cells are missing. Counted as typical values they pull every covariance to "
        "zero, and more rows do not help; measured, they cost hardly any noise."
    )


def _why_weights(facts: PublicFacts, weights: tuple[float, ...]) -> str:
    at = int(np.argmax(weights))
    return (
        "Columns differ in how much of their range they use. The noise is the same on all, so those that use little of "
        f"it need more weight: {weights[at]:g} for {facts.sources[at]!r}, 1 for the widest."
    )


def _why_bound(fraction: float, current: float, plan: Preview) -> str:
    ratio = (fraction / current) ** 2
    return (
        f"{percent(plan.clipped)} of the rows are longer than {fraction:g} of the longest possible one and are "
        f"shortened to it; the noise on every entry is {ratio:.2g} times as large."
    )
