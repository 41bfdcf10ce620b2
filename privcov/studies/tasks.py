"""The work of an experiment: draws of rows, the method runs on each, and where they are computed."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from privcov.core import parallel
from privcov.core.guarantees import Guarantee
from privcov.data_sources.base import Source, make_dataset
from privcov.estimators.base import Method
from privcov.metrics import classification
from privcov.metrics.errors import error
from privcov.metrics.graphs import graph_auc
from privcov.releases.public import run_method
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

AUC = "auc-to-truth"  # of the graphs along a lambda path
PATIENCE = 1.5  # seconds: about what it takes to start processes
Measure = Callable[[Release, str], float]  # from a release and the name of a metric to a number


@dataclass(frozen=True)
class Run:
    """One method run of a `SweepTask`. position: of its cell among those of all plans."""

    position: int
    bound: float
    method: Method
    options: dict
    guarantee: Guarantee


@dataclass(frozen=True)
class SweepTask:
    """One task, without arrays: rows that are drawn once, and the method runs on them that the store does not have."""

    source: Source
    seed: int
    replicate: int
    sizes: classification.SplitSizes | None
    metrics: tuple[str, ...]
    runs: tuple[Run, ...]

    @property
    def size(self) -> float:
        """A rough measure that only separates long draws from short ones."""
        return getattr(self.source, "n", 1) * getattr(self.source, "d", 1) * len(self.runs)


def run_draws(draws: list[SweepTask], workers: int | None) -> Iterator[tuple[int, list]]:
    """Yield (position, result of `run_and_measure`) of every run.

    Begin in this process; start others if the rest takes long.
    """
    todo = deque(draws)
    count = parallel.worker_count() if workers is None else workers
    if parallel.has_caller_backend():
        from joblib import effective_n_jobs

        count = effective_n_jobs(-1)
    else:
        with parallel.ONE_BLAS_THREAD:
            yield from _computed_here(todo, alone=count == 1 or parallel.in_worker())
    if todo:
        # Within a replicate the long tasks come first, so that all workers end at about the same time. A figure still
        # grows replicate by replicate.
        tasks = [part for draw in todo for part in _parts(draw, math.ceil(4 * count / len(todo)))]
        tasks.sort(key=lambda draw: (draw.replicate, -draw.size))
        with contextlib.closing(parallel.run_tasks(run_task, tasks, workers=count)) as batches:
            for _, several in batches:
                yield from several


def _computed_here(todo: deque[SweepTask], *, alone: bool) -> Iterator[tuple[int, list]]:
    """Yield the runs of ``todo`` from its front, until the rest is worth processes."""
    total, done, began = sum(len(draw.runs) for draw in todo), 0, time.monotonic()
    while todo:
        draw = todo.popleft()
        for own, (position, results) in enumerate(_fill_each(draw), start=1):
            done += 1
            yield position, results
            elapsed = time.monotonic() - began
            if not alone and min(elapsed, elapsed / done * (total - done)) > PATIENCE:
                if rest := draw.runs[own:]:
                    todo.appendleft(dataclasses.replace(draw, runs=rest))
                return


def _parts(draw: SweepTask, most: int) -> list[SweepTask]:
    """Split a draw into several tasks where draws are few and workers many; each worker then draws the rows."""
    size = math.ceil(len(draw.runs) / min(most, len(draw.runs)))
    return [dataclasses.replace(draw, runs=draw.runs[k : k + size]) for k in range(0, len(draw.runs), size)]


def run_task(draw: SweepTask) -> list[tuple[int, list[tuple[str, float, str]]]]:
    """Compute a draw, as a task of `parallel.run_tasks`: (position, result of `run_and_measure`) of each."""
    return list(_fill_each(draw, keep=True))


_DRAWN = threading.local()  # the last rows of a worker: parts of one draw often come one after the other


def _fill_each(draw: SweepTask, *, keep: bool = False) -> Iterator[tuple[int, list[tuple[str, float, str]]]]:
    """Yield (position, result of `run_and_measure`) of the runs of a draw."""
    name = (draw.source, draw.seed, draw.replicate)
    source_rows = _DRAWN.rows if keep and getattr(_DRAWN, "name", None) == name else None
    for run in draw.runs:
        if source_rows is None:
            source_rows = make_dataset(draw.source, seed=draw.seed, repeat=draw.replicate, row_bound=run.bound)
            if keep:
                _DRAWN.name, _DRAWN.rows = name, source_rows
        dataset = source_rows if source_rows.row_bound == run.bound else source_rows.with_row_bound(run.bound)
        if draw.sizes is None:
            rows, measure = dataset, to_reference(dataset)
        else:
            rows, measure = _on_test_rows(dataset, draw.sizes, draw.seed, draw.replicate)
        results = run_and_measure(
            rows, measure, run.method, run.options, run.guarantee, draw.metrics, draw.seed, draw.replicate
        )
        yield run.position, results


def run_and_measure(
    dataset: Dataset,
    measure: Measure,
    method: Method,
    options: dict,
    guarantee: Guarantee,
    metrics: Sequence[str],
    seed: int,
    replicate: int,
) -> list[tuple[str, float, str]]:
    """Run a method and return (target, value, problem) per metric; ``measure`` takes a release and a metric's name."""
    for metric in metrics:
        if metric.endswith("-to-truth") and dataset.truth is None:
            raise ValueError(f"{dataset.name!r} has no known truth, so {metric!r} cannot be measured; use -to-sample.")
    try:
        rel = run_method(method, dataset, guarantee, seed=seed, repeat=replicate, **options)
        return [(rel.target, measure(rel, metric), "") for metric in metrics]
    except ValueError as problem:
        # One impossible cell (a lasso drowned in noise, say) must not cost the others.
        return [(method.card.target, float("nan"), str(problem))] * len(metrics)


def to_reference(dataset: Dataset) -> Measure:
    """Return the measure of errors against the reference matrices of a draw."""

    def measure(rel: Release, metric: str) -> float:
        if metric == AUC:
            return graph_auc(rel, dataset)
        name = metric.removeprefix("relative-")
        norm, against = name.split("-to-")
        return error(rel, dataset, norm, relative=name != metric, against=against)

    return measure


def _on_test_rows(
    dataset: Dataset, sizes: classification.SplitSizes, seed: int, replicate: int
) -> tuple[Dataset, Measure]:
    """Return the training rows, and the measure on the test rows of a release made from them."""
    key = ("split", sizes, seed, replicate, dataset.row_bound)
    train, test = dataset.cache.once(key, lambda: classification.split(dataset, sizes, seed=seed, repeat=replicate))

    def measure(rel: Release, metric: str) -> float:
        if metric == "majority-error":
            return classification.majority_error(train, test)
        return classification.classification_error(rel, test)

    return train, measure
