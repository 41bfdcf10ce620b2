"""Sachs: eleven signalling proteins in 7,466 single cells, with the networks that were published for them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

import numpy as np

from privcov.core import paths
from privcov.core.parameters import parameter
from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, BundledColumn

CELLS, NETWORKS = paths.shipped() / "sachs.csv", paths.shipped() / "sachs_networks.csv"
PROTEINS = ("raf", "mek", "plc", "pip2", "pip3", "erk", "akt", "pka", "pkc", "p38", "jnk")
NAMES = {"consensus20": "consensus, 20 edges", "cdt18": "18 edges", "bnlearn17": "17 edges"}


@SOURCES.add(
    key="sachs",
    label="Sachs cells (Su 2019)",
    group="Public data",
    order=220,
    summary="7,466 cells, 11 proteins measured by flow cytometry; three published versions of the network are drawn.",
    reference="Su et al. 2019, Section 5.2.2. Sachs, Perez, Pe'er, Lauffenburger and Nolan, Science 308 (2005).",
)
@dataclass(frozen=True)
class Sachs(Bundled):
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

    scale: str = parameter(
        "log10",
        "Scale",
        choices=("log10", "raw"),
        help="Raw intensities span four decades: a few bright cells carry the whole covariance.",
    )

    @property
    def table(self) -> tuple[BundledColumn, ...]:  # type: ignore[override] # the limits depend on the scale
        """The eleven proteins with their public limits, on the scale that was chosen."""
        why = "a cytometer with logarithmic amplifiers spans four decades"
        low, high, typical, unit = (0, 4, 1.5, "log10") if self.scale == "log10" else (1, 1e4, 30, "intensity")
        return tuple(BundledColumn(name, low, high, typical, unit, why) for name in PROTEINS)

    def load(self) -> tuple[np.ndarray, None]:
        """Load the cells on the chosen scale; they have no labels."""
        return np.log10(_cells()) if self.scale == "log10" else _cells(), None

    def graphs(self) -> dict[str, np.ndarray]:
        """Return the published networks."""
        return networks()

    def default_row_bound(self, seed: int) -> float:
        """Return 0.5 sqrt(11) for logarithms, else 1."""
        return super().default_row_bound(seed) if self.scale == "log10" else 1.0


@cache
def _cells() -> np.ndarray:
    cells = np.loadtxt(CELLS, delimiter=",", skiprows=1)
    cells.flags.writeable = False
    return cells


@cache
def networks() -> dict[str, np.ndarray]:
    """Return the published networks as undirected graphs over the columns."""
    place = {name: k for k, name in enumerate(PROTEINS)}
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
