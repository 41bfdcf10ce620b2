"""A release: the matrices, what was measured, and a statement computed from it. And `release`, which makes one."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import numpy as np

from privcov import accounting, checks
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS, Ask, Fit, Method, MethodCard
from privcov.measurements.moment import CENTRES, Measured
from privcov.measurements.noise import NoiseLaw
from privcov.parameters import build
from privcov.privacy import (
    REPLACE_ONE,
    Event,
    Guarantee,
    Neighbours,
    NoPrivacy,
    from_dict,
    to_dict,
)
from privcov.randomness import stream

TUNINGS = ("released", "fixed", "raw-cv")


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
    mean: length d or None. count, class_means, class_counts: None until a method measures them.
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
    n: int
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

    def __post_init__(self) -> None:
        if not accounting.covers(self.guarantee, self.given):
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
    def given(self) -> Guarantee | None:
        """The guarantee the events compose to (None: nothing was measured)."""
        return accounting.compose(self.events, self.guarantee)

    @property
    def attacker_success(self) -> float:
        """Best possible probability of guessing whether a given row is in the data; 0.5 is no information."""
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
            }
        if self.path is not None:
            fields["path"] = [{**vars(fit), "gap": None if np.isnan(fit.gap) else fit.gap} for fit in self.path]
        fields["statement"] = [list(line) for line in self.statement.lines]
        return json.dumps(fields, default=_plain, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Release:
        fields = json.loads(text)
        fields.pop("statement")
        fields["guarantee"] = from_dict(fields["guarantee"])
        fields["neighbours"] = Neighbours(**fields["neighbours"])
        fields["events"] = tuple(Event(**e) for e in fields["events"])
        for name in ("columns", "notes"):
            fields[name] = tuple(fields[name])
        arrays = ("scale", "origin", "covariance", "precision", "second_moment", "mean", "class_means", "class_counts")
        for name in arrays:
            if fields[name] is not None:
                fields[name] = np.array(fields[name], dtype=np.float64)
        if fields["raw"] is not None:
            raw = fields["raw"]
            fields["raw"] = Measured(
                np.array(raw["matrix"], dtype=np.float64),
                NoiseLaw(**raw["law"]),
                fields["events"][0] if fields["events"] else None,
                raw["centre"],
                fields["n"],
                fields["row_bound"],
            )
        if fields["path"] is not None:
            fields["path"] = tuple(
                Fit(
                    f["lam"],
                    None if f["precision"] is None else np.array(f["precision"]),
                    f["status"],
                    float("nan") if f["gap"] is None else f["gap"],
                )
                for f in fields["path"]
            )
        return cls(**fields)


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot write {type(value).__name__} as JSON")


def _state(rel: Release) -> Statement:
    d = len(rel.columns)
    plain = (rel.scale == 1).all() and (rel.origin == 0).all()
    size = f"{rel.n} rows x {d} columns, every row clipped to norm R = {rel.row_bound:.6g}"
    size += "" if plain else " in units of the public half-ranges"
    if not rel.events:
        measured = "nothing: no row was used" if rel.raw is None else f"the exact moments of {size}"
        nothing = "none"
        return Statement(
            (
                ("Measured", measured),
                ("Sensitivity", nothing),
                ("Noise", nothing),
                ("Events", nothing),
                ("Neighbours", f"{rel.neighbours.sentence}; one row stands for {rel.neighbours.unit}"),
                (
                    "Guarantee",
                    str(rel.guarantee)
                    if isinstance(rel.guarantee, NoPrivacy)
                    else f"perfect privacy, so also the {rel.guarantee} that was asked for",
                ),
            )
        )
    events = rel.events
    given = rel.given

    def each(text) -> str:
        return "; ".join(text(e) for e in events)

    spent = {"gaussian": "mu", "laplace": "epsilon"}
    noise = rel.raw.law.shape if rel.raw is not None else ""
    return Statement(
        (
            ("Measured", each(lambda e: e.statistic) + f" of {size}"),
            (
                "Sensitivity",
                each(lambda e: f"{e.sensitivity:.9g} in the {e.norm}, rows scaled by 1/R (proof: {e.proof})"),
            ),
            ("Noise", each(lambda e: f"{e.mechanism} ({noise}), scale {e.scale:.9g}, rows scaled by 1/R")),
            (
                "Events",
                f"{len(events)}: "
                + each(lambda e: f"{e.share} with {spent[e.mechanism]} = sensitivity/scale = {1 / e.multiplier:.9g}"),
            ),
            ("Neighbours", f"{rel.neighbours.sentence}; one row stands for {rel.neighbours.unit}"),
            ("Guarantee", f"{given}; asked for {rel.guarantee}"),
        )
    )


def release(
    method: str,
    dataset: Dataset,
    guarantee: Guarantee,
    *,
    seed: int = 0,
    calibration: str = "sound",
    centre: str = "auto",
    tuning: str = "released",
    **parameters,
) -> Release:
    """Run a method on a synthetic or public data set.

    method:      a key from `privcov.methods()`.
    guarantee:   PureDP, ApproxDP or ZCDP. It is met by the noise; the rows themselves are not secret here.
    seed:        whole number >= 0 for the noise stream. One seed gives the same unit noise at every epsilon.
    calibration: "sound".
    centre:      "auto": "zero" where the mean is publicly zero, else "joint". "joint" measures mean and second
                 moment together; "none" measures the uncentred second moment only (covariance stays None unless
                 the mean is publicly zero); "zero" is refused unless the mean is publicly zero.
    tuning:      "released" (from the noisy matrix, free) or "fixed"; methods without a choice ignore it.
    Returns a `Release`. Raises ValueError for what it cannot do, with the reason.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a privcov.Dataset, got {type(dataset).__name__}. Use Dataset.from_rows.")
    return run_method(
        build_method(method, parameters),
        dataset,
        guarantee,
        seed=seed,
        calibration=calibration,
        centre=centre,
        tuning=tuning,
    )


def build_method(key: str, parameters: dict) -> Method:
    """The method object with checked parameters."""
    card = METHODS.get(key)
    return build(card.cls, f"Method {key!r}", parameters)


def run_method(
    method: Method,
    dataset: Dataset,
    guarantee: Guarantee,
    *,
    seed: int,
    calibration: str = "sound",
    centre: str = "auto",
    tuning: str = "released",
    repeat: int = 0,
) -> Release:
    """`release` for a built method; ``repeat`` picks an independent noise draw of the same seed."""
    card: MethodCard = method.card
    kind = getattr(guarantee, "kind", None)
    if kind is None or not isinstance(guarantee, Guarantee):
        raise TypeError(f"guarantee must be PureDP, ApproxDP or ZCDP, got {guarantee!r}.")
    if card.refuses(kind):
        raise ValueError(card.refuses(kind))
    checks.one_of("calibration", calibration, tuple(card.calibrations))
    checks.one_of("tuning", tuning, TUNINGS)
    if tuning == "raw-cv" and "raw-cv" not in card.tunings:
        raise ValueError(f"{card.label} does not tune on raw rows; use tuning='released'.")
    centre = _settle_centre(centre, dataset)
    rng = stream(seed, "noise", repeat, dataset.name, card.key)
    outcome = method.run(Ask(dataset, guarantee, centre, tuning, rng))
    scale, origin = dataset.scale, dataset.origin
    outer = np.outer(scale, scale)
    moments = outcome.moments
    covariance = moments.covariance
    if covariance is None and dataset.mean_is_zero:
        covariance = moments.second_moment

    def in_units(matrix, unit):
        return None if matrix is None else matrix * unit

    path = None
    if outcome.path is not None:
        path = tuple(dataclasses.replace(fit, precision=in_units(fit.precision, 1 / outer)) for fit in outcome.path)
    target = card.target
    if target == "covariance" and moments.covariance is None:
        target = "second moment"
    measured = outcome.measured
    return Release(
        method=card.key,
        parameters={
            **{s.name: getattr(method, s.name) for s in card.parameters},
            "calibration": calibration,
            "centre": centre,
            "tuning": tuning,
            "version": card.version,
        },
        guarantee=guarantee,
        neighbours=REPLACE_ONE,
        events=() if measured is None or measured.event is None else (measured.event,),
        target=target,
        n=dataset.n,
        columns=dataset.columns,
        row_bound=dataset.row_bound,
        scale=scale,
        origin=origin,
        covariance=in_units(covariance, outer),
        precision=in_units(outcome.precision, 1 / outer),
        second_moment=in_units(moments.second_moment, outer),
        mean=None if moments.mean is None else origin + scale * moments.mean,
        raw=measured,
        path=path,
        notes=outcome.notes,
    )


def _settle_centre(centre: str, dataset: Dataset) -> str:
    if centre == "auto":
        return "zero" if dataset.mean_is_zero else "joint"
    checks.one_of("centre", centre, ("auto", *CENTRES))
    if centre == "zero" and not dataset.mean_is_zero:
        raise ValueError(
            f"centre='zero' needs a mean that is publicly known to be zero, and that of {dataset.name!r} is not. "
            "Use centre='joint', or centre='none' for the uncentred second moment."
        )
    return centre
