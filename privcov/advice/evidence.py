"""The evidence in data/advice: its cells, and which of them is nearest to a question; no row of any data set."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd

from privcov import accounting, checks
from privcov.advice.grid import FOLDER, FORMAT, TARGETS, guarantee_of
from privcov.estimators.base import METHODS
from privcov.measurements.moment import sensitivity
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP

AT = ["structure", "n", "d", "kind", "level"]
OTHERS = ("diagonal", "non-private")


@dataclass(frozen=True)
class Point:
    """One place of the grid. strength: of the noise, see `strength_of`."""

    n: int
    d: int
    kind: str
    level: float
    strength: float

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee at this point."""
        return guarantee_of(self.kind, self.level)


@dataclass(frozen=True)
class Answer:
    """An error and its standard error (0 where the number is exact)."""

    error: float
    se: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tidy evidence of one target (`AT`, method, error, se), and row bound over usual row length by structure."""

    target: str
    table: pd.DataFrame
    cells: dict
    points: tuple[Point, ...]
    ratios: dict
    replicates: int

    def at(self, structure: str, point: Point) -> dict[str, Answer]:
        """Return every measured answer of a cell; the zero matrix (or the empty graph) errs by 1."""
        return {"zero": Answer(1.0, 0.0)} | self.cells[(structure, point.n, point.d, point.kind, point.level)]


@lru_cache(maxsize=8)
def read(target: str, folder: Path = FOLDER) -> Evidence:
    """Return a target's evidence; raise ValueError for a table that this version of the project cannot have written."""
    checks.one_of("target", target, tuple(TARGETS))
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    path = folder / f"{target}.csv"
    wide = pd.read_csv(path)
    if about.get("format") != FORMAT:
        raise ValueError(f"{path.name} has the format {about.get('format')!r}, not {FORMAT!r}. Measure it again.")
    methods = [c for c in wide.columns if c not in AT and not c.endswith(" se")]
    allowed = {*(c.key for c in METHODS.all()), *OTHERS}
    for method in methods:
        if method not in allowed:
            raise ValueError(f"{path.name} has a column {method!r}, which is no method. Measure it again.")
    parts = [wide[AT].assign(method=m, error=wide[m], se=wide[f"{m} se"]) for m in methods]
    table = pd.concat(parts, ignore_index=True).dropna(subset=["error"])
    cells: dict = {}
    for *at, method, error, se in table.itertuples(index=False):
        cells.setdefault(tuple(at), {})[method] = Answer(error, 0.0 if math.isnan(se) else se)
    ratios = {key: facts["length_ratio"] for key, facts in about["structures"][target].items()}
    points = tuple(_point(at) for at in dict.fromkeys(key[1:] for key in cells))
    return Evidence(target, table, cells, points, ratios, about["replicates"])


@lru_cache(maxsize=1024)
def strength_of(guarantee: Guarantee) -> float:
    """Return what the noise's standard deviation is inversely proportional to: mu, or epsilon for pure DP."""
    return guarantee.epsilon if isinstance(guarantee, PureDP) else accounting.mu_of(guarantee)


def guarantee_from(kind: str, strength: float, delta: float | None) -> PureDP | ApproxDP | ZCDP:
    """Return the guarantee of a strength, the inverse of `strength_of`, for ``delta`` where the kind has one."""
    if kind == "pure":
        return PureDP(strength)
    if kind == "zcdp":
        return ZCDP(strength**2 / 2)
    assert delta is not None  # the kind has one
    return ApproxDP(accounting.epsilon_of_gaussian(delta, strength), delta)


def noise_factor(kind: str, d: int, *, mean_known: bool, add_remove: bool, lengths: float, persons: int) -> float:
    """Return how many times larger the noise of a question is than that of a cell with the same n, d and guarantee.

    lengths: (row bound over usual row length) of the question divided by that of the cell. persons: rows that one
    person may have. In the cells the mean and n are known, so measuring the mean as well, or protecting the number of
    rows, changes the sensitivity.
    """
    norm = "nuclear" if kind == "pure" else "l2"
    relation = "add-remove" if add_remove else "replace-one"
    joint = 1 if add_remove or not mean_known else 0
    needed = sensitivity(d, 1, norm=norm, n_anchors=joint, relation=relation)
    return persons * lengths**2 * needed / sensitivity(d, 1, norm=norm, n_anchors=0)


def nearest(evidence: Evidence, n: int, d: int, kind: str, strength: float) -> tuple[Point, float]:
    """Return the nearest place of the grid, and its distance: the largest of the factors in n, d and noise over signal.

    Nearness is measured on logarithms of n, of d and of n times the strength, on which noise over signal depends.
    """

    def apart(point: Point) -> tuple[float, ...]:
        noise = math.log(point.n * point.strength / (n * strength))
        return math.log(point.n / n), math.log(point.d / d), noise

    points = [p for p in evidence.points if p.kind == kind]
    best = min(points, key=lambda p: (sum(x**2 for x in apart(p)), p.n))
    return best, math.exp(max(abs(x) for x in apart(best)))


def _point(at: tuple[int, int, str, float]) -> Point:
    n, d, kind, level = at
    return Point(int(n), int(d), kind, float(level), strength_of(guarantee_of(kind, float(level))))
