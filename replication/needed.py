"""What n a sound calibration needs for an accuracy: where its error curve along n meets it, with an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from replication.base import REPRODUCED, SOUND, Table, join_printed, standard_error, stored
from replication.mdpi2023.checks import trivial


@dataclass(frozen=True)
class Crossing:
    """Where an error curve along n first falls to a goal, and a 95 % interval.

    ``rows`` and ``high`` are inf beyond the largest n computed; ``low`` is the smallest where fewer rows may do.
    """

    rows: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Needed:
    """A published error at ``start`` rows, and the rows with which a sound calibration has it, or half the trivial one.

    ``goal`` is ours as published, the printed error where ours has no number.
    """

    method: str
    metric: str
    where: str
    start: float
    goal: float
    sound: float
    trivial: float
    published: Crossing
    half: Crossing


@dataclass(frozen=True)
class _Along:
    """How a curve along n is put together: from a table's own sound errors, and those of the table ``more``.

    ``column`` is the key that is n, in units of ``rows`` rows, and ``start`` its value where the goal is read.
    """

    more: str
    by: tuple[str, ...]
    start: str
    metrics: tuple[str, ...]
    column: str = "n"
    rows: float = 1.0
    only: Mapping[str, str] = field(default_factory=dict)
    points: str = ""


_FROBENIUS, _BOTH, _AT = ("frobenius",), ("spectral", "frobenius"), {"d": "100", "epsilon": "0.5", "delta": "1/400"}
_ALONG = {
    "2-table-1": _Along("2-needed", ("model", "epsilon"), "100", _FROBENIUS),
    "2-table-2": _Along("2-needed", ("model", "epsilon"), "100", _FROBENIUS),
    "3-table-1": _Along("3-needed", ("epsilon",), "0.5", ("relative",), "r", 50.0, {"data": "synthetic"}, "Table 1"),
    "3-table-2": _Along("3-needed", ("epsilon",), "0.5", ("relative",), "r", 50.0, {"data": "synthetic"}, "Table 2"),
    "4-table-1": _Along("4-needed", ("model",), "200", _BOTH, only={**_AT, "law": "normal"}),
    "4-table-2": _Along("4-needed", ("model",), "200", _BOTH, only={**_AT, "law": "t5"}),
}
_WORDS = {"model": "Model ", "epsilon": "epsilon "}


def needed(table: Table, folder: Path = REPRODUCED) -> list[Needed]:
    """Return the rows that a sound calibration needs for each published error at the table's smallest n."""
    own = _ALONG.get(table.key)
    if own is None:
        return []
    cells = join_printed(table, folder)
    cells["goal"] = cells["ours"].fillna(cells["value"])
    cells["goal_se"] = cells["ours_se"].where(cells["ours"].notna(), cells["se"]).fillna(0.0)
    more = stored(own.more, folder)
    parts = (stored(table.key, folder), more[more["point"].str.startswith(own.points)])
    curve = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    curve = curve[curve["variant"] == SOUND].dropna(subset=["value"])
    for name, value in own.only.items():
        cells, curve = cells[cells[name] == value], curve[curve[name] == value]
    curve = curve.assign(se=standard_error(curve))
    starts = cells[(cells[own.column] == own.start) & cells["metric"].isin(own.metrics)]
    answer = []
    for _, at in starts.dropna(subset=["goal"]).iterrows():
        same = [curve[name] == at[name] for name in (*own.by, "method", "metric")]
        part = curve[np.logical_and.reduce(same)]
        part = part.assign(rows=part[own.column].astype(float) * own.rows).sort_values(["rows", "replicates"])
        part = part.drop_duplicates("rows", keep="last")  # of an n that both tables have, the one with more replicates
        if len(part) < 3:
            continue
        n, errors = part["rows"].to_numpy(), part["value"].to_numpy()
        along = (n, errors, part["se"].to_numpy(), part["replicates"].to_numpy())
        free = table.trivial if math.isfinite(table.trivial) else trivial(at["model"], at["law"], at["d"], at["metric"])
        answer.append(
            Needed(
                method=at["method"],
                metric=at["metric"],
                where=", ".join(_WORDS[k] + at[k] for k in own.by),
                start=float(own.start) * own.rows,
                goal=float(at["goal"]),
                sound=float(errors[0]),
                trivial=free,
                published=crossing(*along, float(at["goal"]), float(at["goal_se"])),
                half=crossing(*along, free / 2),
            )
        )
    return answer


def rows_needed(n: np.ndarray, errors: np.ndarray, goal: float) -> float:
    """Return where an error curve along n first falls to ``goal``, interpolated in logarithms; inf beyond its end."""
    below = np.flatnonzero(errors <= goal)
    if not len(below):
        return math.inf
    k = int(below[0])
    if k == 0:
        return float(n[0])
    fraction = math.log(errors[k - 1] / goal) / math.log(errors[k - 1] / errors[k])
    return float(np.exp(np.log(n[k - 1]) + fraction * np.log(n[k] / n[k - 1])))


def crossing(
    n: np.ndarray, errors: np.ndarray, se: np.ndarray, replicates: np.ndarray, goal: float, goal_se: float = 0.0
) -> Crossing:
    """Return where a curve of means meets a goal, with every n at which the two do not differ at the 95 % level.

    The comparison is of logarithms, as some errors have long tails, with Student's t for the curve's few replicates. A
    curve may rise again later: the interval is that of its first crossing.
    """
    relative = np.divide(np.nan_to_num(np.asarray(se, float)), errors, out=np.zeros(len(errors)), where=errors > 0)
    many = np.maximum(np.asarray(replicates, float) - 1, 1)
    reach = np.exp(np.hypot(stdtrit(many, 0.975) * relative, 1.96 * goal_se / goal))
    ends = (rows_needed(n, errors, goal), rows_needed(n, errors / reach, goal), rows_needed(n, errors * reach, goal))
    return Crossing(*ends)
