"""The request of a private release, from public facts: a method, its one measurement, its post-processing.

No row is seen here. A method says from public facts what is to be measured (`Method.request`), and turns the
measurement into an answer (`Method.finish`). So a method is offered when its whole guarantee goes into one such
measurement. Its answer is a function of the noisy whole numbers and of public facts. Random numbers of the method
itself (the fission rules) come from one fixed public generator, so that the answer can be computed again.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import ApproxDP, Event, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.core.randomness import stream
from privcov.estimators.base import (
    METHODS,
    MeasurementRequest,
    Method,
    MethodCard,
    MethodInput,
    NothingMeasured,
    NotOneMeasurementError,
)
from privcov.measurements.exact.norm_counts import halvings_of, shares
from privcov.measurements.exact.private_moment import NoisySum, planned_events, shape_and_anchor
from privcov.measurements.exact.reading import noise_of, read_sum
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution
from privcov.releases.public import TUNINGS, build_method, check_centre, check_choices, in_units_of_data, remedy_of
from privcov.releases.release import Release
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import PublicFacts

DEFAULT_METHODS = ("auto-cov", "laplace-cov")  # methods of a release that names none
LEAST_LEVEL, MAX_LEVEL = 1e-15, 1e9  # of epsilon and rho
# Arguments that a private release does not take, with the message for each.
_REFUSED = {
    **dict.fromkeys(
        ("seed", "random_state"),
        "A private release takes no seed: its noise comes from the operating system and is never drawn twice.",
    ),
    "rng": "A private release takes no generator: its noise comes from the operating system.",
    "neighbours": "The neighbouring relation of private rows follows from their declaration: replace-one where the "
    "number of rows is public, else add-remove.",
}


@dataclass(frozen=True)
class PrivateRequest:
    """A method with its input on private rows: public facts, the guarantee, and the choices made."""

    method: Method
    input: MethodInput

    @property
    def measurement_request(self) -> MeasurementRequest:
        """What is to be measured; the same at every call."""
        return self.method.request(self._fresh_input())

    def event(self) -> Event:
        """Return the event of the matrix of the release that would follow, from public facts alone."""
        return self.events()[-1]

    def events(self, bound: PublicFacts | None = None) -> tuple[Event, ...]:
        """Return the events of the release that would follow; bound: as of `planned_events`."""
        return self.checked_events(planned_events(self.input.facts, **vars(self.measurement_request), bound=bound))

    def matches(self, noisy: NoisySum) -> bool:
        """Return whether this request can have made the measurement: its events, and the row bound that they give."""
        if self.events(noisy.facts) != noisy.events:
            return False
        if noisy.search is None:
            return True
        rest = shares(self.measurement_request.share)[1]
        ask = noisy.search.counts, self.input.facts, noisy.search.event, rest
        return noisy.search.halvings == halvings_of(*ask, self.measurement_request.search_for)

    def noise(self, rows: float, bound: PublicFacts | None = None) -> NoiseDistribution:
        """Return the noise of the release that would follow, on the joint moment of rows with this total weight.

        bound: the facts under the row bound that a search finds.
        """
        facts, query = bound or self.input.facts, self.measurement_request
        shape, anchor = shape_and_anchor(facts, query.shape, query.anchor_for)
        return noise_of(facts, shape, self.events(bound)[-1].scale, facts.n_anchors, 1, rows, anchor)

    def checked_events(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """Return the events, or raise RuntimeError where they exceed the guarantee."""
        if not accounting.covers(self.input.guarantee, accounting.compose(events, self.input.guarantee)):
            raise RuntimeError(
                f"{self.method.card.label} would spend more than {self.input.guarantee}: a defect, and nothing is "
                "published."
            )
        return events

    def finish(self, noisy: NoisySum) -> Release:
        """Return the release that the method makes of the measurement; post-processing."""
        return self.release_of_measurement(read_sum(noisy, self.input.centre), noisy.facts)

    def release_of_measurement(self, measurement: NoisyMoment, facts: PublicFacts) -> Release:
        """Return the release that the method makes of a noisy moment of a table with these facts."""
        inputs = dataclasses.replace(self._fresh_input(), facts=facts)
        rel = in_units_of_data(self.method, inputs, self.method.finish(inputs, measurement))
        return Release(**vars(rel) | {"neighbours": inputs.facts.neighbours})

    def covariance_of(self, measurement: NoisyMoment) -> np.ndarray:
        """Return the covariance of that release, in the data's units."""
        covariance = self.release_of_measurement(measurement, self.input.facts).covariance
        assert covariance is not None, "the mean was measured"
        return covariance

    def _fresh_input(self) -> MethodInput:
        """Return the input, with its generator set back to the beginning."""
        return dataclasses.replace(self.input, rng=_public_stream(self.method.card))


def private_request(
    key: str, facts: PublicFacts, guarantee: Guarantee, centre: str = "auto", parameters: dict | None = None
) -> PrivateRequest:
    """Return the request for a method on private rows, or raise with the reason against it."""
    parameters = parameters or {}
    for name, sentence in _REFUSED.items():
        if name in parameters:
            raise TypeError(sentence)
    own = dict(parameters)
    if own.pop("calibration", "sound") != "sound":
        raise ValueError("Private rows are released with calibration='sound' only: a published claim may be false.")
    if not isinstance(guarantee, Guarantee) or isinstance(guarantee, NoPrivacy):
        raise TypeError(
            f"guarantee must be PureDP, ApproxDP or ZCDP, got {checks.describe(guarantee)}. {remedy_of(guarantee)}"
        )
    level = "rho" if isinstance(guarantee, ZCDP) else "epsilon"
    checks.in_range(
        level, getattr(guarantee, level), LEAST_LEVEL, MAX_LEVEL, "Beyond them its cost cannot be computed."
    )
    card: MethodCard = METHODS.get(key)
    if reason := reason_against(key):
        raise ValueError(f"{reason} For private rows use one of {', '.join(c.key for c in private_methods())}.")
    tuning = checks.one_of("tuning", own.pop("tuning", card.tunings[0]), TUNINGS)
    if facts.relation not in card.relations:
        raise ValueError(
            f"{card.label} is calibrated for {' or '.join(card.relations)}, and the number of rows is not public here. "
            "Choose another method, or declare the number of rows public."
        )
    if facts.flagged and not card.missing_cells:
        takes = ", ".join(c.key for c in private_methods() if c.missing_cells)
        raise ValueError(
            f"{card.label} expects the same noise in every entry, which missing='pairs' does not give. Use one of "
            f"{takes}, or declare missing='typical'."
        )
    own = {**card.private_defaults, **own}
    tuning = tuning if tuning in card.tunings else card.tunings[0]  # one that the method ignores is no other request
    return PrivateRequest(build_method(key, own), _input(card, facts, guarantee, centre, tuning))


def default_request(facts: PublicFacts, guarantee: Guarantee, *, search: bool = False) -> PrivateRequest:
    """Return the default request: the first method with the least noise off the diagonal.

    The default methods differ under pure DP only: Laplace noise is smaller for a few categories with many levels.
    search: whether the release searches for a shorter row bound, where its method can.
    """
    requests = [
        private_request(key, facts, guarantee) for key in DEFAULT_METHODS[: 2 if isinstance(guarantee, PureDP) else 1]
    ]
    least = min(requests, key=lambda request: request.noise(1.0).off_diagonal_std)
    parameters = {"row_bound_search": "auto"}
    if not search or parameters.keys().isdisjoint(spec.name for spec in least.method.card.parameters):
        return least
    return private_request(least.method.card.key, facts, guarantee, parameters=parameters)


def _input(
    card: MethodCard, facts: PublicFacts, guarantee: Guarantee, centre: str = "auto", tuning: str = ""
) -> MethodInput:
    """Return the input of a method on private rows: public facts, and the fixed public generator."""
    checks.one_of("centre", centre, ("auto", "joint", "classes"))
    if centre == "auto":
        by_class = facts.classes and "classes" in card.centres and not facts.flagged
        centre = "classes" if by_class else "joint"
    tuning = tuning or card.tunings[0]
    check_choices(card, guarantee, "sound", tuning, facts.relation)
    check_centre(card, centre, "private", mean_is_zero=False)
    if centre == "classes" and not facts.classes:
        raise ValueError(
            "centre='classes' needs a declared label and its classes. Declare them, or use centre='joint'."
        )
    if centre == "classes" and facts.flagged:
        raise ValueError(
            "centre='classes' needs the cells of every row, and with missing='pairs' the shares of two cells are not "
            "measured by class. Use centre='joint', or declare missing='typical'."
        )
    return MethodInput(facts, guarantee, centre, tuning, _public_stream(card), "sound", facts.relation)


def _public_stream(card: MethodCard) -> np.random.Generator:
    return stream(0, "noise", 0, "private", card.key)


def release_from_measurement(
    method: str, noisy: NoisySum, guarantee: Guarantee, *, centre: str = "auto", **parameters: Any
) -> Release:
    """Return the release of another method from an old measurement: post-processing, without rows or ledger.

    The method of the original release, in the same version, gives the same numbers bit for bit.
    """
    request = private_request(method, noisy.facts, guarantee, centre, parameters)
    return Release(**vars(request.finish(noisy)) | {"measurement": noisy})


def private_methods() -> list[MethodCard]:
    """Return the cards of the methods that are offered for private rows."""
    return [card for card in METHODS.all() if not reason_against(card.key)]


@cache
def reason_against(key: str) -> str:
    """Return why a method is not offered for private rows, in one sentence."""
    card: MethodCard = METHODS.get(key)
    if card.trust != "central":
        return f"{card.label} is for people who add the noise themselves, before anybody holds a table."
    if "sound" not in card.calibrations:
        return f"{card.label} has no sound form: it is kept to show what was published."
    try:
        _example(card).event()
    except NotOneMeasurementError:
        return f"{card.label} looks at the rows in other steps than the one exact measurement."
    except NothingMeasured:
        return f"{card.label} reads no rows, so there is nothing to release."
    return ""


def _example(card: MethodCard) -> PrivateRequest:
    kind = card.guarantees[0].kind
    guarantee = PureDP(1.0) if kind == "pure" else ApproxDP(1.0, 1e-6) if kind == "approx" else ZCDP(1.0)
    facts = PrivateDataset.from_rows([[0.0, 0.0]], row_bound=1.0).facts
    return PrivateRequest(build_method(card.key, dict(card.private_defaults)), _input(card, facts, guarantee))
