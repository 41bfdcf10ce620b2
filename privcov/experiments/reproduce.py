"""Compute the papers' tables again, as published and sound, and keep the results: ``python -m privcov reproduce``.

A point (cells that share their rows) is computed once and written at once, so a run that was stopped goes on where it
was. A stored point is computed again when more replicates are asked for, or when the seed or the version of its table
differs.
"""

from __future__ import annotations

import csv
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import privcov.experiments.published as catalogue
from privcov.experiments.cells import build_entry
from privcov.experiments.plan import run
from privcov.experiments.published import COMPUTED, KEYS, LITERAL, REPRODUCED, Number, Point, Table

SEED = 20_240
PRESETS = ("small", "full")


@dataclass(frozen=True)
class Step:
    """One point of one table in one variant."""

    table: Table
    point: Point
    variant: str
    replicates: int


def steps(keys: Sequence[str] = (), preset: str = "small") -> list[Step]:
    """What a preset computes. keys: tables, () for all. Raises ValueError for an unknown table or preset."""
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
    known = catalogue.TABLES
    for key in keys:
        if key not in known:
            raise ValueError(f"There is no table {key!r}. There are {', '.join(known)}.")
    found = []
    for table in (known[k] for k in keys or known):
        for point in table.points:
            for variant in point.variants:
                count = (point.small or table.small)[variant != LITERAL] if preset == "small" else table.replicates
                if count:
                    found.append(Step(table, point, variant, count))
    return found


def stamp(step: Step, seed: int = SEED) -> str:
    """What the numbers of a step depend on beside the seed: the version of the table, and of the sound methods."""
    parts = [f"table {step.table.version}"]
    if step.variant != LITERAL:
        keys = step.point.methods if step.point.plan is None else step.point.plan(1, seed).methods
        for _, method, _ in map(build_entry, keys):
            parts.append(f"{method.card.key} {method.card.version}")
    return "; ".join(parts)


def numbers(point: Point, variant: str, replicates: int, seed: int = SEED) -> Iterator[tuple[int, Number]]:
    """(replicate, number) of one point. Raises MissingData where its rows are not there."""
    if point.ready is not None:
        point.ready()
    each = point.literal if variant == LITERAL else point.sound
    if each is not None:
        for replicate in range(replicates):
            for number in each(seed, replicate):
                yield replicate, number
        return
    for row in run(point.plan(replicates, seed)).to_dict("records"):
        keys, metric = point.read(row)
        yield int(row["replicate"]), Number(keys, metric, point.unit * float(row["value"]), row["problem"])


def compute(step: Step, seed: int = SEED) -> list[dict]:
    """The rows of data/reproduced for one step: mean, sd and number of the replicates that gave a number."""
    cells: dict[tuple, list[Number]] = {}
    for _, number in numbers(step.point, step.variant, step.replicates, seed):
        keys = tuple(number.keys.get(name, "") for name in KEYS)
        cells.setdefault((*keys, number.metric), []).append(number)
    rows = []
    for (*keys, metric), found in cells.items():
        values = np.array([number.value for number in found])
        values = values[np.isfinite(values)]
        rows.append(
            {
                **dict(zip(KEYS, keys, strict=True)),
                "metric": metric,
                "variant": step.variant,
                "point": step.point.name,
                "value": _short(values.mean()) if len(values) else "",
                "sd": _short(values.std(ddof=1)) if len(values) > 1 else "",
                "replicates": len(values),
                "failed": len(found) - len(values),
                "problem": next((number.problem for number in found if number.problem), ""),
                "seed": seed,
                "version": stamp(step),
                "made_with": f"numpy {np.__version__}",
            }
        )
    return rows


def _short(value: float) -> str:
    return f"{value:.6g}"


def reproduce(
    keys: Sequence[str] = (),
    preset: str = "small",
    *,
    seed: int = SEED,
    folder: Path = REPRODUCED,
    progress: Callable[[int, int, Step, float], None] | None = None,
) -> list[Path]:
    """Compute what is not stored yet, in order, and return the files. progress(done, total, step, seconds).

    A step whose data set is not there (see data/README.md) is left as it is stored; progress gets NaN seconds for it.
    """
    from privcov.data_sources.papers import MissingData

    todo = steps(keys, preset)
    for done, step in enumerate(todo, start=1):
        path = folder / f"{step.table.key}.csv"
        begun = time.monotonic()
        if not _stored(path, step, seed):
            try:
                _write(path, compute(step, seed), step)
            except MissingData:
                begun = math.nan
        if progress is not None:
            progress(done, len(todo), step, time.monotonic() - begun)
    return sorted({folder / f"{step.table.key}.csv" for step in todo})


def _rows(path: Path) -> list[dict]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _same(row: dict, step: Step) -> bool:
    return row["point"] == step.point.name and row["variant"] == step.variant


def _stored(path: Path, step: Step, seed: int) -> bool:
    found = [row for row in _rows(path) if _same(row, step)]
    return bool(found) and all(
        int(row["replicates"]) + int(row["failed"]) >= step.replicates
        and row["seed"] == str(seed)
        and row["version"] == stamp(step)
        for row in found
    )


def _write(path: Path, rows: list[dict], step: Step) -> None:
    """The file with this step's rows replaced; whole or not at all."""
    kept = [row for row in _rows(path) if not _same(row, step)]
    order = {(p.name, v): i for i, (p, v) in enumerate((p, v) for p in step.table.points for v in p.variants)}
    whole = sorted(kept + rows, key=lambda row: order.get((row["point"], row["variant"]), len(order)))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    pd.DataFrame(whole, columns=COMPUTED).to_csv(draft, index=False, lineterminator="\n")
    os.replace(draft, path)
