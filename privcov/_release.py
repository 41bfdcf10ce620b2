"""A release: the matrices, what was measured, and a statement computed from it. `privcov._running` makes one."""

from __future__ import annotations

import dataclasses
import itertools
import json
from dataclasses import dataclass

import numpy as np

from privcov import accounting
from privcov.measurements.exposed import exposed
from privcov.measurements.moment import Measured
from privcov.measurements.noise import NoiseLaw
from privcov.postprocess.fit import Fit
from privcov.privacy import (
    Event,
    Guarantee,
    Neighbours,
    NoPrivacy,
    from_dict,
    to_dict,
)


@dataclass(frozen=True)
class Statement:
    """Six fixed lines about a release, each computed from its events. ``str()`` joins them."""

    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join(f"{title}: {text}" for title, text in self.lines)

    def __getitem__(self, title: str) -> str:
        return dict(self.lines)[title]


@dataclass(frozen=True, eq=False)
class Release:
    """What a method gave out, in the data's units, and how. Refuses to exist if it spent more than was asked.

    covariance, precision, second_moment: d x d float64, or None when not measured. second_moment is about the
        public origin (zero without column bounds); covariance about the measured or publicly zero mean.
    mean: length d or None. count: noisy number of rows where n is not public (n is None then); of rows with a listed
        class where private rows have classes.
    class_means (k x d, in the data's units), class_counts (k, >= 0, adding up to the number of rows) and classes (their
        k names): with centre "classes", else None and (). The covariance is then the pooled one within classes.
    raw: the unbiased noisy matrix (unit-ball units) and its noise law, or None when nothing was measured.
    path: tuple of (lambda, precision, status, gap) or None.
    events: what touched the rows. guarantee: what was asked. given: what the events really give.
    scale, origin: the public units; a working-unit matrix is matrix / outer(scale, scale).
    """

    method: str
    parameters: dict
    guarantee: Guarantee
    neighbours: Neighbours
    events: tuple[Event, ...]
    target: str
    n: int | None
    columns: tuple[str, ...]
    row_bound: float
    scale: np.ndarray
    origin: np.ndarray
    covariance: np.ndarray | None
    precision: np.ndarray | None
    second_moment: np.ndarray | None
    mean: np.ndarray | None
    raw: Measured | None
    path: tuple[Fit, ...] | None
    notes: tuple[str, ...]
    count: float | None = None
    class_means: np.ndarray | None = None
    class_counts: np.ndarray | None = None
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.as_asked and not accounting.covers(self.guarantee, self.given):
            raise RuntimeError(
                f"{self.method} spent {self.given}, more than the {self.guarantee} that was asked for: "
                "a defect of the method, and no release was made."
            )
        noisy = self.raw is not None and not isinstance(self.guarantee, NoPrivacy)
        if noisy and self.raw.event not in self.events:
            raise RuntimeError(
                f"{self.method} measured the rows without an event that says so: a defect of the method, and no "
                "release was made."
            )

    @property
    def as_asked(self) -> bool:
        """False for a published calibration, whose real guarantee may differ from the claim, and for raw tuning."""
        return self.parameters["calibration"] == "sound" and self.parameters["tuning"] != "raw-cv"

    @property
    def given(self) -> Guarantee | None:
        """The guarantee the events compose to (None: nothing was measured)."""
        if self.as_asked:
            return accounting.compose(self.events, self.guarantee)
        return accounting.really(self.events, self.guarantee)

    @property
    def exposed(self) -> str:
        """Why the guarantee is not established though the events would give it, in one sentence; "" where it is."""
        return next(filter(None, map(exposed, self.events)), "")

    @property
    def claim_is_false(self) -> bool:
        """True when less is given than was asked: with a published calibration, raw tuning, or where `exposed` says."""
        raw = self.parameters["tuning"] == "raw-cv"
        return raw or bool(self.exposed) or not accounting.covers(self.guarantee, self.given)

    @property
    def attacker_success(self) -> float:
        """Best possible probability of guessing whether a given row is in the data; 0.5 is no information."""
        if self.exposed:
            return 1.0
        return accounting.attacker_on_events(self.events, self.guarantee)

    @property
    def matrix(self) -> np.ndarray:
        """The target matrix in the data's units."""
        return {
            "covariance": self.covariance,
            "second moment": self.second_moment,
            "precision": self.precision,
        }[self.target]

    @property
    def statement(self) -> Statement:
        """What is guaranteed, computed from the events alone."""
        return _state(self)

    def to_json(self) -> str:
        """Everything, exactly: `from_json` gives back the same numbers bit for bit."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["guarantee"] = to_dict(self.guarantee)
        fields["neighbours"] = dataclasses.asdict(self.neighbours)
        fields["events"] = [dataclasses.asdict(e) for e in self.events]
        if self.raw is not None:
            fields["raw"] = {
                "matrix": self.raw.matrix,
                "law": dataclasses.asdict(self.raw.law),
                "centre": self.raw.centre,
                "event": None if self.raw.event is None else self.events.index(self.raw.event),
            }
        if self.path is not None:
            fields["path"] = [{**vars(fit), "gap": None if np.isnan(fit.gap) else fit.gap} for fit in self.path]
        fields["statement"] = [list(line) for line in self.statement.lines]
        return json.dumps(fields, default=json_default, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """The release that `to_json` wrote. Raises ValueError where its events do not give what it claims."""
        fields = json.loads(text)
        fields.pop("statement")
        fields["guarantee"] = from_dict(fields["guarantee"])
        fields["neighbours"] = Neighbours(**fields["neighbours"])
        fields["events"] = tuple(Event(**e) for e in fields["events"])
        for name in ("columns", "notes", "classes"):
            fields[name] = tuple(fields.get(name, ()))
        arrays = ("scale", "origin", "covariance", "precision", "second_moment", "mean", "class_means", "class_counts")
        for name in arrays:
            if fields[name] is not None:
                fields[name] = np.array(fields[name], dtype=np.float64)
        if fields["raw"] is not None:
            raw = fields["raw"]
            fields["raw"] = Measured(
                np.array(raw["matrix"], dtype=np.float64),
                NoiseLaw(**raw["law"]),
                None if raw["event"] is None else fields["events"][raw["event"]],
                raw["centre"],
                fields["n"],
                fields["row_bound"],
                fields["count"],
            )
        if fields["path"] is not None:
            fields["path"] = tuple(
                Fit(
                    **{
                        **f,
                        "precision": None if f["precision"] is None else np.array(f["precision"]),
                        "gap": float("nan") if f["gap"] is None else f["gap"],
                    }
                )
                for f in fields["path"]
            )
        return cls(**fields)


def json_default(value: object) -> object:
    """numpy numbers and arrays as Python's own, for ``json.dumps(default=...)``."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot write {type(value).__name__} as JSON")


def _state(rel: Release) -> Statement:
    plain = (rel.scale == 1).all() and (rel.origin == 0).all()
    rows = f"{rel.n} rows" if rel.n is not None else f"about {rel.count:.1f} rows (a noisy count)"
    size = f"{rows} x {len(rel.columns)} columns, every row clipped to norm R = {rel.row_bound:.6g}"
    size += "" if plain else " in units of the public half-ranges"
    neighbours = ("Neighbours", f"{rel.neighbours.sentence}; one row stands for {rel.neighbours.unit}")
    if not rel.events:
        measured = "nothing: no row was used" if rel.raw is None else f"the exact moments of {size}"
        ends = f"perfect privacy, so also the {rel.guarantee} that was asked for"
        if isinstance(rel.guarantee, NoPrivacy):
            measured, ends = f"the exact moments of {size}", str(rel.guarantee)
        nothing = [(title, "none") for title in ("Sensitivity", "Noise", "Events")]
        return Statement((("Measured", measured), *nothing, neighbours, ("Guarantee", ends)))

    def each(text) -> str:
        # A method may take the same step many times; equal neighbours are told once, with their number.
        told = [(words, len(list(same))) for words, same in itertools.groupby(text(e) for e in rel.events)]
        return "; ".join(words if times == 1 else f"{times} times {words}" for words, times in told)

    def noise(e: Event) -> str:
        law = f" ({e.law})" if e.law else ""
        freedom = f", freedom {e.freedom:.9g}" if e.freedom else ""
        return f"{e.mechanism}{law}, scale {e.scale:.9g}{freedom}, {e.unit}"

    def spent(e: Event) -> str:
        name = "mu" if e.mechanism == "gaussian" else "epsilon" if e.pure else "ratio"
        return f"{e.share} with {name} = sensitivity/scale = {1 / e.multiplier:.9g}"

    return Statement(
        (
            ("Measured", each(lambda e: e.statistic) + (" of " if len(rel.events) == 1 else "; all of ") + size),
            ("Sensitivity", each(lambda e: f"{e.sensitivity:.9g} in the {e.norm}, {e.unit} (proof: {e.proof})")),
            ("Noise", each(noise)),
            ("Events", f"{len(rel.events)}: " + each(spent)),
            neighbours,
            ("Guarantee", _verdict(rel)),
        )
    )


def _verdict(rel: Release) -> str:
    if rel.exposed:
        return f"not established: {rel.guarantee} was asked for, but {rel.exposed}"
    if rel.parameters["tuning"] == "raw-cv":
        return f"no end-to-end guarantee: tuned on the raw rows; the noise alone would give {rel.given}"
    if rel.as_asked:
        return f"{rel.given}; asked for {rel.guarantee}"
    if accounting.covers(rel.guarantee, rel.given):
        return f"{rel.given} as published; the claim was {rel.guarantee}"
    return f"only {rel.given} as published; the claim of {rel.guarantee} is false"
