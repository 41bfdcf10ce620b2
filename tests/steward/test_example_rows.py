"""Rows in place of the private ones: the moment of the release itself, the truth of the available cases, the noise."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from privcov import Kind, PrivateDataset, ZCDP
from privcov.measurements.exact.moment import measure_exactly
from privcov.measurements.exact.reading import read_sum
from privcov.postprocess.matrices import unbiased
from privcov.releases.private_request import usual_request
from privcov.steward.example_rows import MAX_ROWS, ExampleRows, Invention, entry_stds, invented
from privcov.steward.preview import planned_noise, preview

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
    exact = read_sum(measure_exactly(private, **vars(usual_request(facts, ZCDP(1e9)).wanted)), "joint")
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


@pytest.mark.parametrize("declared", [{}, {"missing": "pairs"}, {"missing": "pairs", "row_bound_fraction": 0.5}])
def test_the_stated_noise_is_the_spread_of_the_answers(declared):
    """300 draws: a deviation that is wrong by 20 % lies five standard errors off."""
    private = table(n=4_000, **declared)
    stand = ExampleRows(private, 4_000, "rows")
    noise = planned_noise(private.facts, ZCDP(0.5), 4_000)
    stds = entry_stds(stand.noisy(noise, None))
    answers = np.array([unbiased(stand.noisy(noise, 1, k))[1] for k in range(300)])
    off = ~np.eye(stand.d, dtype=bool)
    assert np.mean(np.std(answers, axis=0)[off] / stds[off]) == pytest.approx(1, abs=0.05)
    assert np.abs(np.std(answers, axis=0)[off] / stds[off] - 1).max() < 0.25
    plan = preview(stand, ZCDP(0.5), noise)
    assert plan.correlation_std == pytest.approx(
        np.median((stds / np.sqrt(np.outer(*[np.diag(answers.mean(axis=0))] * 2)))[off]), rel=0.01
    )
    assert plan.draw.shape == (stand.d,) * 2
    assert (preview(stand, ZCDP(5.0), dataclasses.replace(noise, scale=noise.scale / 10)).correlation_error
            < plan.correlation_error)  # fmt: skip


@pytest.mark.parametrize("declared", DECLARED)
def test_an_invented_table_has_the_declared_kinds(declared):
    """Cells within the bounds, whole levels, one level of a category at most, and as many holes as are guessed."""
    facts = table(**declared).facts
    stand = invented(facts, Invention(9_000, missing=0.2))
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
    assert stand.what == "a public table of 20,000 rows"
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


def test_what_is_invented_is_said_as_it_is():
    """No correlation where nothing moves together, and the share of missing cells, which is exact."""
    facts = PrivateDataset.from_rows(np.zeros((2, 3)), bounds=[(0, 1)] * 3).facts
    apart = invented(facts, Invention(100, "independent", missing=0.3))
    assert "correlation" not in apart.what
    assert "30 % of the cells missing" in apart.what
    assert apart.missing == pytest.approx(0.3, abs=1e-12)
    together = invented(facts, Invention(100, strength=0.4))
    assert "correlation 0.4" in together.what
    assert "missing" not in together.what
