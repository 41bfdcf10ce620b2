"""The coverage that was measured for every answer on simulated releases, from data/coverage."""

from __future__ import annotations

import csv
from functools import cache

from privcov import places

LEVEL = 0.95
FILE = "table.csv"
FEWEST = 100  # entries shown, below which a share says nothing


@cache
def measured() -> dict[str, tuple[float, float, float, int]]:
    """Return (least coverage given reported, largest wrong and reported, mean coverage, cells) by answer.

    Returns
    -------
    dict
        Empty where no table is stored.
    """
    path = places.results("coverage") / FILE
    if not path.is_file():
        return {}
    by: dict[str, list[tuple[float, float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if int(line["reported"]) >= FEWEST:
                by.setdefault(line["answer"], []).append((float(line["coverage"]), float(line["wrong"])))
    return {
        answer: (min(c for c, _ in rows), max(w for _, w in rows), sum(c for c, _ in rows) / len(rows), len(rows))
        for answer, rows in by.items()
    }


def sentence(answer: str, level: float) -> str:
    """Return the measured coverage of an answer in words.

    Parameters
    ----------
    answer : str
        Name of the method of `ReleaseAnswers`.
    level : float
        The nominal coverage that was asked for.

    Returns
    -------
    str
        One sentence.
    """
    found = measured().get(answer)
    if found is None:
        return "The coverage of this answer has not been measured."
    least, wrong, mean, cells = found
    own = "" if level == LEVEL else f" Another level than {LEVEL:.0%} was not measured."
    return (
        f"Measured at {LEVEL:.0%} on {cells} simulated settings: {mean:.1%} of the intervals shown contain the truth, "
        f"{least:.1%} in the worst setting; at most {wrong:.1%} of all answers were shown and wrong.{own}"
    )
