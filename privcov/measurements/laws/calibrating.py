"""The scale of exact noise for a share: rounded up, and paid from no more than what the ledger counts."""

from __future__ import annotations

import math
from fractions import Fraction

from privcov import accounting
from privcov.measurements.laws.drawing import root_up
from privcov.privacy import ApproxDP, BudgetShare, NoPrivacy, PureDP, ZCDP


def calibrated(share: BudgetShare, square: int, noise: str, *, pure: bool) -> tuple[float, float]:
    """Return (sensitivity rounded up, scale): sensitivity / scale is within the share in exact arithmetic.

    Parameters
    ----------
    share : PureDP, ApproxDP or ZCDP
        An ApproxDP share is converted to the largest rho that implies it.
    square : int
        Square of the sensitivity.
    noise : str
        The noise in words, for a refusal.
    pure : bool
        True for noise that gives pure DP, False for Gaussian noise.

    Returns
    -------
    tuple of (float, float)
        In the unit of the sensitivity.

    Raises
    ------
    TypeError
        For a share that the noise cannot give.
    """
    if isinstance(share, NoPrivacy) or not isinstance(share, (PureDP, ApproxDP, ZCDP)):
        raise TypeError(f"Private rows need a guarantee, and {share} is none. Ask for PureDP, ApproxDP or ZCDP.")
    share = no_more_than_typed(share)
    bound = root_up(Fraction(square))
    if pure:
        if isinstance(share, ApproxDP):
            raise TypeError(f"{noise} noise gives pure DP, and {share} was asked for. Ask for PureDP or ZCDP.")
        return bound, accounting.laplace_scale(share, bound)
    if isinstance(share, PureDP):
        raise TypeError(f"Gaussian noise cannot give {share}; ask for ApproxDP or ZCDP.")
    if isinstance(share, ApproxDP):
        share = ZCDP(accounting.approx_to_zcdp(share.epsilon, share.delta))
    return bound, accounting.gaussian_scale(share, bound)


def no_more_than_typed(share: PureDP | ApproxDP | ZCDP) -> PureDP | ApproxDP | ZCDP:
    """Return a share whose level is at most the decimal it prints as.

    The ledger counts 0.1 as 1/10, and the double 0.1 is a little above that.

    Parameters
    ----------
    share : PureDP, ApproxDP or ZCDP
        A share, or a whole guarantee.

    Returns
    -------
    PureDP, ApproxDP or ZCDP
        The same, or the next smaller level.
    """
    if isinstance(share, ApproxDP):
        return share
    level = share.epsilon if isinstance(share, PureDP) else share.rho
    if Fraction(level) <= Fraction(repr(float(level))):
        return share
    return type(share)(math.nextafter(level, 0.0))
