"""Wang et al. 2018 (paper 3): tables of the graphical lasso on several noises, and their checks.

Errors are relative to the same without noise. Only slides exist, and they print neither n, d, lambda, delta, the norm
nor the solver. What is set here is in `CHOICES`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, PureDP
from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.mechanisms import sulq_scale
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.measurements.noise import NoiseDistribution
from privcov.metrics.errors import matrix_norm
from privcov.metrics.graphs import solve_precision
from privcov.postprocess.admm import published_admm
from privcov.postprocess.feasibility import Infeasible
from privcov.postprocess.glasso import solve
from privcov.studies.cells import Entry, build_entry
from privcov.studies.plan import Plan
from privcov.tables.dataset import Dataset
from replication.base import Number, Point, Table
from replication.checks import NOT_COMPUTED, Check, cells, check, literal, slope

GENES = 234  # columns of the Colon set
D, RATIOS, EPSILONS = 50, ("0.5", "1.0", "1.5"), ("0.5", "1.0", "1.5")
STOP = 2000
REAL = {"colon": {"d": GENES}, "parkinsons": {}}  # source -> its parameters
ROWS = {"colon": 62, "parkinsons": 195}
PURE, APPROX = ("Wishart", "Output", "Laplace"), ("Wishart", "SQLU", "Gaussian")
NO_SOLUTION = "The noisy matrix is indefinite and this lambda has no solution."


def draw(r: str, seed: int, replicate: int) -> Dataset:
    """Return rows of the synthetic set at r, or of a real one, divided by their largest norm."""
    if r in REAL:
        data = make_dataset(SOURCES.get(r).cls(**REAL[r]), seed=seed)
    else:
        data = make_dataset(SOURCES.get("sparse-inverse").cls(r=float(r), d=D), seed=seed, repeat=replicate)
    return data.with_row_bound(float(row_norms(data).max()))


def noise(method: str, epsilon: float, n: int, d: int, lam: float, pure: bool) -> tuple[NoiseDistribution, float]:
    """Return the printed noise in unit-ball units, and the mean that the paper leaves in."""
    delta = 1 / n
    if method == "Laplace":
        return NoiseDistribution("laplace", 2 * d / (n * epsilon), d), 0.0
    if method == "SQLU":
        return NoiseDistribution("upper-triangle", sulq_scale(ApproxDP(epsilon, delta), d) / n, d), 0.0
    if method == "Gaussian":
        return NoiseDistribution("upper-triangle", accounting.classical_gaussian_scale(epsilon, delta, 1.0) / n, d), 0.0
    degrees, c = d + 1, 3 / (2 * n * epsilon)
    if method == "Output":
        c = d**2.5 / (n * epsilon * lam**2)
    elif not pure:
        degrees, c = d + 14 * math.log(4 / delta) / epsilon**2, 1 / n
    distribution = NoiseDistribution("wishart", 2 * c, d, freedom=degrees - d + 1)
    return distribution, distribution.removed_mean


def penalty(s: np.ndarray, n: int) -> float:
    """Return lambda: sqrt(log d / n) times the mean variance of the noiseless matrix, with noise and without."""
    return math.sqrt(math.log(len(s)) / n) * float(np.trace(s)) / len(s)


def _cell(r: str, epsilon: str, method: str) -> dict[str, str]:
    where = {"data": r} if r in REAL else {"data": "synthetic", "r": r}
    return where | {"epsilon": epsilon, "method": method}


def lasso(methods: tuple[str, ...], r: str, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate of one data set: every method and epsilon, the stated problem solved to a certified gap."""
    data = draw(r, seed, replicate)
    s, pure = clipped_moment(data, n_anchors=0), methods == PURE
    n, d = data.n, data.d
    lam = penalty(s, n)
    base = solve_precision(s, lam, penalise_diagonal=True)
    numbers = []
    for method in methods:
        rng = stream(seed, "published", 3, method, pure, r, replicate)
        state = rng.bit_generator.state
        for epsilon in EPSILONS:
            rng.bit_generator.state = state  # the same unit draw at every epsilon
            distribution, mean = noise(method, float(epsilon), n, d, lam, pure)
            add = distribution.draw(rng) + mean * np.eye(d)
            keys = _cell(r, epsilon, method)
            try:
                theta = base + add if method == "Output" else solve(s + add, lam, penalise_diagonal=True).precision
            except Infeasible:
                numbers.append(Number(keys, "relative", math.nan, NO_SOLUTION))
                continue
            if theta is None:
                numbers.append(Number(keys, "relative", math.nan, "The solver did not converge."))
                continue
            error = matrix_norm(theta - base, "frobenius") / matrix_norm(base, "frobenius")
            numbers.append(Number(keys, "relative", error))
    return numbers


def stopped(r: str, seed: int, replicate: int) -> list[Number]:
    """Compute the same with Laplace and Gaussian noise by the loop of Su et al. 2019, `STOP` iterations, rho = 100."""
    data = draw(r, seed, replicate)
    s, n, d = clipped_moment(data, n_anchors=0), data.n, data.d
    lam = penalty(s, n)
    base = published_admm(s, lam, iterations=STOP).precision
    numbers = []
    for method in ("Laplace", "Gaussian"):
        rng = stream(seed, "published", 3, method, method == "Laplace", r, replicate)
        state = rng.bit_generator.state
        for epsilon in EPSILONS:
            rng.bit_generator.state = state
            distribution, _ = noise(method, float(epsilon), n, d, lam, method == "Laplace")
            theta = published_admm(s + distribution.draw(rng), lam, iterations=STOP).precision
            error = matrix_norm(theta - base, "frobenius") / matrix_norm(base, "frobenius")
            numbers.append(Number(_cell(r, epsilon, method), "relative", error))
    return numbers


# The printed method -> the registered one with which it is compared in its sound form.
SOUND = {
    "Laplace": "glasso-laplace", "Output": "output-perturbation", "Gaussian": "glasso-gaussian",
}  # fmt: skip
SOUND_WISHART = {True: "auto-precision", False: "glasso-wishart-approx"}


def _sound(methods: tuple[str, ...]) -> dict[str, tuple[Entry, str]]:
    """Return (entry of a plan, printed method) by the entry's label; lambda comes from the release by one rule."""
    keys = {m: SOUND_WISHART[methods == PURE] if m == "Wishart" else SOUND.get(m) for m in methods}
    entries: list[tuple[Entry, str]] = [
        ((key, {"rule": "ebic"}) if key == "auto-precision" else key, method) for method, key in keys.items() if key
    ]
    return {build_entry(entry)[0]: (entry, method) for entry, method in entries}


def _plan(methods: tuple[str, ...], r: str, replicates: int, seed: int) -> Plan:
    n = ROWS[r] if r in REAL else max(1, round(float(r) * D))
    levels = [PureDP(float(e)) if methods == PURE else ApproxDP(float(e), 1 / n) for e in EPSILONS]
    return Plan(
        source=r if r in REAL else "sparse-inverse",
        source_params=REAL[r] if r in REAL else {"r": float(r), "d": D},
        methods=[entry for entry, _ in _sound(methods).values()],
        guarantees=levels,
        metrics=["relative-frobenius-to-nonprivate"],
        replicates=replicates,
        seed=seed,
    )


def _read(methods: tuple[str, ...], r: str, row: Mapping) -> tuple[dict, str]:
    epsilon = next(e for e in EPSILONS if float(e) == row["epsilon"])
    return _cell(r, epsilon, _sound(methods)[row["method"]][1]), "relative"


def _points(methods: tuple[str, ...]) -> tuple[Point, ...]:
    return tuple(
        Point(
            f"r = {r}" if r in RATIOS else r, partial(lasso, methods, r), partial(_plan, methods, r),
            partial(_read, methods, r), small=(3, 2) if r == "colon" else None,
        )
        for r in (*RATIOS, *REAL)
    )  # fmt: skip


CHOICES = (
    f"n = r d with d = {D}: a guess, because the printed Laplace errors halve when r doubles.",
    "Rows are divided by their largest norm, which no guarantee covers. delta = 1/n.",
    "lambda = sqrt(log d / n) times the mean variance without noise, the same with noise and without; the Frobenius "
    "norm; the stated problem solved to a certified gap. A lambda without a solution gives no number.",
    "The law of the synthetic matrix is not printed: two neighbours per variable, entries uniform on +-[1/2, 1].",
    "Sound: the same noise family with its sound calibration, the mean of Wishart noise subtracted, a repaired "
    "spectrum and lambda from the release; for Wishart noise under pure DP, which has no sound form, the difference of "
    "two Wishart matrices; compared with the same method without noise.",
    f"Colon: the first {GENES} of 2,000 genes, as log10. The slides say neither how many nor which; 62/{GENES} is the "
    "r at which the printed Laplace errors of the synthetic sets would be those of Colon. With 118 genes, tried too, "
    "the errors under pure DP with Wishart noise came within Monte-Carlo error of the printed ones.",
)


def _table(number: int, title: str, methods: tuple[str, ...]) -> Table:
    return Table(
        f"3-table-{number}", 3, f"Table {number}", title, "relative error to the estimate without noise",
        _points(methods), CHOICES, (), f"paper3_table{number}.csv", 20, (10, 5), needs="colon and parkinsons",
        rows=("epsilon", "method"), columns=("data", "r"), trivial=1.0,
    )  # fmt: skip


TABLES = (
    _table(1, "Graphical lasso under pure DP", PURE),
    _table(2, "Graphical lasso under approximate DP", APPROX),
    Table(
        "3-stopped", 3, "stopped loop", "The same cells by a loop that is stopped",
        "relative error to the same loop without noise",
        tuple(Point(f"r = {r}", partial(stopped, r)) for r in RATIOS), small=(5, 0),
    ),
)  # fmt: skip

MORE = ("5", "20", "80", "200")  # r beyond the slides', of sound errors alone
NEEDED = Table(
    "3-needed", 3, "Tables 1 and 2, more rows", f"Sound errors at n = {MORE[0]} d to {MORE[-1]} d",
    "relative error to the estimate without noise",
    tuple(
        Point(f"Table {number}, r = {r}", None, partial(_plan, methods, r), partial(_read, methods, r))
        for number, methods in ((1, PURE), (2, APPROX))
        for r in MORE
    ),
    replicates=20, small=(0, 5), trivial=1.0,
)  # fmt: skip

# --- checks ----------------------------------------------------------------------------------------------------

BOTH = ("3-table-1", "3-table-2")


def _synthetic(table: str, method: str, folder: Path) -> pd.DataFrame:
    rows = cells(TABLES, table, folder=folder)
    rows = rows[(rows["data"] == "synthetic") & (rows["method"] == method)].copy()
    for name in ("r", "epsilon"):
        rows[name] = rows[name].astype(float)
    return rows


@check("3-laplace-scale", "Are error x r and error x epsilon constant?", "3-table-1")
def laplace_scale(folder: Path) -> Check:
    """Check that error * r * epsilon is constant, as with noise of scale 2d/(n epsilon) and n = r d."""
    table = _synthetic("3-table-1", "Laplace", folder)
    product = table["value"] * table["r"] * table["epsilon"]
    numbers = {"smallest": float(product.min()), "largest": float(product.max())}
    holds = numbers["largest"] / numbers["smallest"] < 1.15
    verdict = (
        f"error x r x epsilon lies between {numbers['smallest']:.1f} and {numbers['largest']:.1f} in all nine cells"
        + (": the error is proportional to the noise and r to n." if holds else ".")
    )
    return Check(holds, verdict, numbers, "r is not explained; it behaves like the number of rows")


@check("3-colon-genes", "Are Colon's errors those of far fewer than 2,000 genes?", "3-table-1")
def colon_genes(folder: Path) -> Check:
    """Derive Colon's d: error * epsilon over that of the synthetic sets times r is n/d, and n is 62."""
    synthetic = _synthetic("3-table-1", "Laplace", folder)
    constant = float(np.mean(synthetic["value"] * synthetic["r"] * synthetic["epsilon"]))
    colon = cells(TABLES, "3-table-1", folder=folder)
    colon = colon[(colon["data"] == "colon") & (colon["method"] == "Laplace")]
    product = colon["value"] * colon["epsilon"].astype(float)
    genes = 62 * float(product.mean()) / constant
    numbers = {"smallest product": float(product.min()), "largest product": float(product.max()), "genes": genes}
    holds = numbers["largest product"] / numbers["smallest product"] < 1.15 and genes < 1000
    verdict = (
        f"error x epsilon lies between {numbers['smallest product']:.1f} and {numbers['largest product']:.1f}, so the "
        f"errors follow the noise; if r is n/d as in the synthetic sets, they are those of {genes:.0f} genes of 2,000."
    )
    return Check(
        holds, verdict, numbers, "the Colon errors are those of far fewer genes than the set has, and which is not said"
    )


@check("3-no-solution", "Is there a solution behind the printed Laplace errors?", *BOTH)
def no_solution(folder: Path) -> Check:
    """Check that Laplace noise leaves nothing to solve, and that a stopped loop gives the printed shape."""
    rows = literal("3-table-1", folder)
    rows = rows[(rows["method"] == "Laplace") & (rows["data"] == "synthetic")]
    if rows.empty:
        return Check(None, NOT_COMPUTED, {})
    tried = int((rows["replicates"] + rows["failed"]).sum())
    numbers: dict[str, float] = {"runs": tried, "without a solution": int(rows["failed"].sum())}
    loop = literal("3-stopped", folder)
    loop = loop[loop["method"] == "Laplace"]
    sentence = ""
    if len(loop):
        product = loop["value"] * loop["r"].astype(float) * loop["epsilon"].astype(float)
        numbers |= {"loop, smallest product": float(product.min()), "loop, largest product": float(product.max())}
        sentence = (
            " The loop of Su et al. 2019, stopped after 2,000 iterations, gives numbers all the same, with error x r "
            f"x epsilon between {product.min():.1f} and {product.max():.1f}."
        )
    fraction = numbers["without a solution"] / tried
    verdict = (
        f"With our lambda {100 * fraction:.0f} % of {tried} runs have no solution, because the noisy matrix is "
        f"indefinite.{sentence}"
    )
    return Check(
        fraction > 0.5, verdict, numbers,
        "with this noise the lasso has no solution, and a number is where some loop stood",
    )  # fmt: skip


@check("3-wishart-zero", "Does Wishart noise just return zero?", *BOTH)
def wishart_zero(folder: Path) -> Check:
    """Check whether the relative errors are near 1, which is that of the zero matrix."""
    table = cells(TABLES, *BOTH, folder=folder)
    table = table[(table["data"] == "synthetic") & (table["method"] == "Wishart")]
    numbers = {"smallest printed": float(table["value"].min()), "largest printed": float(table["value"].max())}
    ours = table.dropna(subset=["ours"])
    sentence = ""
    if len(ours):
        numbers |= {"smallest of ours": float(ours["ours"].min()), "largest of ours": float(ours["ours"].max())}
        sentence = f" Ours lie between {numbers['smallest of ours']:.3f} and {numbers['largest of ours']:.3f}."
    holds = numbers["smallest printed"] > 0.95 and numbers["largest printed"] < 1.05
    verdict = (
        f"All {len(table)} printed errors lie between {numbers['smallest printed']:.4f} and "
        f"{numbers['largest printed']:.4f}; the zero matrix has 1. The mean of the noise stays on the diagonal and "
        f"drives the answer to zero.{sentence}"
    )
    return Check(holds, verdict, numbers, "with Wishart noise the answer is nearly the zero matrix")


@check("3-gaussian-flat", "Do the Gaussian errors follow the noise?", "3-table-2")
def gaussian_flat(folder: Path) -> Check:
    """Check whether the error hardly moves with three times less noise, and grows with r."""
    table = _synthetic("3-table-2", "Gaussian", folder)
    numbers = {"slope in epsilon": _mean_slope(table, "epsilon", "r"), "slope in r": _mean_slope(table, "r", "epsilon")}
    ours = table.dropna(subset=["ours"])
    sentence = ""
    if len(ours) == len(table):
        numbers["slope in epsilon, ours"] = _mean_slope(table, "epsilon", "r", "ours")
        sentence = f" Ours has slope {numbers['slope in epsilon, ours']:.2f} in epsilon."
    holds = abs(numbers["slope in epsilon"]) < 0.2 and numbers["slope in r"] > 0.1
    verdict = (
        f"The printed error moves with epsilon to the power {numbers['slope in epsilon']:.2f} and with r to the power "
        f"{numbers['slope in r']:+.2f}; noise alone would give -1 and -1.{sentence}"
    )
    return Check(holds, verdict, numbers, "the Gaussian errors do not follow the noise and grow with r")


def _mean_slope(table: pd.DataFrame, along: str, by: str, value: str = "value") -> float:
    return float(np.mean([slope(group[along], group[value]) for _, group in table.groupby(by)]))


CHECKS = (laplace_scale, colon_genes, no_solution, wishart_zero, gaussian_flat)
