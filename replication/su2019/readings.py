"""Su et al. 2019 (paper 2), Table 1 with a fine grid of penalties, and with penalties below the one chosen.

The printed choice is five-fold cross-validation, on a grid that is not printed. Ours of Table 1 has 41 penalties over
five decades, so that lambda moves by a factor 1.8 a step and the error with it.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from privcov.core.guarantees import ApproxDP
from privcov.estimators.ridge_precision import PENALTIES, RidgePrecision, ridge_lambda
from privcov.metrics.errors import without_noise
from privcov.postprocess.ridge import ridge_path
from privcov.releases.public import run_method
from replication.base import KEYS, Number, Point, Table, recompute, stored
from replication.readings import FITTED, SEEN, Found, Reading, distance, with_ours
from replication.su2019 import tables
from replication.su2019.checks import corrected, put_in
from replication.su2019.tables import EPSILONS, SIZES, D

FINE = np.geomspace(PENALTIES[0], PENALTIES[-1], 401)
DIVISORS = ("1", "1.25", "1.6", "2", "2.5")
OVER = "lambda / "


def ridge(model: str, n: str, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate of a model and a size of Table 1: the fine grid's lambda and fractions of it."""
    data = tables.draw(model, n, seed, replicate)
    lambdas = [ridge_lambda(x, D) for x in FINE]
    scores = tables.raw_scores(data, seed, replicate, "ridge", lambda s: ridge_path(s, lambdas))
    best = float(FINE[int(np.argmin(scores))])
    numbers = []
    for divisor in DIVISORS:
        # lambda is proportional to the square of the penalty
        method, base = RidgePrecision(penalty=max(best / math.sqrt(float(divisor)), float(FINE[0]))), None
        for epsilon in EPSILONS:
            level = ApproxDP(float(epsilon), 1 / data.n)
            rel = run_method(
                method, data, level, seed=seed, repeat=replicate, calibration="as-published", tuning="fixed"
            )
            base = without_noise(rel, data).matrix if base is None else base
            keys = tables.cell_keys(model, n, epsilon, "DP-RP") | {"data": OVER + divisor}
            numbers += tables.numbers_of(keys, rel.matrix, base)
    return numbers


TABLES = (
    Table(
        "2-ridge", 2, "Table 1, fine penalties", "Table 1 with a fine grid of penalties, and smaller penalties",
        "error relative to the same estimate without noise",
        tuple(Point(f"model {model}, n = {n}", partial(ridge, model, n)) for model in "123" for n in SIZES),
        small=(10, 0), trivial=1.0,
    ),
)  # fmt: skip

# --- the readings ---------------------------------------------------------------------------------------------


def _slips(key: str, folder: Path) -> Found | None:
    cells = corrected(key, folder)
    return Found(cells) if cells["ours"].notna().all() else None


def _fractions(key: str, folder: Path) -> dict[float, pd.DataFrame]:
    """Return the cells of Table 1 with both slips, at every stored fraction of lambda; none where nothing is stored."""
    rows = stored("2-ridge", folder)
    printed = next(table for table in tables.TABLES if table.key == key)
    answer = {}
    for name, group in rows.groupby("data", sort=False):
        over = group[group["metric"] == tables.OVER_FROBENIUS].assign(data="")
        cells = with_ours(printed, group[group["metric"] != tables.OVER_FROBENIUS].assign(data=""), folder)
        known = cells[list(KEYS)].merge(over[[*KEYS, "value"]], on=list(KEYS), how="left", validate="many_to_one")
        answer[float(name.removeprefix(OVER))] = put_in(cells, known["value"].to_numpy())
    return answer


def _fine(key: str, folder: Path) -> Found | None:
    cells = _fractions(key, folder)
    return Found(cells[1.0]) if cells else None


def _smaller(key: str, folder: Path) -> Found | None:
    """Fit the fraction of lambda; between the stored ones errors are interpolated in logarithms."""
    cells = _fractions(key, folder)
    if not cells:
        return None
    stored_at = np.log(list(cells))
    logs = {name: np.log([part[name].to_numpy() for part in cells.values()]) for name in ("ours", "ours_se")}

    def at(k: float) -> pd.DataFrame:
        read = {name: np.exp([np.interp(math.log(k), stored_at, row) for row in grid.T]) for name, grid in logs.items()}
        return cells[1.0].assign(**read)

    best = min(
        np.geomspace(float(np.exp(stored_at[0])), float(np.exp(stored_at[-1])), 40), key=lambda k: distance(at(k))
    )
    return Found(recompute(at(best)), {"k": float(best)})


_BOTH = (
    "The spectral column is divided by the Frobenius norm from epsilon 0.3 on, and the noise is smaller by 1/sqrt 2 "
    "from epsilon 1.2 on"
)
READINGS = (
    Reading("2-slips", ("2-table-1", "2-table-2"), f"{_BOTH}.", SEEN, 0, ("2-table-1", "2-table-2"), _slips),
    Reading(
        "2-slips-fine", ("2-table-1",), f"{_BOTH}; five-fold cross-validation over {len(FINE)} penalties instead of "
        f"{len(PENALTIES)}.", SEEN, 0, ("2-ridge",), _fine,
    ),
    Reading(
        "2-slips-smaller", ("2-table-1",), f"{_BOTH}; lambda is 1/k of what cross-validation over {len(FINE)} "
        "penalties chooses, one k for the table.", FITTED, 1, ("2-ridge",), _smaller,
    ),
)  # fmt: skip
