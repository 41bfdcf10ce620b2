"""Whether stored cells come out again: a random sample is recomputed from the seeds stored with them and compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from privcov.core import checks, parallel, paths
from replication.base import KEYS, stored
from replication.reproduce import Step, Task, one_replicate, stamp, steps, summary
from replication.verdicts import cell_name

CELLS = 12
# Stored with six digits; processors and linear-algebra libraries differ in the last digits of a double, which an
# estimator with a threshold or a solver with a tolerance can enlarge.
TOLERANCE = 1e-4
SAME, DIFFERS, OLDER, ABSENT = "the same", "differs", "stored by an older version", "its data set is not there"


@dataclass(frozen=True)
class Again:
    """One stored cell and what came out now; NaN where no replicate gave a number, or nothing was computed."""

    table: str
    cell: str
    kept: float
    now: float
    word: str


def check(
    keys: Sequence[str] = (),
    cells: int = CELLS,
    *,
    seed: int | None = None,
    folder: Path | None = None,
    progress: Callable[[Again, int, int], None] | None = None,
    workers: int | None = None,
) -> list[Again]:
    """Recompute random stored cells and compare."""
    checks.integer("cells", cells, 1, 10_000)
    folder = paths.results("reproduced") if folder is None else folder
    known = [(step, _cells(step, folder)) for step in steps(keys, "full")]
    known = [(step, rows) for step, rows in known if len(rows)]
    if not known:
        raise ValueError(f"Nothing is stored in {folder} for these tables. Run python -m replication reproduce first.")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(known))
    found = []
    for k in range(cells):
        step, rows = known[order[k % len(order)]]
        row = rows.iloc[int(rng.integers(len(rows)))]
        found.append(_again(step, row, workers))
        if progress is not None:
            progress(found[-1], len(found), cells)
    return found


def _cells(step: Step, folder: Path) -> pd.DataFrame:
    kept = stored(step.table.key, folder)
    return kept[(kept["point"] == step.point.name) & (kept["variant"] == step.variant)]


def _again(step: Step, row: pd.Series, workers: int | None) -> Again:
    """Recompute the point of one stored cell with its own seed and number of replicates, and compare the cell."""
    table, seed, count = step.table.key, int(row["seed"]), int(row["replicates"] + row["failed"])
    words, kept = f"{cell_name(row)}, {step.variant}", float(row["value"])
    if row["version"] != stamp(step, seed):
        return Again(table, words, kept, math.nan, OLDER)
    tasks = [Task(table, step.point.name, step.variant, count, seed, k) for k in range(count)]
    made = dict(parallel.run_tasks(one_replicate, tasks, workers=workers))
    if any(m.numbers is None for m in made.values()):
        return Again(table, words, kept, math.nan, ABSENT)
    numbers = [number for k in range(count) for number in made[k].numbers or ()]
    mine = [
        one
        for one in summary(step, seed, numbers)
        if one["metric"] == row["metric"] and all(one[key] == row[key] for key in KEYS)
    ]
    now = float(mine[0]["value"] or math.nan) if mine else math.nan
    same = math.isclose(now, kept, rel_tol=TOLERANCE) or (math.isnan(now) and math.isnan(kept) and bool(mine))
    return Again(table, words, kept, now, SAME if same else DIFFERS)
