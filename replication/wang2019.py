"""Wang, Xu & He 2019 (paper 1): its Figure 1, which prints no numbers, and what the text reads off it.

The printed noise is added to rows that are not clipped (their norms are far above 1), so nothing is guaranteed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP
from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.thresholding import papers_threshold
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.measurements.noise import NoiseDistribution
from privcov.metrics.errors import matrix_norm
from privcov.postprocess.spectrum import clip_psd
from privcov.studies.plan import Plan
from replication.base import LITERAL, SOUND, Number, Point, Table, View, truth_of
from replication.checks import NOT_COMPUTED, WEAKER, Check, check, curve_cells

ROWS = (1_000, 3_000, 10_000)
MORE = (30_000, 100_000)  # rows beyond the figure's, of sound errors alone
LARGEST = 20_000_000  # cells of a table of rows that are drawn
GAMMA = 0.5  # twice a variance of U
# Panel -> (sparsity, p, epsilon) of its curves.
PANELS = {
    "left": [(s, 100, 1.0) for s in (0.1, 0.2, 0.3, 0.5)],
    "middle": [(0.2, p, 1.0) for p in (50, 100, 200, 500)],
    "right": [(0.2, 200, e) for e in (0.1, 0.5, 1.0, 2.0)],
}
SPECTRAL = "relative spectral"


def _keys(panel: str, n: int, sparsity: float, d: int, epsilon: float) -> dict[str, str]:
    where = {"data": f"sparsity {sparsity:g}", "model": panel, "n": str(n), "d": str(d)}
    return where | {"epsilon": f"{epsilon:g}", "delta": "1/n", "method": "dp"}


def figure(panel: str, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate of a panel: printed noise and threshold, entries of the diagonal too, relative to U."""
    numbers = []
    for sparsity, d, epsilon in PANELS[panel]:
        for n in ROWS:
            data = make_dataset(SOURCES.get("sparse-covariance").cls(n=n, d=d, sparsity=sparsity), seed=seed,
                                repeat=replicate)  # fmt: skip
            data = data.with_row_bound(float(row_norms(data).max()))
            scale = accounting.classical_gaussian_scale(epsilon, 1 / n, 1.0) / n
            rng = stream(seed, "published", 1, panel, sparsity, d, n, replicate)
            noisy = clipped_moment(data, n_anchors=0) * data.row_bound**2 + NoiseDistribution(
                "upper-triangle", scale, d
            ).draw(rng)
            answer = clip_psd(np.where(np.abs(noisy) > papers_threshold(GAMMA, scale, d, n), noisy, 0.0))
            truth = truth_of(data).covariance
            error = matrix_norm(answer - truth, "spectral") / matrix_norm(truth, "spectral")
            numbers.append(Number(_keys(panel, n, sparsity, d, epsilon), SPECTRAL, error))
    return numbers


def _plan(setting: tuple[float, int, float], n: int, replicates: int, seed: int) -> Plan:
    sparsity, d, epsilon = setting
    return Plan(
        source="sparse-covariance",
        source_params={"n": n, "d": d, "sparsity": sparsity},
        methods=["dp-thresholding"],
        guarantees=[ApproxDP(epsilon, 1 / n)],
        metrics=["relative-spectral-to-truth"],
        replicates=replicates,
        seed=seed,
    )


def _read(panel: str, n: int, setting: tuple[float, int, float], row: Mapping) -> tuple[dict, str]:
    return _keys(panel, n, *setting), SPECTRAL


def _points() -> tuple[Point, ...]:
    points = []
    for panel, settings in PANELS.items():
        points.append(Point(panel, partial(figure, panel)))
        points += [_sound_point(panel, setting, n) for setting in settings for n in ROWS]
    return tuple(points)


def _sound_point(panel: str, setting: tuple[float, int, float], n: int) -> Point:
    name = f"{panel}, sparsity {setting[0]:g}, p = {setting[1]}, epsilon {setting[2]:g}, n = {n}"
    return Point(name, None, partial(_plan, setting, n), partial(_read, panel, n, setting))


TABLES = (
    Table(
        "1-figure-1", 1, "Figure 1", "Sparse covariance: sparsity, dimension, epsilon", "relative spectral error",
        _points(),
        (
            f"n and gamma are not printed: n = {', '.join(f'{n:,}' for n in ROWS)} and gamma = {GAMMA:g} here, set "
            "with the pictures' level in view. The law of the entries is not printed: uniform on [-1, 1].",
            "The printed noise is for rows in the unit ball; the rows have norms of 3 to 11 and are not clipped.",
        ),
        replicates=20, small=(5, 5), trivial=1.0,
    ),
)  # fmt: skip
NEEDED = Table(
    "1-needed", 1, "Figure 1, more rows", f"Sound errors at n = {MORE[0]:,} and {MORE[1]:,}", "relative spectral error",
    tuple(
        _sound_point(panel, setting, n)
        for panel, settings in PANELS.items()
        for setting in settings
        for n in MORE
        if n * setting[1] <= LARGEST
    ),
    replicates=20, small=(0, 5), trivial=1.0,
)  # fmt: skip
VIEWS = {"1-figure-1": View("n", SPECTRAL, at=3_000, strength=float, more="1-needed")}


# --- checks ---------------------------------------------------------------------------------------------------

SLIGHTLY = 2.0  # "only slightly": not even doubled from p = 50 to 500
DOUBLINGS = math.log2(500 / 50)


def ends(cells: pd.DataFrame, along: str) -> float:
    """Return the mean over n of the error at the largest value over that at the smallest."""
    if cells.empty:
        return float("nan")
    table = cells.pivot_table(index="n", columns=along, values="value")
    return float((table.iloc[:, -1] / table.iloc[:, 0]).mean())


def _ratio(
    panel: str,
    along: str,
    judge: Callable[[float], bool],
    words: Callable[[dict[str, float]], str],
    folder: Path,
    weaker: Callable[[float], bool] = lambda ratio: False,
) -> Check:
    ratios = {v: ends(_with_sparsity(curve_cells("1-figure-1", folder, v, panel)), along) for v in (LITERAL, SOUND)}
    if not np.isfinite(ratios[LITERAL]):
        return Check(None, NOT_COMPUTED, {})
    numbers = {f"ratio of the ends, {variant}": value for variant, value in ratios.items()}
    holds = bool(judge(ratios[LITERAL]))
    word = WEAKER if not holds and weaker(ratios[LITERAL]) else ""
    return Check(holds, words(ratios), numbers, word=word)


def _with_sparsity(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(sparsity=pd.to_numeric(table["data"].str.removeprefix("sparsity "), errors="coerce"))


@check("1-denser", "Finding 1: is the error larger when the covariance is denser?", "1-figure-1")
def denser(folder: Path) -> Check:
    """Compare the error at sparsity 0.5 with that at 0.1."""
    return _ratio(
        "left", "sparsity",
        lambda ratio: ratio > 1.02,
        lambda r: f"From sparsity 0.1 to 0.5 the error is multiplied by {r[LITERAL]:.2f} as published and by "
        f"{r[SOUND]:.2f} when sound (mean over n).",
        folder,
    )  # fmt: skip


@check("1-dimension", "Finding 2: does the dimension matter only slightly?", "1-figure-1")
def dimension(folder: Path) -> Check:
    """Compare the error at p = 500 with that at p = 50."""
    return _ratio(
        "middle", "d",
        lambda ratio: ratio < SLIGHTLY,
        lambda r: f"From p = 50 to 500 the error is multiplied by {r[LITERAL]:.2f} as published and by {r[SOUND]:.2f} "
        f"when sound (mean over n), {r[LITERAL] ** (1 / DOUBLINGS):.2f} times a doubling of p as published; log p by "
        "1.59.",
        folder,
        # It grows more slowly than the root of p, which noise on every entry would give without a threshold.
        lambda ratio: ratio < math.sqrt(500 / 50),
    )  # fmt: skip


@check("1-epsilon", "Finding 3: is the error larger when epsilon is larger, as the text says?", "1-figure-1")
def larger_epsilon(folder: Path) -> Check:
    """Compare epsilon = 2 with 0.1: the text calls larger epsilon more private and the error larger."""
    return _ratio(
        "right", "epsilon",
        lambda ratio: ratio > 1,
        lambda r: f"From epsilon 0.1 to 2 the error is multiplied by {r[LITERAL]:.2f} as published and by "
        f"{r[SOUND]:.2f} when sound"
        + (": it falls, and the text has it the wrong way round." if r[LITERAL] < 1 else "."),
        folder,
    )  # fmt: skip


CHECKS = (denser, dimension, larger_epsilon)
