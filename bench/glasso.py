"""The graphical lasso against scikit-learn and gglasso: section "glasso" of the bench.

Rows of an AR(2) and a random precision matrix, n = 2000, divided by their largest norm; symmetric Gaussian noise at
delta 1e-3 and sensitivity sqrt(2)/n, then the eigenvalues raised to 1e-4 of the mean diagonal; penalised diagonal;
twenty penalties down to a hundredth of the largest. Gap 1e-6 per variable, one thread, one process.

A peer gets the matrix divided by its mean diagonal (gglasso also its last answer to start from) and is charged, at each
lambda, the loosest of its settings that came within 1e-6 per variable of a reference certified to 1e-9. Where none did,
its default is charged and the miss is counted. Peers see a sample of replicates and every second or fourth lambda, so
gglasso starts from a little further away than it would on the whole path; we are charged the whole path.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.glasso import lambda_max, solve, solve_path, warm_up
from privcov.postprocess.spectrum import clip_psd

N, DELTA, FLOOR = 2000, 1e-3, 1e-4
CLOSE = 1e-6
MODELS = ("precision-ar2", "precision-random")
SKLEARN = (1e-3, 1e-4, 1e-5, 1e-6)  # tol, on the whole gap; the default is 1e-4
GGLASSO = (1e-3, 1e-4, 1e-5, 1e-6)  # rtol; the default is 1e-4
DEFAULT = 1e-4


def matrix(model: str, d: int, epsilon: float | None, repeat: int, *, raw: bool = False) -> np.ndarray:
    """A second moment as the mechanism releases it (epsilon None: without noise), over its mean diagonal."""
    source = build(SOURCES.get(model).cls, model, {"n": N, "d": d})
    rows = make_dataset(source, seed=0, repeat=repeat).rows
    rows = rows / np.sqrt((rows**2).sum(axis=1).max())
    s = rows.T @ rows / N
    if epsilon is not None:
        scale = accounting.gaussian_scale(ApproxDP(epsilon, DELTA), np.sqrt(2) / N)
        noise = np.triu(np.random.default_rng([repeat, d]).normal(0.0, scale, (d, d)))
        s = s + noise + np.triu(noise, 1).T
        if not raw:
            s = clip_psd(s, FLOOR * np.trace(s) / d)
    s = (s + s.T) / 2
    return s / (np.trace(s) / d)


def objective(s: np.ndarray, lam: float, t: np.ndarray) -> float:
    """With the diagonal penalised; infinite where t is not definite."""
    if not np.isfinite(t).all() or np.linalg.eigvalsh(t)[0] <= 0:
        return np.inf
    return float(-np.linalg.slogdet(t)[1] + np.sum(s * t) + lam * np.abs(t).sum())


def by_sklearn(s: np.ndarray, lam: float, tol: float, _state) -> tuple[np.ndarray, None]:
    from sklearn.covariance import graphical_lasso

    _, theta = graphical_lasso(s + lam * np.eye(len(s)), lam, tol=tol)
    return (theta + theta.T) / 2, None


def by_gglasso(s: np.ndarray, lam: float, rtol: float, state) -> tuple[np.ndarray, dict]:
    from gglasso.solver.single_admm_solver import ADMM_SGL

    start = {"Omega_0": np.eye(len(s))}
    if state is not None:
        start = {"Omega_0": state["Omega"], "Theta_0": state["Theta"], "X_0": state["X"]}
    answer, _ = ADMM_SGL(s + lam * np.eye(len(s)), lam, tol=1e-7, rtol=rtol, max_iter=5000, **start)
    return answer["Theta"], answer


PEERS = {"scikit-learn": (by_sklearn, SKLEARN), "gglasso": (by_gglasso, GGLASSO)}


@dataclass
class Tally:
    """Some rows of the table: milliseconds per lambda of each solver on each matrix, and the misses of the peers."""

    ours: list[float] = field(default_factory=list)
    theirs: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    missed: Counter = field(default_factory=Counter)
    tried: Counter = field(default_factory=Counter)

    def told(self, who: str, aim: float) -> str:
        """The median over matrices of the ratio, its range, and the median times."""
        ratios = np.array(self.theirs[who]) / np.array(self.ours)
        told = f"{np.median(ratios):.1f} x ours, by {who} ({ratios.min():.1f} to {ratios.max():.1f}; aim {aim:g}; "
        told += f"{np.median(self.theirs[who]):.3g} / {np.median(self.ours):.3g} ms per lambda, "
        return told + f"{self.missed[who]} of {self.tried[who]} missed)"


def charge(tally: Tally, who: str, s: np.ndarray, lams: np.ndarray, limits: list[float]) -> None:
    """Time a peer on these penalties, each at the loosest setting whose objective stays under its limit."""
    call, settings = PEERS[who]
    state, seconds = None, []
    for lam, limit in zip(lams, limits, strict=True):
        answer, taken = None, {}
        for setting in settings:
            start = time.perf_counter()
            try:
                theta, answer = call(s, lam, setting, state)
            except (FloatingPointError, np.linalg.LinAlgError):
                theta = np.full_like(s, np.nan)
            taken[setting] = time.perf_counter() - start
            if objective(s, lam, theta) <= limit:
                seconds.append(taken[setting])
                break
        else:
            seconds.append(taken[DEFAULT])
            tally.missed[who] += 1
        state = answer
    tally.tried[who] += len(lams)
    tally.theirs[who].append(1e3 * float(np.mean(seconds)))


def compare(
    tally: Tally, s: np.ndarray, lams: np.ndarray, peers: tuple[str, ...] = tuple(PEERS), every: int = 1, times: int = 3
) -> list[PathPoint]:
    """One path: ours (median of several), then the peers on one lambda in ``every``. Returns our fits."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        fits = solve_path(s, lams, penalise_diagonal=True)
        taken.append(time.perf_counter() - start)
    tally.ours.append(1e3 * float(np.median(taken)) / len(lams))
    some = lams[every - 1 :: every]
    best = solve_path(s, some, penalise_diagonal=True, tol=1e-9)
    limits = [objective(s, fit.lam, fit.precision) + CLOSE * len(s) for fit in best]
    for who in peers:
        charge(tally, who, s, some, limits)
    return list(fits)


def path(s: np.ndarray, points: int = 20) -> np.ndarray:
    return np.geomspace(1.0, 0.01, points) * lambda_max(s)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """One BLAS thread, every solver imported and compiled, and nothing said by the peers: gglasso prints on every call,
    and both warn where they stop early; what counts is their objective.
    """
    with threadpool_limits(1), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        _ready()
        yield


@cache
def _ready() -> None:
    warm_up()
    for call, _ in PEERS.values():
        call(np.eye(3) + 0.5, 0.1, DEFAULT, None)


@dataclass(frozen=True)
class Paths:
    """Whole paths: matrices of each model at each epsilon. goals: (peer's time over ours, what we aim for), by peer."""

    what: str
    d: int
    points: int
    levels: tuple[float | None, ...]
    models: tuple[str, ...]
    every: int
    goals: tuple[tuple[int, int], tuple[int, int]]


PATHS = (
    Paths("ROC d=20, epsilon 1, 2, none", 20, 20, (1.0, 2.0, None), MODELS, 2, ((25, 50), (35, 60))),
    Paths("ROC d=100, no noise", 100, 20, (None,), MODELS, 4, ((15, 30), (15, 30))),
    Paths("ROC d=100, epsilon 1 and 2", 100, 20, (1.0, 2.0), MODELS, 4, ((5, 10), (5, 10))),
    Paths("8 lambdas d=200, epsilon 2", 200, 8, (2.0,), MODELS[:1], 1, ((5, 10), (4, 8))),
)
SINGLES = (("up to 5 %", 0.05, 10, 25), ("up to 35 %", 0.35, 3, 6))  # densities, goals and aims


@cache
@quiet()
def whole(paths: Paths) -> tuple[Tally, list[PathPoint]]:
    """Whole paths, from the largest penalty down."""
    tally, fits, times = Tally(), [], 5 if paths.d < 200 else 3
    for s in [matrix(m, paths.d, e, 0) for m in paths.models for e in paths.levels]:
        fits += compare(tally, s, path(s, paths.points), every=paths.every, times=times)
    return tally, fits


@cache
@quiet()
def one_lambda(density: float) -> tuple[Tally, list[PathPoint]]:
    """One penalty at d = 500, from cold."""
    tally, fits = Tally(), []
    for s in [matrix(model, 500, epsilon, 0) for model in MODELS for epsilon in (2.0, None)]:
        fits += compare(tally, s, np.array([thinnest(s, density)]), ("scikit-learn",))
    return tally, fits


@cache
@quiet()
def two_threads() -> tuple[str, list[PathPoint]]:
    """3 levels x 50 replicates x 20 penalties at d = 20 on two threads and on one, in turns."""
    given = [matrix(MODELS[0], 20, e, r) for e in (1.0, 2.0, None) for r in range(50)]
    taken: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(5):
        for threads, seconds in taken.items():
            with ThreadPoolExecutor(threads) as pool:
                start = time.perf_counter()
                paths = list(pool.map(lambda s: solve_path(s, penalise_diagonal=True), given))
                seconds.append(time.perf_counter() - start)
    one, two = (float(np.median(seconds)) for seconds in taken.values())
    return f"{one / two:.2f} x one thread ({one:.2f} / {two:.2f} s)", [fit for path in paths for fit in path]


@quiet()
def failures() -> str:
    """Share of the feasible problems above, and of paths of indefinite matrices, that were not solved as asked."""
    feasible = [fit for fit in raw() if fit.status != "infeasible"]
    fits = [fit for group in PATHS for fit in whole(group)[1]] + two_threads()[1] + feasible
    fits += [fit for _, density, *_ in SINGLES for fit in one_lambda(density)[1]]
    failed = sum(fit.status != "ok" for fit in fits)
    return (
        f"{failed / len(fits):.5f} x the feasible problems ({failed} of {len(fits)}, {len(feasible)} of them on "
        "indefinite matrices)"
    )


def raw() -> list[PathPoint]:
    """Paths of the indefinite matrices themselves, both treatments of the diagonal."""
    return [
        fit
        for model in MODELS
        for epsilon in (1.0, 2.0)
        for repeat in range(10)
        for ridged in (False, True)
        for fit in solve_path(matrix(model, 20, epsilon, repeat, raw=True), penalise_diagonal=ridged)
    ]


def thinnest(s: np.ndarray, density: float) -> float:
    """The smallest penalty of the path whose graph links at most this share of the pairs."""
    d, last = len(s), lambda_max(s)
    for lam in path(s):
        t = solve(s, lam, penalise_diagonal=True).precision
        if np.count_nonzero(t) - d > density * d * (d - 1):
            break
        last = lam
    return last


def glasso() -> Iterator[tuple[str, Callable[[], str], str]]:
    """Times of the peers over ours, on whole paths and on one lambda; two threads; failures."""
    for group in PATHS:
        for who, (goal, aim) in zip(PEERS, group.goals, strict=True):
            yield f"{group.what}: {who}", lambda g=group, w=who, a=aim: whole(g)[0].told(w, a), f">= {goal}"
    for what, density, goal, aim in SINGLES:
        name = f"one lambda d=500, density {what}: scikit-learn"
        yield name, lambda x=density, a=aim: one_lambda(x)[0].told("scikit-learn", a), f">= {goal}"
    yield "ROC d=20, 3 levels x 50 x 20, two threads", lambda: two_threads()[0], ">= 1.5"
    yield "problems not solved", failures, "<= 0"
