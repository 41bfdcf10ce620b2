"""The example table in data/example.csv: a simulated health survey (see data/README.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov import places
from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, Column

FILE = places.shipped() / "example.csv"


@SOURCES.add(
    key="example",
    label="Health survey (simulated)",
    group="Simulated",
    order=90,
    summary="20,000 invented people, ten everyday measurements with planted correlations.",
    reference="data/make_example.py in this project.",
)
@dataclass(frozen=True)
class Example(Bundled):
    """20,000 x 10. Rounding and limits make the population covariance inexact, so there is no truth.

    Reference
    ---------
    data/make_example.py in this project.

    Notes
    -----
    Effect of the public limits on these rows: 7 cells of 200,000 are clipped and no row scaled down.
    """

    provenance: ClassVar[str] = "simulated"
    table: ClassVar = (
        Column("age", 18, 100, 50, "years", "adults; few live past 100"),
        Column("height", 130, 210, 170, "cm", "nearly all adults"),
        Column("weight", 30, 170, 75, "kg", "nearly all adults; household scales end at 150 to 180"),
        Column("systolic", 70, 210, 120, "mmHg", "below is shock, above a hypertensive emergency"),
        Column("diastolic", 40, 130, 80, "mmHg", "below is shock, above a hypertensive emergency"),
        Column("cholesterol", 2, 10, 5, "mmol/L", "total cholesterol; beyond are rare inherited disorders"),
        Column("glucose", 2, 15, 5.5, "mmol/L", "fasting; below is a coma, above untreated diabetes"),
        Column("steps", 0, 30000, 7000, "per day", "30,000 is a five-hour walk every day"),
        Column("sleep", 2, 13, 7, "hours", "shorter or longer on average is rare illness"),
        Column("stress", 0, 40, 14, "points", "the questionnaire's scale: ten answers of 0 to 4 points"),
    )

    def load(self) -> tuple[np.ndarray, None]:
        """Load the file; there are no labels."""
        return np.loadtxt(FILE, delimiter=",", skiprows=1, encoding="utf-8"), None
