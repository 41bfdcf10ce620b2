"""The cells of an experiment: one method, on one draw of rows, under one guarantee. And what the store has of them."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator

from privcov._running import build_method, run_method
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.experiments.store import Store, guarantee_part, key_of, method_part, place_part
from privcov.metrics import classification
from privcov.metrics.errors import error
from privcov.parameters import build
from privcov.privacy import Guarantee, NoPrivacy

_OPTIONS = ("calibration", "centre", "tuning", "neighbours")
# Columns of the table that a varied source parameter must not overwrite (AR(1) has a rho of its own).
_TAKEN = ("source", "method", "guarantee", "epsilon", "delta", "rho", "replicate", "target", "metric", "value")


def build_entry(entry) -> tuple:
    """(label, built method, options) of one entry of a plan's ``methods``."""
    key, given = (entry, {}) if isinstance(entry, str) else entry
    options = {k: given[k] for k in _OPTIONS if k in given}
    own = {k: v for k, v in given.items() if k not in options}
    label = key + "".join(f" {k}={v}" for k, v in sorted(given.items()))
    return label, build_method(key, own), options


def column_of(name: str) -> str:
    """The column of the table that holds a varied name."""
    return f"source_{name}" if name in _TAKEN else name


class Cell(list):
    """The rows of the table that one method run fills, one per metric. reused: they came from the store."""

    def __init__(self, rows: list[dict], reused: bool) -> None:
        super().__init__(rows)
        self.reused = reused


def cells(plan, store: Store | None = None) -> Iterator[Cell]:
    """The method runs of a plan, in a fixed order: every point once, then every point again, replicate by replicate.

    Rows are drawn when a cell first needs them, so what is all in the store costs no drawing.
    """
    built = [(*entry, method_part(*entry[1:])) for entry in _entries(plan)]
    guarantees = [(g, guarantee_part(g)) for g in plan.guarantees]
    spots = list(_spots(plan))
    for replicate in range(plan.replicates):
        drawn_from, drawn = None, None
        for (named, source, bound, spot), (label, method, options, part), (guarantee, level) in itertools.product(
            spots, built, guarantees
        ):
            if method.card.refuses(guarantee.kind):
                continue
            keys = [key_of(spot, part, level, replicate, metric) for metric in plan.metrics]
            found = None if store is None else store.get(keys)
            reused = found is not None
            if not reused:
                if drawn_from != source:
                    drawn = make_dataset(source, seed=plan.seed, repeat=replicate, row_bound=bound)
                    drawn_from = source
                dataset = drawn if drawn.row_bound == bound else drawn.with_row_bound(bound)
                if plan.sizes is None:
                    rows, measure = dataset, _to_reference(dataset)
                else:
                    rows, measure = _on_test_rows(dataset, plan, replicate)
                seed = plan.seed if plan.noise_seed is None else plan.noise_seed
                found = _fill(rows, measure, method, options, guarantee, plan.metrics, seed, replicate)
                if store is not None:
                    store.put(keys, found)
            rows = _rows(label, guarantee, replicate, plan.metrics, found)
            yield Cell([{"source": plan.source, **named, **row} for row in rows], reused)


def count_known(plan, store: Store) -> int:
    """How many method runs of a plan the store already has."""
    built = [(m, method_part(m, options)) for _, m, options in _entries(plan)]
    levels = [(g, guarantee_part(g)) for g in plan.guarantees]
    spots = [spot for *_, spot in _spots(plan)]
    return sum(
        store.get([key_of(spot, part, level, replicate, metric) for metric in plan.metrics]) is not None
        for replicate, spot, (method, part), (g, level) in itertools.product(
            range(plan.replicates), spots, built, levels
        )
        if not method.card.refuses(g.kind)
    )


def _entries(plan) -> Iterator[tuple]:
    """`build_entry` of every method; for classification each measures the class means."""
    more = {} if plan.sizes is None else {"centre": "classes"}
    for label, method, options in map(build_entry, plan.methods):
        yield label, method, options | more


def _spots(plan) -> Iterator[tuple]:
    """(columns of the table, source, row bound, its part of the key) of every point."""
    split = "" if plan.sizes is None else json.dumps(dataclasses.asdict(plan.sizes), sort_keys=True)
    noise = "" if plan.noise_seed in (None, plan.seed) else f"noise {plan.noise_seed}"
    for point in plan.points():
        own = {k: v for k, v in point.items() if k != "row_bound"}
        source = build(SOURCES.get(plan.source).cls, f"Source {plan.source!r}", {**plan.source_params, **own})
        bound = point.get("row_bound", plan.row_bound)
        bound = source.default_row_bound(plan.seed) if bound is None else float(bound)
        place = place_part(source, bound, plan.seed) + split + noise
        yield {column_of(k): v for k, v in point.items()}, source, bound, place


def cells_on(
    dataset: Dataset, methods: list, guarantees: list, metrics: list, *, replicates: int, seed: int, row_bounds=()
) -> Iterator[Cell]:
    """The same for rows that no registered source can make again: replicates redraw the noise only; nothing is kept.

    row_bounds: values of R to vary, or () for the data set's own.
    """
    built = [build_entry(m) for m in methods]
    points = [({"row_bound": r}, dataset.with_row_bound(r)) for r in row_bounds] or [({}, dataset)]
    for replicate in range(replicates):
        for (named, rows), (label, method, options), guarantee in itertools.product(points, built, guarantees):
            if not method.card.refuses(guarantee.kind):
                measure = _to_reference(rows)
                found = _fill(rows, measure, method, options, guarantee, metrics, seed, replicate)
                filled = _rows(label, guarantee, replicate, metrics, found)
                yield Cell([{**named, **row} for row in filled], False)


def _fill(
    dataset, measure, method, options, guarantee, metrics, seed: int, replicate: int
) -> list[tuple[str, float, str]]:
    """(target, value, problem) per metric. measure: from a release and the name of a metric to a number."""
    for metric in metrics:
        if metric.endswith("-to-truth") and dataset.truth is None:
            raise ValueError(f"{dataset.name!r} has no known truth, so {metric!r} cannot be measured; use -to-sample.")
    try:
        rel = run_method(method, dataset, guarantee, seed=seed, repeat=replicate, **options)
        return [(rel.target, measure(rel, metric), "") for metric in metrics]
    except ValueError as problem:
        # One impossible cell (a lasso drowned in noise, say) must not cost the others.
        return [(method.card.target, float("nan"), str(problem))] * len(metrics)


def _rows(label: str, guarantee, replicate: int, metrics: list, found: list[tuple]) -> list[dict]:
    named = {"method": label, **_columns(guarantee), "replicate": replicate}
    return [
        {**named, "target": target, "metric": metric, "value": value, "problem": text}
        for metric, (target, value, text) in zip(metrics, found, strict=True)
    ]


def _columns(guarantee: Guarantee) -> dict:
    empty = {"guarantee": guarantee.kind, "epsilon": float("nan"), "delta": float("nan"), "rho": float("nan")}
    return empty if isinstance(guarantee, NoPrivacy) else {**empty, **vars(guarantee)}


def _to_reference(dataset: Dataset) -> Callable:
    def measure(rel, metric: str) -> float:
        name = metric.removeprefix("relative-")
        norm, against = name.split("-to-")
        return error(rel, dataset, norm, relative=name != metric, against=against)

    return measure


def _on_test_rows(dataset: Dataset, plan, replicate: int) -> tuple[Dataset, Callable]:
    """The training rows, and the metrics of a release made from them on the test rows."""
    key = ("split", plan.sizes, plan.seed, replicate, dataset.row_bound)
    if key not in dataset.memo:
        dataset.memo[key] = classification.split(dataset, plan.sizes, seed=plan.seed, repeat=replicate)
    train, test = dataset.memo[key]

    def measure(rel, metric: str) -> float:
        if metric == "majority-error":
            return classification.majority_error(train, test)
        return classification.classification_error(rel, test)

    return train, measure
