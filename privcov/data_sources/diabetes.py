"""Diabetes: age, sex, body and blood of 442 patients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov.data_sources.base import SOURCES
from privcov.data_sources.bundled import Bundled, BundledColumn


@SOURCES.add(
    key="diabetes",
    label="Diabetes (442 patients)",
    group="Public data",
    order=125,
    summary="442 patients with diabetes: age, sex, body mass, blood pressure and six blood serum measurements.",
    reference="Efron, Hastie, Johnstone and Tibshirani (2004), Least angle regression; scikit-learn's copy.",
)
@dataclass(frozen=True)
class Diabetes(Bundled):
    """442 x 10, no labels, in the units of the clinic: scikit-learn's raw table, not its scaled one.

    The scaled table has columns of mean 0 and length 1, made from the rows themselves: a bound on it would be read off
    the data. The study's score of progression has no public range and is left out.

    Notes
    -----
    Effect of the public limits on these public rows: no cell is clipped and no row scaled down.
    """

    table: ClassVar = (
        BundledColumn("age", 18, 90, 50, "years", "adults; few above 90 come to a clinic"),
        BundledColumn("sex", 1, 2, 1.5, "code", "two codes, 1 and 2, by definition"),
        BundledColumn(
            "body mass index", 15, 50, 25, "kg/m^2", "15 is starvation, above 40 obesity class III; 25 is the limit"
        ),
        BundledColumn(
            "blood pressure", 50, 150, 95, "mmHg", "mean arterial: below 60 organs fail, 150 is 200/125; 93 is 120/80"
        ),
        BundledColumn(
            "total cholesterol", 80, 400, 200, "mg/dL", "200 is the upper desirable value; 400 only in familial disease"
        ),
        BundledColumn("LDL", 20, 300, 120, "mg/dL", "below 100 is optimal, 190 very high; a margin"),
        BundledColumn("HDL", 15, 120, 50, "mg/dL", "below 40 is low, above 60 high; a margin"),
        BundledColumn(
            "cholesterol / HDL", 1, 12, 4, "ratio", "a whole is at least its part; 5 is the limit of risk, 12 extreme"
        ),
        BundledColumn(
            "log triglycerides", 3, 7, 4.7, "ln mg/dL", "ln of 20 to 1,100 mg/dL; 150 (5.0) is the limit of normal"
        ),
        BundledColumn(
            "glucose", 40, 250, 100, "mg/dL", "fasting: below 54 is hypoglycaemia, from 126 diabetes; a margin"
        ),
    )

    def load(self) -> tuple[np.ndarray, None]:
        """Load scikit-learn's raw table."""
        from sklearn.datasets import load_diabetes

        return load_diabetes(scaled=False).data, None
