"""What patterns of columns gain on simulators: section "structure".

auto-cov over auto-cov with structure="off", on the same rows and the same noise, mean zero, to the covariance of the
rows. The estimates and their constants were chosen on other sources and seeds, with 10 to 40 columns; nothing was
chosen here.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from privcov.core.guarantees import ZCDP
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.metrics.errors import error, reference_matrix
from privcov.releases.public import build_method, run_method
from privcov.tables.dataset import Dataset

STRUCTURED = ("ar1-covariance", "banded-covariance", "block-covariance", "precision-ar2", "precision-full")
OTHERS = ("sparse-covariance", "precision-wishart", "precision-random", "sparse-inverse", "zipf-norms")
UNSEEN = {
    "ar1-covariance rho=0.9": {"rho": 0.9},
    "ar1-covariance rho=-0.5": {"rho": -0.5},
    "banded-covariance t5": {"family": "t5"},
    "block-covariance size=7 within=0.3": {"size": 7, "within": 0.3},
    "sparse-covariance sparsity=0.02": {"sparsity": 0.02},
    "zipf-norms bins=16": {"bins": 16},
}
LEVELS = [ZCDP(rho) for rho in (0.001, 0.01, 0.1, 1.0)]
SIZES = [{"d": d, "n": n} for d in (20, 60) for n in (2_000, 50_000)]
RATES = [{"d": d, "r": r} for d in (20, 60) for r in (1.0, 30.0)]  # of sparse-inverse, whose n is r d
SEEDS, DRAWS, FIRST = 3, 8, 97_000
SECONDS = 2.5


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _diagonal(rel, rows: Dataset) -> float:
    """Error of the noisy diagonal of the same release, nothing below zero."""
    on = np.maximum(np.diag(rel.noisy_moment.matrix), 0.0) * rel.row_bound**2
    return float(np.linalg.norm(np.diag(on) - reference_matrix(rows, "covariance", "sample")))


@cache
def _cells(source: str) -> dict[str, tuple[float, float, float]]:
    """Setting -> mean errors: without patterns, of the mixture, of the better of zero and the noisy diagonal.

    source: a key, and what stands behind it in UNSEEN.
    """
    key, own = source.split(" ", maxsplit=1)[0], UNSEEN.get(source, {})
    methods = [
        build_method("auto-cov", {"structure": structure, "target": "sample"}) for structure in ("off", "mixture")
    ]
    found = {}
    for size in RATES if key == "sparse-inverse" else SIZES:
        errors: dict[ZCDP, list[list[float]]] = {level: [] for level in LEVELS}
        for seed in range(FIRST, FIRST + SEEDS):
            rows = make_dataset(build(SOURCES.get(key).cls, key, size | own), seed=seed)
            zero = float(np.linalg.norm(reference_matrix(rows, "covariance", "sample")))
            for level, draw in itertools.product(LEVELS, range(DRAWS)):
                rels = [run_method(method, rows, level, seed=seed, repeat=draw) for method in methods]
                errors[level].append([*(error(rel, rows) for rel in rels), zero, _diagonal(rels[0], rows)])
        for level, each in errors.items():
            off, mixed, zero, diagonal = np.mean(each, axis=0)
            found[f"{size} at {level}"] = float(off), float(mixed), float(min(zero, diagonal))
    return found


def _told(source: str) -> str:
    ratios = {where: mixed / off for where, (off, mixed, _) in _cells(source).items()}
    worst = max(ratios, key=ratios.get)
    return f"{_mean([*ratios.values()]):.3f} x auto-cov without patterns (worst {ratios[worst]:.3f}, {worst})"


def _over_plain(sources: tuple[str, ...]) -> str:
    ratios = [mixed / off for source in sources for off, mixed, _ in _cells(source).values()]
    return f"{_mean(ratios):.3f} x auto-cov without patterns"


def _guard(which: int) -> str:
    """Over the better of zero and the noisy diagonal. which: 0 without patterns, 1 the mixture."""
    cells = {(source, where): three[which] / three[2] for source in (*STRUCTURED, *OTHERS, *UNSEEN)
             for where, three in _cells(source).items()}  # fmt: skip
    worst = max(cells, key=cells.get)
    above = sum(ratio > 1.02 for ratio in cells.values())
    return (
        f"{cells[worst]:.3f} x the better of zero and the noisy diagonal ({above} of {len(cells)} cells above 1.02; "
        f"{worst[0]}, {worst[1]})"
    )


def _time() -> str:
    """One release from fresh rows; what is made once for a data set is made again."""
    rows = make_dataset(build(SOURCES.get("ar1-covariance").cls, "ar1", {"d": 200, "n": 50_000}), seed=FIRST)
    method, taken = build_method("auto-cov", {}), []
    for _ in range(5):
        fresh = Dataset.from_rows(rows.rows, rows.row_bound, mean_is_zero=True, name=rows.name)
        start = time.perf_counter()
        run_method(method, fresh, ZCDP(0.1), seed=0)
        taken.append(time.perf_counter() - start)
    seconds = float(np.median(taken))
    return f"{seconds / SECONDS:.2f} x {SECONDS} s ({seconds:.2f} s)"


def structure() -> Iterator[tuple[str, Callable[[], str], str]]:
    """The mixture over shrinkage alone, by simulator, and nowhere worse than answers that need no thought."""
    for source in (*STRUCTURED, *OTHERS, *UNSEEN):
        yield source, lambda source=source: _told(source), "<= 1.05"
    yield "structured simulators, geometric mean", lambda: _over_plain(STRUCTURED), "<= 0.75"
    yield "all simulators, geometric mean", lambda: _over_plain((*STRUCTURED, *OTHERS)), ""
    yield "guard, mixture, worst cell", lambda: _guard(1), "<= 1.02"
    yield "guard, without patterns, worst cell", lambda: _guard(0), ""
    yield "time, d=200 n=50000", _time, "<= 1"
