"""Digits: 1,797 handwritten digits of 43 people, as 8 x 8 pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, BundledColumn

SIDE = 8


@SOURCES.add(
    key="digits",
    label="Digits (handwritten, 8 x 8)",
    group="Public data",
    order=130,
    summary="1,797 handwritten digits, 64 pixels each; neighbours correlate, and three are blank in every one.",
    reference="Alpaydin and Kaynak (1998); UCI Machine Learning Repository (its test part); scikit-learn's copy.",
)
@dataclass(frozen=True)
class Digits(Bundled):
    """1,797 x 64, labels 0 to 9. A pixel counts the inked dots in a 4 x 4 block of the scan: 0 to 16 by definition.

    The typical value is 0, blank paper: most of a picture is blank, and ink is what is counted. Three pixels of the
    margins are 0 in every picture, so the sample covariance is singular and has no inverse. That they are constant is
    known from the rows only, so no method may use it: a release has noise there as everywhere else.

    Notes
    -----
    Effect of the public limits on these public rows: no cell is clipped; 648 rows of 1,797 are longer than R = 4, by at
    most 21 %, and scaled down.
    """

    loader: ClassVar = "load_digits"
    table: ClassVar = tuple(
        BundledColumn(f"pixel {i},{j}", 0, 16, 0, "inked dots", "a block of 4 x 4 dots, each inked or not")
        for i in range(SIDE)
        for j in range(SIDE)
    )
