"""Rows in place of the private ones: the moment of the release itself, the truth of the available cases, the noise."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from privcov import Kind, PrivateDataset, ZCDP
from privcov.measurements.exact.private_moment import measure_exactly
from privcov.measurements.exact.reading import read_sum
from privcov.releases.private_request import default_request
from privcov.steward.example_rows import MAX_ROWS, ExampleRows, Invention, invented
from privcov.steward.preview import planned_noise
from privcov.tables.declaration.declaration import Column, Declaration

KINDS = {
    "age": Kind("integer", 0, 120),
    "sex": Kind("yes-no", values=("F", "M")),
    "ward": Kind("category", values=("A", "B"), other=True),
    "seen": Kind("date", "2024-01-01", "2024-12-31"),
    "crp": Kind("number", 0, 500, transform="log1p", weight=2.0),
    "pain": Kind("ordinal", values=("no", "low", "high"), typical="no"),
}
DECLARED = [
    {},
    {"missing": "pairs"},
    {"missing": "pairs", "row_bound_fraction": 0.6},
    {"missing": "pairs", "n_public": False},
    {"persons": True, "missing": "pairs"},
    {"persons": True},
    {"labels": True, "missing": "pairs"},
    {"missing": "drop-row", "n_public": False},
]


def table(n: int = 600, seed: int = 3, **declared) -> PrivateDataset:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 6)) + rng.standard_normal((n, 1))
    cells = pd.DataFrame({
        "age": np.clip(50 + 15 * z[:, 0], 0, 120),
        "sex": np.where(z[:, 1] > 0, "M", "F"),
        "ward": np.array(["A", "B", "C"])[np.clip(np.rint(z[:, 2]) + 1, 0, 2).astype(int)],
        "seen": (np.datetime64("2024-07-01") + (40 * z[:, 3]).astype(int)).astype(str),
        "crp": np.exp(2 + z[:, 4]),
        "pain": np.array(["no", "low", "high"])[np.clip(np.rint(z[:, 5]) + 1, 0, 2).astype(int)],
    }).astype(object)  # fmt: skip
    cells = cells.mask(rng.random(cells.shape) < 0.1)
    if declared.pop("persons", False):
        declared["persons"] = rng.integers(0, n // 3, n)
    if declared.pop("labels", False):
        declared |= {"labels": np.where(rng.random(n) < 0.4, "a", "b"), "classes": ["a", "b"]}
    return PrivateDataset.from_rows(cells, kinds=KINDS, name="t", **declared)


@pytest.mark.parametrize("declared", DECLARED)
def test_the_rows_are_measured_as_by_the_release(declared):
    """At a rho without visible noise: flags, levels, weights of columns and persons, shortening, classes."""
    private = table(**declared)
    facts = private.facts
    exact = read_sum(measure_exactly(private, **vars(default_request(facts, ZCDP(1e9)).measurement_request)), "joint")
    stand = ExampleRows(private, 600, "rows")
    noise = planned_noise(facts, ZCDP(1e9), 600)
    found = stand.noisy(noise, None)
    assert found.matrix == pytest.approx(exact.matrix, abs=2e-4)
    if exact.flags is not None:
        assert found.flags.columns == exact.flags.columns
        assert found.flags.weight == exact.flags.weight


def available(private: PrivateDataset) -> np.ndarray:
    """Literally, pair by pair over the rows that have both; a missing category has no level."""
    rows, levels = np.array(private._rows), [name.startswith("ward=") for name in private.facts.columns]
    rows[:, levels] = np.nan_to_num(rows[:, levels])
    y = (rows - private.facts.origin) / private.facts.scale
    d, found = y.shape[1], np.zeros((y.shape[1],) * 2)
    for i in range(d):
        for j in range(d):
            both = np.isfinite(y[:, i]) & np.isfinite(y[:, j])
            found[i, j] = np.mean(y[both, i] * y[both, j]) - y[both, i].mean() * y[both, j].mean()
    return found


@pytest.mark.parametrize("declared", [{}, {"missing": "pairs"}, {"row_bound_fraction": 0.4}])
def test_the_truth_is_that_of_the_cells_that_are_there(declared):
    """Whatever is declared about missing cells and long rows; whole numbers cut an entry by less than 1e-4."""
    private = table(**declared)
    stand = ExampleRows(private, 600, "rows")
    wanted = available(private)
    assert stand.covariance == pytest.approx(wanted, abs=1e-4)
    spread = np.sqrt(np.diag(wanted))
    assert stand.correlation == pytest.approx(wanted / np.outer(spread, spread), abs=2e-3)
    facts = dataclasses.replace(private.facts, missing="pairs")
    assert stand.under(facts).covariance == pytest.approx(stand.covariance, rel=1e-12)


@pytest.mark.parametrize("declared", DECLARED)
def test_an_invented_table_has_the_declared_kinds(declared):
    """Cells within the bounds, whole levels, one level of a category at most, and as many holes as are guessed."""
    facts = table(**declared).facts
    stand = invented(facts, Invention(9_000, "factor", missing=0.2))
    rows = np.asarray(stand.table._rows)
    assert stand.n == 9_000
    assert stand.facts.columns == facts.columns
    low, high = facts.bounds.T
    cells = rows[np.isfinite(rows).all(axis=1)]
    assert (cells >= low).all()
    assert (cells <= high).all()
    levels = [j for j, name in enumerate(facts.columns) if name.startswith("ward=")]
    one = rows[:, levels].sum(axis=1)
    assert set(np.unique(one[np.isfinite(one)])) == {1.0}
    assert np.isnan(one).mean() == pytest.approx(0.2, abs=0.02)
    whole = [j for j, name in enumerate(facts.columns) if name in ("age", "pain") or "sex" in name]
    assert (rows[np.isfinite(rows[:, whole]).all(axis=1)][:, whole] % 1 == 0).all()
    assert np.isnan(rows[:, whole]).mean() == pytest.approx(0.2, abs=0.02)
    age, crp = facts.columns.index("age"), facts.columns.index("log1p(crp)")
    assert stand.correlation[age, crp] == pytest.approx(0.5, abs=0.06)
    free = invented(facts, Invention(9_000, "independent"))
    assert abs(free.correlation[age, crp]) < 0.06


@pytest.mark.parametrize("persons", [False, True])
def test_of_a_large_public_table_some_rows_stand_for_all(persons):
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([0, 0], [[0.04, 0.02], [0.02, 0.04]], 20_000)
    ids = {"persons": rng.integers(0, 8_000, 20_000)} if persons else {}
    private = PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * 2, name="t", **ids)
    stand = ExampleRows.of_public(private, 8_000)
    assert len(stand.table._rows) == MAX_ROWS
    assert stand.public
    assert stand.description == "a public table of 20,000 rows"
    assert stand.covariance == pytest.approx(np.array([[0.04, 0.02], [0.02, 0.04]]), rel=0.08)


def test_a_table_of_which_nothing_counts_is_refused():
    cells = pd.DataFrame({"age": ["x"] * 50, "sex": ["y"] * 50})
    kinds = {"age": Kind("number", 0, 120), "sex": Kind("yes-no", values=("F", "M"))}
    with pytest.raises(ValueError, match="100% of the cells of this table are missing or not as declared"):
        ExampleRows.of_public(PrivateDataset.from_rows(cells, kinds=kinds), 100)
    rows = np.full((50, 2), np.nan)
    dropped = PrivateDataset.from_rows(rows, bounds=[(0, 1)] * 2, n_public=False, missing="drop-row")
    with pytest.raises(ValueError, match="No row counts under the declaration, of a public table of 50 rows"):
        ExampleRows.of_public(dropped, 100)
    with pytest.raises(ValueError, match="bounds or kinds"):
        ExampleRows(PrivateDataset.from_rows(rows, row_bound=1.0), 100, "rows")


def test_skewed_columns_under_limits_alone_lie_at_the_low_end_and_typical_ones_where_they_are_declared():
    for typical, at_low_end in ((None, True), (70.0, False)):
        columns = tuple(Column(f"x{j}", low=0, high=100, typical=typical) for j in range(3))
        facts = Declaration("t", "one row", columns).dataset_from_rows(np.zeros((1, 3)), None).facts
        made = invented(facts, Invention(4_000, spread=0.1, skew=1.0))
        assert (np.median(np.asarray(made.table._rows)) < 20) == at_low_end
        assert np.asarray(made.table._rows).min() >= 0


def test_what_typical_ranges_cut_off_counts_in_the_truth_and_what_limits_bound_does_not():
    for limits, cut in (({"typical_range": (0, 100)}, True), ({"low": 0, "high": 100}, False)):
        columns = tuple(Column(f"x{j}", **limits) for j in range(3))
        facts = Declaration("t", "one row", columns).dataset_from_rows(np.zeros((1, 3)), None).facts
        made = invented(facts, Invention(20_000, spread=0.5, skew=1.5), [limits.get("typical_range")] * 3)
        own = np.cov(np.asarray(made.table._rows), rowvar=False) / np.outer(facts.scale, facts.scale)
        assert (made.covariance[0, 0] > 1.1 * own[0, 0]) == cut


def test_answers_of_few_levels_fill_their_range_whatever_the_deviation_of_others():
    columns = (Column("item", low=1, high=5, kind="integer"), Column("age", low=0, high=100))
    facts = Declaration("t", "one row", columns).dataset_from_rows(np.zeros((1, 2)) + 2, None).facts
    rows = np.asarray(invented(facts, Invention(5_000, spread=0.05)).table._rows)
    assert 0.7 < rows[:, 0].std() < 1.1
    assert rows[:, 1].std() == pytest.approx(2.5, rel=0.1)


def test_missing_cells_do_not_hide_what_typical_ranges_cut_off():
    columns = tuple(Column(f"x{j}", typical_range=(0, 100)) for j in range(4))
    facts = Declaration("t", "one row", columns).dataset_from_rows(np.zeros((1, 4)), None).facts
    found = [
        invented(facts, Invention(5_000, skew=1.0, missing=q), [(0, 100)] * 4).covariance[0, 0] for q in (0.0, 0.05)
    ]
    assert found[1] == pytest.approx(found[0], rel=0.05)


def test_a_small_table_has_its_own_number_of_rows_and_a_large_one_fewer():
    columns = tuple(Column(f"x{j}", low=0, high=100) for j in range(4))
    facts = Declaration("t", "one row", columns).dataset_from_rows(np.zeros((1, 4)), None).facts
    sizes = [len(np.asarray(invented(facts, Invention(n)).table._rows)) for n in (300, 10**6)]
    assert sizes[0] == 300
    assert 5_000 <= sizes[1] < 10**6


def test_only_numbers_of_many_values_are_skewed_and_items_end_at_their_limits():
    columns = (
        Column("pay", typical_range=(10, 90)),
        Column("item", low=1, high=5, typical_range=(1, 5), kind="integer"),
    )
    facts = Declaration("t", "one row", columns).dataset_from_rows(np.zeros((1, 2)) + 2, None).facts
    plain, skewed = (
        invented(facts, Invention(5_000, "independent", skew=skew), [(10, 90), (1, 5)]) for skew in (0.0, 1.5)
    )
    assert np.array_equal(np.asarray(plain.table._rows)[:, 1], np.asarray(skewed.table._rows)[:, 1])
    own = np.asarray(skewed.table._rows)[:, 1].std() / facts.scale[1]
    assert np.sqrt(skewed.covariance[1, 1]) == pytest.approx(own)
