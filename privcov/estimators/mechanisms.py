"""How noise is added to the moment matrix, once: the part that a covariance and a graphical lasso share.

A method is a mechanism and what is done with its result. The scales that the papers print are calibrations of their
own; the guarantee they actually give is computed from their events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, BudgetShare, GaussianDP, Guarantee, GuaranteeKind, NoPrivacy, PureDP, ZCDP
from privcov.estimators.base import MeasurementRequest, MethodInput, NotOneMeasurementError, OneMeasurement
from privcov.measurements.moment import ANCHOR_SQUARED, NoisyMoment, sensitivity
from privcov.measurements.wishart import measure_wishart

SOUND = "right sensitivity, exact calibration, rounded to the safe side"

# calibration -> (the kind it is printed for, the printed scale times n for unit vectors of p numbers).
PRINTED = {
    "as-published-1": (ApproxDP, lambda g, p: accounting.classical_gaussian_scale(g.epsilon, g.delta, 1.0)),
    "as-published-3": (ApproxDP, lambda g, p: accounting.classical_gaussian_scale(g.epsilon, g.delta, 1.0)),
    "as-published-4": (ApproxDP, lambda g, p: accounting.classical_gaussian_scale(g.epsilon, g.delta, math.sqrt(2))),
    "as-published-5": (ZCDP, lambda g, p: 1 / math.sqrt(g.rho)),
}
PRINTED_LAPLACE = {
    "as-published-3": (PureDP, lambda g, p: 2 * p / g.epsilon),
    "as-published-5": (PureDP, lambda g, p: math.sqrt(2) * p / g.epsilon),
}


def refuse_unknown_count(inputs: MethodInput) -> None:
    """Raise ValueError under add-remove, because every paper takes the number of rows as public."""
    if inputs.relation == "add-remove":
        raise ValueError(
            "The papers take the number of rows as public, so there is no published calibration for add-remove. "
            "Use calibration='sound'."
        )


def printed_share(
    inputs: MethodInput,
    printed: Mapping[str, tuple[GuaranteeKind, Callable[[Any, int], float]]],
    norm: str,
    sound_scale: Callable[[Any, float], float],
) -> BudgetShare:
    """Return the share that makes `measure_moment` add noise of the printed scale; its event has the true sensitivity.

    In joint centring the paper's mechanism is applied to z / sqrt(1 + s^2), a unit vector of d + 1 numbers (d + k with
    k classes). Where the printed scale is the right one, it is rounded to the safe side like any other.
    """
    refuse_unknown_count(inputs)
    if isinstance(inputs.guarantee, NoPrivacy):
        return inputs.guarantee
    kind, formula = printed[inputs.calibration]
    if not isinstance(inputs.guarantee, kind):
        raise ValueError(
            f"The scale of {inputs.calibration} is printed for {kind.name}, not for {inputs.guarantee}. "
            f"Ask for {kind.__name__}, or use calibration='sound'."
        )
    joint, d, n = inputs.n_anchors, inputs.d, inputs.n
    scale = formula(inputs.guarantee, d + joint) * (1 + ANCHOR_SQUARED * (joint > 0)) / n
    delta = sensitivity(d, n, norm=norm, n_anchors=joint, relation=inputs.relation)
    if abs(sound_scale(inputs.guarantee, delta) / scale - 1) < 1e-9:
        return inputs.guarantee
    return PureDP(delta / scale) if kind is PureDP else GaussianDP(delta / scale)


class Noise:
    """Base of the noises on the moment matrix."""

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return what is to be measured; NotOneMeasurementError where private rows cannot be measured in this way."""
        raise NotImplementedError

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure the noisy matrix, on rows that are not private."""
        return self.request(inputs).measure(inputs)


@dataclass(frozen=True)
class Mechanism(Noise):
    """Noise of a shape of `measure_moment`, calibrated exactly; as published, of the printed shape and scale.

    printed: for each calibration its kind of guarantee, and the printed scale times n for unit vectors of p numbers.
    printed_shape: the shape of the printed noise where it differs.
    """

    shape: str
    printed: Mapping[str, tuple[GuaranteeKind, Callable[[Any, int], float]]] | None = None
    printed_shape: str = ""

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return the one measurement, under the whole guarantee."""
        if inputs.calibration == "sound":
            return MeasurementRequest(inputs.guarantee, self.shape)
        assert self.printed is not None
        shape = self.printed_shape or self.shape
        norm = {"laplace": "l1", "upper-triangle": "triangle"}.get(shape, "l2")
        calibrate = accounting.laplace_scale if shape == "laplace" else accounting.gaussian_scale
        return MeasurementRequest(printed_share(inputs, self.printed, norm, calibrate), shape)


def sulq_scale(guarantee: ApproxDP, p: int) -> float:
    """Return beta of MOD-SULQ times n, for unit vectors of p numbers.

    Reference: Blum, Dwork, McSherry and Nissim (2005); Chaudhuri, Sarwate and Sinha (2013).
    """
    inside = (p * p + p) / (guarantee.delta * 2 * math.sqrt(2 * math.pi))
    if inside <= 1:
        raise ValueError(
            f"The printed scale of MOD-SULQ has no value at delta={guarantee.delta:g} with {p} column(s). "
            "Use a smaller delta."
        )
    return (p + 1) / guarantee.epsilon * math.sqrt(2 * math.log(inside)) + 1 / math.sqrt(guarantee.epsilon)


SULQ = Mechanism("upper-triangle", {"as-published": (ApproxDP, sulq_scale)})


@dataclass(frozen=True)
class WishartNoise(Noise):
    """One Wishart matrix as noise, with its mean subtracted.

    printed, sound: ``freedom`` and ``ratio`` of `measure_wishart`, as printed and as the claim needs.
    """

    printed: Callable[[Guarantee], dict]
    sound: Callable[[Guarantee], dict] | None = None

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Raise NotOneMeasurementError: private rows never get this noise."""
        raise NotOneMeasurementError("A single Wishart matrix is not among the noises of private rows.")

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure the noisy matrix."""
        noise = self.sound if inputs.calibration == "sound" else self.printed
        assert noise is not None
        return measure_wishart(inputs.dataset, **noise(inputs.guarantee), centre=inputs.centre, rng=inputs.rng)


def with_mean(noisy_moment: NoisyMoment) -> np.ndarray:
    """Return the matrix as Wang et al. 2018 prints it, with the mean m C I of the noise; anchors keep their counts."""
    diagonal = np.full(len(noisy_moment.matrix), noisy_moment.distribution.removed_mean)
    diagonal[noisy_moment.distribution.dimension :] = 0.0
    return noisy_moment.matrix + np.diag(diagonal)


def mean_left_in(noisy_moment: NoisyMoment) -> tuple[str, ...]:
    """Return the note that the published form leaves the mean of its noise on the diagonal."""
    bias = noisy_moment.distribution.removed_mean * noisy_moment.row_bound**2
    return (f"As published, the mean of the noise stays on the diagonal: {bias:.4g}.",) if bias else ()


class LeastNoise(Noise):
    """The least noisy shape for many columns under the kind of guarantee."""

    @staticmethod
    def shape(inputs: MethodInput) -> str:
        """Return the shape: Gaussian with an accurate trace; under pure DP the difference of two Wishart matrices."""
        if not isinstance(inputs.guarantee, PureDP):
            return "free-trace"
        return "laplace" if inputs.d == 1 else "wishart-difference"

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return the one measurement, under the whole guarantee."""
        return MeasurementRequest(inputs.guarantee, self.shape(inputs))


class MechanismMethod(OneMeasurement):
    """Base of the methods that consist of a `Noise` and what is done with its result."""

    @property
    def mechanism(self) -> Noise:
        """The mechanism that adds the noise."""
        raise NotImplementedError

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return the request of the mechanism."""
        return self.mechanism.request(inputs)

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure by the mechanism."""
        return self.mechanism.measure(inputs)
