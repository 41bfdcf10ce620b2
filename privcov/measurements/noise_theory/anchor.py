"""The size of the anchor, the constant s that is appended to every row so that the mean is measured with the moment.

Every sensitivity in moment.py and exact/private_moment.py holds for every s^2 <= 1, with classes for s^2 = 1/2. A
larger s makes all noise larger, by 1 + s^2, and the mean more accurate, because its noise is divided by s. Per
coordinate of the mean the noise is (1 + s^2) / s, least at s = 1. The covariance is the second moment less the mean's
outer product. With tau^2 the variance of an off-diagonal entry of the noise without anchors, its error has, for a mean
m, the squared size
    (1 + s^2)^2 (1 + 2 |m|^2 / (d s^2) + (1 + s^2)^2 tau^2 / s^4),
up to a factor. Without the last term it is least at the root of 2 s^4 + kappa s^2 = kappa, kappa = 2 |m|^2 / d. A
public rule cannot know m: s^2 = 1 / (2 sqrt(d + 1)) is close to that root for lengths of m around a half, and for |m| =
1, the worst, costs at most 7 % over s^2 = 1/2 (two columns), about 1 % at eight.

Under add-remove, where the anchor carries the count, and with classes, whose counts it carries too, s^2 stays 1/2: a
small one makes the counts too noisy (3.4 times at 20 columns).
"""

from __future__ import annotations

import math

from privcov.core import checks
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT

BOTH, COVARIANCE = ANCHOR_PURPOSES = ("both", "covariance")
ANCHOR_SQUARED = 0.5


def anchor_squared(anchor_for: str, d: int, n_anchors: int, relation: str) -> float:
    """Return s^2 for what matters most to the reader of a release."""
    checks.one_of("anchor_for", anchor_for, ANCHOR_PURPOSES)
    if anchor_for == BOTH or n_anchors != 1 or relation != "replace-one":
        return ANCHOR_SQUARED
    return 0.5 / math.sqrt(d + 1)


def with_anchor(statistic: str, square: float) -> str:
    """Return the words for what is measured, with s^2 where it is not the usual one."""
    return statistic if square == ANCHOR_SQUARED else f"{statistic} (anchor s^2 = {square:.6g})"


def integer_anchor(anchor_for: str, d: int, n_anchors: int, relation: str) -> int:
    """Return a, the anchor of the whole numbers: s UNIT for s^2 of `anchor_squared`, rounded down."""
    if anchor_squared(anchor_for, d, n_anchors, relation) == ANCHOR_SQUARED:
        return ANCHOR
    return math.isqrt(math.isqrt(UNIT**4 // (4 * (d + 1))))


def choose_anchor_for(anchor: int, d: int, n_anchors: int, relation: str) -> str:
    """Return the word for which `integer_anchor` gives this anchor; "both" where every word gives it."""
    proper = {integer_anchor(word, d, n_anchors, relation): word for word in reversed(ANCHOR_PURPOSES)}
    if isinstance(anchor, bool) or not isinstance(anchor, int) or anchor not in proper:
        raise ValueError(
            f"anchor must be {' or '.join(map(str, sorted(proper)))} for these facts, got anchor={anchor!r}. Take the "
            "measurement as it was stored."
        )
    return proper[anchor]
