"""auto-cov: the route it says it took is the one it took, and the search of the row bound pays for itself."""

from fractions import Fraction

import numpy as np
import pytest

import privcov
from privcov.core import accounting
from privcov.measurements.norm_histogram import SEARCH_SHARE
from privcov.tables.public_facts import FEWEST_COLUMNS

RHO = privcov.ZCDP(0.1)


def zipf(d: int, row_bound: float = 1.0, n: int = 20_000, bins: int = 1):
    return privcov.source("zipf-norms", n=n, d=d, bins=bins, random_state=0).with_row_bound(row_bound)


def mean_error(data, **options) -> float:
    found = [privcov.error(privcov.release(data, RHO, "auto-cov", random_state=s, **options), data) for s in range(5)]
    return float(np.mean(found))


def test_few_columns_mean_one_measurement():
    rel = privcov.release(zipf(FEWEST_COLUMNS - 1), RHO, "auto-cov", random_state=1)
    assert [e.share for e in rel.events] == ["matrix"]
    assert not any("Row bound" in note for note in rel.notes)
    off = privcov.release(zipf(FEWEST_COLUMNS - 1), RHO, "auto-cov", random_state=1, row_bound_search="off")
    assert np.array_equal(rel.second_moment, off.second_moment)


def test_the_decision_to_search_is_public():
    """It depends on d only: other rows, another n or row bound change nothing."""
    for d, shares in ((FEWEST_COLUMNS - 1, 1), (FEWEST_COLUMNS, 2)):
        for data in (zipf(d), zipf(d, n=50), zipf(d, 100.0), zipf(d, bins=8)):
            assert len(privcov.release(data, RHO, "auto-cov", random_state=1).events) == shares


@pytest.mark.parametrize("guarantee", [RHO, privcov.ApproxDP(1.0, 1e-6)])
def test_the_shares_never_exceed_the_whole(guarantee):
    rel = privcov.release(zipf(100), guarantee, "auto-cov", random_state=1)
    assert accounting.covers(guarantee, rel.actual_guarantee)
    if guarantee is RHO:
        assert accounting.gaussian_square(rel.events) / 2 <= Fraction(0.1)
        assert accounting.gaussian_square(rel.events[:1]) / 2 == pytest.approx(SEARCH_SHARE * 0.1)


def test_a_bound_that_is_far_too_large_is_found_and_cut():
    """Norms are 1, R is 8: without the search the noise is 64 times too large."""
    data = zipf(100, 8.0)
    rel = privcov.release(data, RHO, "auto-cov", random_state=1)
    assert rel.row_bound == 1.0
    assert "shortened the row bound from 8 to 1;" in rel.notes[1]
    assert mean_error(data) < 0.3 * mean_error(data, row_bound_search="off")


@pytest.mark.parametrize(("d", "mechanism"), [(1, "laplace"), (2, "wishart-difference"), (20, "wishart-difference")])
def test_pure_dp_takes_the_pure_route(d, mechanism):
    rel = privcov.release(zipf(d), privcov.PureDP(1.0), "auto-cov", random_state=1)
    assert [e.mechanism for e in rel.events] == ["laplace"] * (d >= FEWEST_COLUMNS) + [mechanism]
    assert rel.actual_guarantee.epsilon <= 1.0
    assert "pure DP was asked for" in rel.notes[0]


@pytest.mark.parametrize("guarantee", [RHO, privcov.PureDP(1.0)])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("long_rows", [0, 2000])
def test_the_bound_is_shortened_only_where_few_rows_are_long(guarantee, relation, long_rows):
    """Rows of length .9 and .1: 2,000 of 20,000 long ones hold most of the covariance, and keep the bound."""
    directions = np.random.default_rng(0).standard_normal((20_000, 100))
    lengths = np.where(np.arange(20_000) < long_rows, 0.9, 0.1)
    rows = directions * (lengths / np.linalg.norm(directions, axis=1))[:, None]
    data = privcov.Dataset.from_rows(rows, 1.0, mean_is_zero=True)
    rel = privcov.release(data, guarantee, "auto-cov", neighbours=relation, random_state=1)
    assert rel.row_bound == pytest.approx(1.0 if long_rows else 0.125)
    note = next(note for note in rel.notes if note.startswith("Row bound search"))
    assert ("kept the row bound 1." in note) == bool(long_rows)


@pytest.mark.parametrize(("width", "most"), [(4.0, 0.5), (20.0, 0.6)])
def test_ranges_that_are_too_wide_cost_half_as_much_as_without_a_search(width, most):
    """Twenty columns, 5,000 rows, epsilon 1; bounds of 4 and 20 standard deviations. Geometric mean of six ratios."""
    d, ratios = 20, []
    for key in ("ar1-covariance", "sparse-covariance", "block-covariance"):
        for guarantee in (privcov.ApproxDP(1.0, 1e-6), privcov.PureDP(1.0)):
            errors = []
            for seed in range(4):
                sample = privcov.source(key, n=5000, d=d, random_state=seed)
                ends = width * np.sqrt(np.diag(sample.truth.covariance))
                data = privcov.Dataset.from_rows(sample.rows, bounds=[*zip(-ends, ends, strict=True)])
                both = [
                    privcov.release(data, guarantee, random_state=seed, row_bound_search=search)
                    for search in ("auto", "off")
                ]
                assert both[0].row_bound < both[1].row_bound
                errors.append([privcov.error(rel, data) for rel in both])
            ratios.append(np.divide(*np.mean(errors, axis=0)))
    assert np.exp(np.mean(np.log(ratios))) < most, ratios


def test_a_tenth_more_at_most_where_the_bound_was_right_already():
    """Geometric mean over rows, sizes and guarantees of the ratio of mean errors; six draws each."""
    ratios = []
    for key in ("ar1-covariance", "precision-ar2", "block-covariance"):
        for n, d, guarantee in ((1000, 20, privcov.ApproxDP(1.0, 1e-6)), (5000, 40, privcov.PureDP(1.0))):
            tables = [privcov.source(key, n=n, d=d, random_state=seed) for seed in range(6)]
            errors = [
                np.mean(
                    [
                        privcov.error(privcov.release(t, guarantee, random_state=i, row_bound_search=search), t)
                        for i, t in enumerate(tables)
                    ]
                )
                for search in ("auto", "off")
            ]
            ratios.append(errors[0] / errors[1])
    assert np.exp(np.mean(np.log(ratios))) < 1.1, ratios


def test_patterns_of_columns_are_used_by_default_and_cost_nothing():
    """One measurement under both choices, with a mean and under pure DP too; a note names the estimates."""
    data = privcov.source("ar1-covariance", n=2000, d=20, random_state=0)
    plain = privcov.release(data, RHO, "auto-cov", random_state=1, structure="off")
    mixed = privcov.release(data, RHO, "auto-cov", random_state=1)
    assert mixed.events == plain.events
    assert np.array_equal(mixed.noisy_moment.matrix, plain.noisy_moment.matrix)
    assert "band" in mixed.notes[-1]
    with_mean = privcov.Dataset.from_rows(data.rows + 0.5, 1.5 * data.row_bound, truth=data.truth)
    for rows, guarantee in ((data, RHO), (with_mean, RHO), (data, privcov.PureDP(1.0))):
        before, after = (
            privcov.release(rows, guarantee, "auto-cov", **{"random_state": 0, **how})
            for how in ({"structure": "off"}, {})
        )
        assert privcov.error(after, rows) < privcov.error(before, rows)
        assert after.notes[-1].startswith("Off the diagonal, of the population: ")


def test_simulated_rows_tell_their_population_and_others_themselves():
    """The same numbers as a table whose truth is not known: the choice is named, and can be made."""
    data = privcov.source("ar1-covariance", n=500, d=8, random_state=0)
    data = data.with_row_bound(3 * data.row_bound)  # no row is shortened
    unknown = privcov.Dataset.from_rows(data.rows, data.row_bound, mean_is_zero=True, name=data.name)
    weak = privcov.ZCDP(10_000.0)
    found = {
        (target, rows is data): privcov.release(rows, weak, "auto-cov", random_state=1, target=target).covariance
        for rows in (data, unknown)
        for target in ("auto", "population", "sample")
    }
    assert np.array_equal(found["auto", True], found["population", True])
    assert np.array_equal(found["auto", False], found["sample", False])
    sample = data.rows.T @ data.rows / data.n
    near, far = (np.linalg.norm(found[target, True] - sample) for target in ("sample", "population"))
    assert near < far / 2
