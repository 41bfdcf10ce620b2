"""Rows simulated at a fixed seed, so exact matrices may be shown beside released ones, and the epsilon of a rho."""

from __future__ import annotations

from privcov import accounting, checks
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.figures.words import plain, powers
from privcov.parameters import build

SEED = 1  # of the noise; the rows have seed 0, as they have on every page
DELTA = 1e-6  # at which epsilon is shown next to rho
AT_DELTA = f"delta = {powers(DELTA)}"
WIDE = 1.681793  # times the public row bound: hardly a row is shortened, so that the pictures show noise alone


def made(source: str, **parameters) -> Dataset:
    """Return the rows that any page draws for this source and these parameters."""
    card = SOURCES.get(source)
    return make_dataset(build(card.cls, f"Source {source!r}", parameters), seed=0)


def widened(data: Dataset) -> Dataset:
    """Return the same rows under a wide row bound."""
    return data.with_row_bound(data.row_bound * WIDE)


def epsilon(rho: float) -> float:
    """Return the epsilon at DELTA that rho-zCDP implies for any method, as Words and Your data have it."""
    return accounting.zcdp_to_approx(checks.positive("rho", rho), DELTA)


def rho_at(epsilon: float) -> float:
    """Return the inverse of `epsilon`."""
    return accounting.approx_to_zcdp(epsilon, DELTA)


def guarantee(rho: float) -> str:
    """Return rho in words, with the epsilon that a class is more likely to know."""
    return f"{plain(rho)}-zCDP (epsilon = {epsilon(rho):.3g} at {AT_DELTA})"
