"""Su et al. 2019 (paper 2), Figures 1 to 4: edges of models, classes of Ionosphere, graphs of cell signalling data.

The pictures print no numbers: the levels, grids and fractions are ours. The rows of Figures 2 to 4 are not shipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, NoPrivacy
from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.papers.glasso_gaussian import RHO, GlassoGaussian
from privcov.estimators.ridge_precision import PENALTIES, ridge_lambda
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.measurements.noise import NoiseDistribution
from privcov.metrics.classification import SplitSizes, majority_error, split
from privcov.metrics.graphs import edges, noisy_matrix, path_rates, roc_at, solve_precision
from privcov.postprocess.admm import published_admm
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.glasso import lambda_max
from privcov.postprocess.repair import repair_for_lasso
from privcov.postprocess.ridge import ridge_path
from privcov.releases.public import run_method
from privcov.studies.plan import Plan
from privcov.tables.dataset import Dataset
from replication.base import Number, Point, Table, View, truth_of
from replication.su2019.tables import MODELS, STOP

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
# More levels than the figures have: where the sound curve meets the as-published one gives the rows it needs.
LEVELS = ("0.25", "0.5", "1", "2", "4", "8", "16")
LAMBDAS = ("0.0015", "0.002")
NETWORKS = ("consensus, 20 edges", "18 edges", "17 edges")
CHANGED, DRAWN = "share of pairs changed", "edges drawn"


def at(fpr: float) -> str:
    """Return the metric of a fraction of absent edges drawn."""
    return f"found at {fpr:g}"


def printed_noise(d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw noise of Algorithm 2, step 3, at epsilon 1, in unit-ball units; at other levels it is divided by epsilon."""
    scale = accounting.classical_gaussian_scale(1.0, DELTA, math.sqrt(2)) / n
    return NoiseDistribution("upper-triangle", scale, d).draw(rng)


def rates_of(path: Sequence[PathPoint], true: np.ndarray, keys: dict) -> list[Number]:
    """Return the curve of a path at `GRID`, joined to (1, 1), where every pair is drawn, and its area."""
    fine = np.linspace(0, 1, 101)
    rates = path_rates(path, true)
    if not len(rates.lam):
        problem = "No lambda of the path has a solution."
        return [Number(keys, name, math.nan, problem) for name in (*map(at, GRID), AREA)]
    curve = roc_at(rates, fine)
    end = int(np.flatnonzero(np.isfinite(curve))[-1])
    curve[end:] = np.interp(fine[end:], [fine[end], 1.0], [curve[end], 1.0]) if end < 100 else curve[end:]
    numbers = [Number(keys, at(x), float(np.interp(x, fine, curve))) for x in GRID]
    return [*numbers, Number(keys, AREA, float(np.trapezoid(curve, fine)))]


def stopped_path(s: np.ndarray, stop: int) -> list[PathPoint]:
    """Run the printed loop for ``stop`` iterations, at `POINTS` lambdas of this matrix's own path."""
    top = lambda_max(s)
    return [
        PathPoint(float(x), published_admm(s, float(x), rho=RHO, iterations=stop).precision, "stopped", math.nan, stop,
            "admm as published")
        for x in np.geomspace(top, DEPTH * top, POINTS)
    ]  # fmt: skip


# --- figure 1: models 3 and 4 -------------------------------------------------------------------------------


def _draw(model: str, n: int, seed: int, replicate: int) -> Dataset:
    return make_dataset(SOURCES.get(MODELS[model]).cls(n=n, d=D), seed=seed, repeat=replicate)


def keys_of(where: dict, n: int, d: int, epsilon: str, method: str) -> dict[str, str]:
    """Return the keys that a number is filed under."""
    level = {"epsilon": epsilon, "delta": "0.001"} if epsilon else {}
    return {**where, "n": str(n), "d": str(d), **level, "method": method}


def _true_graph(data: Dataset) -> np.ndarray:
    precision = truth_of(data).precision
    assert precision is not None  # every model is a precision matrix
    return edges(precision)


def roc(model: str, seed: int, replicate: int) -> list[Number]:
    """Compute one replicate of a model: without noise and at both levels, one unit draw for both."""
    data = _draw(model, N, seed, replicate)
    data = data.with_row_bound(float(row_norms(data).max()))
    s, true = clipped_moment(data, n_anchors=0), _true_graph(data)
    noise = printed_noise(D, N, stream(seed, "published", 2, "figure 1", model, replicate))
    numbers = rates_of(stopped_path(s, ROC_STOP), true, keys_of({"model": model}, N, D, "", NO_NOISE))
    for epsilon in EPSILONS:
        keys = keys_of({"model": model}, N, D, epsilon, NOISY)
        numbers += rates_of(stopped_path(s + noise / float(epsilon), ROC_STOP), true, keys)
    return numbers


def sound_roc(model: str, n: int, seed: int, replicate: int) -> list[Number]:
    """Compute the same with a sound release, at n rows."""
    data = _draw(model, n, seed, replicate)
    return sound_rates(data, _true_graph(data), {"model": model}, EPSILONS, seed, replicate)


def sound_rates(
    data: Dataset, true: np.ndarray, where: dict, levels: Sequence[str], seed: int, replicate: int
) -> list[Number]:
    """Return the rates of the sound method without noise and at every level, one replicate."""
    numbers = []
    for epsilon in ("", *levels):
        level = ApproxDP(float(epsilon), DELTA) if epsilon else NoPrivacy()
        rel = run_method(GlassoGaussian(), data, level, seed=seed, repeat=replicate)
        keys = keys_of(where, data.n, data.d, epsilon, NOISY if epsilon else NO_NOISE)
        assert rel.path is not None  # a graphical lasso
        numbers += rates_of(rel.path, true, keys)
    return numbers


# --- figure 2: Ionosphere -----------------------------------------------------------------------------------


def lda(seed: int, replicate: int) -> list[Number]:
    """Compute the fraction of wrong test rows of one split, with the penalty chosen on the validation rows."""
    data = make_dataset(SOURCES.get("ionosphere").cls(), seed=seed)
    train, rest = split(data, SplitSizes(TRAINING), seed=seed, repeat=replicate)
    own, seen, labels = train.rows, np.asarray(train.labels), np.asarray(rest.labels)
    classes = np.unique(np.asarray(data.labels))
    means = np.array([own[seen == c].mean(axis=0) for c in classes])
    shares = np.array([np.mean(seen == c) for c in classes])
    within = own - means[np.searchsorted(classes, seen)]
    size = float(np.linalg.norm(within, axis=1).max())
    s = within.T @ within / len(within) / size**2
    noise = printed_noise(data.d, TRAINING, stream(seed, "published", 2, "figure 2", replicate))
    lambdas = [ridge_lambda(x, data.d) for x in PENALTIES]
    numbers = []
    for epsilon in ("", *LDA_EPSILONS):
        best = (math.inf, math.inf)
        for theta in ridge_path(s + noise / float(epsilon) if epsilon else s, lambdas):
            towards = theta @ means.T / size**2
            scores = rest.rows @ towards - 0.5 * np.sum(means.T * towards, axis=0) + np.log(shares)
            wrong = classes[np.argmax(scores, axis=1)] != labels
            best = min(best, (float(wrong[:VALIDATION].mean()), float(wrong[VALIDATION:].mean())), key=lambda b: b[0])
        numbers.append(Number(_lda_keys(epsilon, "DP-RP" if epsilon else NO_NOISE), WRONG, best[1]))
    return [*numbers, Number(_lda_keys("", "guessing"), WRONG, majority_error(train, rest))]


def _lda_keys(epsilon: str, method: str) -> dict[str, str]:
    return keys_of({"data": "ionosphere"}, TRAINING, 34, epsilon, method)


def _lda_plan(replicates: int, seed: int) -> Plan:
    return Plan(
        source="ionosphere",
        methods=["ridge-precision", "auto-cov"],
        guarantees=[*(ApproxDP(float(e), DELTA) for e in LDA_EPSILONS), NoPrivacy()],
        metrics=["lda-error"],
        replicates=replicates,
        seed=seed,
        training=TRAINING,
        validation=VALIDATION,
    )


def _lda_read(row: Mapping) -> tuple[dict, str]:
    own = {"ridge-precision": ("DP-RP", NO_NOISE)}.get(row["method"], (row["method"], f"{NO_NOISE}, {row['method']}"))
    epsilon = next((e for e in LDA_EPSILONS if float(e) == row["epsilon"]), "")
    return _lda_keys(epsilon, own[0] if epsilon else own[1]), WRONG


# --- figures 3 and 4: cell signalling -------------------------------------------------------------------------


def _cells(seed: int) -> tuple[Dataset, np.ndarray, float]:
    """Return the rows, the centred second moment of their logarithms (unit-ball units), and their largest norm."""
    data = make_dataset(SOURCES.get("sachs").cls(), seed=seed)
    rows = data.to_working()
    rows = rows - rows.mean(axis=0)
    size = float(np.linalg.norm(rows, axis=1).max())
    return data, rows.T @ rows / data.n / size**2, size


def _levels(s: np.ndarray, n: int, figure: str, seed: int, replicate: int) -> Iterator[tuple[str, np.ndarray]]:
    noise = printed_noise(len(s), n, stream(seed, "published", 2, figure, replicate))
    yield "", s
    for epsilon in EPSILONS:
        yield epsilon, s + noise / float(epsilon)


def cell_roc(seed: int, replicate: int) -> list[Number]:
    """Compute Figure 3 for one draw of the noise: the same graphs against three published versions of the network."""
    data, s, _ = _cells(seed)
    numbers = []
    for epsilon, matrix in _levels(s, data.n, "figure 3", seed, replicate):
        path = stopped_path(matrix, STOP)
        for network in NETWORKS:
            keys = keys_of({"data": network}, data.n, data.d, epsilon, NOISY if epsilon else NO_NOISE)
            numbers += rates_of(path, data.graphs[network], keys)
    return numbers


def sound_cell_roc(seed: int, replicate: int) -> list[Number]:
    """Return the rates of the sound method on the cells, against each published network."""
    data = make_dataset(SOURCES.get("sachs").cls(), seed=seed)
    return [
        number
        for network in NETWORKS
        for number in sound_rates(data, data.graphs[network], {"data": network}, LEVELS, seed, replicate)
    ]


def _graph_numbers(graph: np.ndarray, base: np.ndarray, data: Dataset, lam: str, epsilon: str) -> list[Number]:
    pairs = data.d * (data.d - 1) / 2
    keys = keys_of({"data": f"lambda {lam}"}, data.n, data.d, epsilon, NOISY if epsilon else NO_NOISE)
    drawn = Number(keys, DRAWN, float(graph.sum()) / 2)
    return [drawn, Number(keys, CHANGED, float((graph != base).sum()) / 2 / pairs)] if epsilon else [drawn]


def graphs(seed: int, replicate: int) -> list[Number]:
    """Compute Figure 4: the printed loop at the two printed lambdas, with one draw of the noise and without."""
    data, s, _ = _cells(seed)
    numbers = []
    for lam in LAMBDAS:
        base = None
        for epsilon, matrix in _levels(s, data.n, "figure 4", seed, replicate):
            graph = edges(published_admm(matrix, float(lam), rho=RHO, iterations=STOP).precision)
            base = graph if base is None else base
            numbers += _graph_numbers(graph, base, data, lam, epsilon)
    return numbers


def sound_graphs(seed: int, replicate: int) -> list[Number]:
    """Compute the same lambdas, in the data's units, on a sound and repaired release."""
    data, _, size = _cells(seed)
    numbers: list[Number] = []
    base: dict[str, np.ndarray] = {}
    for epsilon in ("", *LEVELS):
        level = ApproxDP(float(epsilon), DELTA) if epsilon else NoPrivacy()
        rel = run_method(GlassoGaussian(), data, level, seed=seed, repeat=replicate)
        matrix = repair_for_lasso(noisy_matrix(rel), "psd").matrix
        for lam in LAMBDAS:
            graph = edges(solve_precision(matrix, float(lam) * size**2))
            numbers += _graph_numbers(graph, base.setdefault(lam, graph), data, lam, epsilon)
    return numbers


# --- the figures ----------------------------------------------------------------------------------------------

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
_LONGER = f"The printed loop, rho = {RHO:g}, stops after {STOP:,} iterations, as in Table 2."
_CELLS = (
    "log10 of the intensities, column means (raw) taken off, rows divided by the largest norm: of raw and logarithmic, "
    "centred and not, only this gives graphs neither empty nor nearly full, when the lasso is solved to the end at the "
    "lambdas that Figure 4 prints (standardised columns do so too). No guarantee covers the means and the norm."
)
LASSO = ("glasso-gaussian",)
TABLES = (
    Table(
        "2-figure-1", 2, "Figure 1", "Edges found, Models 3 and 4, p = 20, n = 2,000", "share of edges found",
        tuple(
            point
            for model in "34"
            for point in (
                Point(f"model {model}", partial(roc, model)),
                *(Point(f"model {model}, n = {n}", sound=partial(sound_roc, model, n), methods=LASSO)
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
        (Point("ionosphere", lda, _lda_plan, _lda_read),),
        (
            "The epsilons stand in the picture only: those of the tables here, and larger ones. The noise goes to the "
            "covariance within the classes; class means and shares, and the penalty, which is the one with the fewest "
            "errors on the validation rows, come from raw rows. No guarantee covers them.",
            "Sound: class counts, means and covariance measured together under the guarantee; the penalty from the "
            "noisy matrix; the validation rows stay unused.",
        ),
        replicates=50, small=(50, 20), needs="ionosphere",
    ),
    Table(
        "2-figure-3", 2, "Figure 3 (b)", "Edges of the cell signalling network", "share of edges found",
        (Point("cells", cell_roc, None, None, 1.0, sound_cell_roc, LASSO),),
        (
            "The epsilons stand in the picture only: 1 and 2 here, as in Figure 4. Which version of the network is "
            "drawn in Figure 3 (a) is not said: three published ones here, without directions.",
            _CELLS, PATH_CHOICE, _LONGER, SOUND_CHOICE,
        ),
        replicates=50, small=(5, 5), trivial=0.5,
    ),
    Table(
        "2-figure-4", 2, "Figure 4", "Graphs of the cell signalling data at two lambdas", "share of pairs changed",
        (Point("cells", graphs, None, None, 1.0, sound_graphs, LASSO),),
        (
            _CELLS, _LONGER, SOUND_CHOICE,
        ),
        replicates=50, small=(5, 5),
    ),
)  # fmt: skip


def _approx(epsilon: float) -> float:
    return 1 / accounting.gaussian_scale(ApproxDP(float(epsilon), DELTA), 1.0)


TITLES = {"3": "Model 3", "4": "Model 4"}
VIEWS = {
    "2-figure-1": View("drawn", AREA, "n", N, float),
    "2-figure-2": View("epsilon", WRONG, at=2.0, strength=_approx),
    "2-figure-3": View("drawn", AREA, "epsilon", 1.0, _approx),
    "2-figure-4": View("epsilon", CHANGED, at=1.0, strength=_approx),
}
