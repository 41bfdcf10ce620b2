"""Mathematics 2023 (paper 4): what its numbers may be instead: any one threshold, and leaks in the classification.

The printed noise is kept and the threshold runs over a grid, from which every reading of it is interpolated. Table 7 is
computed for every scale of the counts with the test rows nowhere, inside the t test, the class means, or both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator
from scipy.optimize import minimize

from privcov.postprocess.spectrum import clip_psd
from privcov.tables.dataset import Dataset
from replication.base import Number, Point, Table, join_printed, recompute, stored, truth_of
from replication.checks import NOT_COMPUTED, Check, check
from replication.mdpi2023 import tables
from replication.mdpi2023.checks import trivial
from replication.mdpi2023.tables import FACTORS, METHODS, TESTED_MEANS, TESTED_T_TEST, XI
from replication.readings import FITTED, SEARCHED, STATED, Found, Reading, distance, met, with_ours
from replication.sources.microbiome import LOG, SHARES

CENTRAL, LOCAL = ("modified-dp", "dp"), ("modified-ldp", "ldp")
# Central thresholds in units of sqrt(log p / n), local ones in deviations of the noise.
CUTS = (0.8, 1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0, 10.0, 13.0)
CUT = "cut "
RAW, SHARES_LOG = "counts", "log10 of shares"
SCALES = (LOG, RAW, SHARES, SHARES_LOG)
LEAST = 1e-4  # a share below one count of ten thousand reads
LEAKS = ((), (TESTED_T_TEST,), (TESTED_MEANS,), (TESTED_T_TEST, TESTED_MEANS))


def strength(epsilon: float, delta: float) -> float:
    """Return L = sqrt(2 ln(1.25 / delta)) / epsilon, which the noise of every estimator is proportional to."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def cuts(
    model: str, law: str, d: str, n: str, levels: tuple[tuple[str, str], ...], seed: int, replicate: int
) -> list[Number]:
    """Compute one replicate of one setting with every threshold of the grid; rows and noise are those of the tables."""
    data, moment, scale = tables.draw(model, law, d, n, seed, replicate)
    numbers = []
    for method in METHODS if law == "normal" else CENTRAL:
        unit = tables.unit_noise(method, data, seed, replicate)
        for epsilon, delta in levels:
            added, _ = tables.printed_scales(method, float(epsilon), float(Fraction(delta)), data.n)
            noisy = moment + added * unit
            one = math.sqrt(math.log(data.d) / data.n) if method in CENTRAL else added
            for factor in CUTS if method in CENTRAL else FACTORS:
                answer = clip_psd(np.where(np.abs(noisy) > factor * one, noisy, 0.0))
                keys = tables.cell_keys(model, law, d, n, epsilon, delta, method) | {"data": f"{CUT}{factor:g}"}
                numbers += tables.errors_of(keys, answer, truth_of(data).covariance, scale if law == "t5" else None)
    return numbers


def leaked(p: str, scale: str, seed: int, replicate: int) -> list[Number]:
    """Compute one split of Table 7 on one scale of the counts, with every leak."""
    train, tested, labels = tables.split(seed, replicate, SHARES if scale in (SHARES, SHARES_LOG) else LOG)
    change: Callable[[np.ndarray], np.ndarray] = {
        RAW: lambda rows: 10.0**rows - 1,
        SHARES_LOG: lambda rows: np.log10(rows + LEAST),
    }.get(scale, lambda rows: rows)
    train = Dataset.from_rows(
        change(np.asarray(train.rows)), labels=np.asarray(train.labels), row_bound=train.row_bound, name=train.name
    )
    numbers = []
    for leaks in LEAKS:
        wrong = tables.classified(p, train, change(tested), labels, seed, replicate, leaks)
        for method, value in wrong.items():
            keys = tables.class_keys(p, method) | {"data": reading_of(scale, leaks)}
            numbers.append(Number(keys, tables.WRONG, value))
    return numbers


def reading_of(scale: str, leaks: tuple[str, ...]) -> str:
    """Return the words under which a way of computing Table 7 is stored."""
    return f"{scale}; test rows in {' and '.join(leaks) if leaks else 'nothing'}"


def _points(law: str) -> tuple[Point, ...]:
    return tuple(
        Point(f"Table {number + (law == 't5')}, model {model}, p = {d}, n = {n}",
              partial(cuts, model, law, d, n, levels))
        for number, settings in tables.SETTINGS.items()
        for model, d, n, levels in settings
    )  # fmt: skip


TABLES = (
    Table(
        "4-cuts", 4, "Tables 1, 3 and 5, any threshold", "The printed noise with every threshold, normal rows",
        "absolute error", _points("normal"), small=(50, 0),
    ),
    Table(
        "4-cuts-t5", 4, "Tables 2, 4 and 6, any threshold", "The printed central noise with every threshold, t_5 rows",
        "absolute error", _points("t5"), small=(50, 0),
    ),
    Table(
        "4-leaks", 4, "Table 7, leaks", "Scales of the counts, and test rows among the training rows",
        "mean of 20 test persons",
        tuple(Point(f"p = {p}, {scale}", partial(leaked, p, scale)) for p in ("25", "40") for scale in SCALES),
        replicates=20, small=(20, 0), needs="microbiome",
    ),
)  # fmt: skip


# --- the readings ---------------------------------------------------------------------------------------------

NORMAL, HEAVY = ("4-table-1", "4-table-3", "4-table-5"), ("4-table-2", "4-table-4", "4-table-6")
LEVEL = ("model", "law", "n", "d", "epsilon", "delta", "method", "metric")
FINE = np.geomspace(CUTS[0], CUTS[-1], 400)
STARTS = (0.5, 1.0, 2.0, 3.0)  # times the constants at which a search starts
FITTED_FROM = 0.4  # the smallest epsilon whose cells are fitted
# What the cut over sqrt(log p / n) is, as a function of L, and where the search for its constants starts.
LAWS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], tuple[float, ...]]] = {
    "constant": (lambda x, L: x[0] + 0 * L, (3.0,)),
    "root": (lambda x, L: x[0] * np.sqrt(L), (1.2,)),
    "line": (lambda x, L: x[0] + x[1] * L, (2.0, 0.2)),
}


@lru_cache(maxsize=8)
def _grids(path: Path, stamp: int) -> dict[tuple, tuple]:
    """Return thresholds, errors and deviations in ascending order, and the replicates, of every stored cell."""
    rows = stored(path.stem, path.parent)
    rows = rows[rows["metric"].isin(tables.NORMS)]
    rows = rows.assign(cut=rows["data"].str.removeprefix(CUT).astype(float)).sort_values("cut", ignore_index=True)
    columns = [rows[name].to_numpy() for name in ("cut", "value", "sd")]
    many = rows["replicates"].to_numpy()
    places = rows.groupby(list(LEVEL)).indices
    return {name: (*(column[at] for column in columns), int(many[at].min())) for name, at in places.items()}


def thresholds(key: str, folder: Path) -> pd.DataFrame:
    """Return the printed cells that have a stored grid (thresholds, errors, deviations, replicates), with their L."""
    cells = join_printed(_printed(key), folder)
    path = folder / f"{'4-cuts' if key in NORMAL else '4-cuts-t5'}.csv"
    grids = _grids(path, path.stat().st_mtime_ns) if path.exists() else {}
    names = [tuple(row) for row in cells[list(LEVEL)].to_numpy()]
    cells["grid"] = [grids.get(name) for name in names]
    cells = cells[cells["grid"].notna()].reset_index(drop=True)
    cells["L"] = [strength(float(e), float(Fraction(d))) for e, d in zip(cells["epsilon"], cells["delta"], strict=True)]
    return cells


def _printed(key: str) -> Table:
    return next(table for table in tables.TABLES if table.key == key)


def at_cuts(cells: pd.DataFrame, cuts_of: np.ndarray) -> pd.DataFrame:
    """Return the cells with ours read off their grids at these cuts, interpolated in logarithms of the error."""
    ours, errors = [], []
    for (factors, values, sds, replicates), cut in zip(cells["grid"], cuts_of, strict=True):
        ours.append(float(np.exp(PchipInterpolator(factors, np.log(values))(np.clip(cut, factors[0], factors[-1])))))
        errors.append(float(np.interp(cut, factors, sds)) / math.sqrt(replicates))
    replicates = [grid[3] for grid in cells["grid"]]
    return recompute(cells.assign(ours=ours, ours_se=errors, ours_replicates=replicates))


def fitted(cells: pd.DataFrame, law: str) -> np.ndarray:
    """Return the constants of a law with which the cells of one estimator are nearest to the print."""
    of, start = LAWS[law]
    fine = [PchipInterpolator(grid[0], np.log(grid[1]))(FINE) for grid in cells["grid"]]
    goals, levels = np.log(cells["value"].to_numpy()), cells["L"].to_numpy()

    def off(x: np.ndarray) -> float:
        at = np.log(np.clip(of(x, levels), FINE[0], FINE[-1]))
        ours = [np.interp(cut, np.log(FINE), curve) for cut, curve in zip(at, fine, strict=True)]
        return float(np.abs(np.array(ours) - goals).mean())

    # An error has a least value at some cut, so that a cut on either side of it may fit: several starts.
    settings = {"xatol": 1e-4, "fatol": 1e-6}
    fits = [minimize(off, times * np.array(start), method="Nelder-Mead", options=settings) for times in STARTS]
    return np.asarray(min(fits, key=lambda fit: fit.fun).x)


def _threshold(law: str, key: str, folder: Path) -> Found | None:
    """Fit a law of the cut to the central normal cells of three tables, and return one table's cells under it."""
    whole = pd.concat([thresholds(k, folder).assign(table=k) for k in NORMAL], ignore_index=True)
    return _found(whole[whole["method"].isin(CENTRAL)], whole["epsilon"].astype(float) >= FITTED_FROM, law, key)


def _stated(key: str, folder: Path) -> Found | None:
    """Return the modified central cells under the threshold of the theorem: XI sqrt(log p / n) + 4 s sqrt(log p)."""
    cells = thresholds(key, folder)
    cells = cells[cells["method"] == "modified-dp"].reset_index(drop=True)
    if cells.empty:
        return None
    n = cells["n"].astype(float).to_numpy()
    found = at_cuts(cells, XI + 4 * math.sqrt(2) * cells["L"].to_numpy() / np.sqrt(n))
    zero = [trivial(r.model, "normal", r.d, r.metric) for r in found.itertuples()]
    empty = int((found["ours"] > 0.99 * np.array(zero)).sum())
    return Found(found, {}, f"The answer is the zero matrix, or nearly, in {empty} of {len(found)} cells.")


def _heavy(key: str, folder: Path) -> Found | None:
    """Fit one constant per estimator to Model 1 of Table 2, against 5/3 Sigma; return one table's cells of Model 1."""
    whole = pd.concat([thresholds(k, folder).assign(table=k) for k in HEAVY], ignore_index=True)
    whole = whole[whole["model"] == "1"]
    return _found(whole, whole["table"] == "4-table-2", "constant", key)


def _found(cells: pd.DataFrame, of_fit: pd.Series, law: str, key: str) -> Found | None:
    parts: list[pd.DataFrame] = []
    constants: dict[str, float] = {}
    for method, group in cells.groupby("method", sort=False):
        x = fitted(group[of_fit.loc[group.index]], law)
        constants |= {f"{method}, {name}": float(value) for name, value in zip("ab", x, strict=False)}
        mine = group[group["table"] == key].reset_index(drop=True)
        parts.append(at_cuts(mine, LAWS[law][0](x, mine["L"].to_numpy())))
    return Found(pd.concat(parts, ignore_index=True), constants) if parts else None


def _any(key: str, folder: Path) -> Found | None:
    """Choose for each printed pair (spectral, Frobenius) the one threshold that is nearest to both."""
    cells = thresholds(key, folder)
    parts = []
    for _, pair in cells.groupby([name for name in LEVEL if name != "metric"], sort=False):
        grid = pair["grid"].iloc[0][0]
        tried = np.linspace(grid[0], grid[-1], 400)
        curves = [PchipInterpolator(g[0], np.log(g[1]))(tried) for g in pair["grid"]]
        off = np.max([np.abs(c - math.log(v)) for c, v in zip(curves, pair["value"], strict=True)], axis=0)
        parts.append(at_cuts(pair, np.repeat(tried[int(np.argmin(off))], len(pair))))
    if not parts:
        return None
    together = pd.concat(parts).sort_index()
    return Found(together, {}, _below(cells))


def least(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the Frobenius cells with the least error of any threshold ("least")."""
    part = cells[cells["metric"] == "frobenius"].copy()
    part["least"] = [float(np.exp(PchipInterpolator(g[0], np.log(g[1]))(np.linspace(g[0][0], g[0][-1], 400)).min()))
                     for g in part["grid"]]  # fmt: skip
    return part


BELOW = 0.97  # clearly below the least error of any threshold


def _below(cells: pd.DataFrame) -> str:
    part = least(cells)
    phrases = []
    for method, group in part.groupby("method", sort=False):
        low = int((group["value"] < BELOW * group["least"]).sum())
        if low:
            phrases.append(f"{low} of {len(group)} of {method}")
    if not phrases:
        return ""
    return (
        f"Printed Frobenius errors more than {100 * (1 - BELOW):.0f} % below the least error of any threshold: "
        f"{', '.join(phrases)}."
    )


def _leaks(key: str, folder: Path) -> Found | None:
    """Return Table 7 under the scale and the leak that give most of its cells."""
    rows = stored("4-leaks", folder)
    if rows.empty:
        return None
    members = {}
    for name, group in rows[rows["method"] != "no noise"].groupby("data", sort=False):
        members[name] = with_ours(_printed(key), group.assign(data="microbiome"), folder)
    best = max(members, key=lambda name: (met(members[name]), -distance(members[name])))
    lowest = rows[rows["method"].isin(("modified-dp", "no noise"))].sort_values("value").iloc[0]
    printed = members[best]["value"].min()
    sentence = (
        f"The best of {len(members)} ways is {best}. The fewest errors of modified-dp or of the rule without noise in "
        f"any of them are {lowest['value']:.2f} of 20 ({lowest['method']}, p = {lowest['d']}, {lowest['data']}); the "
        f"fewest printed are {printed:.2f}."
    )
    return Found(members[best], {}, sentence)


@check("4-any-threshold", "Does any single threshold of the printed noise give the local errors?", *NORMAL)
def any_threshold(folder: Path) -> Check:
    """Compare the printed local errors with the least error of any one threshold, and both norms with each other."""
    whole = pd.concat([thresholds(key, folder).assign(table=key) for key in NORMAL], ignore_index=True)
    local = whole[whole["method"].isin(LOCAL)]
    if local.empty:
        return Check(None, NOT_COMPUTED, {})
    numbers: dict[str, float] = {}
    lowest = least(local)
    for method, group in lowest.groupby("method", sort=False):
        numbers[f"{method}, cells"] = float(len(group))
        numbers[f"{method}, below every threshold"] = float((group["value"] < BELOW * group["least"]).sum())
    pairs = local.pivot_table(index=[name for name in ("table", *LEVEL) if name != "metric"], columns="metric",
                              values="value")  # fmt: skip
    printed = (pairs["frobenius"] / pairs["spectral"]) ** 2
    grids = local.set_index(["table", *LEVEL])["grid"].unstack("metric").loc[printed.index]
    given = [(f[1] / s[1]) ** 2 for f, s in zip(grids["frobenius"], grids["spectral"], strict=True)]
    apart = int(sum(ratio < BELOW * one.min() for ratio, one in zip(printed, given, strict=True)))
    numbers |= {"pairs": float(len(printed)), "pairs with a ratio below every threshold's": float(apart)}
    counts = " and ".join(
        f"{numbers[f'{name}, below every threshold']:.0f} of {numbers[f'{name}, cells']:.0f} {name}" for name in LOCAL
    )
    verdict = (
        f"With normal rows {counts} Frobenius errors are more than {100 * (1 - BELOW):.0f} % below the least that any "
        f"threshold gives at the printed noise. The square of Frobenius over spectral error, printed from "
        f"{printed.min():.1f} to {printed.max():.1f}, is below that of every threshold in {apart} of {len(printed)} "
        "pairs."
    )
    below = sum(numbers[f"{name}, below every threshold"] for name in LOCAL)
    return Check(below > len(lowest) / 2, verdict, numbers, "no threshold of the printed noise gives the local errors")


CHECKS = (any_threshold,)
_UNITS = (
    "tau = {} sqrt(log p / n), L = sqrt(2 ln(1.25/delta)) / epsilon, one fit per estimator to normal rows at epsilon "
    "0.4 and more of Tables 1, 3 and 5; the printed noise."
)
READINGS = (
    Reading(
        "4-eta", NORMAL,
        f"tau as in the theorem with its smallest eta, 2, and the moments of normal entries: {XI:.2f} sqrt(log p / n) "
        "+ 4 deviations of the noise times sqrt(log p). The modified central estimator only.",
        STATED, 0, ("4-cuts",), _stated,
    ),
    Reading("4-constant", NORMAL, _UNITS.format("a"), FITTED, 2, ("4-cuts",), partial(_threshold, "constant")),
    Reading("4-root", NORMAL, _UNITS.format("a sqrt(L)"), FITTED, 2, ("4-cuts",), partial(_threshold, "root")),
    Reading("4-line", NORMAL, _UNITS.format("(a + b L)"), FITTED, 4, ("4-cuts",), partial(_threshold, "line")),
    Reading(
        "4-constant-t5", ("4-table-2", "4-table-6"),
        "tau = a sqrt(log p / n), one fit per estimator to Model 1 of Table 2, errors against 5/3 Sigma, the "
        "covariance of the rows; the printed noise. Model 1 only.",
        FITTED, 2, ("4-cuts-t5",), _heavy,
    ),
    Reading(
        "4-any-threshold", NORMAL + HEAVY,
        "Any threshold, another one for every pair of printed errors; the printed noise. Errors against the "
        "covariance.",
        SEARCHED, 0, ("4-cuts", "4-cuts-t5"), _any,
    ),
    Reading(
        "4-leaks", ("4-table-7",),
        "Counts as logarithms, as they are, as shares or as logarithms of shares; the test rows in nothing, in the t "
        "test, in the class means, or in both.",
        SEARCHED, 0, ("4-leaks",), _leaks,
    ),
)  # fmt: skip
