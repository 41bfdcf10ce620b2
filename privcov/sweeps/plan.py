"""An experiment as a value: which data, methods, guarantees, what varies, how often. JSON there and back."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from privcov import checks
from privcov.data_sources.base import SOURCES, SourceCard
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.measurements.labels import CLASSES
from privcov.metrics import classification
from privcov.metrics.errors import NORMS, REFERENCES
from privcov.parameters import build
from privcov.privacy import Guarantee, ZCDP, from_dict, to_dict
from privcov.private_dataset import RELEASE_PRIVATE, PrivateDataset
from privcov.sweeps.cells import Cell, Entry, build_entry, cells, cells_on, column_of
from privcov.sweeps.store import Store


def _metrics() -> tuple[str, ...]:
    return tuple(
        f"{prefix}{norm}-to-{against}" for prefix in ("relative-", "") for norm in NORMS for against in REFERENCES
    )


METRICS = _metrics()
CLASSIFICATION = classification.METRICS
MOST_REPLICATES, MOST_BOUND = 1_000_000, 1e100
OnCell = Callable[[int, int, Cell], None]  # progress: how many are done, of how many, and the last one
__all__ = ["CLASSIFICATION", "METRICS", "NORMS", "Plan", "column_of", "run", "run_on", "summarise"]


@dataclass(frozen=True)
class Plan:
    """A frozen description of an experiment.

    source, source_params: a source key and its parameters.
    methods:    keys, or (key, {parameters and calibration, centre, tuning}); each once.
    guarantees: PureDP, ApproxDP, ZCDP or NoPrivacy; a method that cannot give one is left out of those cells.
    vary:       {name: values}, a source parameter or "row_bound"; all combinations are run. The table calls it
                `column_of(name)`: the name itself, or "source_" + name where a guarantee's column has that name.
    metrics:    names such as "relative-frobenius-to-sample" (see METRICS), or "lda-error" and "majority-error"
                (CLASSIFICATION): the share of test rows that linear discriminant analysis with the released class
                means and matrix gets wrong, and that of always answering the commonest class. QDA with a common
                covariance, as paper 4 prints it, is the same rule. The two kinds of metric do not mix.
    training, validation, best: with a classification metric only, the sizes of a public random split of labelled rows,
                redrawn for every replicate: the release is made from the training rows (with centre "classes"), the
                validation rows are left alone, the rest is tested on. best keeps the columns with the largest t
                statistics on the raw training rows: then no release has an end-to-end guarantee.
    replicates: >= 1, each with fresh rows and fresh noise. seed: whole number >= 0. noise_seed: of the noise alone,
                where it is not the seed of the rows.
    """

    source: str
    source_params: dict = field(default_factory=dict)
    methods: list = field(default_factory=lambda: ["auto-cov"])
    guarantees: list = field(default_factory=list)
    vary: dict = field(default_factory=dict)
    metrics: list = field(default_factory=lambda: ["relative-frobenius-to-sample"])
    replicates: int = 20
    seed: int = 0
    row_bound: float | None = None
    training: int | None = None
    validation: int = 0
    best: int | None = None
    noise_seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("methods", "guarantees", "metrics"):
            object.__setattr__(self, name, _as_list(name, getattr(self, name)))
        for name in ("source_params", "vary"):
            if not isinstance(getattr(self, name), dict):
                raise ValueError(f"{name} must be a dict of names, got {name}={getattr(self, name)!r}.")
        if isinstance(self.source, PrivateDataset):
            raise TypeError(
                f"source must be a key of privcov.sources(), got a PrivateDataset: a plan runs on simulated and public "
                f"tables. Private rows are for {RELEASE_PRIVATE} alone."
            )
        card = SOURCES.get(self.source)
        build(card.cls, f"Source {self.source!r}", self.source_params)
        object.__setattr__(self, "vary", {k: self._values(card, k) for k in self.vary})
        if self.row_bound is not None:
            object.__setattr__(self, "row_bound", _bound("row_bound", self.row_bound))
        found = checks.whole("replicates", self.replicates, 1, MOST_REPLICATES, "20 is a good start.")
        object.__setattr__(self, "replicates", found)
        for name in ("seed", "noise_seed"):
            if name == "seed" or self.noise_seed is not None:
                object.__setattr__(self, name, checks.whole(name, getattr(self, name), 0))
        for name in self.metrics:
            checks.one_of("metric", name, (*METRICS, *CLASSIFICATION))
        methods = [_entry(m) for m in self.methods]
        labels = [build_entry(m)[0] for m in methods]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"methods names {label!r} more than once; its cells would be counted twice.")
        object.__setattr__(self, "methods", methods)
        self._check_split()
        for guarantee in self.guarantees:
            if not isinstance(guarantee, Guarantee):
                raise TypeError(f"guarantees must hold PureDP, ApproxDP or ZCDP, got {guarantee!r}.")

    @property
    def sizes(self) -> classification.Sizes | None:
        """The split of a classification plan, else None."""
        return None if self.training is None else classification.Sizes(self.training, self.validation, self.best)

    def _check_split(self) -> None:
        told = [name in CLASSIFICATION for name in self.metrics]
        if any(told) and not all(told):
            raise ValueError("Classification errors and errors of a matrix need a plan each: one has a split of rows.")
        if any(told) and self.sizes is None:
            raise ValueError("A classification error needs training, the number of rows the release is made from.")
        if not any(told) and (self.training, self.validation, self.best) != (None, 0, None):
            raise ValueError("training, validation and best belong to classification errors; leave them out.")
        for entry in self.methods if any(told) else ():
            key, own = (entry, {}) if isinstance(entry, str) else entry
            if CLASSES not in METHODS.get(key).centres or own.get("centre", CLASSES) != CLASSES:
                raise ValueError(f"{key!r} must measure class means here. Choose a method that lists centre 'classes'.")

    def _values(self, card: SourceCard, name: str) -> list:
        """The checked values of one varied name."""
        specs = {s.name: s for s in card.parameters}
        if name not in (*specs, "row_bound"):
            raise ValueError(f"vary names {name!r}; {self.source!r} has {', '.join([*specs, 'row_bound'])}.")
        values = _as_list(f"vary[{name!r}]", self.vary[name])
        return [_bound(name, v) if name == "row_bound" else specs[name].check(v) for v in values]

    def points(self) -> Iterator[dict]:
        """The combinations of ``vary``."""
        for values in itertools.product(*self.vary.values()):
            yield dict(zip(self.vary, values, strict=True))

    @property
    def steps(self) -> int:
        """Number of method runs."""
        pairs = sum(
            not METHODS.get(m if isinstance(m, str) else m[0]).refuses(g.kind)
            for m in self.methods
            for g in self.guarantees
        )
        return pairs * self.replicates * len(list(self.points()))

    def to_json(self) -> str:
        """The plan as `from_json` reads it: the saved study."""
        fields = dataclasses.asdict(self)
        fields["guarantees"] = [to_dict(g) for g in self.guarantees]
        return json.dumps(fields, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The plan of `to_json`. Raises ValueError with one sentence for any other text."""
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as problem:
            raise ValueError(f"A plan must be JSON, and this text is not: {problem}.") from None
        known = [f.name for f in dataclasses.fields(cls)]
        if not isinstance(fields, dict):
            raise ValueError(f"A plan must be a JSON object with the fields {', '.join(known)}.")
        for name in fields:
            if name not in known:
                raise ValueError(f"A plan has no field {name!r}. It has {', '.join(known)}.")
        if "source" not in fields:
            raise ValueError("A plan must name its source.")
        entries = _as_list("guarantees", fields.get("guarantees", []))
        try:
            fields["guarantees"] = [from_dict(dict(g.items())) for g in entries]
        except (TypeError, AttributeError) as problem:
            lacking = problem if isinstance(problem, TypeError) else "one of them is no such entry"
            raise ValueError(f"guarantees must hold entries such as {to_dict(ZCDP(0.1))}; {lacking}.") from None
        return cls(**fields)


def _bound(name: str, value: object) -> float:
    """A row bound whose square and its inverse are numbers too."""
    remedy = "Choose it from domain knowledge, not from the data."
    return checks.in_range(name, checks.positive(name, value, remedy), 1 / MOST_BOUND, MOST_BOUND, remedy)


def _as_list(name: str, values: Any) -> list:
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} must be a list, got {name}={values!r}.")
    found = list(values)
    if not found:
        raise ValueError(f"{name} must hold at least one value.")
    return found


def _entry(entry: Any) -> Entry:
    """An entry of ``methods``: a key, or (key, dict), also when JSON made a list of it."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, (list, tuple)) and len(entry) == 2 and isinstance(entry[1], dict):
        return entry[0], entry[1]
    raise ValueError(f"methods must hold keys or (key, {{parameters}}), got {entry!r}.")


def run(
    plan: Plan,
    progress: OnCell | None = None,
    store: Store | None = None,
    *,
    workers: int | None = None,
) -> pd.DataFrame:
    """The tidy table of a plan: one row per (replicate, point, method, guarantee, metric).

    A cell that a method cannot fill has value NaN and the reason in the column "problem", which is "" elsewhere.

    progress(done, total, cell) is called after each method run; ``cell.reused`` tells what came from the store.
    store: a `privcov.sweeps.store.Store`; cells it has are not computed again, new ones are kept.
    workers: processes for what takes more than a moment, whole number >= 1, default PRIVCOV_WORKERS or every core; a
    cluster where PRIVCOV_SCHEDULER names one (see `privcov.engine`).
    Rows depend only on the plan: same plan, same table, bit for bit, whatever computed it, and adding a method changes
    no other row.
    """
    return tables([plan], progress, store, workers=workers)[0]


def tables(
    plans: Sequence[Plan], progress: OnCell | None = None, store: Store | None = None, *, workers: int | None = None
) -> list[pd.DataFrame]:
    """The table of each plan, computed together. Arguments as for `run`; progress counts over all plans."""
    total = sum(plan.steps for plan in plans)
    found = collect(cells(plans, store, workers=workers), total, progress)
    return [pd.DataFrame([row for cell in found if cell.plan == i for row in cell]) for i in range(len(plans))]


def run_on(
    dataset: Dataset,
    methods: list,
    guarantees: list,
    metrics: list,
    *,
    replicates: int,
    seed: int,
    row_bounds: Sequence[float] = (),
    progress: OnCell | None = None,
) -> pd.DataFrame:
    """The table of `cells_on`."""
    total = replicates * max(1, len(row_bounds))
    total *= sum(not build_entry(m)[1].card.refuses(g.kind) for m in methods for g in guarantees)
    found = cells_on(dataset, methods, guarantees, metrics, replicates=replicates, seed=seed, row_bounds=row_bounds)
    return pd.DataFrame([row for cell in collect(found, total, progress) for row in cell])


def collect(found: Generator[Cell, None, None], total: int, progress: OnCell | None) -> list[Cell]:
    """All cells in the order of the table, whatever the order in which they were finished."""
    kept = []
    with contextlib.closing(found):
        for done, cell in enumerate(found, start=1):
            kept.append(cell)
            if progress is not None:
                progress(done, total, cell)
    return sorted(kept, key=lambda cell: cell.place)


def summarise(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean over replicates with the 10 % and 90 % replicate quantiles, per group and metric.

    replicates counts the cells that were filled, failed those that were not (they are in no mean).
    """
    grouped = table.groupby([*by, "metric"], dropna=False, sort=False)["value"]
    return grouped.agg(
        mean="mean",
        low=lambda v: v.quantile(0.1),
        high=lambda v: v.quantile(0.9),
        replicates="count",
        failed=lambda v: int(v.isna().sum()),
    ).reset_index()
