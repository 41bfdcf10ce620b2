"""What data/graphs says of the edge test: its promise in every setting, and that a cell can be computed again."""

import numpy as np
import pytest

from bench import graphs as bench_graphs
from bench.graphs import CELLS, RATE, REPLICATES, measure, precision_of, stored
from privcov.metrics.graphs import edges

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


def test_the_graphs_are_what_they_are_called():
    assert edges(precision_of("star", 12, 0)).sum(axis=0).max() == 11
    assert set(edges(precision_of("cycle", 15, 0)).sum(axis=0)) == {2}
    assert set(edges(precision_of("blocks", 18, 0)).sum(axis=0)) == {2}
    assert not edges(precision_of("none", 15, 0)).any()
    both = precision_of("signs", 30, 1)
    assert (both[np.triu_indices(30, 1)] < -1e-9).any()
    assert (both[np.triu_indices(30, 1)] > 1e-9).any()
    for graph, d in (("star", 12), ("cycle", 15), ("blocks", 18), ("signs", 30)):
        theta = precision_of(graph, d, 2)
        assert np.linalg.eigvalsh(theta)[0] > 0
        np.testing.assert_allclose(np.diag(np.linalg.inv(theta)), 1.0)


def test_the_goals_are_rows_of_the_bench():
    rows = {what: (found, goal) for what, found, goal in bench_graphs.graphs()}
    assert list(rows) == [
        "MCC on AR(2)", "MCC on random", "MCC on Sachs", "AUC on AR(2) and random", "false edges, worst setting",
    ]  # fmt: skip
    assert all(" x " in found and goal for found, goal in rows.values())
