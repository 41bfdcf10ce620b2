"""Sachs: eleven signalling proteins in 7,466 single cells, with the networks that were published for them."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from privcov import places
from privcov.data_sources import tables
from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Column
from privcov.data_sources.papers import GROUP, PaperData, Raw, facts
from privcov.parameters import parameter

NETWORKS = places.shipped() / "sachs_networks.csv"
# Our names, and those of other copies of the same table.
SPELLINGS = {
    "raf": ("praf",),
    "mek": ("pmek",),
    "plc": ("plcg", "plcgamma"),
    "pip2": (),
    "pip3": (),
    "erk": ("p44/42", "p44.42", "perk"),
    "akt": ("pakts473", "pakt"),
    "pka": (),
    "pkc": (),
    "p38": ("pp38",),
    "jnk": ("pjnk",),
}
NAMES = {"consensus20": "consensus, 20 edges", "cdt18": "18 edges", "bnlearn17": "17 edges"}


@SOURCES.add(
    key="sachs",
    label="Sachs cells (Su 2019)",
    group=GROUP,
    order=220,
    summary="7,466 cells, 11 proteins measured by flow cytometry; three published versions of the network are drawn.",
    reference="Su et al. 2019, Section 5.2.2. Sachs, Perez, Pe'er, Lauffenburger and Nolan, Science 308 (2005).",
)
@dataclass(frozen=True)
class Sachs(PaperData):
    """7,466 x 11, all conditions pooled (nine experiments, some of them interventions), no labels.

    The graphs are the published network without directions, in three versions. They are expert knowledge, not the truth
    about these rows. Su et al. 2019 compares with "the" network without saying which version or which scale of the
    data.

    Notes
    -----
    Limits: a flow cytometer with logarithmic amplifiers spans four decades, 1 to 10,000; log10 lies in [0, 4]. Typical
    is 1.5: amplifiers are set so that unstained cells fill the first decade, and a signal begins in the second. Row
    bound for the logarithm: R = 0.5 sqrt(11), half of what a row reaches with all proteins at the limit together. For
    raw intensities R = 1, one protein at the limit.

    Effect of the limits on these public rows: no cell is clipped; 34 rows of 7,466 are scaled down with logarithms, by
    at most 17 %, and 1 row without, by 10 %.
    """

    title: ClassVar = "Sachs"
    size: ClassVar = "7,466 rows, 11 columns"
    files: ClassVar = (("sachs.csv",), ("sachs.tsv",), ("sachs.txt",), ("cyto_full_data.csv",))

    scale: str = parameter(
        "log10",
        "Scale",
        choices=("log10", "raw"),
        help="Raw intensities span four decades: a few bright cells carry the whole covariance.",
    )

    @property
    def table(self) -> tuple[Column, ...]:
        """The eleven proteins with their public limits, on the scale that was chosen."""
        why = "a cytometer with logarithmic amplifiers spans four decades"
        low, high, typical, unit = (0, 4, 1.5, "log10") if self.scale == "log10" else (1, 1e4, 30, "intensity")
        return tuple(Column(name, low, high, typical, unit, why) for name in SPELLINGS)

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read the table; several files are taken as its parts, such as the nine experiments as text."""
        blocks = []
        for part in parts:
            rows = tables.lines(part)
            header = tables.header_of(rows)
            if header is None:
                raise ValueError(f"the first line must name the proteins: {', '.join(SPELLINGS)}.")
            blocks.append(tables.numbers(rows[1:], tables.where(header, SPELLINGS), len(header)))
        values = np.concatenate(blocks)
        tables.check_shape(values.shape, (7466, 11), cls.title)
        if values.min() < 1:
            raise ValueError(
                f"the smallest value is {values.min():g}, and the set begins at 1: bring the intensities themselves, "
                "not logarithms or scaled values."
            )
        return Raw(values, None, tuple(SPELLINGS))

    def default_row_bound(self, seed: int) -> float:
        """Return 0.5 sqrt(11) for logarithms, else 1."""
        return 0.5 * math.sqrt(11) if self.scale == "log10" else 1.0

    def arrange(self, raw: Raw) -> dict:
        """Return the rows on the chosen scale with networks and limits."""
        values = np.log10(raw.values) if self.scale == "log10" else raw.values
        return {"X": values, "graphs": networks(), **facts(self.table)}


@cache
def networks() -> dict[str, np.ndarray]:
    """Return the published networks as undirected graphs over the columns."""
    place = {name: k for k, name in enumerate(SPELLINGS)}
    graphs = {name: np.zeros((11, 11), dtype=bool) for name in NAMES.values()}
    with NETWORKS.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            i, j = place[line["source"]], place[line["target"]]
            for column, name in NAMES.items():
                if line[column] == "1":
                    graphs[name][i, j] = graphs[name][j, i] = True
    for graph in graphs.values():
        graph.flags.writeable = False
    return graphs
