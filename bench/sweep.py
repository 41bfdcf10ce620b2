"""Sweeps on one worker and on two: section "sweep" of the bench.

The rows of paper 4's first table with its methods in their sound form, as plans: one worker and two in turn, in one
run, medians. Worker processes are running before the clock starts, as in the second of two sweeps; every run begins
without a store. joblib's part is what handing a task to a worker and back costs, beside one cell of the table.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from privcov.core import parallel
from privcov.studies.plan import Plan, run
from replication import catalogue

ROUNDS, REPLICATES, TASKS = 3, 50, 5_000  # 50: the paper's own number
GOAL = ">= 1.7"


def plans(replicates: int = REPLICATES) -> list[Plan]:
    table = catalogue.TABLES["4-table-1"]
    return [point.plan(replicates, 0) for point in table.points if point.plan is not None]


def seconds(workers: int, replicates: int = REPLICATES) -> float:
    begun = time.perf_counter()
    for plan in plans(replicates):
        run(plan, workers=workers)
    return time.perf_counter() - begun


def nothing(task: int) -> int:
    return task


def sweep() -> Iterator[tuple[str, str, str]]:
    """(what, found, goal) of the rows of the section."""
    table = f"paper-4 table, {sum(plan.steps for plan in plans()):,} cells, two workers"
    if parallel.worker_count() < 2:
        yield table, "not measured: this machine has one core", ""
        return
    list(parallel.run_tasks(nothing, range(4), workers=2))
    seconds(2, 1)  # both workers have imported what they need
    one, two, tasks = [], [], []
    for _ in range(ROUNDS):
        one.append(seconds(1))
        two.append(seconds(2))
        begun = time.perf_counter()
        list(parallel.run_tasks(nothing, range(TASKS), workers=2))
        tasks.append((time.perf_counter() - begun) / TASKS)
    alone, both, task = map(statistics.median, (one, two, tasks))
    yield table, f"{alone / both:.2f} x one worker's speed ({alone:.1f} s, {both:.1f} s)", GOAL
    cell = alone / sum(plan.steps for plan in plans())
    yield "joblib's part of a cell", f"{task / cell:.4f} x the cell ({1e6 * task:.0f} us, {1e3 * cell:.1f} ms)", ""
