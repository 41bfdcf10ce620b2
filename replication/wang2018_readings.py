"""Wang et al. 2018 (paper 3): a search over what its slides leave out, on the synthetic sets.

The slides print neither n, nor d, nor lambda. The family: n = k r d, lambda = c sqrt(log d / n) times the mean
variance, with d, k and c from a grid, and otherwise what `replication.wang2018` sets.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np

from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.metrics.errors import matrix_norm
from privcov.metrics.graphs import solve_precision
from privcov.postprocess.feasibility import Infeasible
from privcov.postprocess.glasso import solve
from replication import wang2018
from replication.base import Number, Point, Table, stored
from replication.readings import SEARCHED, Found, Reading, met, with_ours
from replication.wang2018 import EPSILONS, NO_SOLUTION, RATIOS, noise, penalty

DS, FACTORS, PENALTIES = ("20", "50"), ("1", "10", "100"), ("0.1", "0.3", "1", "3", "10")
METHODS = (("Wishart", True), ("Laplace", True), ("Wishart", False), ("Gaussian", False))


def member(d: str, factor: str, lam: str) -> str:
    """Return the words under which a member of the family is stored."""
    return f"d = {d}, n = {factor} r d, lambda x {lam}"


def search(d: str, factor: str, r: str, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate at one r of the members with this d and this n: every penalty, noise and epsilon."""
    size, ratio = int(d), float(factor) * float(r)
    data = make_dataset(SOURCES.get("sparse-inverse").cls(r=ratio, d=size), seed=seed, repeat=replicate)
    data = data.with_row_bound(float(row_norms(data).max()))
    s, numbers = clipped_moment(data, n_anchors=0), []
    for times in PENALTIES:
        lam = float(times) * penalty(s, data.n)
        base = solve_precision(s, lam, penalise_diagonal=True)
        for method, pure in METHODS:
            rng = stream(seed, "published", 3, "search", method, pure, d, factor, r, replicate)
            state = rng.bit_generator.state
            for epsilon in EPSILONS:
                rng.bit_generator.state = state
                distribution, mean = noise(method, float(epsilon), data.n, size, lam, pure)
                keys = {"data": member(d, factor, times), "r": r, "epsilon": epsilon, "method": method}
                keys["model"] = "3-table-1" if pure else "3-table-2"
                try:
                    noisy = s + distribution.draw(rng) + mean * np.eye(size)
                    theta = solve(noisy, lam, penalise_diagonal=True).precision
                except Infeasible:
                    theta = None
                if theta is None:
                    numbers.append(Number(keys, "relative", math.nan, NO_SOLUTION))
                    continue
                error = matrix_norm(theta - base, "frobenius") / matrix_norm(base, "frobenius")
                numbers.append(Number(keys, "relative", error))
    return numbers


TABLES = (
    Table(
        "3-search", 3, "Tables 1 and 2, search", "The synthetic cells for other n, d and lambda",
        "relative error to the estimate without noise",
        tuple(
            Point(f"d = {d}, n = {factor} r d, r = {r}", partial(search, d, factor, r))
            for d in DS for factor in FACTORS for r in RATIOS
        ),
        replicates=20, small=(3, 0), trivial=1.0,
    ),
)  # fmt: skip


def _search(key: str, folder: Path) -> Found | None:
    """Return the synthetic cells of a table under the one member that gives most of them."""
    rows = stored("3-search", folder)
    rows = rows[rows["model"] == key]
    if rows.empty:
        return None
    printed = next(table for table in wang2018.TABLES if table.key == key)
    members = {
        name: with_ours(printed, group.assign(model="", data="synthetic"), folder)
        for name, group in rows.groupby("data", sort=False)
    }
    solved_all = {name: cells for name, cells in members.items() if cells["ours"].notna().all()}
    best = max(members, key=lambda name: (met(members[name]), members[name]["ours"].notna().mean()))
    method = "Laplace" if key == "3-table-1" else "Gaussian"
    near = [name for name, cells in members.items() if met(cells[cells["method"] == method]) > 0]
    sentence = (
        f"The best of {len(members)} members is {best}. All cells have a solution in {len(solved_all)} of them, and "
        f"one {method} cell or more comes out in {len(near)}."
    )
    return Found(members[best], {}, sentence)


READINGS = (
    Reading(
        "3-search", ("3-table-1", "3-table-2"),
        f"n = k r d, lambda = c sqrt(log d / n) mean variances; d of {', '.join(DS)}, k of {', '.join(FACTORS)}, c of "
        f"{', '.join(PENALTIES)}, one of each for the table; the synthetic cells with Wishart noise and with Laplace "
        "(Table 1) or Gaussian noise (Table 2).",
        SEARCHED, 0, ("3-search",), _search,
    ),
)  # fmt: skip
