"""How well graphs are recovered over a whole lambda path: a frozen description, and the curves it gives.

Every replicate draws rows (of a simulated source; public rows stay) and noise from streams keyed by the seeds and the
replicate. So every method and level sees the same rows, and neither the order of the work nor threads change a number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from privcov import checks, parallel
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.estimators.base import Method
from privcov.estimators.glasso import Glasso
from privcov.metrics.graphs import check_reference, compare, edges, path_rates
from privcov.parameters import build
from privcov.privacy import Guarantee, NoPrivacy
from privcov.releasing.run import method_input
from privcov.sweeps.cells import build_entry
from privcov.sweeps.graph_curves import Curve, Line, Run, average
from privcov.sweeps.recent import Recent

MARKED = 10  # replicates whose automatic lambdas are looked up
LARGE = 100_000  # numbers in a table; larger ones are drawn anew rather than kept
_ROWS: Recent[Dataset] = Recent(48)
_RUNS: Recent[Run] = Recent(6_000)  # about a kilobyte each


@dataclass(frozen=True)
class GraphStudy:
    """Frozen description of a study: which methods at which guarantees on which source, and how often.

    source, source_params: as for `privcov.source`. methods: keys, or pairs (key, {parameter: value}), of methods with a
    lambda path. guarantees: levels; the first method without noise is added as a reference. seed: noise; rows_seed:
    rows and random truths. row_bound: R, default the source's own. graph: name of a published reference network of the
    source, or "" for the true graph. rules: apply every automatic rule for lambda (in the first `MARKED` replicates),
    not only the method's own. Raises ValueError for what cannot be run.
    """

    source: str
    source_params: Mapping[str, object]
    methods: tuple
    guarantees: tuple[Guarantee, ...]
    replicates: int = 20
    seed: int = 0
    rows_seed: int = 0
    row_bound: float | None = None
    graph: str = ""
    rules: bool = True

    def __post_init__(self) -> None:
        checks.whole("replicates", self.replicates, 1, 10_000)
        if not self.methods:
            raise ValueError("methods must name at least one method with a lambda path, for example glasso-gaussian.")
        for entry in self.methods:
            _, method, _ = build_entry(entry)
            if method.card.target != "precision":
                raise ValueError(f"{method.card.key} draws no graph; use a method whose target is precision.")

    @property
    def lines(self) -> tuple[Line, ...]:
        """One line per method and guarantee it can give, then the first method without noise."""
        lines = []
        for entry in self.methods:
            label, method, _ = build_entry(entry)
            lines += [Line(entry, label, g) for g in self.guarantees if not method.card.refuses(g.kind)]
        if not lines:
            raise ValueError("None of these methods can give these guarantees. Choose another kind of guarantee.")
        return (*lines, Line(self.methods[0], lines[0].method, NoPrivacy()))


def reference_graph(dataset: Dataset, graph: str = "") -> np.ndarray:
    """Return the true graph, or the named published network, as d x d bool. Raises ValueError where there is none."""
    if graph:
        if graph not in dataset.graphs:
            has = ", ".join(dataset.graphs) or "none"
            raise ValueError(f"{dataset.name!r} has no reference network {graph!r}; it has: {has}.")
        return dataset.graphs[graph]
    truth = dataset.truth
    if truth is not None and truth.graph is not None:
        return truth.graph
    if truth is not None and truth.precision is not None:
        return edges(truth.precision)
    raise ValueError(f"The true graph of {dataset.name!r} is not known. Choose a source with a graph.")


def runs(study: GraphStudy, *, workers: int = 2, dataset: Dataset | None = None) -> Iterator[list[Run]]:
    """Yield the runs of one replicate after the other, all lines at once; closing the iterator drops what is not begun.

    dataset: rows to use as they are, where no source draws them (a visitor's table). Of other rows the newest runs are
    kept in this process, for studies that share them: another level keeps the line without noise.
    """
    source = build(SOURCES.get(study.source).cls, f"Source {study.source!r}", dict(study.source_params))
    origin = (study.source, source, source.state(), study.rows_seed, study.row_bound)

    def rows(replicate: int) -> Dataset:
        if dataset is not None:
            return dataset
        made = partial(make_dataset, source, seed=study.rows_seed, row_bound=study.row_bound, repeat=replicate)
        kept = 0 < getattr(source, "n", 0) * getattr(source, "d", 0) <= LARGE
        return _ROWS.once((*origin, replicate), made) if kept else made()

    first = rows(0)
    true = reference_graph(first, study.graph)
    check_reference(true)
    lines = [_Task(line, *build_entry(line.entry)[1:]) for line in study.lines]

    def one(replicate: int) -> list[Run]:
        fresh = replicate and first.provenance == "simulated"
        drawn = cache(lambda: rows(replicate) if fresh else first)
        found = []
        for task in lines:
            compute = partial(_run, study, drawn, true, task, replicate)
            key = (*origin, replicate, *task.asked(study))
            found.append(_RUNS.once(key, compute) if dataset is None else compute())
        return [dataclasses.replace(run, line=place) for place, run in enumerate(found)]

    pool = ThreadPoolExecutor(workers, thread_name_prefix="graph-study")
    with parallel.ONE_BLAS_THREAD:
        try:
            yield from pool.map(one, range(study.replicates))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _Task:
    """A line with its built method and the options of its runs."""

    line: Line
    method: Method
    options: Mapping[str, Any]

    def asked(self, study: GraphStudy) -> tuple:
        """Return what a run of this line depends on, but for the rows and the replicate."""
        # Without noise only the rule "fission" and cross-validation draw anything.
        draws = getattr(self.method, "rule", "") == "fission" or self.options.get("tuning") == "raw-cv"
        random = study.rules or draws
        seed = study.seed if random or not isinstance(self.line.guarantee, NoPrivacy) else None
        return self.method, tuple(sorted(self.options.items())), self.line.guarantee, seed, study.graph, study.rules


def forget() -> None:
    """Drop the runs and rows that are kept; they are computed again when a study needs them."""
    _ROWS.forget()
    _RUNS.forget()


def _run(study: GraphStudy, rows: Callable[[], Dataset], true: np.ndarray, task: _Task, replicate: int) -> Run:
    """Run one line on the rows of one replicate; ``rows`` returns them."""
    method, base = task.method, float(true.sum() / (len(true) * (len(true) - 1)))
    if not isinstance(method, Glasso):
        raise ValueError(f"{method.card.label} has no lambda path, so it has no ROC curve. Choose another method.")
    try:
        ask = method_input(method, rows(), task.line.guarantee, seed=study.seed, repeat=replicate, **task.options)
        measured = method.measure(ask)
        found = method.solve(ask, measured)
        marked = replicate < MARKED
        positions = method.positions(ask, measured, found, every=study.rules) if marked else {}
        tested = method.tested_graphs(ask, measured, every=study.rules) if marked else {}
    except ValueError as problem:  # one matrix drowned in noise must not cost the others
        return Run(0, replicate, None, base, str(problem))
    rates = path_rates(found.path, true)
    solved = [i for i, fit in enumerate(found.path) if fit.precision is not None]
    marks = {
        rule: (float(rates.fpr[solved.index(at)]), float(rates.tpr[solved.index(at)])) for rule, at in positions.items()
    }
    for rule, graph in tested.items():
        counts = compare(graph, true)
        marks[rule] = counts.fpr, counts.tpr
    lam = rates.lam * ask.facts.row_bound**2
    return Run(0, replicate, dataclasses.replace(rates, lam=lam), base, marks=marks)


def curves(study: GraphStudy, results: Sequence[Run], names: Sequence[str] | None = None) -> tuple[Curve, ...]:
    """Return one curve per line that has at least one path. names: of the lines; default: method and guarantee."""
    lines = study.lines
    return average(lines, [_name(study, line) for line in lines] if names is None else names, results)


def _name(study: GraphStudy, line: Line) -> str:
    """Return the default name of a line."""
    level = "no noise" if isinstance(line.guarantee, NoPrivacy) else str(line.guarantee)
    return level if len(study.methods) == 1 else f"{line.method}, {level}"


def run(study: GraphStudy, *, workers: int = 2, dataset: Dataset | None = None) -> tuple[Curve, ...]:
    """Run all replicates of a study and return the curves; ``dataset`` as for `runs`."""
    replicates = runs(study, workers=workers, dataset=dataset)
    return curves(study, [one for replicate in replicates for one in replicate])


def seconds(study: GraphStudy, n: int, d: int) -> float:
    """Return the rough time on two threads for n rows and d columns, a figure to decide by.

    Twenty lambdas on repaired noise took 4 ms at d = 20, 60 ms at d = 100 and 0.2 s at d = 200, so about d^1.7. The
    other rules cost five paths more, those of fission.
    """
    lines = len(study.lines)
    path = lines * 0.004 * (max(d, 5) / 20) ** 1.7
    other = 5 * path * min(study.replicates, MARKED) if study.rules else 0.0
    return ((path + 1e-7 * n * d) * study.replicates + other) / 2
