"""The constant that the papers choose on raw rows: folds of the clipped rows, and the smallest loss."""

import numpy as np
import pytest

from privcov.attacks.raw_tuning import chosen_on_raw_rows, fold_moments
from privcov.postprocess.threshold import cut_off_diagonal
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


def test_the_constant_cuts_noise_and_keeps_signal():
    band = np.eye(20) + 0.5 * (np.eye(20, k=1) + np.eye(20, k=-1))
    data = Dataset.from_rows(np.random.default_rng(2).multivariate_normal(np.zeros(20), band, 500), 12.0)
    constant = chosen_on_raw_rows(data, np.random.default_rng(0))
    moment = data.rows.T @ data.rows / 500 / 144
    errors = [
        np.linalg.norm(cut_off_diagonal(moment, c * np.sqrt(np.log(20) / 500)) - band / 144) for c in (constant, 0, 1)
    ]
    assert errors[0] < 0.8 * min(errors[1:])
