"""Common steps of the thresholding methods of Wang, Xu & He 2019 and Mathematics 2023.

Measure once, set small entries to zero, make the matrix positive semi-definite. The methods differ in the constant of
the papers' threshold, xi sqrt(log d / n) + 4 s sqrt(log d), s the standard deviation of the noise on an entry, and in
where the noise is added: by a curator in dp_thresholding.py, by every user in ldp_thresholding.py. Here the
off-diagonal entries are cut with the noise that each one carries; three further rules choose the cut from the noisy
matrix alone (free).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from privcov.core.guarantees import ApproxDP, BudgetShare, GaussianDP, NoPrivacy
from privcov.core.parameters import parameter
from privcov.estimators import mechanisms
from privcov.estimators.base import MeasurementRequest, MethodInput, OneMeasurement, Outcome
from privcov.estimators.papers.threshold_noise import (
    diagonal_variance,
    in_working_units,
    off_diagonal_variance,
    subtracted,
    target,
    unit_moments,
)
from privcov.measurements.moment import NoisyMoment, sensitivity
from privcov.postprocess import threshold as cutting
from privcov.postprocess.moments import Moments
from privcov.postprocess.spectrum import clip_psd

Std = TypeVar("Std", float, np.ndarray)
SOUND = mechanisms.SOUND + "; the diagonal is never cut"
RULES = ("hard-universal", "soft-sure", "paper")
RULE_HELP = (
    "Free. hard-universal: when most pairs are truly zero. soft-sure: when many are small. paper: as printed, with the "
    "constants below."
)


def constant_parameter(
    default: float, label: str, low: float, high: float, help: str, ends: tuple[str, str] = ("keeps more", "cuts more")
) -> Any:
    """Declare a constant of a printed threshold; nearly all of them raise it."""
    return parameter(
        default, label, low=low, high=high, advanced=True, shown_if={"rule": "paper"}, help=help, ends=ends
    )


@dataclass(frozen=True)
class Thresholding(OneMeasurement):
    """Base of the thresholding methods: measure, choose a cut, cut, clip. Subclasses bring the papers' constant."""

    variance_factor: ClassVar[float]  # the printed noise variance is this times log(1.25 / delta) / (n epsilon)^2
    rule: str = parameter("hard-universal", "Where to cut", choices=RULES, help=RULE_HELP)
    diagonal: str = parameter(
        "shrink",
        "Variances",
        choices=("shrink", "keep"),
        advanced=True,
        help="Free. shrink: variances pulled to their mean by what the known noise spread them. keep: as measured.",
    )

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Choose a cut, cut, and make the matrix positive semi-definite."""
        published = inputs.calibration != "sound"
        whole = unit_moments(noisy_moment.matrix, noisy_moment)
        noisy = target(whole)
        constant = self.constant / inputs.d
        if published:
            thresholded, more = self._cut_as_printed(noisy, noisy_moment, constant, inputs)
        else:
            if whole.mean is not None:  # the square of the noise on the mean was subtracted with the mean
                noisy = noisy + subtracted(whole, noisy_moment) * np.eye(len(noisy))
            thresholded, more = cut_by_rule(self.rule, noisy, whole, noisy_moment, constant)
            if self.diagonal == "shrink":
                thresholded = cutting.shrink_diagonal(thresholded, diagonal_variance(whole, noisy_moment))
        repaired = clip_psd(thresholded)
        if ((thresholded == 0) & (repaired != 0)).any():
            more += ("Some of the zeros are small numbers again: the matrix had negative eigenvalues to repair.",)
        moments = in_working_units(repaired, whole, inputs.centre, noisy_moment.row_bound)
        return Outcome(noisy_moment, moments, notes=more, count=noisy_moment.count)

    @property
    def constant(self) -> float:
        """The constant of the printed threshold, in units of R squared / d."""
        raise NotImplementedError

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return one Gaussian measurement of the whole guarantee; as published, of the printed shape and scale."""
        if inputs.calibration == "sound":
            return MeasurementRequest(inputs.guarantee, "free-trace")
        return MeasurementRequest(self._printed_share(inputs), "upper-triangle")

    def printed_std(self, inputs: MethodInput) -> float:
        """Return sigma as printed, in unit-ball units: what the papers add to an entry and put into the threshold."""
        assert isinstance(inputs.guarantee, ApproxDP)
        epsilon, delta = inputs.guarantee.epsilon, inputs.guarantee.delta
        return math.sqrt(self.variance_factor * math.log(1.25 / delta)) / (inputs.n * epsilon)

    def true_sensitivity(self, inputs: MethodInput) -> float:
        """Return the sensitivity of what is measured, whatever the paper used: l2 of the upper triangle, unit ball."""
        return sensitivity(inputs.d, inputs.n, norm="triangle", n_anchors=inputs.n_anchors, relation=inputs.relation)

    def _printed_share(self, inputs: MethodInput) -> BudgetShare:
        """Return the share that makes the measurement use the printed sigma; its event states the actual guarantee."""
        mechanisms.refuse_unknown_count(inputs)
        if isinstance(inputs.guarantee, NoPrivacy):
            return inputs.guarantee
        if not isinstance(inputs.guarantee, ApproxDP):
            raise ValueError(
                f"The published noise needs epsilon and delta, and {inputs.guarantee} has none. "
                "Ask for ApproxDP, or use calibration='sound'."
            )
        return GaussianDP(self.true_sensitivity(inputs) / self.printed_std(inputs))

    def _cut_as_printed(
        self, noisy: np.ndarray, noisy_moment: NoisyMoment, constant: float, inputs: MethodInput
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Cut every entry, the diagonal too, with one threshold; return the matrix and notes."""
        sigma = 0.0 if isinstance(inputs.guarantee, NoPrivacy) else self.printed_std(inputs)
        cut = papers_threshold(constant, sigma, len(noisy), noisy_moment.n_rows)
        thresholded = np.where(np.abs(noisy) > cut, noisy, 0.0)
        notes = (f"Threshold as printed, on every entry: {cut:.4g} R^2. The rule parameter is not used.",)
        # |u_i u_j| <= 1/2 and u_i^2 <= 1 in the unit ball.
        if cut > 0.5 and not thresholded[~np.eye(len(thresholded), dtype=bool)].any():
            answer = "the zero matrix" if not thresholded.any() else "zero off the diagonal"
            notes += (
                "The printed threshold exceeds every off-diagonal entry that rows within the bound can have "
                f"(0.5 R^2): the answer is {answer}.",
            )
        return thresholded, notes


@dataclass(frozen=True)
class WithGamma(Thresholding):
    """Thresholding with the constant gamma of Wang, Xu & He 2019, which leaves gamma open."""

    gamma: float = constant_parameter(
        1.0,
        "gamma",
        0.0,
        100.0,
        "Constant of the sampling part of the threshold, in units of R squared / d. Wang, Xu & He 2019 leaves it open.",
    )

    @property
    def constant(self) -> float:
        """The constant gamma."""
        return self.gamma


@dataclass(frozen=True)
class WithEta(Thresholding):
    """Thresholding with the constant of Mathematics 2023, xi = (4 sqrt(2) / 3) eta K^(2 / (4 + excess)) M, eta free."""

    eta: float = constant_parameter(2.0, "eta", 0.0, 100.0, "At least 2 in the theorem; smaller in practice.")
    moment_bound: float = constant_parameter(
        4.4, "K", 1.0, 1e6, "Bound on the standardised moment of order 4 + excess; 4.32 for Gaussian columns."
    )
    moment_excess: float = constant_parameter(
        0.5,
        "Moment excess",
        0.0,
        10.0,
        "Called epsilon in Mathematics 2023; not the privacy parameter.",
        ("heavier tails allowed", "lighter tails assumed"),
    )
    variance_bound: float = constant_parameter(
        1.0, "M", 1e-6, 1e6, "Bound on the variances, in units of R squared / d."
    )

    @property
    def constant(self) -> float:
        """The constant xi."""
        return self.eta * self._per_eta

    @property
    def _per_eta(self) -> float:
        """The constant xi over eta."""
        return 4 * math.sqrt(2) / 3 * self.moment_bound ** (2 / (4 + self.moment_excess)) * self.variance_bound


def papers_threshold(constant: float, std: Std, d: int, rows: float) -> Std:
    """Return the printed threshold, constant sqrt(log d / n) + 4 std sqrt(log d); step 2 of both papers."""
    return constant * math.sqrt(math.log(d) / rows) + 4 * std * math.sqrt(math.log(d))


def cut_by_rule(
    rule: str, noisy: np.ndarray, whole: Moments, noisy_moment: NoisyMoment, constant: float
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Cut the off-diagonal entries by a rule."""
    noise = off_diagonal_variance(whole, noisy_moment)
    d = len(noisy)
    if rule == "paper":
        cut = papers_threshold(constant, np.sqrt(noise), d, noisy_moment.n_rows)
        thresholded = cutting.cut_off_diagonal(noisy, cut)
        how = f"threshold {np.median(cut):.4g} R^2"
    else:
        variance = cutting.entry_variance(noisy, noise, noisy_moment.n_rows)
        if rule == "hard-universal":
            choice = cutting.Cut("hard", cutting.universal_level(d))
        else:
            choice = cutting.Cut("soft", cutting.sure_level(noisy, variance))
        thresholded = cutting.apply_cut(noisy, variance, choice)
        how = f"{choice.kind} threshold at {choice.level:.3g} deviations of an entry"
    n_pairs = np.count_nonzero(np.triu(thresholded, 1))
    return thresholded, (f"Kept {n_pairs} of {d * (d - 1) // 2} pairs: {how} (rule {rule}).",)
