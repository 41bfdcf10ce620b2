"""What every method has: a card, checked parameters, and one answer to "what would you measure?"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privcov.dataset import Dataset
from privcov.measurements.labels import CLASSES, class_list
from privcov.measurements.moment import CENTRES, Measured, measure_moment
from privcov.parameters import Checked, Spec, specs
from privcov.postprocess.fit import Fit
from privcov.postprocess.joint import Moments
from privcov.privacy import KINDS, ApproxDP, BudgetShare, Event, Guarantee, Kind, NoPrivacy, PureDP, ZCDP
from privcov.public_facts import PublicFacts
from privcov.registry import Registry

ALL_KINDS: tuple[Kind, ...] = (PureDP, ApproxDP, ZCDP)


@dataclass(frozen=True)
class MethodCard:
    """What the gallery, the select box and the contract tests know about a method.

    target:       "covariance" or "precision".
    guarantees:   the kinds of guarantee it can give.
    trust:        "central" (a trusted curator holds the rows) or "local".
    standing:     "proved" (sensitivity and calibration proved here), "reference" (a trivial answer),
                  "historical" (kept for comparison).
    calibrations: name -> what it means. Other than "sound" they reproduce a paper, and the release then says what it
                  really gives beside what the paper claims. A method that has no sound form lists no "sound";
                  see `default_calibration`.
    relations:    keys of the neighbouring relations it is calibrated for.
    tunings:      which of "fixed", "released", "raw-cv" it offers, its default first.
    centres:      what may be measured beside the second moment; with "classes" also counts and means of labelled
                  classes (`privcov.measurements.moment.ALL_CENTRES`).
    for_private:  settings with which it makes one measurement only; private rows allow no others.
    version:      rises whenever its numbers change.
    """

    key: str
    label: str
    target: str
    family: str
    guarantees: tuple[Kind, ...]
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
    for_private: Mapping[str, object] = field(default_factory=dict)
    version: int = 1
    order: int = 50
    cls: type[Any] = field(default=object, repr=False)

    @property
    def parameters(self) -> tuple[Spec, ...]:
        """Its settings, in the order of the form."""
        return specs(self.cls)

    @property
    def default_calibration(self) -> str:
        """The sound one, or the first published one of a method that has no sound form."""
        return "sound" if "sound" in self.calibrations else next(iter(self.calibrations))

    def refuses(self, kind: str) -> str:
        """Why this method cannot give a guarantee of this kind, or "" when it can."""
        if KINDS[kind] in (*self.guarantees, NoPrivacy):
            return ""
        gives = " or ".join(g.name for g in self.guarantees)
        return f"{self.label} gives {gives}, not {KINDS[kind].name}."


@dataclass(frozen=True)
class Request:
    """What a method wants measured: the moment matrix, once. Public facts alone decide it.

    share: of the guarantee. centre and shape: see `privcov.measurements.moment.measure_moment`. name: of the share, in
    the event.
    """

    share: BudgetShare
    centre: str
    shape: str
    name: str = "matrix"

    def carried_out(self, ask: MethodInput) -> Measured:
        """The measurement, on rows that may be looked at."""
        return measure_moment(
            ask.dataset,
            self.share,
            centre=self.centre,
            shape=self.shape,
            rng=ask.rng,
            name=self.name,
            relation=ask.relation,
        )


class OtherSteps(TypeError):
    """A method wants more of the rows than one measurement of the moment matrix."""


class NothingMeasured(ValueError):
    """A method reads no rows."""


@dataclass(frozen=True)
class MethodInput:
    """What a method is given. ``rng`` is the noise stream; ``guarantee`` is still unopened.

    facts: n, d, columns, units and classes. relation: key of the neighbouring relation. calibration: "sound" or one of
    the card's published ones. rows: None where they are private, and a method may only say what it wants measured.
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
        """The input of a run on rows that may be looked at."""
        classes = class_list(dataset) if centre == CLASSES else ()
        facts = PublicFacts(dataset.columns, dataset.units, dataset.n, classes)
        return cls(facts, guarantee, centre, tuning, rng, calibration, relation, dataset)

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.facts.d

    @property
    def n(self) -> int:
        """Number of rows, for what is calibrated for a public one."""
        if self.facts.n is None:
            raise OtherSteps("The number of rows is not public.")
        return self.facts.n

    @property
    def n_anchors(self) -> int:
        """How many anchored rows the joint moment has: 0 for "none" and "zero", 1 for "joint", one per class."""
        return len(self.facts.classes) if self.centre == CLASSES else int(self.centre == "joint")

    @property
    def dataset(self) -> Dataset:
        """The rows, for a method that looks at them in steps of its own."""
        if self.rows is None:
            raise OtherSteps("Private rows are measured once, by the exact measurement, and never handed to a method.")
        return self.rows


@dataclass(frozen=True, eq=False)
class Outcome:
    """A method's answer in working units, before the Release turns it into the data's units.

    measured: the noisy matrix that everything else was made from, or None where there is no such single matrix.
    steps:    events beside that of ``measured``, in the order in which they touched the rows.
    count:    noisy number of rows, where n is not public.
    notes: sentences made from public facts and released numbers only.
    """

    measured: Measured | None
    moments: Moments
    precision: np.ndarray | None = None
    path: tuple[Fit, ...] | None = None
    notes: tuple[str, ...] = ()
    steps: tuple[Event, ...] = ()
    count: float | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was done to the rows, in order."""
        own = () if self.measured is None or self.measured.event is None else (self.measured.event,)
        return self.steps + own


class Method(Checked):
    """Base of all methods. Subclasses are frozen dataclasses whose fields are `parameter`s."""

    card: MethodCard

    def run(self, ask: MethodInput) -> Outcome:
        """Measure under ``ask.guarantee``, opened once, and post-process. Raises ValueError for what it cannot do."""
        raise NotImplementedError

    def request(self, ask: MethodInput) -> Request:
        """The one measurement of the moment matrix that this method needs, before a row is read.

        Raises OtherSteps where it needs other looks at the rows, NothingMeasured where it needs none.
        """
        raise OtherSteps(f"{self.card.label} looks at the rows in other steps than one measurement of the moments.")

    def finish(self, ask: MethodInput, measured: Measured) -> Outcome:
        """The answer, from what was measured for `request`: post-processing, so it costs nothing."""
        raise OtherSteps(f"{self.card.label} does not work from one measurement of the moments.")

    def events(self, ask: MethodInput) -> tuple[Event, ...]:
        """What a run does to the rows, in order."""
        return self.run(ask).events

    def measured(self, ask: MethodInput) -> Measured | None:
        """The one noisy matrix of a run on rows that may be looked at; None where the method takes other looks."""
        made = self.run(ask)
        return None if made.steps else made.measured


class OneMeasurement(Method):
    """A method that measures once and post-processes; subclasses bring `request` (or `measure`) and `finish`."""

    def measure(self, ask: MethodInput) -> Measured:
        """What `request` asks for, from rows that may be looked at."""
        return self.request(ask).carried_out(ask)

    def measured(self, ask: MethodInput) -> Measured | None:
        """The same; nothing is finished."""
        return self.measure(ask)

    def run(self, ask: MethodInput) -> Outcome:
        """Measure once, and finish."""
        return self.finish(ask, self.measure(ask))

    def events(self, ask: MethodInput) -> tuple[Event, ...]:
        """The one event; nothing is finished."""
        event = self.measure(ask).event
        return () if event is None else (event,)


METHODS = Registry("method", "privcov.estimators", MethodCard)
