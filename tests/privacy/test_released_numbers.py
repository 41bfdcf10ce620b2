"""What a release looks like from outside: whole numbers of the right size, uniform last bits, an audit at d = 2."""

import numpy as np
import pytest

import privcov
from privcov.tables.private_dataset import PrivateDataset
from tests.privacy import checkers
from tests.privacy.test_replay import SHAPES, tables


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_public", [True, False])
def test_structure(shape, n_public):
    checkers.check_structure(tables(3, "axis", "flat", n_public=n_public)[0], shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_has_the_stated_size_and_is_never_repeated(shape):
    checkers.check_noise_size(shape)
    checkers.check_fresh_noise(shape)


def test_the_audit_does_not_beat_the_claim():
    checkers.audit(tables(2, "axis", "turned"), privcov.ZCDP(1.0))


def test_without_noise_it_is_the_clipped_moment(monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 4))
    clipped = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    z = np.hstack([clipped, np.full((300, 1), np.sqrt(0.5))])
    for n_public in (True, False):
        private = PrivateDataset.from_rows(rows, row_bound=1.0, n_public=n_public)
        checkers.check_unbiased(private, z.T @ z / 300, monkeypatch)
