"""Figures, which print no numbers: what is computed to test the findings that the papers' texts read off them.

Paper 1, Figure 1, with the printed noise on rows that are not clipped (their norms are far above 1, so nothing is
guaranteed); paper 5, Figures 2 and 3, from the presets of the page Trade-offs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from privcov import accounting
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.thresholding import papers_threshold
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.measurements.noise import NoiseLaw
from privcov.metrics.errors import matrix_norm
from privcov.papers.presets import PRESETS
from privcov.papers.published import Number, Point, Table
from privcov.postprocess.spectrum import clip_psd
from privcov.privacy import ApproxDP, ZCDP
from privcov.randomness import stream
from privcov.sweeps.plan import Plan, run

ROWS = (1_000, 3_000, 10_000)
GAMMA = 0.5  # twice a variance of U
# Panel -> (sparsity, p, epsilon) of its curves.
PANELS = {
    "left": [(s, 100, 1.0) for s in (0.1, 0.2, 0.3, 0.5)],
    "middle": [(0.2, p, 1.0) for p in (50, 100, 200, 500)],
    "right": [(0.2, 200, e) for e in (0.1, 0.5, 1.0, 2.0)],
}
MOST_D = 200  # columns of paper 5's curves
SPECTRAL, FROBENIUS = "relative spectral", "frobenius"


def _keys_1(panel: str, n: int, sparsity: float, d: int, epsilon: float) -> dict[str, str]:
    where = {"data": f"sparsity {sparsity:g}", "model": panel, "n": str(n), "d": str(d)}
    return where | {"epsilon": f"{epsilon:g}", "delta": "1/n", "method": "dp"}


def figure_1(panel: str, seed: int, replicate: int) -> list[Number]:
    """One replicate of a panel: printed noise and threshold, entries of the diagonal too, relative to U."""
    found = []
    for sparsity, d, epsilon in PANELS[panel]:
        for n in ROWS:
            data = make_dataset(SOURCES.get("sparse-covariance").cls(n=n, d=d, sparsity=sparsity), seed=seed,
                                repeat=replicate)  # fmt: skip
            data = data.with_row_bound(float(row_norms(data).max()))
            scale = accounting.classical_gaussian_scale(epsilon, 1 / n, 1.0) / n
            rng = stream(seed, "published", 1, panel, sparsity, d, n, replicate)
            noisy = clipped_moment(data, joint=0) * data.row_bound**2 + NoiseLaw("upper-triangle", scale, d).draw(rng)
            answer = clip_psd(np.where(np.abs(noisy) > papers_threshold(GAMMA, scale, d, n), noisy, 0.0))
            truth = data.truth.covariance
            error = matrix_norm(answer - truth, "spectral") / matrix_norm(truth, "spectral")
            found.append(Number(_keys_1(panel, n, sparsity, d, epsilon), SPECTRAL, error))
    return found


def _plan_1(setting: tuple[float, int, float], n: int, replicates: int, seed: int) -> Plan:
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


def _read_1(panel: str, n: int, setting: tuple[float, int, float], row: Mapping) -> tuple[dict, str]:
    return _keys_1(panel, n, *setting), SPECTRAL


def _points_1() -> tuple[Point, ...]:
    found = []
    for panel, settings in PANELS.items():
        found.append(Point(panel, {}, partial(figure_1, panel)))
        for setting in settings:
            for n in ROWS:
                name = f"{panel}, sparsity {setting[0]:g}, p = {setting[1]}, epsilon {setting[2]:g}, n = {n}"
                at = partial(_plan_1, setting, n), partial(_read_1, panel, n, setting)
                found.append(Point(name, {}, None, *at))
    return tuple(found)


PANELS_5 = tuple(f"5-figure-{panel}" for panel in ("2-a", "2-b", "2-c", "3-a", "3-b", "3-c", "3-d"))
METHODS_5 = ("gaussian-cov", "separate-cov", "adaptive-cov", "zero")
_MOST_N = 50_000


def plan_5(panel: str, published: bool, replicates: int, seed: int) -> Plan:
    """The preset's plan without EMCov, up to MOST_D columns and 50,000 rows."""
    preset = PRESETS[panel]
    (block,) = preset.varies
    vary = {k: [v for v in values if v <= {"d": MOST_D, "n": _MOST_N}.get(k, np.inf)] for k, values in block.items()}
    return Plan(
        source=preset.source,
        source_params=dict(preset.fixed),
        methods=[(key, own_5(key, published)) for key in METHODS_5],
        guarantees=list(preset.guarantees),
        vary=vary,
        metrics=["frobenius-to-sample"],
        replicates=replicates,
        seed=seed,
    )


def own_5(key: str, published: bool) -> dict[str, str]:
    """Its published calibration, where that is asked for and there is one."""
    from privcov.estimators.base import METHODS

    own = next((c for c in ("as-published-5", "as-published") if c in METHODS.get(key).calibrations), "")
    return {"calibration": own} if published and own else {}


def read_5(panel: str, row: Mapping) -> tuple[dict, str]:
    """(keys of the printed number, its quantity) for a row of the panel's table."""
    fixed = dict(PRESETS[panel].fixed)
    bins = int(row.get("bins", fixed.get("bins", 0)))
    keys = {"model": panel.removeprefix("5-figure-"), "data": f"N = {bins}, rho = {ZCDP(row['rho']).rho:g}"}
    keys |= {name: str(int(row.get(name, fixed.get(name, 0)))) for name in ("n", "d")}
    return keys | {"method": row["method"].split()[0]}, FROBENIUS


def figure_5(panel: str, seed: int, replicate: int) -> list[Number]:
    """One replicate with the published calibrations; the seed moves on, so the mixing matrix does too."""
    found = []
    for row in run(plan_5(panel, True, 1, seed + replicate)).to_dict("records"):
        found.append(Number(*read_5(panel, row), float(row["value"]), row["problem"]))
    return found


def _points_5(panels: tuple[str, ...]) -> tuple[Point, ...]:
    return tuple(
        Point(panel, {}, partial(figure_5, panel), partial(plan_5, panel, False), partial(read_5, panel))
        for panel in panels
    )


_PAPER_5 = (
    f"Up to {MOST_D} columns and {_MOST_N:,} rows, without EMCov; the largest points of the figure are left out.",
    "The norms are fixed by the generator, so R = 1 is public here; the paper rescaled by the largest norm.",
)
TABLES = (
    Table(
        "1-figure-1", 1, "Figure 1", "Sparse covariance: sparsity, dimension, epsilon", "relative spectral error",
        _points_1(),
        (
            f"n and gamma are not printed: n = {', '.join(f'{n:,}' for n in ROWS)} and gamma = {GAMMA:g} here, set "
            "with the pictures' level in view. The law of the entries is not printed: uniform on [-1, 1].",
            "The printed noise is for rows in the unit ball; the rows have norms of 3 to 11 and are not clipped.",
        ),
        replicates=20, small=(5, 5), preset="1-figure-1-left", trivial=1.0,
    ),
    Table(
        "5-figure-2", 5, "Figure 2", "Trace 1: error against d", "Frobenius error", _points_5(PANELS_5[:3]), _PAPER_5,
        replicates=50, small=(3, 3), preset="5-figure-2-b",
    ),
    Table(
        "5-figure-3", 5, "Figure 3", "Skewed norms: error against N, d, n and rho", "Frobenius error",
        _points_5(PANELS_5[3:]), _PAPER_5, replicates=50, small=(3, 3), preset="5-figure-3-b",
    ),
)  # fmt: skip
