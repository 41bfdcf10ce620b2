"""The measured evidence behind `advise`: simulated cells over n, d and the guarantee, kept in data/advice.

`measure` computes a target's cells and writes them; everything else in the advice only reads them. A run that was
interrupted goes on where it stopped, because the cells go through the store of finished runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privcov import places
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS, Method
from privcov.metrics.graphs import compare, edges
from privcov.parameters import build
from privcov.privacy import ApproxDP, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.releasing.run import build_method, run_method
from privcov.sweeps.cells import cells
from privcov.sweeps.plan import Plan
from privcov.sweeps.store import Store, guarantee_part, key_of, method_part, place_part

FOLDER = places.results("advice")
FORMAT = "advice-1"
SEED, REPLICATES = 0, 6
DELTA = 1e-6
NS = (300, 1_000, 5_000, 20_000, 100_000)
LEVELS = {"zcdp": (0.001, 0.01, 0.1, 1.0), "approx": (0.1, 0.3, 1.0, 3.0, 10.0), "pure": (0.1, 0.3, 1.0, 3.0, 10.0)}
# Past this many columns a method is too slow for a table that is to be computed again within minutes.
LARGEST = {"em-cov": 40, "output-perturbation": 15}
Here = dict[tuple[str, float], Guarantee]  # by (kind, level)
NONPRIVATE = {"covariance": "gaussian-cov", "precision": "auto-precision", "graph": "auto-precision"}


@dataclass(frozen=True)
class Structure:
    """A structure that a matrix may have, and the source that represents it.

    label: the rest of a sentence that begins with "If". metric: for the covariance of a source without a population
    matrix, the error to the sample.
    """

    key: str
    label: str
    source: str
    params: tuple[tuple[str, object], ...] = ()
    metric: str = "relative-frobenius-to-truth"


@dataclass(frozen=True)
class Target:
    """What is estimated: its structures, the columns of its grid, and the trivial answers beside the zero matrix."""

    key: str
    structures: tuple[Structure, ...]
    ds: tuple[int, ...]
    measure: str


_TO_SAMPLE = "relative-frobenius-to-sample"
_COVARIANCES = (
    Structure("independent", "most columns are nearly uncorrelated", "sparse-covariance"),
    Structure("banded", "few pairs of columns are correlated", "banded-covariance"),
    Structure("fading", "correlations fade with distance", "ar1-covariance", (("rho", 0.6),)),
    Structure("dense", "most pairs are strongly correlated", "ar1-covariance", (("rho", 0.9),)),
    Structure("low-rank", "a few directions explain most of the variance", "zipf-norms", (("bins", 1),), _TO_SAMPLE),
    Structure("skewed", "a few rows are much longer than the rest", "zipf-norms", (("bins", 4),), _TO_SAMPLE),
)
_AR2 = Structure("banded", "each column is linked to its nearest neighbours only", "precision-ar2")
_RANDOM = Structure("random", "few links, in no order", "precision-random")
_FULL = Structure("dense", "every pair is linked, each weakly", "precision-full")
TARGETS = {
    t.key: t
    for t in (
        Target("covariance", _COVARIANCES, (5, 15, 40, 100), "error of the matrix, relative (Frobenius)"),
        Target("precision", (_AR2, _RANDOM, _FULL), (5, 15, 40), "error of the matrix, relative (Frobenius)"),
        Target("graph", (_AR2, _RANDOM), (5, 15, 40), "1 - Matthews correlation of the edges"),
    )
}


def guarantee_of(kind: str, level: float) -> Guarantee:
    """Return the guarantee of a kind at a level of the grid."""
    guarantees: dict[str, Guarantee] = {"zcdp": ZCDP(level), "pure": PureDP(level), "approx": ApproxDP(level, DELTA)}
    return guarantees[kind]


def ranked(target: str) -> list[str]:
    """Return the methods that are measured: proved, with a trusted curator. A graph is read off a precision matrix."""
    of = "covariance" if target == "covariance" else "precision"
    return [c.key for c in METHODS.all() if c.target == of and c.standing == "proved" and c.trust == "central"]


def columns_of(target: str) -> list[str]:
    """Return the answers of a target's table, trivial and non-private ones included, but not zero, which errs by 1."""
    return [*ranked(target), *(["diagonal"] if target != "graph" else []), "non-private"]


def measure(
    target: str, store: Store | None = None, progress: Callable[[int, int], None] | None = None, **smaller: Any
) -> pd.DataFrame:
    """Return the tidy evidence of a target.

    Its columns are structure, n, d, kind, level, method, error, se (standard error) and replicates. smaller:
    structures, ns, ds, levels, replicates instead of the whole grid. se is NaN for a number that is exact. A method
    that gave no answer in some replicate has error NaN there. progress(done, total) is called as the work goes on.
    """
    rows = list(_rows(TARGETS[target], store, progress, **smaller))
    table = pd.DataFrame(rows, columns=["structure", "n", "d", "kind", "level", "method", "value"])
    grouped = table.groupby(["structure", "n", "d", "kind", "level", "method"], sort=False)["value"]
    summary = grouped.agg(
        error=lambda v: v.mean(skipna=False),
        se=lambda v: v.std(ddof=1, skipna=False) / np.sqrt(len(v)) if len(v) > 1 else np.nan,
        replicates="size",
    )
    return summary.reset_index()


def _rows(
    target: Target,
    store: Store | None,
    progress: Callable[[int, int], None] | None,
    structures: Sequence[str] | None = None,
    ns: Sequence[int] = NS,
    ds: Sequence[int] | None = None,
    levels: Mapping[str, Sequence[float]] | None = None,
    replicates: int = REPLICATES,
) -> Iterator[tuple]:
    """Yield (structure, n, d, kind, level, method, value) of every run."""
    levels = LEVELS if levels is None else levels
    wanted = [s for s in target.structures if structures is None or s.key in structures]
    sizes = [(s, n, d) for s in wanted for n in ns for d in (ds or target.ds)]
    for done, (structure, n, d) in enumerate(sizes):
        if progress is not None:
            progress(done, len(sizes))
        filled = _graphs if target.key == "graph" else _matrices
        here = {(k, g): guarantee_of(k, g) for k, strengths in levels.items() for g in strengths}
        methods = [m for m in ranked(target.key) if d <= LARGEST.get(m, d)]
        for kind, level, method, value in filled(target, structure, n, d, here, methods, replicates, store):
            yield structure.key, n, d, kind, level, method, value
        if target.key == "precision":
            for kind, level in here:
                yield structure.key, n, d, kind, level, "diagonal", _exact_diagonal(structure, n, d)
    if progress is not None:
        progress(len(sizes), len(sizes))


def _matrices(
    target: Target,
    structure: Structure,
    n: int,
    d: int,
    here: Here,
    methods: list[str],
    replicates: int,
    store: Store | None,
) -> Iterator[tuple]:
    """Yield the errors of matrices, by the project's own plans."""
    names = {guarantee: at for at, guarantee in here.items()}
    trivial = ["diagonal"] if target.key == "covariance" else []
    jobs = ((list(names), [*methods, *trivial]), ([NoPrivacy()], [NONPRIVATE[target.key]]))
    for guarantees, entries in jobs:
        plan = Plan(
            source=structure.source,
            source_params=dict(structure.params) | {"n": n, "d": d},
            methods=entries,
            guarantees=guarantees,
            metrics=[structure.metric],
            replicates=replicates,
            seed=SEED,
        )
        for row in (row for cell in cells([plan], store) for row in cell):
            if row["guarantee"] == "none":
                for kind, level in here:
                    yield kind, level, "non-private", row["value"]
                continue
            kind = row["guarantee"]
            yield kind, row["rho"] if kind == "zcdp" else row["epsilon"], row["method"], row["value"]


def _graphs(
    target: Target,
    structure: Structure,
    n: int,
    d: int,
    here: Here,
    methods: list[str],
    replicates: int,
    store: Store | None,
) -> Iterator[tuple]:
    """Yield 1 - Matthews correlation of drawn and true edges: 0 is perfect; guessing, no edge and every edge have 1."""
    source = build(SOURCES.get(structure.source).cls, f"Source {structure.source!r}", {"n": n, "d": d})
    bound = source.default_row_bound(SEED)
    place = place_part(source, bound, SEED)
    built = {m: build_method(m, {}) for m in {*methods, NONPRIVATE["graph"]}}
    for replicate in range(replicates):
        drawn = None
        runs = [(m, at, g) for m in methods for at, g in here.items()]
        for key, at, guarantee in [*runs, (NONPRIVATE["graph"], None, NoPrivacy())]:
            method = built[key]
            if method.card.refuses(guarantee.kind):
                continue
            name = [key_of(place, method_part(method, {}), guarantee_part(guarantee), replicate, "one-minus-matthews")]
            cell = None if store is None else store.get(name)
            if cell is None:
                drawn = drawn or make_dataset(source, seed=SEED, repeat=replicate, row_bound=bound)
                cell = [_mistaken(method, drawn, guarantee, replicate)]
                if store is not None:
                    store.put(name, cell)
            for kind, level in here if at is None else [at]:
                yield kind, level, "non-private" if at is None else key, cell[0][1]


def _mistaken(method: Method, dataset: Dataset, guarantee: Guarantee, replicate: int) -> tuple[str, float, str]:
    """Return the cell (target, value, problem) of one graph."""
    truth = dataset.truth
    assert truth is not None  # the structures of a graph are generated from a precision matrix
    assert truth.precision is not None
    true = edges(truth.precision)
    try:
        release = run_method(method, dataset, guarantee, seed=SEED, repeat=replicate)
    except ValueError as problem:
        return "graph", float("nan"), str(problem)
    counts = compare(edges(release.precision), true)
    sizes = (counts.tp + counts.fp, counts.tp + counts.fn, counts.tn + counts.fp, counts.tn + counts.fn)
    if not all(sizes):
        return "graph", 1.0, ""
    return "graph", 1.0 - (counts.tp * counts.tn - counts.fp * counts.fn) / math.sqrt(math.prod(sizes)), ""


def _exact_diagonal(structure: Structure, n: int, d: int) -> float:
    """Return the error of one over the true variances: the best that a diagonal answer could reach, without noise."""
    source = build(SOURCES.get(structure.source).cls, f"Source {structure.source!r}", {"n": n, "d": d})
    truth = source.truth(SEED)
    theta = np.linalg.inv(truth.covariance) if truth.precision is None else truth.precision
    return float(np.linalg.norm(np.diag(1 / np.diag(truth.covariance)) - theta) / np.linalg.norm(theta))


# --- the files ----------------------------------------------------------------------------------------------


def write(target: str, table: pd.DataFrame, folder: Path) -> Path:
    """Write one line per cell and two columns per answer, "method" and "method se", in three significant digits."""
    wide = table.pivot(index=["structure", "n", "d", "kind", "level"], columns="method", values=["error", "se"])
    order = {s.key: i for i, s in enumerate(TARGETS[target].structures)}
    wide = wide.sort_index(key=lambda at: at.map(order) if at.name == "structure" else at)
    lines = [",".join([*wide.index.names, *(c for m in columns_of(target) for c in (m, f"{m} se"))])]
    for at, row in wide.iterrows():
        numbers = [_short(row[(part, m)]) for m in columns_of(target) for part in ("error", "se")]
        lines.append(",".join([*(f"{v:g}" if isinstance(v, float) else str(v) for v in at), *numbers]))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{target}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _short(value: float) -> str:
    if not np.isfinite(value):
        return ""
    text = f"{value:.3g}".replace("e-0", "e-")
    return text[1:] if text.startswith("0.") else text


def _length_ratio(structure: Structure) -> float:
    """Return the row bound over the root mean square length of simulated rows; the noise grows with its square."""
    params = dict(structure.params) | {"n": 20_000, "d": 15}
    source = build(SOURCES.get(structure.source).cls, f"Source {structure.source!r}", params)
    drawn = make_dataset(source, seed=SEED)
    return float(f"{drawn.row_bound / np.sqrt((drawn.to_working() ** 2).sum(axis=1).mean()):.3g}")


def write_about(folder: Path) -> None:
    """Write seed, replicates, sources and versions: all that is needed to compute the tables again."""
    about = {
        "format": FORMAT,
        "seed": SEED,
        "replicates": REPLICATES,
        "delta": DELTA,
        "structures": {
            t.key: {
                s.key: {"source": s.source, **dict(s.params), "metric": s.metric, "length_ratio": _length_ratio(s)}
                for s in t.structures
            }
            for t in TARGETS.values()
        },
        "versions": {c.key: c.version for c in METHODS.all() if c.standing == "proved" or c.key == "diagonal"},
    }
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
