"""What an attacker who has every other row can conclude about the last one, for any guarantee.

The attacker knows that the table is one of two neighbours, sees the release, and does the best that the guarantee
permits. Two pictures of the same thing: how often accusations are right (`true_positive_rate`, from the trade-off
curve), and what a belief becomes (`posterior`, from the privacy loss Z = ln P(release)/Q(release), P the truth).

The curves: for pure DP and (epsilon, delta) that of Kairouz, Oh and Viswanath 2015, for mu-GDP that of two shifted
normals (Dong, Roth and Su 2022). zCDP has no single worst mechanism: the best of the (epsilon, delta) pairs it implies.

The loss holds for every mechanism with such a curve, also for what is computed from a Gaussian release: tails of Z are
not monotone under post-processing, so the normal distribution of Z in the full release bounds nothing. Let S be the
releases with Z > z, and P(S) = c. Then Q(S) < c e^-z, and c <= power(Q(S)), so z < ln(c / Q(S)) <= ln(c / power^-1(c)).
power is concave and not negative at 0, so this falls in c, and P(Z > z) <= chance at z = ln(chance / power^-1(chance)).
A mechanism that reports only whether the release lies in S attains it. For zCDP it is the Chernoff bound
P(Z >= rho + 2 sqrt(rho ln(1/chance))) <= chance (Bun and Steinke 2016, Lemma 3.5).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri

from privcov.core import accounting, checks
from privcov.core.guarantees import ApproxDP, GaussianDP, NoPrivacy, PureDP, ZCDP, format_up

BoundedGuarantee = PureDP | ApproxDP | ZCDP | GaussianDP


def true_positive_rate(claim: BoundedGuarantee, alarm: ArrayLike) -> np.ndarray:
    """Return the largest fraction of true accusations when at most a fraction ``alarm`` of the innocent is accused.

    Exact for pure DP, (epsilon, delta) and mu-GDP; an upper bound for zCDP.
    """
    alarm = np.asarray(alarm, dtype=float)
    if isinstance(claim, GaussianDP):
        with np.errstate(divide="ignore"):
            return ndtr(ndtri(alarm) + claim.mu)
    pairs = _pairs(claim.rho) if isinstance(claim, ZCDP) else [(claim.epsilon, getattr(claim, "delta", 0.0))]
    fractions = np.ones_like(alarm)
    for epsilon, delta in pairs:
        steep = delta + np.exp(min(epsilon, 700.0)) * alarm
        flat = 1 - math.exp(-epsilon) * (1 - delta - alarm)
        fractions = np.minimum(fractions, np.minimum(steep, flat))
    if isinstance(claim, ZCDP):  # Pinsker, as in `accounting.attacker_success`
        fractions = np.minimum(fractions, alarm + math.sqrt(claim.rho / 2))
    return np.clip(fractions, alarm, 1.0)


@lru_cache(maxsize=32)
def _pairs(rho: float) -> list[tuple[float, float]]:
    """Return (epsilon, delta) pairs that rho-zCDP implies. Each is a valid bound; a finer grid gives a tighter one."""
    deltas = np.concatenate([np.logspace(-12, -2, 40), np.linspace(0.015, 0.95, 80)])
    return [(accounting.zcdp_to_approx(rho, float(d)), float(d)) for d in deltas]


def privacy_loss(claim: BoundedGuarantee, chance: float) -> float:
    """Return the privacy loss (nats) that is exceeded with probability at most ``chance`` when the belief is true.

    It holds for every mechanism that keeps the claim; pure DP: never more than epsilon. It may be inf.
    """
    chance = checks.strictly_between("chance", chance, 0.0, 1.0)
    if isinstance(claim, GaussianDP):
        return math.log(chance) - float(log_ndtr(ndtri(chance) - claim.mu))
    if isinstance(claim, ZCDP):
        return claim.rho + 2 * math.sqrt(-claim.rho * math.log(chance))
    if isinstance(claim, ApproxDP):
        return claim.epsilon - math.log1p(-claim.delta / chance) if chance > claim.delta else math.inf
    return claim.epsilon


def suspicion(claim: BoundedGuarantee | NoPrivacy | None, prior: float = 0.1, neighbours: str = "replace-one") -> str:
    """Return in one sentence what a suspicion about one row, held with probability ``prior``, can rise to.

    Under "add-remove" one step is whether the row is there; two values of a row are two steps apart.

    For a claim other than pure DP the sentence holds except in one of a thousand releases, or in 2 delta of them where
    that is more. ``claim`` None: nothing was measured.
    """
    about = "about" if neighbours in ("replace-one", "local") else "of the presence of"
    start = f"A {_share(prior)} suspicion {about} one row"
    if claim is None:
        return f"{start} stays what it is."
    if isinstance(claim, NoPrivacy) or (isinstance(claim, ApproxDP) and claim.delta >= 0.5):
        return f"{start} can become certainty."
    chance = usual_chance(claim)
    most = f"{start} can rise to at most {_share(float(posterior(prior, privacy_loss(claim, chance))))}"
    return f"{most}." if isinstance(claim, PureDP) else f"{most}, except in {_share(chance)} of releases."


def usual_chance(claim: BoundedGuarantee) -> float:
    """Return the chance of an unlucky release that `suspicion` and the pages allow for: 0.001, or 2 delta if larger."""
    return max(0.001, 2 * claim.delta) if isinstance(claim, ApproxDP) else 0.001


def posterior(prior: ArrayLike, nats: float) -> np.ndarray:
    """Return the belief after a release of this privacy loss; prior in [0, 1]."""
    prior = np.asarray(prior, dtype=float)
    if nats == math.inf:
        return np.where(prior > 0, 1.0, 0.0)
    fade = (1 - prior) * math.exp(-nats)
    return np.divide(prior, prior + fade, out=np.zeros_like(prior), where=prior > 0)


def sentences(claim: BoundedGuarantee, prior: float, chance: float) -> tuple[str, ...]:
    """Describe what the guarantee means. prior: the attacker's belief before; chance: of an unlucky release."""
    success = accounting.attacker_success(claim)
    right = f"{'at most' if isinstance(claim, ZCDP) else 'at best'} {_share(success)}"
    if 0.9999 < success < 1:  # as `privcov.core.words.chance` does; figures stand on this package
        right = "over 99.99\u00a0%"
    worst = privacy_loss(claim, chance)
    after = float(posterior(prior, worst))
    if isinstance(claim, PureDP):
        luck = "whatever is released"
    else:
        luck = f"except in at most {_share(chance)} of all releases"
    text = [
        f"Two tables differ in your row (its values, or whether it is there) and are equally likely. An "
        f"attacker names the true one {right} of the time; a coin toss does 50\u00a0%.",
        f"In up to {_share(claim.delta)} of all releases the guarantee permits your row to be printed in clear; "
        "then the belief is certainty."
        if isinstance(claim, ApproxDP) and not math.isfinite(worst)
        else f"A {_share(prior)} suspicion that one of the two is true can rise to at most {_share(after)}, {luck}.",
        "If one innocent in a hundred may be accused, at most "
        f"{_share(float(true_positive_rate(claim, 0.01)))} of the guilty are found.",
    ]
    if isinstance(claim, ApproxDP) and math.isfinite(worst):
        text.append(
            f"The guarantee permits a mechanism that prints the row itself with probability delta = {claim.delta:g}."
        )
    return tuple(text)


def _share(value: float) -> str:
    """Write a probability, a bound from above, in percent rounded up, so that only a certainty is 100 %."""
    complement = 100 * (1 - value)
    if 1e-9 <= complement < 0.1:
        places = math.ceil(-math.log10(complement))
        return f"{math.ceil(round(100 * value * 10**places, 3)) / 10**places:.{places}f}\u00a0%"
    return f"{format_up(round(100 * value, 9), 3)}\u00a0%"
