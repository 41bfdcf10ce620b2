"""What every method has: a card, checked parameters and one `run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from privcov.dataset import Dataset
from privcov.measurements.moment import CENTRES, Measured
from privcov.parameters import Checked, Spec, specs
from privcov.postprocess.fit import Fit
from privcov.postprocess.joint import Moments
from privcov.privacy import KINDS, ApproxDP, Event, Guarantee, Kind, NoPrivacy, PureDP, ZCDP
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
    version: int = 1
    order: int = 50
    cls: type = field(default=object, repr=False)

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
class Ask:
    """What a method is asked for. ``rng`` is the noise stream; ``guarantee`` is still unopened.

    relation: key of the neighbouring relation. calibration: "sound" or one of the card's published ones.
    """

    dataset: Dataset
    guarantee: Guarantee
    centre: str
    tuning: str
    rng: np.random.Generator
    calibration: str = "sound"
    relation: str = "replace-one"


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

    def run(self, ask: Ask) -> Outcome:
        """Measure under ``ask.guarantee``, opened once, and post-process. Raises ValueError for what it cannot do."""
        raise NotImplementedError


METHODS = Registry("method", "privcov.estimators", MethodCard)
