"""The tables of the papers: their cells, with the printed and the computed numbers of each beside each other.

Printed numbers are in data/published, computed ones in data/reproduced (see `replication.reproduce`). The tables
themselves are in the papers' modules, and all of them in `replication.catalogue`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from privcov.core import paths
from privcov.studies.plan import Plan
from privcov.tables.dataset import Dataset, Truth

PUBLISHED, REPRODUCED = paths.shipped() / "published", paths.results("reproduced")
# What names a cell, as text; "" where a table has no such thing.
KEYS = ("model", "law", "data", "n", "d", "r", "epsilon", "delta", "method")
LITERAL, SOUND = "as published", "sound"
SAME_ORDER = math.sqrt(10)
ERRORS, DEVIATIONS = "standard errors", "deviations"
ENOUGH = 0.75  # fraction of cells within error, or within CLOSE, for "reproduced"
CLOSE = 0.10  # relative distance that counts as agreement where Monte-Carlo errors are smaller


@dataclass(frozen=True)
class Number:
    """One computed value of one replicate; ``problem`` says why it is NaN."""

    keys: Mapping[str, str]
    metric: str
    value: float
    problem: str = ""


@dataclass(frozen=True)
class Point:
    """Cells that are computed together, because they share rows.

    ``literal`` computes one replicate as the paper describes it. ``plan`` is the `Plan` of the sound numbers, and
    ``read`` finds the cell of a row of its table; ``sound`` computes them where no plan can. ``ready`` raises
    MissingData where the rows are not there. ``small`` has replicates of the small preset other than the table's.
    """

    name: str
    literal: Callable[[int, int], list[Number]] | None = None
    plan: Callable[[int, int], Plan] | None = None
    read: Callable[[Mapping], tuple[dict, str]] | None = None
    unit: float = 1.0
    sound: Callable[[int, int], list[Number]] | None = None
    methods: tuple[str, ...] = ()
    ready: Callable[[], None] | None = None
    small: tuple[int, int] | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        """Which of "as published" and "sound" can be computed here."""
        ways = ((LITERAL, self.literal), (SOUND, self.plan or self.sound))
        return tuple(name for name, way in ways if way is not None)


@dataclass(frozen=True)
class Table:
    """One printed table (or, without ``file``, a computation that tests a doubt about one).

    ``choices`` is how what the paper leaves open was set, ``replicates`` the printed number, ``small`` that of the
    small preset, as published and sound, and ``trivial`` the error of an answer that needs no data. ``version`` rises
    when the numbers change.
    """

    key: str
    paper: int
    where: str
    title: str
    error: str
    points: tuple[Point, ...]
    choices: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    file: str = ""
    replicates: int = 50
    small: tuple[int, int] = (10, 10)
    version: int = 1
    needs: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("method",)
    trivial: float = math.inf


@dataclass(frozen=True)
class View:
    """How a panel of a figure is drawn along ``x`` and judged along ``along``; ``x`` is a key of `curves.WORDS`.

    Rows are counted at the value ``at``. ``strength`` is the inverse of the noise, up to a factor; None where that does
    not vary. ``more`` is a table with further points of the sound curves.
    """

    x: str
    metric: str = "frobenius"
    along: str = ""
    at: float = math.nan
    strength: Callable[[float], float] | None = None
    more: str = ""

    @property
    def judged_along(self) -> str:
        """The column along which the claim of the text is read."""
        return self.along or self.x


@lru_cache(maxsize=64)
def _read(path: Path, stamp: int) -> pd.DataFrame:
    """Read a file of printed or computed numbers; ``stamp`` changes when the file does."""
    text = [*KEYS, "metric", "doubt", "problem", "variant", "version", "value"]
    table = pd.read_csv(path, dtype=dict.fromkeys(text, str), keep_default_na=False)
    if "doubt" in table:  # printed: the value also as it stands in the paper ("NA" is a printed word)
        table["printed_value"] = table["value"]
    for name in ("value", "se", "sd"):
        if name in table:  # a word means "NA", or that no replicate gave a number
            table[name] = pd.to_numeric(table[name], errors="coerce").astype(float)
    return table


def _load(path: Path) -> pd.DataFrame:
    return _read(path, path.stat().st_mtime_ns).copy()


def printed(table: Table) -> pd.DataFrame:
    """Return the printed cells: KEYS, metric, value (NaN for NA), printed_value, se, doubt."""
    return _load(PUBLISHED / table.file)


def text_claims(table: Table) -> pd.DataFrame:
    """Return the statements of the text about a figure, in our words."""
    statements = pd.read_csv(PUBLISHED / "figures.csv", dtype=str, keep_default_na=False)
    name = table.where.removeprefix("Figure ").split(",")[0].split(" (")[0]
    spoken_of = statements["figure"].str.split(" and ").map(lambda figures: name in figures)
    return statements[(statements["paper"] == str(table.paper)) & spoken_of]


def stored(key: str, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return what `reproduce` stored for a table, with the columns `COMPUTED`; empty where nothing was computed."""
    path = folder / f"{key}.csv"
    return _load(path) if path.exists() else pd.DataFrame(columns=COMPUTED)


COMPUTED = [*KEYS, "metric", "variant", "point", "value", "sd", "replicates", "failed", "problem", "seed", "version"]
COMPUTED.append("made_with")


def standard_error(cells: pd.DataFrame) -> pd.Series:
    """Return sd / sqrt(replicates); NaN for a single replicate."""
    return cells["sd"] / np.sqrt(cells["replicates"])


def join_printed(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return one row per printed cell, with ours, the sound number and how they agree.

    printed_se is what stands in the paper, and se the standard error that it comes to (see `read_errors`).
    """
    files = (PUBLISHED / table.file, folder / f"{table.key}.csv")
    stamps = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in files)
    return _join_printed(*files, table.key, table.replicates, stamps).copy()


@lru_cache(maxsize=128)
def _join_printed(file: Path, made: Path, key: str, replicates: int, stamps: tuple[int, ...]) -> pd.DataFrame:
    left = _load(file)
    known = stored(key, made.parent)
    known["se"] = standard_error(known)
    left["printed_se"] = left["se"]
    left["errors"] = read_errors(left, known, replicates)
    if (left["errors"] == DEVIATIONS).all():
        left["se"] = left["printed_se"] / math.sqrt(replicates)
    for variant, name in ((LITERAL, "ours"), (SOUND, "sound")):
        part = known[known["variant"] == variant].rename(columns={"value": name, "se": f"{name}_se"})
        part = part.rename(columns={"replicates": f"{name}_replicates", "problem": f"{name}_problem"})
        columns = [*KEYS, "metric", name, f"{name}_se", f"{name}_replicates", f"{name}_problem"]
        left = left.merge(part[columns], on=[*KEYS, "metric"], how="left", validate="one_to_one")
    return recompute(left)


def error_factor(cells: pd.DataFrame, known: pd.DataFrame) -> float:
    """Return the median of the printed over our deviation over replicates, both relative to their error.

    Near 1 the printed numbers are standard deviations, near one over the root of the replicates standard errors.
    """
    ours = known.loc[known["variant"] == LITERAL, [*KEYS, "metric", "value", "sd"]]
    both = cells.merge(ours, on=[*KEYS, "metric"], suffixes=("", "_ours"))
    both = both[(both["printed_se"] > 0) & (both["sd"] > 1e-9 * both["value_ours"].abs())]
    return float(((both["printed_se"] / both["value"]) / (both["sd"] / both["value_ours"])).median())


def read_errors(cells: pd.DataFrame, known: pd.DataFrame, replicates: int) -> str:
    """Return what the printed plus-minus signs are by `error_factor`: `ERRORS`, as printed, `DEVIATIONS`, or ""."""
    factor = error_factor(cells, known)
    if math.isnan(factor):
        return ""
    return DEVIATIONS if factor > replicates**-0.25 else ERRORS


def truth_of(data: Dataset) -> Truth:
    """Return the truth of rows that a generator drew."""
    assert data.truth is not None
    return data.truth


def recompute(cells: pd.DataFrame) -> pd.DataFrame:
    """Recompute ratio and agreement of the same cells for the present values of ``ours``."""
    names = ("value", "se", "printed_value", "ours", "ours_se", "ours_replicates")
    cells["ratio"] = cells["ours"] / cells["value"]
    cells["agreement"] = [agreement(*row) for row in zip(*(cells[name] for name in names), strict=True)]
    return cells


def agreement(value: float, se: float, printed_value: str, ours: float, ours_se: float, replicates: float) -> str:
    """Return how near our value is to the printed one.

    "within error": the difference is inside a 95 % interval for two means (Student's t for our few replicates, the
    printed error as a standard error, half a unit of the last printed digit on top). "same order": within a factor
    sqrt(10). "no number": one of the two is missing; if both are, the paper's NA is "within error".
    """
    if not np.isfinite(ours):
        known = np.isfinite(replicates)
        return "within error" if known and not np.isfinite(value) else "no number"
    if not np.isfinite(value):
        return "no number"
    decimals = len(printed_value.partition(".")[2])
    ours_se = ours_se if np.isfinite(ours_se) else 0.0
    reach = float(stdtrit(max(replicates - 1, 1), 0.975))
    allowed = math.hypot(reach * ours_se, 1.96 * (se if np.isfinite(se) else 0.0)) + 0.5 * 10.0**-decimals
    if abs(ours - value) <= allowed:
        return "within error"
    return "same order" if 1 / SAME_ORDER < ours / value < SAME_ORDER else "different"
