"""Wine: a chemical analysis of 178 wines of three cultivars from one region of Italy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, BundledColumn


@SOURCES.add(
    key="wine",
    label="Wine (Italian cultivars)",
    group="Public data",
    order=120,
    summary="178 Italian wines of three cultivars, 13 measurements each; few rows, so privacy is expensive.",
    reference="Forina et al. (1988); UCI Machine Learning Repository; scikit-learn's copy.",
)
@dataclass(frozen=True)
class Wine(Bundled):
    """178 x 13, labels "class_0" to "class_2" (the grower).

    Notes
    -----
    Effect of the public limits on these public rows: one cell of 2,314 is clipped and no row scaled down.
    """

    loader: ClassVar = "load_wine"
    table: ClassVar = (
        BundledColumn("alcohol", 8.5, 15, 12.5, "% vol", "legal range of still wine in the European Union"),
        BundledColumn("malic acid", 0, 8, 2, "g/L", "dry wine holds a trace to 8 g/L"),
        BundledColumn("ash", 1, 4, 2.5, "g/L", "mineral residue of wine is 1.5 to 3.5 g/L, with a margin"),
        BundledColumn("alkalinity of ash", 5, 40, 20, "meq/L", "acid salts of wine neutralise 10 to 30; a margin"),
        BundledColumn("magnesium", 40, 200, 100, "mg/L", "wine holds 60 to 150 mg/L, with a margin"),
        BundledColumn("phenols", 0, 5, 2, "g/L", "0.2 g/L in white wine to about 4 in strong red"),
        BundledColumn("flavanoids", 0, 4, 1.5, "g/L", "a part of the phenols; a trace to 4 g/L"),
        BundledColumn("other phenols", 0, 0.8, 0.3, "g/L", "non-flavonoid phenols: 0.1 to 0.5 g/L, with a margin"),
        BundledColumn("proanthocyanins", 0, 4, 1.5, "g/L", "tannins, another part of the phenols"),
        BundledColumn("colour intensity", 0, 15, 5, "absorbance", "0 is clear; young deep reds reach about 15"),
        BundledColumn("hue", 0.3, 2, 0.9, "ratio", "absorbance at 420 over 520 nm: 0.5 young red, 1.3 old red"),
        BundledColumn("OD280/OD315", 1, 5, 3, "ratio", "phenols absorb 1 to about 5 times as much at 280 nm"),
        BundledColumn("proline", 0, 2500, 700, "mg/L", "main amino acid of wine; hundreds to over 2000 mg/L"),
    )
