"""The edges of the graph: the test of `postprocess.edge_test`, and intervals where partial correlations have them."""

from __future__ import annotations

import dataclasses

import numpy as np

from privcov.inference.unbiased import NO_INVERSE, TESTED_ONLY, Intervals, UnbiasedMoments
from privcov.postprocess.edge_test import discoveries, edge_test

__all__ = ["discoveries", "edges"]


def edges(known: UnbiasedMoments, exact: Intervals, kurtosis: float = 0.0) -> Intervals:
    """Return the partial correlations, with the test of zero (`postprocess.edge_test`) also without an interval."""
    if known.for_shape(kurtosis).span.any() or known.follows.any():
        return exact
    shape = (known.d, known.d)
    tested = edge_test(known.covariance, known.centre, known.rows, known.law, kurtosis)
    none = np.full(shape, np.nan)
    p = none if tested is None else tested.p_value
    if exact.identified[np.triu_indices(known.d, 1)].all():
        return dataclasses.replace(exact, p_value=p)
    if tested is None:
        return Intervals(none, none, none, np.full(shape, NO_INVERSE), none)
    return Intervals(tested.partial, none, none, np.full(shape, TESTED_ONLY), p)
