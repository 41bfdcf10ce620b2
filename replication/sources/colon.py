"""Colon: gene expression in 40 tumours and 22 normal tissues of the colon."""

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

SAMPLES, GENES = 62, 2000
WORDS = {"tumor": "tumor", "normal": "normal", "t": "tumor", "n": "normal", "tumour": "tumor"}
GENE_NAMES = tuple(f"g{k:04d}" for k in range(1, GENES + 1))


@SOURCES.add(
    key="colon",
    label="Colon genes (Wang 2018)",
    group=GROUP,
    listed=False,
    order=230,
    summary="62 tissues, 2,000 genes: far more columns than rows. The first d genes of the file, as log10.",
    reference="Wang et al. 2018, slides, Tables 1 and 2 (which genes is not said). Alon and others, PNAS 96 (1999).",
)
@dataclass(frozen=True)
class Colon(PaperData):
    """62 x d, log10 of the first d genes in the order of the file (not chosen on the data).

    Labels are "tumor" (40) and "normal" (22), or none when the values are brought without the list of tissues. Nine
    genes repeat an earlier one exactly, and are kept: a sample covariance of both is singular.

    Notes
    -----
    Limits: intensities come from a 16-bit scanner, so log10 lies in [0, 4.82]; typical 2.5, a few hundred units. Row
    bound: R = 0.5 sqrt(d). No cell is clipped and no row scaled down.
    """

    title: ClassVar = "Colon"
    size: ClassVar = "62 rows, 2,000 columns"
    files: ClassVar = (("colon.csv",), ("I2000.txt", "tissues.txt"), ("I2000.txt",))

    d: int = parameter(50, "Genes d", low=2, high=GENES, help="The first d genes of the file.")

    @property
    def table(self) -> tuple[BundledColumn, ...]:
        """The genes with their public limits."""
        top = round(math.log10(2**16 - 1), 2)
        return tuple(BundledColumn(name, 0, top, 2.5, "log10", "16-bit scanner") for name in GENE_NAMES[: self.d])

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read one table with names and a column of tissues, or the 2000 x 62 table.

        The latter may come with the list of 62 tissues.
        """
        values = labels = None
        for part in parts:
            rows = tables.lines(part)
            header = tables.header_of(rows)
            cells = [cell for _, line in rows for cell in line]
            if len(cells) == SAMPLES:
                labels = _tissues(cells)
            elif header is not None and len(header) > SAMPLES:
                tables.check_shape((len(rows) - 1, len(header)), (SAMPLES, GENES + 1), cls.title)
                (at,) = tables.where(header, {"tissue": ("class", "label", "y")})
                values = tables.numbers(rows[1:], [j for j in range(GENES + 1) if j != at], GENES + 1)
                labels = tables.spelled(rows[1:], at, WORDS)
            else:
                wide = len(rows[0][1])
                if (len(rows), wide) not in ((GENES, SAMPLES), (SAMPLES, GENES)):
                    raise ValueError(
                        f"this file has {len(rows):,} lines of {wide:,}, and the {cls.title} set has {GENES:,} lines "
                        f"(genes) of {SAMPLES} (tissues), and a list of {SAMPLES} tissues."
                    )
                values = tables.numbers(rows, range(wide), wide)
                values = values.T.copy() if wide == SAMPLES else values
        if values is None:
            raise ValueError("this is the list of tissues; the table of 2,000 genes is needed too.")
        if values.min() <= 0 or values.max() < 100:
            raise ValueError(
                f"values lie between {values.min():g} and {values.max():g}, and the set has intensities from 5 to "
                "20,000: bring them as published, without logarithm or scaling."
            )
        if labels is not None:
            tables.check_counts(labels, {"normal": 22, "tumor": 40}, cls.title)
        return Raw(values, labels, GENE_NAMES)

    def default_row_bound(self, seed: int) -> float:
        """Return 0.5 sqrt(d)."""
        return 0.5 * math.sqrt(self.d)

    def arrange(self, raw: Raw) -> dict:
        """Return log10 of the first d genes with labels and limits."""
        return {"X": np.log10(raw.values[:, : self.d]), "labels": raw.labels, **facts(self.table)}


def _tissues(cells: list[str]) -> np.ndarray:
    """Return the labels from the patients' numbers in the list: negative for tumour, positive for normal tissue."""
    signs = [sign for cell in cells if (sign := tables.number(cell)) is not None]
    if len(signs) == len(cells):
        return np.array(["tumor" if sign < 0 else "normal" for sign in signs])
    return tables.spelled([(k, [cell]) for k, cell in enumerate(cells, 1)], 0, WORDS)
