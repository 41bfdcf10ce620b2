"""Twelve random cells, computed with numpy alone, agree with what is stored."""

import numpy as np
import pytest

from tests.replication import literal


@pytest.mark.deep
def test_twelve_random_cells_come_out_of_the_formulas_alone():
    """Seed fixed: with 12 draws a side and a spread of a tenth, a cell that is off by a fifth is seen."""
    assert literal.main(cells=12, seed=20_240)


def test_the_script_imports_nothing_of_the_package():
    source = literal.Path(literal.__file__).read_text(encoding="utf-8")
    assert "privcov" not in source


def test_a_wrong_level_is_seen(tmp_path):
    """The zero matrix of Figure 2 has hardly any spread: a stored value that is a tenth off does not agree."""
    table, row = next(one for one in literal.pool() if one[0] == "5-figure-2" and one[1]["method"] == "zero")
    mean, error = literal.recompute(table, row, np.random.default_rng(1))
    spread = float(row["sd"]) / float(row["replicates"]) ** 0.5
    assert abs(mean - float(row["value"])) <= literal.REACH * np.hypot(error, spread)
    assert abs(mean - 1.5 * float(row["value"])) > literal.REACH * np.hypot(error, spread)
