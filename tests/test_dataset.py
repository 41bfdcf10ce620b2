"""Public rows in memory: what becomes of missing cells."""

import numpy as np
import pandas as pd
import pytest

from privcov.tables.dataset import Dataset
from privcov.tables.private_dataset import PrivateDataset

try:
    import polars as pl
except ImportError:
    pl = None


def test_missing_cells_of_public_rows_follow_the_rule_of_a_declaration():
    """As a private table of the same rows has them; labels go with their rows."""
    x = np.array([[0.1, np.nan], [0.2, 0.3], [0.5, 0.9], [np.nan, 0.2]])
    bounds = [(0, 1), (0, 2)]
    filled = Dataset.from_rows(x, bounds=bounds, missing="typical", typical=[0.4, 0.6])
    np.testing.assert_array_equal(filled.rows, [[0.1, 0.6], [0.2, 0.3], [0.5, 0.9], [0.4, 0.2]])
    whole = Dataset.from_rows(x, bounds=bounds, missing="drop-row", labels=["a", "b", "c", "d"])
    np.testing.assert_array_equal(whole.rows, x[1:3])
    assert list(whole.labels) == ["b", "c"]
    for rule, part in (("typical", "hold infinite values. Correct them"), ("nearest", "missing must be")):
        with pytest.raises(ValueError, match=part):
            Dataset.from_rows(np.where(x > 0.8, np.inf, x), bounds=bounds, missing=rule)
    with pytest.raises(ValueError, match="missing='drop-row' or 'typical'"):
        Dataset.from_rows(x, bounds=bounds)
    with pytest.raises(ValueError, match="Every row has a missing cell"):
        Dataset.from_rows(x[[0, 3]], bounds=bounds, missing="drop-row")


@pytest.mark.parametrize(
    "form",
    [list, np.array, pd.DataFrame, pl.DataFrame if pl else list, lambda b: dict(zip("ab", b, strict=True)),
     lambda b: pd.DataFrame(b, index=["x", "y"], columns=["low", "high"])],
)  # fmt: skip
@pytest.mark.parametrize("make", [Dataset, PrivateDataset])
def test_bounds_are_taken_in_every_form_of_a_table(form, make):
    given = form([[0.0, 10.0], [20.0, 50.0]])
    if pl and isinstance(given, pl.DataFrame):
        given = pl.DataFrame({"low": [0.0, 20.0], "high": [10.0, 50.0]})
    made = make.from_rows([[1.0, 30.0]] * 4, bounds=given, columns=["a", "b"], typical=pd.Series({"b": 40.0, "a": 5.0}))
    facts = made.facts if make is PrivateDataset else made
    assert np.array_equal(facts.bounds, [[0, 10], [20, 50]])
    assert facts.origin.tolist() == [5, 40]


@pytest.mark.parametrize("make", [Dataset, PrivateDataset])
def test_the_middle_of_the_bounds_is_typical_where_nothing_else_is_said(make):
    made = make.from_rows([[1.0, 30.0]] * 4, bounds=[(0, 10), (20, 50)])
    facts = made.facts if make is PrivateDataset else made
    assert (facts.origin.tolist(), facts.scale.tolist()) == ([5, 35], [5, 15])
