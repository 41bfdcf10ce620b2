"""Parkinson's: measures of the voice in 195 recordings of 32 people, with and without the disease."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import BundledColumn
from replication.sources import tables
from replication.sources.papers import GROUP, OpenML, PaperData, Raw, facts

if TYPE_CHECKING:
    import pandas as pd

WORDS = {"1": "parkinson", "0": "healthy", "parkinson": "parkinson", "healthy": "healthy"}
_JITTER = "five times the level at which the voice analyser reports a disorder, rounded"


@SOURCES.add(
    key="parkinsons",
    label="Parkinson's (Wang 2018)",
    group=GROUP,
    listed=False,
    order=240,
    summary="195 voice recordings of 32 people, 22 measures in very different units; several rows per person.",
    reference="Wang et al. 2018, slides, Tables 1 and 2. Little and others (2007, 2009); UCI Machine Learning "
    "Repository (CC BY 4.0).",
)
@dataclass(frozen=True)
class Parkinsons(PaperData):
    """195 x 22, labels "parkinson" (147) and "healthy" (48).

    One row is one recording, and a person has about six: protecting a row does not protect a person.

    Notes
    -----
    Limits: from the range of the human voice, the thresholds of the voice analyser (MDVP) and definitions; spread1 and
    spread2 have no published range, so theirs are round numbers, as a reader of the paper that introduced them would
    choose. Row bound: R = 0.5 sqrt(22).

    Effect of the limits on these public rows: no cell is clipped and no row scaled down.
    """

    title: ClassVar = "Parkinson's"
    size: ClassVar = "195 rows, 22 columns and a status"
    files: ClassVar = (("parkinsons.csv",), ("parkinsons.data",))
    openml: ClassVar = OpenML("parkinsons", 1, 1)
    table: ClassVar = (
        BundledColumn("MDVP:Fo(Hz)", 60, 400, 150, "Hz", "mean pitch of adult speech; 400 is a high soprano speaking"),
        BundledColumn("MDVP:Fhi(Hz)", 60, 625, 180, "Hz", "the analyser follows pitch up to 625 Hz"),
        BundledColumn("MDVP:Flo(Hz)", 60, 400, 110, "Hz", "as the mean pitch"),
        BundledColumn("MDVP:Jitter(%)", 0, 0.05, 0.006, "share", f"threshold 0.0104; {_JITTER}"),
        BundledColumn("MDVP:Jitter(Abs)", 0, 4e-4, 4e-5, "s", f"threshold 83 microseconds; {_JITTER}"),
        BundledColumn("MDVP:RAP", 0, 0.035, 0.003, "share", f"threshold 0.0068; {_JITTER}"),
        BundledColumn("MDVP:PPQ", 0, 0.042, 0.0035, "share", f"threshold 0.0084; {_JITTER}"),
        BundledColumn("Jitter:DDP", 0, 0.105, 0.009, "share", "three times RAP by definition"),
        BundledColumn("MDVP:Shimmer", 0, 0.19, 0.03, "share", f"threshold 0.0381; {_JITTER}"),
        BundledColumn("MDVP:Shimmer(dB)", 0, 1.75, 0.3, "dB", f"threshold 0.35; {_JITTER}"),
        BundledColumn("Shimmer:APQ3", 0, 0.15, 0.015, "share", "shorter average than MDVP:APQ, so no larger as a rule"),
        BundledColumn("Shimmer:APQ5", 0, 0.15, 0.018, "share", "shorter average than MDVP:APQ, so no larger as a rule"),
        BundledColumn("MDVP:APQ", 0, 0.15, 0.025, "share", f"threshold 0.0307; {_JITTER}"),
        BundledColumn("Shimmer:DDA", 0, 0.45, 0.045, "share", "three times APQ3 by definition"),
        BundledColumn("NHR", 0, 0.95, 0.03, "ratio", f"threshold 0.19; {_JITTER}"),
        BundledColumn("HNR", 0, 40, 20, "dB", "0 dB is as much noise as tone; a clear vowel has 20, a flute 40"),
        BundledColumn("RPDE", 0, 1, 0.5, "share", "an entropy divided by its maximum"),
        BundledColumn("DFA", 0.5, 1, 0.7, "exponent", "0.5 is white noise, 1 is 1/f noise; a voice lies between"),
        BundledColumn("spread1", -10, 0, -6, "log", "a natural logarithm of a spread below 1; no published range"),
        BundledColumn("spread2", 0, 0.6, 0.2, "log", "no published range; round limits"),
        BundledColumn("D2", 1, 4, 2.4, "dimension", "1 is a periodic signal; estimates of a short one do not pass 4"),
        BundledColumn("PPE", 0, 1, 0.2, "share", "an entropy divided by its maximum"),
    )

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read the table with its names and the status."""
        rows = tables.lines(tables.only(parts, cls.title))
        header = tables.header_of(rows)
        if header is None:
            raise ValueError("the first line must hold the column names, among them status.")
        places = tables.where(header, {column.name: () for column in cls.table})
        (status,) = tables.where(header, {"status": ()})
        tables.check_shape((len(rows) - 1, len(places)), (195, 22), cls.title)
        values = tables.numbers(rows[1:], places, len(header))
        return cls._checked(values, tables.spelled(rows[1:], status, WORDS))

    @classmethod
    def from_openml(cls, values: pd.DataFrame, labels: pd.Series) -> Raw:
        """Take OpenML's table: columns V1 to V22 in the order of the table above, and the classes 1 (healthy) and 2."""
        tables.check_shape(values.shape, (195, 22), cls.title)
        words = np.array([{"1": "healthy", "2": "parkinson"}.get(str(label), str(label)) for label in labels])
        return cls._checked(np.asarray(values, dtype=np.float64), words)

    @classmethod
    def pack(cls, raw: Raw) -> tuple[str, bytes]:
        """Return the table as CSV with its status."""
        assert raw.labels is not None, "the set has labels"
        return "parkinsons.csv", tables.write_csv(raw.columns, raw.values, "status", raw.labels)

    @classmethod
    def _checked(cls, values: np.ndarray, labels: np.ndarray) -> Raw:
        """Return the set where labels and values are those of the set, else raise ValueError."""
        tables.check_counts(labels, {"healthy": 48, "parkinson": 147}, cls.title)
        at = {column.name: values[:, k] for k, column in enumerate(cls.table)}
        # Two definitions that hold to the last printed digit detect columns in another order, or other units.
        thrice = [("Jitter:DDP", "MDVP:RAP"), ("Shimmer:DDA", "Shimmer:APQ3")]
        if not all(np.allclose(at[a], 3 * at[b], rtol=0, atol=5e-5) for a, b in thrice) or at["MDVP:Fo(Hz)"].min() < 50:
            raise ValueError(
                "Jitter:DDP is not three times MDVP:RAP, or Shimmer:DDA three times Shimmer:APQ3, or the pitch is not "
                "in Hz: the columns are in another order, or were scaled."
            )
        return Raw(values, labels, tuple(at))

    def default_row_bound(self, seed: int) -> float:
        """Return 0.5 sqrt(22)."""
        return 0.5 * math.sqrt(len(self.table))

    def arrange(self, raw: Raw) -> dict:
        """Return the rows with labels and limits."""
        return {"X": raw.values, "labels": raw.labels, **facts(self.table)}
