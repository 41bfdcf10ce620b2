"""What data/graphs says of the edge test: its promise in every setting, and that a cell can be computed again."""

import numpy as np
import pytest

from bench.graphs import CELLS, RATE, REPLICATES, measure, stored

SIMULATED = [cell.name for cell in CELLS if cell.graph != "sachs"]


def test_every_setting_is_stored_with_enough_replicates():
    lines = stored()
    assert list(lines) == [cell.name for cell in CELLS]
    assert {int(line["replicates"]) for line in lines.values()} == {REPLICATES}


@pytest.mark.parametrize("name", SIMULATED)
def test_the_rate_of_false_edges_is_kept(name):
    """The mean share of false edges is at most the rate: its mean plus two standard errors of 500 releases."""
    line = stored()[name]
    assert float(line["false"]) + 2 * float(line["false_se"]) <= RATE
    assert float(line["none_wrong"]) <= RATE / 2  # pairs that are called none and have an edge of SLIGHT or more


def test_a_setting_again():
    """40 of its 500 replicates, the same ones: their mean share within 3.5 standard errors; power and MCC near."""
    cell = next(c for c in CELLS if c.graph == "signs" and c.d == 10)
    kept, found = stored()[cell.name], measure(cell, 40)
    spread = float(kept["false_se"]) * np.sqrt(REPLICATES / 40)
    assert abs(float(found["false"]) - float(kept["false"])) < 3.5 * spread
    assert float(found["power"]) == pytest.approx(float(kept["power"]), abs=0.02)
    assert float(found["mcc"]) == pytest.approx(float(kept["mcc"]), abs=0.03)


@pytest.mark.deep
@pytest.mark.parametrize("cell", [c for c in CELLS if c.graph != "sachs"], ids=lambda c: c.name)
def test_every_setting_again(cell):
    kept, found = stored()[cell.name], measure(cell, 100)
    spread = float(kept["false_se"]) * np.sqrt(REPLICATES / 100)
    assert abs(float(found["false"]) - float(kept["false"])) < 4 * spread + 1e-9
