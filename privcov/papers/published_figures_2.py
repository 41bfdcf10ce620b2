"""Paper 2's figures on edges of two models (1) and on Ionosphere (2), and what the cell signalling figures share.

The pictures print no numbers. What is stored: shares of edges found at fixed shares of absent edges drawn and the area
below, and shares of test rows classified wrongly. The rows of Figure 2 are not shipped.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from privcov import accounting
from privcov._running import run_method
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.estimators.glasso_gaussian import RHO, GlassoGaussian
from privcov.estimators.ridge_precision import PENALTIES, ridge_lambda
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.measurements.noise import NoiseLaw
from privcov.metrics.classification import Sizes, majority_error, split
from privcov.metrics.graphs import edges, path_rates, roc_at
from privcov.papers.presets_classification import CLASSIFIERS
from privcov.papers.published import Number, Point, Table
from privcov.papers.published_2 import MODELS
from privcov.postprocess.admm import published_admm
from privcov.postprocess.fit import Fit
from privcov.postprocess.glasso import empties
from privcov.postprocess.ridge import ridge_path
from privcov.privacy import ApproxDP, NoPrivacy
from privcov.randomness import stream
from privcov.sweeps.plan import Plan

DELTA = 0.001
D, N, EPSILONS = 20, 2000, ("1", "2")
ROWS = (N, 2 * N, 4 * N, 8 * N, 16 * N)  # of the sound curves; the figure has the first
GRID = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
POINTS, DEPTH = 16, 0.01  # lambdas of a path, down from the one that empties the graph
ROC_STOP = 500
NO_NOISE, NOISY = "no noise", "DP-AGL"
AREA = "area"
LDA_EPSILONS = ("0.1", "0.3", "0.5", "0.8", "1.2", "2", "5", "10", "30", "100")
TRAINING, VALIDATION = 40, 40
WRONG = "wrong"


def at(fpr: float) -> str:
    """The metric of a share of absent edges drawn."""
    return f"found at {fpr:g}"


def printed_noise(d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of Algorithm 2, step 3, at epsilon 1, in unit-ball units; over epsilon at other levels."""
    scale = accounting.classical_gaussian_scale(1.0, DELTA, math.sqrt(2)) / n
    return NoiseLaw("upper-triangle", scale, d).draw(rng)


def rates_of(path, true: np.ndarray, keys: dict) -> list[Number]:
    """The curve of a path at `GRID`, joined to (1, 1), where every pair is drawn, and its area."""
    fine = np.linspace(0, 1, 101)
    rates = path_rates(path, true)
    if not len(rates.lam):
        problem = "No lambda of the path has a solution."
        return [Number(keys, name, math.nan, problem) for name in (*map(at, GRID), AREA)]
    curve = roc_at(rates, fine)
    end = int(np.flatnonzero(np.isfinite(curve))[-1])
    curve[end:] = np.interp(fine[end:], [fine[end], 1.0], [curve[end], 1.0]) if end < 100 else curve[end:]
    found = [Number(keys, at(x), float(np.interp(x, fine, curve))) for x in GRID]
    return [*found, Number(keys, AREA, float(np.trapezoid(curve, fine)))]


def stopped_path(s: np.ndarray, stop: int) -> list[Fit]:
    """The printed loop after ``stop`` iterations, at `POINTS` lambdas of this matrix's own path."""
    top = empties(s)
    return [
        Fit(float(x), published_admm(s, float(x), rho=RHO, iterations=stop).precision, "stopped", math.nan, stop,
            "admm as published")
        for x in np.geomspace(top, DEPTH * top, POINTS)
    ]  # fmt: skip


# --- figure 1: models 3 and 4 -------------------------------------------------------------------------------


def _draw(model: str, n: int, seed: int, replicate: int) -> Dataset:
    return make_dataset(SOURCES.get(MODELS[model]).cls(n=n, d=D), seed=seed, repeat=replicate)


def keys_of(where: dict, n: int, d: int, epsilon: str, method: str) -> dict[str, str]:
    """The keys that a printed number is filed under."""
    level = {"epsilon": epsilon, "delta": "0.001"} if epsilon else {}
    return {**where, "n": str(n), "d": str(d), **level, "method": method}


def roc(model: str, seed: int, replicate: int) -> list[Number]:
    """One replicate of a model: without noise and at both levels, one unit draw for both."""
    data = _draw(model, N, seed, replicate)
    data = data.with_row_bound(float(row_norms(data).max()))
    s, true = clipped_moment(data, joint=0), edges(data.truth.precision)
    noise = printed_noise(D, N, stream(seed, "published", 2, "figure 1", model, replicate))
    found = rates_of(stopped_path(s, ROC_STOP), true, keys_of({"model": model}, N, D, "", NO_NOISE))
    for epsilon in EPSILONS:
        keys = keys_of({"model": model}, N, D, epsilon, NOISY)
        found += rates_of(stopped_path(s + noise / float(epsilon), ROC_STOP), true, keys)
    return found


def sound_roc(model: str, n: int, seed: int, replicate: int) -> list[Number]:
    """The same with a sound release, at n rows."""
    data = _draw(model, n, seed, replicate)
    return sound_rates(data, edges(data.truth.precision), {"model": model}, EPSILONS, seed, replicate)


def sound_rates(data: Dataset, true: np.ndarray, where: dict, levels, seed: int, replicate: int) -> list[Number]:
    """Rates of the sound method without noise and at every level, one replicate."""
    found = []
    for epsilon in ("", *levels):
        level = ApproxDP(float(epsilon), DELTA) if epsilon else NoPrivacy()
        rel = run_method(GlassoGaussian(), data, level, seed=seed, repeat=replicate)
        keys = keys_of(where, data.n, data.d, epsilon, NOISY if epsilon else NO_NOISE)
        found += rates_of(rel.path, true, keys)
    return found


# --- figure 2: Ionosphere -----------------------------------------------------------------------------------


def lda(seed: int, replicate: int) -> list[Number]:
    """One split: the ridge of a noisy covariance, its penalty chosen on the validation rows, wrong test rows."""
    data = make_dataset(SOURCES.get("ionosphere").cls(), seed=seed)
    train, rest = split(data, Sizes(TRAINING), seed=seed, repeat=replicate)
    own, seen, labels = train.rows, np.asarray(train.labels), np.asarray(rest.labels)
    classes = np.unique(np.asarray(data.labels))
    means = np.array([own[seen == c].mean(axis=0) for c in classes])
    shares = np.array([np.mean(seen == c) for c in classes])
    within = own - means[np.searchsorted(classes, seen)]
    size = float(np.linalg.norm(within, axis=1).max())
    s = within.T @ within / len(within) / size**2
    noise = printed_noise(data.d, TRAINING, stream(seed, "published", 2, "figure 2", replicate))
    lambdas = [ridge_lambda(x, data.d) for x in PENALTIES]
    found = []
    for epsilon in ("", *LDA_EPSILONS):
        best = (math.inf, math.inf)
        for theta in ridge_path(s + noise / float(epsilon) if epsilon else s, lambdas):
            towards = theta @ means.T / size**2
            scores = rest.rows @ towards - 0.5 * np.sum(means.T * towards, axis=0) + np.log(shares)
            wrong = classes[np.argmax(scores, axis=1)] != labels
            best = min(best, (float(wrong[:VALIDATION].mean()), float(wrong[VALIDATION:].mean())), key=lambda b: b[0])
        found.append(Number(_lda_keys(epsilon, "DP-RP" if epsilon else NO_NOISE), WRONG, best[1]))
    return [*found, Number(_lda_keys("", "guessing"), WRONG, majority_error(train, rest))]


def _lda_keys(epsilon: str, method: str) -> dict[str, str]:
    return keys_of({"data": "ionosphere"}, TRAINING, 34, epsilon, method)


def _lda_plan(replicates: int, seed: int) -> Plan:
    preset = CLASSIFIERS["2-figure-2"]
    return Plan(
        source=preset.source,
        methods=list(preset.methods),
        guarantees=[*(ApproxDP(float(e), DELTA) for e in LDA_EPSILONS), NoPrivacy()],
        metrics=["lda-error"],
        replicates=replicates,
        seed=seed,
        training=preset.training,
        validation=preset.validation,
    )


def _lda_read(row) -> tuple[dict, str]:
    own = {"ridge-precision": ("DP-RP", NO_NOISE)}.get(row["method"], (row["method"], f"{NO_NOISE}, {row['method']}"))
    epsilon = next((e for e in LDA_EPSILONS if float(e) == row["epsilon"]), "")
    return _lda_keys(epsilon, own[0] if epsilon else own[1]), WRONG


PATH_CHOICE = (
    f"A path has {POINTS} lambdas down to {DEPTH:g} of the one that empties the graph, and is joined to the point "
    "where every pair is drawn."
)
_LOOP = (
    f"The printed loop, rho = {RHO:g}, stops after {ROC_STOP} iterations: in one replicate of each model, at every "
    "level, 2,000 iterations gave the same curve to two digits."
)
SOUND_CHOICE = (
    "Sound: exact calibration, a public row bound, the mean measured with the covariance where it is not known, a "
    "repaired spectrum, the diagonal not penalised."
)
LASSO = ("glasso-gaussian",)
TABLES = (
    Table(
        "2-figure-1", 2, "Figure 1", "Edges found, Models 3 and 4, p = 20, n = 2,000", "share of edges found",
        tuple(
            point
            for model in "34"
            for point in (
                Point(f"model {model}", {}, partial(roc, model)),
                *(Point(f"model {model}, n = {n}", {}, sound=partial(sound_roc, model, n), methods=LASSO)
                  for n in ROWS),
            )
        ),
        (
            "The rows are divided by their largest norm, as in the tables; no guarantee covers that.",
            PATH_CHOICE, _LOOP, SOUND_CHOICE,
        ),
        replicates=50, small=(5, 10), trivial=0.5,
    ),
    Table(
        "2-figure-2", 2, "Figure 2", "LDA on Ionosphere, 40 training rows", "share of test rows classified wrongly",
        (Point("ionosphere", {}, lda, _lda_plan, _lda_read),),
        (
            "The epsilons stand in the picture only: those of the tables here, and larger ones. The noise goes to the "
            "covariance within the classes; class means and shares, and the penalty, which is the one with the fewest "
            "errors on the validation rows, come from raw rows. No guarantee covers them.",
            "Sound: class counts, means and covariance measured together under the guarantee; the penalty from the "
            "noisy matrix; the validation rows stay unused.",
        ),
        replicates=50, small=(50, 20), needs="ionosphere", preset="2-figure-2",
    ),
)  # fmt: skip
