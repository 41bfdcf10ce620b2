"""An experiment as a value: which data, methods, guarantees, what varies, how often. JSON there and back."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pandas as pd

from privcov import checks
from privcov._release import build_method, run_method
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.base import METHODS
from privcov.metrics.errors import NORMS, REFERENCES, error
from privcov.parameters import build
from privcov.privacy import Guarantee, NoPrivacy, from_dict, to_dict

_OPTIONS = ("calibration", "centre", "tuning")


def _metrics() -> tuple[str, ...]:
    return tuple(
        f"{prefix}{norm}-to-{against}"
        for prefix in ("relative-", "")
        for norm in NORMS
        for against in REFERENCES
    )


METRICS = _metrics()


@dataclass(frozen=True)
class Plan:
    """A frozen description of an experiment.

    source, source_params: a source key and its parameters.
    methods:    keys, or (key, {parameters and calibration, centre, tuning}).
    guarantees: PureDP, ApproxDP, ZCDP or NoPrivacy; a method that cannot give one is left out of those cells.
    vary:       {name: values}, a source parameter or "row_bound"; all combinations are run.
    metrics:    names such as "relative-frobenius-to-sample" (see METRICS).
    replicates: >= 1, each with fresh rows and fresh noise. seed: whole number >= 0.
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

    def __post_init__(self) -> None:
        source = SOURCES.get(self.source)
        known = [s.name for s in source.parameters]
        for name in self.vary:
            if name not in (*known, "row_bound"):
                raise ValueError(f"vary names {name!r}; {self.source!r} has {', '.join(known)} and row_bound.")
            if len(self.vary[name]) == 0:
                raise ValueError(f"vary[{name!r}] must hold at least one value.")
        if not self.methods:
            raise ValueError("methods must name at least one method.")
        if not self.guarantees:
            raise ValueError("guarantees must hold at least one guarantee, such as privcov.ZCDP(rho=0.1).")
        checks.whole("replicates", self.replicates, 1)
        checks.whole("seed", self.seed, 0)
        for name in self.metrics:
            checks.one_of("metric", name, METRICS)
        for method in self.methods:
            self._method(method)
        for guarantee in self.guarantees:
            if not isinstance(guarantee, Guarantee):
                raise TypeError(f"guarantees must hold PureDP, ApproxDP or ZCDP, got {guarantee!r}.")

    @staticmethod
    def _method(entry) -> tuple:
        """(label, built method, options) of one entry of ``methods``."""
        key, given = (entry, {}) if isinstance(entry, str) else entry
        options = {k: given[k] for k in _OPTIONS if k in given}
        own = {k: v for k, v in given.items() if k not in options}
        label = key + "".join(f" {k}={v}" for k, v in sorted(given.items()))
        return label, build_method(key, own), options

    def points(self) -> Iterator[dict]:
        """The combinations of ``vary``."""
        for values in itertools.product(*self.vary.values()):
            yield dict(zip(self.vary, values, strict=True))

    @property
    def steps(self) -> int:
        """Number of method runs."""
        pairs = sum(
            not METHODS.get(m if isinstance(m, str) else m[0]).refuses(g.kind)
            for m in self.methods for g in self.guarantees
        )
        return pairs * self.replicates * len(list(self.points()))

    def to_json(self) -> str:
        fields = dataclasses.asdict(self)
        fields["guarantees"] = [to_dict(g) for g in self.guarantees]
        return json.dumps(fields, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        fields = json.loads(text)
        fields["guarantees"] = [from_dict(g) for g in fields["guarantees"]]
        return cls(**fields)


def cells(plan: Plan) -> Iterator[list[dict]]:
    """The rows of the table, one list per method run, in a fixed order."""
    built = [Plan._method(m) for m in plan.methods]
    for point in plan.points():
        own = {k: v for k, v in point.items() if k != "row_bound"}
        source = build(SOURCES.get(plan.source).cls, f"Source {plan.source!r}", {**plan.source_params, **own})
        for replicate in range(plan.replicates):
            dataset = make_dataset(source, seed=plan.seed, repeat=replicate,
                                   row_bound=point.get("row_bound", plan.row_bound))
            for (label, method, options), guarantee in itertools.product(built, plan.guarantees):
                if method.card.refuses(guarantee.kind):
                    continue
                rel = run_method(method, dataset, guarantee, seed=plan.seed, repeat=replicate, **options)
                yield [
                    {
                        "source": plan.source, **point, "method": label, **_columns(guarantee),
                        "replicate": replicate, "target": rel.target, "metric": metric,
                        "value": _measure(rel, dataset, metric),
                    }
                    for metric in plan.metrics
                ]


def _columns(guarantee: Guarantee) -> dict:
    empty = {"guarantee": guarantee.kind, "epsilon": float("nan"), "delta": float("nan"), "rho": float("nan")}
    return empty if isinstance(guarantee, NoPrivacy) else {**empty, **vars(guarantee)}


def _measure(rel, dataset, metric: str) -> float:
    name = metric.removeprefix("relative-")
    norm, against = name.split("-to-")
    return error(rel, dataset, norm, relative=name != metric, against=against)


def run(plan: Plan, progress: Callable[[int, int, list[dict]], None] | None = None) -> pd.DataFrame:
    """The tidy table of a plan: one row per (point, replicate, method, guarantee, metric).

    progress(done, total, rows) is called after each method run. Rows depend only on the plan: same plan, same table,
    and adding a method changes no other row.
    """
    rows: list[dict] = []
    total = plan.steps
    for done, found in enumerate(cells(plan), start=1):
        rows.extend(found)
        if progress is not None:
            progress(done, total, found)
    return pd.DataFrame(rows)


def summarise(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean over replicates with the 10 % and 90 % replicate quantiles, per group and metric."""
    grouped = table.groupby([*by, "metric"], dropna=False, sort=False)["value"]
    return grouped.agg(
        mean="mean", low=lambda v: v.quantile(0.1), high=lambda v: v.quantile(0.9), replicates="size"
    ).reset_index()
