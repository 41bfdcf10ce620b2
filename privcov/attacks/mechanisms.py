"""What can be audited: every method in every calibration at d = 1, 2, 3, and mechanisms broken on purpose.

A method that adds noise to one matrix is looked at there: the noisy matrix is part of the release, everything else is
made from it, so no attacker sees more. Its draws come in bulk from the noise distribution that a run of the method
reports. Every other method is run from end to end for every draw, and looked at through the matrix of its release. The
measurement of private rows is run as it is, see exact.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from privcov.attacks import exact, faults
from privcov.attacks.bounds import AuditableGuarantee
from privcov.attacks.bulk import draw_many
from privcov.attacks.pairs import ROWS, catalogue, tables, usual
from privcov.core.guarantees import ApproxDP, Event, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.core.randomness import stream
from privcov.estimators.base import METHODS, MethodCard, MethodInput
from privcov.measurements.moment import NoisyMoment
from privcov.releases.public import build_method, run_method
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

GROUPS = ("As published", "Sound", "Broken on purpose", "Private release (exact)")
KINDS = ("pure", "approx", "zcdp")
RHO = 0.5  # that of 1-DP read as zCDP
# Fixed for the audit. Output perturbation: the penalty at which one row moves the answer most in units of its noise.
SETTINGS = {"output-perturbation": {"penalty": 1.0, "threshold": "none"}}
BASES = (("gaussian-cov", "approx"), ("laplace-cov", "pure"), ("wishart-difference", "pure"), ("gaussian-cov", "zcdp"))
EXACT = (("gaussian-cov", "zcdp"), ("laplace-cov", "pure"), ("wishart-difference", "pure"))
BOUNDED = (("auto-cov", "zcdp"),)  # with the smaller anchor too
_SAID = {"pure": "pure DP", "approx": "(epsilon, delta)", "zcdp": "zCDP"}


@dataclass(frozen=True)
class AuditedMechanism:
    """A method in one calibration under one kind of guarantee (one of `KINDS`), or a broken form of it.

    bulk: its draws come many at once. exact: the measurement of private rows. hidden_n: the number of rows is not
    public. bounded: the columns have bounds, by which every variance is measured more accurately.
    """

    key: str
    label: str
    group: str
    method: str
    calibration: str
    kind: str
    bulk: bool
    fault: str = ""
    exact: bool = False
    hidden_n: bool = False
    bounded: bool = False

    @property
    def settings(self) -> dict:
        """Parameters that are fixed for the audit."""
        return SETTINGS.get(self.method, {})

    @property
    def rows(self) -> int:
        """The number of rows of a table: one in the local model, where every user sends a report of their own."""
        return 1 if METHODS.get(self.method).trust == "local" else ROWS

    @property
    def usual_draws(self) -> int:
        """The number of draws of either table that take a few seconds."""
        if self.exact:  # Wishart noise is drawn digit by digit, some milliseconds each
            return 1_000 if self.method == "wishart-difference" else 5_000
        return 100_000 if self.bulk else 10_000

    def usual_pair(self, d: int) -> str:
        """Return the key of the pair at which this mechanism, or its fault, is seen best."""
        if self.fault == "no-clipping":
            return "long-nobody" if self.hidden_n else "long-zero"
        return usual(d, hidden_n=self.hidden_n, joint=self.exact)

    def claim(self, epsilon: float, delta: float, rho: float = RHO) -> AuditableGuarantee:
        """Return the guarantee of this mechanism's kind at these levels."""
        claims: dict[str, AuditableGuarantee] = {
            "pure": PureDP(epsilon),
            "approx": ApproxDP(epsilon, delta),
            "zcdp": ZCDP(rho),
        }
        return claims[self.kind]


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws of one mechanism on one table.

    draw(count, stream names) -> count x d x d. centre: its answer without noise, or None where that is not known.
    support: the answer less ``centre`` cannot have a negative eigenvalue.
    """

    draw: Callable[..., np.ndarray]
    centre: np.ndarray | None
    events: tuple[Event, ...]
    support: bool


@lru_cache(maxsize=1)
def mechanisms() -> tuple[AuditedMechanism, ...]:
    """Return all mechanisms: published calibrations first, as they are what is in doubt."""
    entries = []
    for card in METHODS.all():
        if card.standing == "reference":
            continue
        for calibration in card.calibrations:
            kinds = [k for k in KINDS if not card.refuses(k)]
            for kind in kinds:
                one = _mechanism(card, calibration, kind)
                entries += [one] if one is not None else []
    for fault in faults.FAULTS.values():
        for method, kind in BASES:
            label = f"{fault.label} ({METHODS.get(method).label}, {_SAID[kind]})"
            key = f"{fault.key}:{method}:{kind}"
            entries.append(AuditedMechanism(key, label, GROUPS[2], method, "sound", kind, True, fault.key))
    entries += _exact_ones()
    order = {"wishart-pure:as-published:pure": 0, "output-perturbation:as-published:pure": 1}
    return tuple(sorted(entries, key=lambda m: (GROUPS.index(m.group), order.get(m.key, 2))))


def find(key: str) -> AuditedMechanism:
    """Return the mechanism of a key of `mechanisms`; ValueError for any other."""
    by_key = {m.key: m for m in mechanisms()}
    if key not in by_key:
        raise ValueError(
            f"There is no mechanism {key!r}. Take a key of privcov.attacks.mechanisms.mechanisms(), such as "
            f"{next(iter(by_key))!r}."
        )
    return by_key[key]


def _exact_ones() -> list[AuditedMechanism]:
    """Return the measurement of private rows as it is, and broken copies of it."""
    entries = []
    for fault in ("", *exact.FAULTS):
        for method, kind in EXACT:
            for hidden_n in (False, True):
                n = "n hidden" if hidden_n else "n public"
                setting = f"{METHODS.get(method).label}, {n}, {_SAID[kind]}"
                label = f"{faults.FAULTS[fault].label} ({setting})" if fault else setting
                key = f"exact{'-' * bool(fault)}{fault}:{method}:{kind}:{n.replace(' ', '-')}"
                entries.append(
                    AuditedMechanism(key, label, GROUPS[3], method, "sound", kind, False, fault, True, hidden_n)
                )
        for method, kind in BOUNDED if fault in ("", "half-noise") else ():
            setting = f"{METHODS.get(method).label}, within bounds, {_SAID[kind]}"
            label = f"{faults.FAULTS[fault].label} ({setting})" if fault else setting
            key = f"exact{'-' * bool(fault)}{fault}:{method}:{kind}:bounded"
            entries.append(
                AuditedMechanism(key, label, GROUPS[3], method, "sound", kind, False, fault, True, False, True)
            )
    return entries


def _mechanism(card: MethodCard, calibration: str, kind: str) -> AuditedMechanism | None:
    """Return the mechanism, or None where the calibration is not printed for this kind of guarantee."""
    group = GROUPS[1] if calibration == "sound" else GROUPS[0]
    label = card.label + (f", {calibration}" if group == GROUPS[0] else "")
    label += f", {_SAID[kind]}"
    key = f"{card.key}:{calibration}:{kind}"
    trial = AuditedMechanism(key, label, group, card.key, calibration, kind, False)
    try:
        bulk = _measure(trial, tables(catalogue(2)[0], trial.rows)[0], trial.claim(1.0, 1e-3)) is not None
    except ValueError:
        return None
    return AuditedMechanism(key, label, group, card.key, calibration, kind, bulk)


def _measure(mechanism: AuditedMechanism, dataset: Dataset, guarantee: Guarantee) -> NoisyMoment | None:
    """Return the one noisy matrix of a run, None where the method also measured the rows in another way."""
    method, rng = build_method(mechanism.method, mechanism.settings), stream(0, "audit", "law")
    method_input = MethodInput.on(dataset, guarantee, "none", method.card.tunings[0], rng, mechanism.calibration)
    return method.noisy_moment(method_input)


def _one_matrix(mechanism: AuditedMechanism, dataset: Dataset, guarantee: Guarantee) -> NoisyMoment:
    """Return `_measure` of a mechanism whose draws come many at once."""
    noisy_moment = _measure(mechanism, dataset, guarantee)
    assert noisy_moment is not None  # what ``bulk`` says
    return noisy_moment


def sampler(mechanism: AuditedMechanism, dataset: Dataset, claim: AuditableGuarantee) -> Sampler:
    """Return the mechanism's draws on this table, with the noise that it uses for the claim."""
    if mechanism.exact:
        draw_exact, centre, event = exact.sampler(
            mechanism.method,
            dataset,
            claim,
            hidden_n=mechanism.hidden_n,
            bounded=mechanism.bounded,
            fault=mechanism.fault,
        )
        return Sampler(draw_exact, centre, (event,), False)
    factor = 1.0
    guarantee = claim
    if mechanism.fault:
        event = _one_matrix(mechanism, dataset, claim).event
        assert event is not None  # a claim is a guarantee, so there is noise
        dataset, guarantee, factor = faults.FAULTS[mechanism.fault].apply(dataset, claim, event)
    if not mechanism.bulk:
        return _whole_runs(mechanism, dataset, guarantee)
    noisy, still = _one_matrix(mechanism, dataset, guarantee), _one_matrix(mechanism, dataset, NoPrivacy())
    assert noisy.event is not None  # as above
    distribution, noiseless = noisy.distribution, still.matrix
    mean = distribution.removed_mean * np.eye(distribution.dimension)

    def draw(count: int, *names: Any) -> np.ndarray:
        return factor * (noiseless + mean + draw_many(distribution, count, stream(*names, dataset.name, mechanism.key)))

    return Sampler(draw, factor * noiseless, (noisy.event,), distribution.shape == "wishart")


def _whole_runs(mechanism: AuditedMechanism, dataset: Dataset, guarantee: Guarantee) -> Sampler:
    method = build_method(mechanism.method, mechanism.settings)

    def run(guarantee: Guarantee, seed: int, repeat: int) -> Release:
        return run_method(
            method, dataset, guarantee, seed=seed, repeat=repeat, calibration=mechanism.calibration, centre="none"
        )

    def draw(count: int, seed: int, *names: Any) -> np.ndarray:
        # The names make one whole number, so that every batch has repeats of its own.
        first = int(stream(seed, *names, mechanism.key).integers(2**40)) * 2**20
        return np.array([run(guarantee, seed, first + k).matrix for k in range(count)])

    events = run(guarantee, 0, 0).events
    support = any(e.mechanism == "wishart" for e in events)
    return Sampler(draw, run(NoPrivacy(), 0, 0).matrix if support else None, events, support)
