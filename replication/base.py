"""The tables of the papers: their cells, and the printed and the computed numbers of each beside each other.

A table says which cells are printed, how each is computed as the paper describes it, which plan gives the same with a
sound calibration, and what the paper leaves open. Printed numbers are in data/published, computed ones in
data/reproduced (see `replication.reproduce`). The tables themselves are in the papers' modules; all of them are in
`replication.catalogue`.
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

from privcov import places
from privcov.dataset import Dataset, Truth
from privcov.sweeps.plan import Plan

DATA = places.shipped()
PUBLISHED, REPRODUCED = DATA / "published", places.results("reproduced")
# What names a cell, as text; "" where a table has no such thing.
KEYS = ("model", "law", "data", "n", "d", "r", "epsilon", "delta", "method")
LITERAL, SOUND = "as published", "sound"
VARIANTS = (LITERAL, SOUND)
SAME_ORDER = math.sqrt(10)
ERRORS, DEVIATIONS = "standard errors", "deviations"
ENOUGH = 0.75  # fraction of cells within error, or within CLOSE, for "reproduced"
CLOSE = 0.10  # relative distance that counts as agreement where Monte-Carlo errors are smaller


@dataclass(frozen=True)
class Number:
    """One computed value of one replicate. keys: of the cell, a part of `KEYS`. problem: why value is NaN, or ""."""

    keys: Mapping[str, str]
    metric: str
    value: float
    problem: str = ""


@dataclass(frozen=True)
class Point:
    """Cells that are computed together, because they share rows.

    literal: (seed, replicate) -> numbers, as the paper describes them; None where nothing is described.
    plan: (replicates, seed) -> the plan of the sound ones, or None. read: a row of the plan's table -> (keys, metric).
    unit: what the plan's values are multiplied by. sound: the sound ones as ``literal`` gives its own, where no plan
    measures them; methods: the keys of the methods they use. ready: raises MissingData where its rows are not there.
    small: replicates of the small preset, where they are not those of the table.
    """

    name: str
    keys: Mapping[str, str]
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

    choices: what the paper leaves open, and how it was set, once. left_out: printed cells that are not computed, with
    the reason. replicates: as printed; small: of the small preset, as published and sound. version: rises when its
    numbers change. needs: a data set that has to be brought. rows, columns: the keys along the two sides of the printed
    table. trivial: the error of an answer that needs no data, where it is one number for the whole table.
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

    @property
    def name(self) -> str:
        """The number of the paper and the place in it, as a heading."""
        return f"Paper {self.paper}, {self.where}"


@dataclass(frozen=True)
class View:
    """How a panel of a figure is drawn and judged.

    x: what runs along the axis, a key of `replication.curves.WORDS`; "drawn" for curves of edges found. metric: of
    the error that is judged; of curves of edges found it is one minus their area. along: what runs along the curve that
    is judged. at: the value of ``along`` at which rows are counted. strength: from ``along`` to the inverse of the
    noise, up to a factor; None where that is not what varies. more: key of a table with further points of the sound
    curves, along ``along``.
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
    """Return a copy of a file's numbers."""
    return _read(path, path.stat().st_mtime_ns).copy()


def printed(table: Table) -> pd.DataFrame:
    """Return the printed cells: KEYS, metric, value (NaN for NA), printed_value, se, doubt."""
    return _load(PUBLISHED / table.file)


def text_claims(table: Table) -> pd.DataFrame:
    """Return the statements of the text about a figure, in our words.

    The columns are paper, figure, what, text, checked, where and doubt.
    """
    statements = pd.read_csv(PUBLISHED / "figures.csv", dtype=str, keep_default_na=False)
    name = table.where.removeprefix("Figure ").split(",")[0].split(" (")[0]
    spoken_of = statements["figure"].str.split(" and ").map(lambda figures: name in figures)
    return statements[(statements["paper"] == str(table.paper)) & spoken_of]


def computed(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return what `reproduce` stored for a table.

    The columns are KEYS, metric, variant, value (mean), sd, replicates, failed, problem, seed, version and made_with.
    The table is empty where nothing was computed yet.
    """
    return stored(table.key, folder)


def stored(key: str, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return `computed` of the table of that key."""
    path = folder / f"{key}.csv"
    if not path.exists():
        return pd.DataFrame(columns=COMPUTED)
    return _load(path)


COMPUTED = [*KEYS, "metric", "variant", "point", "value", "sd", "replicates", "failed", "problem", "seed", "version"]
COMPUTED.append("made_with")


def standard_error(cells: pd.DataFrame) -> pd.Series:
    """Return sd / sqrt(replicates); NaN for a single replicate."""
    return cells["sd"] / np.sqrt(cells["replicates"])


def join_printed(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return one row per printed cell: value, se; ours, ours_se, replicates; sound, sound_se; ratio, agreement.

    printed_se is what stands in the paper and errors what it was read as, see `read_errors`; se is the standard error
    that it comes to.
    """
    files = (PUBLISHED / table.file, folder / f"{table.key}.csv")
    stamps = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in files)
    return _join_printed(*files, table.key, table.replicates, stamps).copy()


@lru_cache(maxsize=128)
def _join_printed(file: Path, made: Path, key: str, replicates: int, stamps: tuple[int, ...]) -> pd.DataFrame:
    """Return `join_printed` of a printed and a computed file; ``stamps`` change when these do."""
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

    Near 1 the printed numbers are standard deviations, near one over the root of the replicates standard errors. Cells
    that no row changes tell nothing. NaN where nothing is printed or computed.
    """
    ours = known.loc[known["variant"] == LITERAL, [*KEYS, "metric", "value", "sd"]]
    both = cells.merge(ours, on=[*KEYS, "metric"], suffixes=("", "_ours"))
    both = both[(both["printed_se"] > 0) & (both["sd"] > 1e-9 * both["value_ours"].abs())]
    return float(((both["printed_se"] / both["value"]) / (both["sd"] / both["value_ours"])).median())


def read_errors(cells: pd.DataFrame, known: pd.DataFrame, replicates: int) -> str:
    """Return what the numbers behind the printed plus-minus signs are: "standard errors", as printed, or "deviations".

    Whichever `error_factor` is nearer to, as a factor; "" where it is not known.
    """
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
