"""A PrivateDataset at every door that takes public rows: refused, with the name of the one way for private rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import privcov
from privcov import Dataset, PrivateDataset, ZCDP
from privcov.measurements.clipping import share_clipped, share_out_of_bounds
from privcov.metrics import classification, errors, graphs

ROWS = np.random.default_rng(0).standard_normal((60, 3))
PRIVATE = PrivateDataset.from_rows(ROWS, row_bound=2.0)
RELEASE = privcov.release(Dataset.from_rows(ROWS, 2.0), ZCDP(0.5), "glasso-gaussian", random_state=0)
COVARIANCE = privcov.release(Dataset.from_rows(ROWS, 2.0), ZCDP(0.5), "auto-cov", random_state=0)

DOORS = {
    "release": lambda: privcov.release(PRIVATE, ZCDP(0.1), "auto-cov", random_state=0),
    "error": lambda: privcov.error(RELEASE, PRIVATE),
    "waterfall": lambda: errors.waterfall(COVARIANCE, PRIVATE),
    "reference": lambda: errors.reference_matrix(PRIVATE, "covariance", "sample"),
    "truth": lambda: errors.reference_matrix(PRIVATE, "covariance", "truth"),
    "without noise": lambda: errors.without_noise(RELEASE, PRIVATE),
    "answers to beat": lambda: errors.baseline_errors(PRIVATE, "covariance"),
    "graph recovery": lambda: privcov.graph_recovery(RELEASE, PRIVATE),
    "graph without noise": lambda: graphs.without_noise_at(RELEASE, PRIVATE, 0.1),
    "reference graph": lambda: graphs.reference_graph(PRIVATE),
    "spectra": lambda: errors.spectra(COVARIANCE, PRIVATE),
    "split": lambda: classification.split(PRIVATE, classification.SplitSizes(20), seed=0),
    "columns by t-test": lambda: classification.t_test_columns(PRIVATE, 2),
    "classification error": lambda: classification.classification_error(RELEASE, PRIVATE),
    "scikit-learn": lambda: privcov.PrivateCovariance().fit(PRIVATE),
    "plan": lambda: privcov.Plan(PRIVATE, methods=["auto-cov"], guarantees=[ZCDP(0.1)]),
    "shortened rows": lambda: share_clipped(PRIVATE),
    "cells out of bounds": lambda: share_out_of_bounds(PRIVATE),
    "public rows": lambda: Dataset.from_rows(PRIVATE, 1.0),
    "array": lambda: np.asarray(PRIVATE),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_for_public_rows_names_the_way_for_private_ones(door):
    with pytest.raises((TypeError, AttributeError), match="release_private"):
        DOORS[door]()


def test_what_a_private_table_has_is_still_there_and_nothing_else():
    assert PRIVATE.facts.d == 3
    assert repr(PRIVATE) == str(PRIVATE)
    assert not hasattr(PRIVATE, "rows")
    assert not hasattr(PRIVATE, "truth")
    with pytest.raises(TypeError, match="never written out"):
        pickle.dumps(PRIVATE)


def test_the_other_way_round_names_release():
    with pytest.raises(TypeError, match="or use release for public rows"):
        privcov.release_private(Dataset.from_rows(ROWS, 2.0), ZCDP(0.1), "auto-cov", ledger=None)
