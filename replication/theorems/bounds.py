"""The papers' error bounds against simulation: error over bound on a small grid.

A bound with constants must hold in all but a share beta of the draws. A bound O(...) holds where error over bound does
not grow along any axis of the grid: where it grows, no constant is large enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privcov.core.randomness import stream
from replication.base import LITERAL, REPRODUCED, Number, Point, Table, stored
from replication.checks import slope
from replication.theorems import draws
from replication.theorems.draws import BETA, Setting

GROWS = 0.15  # power along an axis from which error over bound is said to grow
LOOSE = -0.25  # and below which the bound is said to be loose along it
ALWAYS, RATE, VANISHES = "in all but a share of the draws", "up to a constant", "tends to zero"


@dataclass(frozen=True)
class Bound:
    """One printed bound; its key is the number of the paper and the place.

    ``draw`` gives (error, bound without its constant) at a `Setting`, and ``along`` the values of its fields. ``rule``
    is `ALWAYS`, `RATE` or `VANISHES`: the error itself falls to zero along n. ``note`` says what was set that the
    theorem leaves open.
    """

    key: str
    printed: str
    draw: Callable[[Setting, np.random.Generator], tuple[float, float]]
    along: Mapping[str, tuple[Any, ...]]
    rule: str = RATE
    base: Setting = field(default_factory=Setting)
    note: str = ""

    @property
    def paper(self) -> int:
        """The number of the paper."""
        return int(self.key[0])


# --- the list -------------------------------------------------------------------------------------------------

_N = (10_000, 100_000, 1_000_000, 10_000_000)
_D, _E = (16, 32, 64, 128), (0.1, 0.3, 1.0)
_LOW = (0.001, 0.003, 0.01, 0.1, 1.0)
_SPARSE = Setting(n=10_000_000, d=64, s=3)
_RIDGE, _LASSO = Setting(n=10_000_000, d=10), Setting(n=10**9, d=16, s=2)
_SLIDES = Setting(n=1_000_000, d=16, delta=1e-6)
_LASSO_GRID = {"n": (10**7, 10**8, 10**9), "d": (8, 16, 32, 64), "s": (0, 2, 8, 16)}
_THEN = {"n": (1_000, 4_000, 16_000), "d": (16, 32, 64, 128)}


def _modified() -> list[Bound]:
    found = []
    for norm, part in (("spectral", "i"), ("frobenius", "ii")):
        power = "1" if part == "i" else "1/2, over sqrt(p)"
        found.append(
            Bound(
                f"4-theorem-1-{part}", f"central, {norm} norm: s to the {power} times (sqrt(log p / n) + "
                "sqrt(log(1/delta) log p) / (n epsilon)), for q = 0",
                partial(draws.modified, norm, ""), {"n": _N, "d": (16, 64, 256), "epsilon": _E}, base=Setting(d=32),
                note="Model 2, normal rows, eta = 2, moments of order 4.5.",
            )
        )  # fmt: skip
        for local, name in (("printed", ""), ("of the mean", "-mended")):
            found.append(
                Bound(
                    f"4-theorem-2-{part}{name}", f"local, {norm} norm: s to the {power} times "
                    "sqrt(log(1/delta) log p / (n epsilon^2)), for q = 0",
                    partial(draws.modified, norm, local), {"n": _N, "d": (16, 64, 256)}, base=Setting(d=32),
                    note="The threshold as printed, 4 sigma_2 sqrt(log p)." if not name else
                    "With 4 sigma_2 sqrt(log p / n), the deviation of the mean, in place of the printed threshold.",
                )
            )  # fmt: skip
    return found


BOUNDS = (
    Bound("1-equation-8", "||noisy - Sigma||_2 = O(sqrt(p log(1/delta)) / (n epsilon))", partial(draws.direct, False),
          {"n": _N, "d": _D, "epsilon": _LOW}, base=_SPARSE, note="Gaussian rows of trace 1/4."),
    Bound("1-equation-8-mended", "the same with the sampling error added, sqrt(||Sigma||_2 log p / n)",
          partial(draws.direct, True), {"n": _N, "d": _D, "epsilon": _LOW}, base=_SPARSE,
          note="The rate of the sample covariance of rows in the unit ball."),
    Bound("1-lemma-3", "|entry - sigma| <= 4 min(|sigma|, threshold), but with probability O(p^(-9/2)) each",
          draws.entries, {"n": _N, "d": _D}, ALWAYS, _SPARSE, "Covariances of half the threshold."),
    Bound("1-theorem-2", "E ||thresholded - Sigma||_2^2 = O(s log p log(1/delta) / (n epsilon^2))",
          partial(draws.thresholded, 1), {"n": _N, "epsilon": _E, "s": (1, 3, 7, 15, 31)}, base=_SPARSE,
          note="Covariances of half the threshold in blocks of s + 1 columns."),
    Bound("1-theorem-2-mended", "the same with s^2", partial(draws.thresholded, 2),
          {"n": _N, "epsilon": _E, "s": (1, 3, 7, 15, 31)}, base=_SPARSE, note="s squared in place of s."),
    Bound("1-better", "thresholding errs less than the noisy matrix itself, spectral norm", draws.improvement,
          {"n": (1_000, 10_000, 100_000), "d": (50, 100, 200)}, ALWAYS, Setting(n=10_000, d=100),
          "The generator of Figure 1, sparsity 0.2, gamma 0.5; the printed noise for rows that are not clipped."),
    Bound("2-inequality-4.6", "||noisy ridge - ridge||_F <= max(||.||_2^2) ||E||_F", draws.ridge_step,
          {"n": (1_000, *_N), "d": (5, 10, 20, 40)}, ALWAYS, _RIDGE),
    Bound("2-bound-4.7", "||noisy ridge - ridge||_F = O(p sqrt(log(1/delta)) max(||.||_2^2) / (epsilon n))",
          draws.ridge_rate, {"n": _N, "d": (5, 10, 20, 40), "epsilon": _E}, base=_RIDGE),
    Bound("2-theorem-4.1", "E ||noisy ridge - truth||_F^2 goes to 0 with n, where lambda does", draws.ridge_limit,
          {"n": (1_000, *_N)}, VANISHES, _RIDGE, "lambda goes to 0 like n^(-1/2)."),
    Bound("2-theorem-4.4",
          "||noisy lasso - truth||_F = O(p^2 sqrt(s log(1/delta)) / (epsilon n) + sqrt(s log p / n))",
          partial(draws.lasso_rate, False), _LASSO_GRID, base=_LASSO,
          note="s counts entries beside the diagonal, as printed; the printed lambda with constant 1."),
    Bound("2-theorem-4.4-mended", "the same with s + p in place of s", partial(draws.lasso_rate, True), _LASSO_GRID,
          base=_LASSO, note="The diagonal is counted too, as in Rothman et al. (2008)."),
    *(
        Bound(f"3-{name}", words, partial(draws.perturbed, name), {"n": _N[1:], "d": (8, 16, 32, 64), "epsilon": _E},
              base=_SLIDES)
        for name, words in (
            ("output", "||noise||_F = O(log(d/delta') d^4 / (n epsilon lambda^2)), output perturbation"),
            ("laplace", "change over max(||.||_2^2) = O(d^2 / (n epsilon)), Laplace noise"),
            ("wishart-pure", "the same = O(log(d/delta') d^(3/2) / (n epsilon)), Wishart noise, pure DP"),
            ("wishart", "the same = O(log(1/delta) log(1/delta') d^(3/2) / (n epsilon^2)), Wishart noise"),
            ("gaussian", "the same = O(d sqrt(log(1/delta)) / (n epsilon)), Gaussian noise"),
        )
    ),
    *_modified(),
    Bound("5-lemma-6", "||y||_2 <= eta(d, beta)", partial(draws.size, "vector"), {"d": _D}, ALWAYS),
    Bound("5-lemma-7-spectral", "||W||_2 <= upsilon(d, beta)", partial(draws.size, "spectral"), {"d": _D}, ALWAYS),
    Bound("5-lemma-7-frobenius", "||W||_F <= omega(d, beta)", partial(draws.size, "frobenius"), {"d": _D}, ALWAYS),
    Bound("5-lemma-8", "||clipped - unclipped||_F <= gamma(X, tau)", draws.clipping,
          {"d": (16, 32, 64), "s": (1, 4, 8)}, ALWAYS, Setting(n=4_000, d=32),
          "The paper's generator; s is its number of bins."),
    Bound("5-theorem-1", "SeparateCov: 2^1.25 sqrt(tr upsilon) / (rho^(1/4) sqrt(n)) + sqrt(2) eta / (sqrt(rho) n)",
          draws.separate, {**_THEN, "s": (1, 4, 8)}, ALWAYS, Setting(n=4_000, d=64),
          "The paper's generator; s is its number of bins; rho = 0.1, beta = 0.05."),
    Bound("5-theorem-2", "SeparateCov at trace 1: O(d^(1/4) / sqrt(n))", draws.worst_case,
          {"n": (1_000, 4_000, 16_000), "d": (32, 64, 128, 256)}, base=Setting(n=1_000, d=128),
          note="Eigenvalues in proportion to 1/i; d above n^(2/3), where the bound is the smaller one."),
    Bound("5-theorem-3", "AdaptiveCov: O(min over tau of Noise (log(1/beta)/rho)^(1/4) log n + "
          "gamma log(d n / beta) / sqrt(rho))", draws.adaptive,
          {**_THEN, "s": (1, 2, 4, 8, 12)}, base=Setting(n=16_000, d=64),
          note="The factors as they can be read in the extracted text; s is the number of bins."),
)  # fmt: skip


def number_cells(bound: Bound, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate of a bound on its whole grid."""
    numbers = []
    for axis, values in bound.along.items():
        for value in values:
            at = replace(bound.base, **{axis: value})
            rng = stream(seed, "bounds", bound.key, axis, float(value), replicate)
            error, most = bound.draw(at, rng)
            keys = {"model": bound.key, "data": f"along {axis}", "n": f"{at.n:.0f}", "d": str(at.d), "r": str(at.s)}
            keys |= {"epsilon": f"{at.epsilon:g}", "method": "simulated"}
            ratio = error / most if most else math.nan
            problem = "" if math.isfinite(error) else "The noisy problem has no solution."
            parts = {"error": error, "bound": most, "ratio": ratio, "exceeded": float(error > most)}
            numbers += [Number(keys, name, part, problem) for name, part in parts.items()]
    return numbers


def _table(paper: int) -> Table:
    mine = tuple(bound for bound in BOUNDS if bound.paper == paper)
    return Table(
        f"{paper}-bounds", paper, "bounds", "Printed error bounds against simulation", "error over bound",
        tuple(Point(bound.key, partial(number_cells, bound)) for bound in mine),
        ("A bound O(...) has the constant 1 here. The rows have a trace of 1/4 (paper 4: variances of 1).",),
        replicates=50, small=(20, 0),
    )  # fmt: skip


TABLES = tuple(_table(paper) for paper in range(1, 6))


# --- what the simulation says ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A bound after simulation; ``holds`` is None where nothing is stored.

    ``growth`` has the power of error over bound along each axis, towards its hard end: n, d and s large, epsilon small;
    for `VANISHES` of the error. ``loose`` says that the error falls clearly faster than the bound along some axis.
    """

    key: str
    holds: bool | None
    growth: Mapping[str, float]
    largest: float = math.nan
    exceeded: float = math.nan
    loose: bool = False

    @property
    def words(self) -> str:
        """What was found, in a sentence."""
        if self.holds is None:
            return "Not computed yet."
        powers = ", ".join(f"{axis} to the {power:+.2f}" for axis, power in self.growth.items())
        rule = next(bound.rule for bound in BOUNDS if bound.key == self.key)
        if rule == VANISHES:
            return f"The error goes like {powers}."
        share = f"exceeded in {100 * self.exceeded:.2g} % of the draws"
        if rule == ALWAYS:
            return f"Error over bound is at most {self.largest:.2g} (mean of a setting); {share}."
        return f"Error over bound goes like {powers}; it is at most {self.largest:.2g} with the constant 1."


def judge(key: str, folder: Path = REPRODUCED) -> Judged:
    """Return what the stored simulation says of a bound."""
    bound = next(bound for bound in BOUNDS if bound.key == key)
    cells = stored(f"{bound.paper}-bounds", folder)
    cells = cells[(cells["model"] == key) & (cells["variant"] == LITERAL)]
    if cells.empty:
        return Judged(key, None, {})
    exceeded = float(cells.loc[cells["metric"] == "exceeded", "value"].mean())
    ratio = cells[cells["metric"] == "ratio"]
    growth = {axis: _growth(cells, axis, bound.rule) for axis in bound.along}
    largest = float(ratio["value"].max())
    if bound.rule == ALWAYS:
        return Judged(key, exceeded <= BETA, growth, largest, exceeded)
    # With s = 0 a bound may be 0, and no constant makes it hold.
    empty = cells[(cells["metric"] == "bound") & (cells["value"] == 0)]
    powers = [power for power in growth.values() if not math.isnan(power)]
    worst = max(powers, default=math.nan)
    if bound.rule == VANISHES:
        return Judged(key, worst < LOOSE, growth, largest, exceeded)
    return Judged(key, worst <= GROWS and empty.empty, growth, largest, exceeded, min(powers, default=0.0) < LOOSE)


def _growth(cells: pd.DataFrame, axis: str, rule: str) -> float:
    """Return the power along an axis, towards its hard end: the smaller of that of the whole and of the last two.

    A sum of rates changes from the constant of one to that of the other, which is no growth; nor is chance at one end.
    """
    part = cells[(cells["data"] == f"along {axis}") & (cells["metric"] == ("error" if rule == VANISHES else "ratio"))]
    at = part["r" if axis == "s" else axis].astype(float)
    known = part["value"].notna() & (part["value"] > 0) & (at > 0)
    if known.sum() < 2:
        return math.nan
    sign = -1 if axis == "epsilon" else 1
    ordered = (sign * at[known]).sort_values().index
    return min(sign * slope(at[some], part.loc[some, "value"]) for some in (ordered, ordered[-2:]))
