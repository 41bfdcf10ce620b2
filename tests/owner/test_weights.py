"""The weight of a person that a plan assumes: the expectation by its sum, and the noise of a real release."""

import math

import numpy as np
import pytest

import privcov
from privcov.ledger import Ledger
from privcov.measurements.exact_reading import read_sum
from privcov.owner.preview import planned_noise
from privcov.owner.weights import expected_weight, weight_words


@pytest.mark.parametrize("most", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("mean", [1.0, 1.0001, 1.5, 2.8, 40.0])
def test_of_a_mean_the_number_of_rows_is_geometric(most, mean):
    """By the sum over k itself, from 1 row on, to a tail below 1e-15."""
    p = 1 / mean
    literal = math.fsum(p * (1 - p) ** (k - 1) * min(k, most) for k in range(1, 3_000))
    assert expected_weight(most, mean) == pytest.approx(literal, rel=1e-9)
    assert 1 <= expected_weight(most, mean) <= min(most, mean) + 1e-12


def test_of_shares_it_is_the_mean_of_the_smaller_of_k_and_m():
    shares = {1: 3, 2: 2, 7: 5}
    assert [expected_weight(most, shares) for most in (1, 2, 5, 9)] == pytest.approx([1.0, 1.7, 3.2, 4.2])
    assert expected_weight(4, {2: 0.1, 3: 0}) == 2


@pytest.mark.parametrize(
    ("most", "guess", "sentence"),
    [
        (0, 2.0, "most_weight must be"),
        (2, 0.9, "rows_each must lie in .* guess their mean"),
        (2, math.nan, "rows_each must be finite"),
        (2, "x", "rows_each must be a number"),
        (2, {}, "rows_each must give at least one"),
        (2, {1: 0}, "rows_each must give at least one"),
        (2, {0: 1}, "A number of rows in rows_each must be"),
        (2, {2: -1}, "The share of persons with 2 rows"),
    ],
)
def test_a_guess_that_no_table_has_is_refused(most, guess, sentence):
    with pytest.raises(ValueError, match=sentence):
        expected_weight(most, guess)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("n_public", [True, False])
def test_the_planned_noise_is_that_of_the_release(tmp_path, most, n_public):
    """With the true shares, at a rho at which the total weight is nearly exact; without a guess M > 1 looks worse."""
    rng, persons = np.random.default_rng(1), 200
    k = rng.integers(1, 5, persons)
    ids = np.repeat(np.arange(persons), k)
    rows = rng.uniform(-1, 1, (len(ids), 3))
    table = privcov.PrivateDataset.from_rows(
        rows, bounds=[(-1, 1)] * 3, persons=ids, most_weight=most, n_public=n_public, name="t"
    )
    ledger, much = Ledger(tmp_path / "l.sqlite"), privcov.ZCDP(1e8)
    ledger.set_limit("t", much)
    made = privcov.release_private("auto-cov", table, much, ledger=ledger)
    real = read_sum(made.measurement, "joint").distribution
    shares = {int(number): int(count) for number, count in zip(*np.unique(k, return_counts=True), strict=True)}
    planned = planned_noise(table.facts, much, persons, rows_each=shares)
    assert planned.off_diagonal_std == pytest.approx(real.off_diagonal_std, rel=1e-3)
    assert planned.diagonal_stds == pytest.approx(real.diagonal_stds, rel=1e-3)
    blind = planned_noise(table.facts, much, persons)
    assert blind.scale == pytest.approx(planned.scale * expected_weight(most, shares))
    alone = privcov.PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * 3, persons=ids, n_public=n_public, name="t")
    least = planned_noise(alone.facts, much, persons)
    assert planned.off_diagonal_std / least.off_diagonal_std == pytest.approx(
        most / expected_weight(most, shares), rel=1e-6
    )


def test_the_words_say_what_is_assumed():
    assert weight_words(1, 2.8) == ""
    assert "weight of 1 per person on average, the least there can be" in weight_words(3, 1.0)
    assert "weight of 2.06 per person on average, by the owner's guess" in weight_words(3, 2.8)
    assert "1.46 times the noise" in weight_words(3, 2.8)
