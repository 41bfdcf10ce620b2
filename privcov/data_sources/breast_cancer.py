"""Breast cancer, Wisconsin (diagnostic): shapes of cell nuclei in 569 microscope images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, BundledColumn

# Per feature: unit; (low, high, typical) of its mean over the nuclei of an image, of the standard error of
# that mean, and of its "worst" value, the mean of the three largest; the reason. The last two limits follow:
#   error  at least ten nuclei whose spread is at most half the upper limit: about 0.15 of that limit
#   worst  three unusual nuclei go beyond a mean over many: 1.3 to 2 times its limit, rounded
_FEATURES = (
    ("radius", "image units", (5, 30, 13), (0, 4, 0.4), (5, 40, 16),
     "below 5 units an outline cannot be traced by hand; above 30 it is a cluster, not a nucleus"),
    ("texture", "grey levels", (0, 40, 20), (0, 5, 1), (0, 60, 25),
     "standard deviation of 256 grey levels; 74 is an even spread from black to white, a nucleus uses half"),
    ("perimeter", "image units", (30, 200, 85), (0, 30, 3), (30, 275, 105),
     "2 pi radius, a tenth more for an uneven outline"),
    ("area", "square units", (75, 3000, 550), (0, 400, 30), (75, 5000, 800),
     "pi radius squared"),
    ("smoothness", "share", (0, 0.2, 0.1), (0, 0.03, 0.006), (0, 0.3, 0.13),
     "mean step between neighbouring radii, as a share: 0 for a circle, 0.2 is a jagged star"),
    ("compactness", "ratio", (0, 0.5, 0.1), (0, 0.08, 0.02), (0, 1, 0.25),
     "perimeter^2 / (4 pi area) - 1: 0 for a circle, 0.1 for an ellipse 1.7:1, 0.5 for 3:1"),
    ("concavity", "share", (0, 0.5, 0.08), (0, 0.08, 0.03), (0, 1, 0.25),
     "depth of dents in the outline, as a share: 0 for a convex outline"),
    ("concave points", "share", (0, 0.25, 0.05), (0, 0.04, 0.01), (0, 0.4, 0.12),
     "share of the outline's points that lie in dents; past a quarter it is no longer one outline"),
    ("symmetry", "share", (0, 0.4, 0.18), (0, 0.06, 0.02), (0, 0.6, 0.3),
     "difference of the two halves, as a share: 0 for mirror images"),
    ("fractal dimension", "excess", (0, 0.15, 0.06), (0, 0.02, 0.004), (0, 0.25, 0.08),
     "coastline dimension minus one: 0 for a smooth curve, 0.25 for the coast of Britain"),
)  # fmt: skip


@SOURCES.add(
    key="breast-cancer",
    label="Breast cancer (Wisconsin)",
    group="Public data",
    order=110,
    summary="569 images of cell nuclei, 30 measurements each, benign or malignant; strongly correlated.",
    reference="Street, Wolberg and Mangasarian (1993); UCI Machine Learning Repository; scikit-learn's copy.",
)
@dataclass(frozen=True)
class BreastCancer(Bundled):
    """569 x 30, labels "malignant" and "benign".

    Notes
    -----
    Effect of the public limits on these public rows: 0.3 % of cells are clipped and 3 rows of 569 scaled down.
    """

    loader: ClassVar = "load_breast_cancer"
    table: ClassVar = tuple(
        BundledColumn(name.format(feature), low, high, typical, unit, why)
        for part, name in enumerate(("mean {}", "{} error", "worst {}"))
        for feature, unit, *limits, why in _FEATURES
        for low, high, typical in (limits[part],)
    )
