"""Rows simulated at a fixed seed, so exact matrices may be shown beside released ones, and the epsilon of a rho."""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting, checks
from privcov.core.parameters import build
from privcov.core.words import plain, powers
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.tables.dataset import Dataset

SEED = 1  # of the noise; the rows have seed 0, as they have on every page
DELTA = 1e-6  # at which epsilon is shown next to rho
AT_DELTA = f"delta = {powers(DELTA)}"
# The columns of the school that all lessons are about; a wide questionnaire has more.
SCHOOL = ("sleep", "marks", "steps", "pulse", "height", "weight", "screen", "homework", "stress", "breakfast")
WIDE = 1.681793  # times the public row bound: hardly a row is shortened, so that the pictures show noise alone


def simulate(source: str, **parameters) -> Dataset:
    """Return the rows that any page draws for this source and these parameters, under R = 1.3 sqrt(trace Sigma).

    The lessons say how R grows with d, so it follows one formula at every d.
    """
    card = SOURCES.get(source)
    data = make_dataset(build(card.cls, f"Source {source!r}", parameters), seed=0)
    return data.with_row_bound(data.row_bound * multiple(data))


def multiple(data: Dataset) -> float:
    """Return the row bound of a lesson over that of the same rows on other pages."""
    assert data.truth is not None  # simulated
    return 1.3 * math.sqrt(float(np.trace(data.truth.covariance))) / data.row_bound


def widened(data: Dataset) -> Dataset:
    """Return the same rows under a wide row bound."""
    return data.with_row_bound(data.row_bound * WIDE)


def epsilon(rho: float) -> float:
    """Return the epsilon at DELTA that rho-zCDP implies for any method, as Words and Your data have it."""
    return accounting.zcdp_to_approx(checks.positive("rho", rho), DELTA)


def guarantee(rho: float) -> str:
    """Return rho in words, with the epsilon that a class is more likely to know."""
    return f"{plain(rho)}-zCDP (epsilon = {epsilon(rho):.3g} at {AT_DELTA})"
