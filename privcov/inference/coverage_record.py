"""The coverage that was measured for every answer on simulated releases, from data/coverage."""

from __future__ import annotations

import csv
import math
import re
from functools import cache
from typing import NamedTuple

from privcov.core import paths

LEVEL = 0.95
FILE = "table.csv"
FEWEST = 100  # entries shown, below which a share says nothing
# Populations of the coverage table, with their words; a statement holds for its population alone.
LIKE = {
    "plain": (
        ("neighbours", "factor", "blocks", "example", "hospital"),
        "Gaussian rows and bounded columns of many values without a long tail",
    ),
    "levels": (
        ("levels", "groups", "categories"),
        "rows with weakly related columns of two values, of a share of 2 % or more",
    ),
    "pairs": (("pairs",), "Gaussian rows of which 5 to 30 % of the cells of a column are missing, at random"),
    "skewed": (
        ("skewed 1", "skewed 1.5", "skewed 2", "skewed 2.5"),
        "lognormal columns of sigma 1 to 2.5 within bounds that they seldom reach",
    ),
    "short": (("short",), "rows with columns of two values, shortened to the row bound"),
    "searched": (
        ("searched bound", "searched bound heavy"),
        "Gaussian and heavy-tailed rows under a row bound that a search found, about rows of any length",
    ),
    "heavy": (("heavy",), "heavy-tailed rows (Student's t, 5 degrees of freedom) whose kurtosis was given"),
}
_SIZE = re.compile(r"\bd=(\d+), n=(\d+)")  # in the name of a cell


class CoverageRecord(NamedTuple):
    """What the cells of one answer show.

    least, mean: coverage of the shown intervals, worst cell and mean over cells. wrong: largest share of shown,
    wrong entries. cells: number of cells. rows, columns: the fewest rows and the most columns of a cell.
    """

    least: float
    mean: float
    wrong: float
    cells: int
    rows: int
    columns: int


@cache
def load_coverage(like: str = "plain") -> dict[str, CoverageRecord]:
    """Return what was measured on rows like these, a key of `LIKE`, by answer; empty where no table is stored."""
    path = paths.results("coverage") / FILE
    if not path.is_file():
        return {}
    by: dict[str, list[tuple[float, float, int, int]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            own = line["cell"].partition(",")[0]
            if own not in LIKE.get(like, ((), ""))[0]:
                continue
            if int(line["reported"]) >= FEWEST and (size := _SIZE.search(line["cell"])):
                values = float(line["coverage"]), float(line["wrong"]), int(size[2]), int(size[1])
                by.setdefault(line["answer"], []).append(values)
    return {
        answer: CoverageRecord(min(c), sum(c) / len(c), max(wrong), len(c), min(rows), max(columns))
        for answer, (c, wrong, rows, columns) in ((a, tuple(zip(*values, strict=True))) for a, values in by.items())
    }


def sentence(answer: str, level: float, rows: float = math.inf, columns: int = 0, like: str = "plain") -> str:
    """Return the measured coverage of an answer in words."""
    record = load_coverage(like).get(answer)
    if record is None:
        return "The coverage of this answer has not been measured on rows like these."
    own = "" if level == LEVEL else f" Another level than {LEVEL:.0%} was not measured."
    if rows < record.rows or columns > record.columns:
        own += f" None of them had fewer than {record.rows:,} rows or more than {record.columns} columns."
    if answer == "means" and (skewed := load_coverage("skewed").get(answer)) is not None:
        own += (
            f" The mean of a column with a long tail is covered less often: of {LIKE['skewed'][1]}, {skewed.least:.1%} "
            f"in the worst of {skewed.cells} settings, and still less with longer tails."
        )
    return (
        f"Measured at {LEVEL:.0%} on {record.cells} simulated settings of {LIKE[like][1]}: on average "
        f"{record.mean:.1%} of the intervals shown contain the truth, {record.least:.1%} in the worst setting; in "
        f"each at most {record.wrong:.1%} of all answers were shown and wrong.{own}"
    )
