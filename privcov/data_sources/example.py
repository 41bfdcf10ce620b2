"""The example table in data/example.csv: a simulated health survey (see data/README.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov.core import paths
from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, BundledColumn

FILE = paths.shipped() / "example.csv"
_N = 20_000
_NAMES = "age,height,weight,systolic,diastolic,cholesterol,glucose,steps,sleep,stress"
_DECIMALS = (0, 0, 1, 0, 0, 1, 1, 0, 1, 0)


@SOURCES.add(
    key="example",
    label="Health survey (simulated)",
    group="Simulated",
    order=90,
    summary="20,000 invented people, ten everyday measurements with planted correlations.",
    reference="privcov/data_sources/example.py in this project.",
)
@dataclass(frozen=True)
class Example(Bundled):
    """20,000 x 10. Rounding and limits make the population covariance inexact, so there is no truth.

    Notes
    -----
    Effect of the public limits on these rows: 7 cells of 200,000 are clipped and no row scaled down.
    """

    provenance: ClassVar[str] = "simulated"
    table: ClassVar = (
        BundledColumn("age", 18, 100, 50, "years", "adults; few live past 100"),
        BundledColumn("height", 130, 210, 170, "cm", "nearly all adults"),
        BundledColumn("weight", 30, 170, 75, "kg", "nearly all adults; household scales end at 150 to 180"),
        BundledColumn("systolic", 70, 210, 120, "mmHg", "below is shock, above a hypertensive emergency"),
        BundledColumn("diastolic", 40, 130, 80, "mmHg", "below is shock, above a hypertensive emergency"),
        BundledColumn("cholesterol", 2, 10, 5, "mmol/L", "total cholesterol; beyond are rare inherited disorders"),
        BundledColumn("glucose", 2, 15, 5.5, "mmol/L", "fasting; below is a coma, above untreated diabetes"),
        BundledColumn("steps", 0, 30000, 7000, "per day", "30,000 is a five-hour walk every day"),
        BundledColumn("sleep", 2, 13, 7, "hours", "shorter or longer on average is rare illness"),
        BundledColumn("stress", 0, 40, 14, "points", "the questionnaire's scale: ten answers of 0 to 4 points"),
    )

    def load(self) -> tuple[np.ndarray, None]:
        """Load the file; there are no labels."""
        return np.loadtxt(FILE, delimiter=",", skiprows=1, encoding="utf-8"), None


def _people(seed: int) -> np.ndarray:
    """Return 20,000 x 10, unrounded. Every z() is fresh standard normal noise."""
    rng = np.random.RandomState(seed)  # the one generator of numpy whose stream is promised never to change

    def z() -> np.ndarray:
        return rng.standard_normal(_N)

    tall = rng.random_sample(_N) < 0.5  # hidden: makes height a mixture of two bells, and is not in the file
    age = 20 + 68 * rng.beta(1.6, 2.0, _N)
    years = age - 50
    height = 163 + 13 * tall - 0.06 * years + 6.5 * z()
    bmi = 26 * np.exp(0.002 * years + 0.15 * z())  # hidden: weight over height squared
    weight = bmi * (height / 100) ** 2
    heavy = bmi - 26
    stress = 14 - 0.06 * years + 5 * z()
    sleep = 7 - 0.09 * (stress - 14) + 0.9 * z()
    steps = 6500 * np.exp(-0.01 * years - 0.03 * heavy + 0.4 * z())
    systolic = 124 + 0.4 * years + 0.9 * heavy + 0.3 * (stress - 14) + 11 * z()
    diastolic = 78 + 0.45 * (systolic - 124) - 0.1 * years + 5.5 * z()
    cholesterol = 5 * np.exp(0.003 * years + 0.006 * heavy + 0.17 * z())
    lazy = np.log(6500 / steps)
    glucose = 5.4 * np.exp(0.003 * years + 0.012 * heavy + 0.05 * lazy + 0.11 * z())
    return np.column_stack(
        (age, height, weight, systolic, diastolic, cholesterol, glucose, steps, sleep, np.clip(stress, 0, 40))
    )


def survey_csv(seed: int = 1) -> bytes:
    """Return the survey as a CSV, of other invented people for every seed."""
    formats = ",".join(f"%.{k}f" for k in _DECIMALS)
    # Adding 0.0 turns a rounded -0 into 0.
    lines = [formats % tuple(np.round(row, 1) + 0.0) for row in _people(seed)]
    return "\n".join([_NAMES, *lines, ""]).encode()
