"""Networks stay put and say what they draw; curves end where they end."""

import numpy as np
import pytest

from privcov.metrics.graphs import Rates
from privcov.plots.graphs import TESTED_EDGE, against_reference, by_state, network, point_at, positions, roc
from privcov.plots.look import pen
from privcov.plots.palette import DARK, LIGHT
from privcov.postprocess.edge_test import EDGE, NO_EDGE, UNDECIDED


def graph(d: int, *pairs: tuple[int, int]) -> np.ndarray:
    found = np.zeros((d, d), dtype=bool)
    for i, j in pairs:
        found[i, j] = found[j, i] = True
    return found


def some_graph(d: int, seed: int, share: float = 0.15) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((d, d)) < share, 1)
    return upper | upper.T


# --- where nodes stand --------------------------------------------------------------------------------------


# --- the network --------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "d")
TRUE, FOUND = graph(4, (0, 1), (1, 2)), graph(4, (0, 1), (0, 3))


def test_a_network_says_what_it_draws():
    picture = network(against_reference(FOUND, TRUE), positions(TRUE, 4), NAMES, LIGHT)
    traces = {t.name: t for t in picture.figure.data if t.name}
    assert list(traces) == ["Missed: 1", "False: 1", "Found: 1"]
    assert len({t.line.color for t in traces.values()}) == len({t.line.dash for t in traces.values()}) == 3
    assert "1 missed, 1 false, 1 found." in picture.alt


def test_lines_join_the_nodes_of_their_pair():
    place = positions(TRUE, 4)
    picture = network(against_reference(FOUND, TRUE), place, NAMES, LIGHT)
    drawn = next(t for t in picture.figure.data if t.name == "False: 1")
    np.testing.assert_allclose([drawn.x[:2], drawn.y[:2]], place[[0, 3]].T, rtol=1e-6)
    assert np.isnan(drawn.x[2])


def test_three_states_are_drawn_apart():
    states = np.full((4, 4), NO_EDGE, dtype=np.int8)
    states[0, 1] = states[1, 0] = EDGE
    states[2, 3] = states[3, 2] = states[0, 2] = states[2, 0] = UNDECIDED
    picture = network(by_state(states), positions(None, 4), NAMES, DARK, rest="3 are linked in few.")
    assert [t.name for t in picture.figure.data if t.name] == ["Undecided: 2", f"{TESTED_EDGE}: 1"]
    assert picture.alt.endswith("by pairs: 2 undecided, 1 passes the edge test. 3 are linked in few.")
    nodes = picture.figure.data[-1]
    assert [int(k) for _, k in nodes.customdata] == [1, 1, 0, 0]  # undecided pairs are no edges of a node


def test_names_are_text_and_large_networks_name_their_hubs():
    picture = network([("Drawn", FOUND)], positions(None, 4), ("<b>", "a & b", "c", "d" * 30), LIGHT)
    assert picture.figure.data[-1].text[:2] == ("&lt;b&gt;", "a &amp; b")
    assert len(picture.figure.data[-1].text[3]) == 14
    d = 60
    graph = some_graph(d, 1)
    large = network([("Drawn", graph)], positions(None, d), tuple(f"x{i}" for i in range(d)), LIGHT)
    named = [i for i, text in enumerate(large.figure.data[-1].text) if text]
    degree = graph.sum(axis=1)
    assert 0 < len(named) <= 12
    assert min(degree[named]) >= max(2, np.delete(degree, named).max())
    assert len(large.figure.data[-1].customdata) == d  # the pointer tells all of them
    empty = network([("Drawn", np.zeros((d, d), bool))], positions(None, d), tuple(f"x{i}" for i in range(d)), LIGHT)
    assert not any(empty.figure.data[-1].text)


# --- curves -------------------------------------------------------------------------------------------------


def rates(*points) -> Rates:
    fpr, tpr = np.array(points, dtype=float).T
    return Rates(np.arange(len(points), 0, -1.0), fpr, tpr)


SHORT, WHOLE = rates((0, 0.3), (0.3, 0.9)), rates((0, 0.8), (1.0, 1.0))
OWN = pen(0, LIGHT)


def test_roc_draws_the_path_and_a_ring_at_its_end():
    picture = roc(SHORT, WHOLE, OWN, LIGHT)
    own, exact = (next(t for t in picture.figure.data if t.name == name) for name in ("This release", "Without noise"))
    assert own.x[-1] == pytest.approx(0.3)
    assert own.y[10] == pytest.approx(0.5)
    assert (exact.x[-1], exact.y[-1]) == (1, 1)
    rings = [t for t in picture.figure.data if t.mode == "markers" and t.marker.symbol == "circle-open"]
    assert [t.x[0] for t in rings] == [pytest.approx(0.3)]  # the curve without noise reaches the corner
    assert "This release finds 0.50 at false positive rate 0.10, and ends at 0.3" in picture.alt
    assert next(t for t in picture.figure.data if t.name == "Guessing").y[1] == 1


def test_the_network_on_the_screen_is_marked():
    picture = roc(SHORT, WHOLE, OWN, LIGHT)
    moved = point_at(picture, (0.25, 0.75)).figure.data[-1]
    assert (moved.name, moved.x, moved.y) == ("This network", (0.25,), (0.75,))
    assert point_at(picture, None).figure.data[-1].x == (None,)
