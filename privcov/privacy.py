"""The vocabulary of a guarantee: three types, the neighbouring relation, and what was spent (events).

PureDP, ApproxDP and ZCDP are separate frozen types, so a rho can never be passed for an epsilon.
An ``Event`` says what one measurement did to the rows; the accountant reads events and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import ClassVar, final

from privcov import checks

_BIGGER = "Epsilon 0 would mean an answer independent of the data; that is the method 'zero'."


def shown(value: float, digits: int) -> str:
    """The value with so many significant digits, rounded up: a statement must not look stronger than it is."""
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(repr(value)))):.{digits}g}"


@final
@dataclass(frozen=True)
class PureDP:
    """Pure epsilon-DP: P(M(D) in A) <= exp(epsilon) P(M(D') in A) for all neighbours D, D'.

    epsilon: > 0, no unit. Dwork, McSherry, Nissim and Smith (2006), Definition 1.
    """

    epsilon: float
    kind: ClassVar[str] = "pure"
    name: ClassVar[str] = "Pure DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon, _BIGGER))

    def __str__(self) -> str:
        return f"{shown(self.epsilon, 6)}-DP"


@final
@dataclass(frozen=True)
class ApproxDP:
    """Approximate (epsilon, delta)-DP: P(M(D) in A) <= exp(epsilon) P(M(D') in A) + delta.

    epsilon: > 0. delta: strictly between 0 and 1; above 1/n it permits publishing a person's row outright.
    Dwork, Kenthapadi, McSherry, Mironov and Naor (2006).
    """

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx"
    name: ClassVar[str] = "Approximate DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon, _BIGGER))
        delta = checks.strictly_between(
            "delta", self.delta, 0.0, 1.0, "Use PureDP for delta = 0; choose delta well below 1/n."
        )
        object.__setattr__(self, "delta", delta)

    def __str__(self) -> str:
        return f"({shown(self.epsilon, 6)}, {shown(self.delta, 3)})-DP"


@final
@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated DP: Renyi divergence of order a between neighbours <= rho * a for all a > 1.

    rho: > 0. Bun and Steinke (2016), Definition 1.1.
    """

    rho: float
    kind: ClassVar[str] = "zcdp"
    name: ClassVar[str] = "zCDP"

    def __post_init__(self) -> None:
        remedy = "Rho 0 would mean an answer independent of the data."
        object.__setattr__(self, "rho", checks.positive("rho", self.rho, remedy))

    def __str__(self) -> str:
        return f"{shown(self.rho, 6)}-zCDP"


@final
@dataclass(frozen=True)
class GaussianDP:
    """A share of a guarantee in mu-GDP: no easier to detect than N(0,1) against N(mu,1).

    The currency in which an (epsilon, delta) guarantee is split into shares, because it composes exactly: mu^2 adds.
    Dong, Roth and Su (2022), Definition 4 and Corollary 2.
    """

    mu: float
    kind: ClassVar[str] = "gdp"
    name: ClassVar[str] = "Gaussian DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", checks.positive("mu", self.mu))

    def __str__(self) -> str:
        return f"{shown(self.mu, 6)}-GDP"


@final
@dataclass(frozen=True)
class NoPrivacy:
    """No noise and no guarantee: the non-private reference curve. For synthetic and public data only."""

    kind: ClassVar[str] = "none"
    name: ClassVar[str] = "No privacy"

    def __str__(self) -> str:
        return "no guarantee (no noise was added)"


Guarantee = PureDP | ApproxDP | ZCDP | NoPrivacy
BudgetShare = Guarantee | GaussianDP  # what a guarantee is split into; an approximate one is opened into GaussianDP
Kind = type[PureDP] | type[ApproxDP] | type[ZCDP] | type[NoPrivacy]
_KINDS: tuple[Kind, ...] = (PureDP, ApproxDP, ZCDP, NoPrivacy)
KINDS: dict[str, Kind] = {kind.kind: kind for kind in _KINDS}


def to_dict(guarantee: Guarantee) -> dict:
    """``{"kind": ..., parameters}``; `from_dict` is the inverse."""
    return {"kind": guarantee.kind, **vars(guarantee)}


def from_dict(fields: dict) -> Guarantee:
    """The guarantee that `to_dict` wrote down. Raises ValueError for an unknown kind or a level out of range."""
    rest = dict(fields)
    kind = checks.one_of("guarantee kind", rest.pop("kind", None), tuple(KINDS))
    return KINDS[kind](**rest)


@dataclass(frozen=True)
class Neighbours:
    """Which pairs of data sets must be hard to tell apart, and what one row stands for."""

    key: str
    sentence: str
    unit: str = "one person"


REPLACE_ONE = Neighbours(
    "replace-one",
    "two tables of the same public number of rows n that differ in one row, replaced by any other row",
)
ZERO_OUT = Neighbours(
    "zero-out",
    "two tables of the same public number of rows n, one of which has a row replaced by the public origin "
    "(zeros, or the typical values where columns have bounds)",
)
ADD_REMOVE = Neighbours(
    "add-remove",
    "two tables, one of which has one row more; the number of rows is not public",
)
LOCAL = Neighbours(
    "local",
    "any two rows that one user may send; nobody else sees a row",
    "one user's whole row",
)
RELATIONS = {r.key: r for r in (REPLACE_ONE, ZERO_OUT, ADD_REMOVE)}

PURE_MECHANISMS = ("laplace", "wishart-difference", "coupled-wishart", "sparse-vector", "exponential")
MECHANISMS = ("gaussian", "discrete-gaussian", *PURE_MECHANISMS, "wishart")


@dataclass(frozen=True)
class Event:
    """What one measurement did to the rows: enough for an accountant that never saw the measurement.

    statistic:   what was measured, in words.
    mechanism:   "gaussian" (noise of standard deviation ``scale`` along every direction in which the norm
                 measures ``sensitivity``); "discrete-gaussian", the same in whole numbers, (sensitivity / scale)^2 / 2
                 zCDP and no other curve; pure mechanisms, epsilon = sensitivity / scale: "laplace" (l1),
                 "wishart-difference" (nuclear norm), "coupled-wishart" (larger trace of the positive and the negative
                 part), "sparse-vector" and "exponential" (scores); "wishart", a sum with
                 W_d(m, C I), C = scale / 2, with ``freedom`` = m - d + 1 and sensitivity the largest |x|^2 / n.
    sensitivity: largest change of the statistic between neighbours, in the named ``norm``.
    scale:       noise scale in the same unit as the sensitivity.
    proof:       where the sensitivity is derived.
    law:         shape of the noise, where the mechanism has several. unit: what sensitivity and scale are in.
    """

    share: str
    statistic: str
    mechanism: str
    norm: str
    sensitivity: float
    scale: float
    proof: str
    law: str = ""
    unit: str = "rows scaled by 1/R"
    freedom: float = 0.0

    def __post_init__(self) -> None:
        checks.one_of("mechanism", self.mechanism, MECHANISMS)
        checks.positive("sensitivity", self.sensitivity)
        checks.positive("scale", self.scale)

    @property
    def multiplier(self) -> float:
        """Noise scale over sensitivity: no unit; 1/mu for Gaussian noise, 1/epsilon for pure mechanisms."""
        return self.scale / self.sensitivity

    @property
    def pure(self) -> bool:
        """Whether it is pure epsilon-DP: its cost is then sensitivity over scale."""
        return self.mechanism in PURE_MECHANISMS
