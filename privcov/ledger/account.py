"""The arithmetic of a limit, in exact rational numbers.

A release with pure DP costs its epsilon, and one with zCDP its rho. One with (epsilon, delta) is made with zCDP noise,
and costs the largest rho that implies the pair. What a limit allows:

  pure limit    epsilons add; a release without pure DP cannot be paid from it.
  zCDP limit    rhos add; a pure release counts epsilon^2 / 2.
  (epsilon, delta) limit   kept if one of two readings is: all releases are pure and their epsilons add up to at most
        epsilon; or all of them as zCDP stay within the largest rho that implies the pair.

Costs add up only under one neighbouring relation: a guarantee for one row bounds nothing for all rows of a person, and
add-remove bounds replace-one at twice the cost. So the first release of a table fixes the unit of its account, and
`unit_of` is compared with it before anything is paid.

The next request may depend on earlier answers: each reading is a filter that holds for adaptive requests (pure: Rogers,
Roth, Ullman and Vadhan 2016; zCDP: Feldman and Zrnic 2021). A history that ends within either reading obeys (epsilon,
delta). To see this, split any set of histories in two. Those that end within the pure reading have a ratio of at most
e^epsilon. The rest never left the zCDP reading, and there delta is spent once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from privcov.core import accounting, checks
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP


@dataclass(frozen=True)
class Cost:
    """The cost of one release, or of several alike, exact: epsilon for kind "pure", rho for "zcdp"."""

    kind: str
    amount: Fraction
    times: int = 1

    @property
    def rho(self) -> Fraction:
        """The cost as zCDP; pure epsilon-DP is (epsilon^2 / 2)-zCDP."""
        return self.amount**2 / 2 if self.kind == "pure" else self.amount


def decimal_level(level: float) -> Fraction:
    """Return the shortest decimal that a double prints as.

    Examples
    --------
    >>> decimal_level(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(level)))


def cost_of(guarantee: Guarantee) -> Cost:
    """Return the cost of a release with this guarantee: of an ApproxDP, the largest rho that implies it."""
    if isinstance(guarantee, PureDP):
        return Cost("pure", decimal_level(guarantee.epsilon))
    if isinstance(guarantee, ZCDP):
        return Cost("zcdp", decimal_level(guarantee.rho))
    if isinstance(guarantee, ApproxDP):
        return Cost("zcdp", Fraction(accounting.approx_to_zcdp(guarantee.epsilon, guarantee.delta)))
    raise TypeError(
        f"guarantee must be PureDP, ApproxDP or ZCDP, which a ledger counts, such as ZCDP(rho=0.1), "
        f"got {checks.describe(guarantee)}."
    )


@dataclass(frozen=True)
class Account:
    """The limit of one table and what was spent.

    Releases that are reserved, lost or failed count as spent.

    limit: None before the owner set one. costs: of all releases that were entered. unit: who is protected by all of
    them, and whether n is public; "" before the first release. limit_increases: every limit that allowed more than the
    one before, with its day and reason.

    A release that the limit `affords` keeps all releases of the table together within the limit, also for adaptive
    requests (Rogers, Roth, Ullman and Vadhan 2016 for pure; Feldman and Zrnic 2021 for zCDP).
    """

    name: str
    limit: Guarantee | None
    costs: tuple[Cost, ...] = ()
    unit: str = ""
    limit_increases: tuple[str, ...] = ()

    @property
    def releases(self) -> int:
        """Number of releases that were entered, those that failed included."""
        return sum(c.times for c in self.costs)

    @property
    def spent_rho(self) -> Fraction:
        """Sum of the costs in rho, exact; a pure one counts as epsilon squared over two."""
        return sum((c.rho * c.times for c in self.costs), Fraction(0))

    @property
    def spent_epsilon(self) -> Fraction | None:
        """Sum of the epsilons, None when some release was not pure."""
        pure = all(c.kind == "pure" for c in self.costs)
        return sum((c.amount * c.times for c in self.costs), Fraction(0)) if pure else None

    def affords(self, guarantee: Guarantee) -> bool:
        """Return True when a release with this guarantee stays within the limit; exact."""
        if self.limit is None:
            return False
        after = Account(self.name, self.limit, (*self.costs, cost_of(guarantee)))
        return after.left_epsilon >= 0 or after.left_rho >= 0

    @property
    def left_epsilon(self) -> Fraction:
        """Epsilon left for pure releases; negative where none can be paid, as under a zCDP limit."""
        if not isinstance(self.limit, (PureDP, ApproxDP)) or self.spent_epsilon is None:
            return Fraction(-1)
        return decimal_level(self.limit.epsilon) - self.spent_epsilon

    @property
    def left_rho(self) -> Fraction:
        """Rho left for releases of any kind; negative where none can be paid, as under a pure limit."""
        if self.limit is None or isinstance(self.limit, PureDP):
            return Fraction(-1)
        return cost_of(self.limit).amount - self.spent_rho

    @property
    def sentence(self) -> str:
        """Number of releases and what is left, in one sentence."""
        if self.limit is None:
            return "No limit is set, so nothing can be released."
        count = {0: "No release", 1: "1 release"}.get(self.releases, f"{self.releases} releases")
        unit = f" Unit: {self.unit}." if self.unit else ""
        return f"{count} so far; {self.left}.{unit}" + "".join(f" {words}." for words in self.limit_increases)

    def other_unit(self, unit: str) -> str:
        """Return in one sentence why a release of this unit cannot be paid from the account, or ""."""
        if not self.releases or unit == self.unit:
            return ""
        return (
            f"The account of {self.name!r} counts releases with the unit {self.unit!r}, and this one "
            f"has {unit!r}: such costs do not add up. Declare the table as before: the unit of an "
            "account never changes."
        )

    @property
    def left(self) -> str:
        """What is left of the limit, rounded down, in words."""
        parts = []
        if self.left_rho > 0:
            parts.append(f"rho {_down(self.left_rho)} in zCDP")
        if self.left_epsilon > 0:
            parts.append(f"epsilon {_down(self.left_epsilon)} in pure DP")
        return f"of {self.limit} there remains {' or '.join(parts) or 'nothing'}"


def unit_of(request: Mapping) -> str:
    """Return whom a requested release protects, and whether n is public; "" for a request without facts."""
    facts = request.get("facts")
    if not isinstance(facts, Mapping):
        return ""
    person, k = facts.get("person", ""), facts.get("rows_per_person", 1)
    who = f"a person with all rows of one id in {person!r}" if person else "one row"
    who = f"up to {k} rows of a person" if k > 1 else who
    count_unit = "persons" if person else "rows"
    return f"{who}; the number of {count_unit} is {'not ' if facts.get('n') is None else ''}public"


def allows_more(limit: Guarantee, before: Guarantee) -> bool:
    """Return whether a limit allows a release that the limit before refused: one that spends all of the new limit."""
    if limit == before:
        return False
    whole = (PureDP(limit.epsilon), ZCDP(float(cost_of(limit).amount))) if isinstance(limit, ApproxDP) else (limit,)
    return not all(Account("", before).affords(one) for one in whole)


def _down(amount: Fraction) -> str:
    """Return six digits, rounded down.

    An amount that lies below a number of six digits by no more than the rounding of a double, as 1 - 0.1 may, is shown
    as that number. This is for display only: whether a release fits is decided with the exact numbers.
    """
    cut = Context(prec=6, rounding=ROUND_FLOOR)
    upper = amount * (1 + Fraction(1, 2**48))
    number = cut.divide(Decimal(upper.numerator), Decimal(upper.denominator)).normalize()
    return f"{number:f}" if number >= 1 else f"{number:g}"
