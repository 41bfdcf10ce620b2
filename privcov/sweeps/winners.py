"""The best method in every cell of a map over (n, d) or (n, epsilon), and whether it is clearly the best.

A map has one plan per d, because the public row bound depends on d.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Sequence
from threading import Event

import numpy as np
import pandas as pd

from privcov import checks
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.metrics.oracle import ORACLES
from privcov.parameters import build
from privcov.sweeps.cells import Cell, cells
from privcov.sweeps.crossings import paired_interval
from privcov.sweeps.plan import Plan, collect
from privcov.sweeps.store import Store

TRIVIAL = ("zero", "diagonal")  # compete everywhere: an answer that needs no method


def map_plans(
    source: str,
    source_params: dict,
    *,
    methods: list,
    guarantees: list,
    ns: list[int],
    ds: list[int] | None = None,
    metric: str = "relative-frobenius-to-truth",
    replicates: int = 8,
    seed: int = 0,
    bound: float = 1.0,
) -> list[Plan]:
    """Return the plans of a map: n against d (one guarantee), or n against the guarantees (one d).

    bound: row bound as a multiple of the source's public default for that d. The trivial answers are added to
    ``methods``, and to a relative Frobenius error the one of the oracle (metrics/oracle.py). replicates: >= 2, since
    one has no interval.
    """
    card = SOURCES.get(source)
    names = {s.name for s in card.parameters}
    for name in ("n", "d") if ds else ("n",):
        if name not in names:
            raise ValueError(f"{card.label} has one {name}, so there is no map over {name}. Choose a simulated source.")
    if ds and len(guarantees) != 1:
        raise ValueError(f"A map over n and d has one guarantee, got {len(guarantees)}.")
    checks.whole("replicates", replicates, 2, remedy="One replicate has no interval.")
    checks.positive("bound", bound)
    entries = [*methods, *(key for key in TRIVIAL if key not in methods)]
    plans = []
    sizes: Sequence[int | None] = ds or [None]
    for d in sizes:
        params = source_params if d is None else {**source_params, "d": d}
        params = {k: v for k, v in params.items() if k != "n"}
        default = build(card.cls, f"Source {source!r}", params).default_row_bound(seed)
        plan = Plan(
            source=source,
            source_params=params,
            methods=entries,
            guarantees=guarantees,
            vary={"n": ns},
            metrics=[metric, *(name for name in ORACLES if name == metric.replace("frobenius", "oracle"))],
            replicates=replicates,
            seed=seed,
            row_bound=bound * default,
        )
        plans.append(plan)
    return plans


def dimension(plan: Plan) -> int:
    """Return the number of columns of a plan's source."""
    default = next(s.default for s in SOURCES.get(plan.source).parameters if s.name == "d")
    return plan.source_params.get("d", default)


def map_cells(
    plans: list[Plan], store: Store | None = None, *, workers: int | None = None, stop: Event | None = None
) -> Generator[Cell, None, None]:
    """Yield the method runs of all plans, each row with the column d; the rest as for `cells`."""
    ds = [dimension(plan) for plan in plans]
    with contextlib.closing(cells(plans, store, workers=workers, stop=stop)) as arriving:
        for cell in arriving:
            yield Cell([{"d": ds[cell.plan], **row} for row in cell], cell.reused, cell.position, cell.plan)


def run_map(
    plans: list[Plan],
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
    *,
    workers: int | None = None,
) -> pd.DataFrame:
    """Return the tidy tables of all plans in one, with the column d; progress(done, total) is called after each run."""
    on_cell = None if progress is None else lambda done, total, _: progress(done, total)
    finished = collect(map_cells(plans, store, workers=workers), sum(plan.steps for plan in plans), on_cell)
    return pd.DataFrame([row for cell in finished for row in cell])


def winners(table: pd.DataFrame, *, x: str = "n", y: str = "d") -> pd.DataFrame:
    """Return one row per cell (x, y): the method with the smallest mean error, its margin, and whether that is clear.

    ``clear``: for every other method the 95 % t interval of the paired difference (same rows, same replicate) lies
    above zero, each pair tested by itself; ``rivals`` are those for which it does not. ``ratio`` is the runner-up's
    error ``second`` over the winner's. Methods without a matrix in some replicate are ``absent`` and do not compete.
    ``oracle`` is the least mean error of an answer with the eigenvectors of a noisy matrix, NaN where the table has
    none.
    """
    rows = []
    known = table["metric"].isin(ORACLES) if "metric" in table else pd.Series(False, index=table.index)
    least = table[known].groupby([x, y, "method"])["value"].mean().groupby([x, y]).min()
    for (at_x, at_y), part in table[~known].groupby([x, y], sort=True):
        errors = part.pivot_table(index="replicate", columns="method", values="value", aggfunc="first", dropna=False)
        absent = [m for m in errors.columns if not np.isfinite(errors[m]).all()]
        errors = errors.drop(columns=absent)
        means = errors.mean().sort_values(kind="stable")
        row = {x: at_x, y: at_y, "winner": "", "error": math.nan, "runner_up": "", "second": math.nan,
               "ratio": math.nan, "clear": False, "rivals": (), "absent": tuple(absent),
               "oracle": float(least.get((at_x, at_y), math.nan))}  # fmt: skip
        if len(means):
            best = means.index[0]
            rivals = tuple(m for m in means.index[1:] if paired_interval(errors[m] - errors[best])[0] <= 0)
            row |= {"winner": best, "error": means.iloc[0], "rivals": rivals, "clear": not rivals}
        if len(means) > 1:
            ratio = means.iloc[1] / means.iloc[0] if means.iloc[0] > 0 else math.inf
            row |= {"runner_up": means.index[1], "second": means.iloc[1], "ratio": ratio}
        rows.append(row)
    return pd.DataFrame(rows)


def count(table: pd.DataFrame) -> dict[str, int]:
    """Count the cells that each method wins clearly, most first; the other cells have no clear winner."""
    clear = table[table["clear"]]
    return {str(k): int(v) for k, v in clear["winner"].value_counts().items()}


def in_words(table: pd.DataFrame, labels: dict[str, str], *, x: str = "n", y: str = "d") -> str:
    """Describe how many cells each method wins, with the widest margin as an example."""
    counted = count(table)
    parts = [f"{labels.get(m, m)} wins {k}" for m, k in counted.items()]
    open_cells = len(table) - sum(counted.values())
    parts.append(f"{open_cells} without a clear winner")
    text = f"Of {len(table)} cells: {', '.join(parts)}."
    clear = table[table["clear"] & np.isfinite(table["ratio"])]
    if len(clear):
        top = clear.loc[clear["ratio"].idxmax()]
        text += (
            f" The widest margin is at {x} = {top[x]:,.6g}, {y} = {top[y]:,.6g}: {labels.get(top['winner'])} with an "
            f"error of {top['error']:.3g}, against {top['second']:.3g} of {labels.get(top['runner_up'])}."
        )
    return text


def labels_of() -> dict[str, str]:
    """Return the labels of the methods, by key."""
    return {card.key: card.label for card in METHODS.all()}
