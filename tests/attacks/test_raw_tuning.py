"""The constant that the papers choose on raw rows: folds of the clipped rows, and the smallest loss."""

import numpy as np
import pytest

from privcov.attacks.raw_tuning import fold_moments
from privcov.tables.dataset import Dataset


@pytest.mark.parametrize(("n", "folds"), [(23, 10), (3, 10), (20, 4)])
def test_folds_put_together_give_the_whole(n, folds):
    """The clipped rows and nothing else; each row is held out once."""
    x = 5 * np.random.default_rng(1).standard_normal((n, 3))
    found = fold_moments(Dataset.from_rows(x, 2.0), folds, np.random.default_rng(0))
    u = x / 2 * np.minimum(1, 2 / np.linalg.norm(x, axis=1))[:, None]
    assert len(found) == min(n, folds)
    assert sum(n - rows for _, rows, _ in found) == n
    np.testing.assert_allclose(sum((n - rows) * held for _, rows, held in found), u.T @ u, atol=1e-12)
    for train, rows, held in found:
        np.testing.assert_allclose(rows * train + (n - rows) * held, u.T @ u, atol=1e-12)
    with pytest.raises(ValueError, match="at least two rows"):
        fold_moments(Dataset.from_rows(x[:1], 2.0), folds, np.random.default_rng(0))
