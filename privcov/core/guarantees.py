"""The types of a guarantee, the neighbouring relations, and what was spent (events).

PureDP, ApproxDP and ZCDP are separate types, so that a rho is never taken for an epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import ClassVar, final

from privcov.core import checks

_BIGGER = "Epsilon 0 would mean an answer independent of the data; that is the method 'zero'."


def format_up(value: float, digits: int) -> str:
    """Return the value as text with so many significant digits, rounded up: no guarantee looks stronger than it is."""
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(repr(value)))):.{digits}g}"


@final
@checks.explain_arguments
@dataclass(frozen=True)
class PureDP:
    """Pure epsilon-DP.

    Parameters
    ----------
    epsilon : float
        Above 0, no unit.

    Attributes
    ----------
    kind : str
        "pure".
    name : str
        "Pure DP".

    Raises
    ------
    ValueError
        For an epsilon that is not positive.

    Guarantee
    ---------
    P(M(D) in A) <= exp(epsilon) P(M(D') in A) for all neighbours D, D' and every set A of answers.

    Reference
    ---------
    Dwork, McSherry, Nissim and Smith 2006, Definition 1.

    Examples
    --------
    >>> import privcov
    >>> print(privcov.PureDP(epsilon=0.5))
    0.5-DP
    """

    epsilon: float
    kind: ClassVar[str] = "pure"
    name: ClassVar[str] = "Pure DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon, _BIGGER))

    def __str__(self) -> str:
        return f"{format_up(self.epsilon, 6)}-DP"


@final
@checks.explain_arguments
@dataclass(frozen=True)
class ApproxDP:
    """Approximate (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        Above 0, no unit.
    delta : float
        Strictly between 0 and 1. A delta of 1/n or more permits publishing the row of a person chosen at random.

    Attributes
    ----------
    kind : str
        "approx".
    name : str
        "Approximate DP".

    Raises
    ------
    ValueError
        For an epsilon or a delta out of range.

    Guarantee
    ---------
    P(M(D) in A) <= exp(epsilon) P(M(D') in A) + delta for all neighbours D, D' and every set A of answers.

    Reference
    ---------
    Dwork, Kenthapadi, McSherry, Mironov and Naor 2006.

    Examples
    --------
    >>> import privcov
    >>> print(privcov.ApproxDP(epsilon=1.0, delta=1e-6))
    (1, 1e-06)-DP
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
        return f"({format_up(self.epsilon, 6)}, {format_up(self.delta, 3)})-DP"


@final
@checks.explain_arguments
@dataclass(frozen=True)
class ZCDP:
    """Zero-concentrated DP with parameter rho.

    Parameters
    ----------
    rho : float
        Above 0, no unit.

    Attributes
    ----------
    kind : str
        "zcdp".
    name : str
        "zCDP".

    Raises
    ------
    ValueError
        For a rho that is not positive.

    Guarantee
    ---------
    The Renyi divergence of order a between the answers on neighbours is at most rho * a, for all a > 1.

    Reference
    ---------
    Bun and Steinke 2016, Definition 1.1.

    Examples
    --------
    >>> import privcov
    >>> print(privcov.ZCDP(rho=0.1))
    0.1-zCDP
    """

    rho: float
    kind: ClassVar[str] = "zcdp"
    name: ClassVar[str] = "zCDP"

    def __post_init__(self) -> None:
        remedy = "Rho 0 would mean an answer independent of the data."
        object.__setattr__(self, "rho", checks.positive("rho", self.rho, remedy))

    def __str__(self) -> str:
        return f"{format_up(self.rho, 6)}-zCDP"


@final
@dataclass(frozen=True)
class GaussianDP:
    """Gaussian DP with parameter mu > 0, for shares of a guarantee; ValueError for a mu that is not positive.

    Answers on neighbours are no easier to tell apart than N(0, 1) and N(mu, 1). An (epsilon, delta) guarantee is split
    into such shares, because mu^2 adds exactly. Reference: Dong, Roth and Su 2022, Definition 4 and Corollary 2.
    """

    mu: float
    kind: ClassVar[str] = "gdp"
    name: ClassVar[str] = "Gaussian DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", checks.positive("mu", self.mu))

    def __str__(self) -> str:
        return f"{format_up(self.mu, 6)}-GDP"


@final
@dataclass(frozen=True)
class NoPrivacy:
    """No noise and no guarantee: the non-private reference curve.

    For synthetic and public data only.

    Attributes
    ----------
    kind : str
        "none".
    name : str
        "No privacy".

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> import privcov
    >>> print(privcov.NoPrivacy())
    no guarantee (no noise was added)
    """

    kind: ClassVar[str] = "none"
    name: ClassVar[str] = "No privacy"

    def __str__(self) -> str:
        return "no guarantee (no noise was added)"


Guarantee = PureDP | ApproxDP | ZCDP | NoPrivacy
BudgetShare = Guarantee | GaussianDP  # what a guarantee is split into; an ApproxDP becomes GaussianDP shares
GuaranteeKind = type[PureDP] | type[ApproxDP] | type[ZCDP] | type[NoPrivacy]
_KINDS: tuple[GuaranteeKind, ...] = (PureDP, ApproxDP, ZCDP, NoPrivacy)
KINDS: dict[str, GuaranteeKind] = {kind.kind: kind for kind in _KINDS}


def level_of(guarantee: Guarantee) -> float:
    """Return the epsilon or rho of a guarantee."""
    assert not isinstance(guarantee, NoPrivacy)
    return guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon


def with_level(guarantee: Guarantee, level: float) -> PureDP | ApproxDP | ZCDP:
    """Return the guarantee with another epsilon or rho."""
    if isinstance(guarantee, ZCDP):
        return ZCDP(level)
    return ApproxDP(level, guarantee.delta) if isinstance(guarantee, ApproxDP) else PureDP(level)


def to_dict(guarantee: Guarantee) -> dict:
    """Return a guarantee as a dict, ``{"kind": ..., parameters}``; `from_dict` is the inverse."""
    return {"kind": guarantee.kind, **vars(guarantee)}


def from_dict(fields: dict) -> Guarantee:
    """Return the guarantee that `to_dict` wrote."""
    rest = dict(fields)
    kind = checks.one_of("guarantee kind", rest.pop("kind", None), tuple(KINDS))
    return KINDS[kind](**rest)


ALL_ROWS, UP_TO = "one person, with all their rows", "one of up to"


@dataclass(frozen=True)
class Neighbours:
    """Which pairs of data sets must be hard to tell apart, and what one row stands for, each in words."""

    key: str
    sentence: str
    unit: str = "one person"

    @property
    def count_unit(self) -> str:
        """What is counted as one: "rows", or "persons" where all rows of a person count together."""
        return "persons" if self.unit.startswith(ALL_ROWS) else "rows"

    @property
    def secret(self) -> str:
        """What an attacker who knows everything else may guess."""
        several = self.unit.startswith((ALL_ROWS, UP_TO))
        if self.key not in ("replace-one", "local"):
            return f"whether one given {'person' if several else 'row'} is in the table"
        return "which of two sets of rows one given person has" if several else "which of two values one given row has"


REPLACE_ONE = Neighbours(
    "replace-one", "two tables of the same public number of rows n that differ in one row, replaced by any other row"
)
ADD_REMOVE = Neighbours("add-remove", "two tables, one of which has one row more; the number of rows is not public")
LOCAL = Neighbours("local", "any two rows that one user may send; nobody else sees a row", "one user's whole row")
RELATIONS = {r.key: r for r in (REPLACE_ONE, ADD_REMOVE)}

PURE_MECHANISMS = ("laplace", "wishart-difference", "coupled-wishart", "sparse-vector", "exponential")
MECHANISMS = ("gaussian", "discrete-gaussian", *PURE_MECHANISMS, "wishart")


@dataclass(frozen=True)
class Event:
    """What one measurement did to the rows: all that composition needs to know about it.

    share: name of the share that was spent. sensitivity: largest change of the statistic between neighbours in the
    norm, above 0. scale: noise scale in the same ``unit``, above 0. proof: where the sensitivity is derived. law: shape
    of the noise, where the mechanism, one of `MECHANISMS`, has several. freedom: for "wishart" m - d + 1, else 0.

    "gaussian": noise of standard deviation ``scale`` along every direction in which the norm measures ``sensitivity``.

    "discrete-gaussian": the same in whole numbers. It is accounted as (sensitivity / scale)^2 / 2 zCDP only, because
    the curve of continuous Gaussian noise is not its own.

    Pure mechanisms have epsilon = sensitivity / scale, in these norms: "laplace" the l1 norm, "wishart-difference" the
    nuclear norm, "coupled-wishart" the larger trace of the positive and the negative part, "sparse-vector" and
    "exponential" the change of a score.

    "wishart": W_d(m, C I) is added, C = scale / 2, and the sensitivity is the largest |x|^2 / n.
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
        """Noise scale over sensitivity, without unit: 1/mu for Gaussian noise, 1/epsilon for pure mechanisms."""
        return self.scale / self.sensitivity

    @property
    def pure(self) -> bool:
        """Whether the event is pure epsilon-DP: its cost is then sensitivity over scale."""
        return self.mechanism in PURE_MECHANISMS
