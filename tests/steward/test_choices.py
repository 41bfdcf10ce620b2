"""What Plan recommends: better on rows it has not seen, nothing where nothing helps, and the best weights."""

import dataclasses

import numpy as np
import pytest

from privcov import PrivateDataset
from privcov.core.guarantees import ZCDP
from privcov.steward.choices import choices
from privcov.steward.example_rows import ExampleRows, Invention, invented
from privcov.steward.preview import planned_noise, preview

GUARANTEE = ZCDP(0.1)


def rows(seed: int, n: int = 4_000) -> np.ndarray:
    """Four columns that use much of their range and four that use little of it, all moving together."""
    rng = np.random.default_rng(seed)
    z = np.sqrt(0.5) * rng.standard_normal((n, 1)) + np.sqrt(0.5) * rng.standard_normal((n, 8))
    return z * np.repeat([0.3, 0.06], 4)


def table(cells: np.ndarray, **declared) -> PrivateDataset:
    return PrivateDataset.from_rows(cells, bounds=[(-1, 1)] * cells.shape[1], name="t", **declared)


def after(found, cells: np.ndarray, seed: int) -> float:
    """The error of other rows under the facts of a choice, with other noise."""
    stand = ExampleRows(table(cells), len(cells), "rows").under(found)
    return preview(stand, GUARANTEE, planned_noise(found, GUARANTEE, len(cells)), seed=seed).correlation_error


def test_what_is_recommended_helps_rows_that_were_not_seen():
    """Each choice leaves at most a quarter more than it promises, of other rows with other noise (16 draws)."""
    last = ExampleRows.of_public(table(rows(1)), 4_000)
    found = choices(last, last.facts, GUARANTEE, weigh=True)
    assert [one.name for one in found] == ["row_bound_fraction", "weight"]
    assert found[0].value < 0.6
    weights = found[1].value
    assert min(weights) == 1
    assert np.mean(weights[4:]) / np.mean(weights[:4]) == pytest.approx(np.sqrt(5), rel=0.1)
    errors = [after(one, rows(2), seed=7) for one in (last.facts, *(one.facts for one in found))]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.35 * errors[0]
    for one, error in zip(found, errors[1:], strict=True):
        assert one.error == pytest.approx(error, rel=0.25)
        assert one.error < 0.95 * one.before
        assert one.why.endswith(".")


@pytest.mark.parametrize(("missing", "names"), [(0.3, True), (0.0, False)])
def test_missing_cells_are_to_be_measured_where_there_are_many(missing, names):
    facts = dataclasses.replace(table(rows(1)).facts, n=40_000)
    found = choices(invented(facts, Invention(40_000, missing=missing)), facts, ZCDP(0.5))
    assert ("missing" in [one.name for one in found]) is names
    if names:
        assert found[-1].error < 0.5 * found[-1].before
