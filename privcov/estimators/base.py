"""What every method has: a card, checked parameters, and the measurement that it requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import (
    KINDS,
    ApproxDP,
    BudgetShare,
    Event,
    Guarantee,
    GuaranteeKind,
    NoPrivacy,
    PureDP,
    ZCDP,
)
from privcov.core.parameters import Checked, ParameterSpec, specs
from privcov.core.registry import Registry
from privcov.measurements.labels import CLASSES, class_list
from privcov.measurements.moment import CENTRES, NoisyMoment, measure_moment
from privcov.measurements.norm_histogram import SEARCH_SHARE, search_row_bound
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.moments import Moments, unpack
from privcov.tables.dataset import Dataset
from privcov.tables.public_facts import PublicFacts

ALL_KINDS: tuple[GuaranteeKind, ...] = (PureDP, ApproxDP, ZCDP)


@dataclass(frozen=True, repr=False)
class MethodCard:
    """Description of a method for the gallery, the select box and the contract tests.

    target: "covariance" or "precision". standing: "proved" where sensitivity and calibration are proved here,
    "reference" for a trivial answer, "historical" for what is kept for comparison. formula: in LaTeX. avoid: when not
    to use it. differs: where it differs from its ``reference``. trust: "central" where a trusted curator holds the
    rows, else "local". version: rises whenever its numbers change.

    calibrations: name and meaning. Other than "sound" they reproduce a paper, and the release then states the actual
    guarantee with the claimed one. tunings: which of "fixed" and "released" it offers, its default first. relations:
    keys of the neighbouring relations that it is calibrated for. centres: of `measurements.moment.ALL_CENTRES`.
    private_defaults: defaults of its settings on private rows. missing_cells: whether it takes a measurement with flags
    of missing cells, whose noise differs from entry to entry.
    """

    key: str
    label: str
    target: str
    family: str
    guarantees: tuple[GuaranteeKind, ...]
    standing: str
    summary: str
    formula: str
    avoid: str
    reference: str
    differs: str = ""
    trust: str = "central"
    calibrations: Mapping[str, str] = field(
        default_factory=lambda: {"sound": "right sensitivity, exact calibration, rounded to the safe side"}
    )
    tunings: tuple[str, ...] = ("released",)
    relations: tuple[str, ...] = ("replace-one",)
    centres: tuple[str, ...] = CENTRES
    private_defaults: Mapping[str, object] = field(default_factory=dict)
    missing_cells: bool = False
    version: int = 1
    order: int = 50
    cls: type[Any] = object

    def __repr__(self) -> str:
        return f"MethodCard({self.key!r}: {self.target}, {self.standing})"

    @property
    def parameters(self) -> tuple[ParameterSpec, ...]:
        """The settings of the method, in the order of the form."""
        return specs(self.cls)

    @property
    def default_calibration(self) -> str:
        """The sound calibration, or the first published one of a method that has no sound form."""
        return "sound" if "sound" in self.calibrations else next(iter(self.calibrations))

    def refuses(self, kind: str) -> str:
        """Return why this method cannot give a guarantee of this kind, or "" where it can."""
        if KINDS[kind] in (*self.guarantees, NoPrivacy):
            return ""
        gives = " or ".join(g.name for g in self.guarantees)
        cards = (c for c in METHODS.all() if c.target == self.target and "sound" in c.calibrations)
        able = ", ".join(c.key for c in cards if KINDS[kind] in c.guarantees)
        return f"{self.label} gives {gives}, not {KINDS[kind].name}. Use {able}, or another guarantee."


@dataclass(frozen=True)
class MeasurementRequest:
    """One measurement of the moment matrix, decided by public facts alone: arguments of `measure_moment`.

    search_for: "covariance" or "graph" where `SEARCH_SHARE` of the share is spent first on a search for a shorter row
    bound; "" for no search.
    """

    share: BudgetShare
    shape: str
    anchor_for: str = "both"
    search_for: str = ""

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure what is requested, on rows that are not private."""
        rows, share, search = inputs.dataset, self.share, None
        how: dict[str, Any] = {"rng": inputs.rng, "relation": inputs.relation}
        if self.search_for:
            parts = accounting.split(share, norms=SEARCH_SHARE, matrix=1 - SEARCH_SHARE)
            share = parts["matrix"]
            rows, search = search_row_bound(rows, parts["norms"], share, search_for=self.search_for, **how)
        noisy_moment = measure_moment(
            rows, share, centre=inputs.centre, shape=self.shape, anchor_for=self.anchor_for, **how
        )
        return dataclasses.replace(noisy_moment, bound_search=search)


class NotOneMeasurementError(TypeError):
    """Raised where a method needs more of the rows than one measurement of the moment matrix."""


class NothingMeasured(ValueError):
    """Raised where a method reads no rows."""


@dataclass(frozen=True)
class MethodInput:
    """Input of a method.

    guarantee: not yet split. centre: what is measured with the second moment. tuning: "released" or "fixed".
    rng: stream of the noise. calibration: "sound" or one of the card's published ones. relation: key of the
    neighbouring relation. rows: None where they are private; the method may then only state its request.
    """

    facts: PublicFacts
    guarantee: Guarantee
    centre: str
    tuning: str
    rng: np.random.Generator
    calibration: str = "sound"
    relation: str = "replace-one"
    rows: Dataset | None = None

    @classmethod
    def on(
        cls,
        dataset: Dataset,
        guarantee: Guarantee,
        centre: str,
        tuning: str,
        rng: np.random.Generator,
        calibration: str = "sound",
        relation: str = "replace-one",
    ) -> MethodInput:
        """Return the input of a run on rows that are not private."""
        classes = class_list(dataset) if centre == CLASSES else ()
        facts = PublicFacts(dataset.columns, dataset.units, dataset.n, classes, kinds=dataset.kinds)
        return cls(facts, guarantee, centre, tuning, rng, calibration, relation, dataset)

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.facts.d

    @property
    def n(self) -> int:
        """The public number of rows; raises NotOneMeasurementError where n is not public."""
        if self.facts.n is None:
            raise NotOneMeasurementError("The number of rows is not public.")
        return self.facts.n

    @property
    def n_anchors(self) -> int:
        """Number of anchored rows of the joint moment: 0 for "none" and "zero", 1 for "joint", one per class."""
        return len(self.facts.classes) if self.centre == CLASSES else int(self.centre == "joint")

    @property
    def dataset(self) -> Dataset:
        """The rows, for a method that measures them itself; NotOneMeasurementError where the rows are private."""
        if self.rows is None:
            raise NotOneMeasurementError(
                "Private rows are measured once, by the exact measurement, and never handed to a method."
            )
        return self.rows


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a method in working units, before the release turns it into the data's units.

    noisy_moment: the one noisy matrix that all else was computed from, or None. path: the lambda path of a graphical
    lasso. notes: sentences computed from public facts and released numbers only. steps: events other than that of
    ``noisy_moment``, in the order in which they touched the rows. count: noisy number of rows, where n is not public.
    """

    noisy_moment: NoisyMoment | None
    moments: Moments
    precision: np.ndarray | None = None
    path: tuple[PathPoint, ...] | None = None
    notes: tuple[str, ...] = ()
    steps: tuple[Event, ...] = ()
    count: float | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was done to the rows, in order."""
        return self.steps + (() if self.noisy_moment is None else self.noisy_moment.events)


def moments_of(noisy_moment: NoisyMoment, matrix: np.ndarray) -> Moments:
    """Return the moments of a repaired form of the measured matrix."""
    anchors = noisy_moment.distribution.n_anchors
    return unpack(matrix, centre=noisy_moment.centre, row_bound=noisy_moment.row_bound, n_anchors=anchors)


class Method(Checked):
    """Base of all methods, frozen dataclasses with `parameter` fields; the registration sets ``card``."""

    card: MethodCard

    def run(self, inputs: MethodInput) -> Outcome:
        """Measure under ``inputs.guarantee``, which is split once, and post-process.

        A run spends at most the whole guarantee. With the calibration "sound" the result keeps ``inputs.guarantee``
        under ``inputs.relation``. Raises ValueError for what the method cannot do.
        """
        raise NotImplementedError

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return the one measurement of the moment matrix that this method needs, before a row is read.

        Raises NotOneMeasurementError where the method needs other measurements, NothingMeasured where it reads no rows.
        """
        raise NotOneMeasurementError(
            f"{self.card.label} looks at the rows in other steps than one measurement of the moments."
        )

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Compute the result from the measurement that `request` asked for; this is post-processing.

        Raises NotOneMeasurementError where the method needs more than that measurement.
        """
        raise NotOneMeasurementError(f"{self.card.label} does not work from one measurement of the moments.")

    def events(self, inputs: MethodInput) -> tuple[Event, ...]:
        """Return what a run does to the rows, in order."""
        return self.run(inputs).events

    def noisy_moment(self, inputs: MethodInput) -> NoisyMoment | None:
        """Return the one noisy matrix of a run on rows that are not private; None where the method has other steps."""
        outcome = self.run(inputs)
        return None if outcome.steps else outcome.noisy_moment


class OneMeasurement(Method):
    """Base of the methods that measure once, by `request` or `measure`, and post-process in `finish`."""

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure what `request` states, on rows that are not private."""
        return self.request(inputs).measure(inputs)

    def noisy_moment(self, inputs: MethodInput) -> NoisyMoment | None:
        """Measure, without finishing."""
        return self.measure(inputs)

    def run(self, inputs: MethodInput) -> Outcome:
        """Measure once, and finish."""
        return self.finish(inputs, self.measure(inputs))

    def events(self, inputs: MethodInput) -> tuple[Event, ...]:
        """Return what is done to the rows, without finishing."""
        return self.measure(inputs).events


METHODS = Registry("method", "privcov.estimators", MethodCard)
