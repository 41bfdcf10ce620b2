"""Accuracy and speed of the covariance methods on paper 5's data: sections "accuracy", "pure", "real" and "speed".

Data X = Z U with Zipf norms (skew 3), centred by construction; Frobenius error to the sample second moment; mean of
RUNS runs with fresh rows and fresh noise; every method sees the same rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from privcov.core.guarantees import PureDP, ZCDP
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.measurements.moment import NoisyMoment, clipped_moment, measure_moment
from privcov.metrics.errors import error, reference_matrix
from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import project_trace, shrink_spectrum, shrink_wishart_difference
from privcov.releases.public import build_method, run_method

TURNS = 9  # of a method and the algebra under it
RUNS = 10
SETTINGS = [
    (10, 1000, 1, 0.1),
    (50, 4000, 1, 0.1),
    (50, 16000, 1, 0.1),
    (200, 4000, 1, 0.1),
    (200, 16000, 1, 0.1),
    (100, 50000, 4, 0.1),
    (200, 50000, 1, 0.1),
    (200, 50000, 4, 0.1),
    (200, 50000, 16, 0.1),
    (200, 50000, 4, 0.01),
    (200, 50000, 4, 1.0),
    (400, 50000, 4, 0.1),
]
PURE_SETTINGS = [(50, 50000, 1, 1.0), (100, 50000, 1, 1.0), (200, 50000, 1, 1.0)]
OURS = ("auto-cov", {"target": "sample"})
ZERO = ("zero", {})
# Paper 5's methods with the paper's own noise (upper triangle), at their best: spectrum box, algebraically ordered
# eigenvectors, closed-form constants. The house's sound forms of them, with less noise, are a second yardstick.
PUBLISHED = {"calibration": "as-published-5"}
CLOSED = {"constants": "closed-form"}
PAPER = [("gaussian-cov", {"repair": "box"}), ("separate-cov", PUBLISHED), ("adaptive-cov", {**CLOSED, **PUBLISHED})]
SOUND = [("separate-cov", {}), ("adaptive-cov", {})]
PAPER_PURE = [("laplace-cov", {"repair": "box", **PUBLISHED}), *PAPER[1:]]


def dataset(d: int, n: int, bins: int, repeat: int):
    source = build(SOURCES.get("zipf-norms").cls, "zipf-norms", {"n": n, "d": d, "bins": bins})
    return make_dataset(source, seed=0, repeat=repeat)


def errors(d: int, n: int, bins: int, guarantee, methods: list) -> dict[str, float]:
    """Mean Frobenius error of each method, by name: its key, with a star for a published calibration."""
    built = []
    for key, given in methods:
        own = {k: v for k, v in given.items() if k != "calibration"}
        calibration = given.get("calibration", "sound")
        built.append((key + ("*" if calibration != "sound" else ""), build_method(key, own), calibration))
    found: dict[str, list[float]] = {name: [] for name, _, _ in built}
    for repeat in range(RUNS):
        rows = dataset(d, n, bins, repeat)
        for name, method, calibration in built:
            rel = run_method(method, rows, guarantee, seed=0, repeat=repeat, calibration=calibration)
            found[name].append(error(rel, rows))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


@dataclass(frozen=True)
class Beside:
    """Ours beside its rival in one setting. ratio: of the errors. sound: over the better sound form, NaN without."""

    ratio: float
    sound: float
    told: str


@cache
def _zcdp(d: int, n: int, bins: int, rho: float) -> Beside:
    # em-cov costs d eigendecompositions, so it takes part up to d = 100, as in the paper.
    paper = PAPER + ([("em-cov", PUBLISHED)] if d <= 100 else [])
    found = errors(d, n, bins, ZCDP(rho), [OURS, ZERO, *paper, *SOUND])
    ours, zero = found.pop("auto-cov"), found.pop("zero")
    if bins == 16:
        rivals = {"adaptive-cov*": found["adaptive-cov*"], "adaptive-cov": found["adaptive-cov"], "zero": zero}
        best = min(rivals, key=rivals.get)
        told = f"{ours / rivals[best]:.2f} x {best} ({ours:.5f} / {rivals[best]:.5f}; {ours / zero:.2f} x zero)"
        return Beside(ours / rivals[best], math.nan, told)
    sound = ours / min(found.pop("separate-cov"), found.pop("adaptive-cov"))
    best = min(found, key=found.get)
    told = f"{ours / found[best]:.2f} x {best} ({ours:.5f} / {found[best]:.5f}; {sound:.2f} x the better sound form, "
    return Beside(ours / found[best], sound, f"{told}{ours / zero:.2f} x zero)")


def accuracy() -> Iterator[tuple[str, Callable[[], str], str]]:
    """auto-cov over the best of paper 5's methods (starred: with the paper's noise), and over their sound forms."""
    for setting in SETTINGS:
        d, n, bins, rho = setting
        goal = "<= 1.1" if bins == 16 else "<= 0.85"
        yield f"auto-cov d={d} n={n} bins={bins} rho={rho:g}", lambda s=setting: _zcdp(*s).told, goal
    few = [s for s in SETTINGS if s[2] != 16]
    yield (
        "geometric mean without 16 bins",
        lambda: f"{_mean([_zcdp(*s).ratio for s in few]):.3f} x paper 5's best with its own noise",
        "<= 0.70",
    )
    yield (
        "geometric mean over their sound forms",
        lambda: f"{_mean([_zcdp(*s).sound for s in few]):.3f} x the better of separate-cov and adaptive-cov, sound",
        "",
    )


@cache
def _pure(d: int, n: int, bins: int, epsilon: float) -> Beside:
    paper = PAPER_PURE + ([("em-cov", PUBLISHED)] if d <= 100 else [])
    found = errors(d, n, bins, PureDP(epsilon), [OURS, ZERO, *paper])
    ours, zero = found.pop("auto-cov"), found.pop("zero")
    best = min(found, key=found.get)
    told = f"{ours / found[best]:.3f} x {best} ({ours:.4f} / {found[best]:.4f}; {ours / zero:.2f} x zero)"
    return Beside(ours / found[best], math.nan, told)


def pure() -> Iterator[tuple[str, Callable[[], str], str]]:
    """auto-cov over paper 5's best pure method, epsilon 1."""
    for setting in PURE_SETTINGS:
        d, n, *_ = setting
        yield f"auto-cov pure d={d} n={n}", lambda s=setting: _pure(*s).told, "<= 0.20"
    yield (
        "geometric mean",
        lambda: f"{_mean([_pure(*s).ratio for s in PURE_SETTINGS]):.3f} x paper 5's best pure method",
        "<= 0.14",
    )


def _in_turns(work: dict[str, Callable[[], object]], times: int) -> dict[str, float]:
    """Median seconds of each, measured in turns, so that a busy minute of the machine falls on all alike."""
    taken: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(times):
        for name, what in work.items():
            start = time.perf_counter()
            what()
            taken[name].append(time.perf_counter() - start)
    return {name: float(np.median(seconds)) for name, seconds in taken.items()}


def _over_algebra(key: str) -> str:
    rows = dataset(200, 50000, 4, 0)
    x, s, method = rows.to_working(), clipped_moment(rows, n_anchors=0), build_method(key, {})
    # A run remembers on its data set what the next one would not have to compute. To make one is not the method's work.
    fresh = [type(rows).from_rows(rows.rows, rows.row_bound, mean_is_zero=True, name=rows.name) for _ in range(TURNS)]
    work = {
        "run": lambda: run_method(method, fresh.pop(), ZCDP(0.1), seed=0),
        "gram": lambda: x.T @ x,
        "eigh": lambda: np.linalg.eigh(s),
        "product": lambda: s @ s,
    }
    taken = _in_turns(work, TURNS)
    floor = taken["gram"] + 2 * taken["eigh"] + taken["product"]
    return (
        f"{taken['run'] / floor:.2f} x numpy's X'X + 2 eigh + product ({1e3 * taken['run']:.0f} / {1e3 * floor:.0f} ms)"
    )


def _exponential() -> str:
    rows = dataset(100, 50000, 4, 0)
    s, method = clipped_moment(rows, n_anchors=0), build_method("em-cov", {})

    def floor() -> None:
        for k in range(100, 0, -1):
            np.linalg.eigh(s[:k, :k])

    taken = _in_turns({"run": lambda: run_method(method, rows, ZCDP(0.1), seed=0), "floor": floor}, 3)
    ours, theirs = taken["run"], taken["floor"]
    return f"{ours / theirs:.2f} x numpy's eigh of sizes 100..1 ({ours:.2f} / {theirs:.2f} s)"


# Data with a mean, as they are bundled, and what is simulated. The structure of auto-cov and most of its constants were
# chosen on other simulated settings; its last thresholds were set in sight of the bundled tables, so these rows are no
# validation of them.
REAL = ("example", "breast-cancer", "wine", "diabetes", "digits")
SIMULATED = ("ar1-covariance", "banded-covariance", "sparse-covariance", "precision-wishart", "precision-full",
             "precision-ar2", "precision-random", "zipf-norms", "sparse-inverse")  # fmt: skip
LEVELS = {
    "zcdp": [ZCDP(rho) for rho in (0.001, 0.01, 0.1, 1.0)],
    "pure": [PureDP(epsilon) for epsilon in (0.1, 1.0, 10.0)],
}
DRAWS = 40  # of the noise
GUARD_DRAWS = 200
FRESH = 31_000


def _joint_shrunk(measured: NoisyMoment) -> np.ndarray:
    """auto-cov as it was: the joint matrix is shrunk, and flattened where no eigenvalue leaves the noise."""
    matrix, law = measured.matrix, measured.distribution
    if law.shape == "wishart-difference":
        found = shrink_wishart_difference(matrix, law.wishart_scale / 2)
    else:
        d, std, trace = len(matrix), law.off_diagonal_std, max(float(np.trace(matrix)), 0.0)
        flat = np.linalg.eigvalsh(matrix)[-1] <= 2 * np.sqrt(d) * std * (1 + d ** (-2 / 3))
        found = np.eye(d) * trace / d if flat else project_trace(shrink_spectrum(matrix, std), trace)
    return unpack(found, centre=measured.centre, row_bound=measured.row_bound).target


@cache
def _with_mean(kind: str) -> dict[tuple[str, str], float]:
    """Error of auto-cov over that of the joint matrix shrunk, measured with the larger anchor."""
    ratios = {}
    for key in REAL:
        rows = make_dataset(build(SOURCES.get(key).cls, key, {}), seed=0)
        sample = reference_matrix(rows, "covariance", "sample")
        for level in LEVELS[kind]:
            shape = "free-trace" if kind == "zcdp" else "wishart-difference"
            ours, before = [], []
            for draw in range(DRAWS):
                rel = run_method(build_method("auto-cov", {}), rows, level, seed=FRESH + draw, centre="joint")
                ours.append(error(rel, rows))
                rng = np.random.default_rng([FRESH, draw])
                was = measure_moment(rows, level, centre="joint", shape=shape, rng=rng)
                before.append(float(np.linalg.norm(_joint_shrunk(was) - sample)))
            ratios[key, str(level)] = float(np.mean(ours) / np.mean(before))
    return ratios


@cache
def _guarded(kind: str) -> tuple[float, str]:
    """The largest error of auto-cov over the better of the zero matrix and the noisy diagonal, and where.

    The noisy diagonal: that of the same unrepaired covariance, without its noise's known bias and nothing below zero.
    """
    worst = (0.0, "")
    for key in (*REAL, *SIMULATED):
        rows = make_dataset(build(SOURCES.get(key).cls, key, {}), seed=0)
        sample = reference_matrix(rows, "covariance", "sample")
        for level in LEVELS[kind]:
            ours, diagonal = [], []
            for draw in range(GUARD_DRAWS):
                rel = run_method(
                    build_method("auto-cov", {"row_bound_search": "off", "target": "sample"}),
                    rows,
                    level,
                    seed=FRESH + draw,
                )
                ours.append(error(rel, rows))
                raw, d = rel.noisy_moment, rows.d
                on = np.diag(raw.matrix)[:d].copy()
                if raw.centre == "joint":
                    on -= (raw.matrix[:d, d] ** 2 - raw.distribution.off_diagonal_std**2) / raw.matrix[d, d]
                on = np.maximum(on, 0.0) * rows.row_bound**2
                diagonal.append(float(np.linalg.norm(np.diag(on) - sample)))
            best = min(float(np.linalg.norm(sample)), float(np.mean(diagonal)))
            worst = max(worst, (float(np.mean(ours)) / best, f"{key} at {level}"))
    return worst


def real() -> Iterator[tuple[str, Callable[[], str], str]]:
    """auto-cov on bundled tables with a mean, and nowhere worse than answers that need no thought."""
    for kind, goal in (("zcdp", "<= 0.72"), ("pure", "<= 0.70")):
        yield (
            f"with a mean, {kind}",
            lambda kind=kind: f"{_mean([*_with_mean(kind).values()]):.3f} x the joint matrix shrunk",
            goal,
        )
        yield (
            f"with a mean, {kind}, worst cell",
            lambda kind=kind: "{1:.3f} x the joint matrix shrunk ({0[0]}, {0[1]})".format(
                *max(_with_mean(kind).items(), key=lambda cell: cell[1])
            ),
            "<= 1.05",
        )
        yield (
            f"guard, {kind}, worst cell",
            lambda kind=kind: "{:.3f} x the better of zero and the noisy diagonal ({})".format(*_guarded(kind)),
            "<= 1.02",
        )


def speed() -> Iterator[tuple[str, Callable[[], str], str]]:
    """Multiples of the linear algebra a method cannot avoid: medians, in turns, in this run."""
    yield "separate-cov d=200 n=50000", lambda: _over_algebra("separate-cov"), "<= 1.5"
    yield "adaptive-cov d=200 n=50000", lambda: _over_algebra("adaptive-cov"), "<= 2.0"
    yield "em-cov d=100", _exponential, "<= 2.5"
