"""What one release of a method leaves an attacker, before any table is at hand: for advice and for plans.

A method's noise is the same at every n and d, so a run on a few simulated rows has the events that count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from privcov import accounting
from privcov.audit import disclosure
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.parameters import build
from privcov.privacy import ApproxDP, GaussianDP, PureDP, ZCDP
from privcov.releasing.run import build_method, run_method

PRIOR, UNLUCKY = 0.1, 0.01  # the suspicion before a release, and the part of all releases that may raise it further
_TINY = {"n": 60, "d": 3}


@dataclass(frozen=True)
class Risk:
    """What an attacker gets who knows every other row.

    Attributes
    ----------
    success : float
        Best chance to guess right whether one given person is in the table, 0.5 to 1, as of a release of this method.
    after : float
        What a suspicion of `PRIOR` about one row can become.
    always : bool
        Whether that holds for every release, and not only for all but a part `UNLUCKY` of them.
    """

    success: float
    after: float
    always: bool


@lru_cache(maxsize=256)
def risk(method: str, guarantee: PureDP | ApproxDP | ZCDP) -> Risk:
    """Return what a release of a method leaves an attacker who knows every other row, and the method.

    Parameters
    ----------
    method : str
        Key of a method.
    guarantee : PureDP, ApproxDP or ZCDP
        What the release keeps.

    Returns
    -------
    Risk
        The best chance of a guess, and what a suspicion can become.

    Notes
    -----
    Where all noise is Gaussian the events say with which mu, and beliefs follow from it; else from the guarantee, for
    (epsilon, delta) by epsilon - ln(1 - delta / chance), which holds for every mechanism.
    """
    source = build(SOURCES.get("ar1-covariance").cls, "Source 'ar1-covariance'", _TINY)
    release = run_method(build_method(method, {}), make_dataset(source, seed=0), guarantee, seed=0)
    success = release.attacker_success
    given = release.given
    if accounting.gaussian_square(release.events) and not accounting.pure_sum(release.events):
        mu = math.sqrt(float(accounting.gaussian_square(release.events)))
        nats = disclosure.loss(GaussianDP(mu), UNLUCKY)
    elif isinstance(given, ApproxDP):
        nats = given.epsilon - math.log1p(-given.delta / UNLUCKY) if given.delta < UNLUCKY else math.inf
    else:
        assert isinstance(given, (PureDP, ZCDP))  # a method that is ranked measures something
        nats = disclosure.loss(given, UNLUCKY)
    return Risk(success, float(disclosure.posterior(PRIOR, nats)), isinstance(given, PureDP))
