"""A simulated table like those that owners have, with a known truth: ids and missing cells.

Nothing in them was measured: the people are drawn. `make` gives the rows whole, as a table that needs no protection;
`as_owned` gives the same rows as a file of an owner would hold them, with ids and missing cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core.parameters import parameter
from privcov.data_sources.base import SOURCES, Source
from privcov.tables.dataset import Dataset, Truth

# name, mean, standard deviation; the bounds are three standard deviations on either side
MEASURES = (
    ("systolic", 130.0, 18.0),
    ("diastolic", 80.0, 11.0),
    ("heart_rate", 76.0, 12.0),
    ("temperature", 37.0, 0.5),
    ("breaths", 16.0, 3.0),
    ("glucose", 6.0, 1.4),
    ("creatinine", 85.0, 20.0),
    ("haemoglobin", 135.0, 15.0),
    ("weight", 75.0, 14.0),
    ("sodium", 139.0, 3.0),
)
_MAX_VISITS, _LAST_VISIT = 10, 0.345  # the chance that a visit is the last one


@SOURCES.add(
    key="hospital-visits",
    label="Hospital visits (simulated)",
    group="Simulated",
    order=60,
    summary="Ten measures at the visits of simulated patients, one to ten visits each and 2.8 on average; half of the "
    "variance is the patient's.",
)
@dataclass(frozen=True)
class HospitalVisits(Source):
    """Normal measures with correlation 0.6^|i-j|, of which one half is drawn once per patient and one half per visit.

    Visits of a patient are correlated, but each has the same covariance, which is the truth whatever weights the
    visits have. The bounds are three standard deviations on either side of the mean, which cut 0.3 % of the cells.
    """

    patients: int = parameter(
        20_000,
        "Patients",
        low=1,
        high=500_000,
        log=True,
        ends=("more noise", "less noise"),
        help="Each has one to ten visits; a row is a visit.",
    )
    missing: float = parameter(
        0.1,
        "Share of missing cells",
        low=0.0,
        high=0.9,
        ends=("none", "nine in ten"),
        help="In the table with ids; the rows of a study are whole.",
    )

    person = "patient_id"

    def default_row_bound(self, seed: int) -> float:
        """Return sqrt(d), which no row inside the bounds exceeds."""
        return math.sqrt(len(MEASURES))

    def truth(self) -> Truth:
        """Return the population covariance and mean, which no parameter changes."""
        d, spread = len(MEASURES), np.array([one[2] for one in MEASURES])
        correlation = 0.6 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
        return Truth(covariance=correlation * np.outer(spread, spread), mean=np.array([one[1] for one in MEASURES]))

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """Draw the visits."""
        truth = self.truth()
        assert truth.mean is not None
        reach = 3 * np.sqrt(np.diag(truth.covariance))
        return Dataset.from_rows(
            self._drawn(rng)[1],
            row_bound,
            bounds=np.column_stack([truth.mean - reach, truth.mean + reach]),
            columns=[one[0] for one in MEASURES],
            truth=truth,
            name=self.card.key,
            provenance="simulated",
        )

    def as_owned(self, rng: np.random.Generator, seed: int) -> np.ndarray:
        """Draw the same visits with the patient's number in the first column and missing cells (NaN)."""
        whose, rows = self._drawn(rng)
        return np.column_stack([whose, _with_gaps(rows, rng, np.full(rows.shape[1], self.missing))])

    def _drawn(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each visit's patient, from 1, and the visits."""
        truth, d = self.truth(), len(MEASURES)
        visits = np.minimum(rng.geometric(_LAST_VISIT, self.patients), _MAX_VISITS)
        whose = np.repeat(np.arange(self.patients), visits)
        root = np.linalg.cholesky(truth.covariance / 2)
        own = rng.standard_normal((self.patients, d)) @ root.T
        return whose + 1, truth.mean + own[whose] + rng.standard_normal((len(whose), d)) @ root.T


def _with_gaps(rows: np.ndarray, rng: np.random.Generator, share: np.ndarray) -> np.ndarray:
    """Return rows with missing cells, at random, a share of each column."""
    return np.where(rng.random(rows.shape) < share, np.nan, rows)
