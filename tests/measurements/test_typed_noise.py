"""The noise on a table with categories, weights and flags: what is drawn has the deviations that are stated."""

import dataclasses

import numpy as np
import pytest

from privcov import Kind, PrivateDataset
from privcov.core.guarantees import ZCDP
from privcov.measurements.exact.private_moment import measure_exactly
from privcov.measurements.exact.reading import read_sum
from privcov.postprocess.matrices import MeasuredMoment, derive

SIZE, DRAWS = 12, 25
KINDS = {f"c{k}": Kind("category", values=tuple("ABCDE"), weight=0.5 + k / 12) for k in range(SIZE)}
KINDS |= {f"x{k}": Kind("number", -1, 1, typical=0, weight=1 + k / 6) for k in range(SIZE)}


@pytest.mark.parametrize("missing", ["typical", "pairs"])
def test_the_stated_deviations_are_those_of_the_draws(missing):
    """Rows of typical values, 25 draws: 300 diagonal numbers of columns, 1,500 of levels, 64,000 others.

    The limits of their mean squares are 5 or 6 standard errors, those of independent numbers twice for levels.
    """
    rows = [[""] * 2 * SIZE]
    private = PrivateDataset.from_rows(rows, kinds=KINDS, missing_codes=["-9"])
    facts = PrivateDataset.from_rows(rows, kinds=KINDS, missing_codes=["-9"], missing=missing).facts
    object.__setattr__(private, "facts", facts)
    object.__setattr__(private, "_rows", np.zeros_like(private._rows) + facts.origin)
    found = []
    for _ in range(DRAWS):
        noisy = measure_exactly(private, ZCDP(0.1), shape="isotropic")
        found.append(read_sum(noisy, "joint"))
    law, flags = found[0].distribution, found[0].flags
    diagonal = np.array([np.diag(one.matrix)[:-1] for one in found]) / law.diagonal_stds
    levels, numbers = slice(0, 5 * SIZE), slice(5 * SIZE, 6 * SIZE)
    assert np.mean(diagonal[:, levels] ** 2) == pytest.approx(1, abs=0.25)
    assert np.mean(diagonal[:, numbers] ** 2) == pytest.approx(1, abs=0.5)
    off = np.array([one.matrix[np.triu_indices(6 * SIZE, 1)] for one in found]) / law.off_diagonal_std
    assert np.mean(off**2) == pytest.approx(1, abs=0.03)
    assert len(set(np.round(law.diagonal_stds / law.scale, 6))) > SIZE, "weights give each block a noise of its own"
    if missing == "pairs":
        assert flags.columns == tuple(range(5 * SIZE, 6 * SIZE))
        both = np.array([np.diag(one.matrix)[:-1] for one in found])
        products = both[:, flags.columns] * both[:, 6 * SIZE :] / np.array(flags.own_covariance)
        assert np.mean(products) == pytest.approx(1, abs=0.6)
        assert len(set(flags.own_covariance)) == SIZE


def test_a_variance_that_is_known_well_is_kept_beside_one_that_is_not():
    """Repair raises both variances; the accurate one is put back, and correlations stay."""
    matrix = np.array([[1.0, 2.0, 0.3, 0], [2.0, 1.0, 0.1, 0], [0.3, 0.1, 2.0, 0], [0, 0, 0, 1e6]])  # a mean of zero
    noisy = MeasuredMoment(matrix, 1.0, np.ones(3), np.zeros(3), 100, 0.5, np.array([0.1, 0.9, 0.1]))
    alike = dataclasses.replace(noisy, diagonal_std=0.9)
    kept, lost = derive(noisy), derive(alike)
    assert np.diag(lost.covariance)[0] > 1.4
    assert np.diag(kept.covariance) == pytest.approx([1.0, np.diag(lost.covariance)[1], 2.0])
    assert kept.noise_std[0, 0] == pytest.approx(0.1)
    all_alike = derive(dataclasses.replace(noisy, diagonal_std=np.full(3, 0.1)))
    assert np.array_equal(all_alike.covariance, derive(dataclasses.replace(noisy, diagonal_std=0.1)).covariance)
