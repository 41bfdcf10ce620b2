"""Every published claim in one table: what was promised, and what the printed noise gives by the exact curves.

A `Claim` says which calibration of which method prints it, and which sensitivity the paper used. Everything else is
computed when the table is made: the method is run on a small table, its event is read, and accounting gives the rest.
The ratio of sensitivity and noise does not depend on n, as both fall as 1/n.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pandas as pd

from privcov.attacks.catalogue import CLAIMS, FALSE, LOOSE, LUCKY, NONE, TRUE, Claim, definition_rows
from privcov.core import accounting, checks
from privcov.core.guarantees import ApproxDP, Event, Guarantee, PureDP
from privcov.core.randomness import stream
from privcov.estimators.base import METHODS, MethodInput
from privcov.measurements.wishart import approx_noise_sound
from privcov.releases.public import build_method
from privcov.tables.dataset import Dataset

_LOOSE = 1.05  # noise beyond what the exact calibration needs


@lru_cache(maxsize=512)
def events_of(method: str, calibration: str, guarantee: Guarantee, d: int, n: int = 4) -> tuple[tuple[Event, ...], int]:
    """Return (events of a run on a table of zeros, its number of rows). In the local model they are of one user."""
    card = METHODS.get(method)
    n = 1 if card.trust == "local" else n
    estimator = build_method(method, {})
    rows = Dataset.from_rows(np.zeros((n, d)), 1.0, provenance="simulated")
    method_input = MethodInput.on(rows, guarantee, "none", card.tunings[0], stream(0, "claims"), calibration)
    return estimator.events(method_input), n


def true_delta(events: tuple[Event, ...], epsilon: float) -> float:
    """Return the smallest delta at epsilon that follows from E and mu, rounded up.

    It is 0 for pure mechanisms of at most epsilon. TypeError for a discrete Gaussian event, whose curve is not that of
    the continuous one.

    Pure steps of E in sum: an event with probability p under one table and q under its neighbour has p <= e^E q and
    1 - q <= e^E (1 - p), and over these p - e^epsilon q is linear, largest at p = e^E / (1 + e^E), q = 1 - p. So
        delta = (e^E - e^epsilon) / (1 + e^E) for epsilon < E, attained by randomised response.
    With Gaussian steps of mu besides: E-DP is computed from randomised response,
    whose two answers, of probabilities p and 1 - p, shift the loss by E and by -E:
        delta = p g(epsilon - E) + (1 - p) g(epsilon + E), g the Gaussian curve; without Gaussian steps the line above.

    Reference: Kairouz, Oh and Viswanath 2015, for randomised response.
    """
    if events[0].mechanism == "wishart":
        return accounting.delta_of_wishart_event(events[0], epsilon)
    pure, mu2 = _pure_and_gaussian(events)
    low, high = Fraction(epsilon) - pure, Fraction(epsilon) + pure
    other = math.exp(-float(pure)) / (1 + math.exp(-float(pure)))
    delta = (1 - other) * _gaussian_curve(float(low), math.sqrt(mu2)) + other * _gaussian_curve(
        float(high), math.sqrt(mu2)
    )
    return min(delta * (1 + 1e-14), 1.0)


def _pure_and_gaussian(events: tuple[Event, ...]) -> tuple[Fraction, float]:
    if any(e.mechanism == "discrete-gaussian" for e in events):
        raise TypeError("Discrete Gaussian noise has no exact curve here; convert its zCDP with accounting.compose.")
    return accounting.pure_sum(events), float(accounting.gaussian_square(events))


def _gaussian_curve(epsilon: float, mu: float) -> float:
    """Return delta of mu-GDP at any real epsilon; below zero, P and Q exchanged, delta(e) = 1 - e^e + e^e delta(-e)."""
    if epsilon < 0:
        return -math.expm1(epsilon) + math.exp(epsilon) * _gaussian_curve(-epsilon, mu)
    return accounting.delta_of_gaussian(epsilon, mu) if mu else 0.0


def true_epsilon(events: tuple[Event, ...], delta: float) -> float:
    """Return the epsilon that the events actually have at delta (at 0 where they are pure); inf where there is none."""
    if events[0].mechanism == "wishart":
        return _wishart_epsilon(events[0], delta)
    pure, mu2 = _pure_and_gaussian(events)
    return float(pure) + (accounting.epsilon_of_gaussian(delta, math.sqrt(mu2)) if mu2 else 0.0)


def _wishart_epsilon(event: Event, delta: float) -> float:
    """Return the smallest epsilon of additive Wishart noise at delta, by bisection."""
    if event.freedom == 2:
        return 0.0 if accounting.delta_of_wishart_event(event, 0.0) <= delta else math.inf
    low, high = 0.0, 1e-3
    while accounting.delta_of_wishart_event(event, high) > delta:
        low, high = high, 2 * high
        if high > 400:
            return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if accounting.delta_of_wishart_event(event, middle) > delta else (low, middle)
    return high


def holds(claim: Claim, epsilon: float, delta: float, n: int, d: int) -> bool:
    """Return whether the printed noise gives the guarantee that is printed with it."""
    if claim.change is not None:
        return true_delta(_prepared(claim, epsilon, delta, n, d), epsilon) <= delta
    guarantee = claim.guarantee(epsilon, delta)
    events, _ = events_of(claim.method, claim.calibration, guarantee, min(d, claim.most_d), claim.rows(n))
    return accounting.covers(guarantee, accounting.actual_guarantee(events, guarantee))


def _prepared(claim: Claim, epsilon: float, delta: float, n: int, d: int) -> tuple[Event, ...]:
    """Return the event of the sound Gaussian mechanism with the actual change by one row."""
    guarantee = ApproxDP(epsilon, delta)
    scale = accounting.gaussian_scale(guarantee, math.sqrt(2) / n)
    assert claim.change is not None  # a claim about a preparing step
    change = claim.change(n, d)
    return (
        Event("matrix", claim.mechanism, "gaussian", "Frobenius norm", change, scale, "privcov/attacks/catalogue.py"),
    )


def row(claim: Claim, epsilon: float, delta: float, n: int, d: int) -> dict:
    """Return one line of the table; sensitivities are in R^2 (local: of one report), NaN where there is none."""
    guarantee = claim.guarantee(epsilon, delta)
    local, scale_to = METHODS.get(claim.method).trust == "local", 1.0
    if claim.change is not None:
        events = _prepared(claim, epsilon, delta, n, d)
    else:
        events, rows = events_of(claim.method, claim.calibration, guarantee, min(d, claim.most_d), claim.rows(n))
        scale_to = 1.0 if local else rows / n
    true = events[-1].sensitivity * scale_to
    proof_sensitivity = (
        math.nan if claim.proof_sensitivity is None else claim.proof_sensitivity(d) / (1 if local else n)
    )
    claim_holds = holds(claim, epsilon, delta, n, d)
    waste = math.nan if claim.change is not None else _waste(events, guarantee)
    return {
        "Paper": claim.paper,
        "Where": claim.where,
        "Mechanism": claim.mechanism,
        "Claim": str(guarantee),
        "Verdict": _verdict(claim, claim_holds, proof_sensitivity, true, waste),
        "True delta at epsilon": true_delta(events, epsilon),
        "True epsilon at delta": true_epsilon(events, delta),
        "Sensitivity used": proof_sensitivity,
        "True sensitivity": true,
        "Noise / needed": waste,
        "Why": claim.why,
        "Method": claim.method,
        "Calibration": claim.calibration,
    }


def _waste(events: tuple[Event, ...], guarantee: Guarantee) -> float:
    """Return how many times more noise than the exact calibration (Wishart: more degrees of freedom).

    NaN for a false claim that no amount of the same noise would keep.
    """
    pure, mu2 = float(accounting.pure_sum(events)), float(accounting.gaussian_square(events))
    if events[0].mechanism == "wishart":
        return (
            math.nan if isinstance(guarantee, PureDP) else events[0].freedom / approx_noise_sound(guarantee)["freedom"]
        )
    if pure:
        assert isinstance(guarantee, PureDP | ApproxDP)
        return guarantee.epsilon / pure
    return accounting.mu_of(guarantee) / math.sqrt(mu2)


def _verdict(claim: Claim, claim_holds: bool, proof_sensitivity: float, true: float, waste: float) -> str:
    if not claim_holds:
        return NONE if claim.change is not None else FALSE
    if proof_sensitivity < true * (1 - 1e-6):
        return LUCKY
    return LOOSE if waste > _LOOSE else TRUE


def table(epsilon: float = 1.0, delta: float = 1e-3, n: int = 1000, d: int = 20) -> pd.DataFrame:
    """Return every claim at these parameters. epsilon > 0, 0 < delta < 1, n >= 2, d >= 2."""
    checks.positive("epsilon", epsilon)
    checks.strictly_between("delta", delta, 0.0, 1.0)
    checks.integer("n", n, 2, 1_000_000)
    checks.integer("d", d, 2, 200, "The audit reads its curves up to d = 200.")
    rows = [row(c, epsilon, delta, n, d) for c in CLAIMS]
    return pd.DataFrame([*rows, *definition_rows(n)])
