"""What several planned releases of the same people cost together; no row is read.

Guarantees add up over releases: each is measured anew, and whoever has all of them may average their noise away.
"""

from __future__ import annotations

from dataclasses import dataclass

from privcov import accounting, checks
from privcov.measurements.exact_moment import planned_event
from privcov.owner.preview import planned_noise, with_level
from privcov.privacy import Event, GaussianDP, Guarantee, NoPrivacy, ZCDP
from privcov.public_facts import PublicFacts

MOST_RELEASES = 1_000
_STEPS = 40  # of the search for a level: halves of its bracket


@dataclass(frozen=True)
class Series:
    """What a series of equal releases costs.

    Attributes
    ----------
    each : Guarantee
        The guarantee of one release.
    count : int
        Number of releases.
    events : tuple of Event
        Of all of them.
    together : Guarantee
        What all of them give together, of the same kind.
    claim : PureDP, ApproxDP, ZCDP or GaussianDP
        The tightest known claim about all of them, from which an attacker's chance follows.
    share : Guarantee
        The guarantee that each must have for all of them to stay within ``each`` together.
    noise : float
        How many times as large the noise of one release is under ``share`` as under ``each``.
    pooled : float
        The same for the mean of all of them, weighted alike.
    """

    each: Guarantee
    count: int
    events: tuple[Event, ...]
    together: Guarantee
    claim: Guarantee | GaussianDP
    share: Guarantee
    noise: float
    pooled: float


def series(facts: PublicFacts, guarantee: Guarantee, shape: str, rows: int, count: int) -> Series:
    """Return what ``count`` releases under one declaration cost, if the same people are in all of them."""
    count = checks.whole("count", count, 1, MOST_RELEASES)
    if isinstance(guarantee, NoPrivacy):
        raise TypeError("NoPrivacy does not add up. Give PureDP, ApproxDP or ZCDP.")

    def together(each: Guarantee) -> Guarantee:
        events = (planned_event(facts, each, centre="joint", shape=shape),) * count
        found = accounting.compose(events, guarantee)
        assert found is not None, "a release measures something"
        return found

    events = (planned_event(facts, guarantee, centre="joint", shape=shape),) * count
    claim = accounting.trade_off_of(events, guarantee)
    assert claim is not None, "a release measures something"
    share = guarantee
    if count > 1:
        level = guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon
        low, high = level / (2 * count), level  # at half an even share they are within the whole
        for _ in range(_STEPS):
            middle = (low + high) / 2
            within = accounting.covers(guarantee, together(with_level(guarantee, middle)))
            low, high = (middle, high) if within else (low, middle)
        share = with_level(guarantee, low)
    stds = [planned_noise(facts, g, shape, rows).off_diagonal_std for g in (share, guarantee)]
    noise = stds[0] / stds[1]
    return Series(guarantee, count, events, together(guarantee), claim, share, noise, noise / count**0.5)
