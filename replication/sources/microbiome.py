"""Gut microbiome (COMBO): counts of 87 genera of bacteria in 98 people, lean or obese."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov.core.parameters import parameter
from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import BundledColumn
from replication.sources import tables
from replication.sources.papers import GROUP, PaperData, Raw, facts

ALL, PRESENT = "all 87", "40 present (chosen on the data)"
LOG, SHARES = "log10(1 + count)", "shares of a sample"
OBESE = 25  # kg/m2, the paper's division; 25 itself is obese
LEAST = 4


@SOURCES.add(
    key="microbiome",
    label="Gut microbiome (Math. 2023)",
    group=GROUP,
    listed=False,
    order=250,
    summary="98 people, counts of 87 genera of gut bacteria, lean or obese by body mass index; most counts are zero.",
    reference="Mathematics 2023, Section 4.2. Wu and others, Science 334 (2011). No licence is stated with the public "
    "copies.",
)
@dataclass(frozen=True)
class Microbiome(PaperData):
    """98 x 87, labels "lean" (BMI below 25: 63) and "obese" (35). Counts depend on the depth of a sample.

    Notes
    -----
    The paper's p = 25 by t test reads the training labels, so it belongs to a classification, split by split, and is
    not offered here: chosen once it would have used the test rows.

    Limits: a sequencing run of that time gave about a million reads to a hundred samples, 10,000 each; three times that
    is a round upper limit, so log10(1 + count) lies in [0, 4.5]; typical 0, because a person has few of the genera. Row
    bound: R = 0.5 sqrt(d). Shares lie in [0, 1], and R = 1 holds by definition because a row's shares sum to 1.

    Effect of the limits on these public rows: no cell is clipped and no row scaled down.
    """

    title: ClassVar = "gut microbiome (COMBO)"
    size: ClassVar = "98 rows, 87 genera and the body mass index"
    files: ClassVar = (("microbiome_combo.csv",), ("microbiome.csv",), ("BMI_and_Counts.txt",))

    genera: str = parameter(
        ALL,
        "Genera",
        choices=(ALL, PRESENT),
        help="The paper's 40 are those seen in at least four samples of each group: a choice made on the rows, which "
        "no "
        "guarantee covers.",
        reference="Mathematics 2023, Section 4.2.",
    )
    scale: str = parameter(LOG, "Scale", choices=(LOG, SHARES), help="The paper does not say how it scales counts.")

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read the table of counts with the body mass index."""
        rows = tables.lines(tables.only(parts, cls.title))
        header = tables.header_of(rows)
        if header is None:
            raise ValueError("the first line must hold the column names: BMI, and a genus per column.")
        body = rows[1:]
        if body and len(body[0][1]) == len(header) + 1:  # a table written with row names has none above them
            header = ["", *header]
        (bmi,) = tables.where(header, {"BMI": ()})
        counts = [j for j, name in enumerate(header) if j != bmi and name.lower() not in ("", "index", "id")]
        tables.check_shape((len(body), len(counts)), (98, 87), cls.title)
        values = tables.numbers(body, [*counts, bmi], len(header))
        values, weight = values[:, :-1], values[:, -1]
        if (values < 0).any() or (values != np.round(values)).any():
            raise ValueError(
                "counts must be whole numbers from 0: bring the table of counts, not shares or logarithms."
            )
        labels = np.where(weight >= OBESE, "obese", "lean")
        tables.check_counts(labels, {"lean": 63, "obese": 35}, cls.title)
        return Raw(values, labels, tuple(header[j].rsplit(".", 1)[-1] for j in counts))

    def default_row_bound(self, seed: int) -> float:
        """Return 1 for shares, else 0.5 sqrt(d)."""
        return 1.0 if self.scale == SHARES else 0.5 * math.sqrt(87 if self.genera == ALL else 40)

    def arrange(self, raw: Raw) -> dict:
        """Return the chosen genera on the chosen scale, with labels and limits."""
        counts, kept = raw.values, np.ones(87, dtype=bool)
        if self.genera == PRESENT:
            groups = [counts[raw.labels == label] > 0 for label in ("lean", "obese")]
            kept = np.all([group.sum(axis=0) >= LEAST for group in groups], axis=0)
        shares = self.scale == SHARES
        values = counts / counts.sum(axis=1, keepdims=True) if shares else np.log10(1 + counts)
        top, unit = (1, "share") if shares else (4.5, "log10")
        why = "a share" if shares else "30,000 reads of one sample, three times the usual"
        table = [BundledColumn(name, 0, top, 0, unit, why) for name, k in zip(raw.columns, kept, strict=True) if k]
        return {"X": values[:, kept], "labels": raw.labels, **facts(table)}
