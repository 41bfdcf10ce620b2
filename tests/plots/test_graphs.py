"""Networks stay put and say what they draw; curves end where they end."""

import math

import numpy as np
import pytest

from privcov.metrics.graphs import Rates
from privcov.plots.graphs import MAX_NODES, TESTED_EDGE, against_reference, by_state, network, positions
from privcov.plots.look import pen
from privcov.plots.palette import DARK, LIGHT
from privcov.plots.roc import point_at, roc
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


@pytest.mark.parametrize("d", [3, 11, 20, MAX_NODES])
@pytest.mark.parametrize("seed", [0, 1])
def test_nodes_stand_inside_the_square_and_apart(d, seed):
    place = positions(some_graph(d, seed), d)
    assert place.shape == (d, 2)
    assert np.abs(place).max() <= 1 + 1e-12
    gaps = np.linalg.norm(place[:, None] - place[None], axis=2)[np.triu_indices(d, 1)]
    assert gaps.min() > 0.35 / math.sqrt(d)


def test_the_same_graph_stands_the_same_and_linked_nodes_stand_nearer():
    reference = some_graph(20, 3)
    place = positions(reference, 20)
    np.testing.assert_array_equal(place, positions(reference.copy(), 20))
    gaps = np.linalg.norm(place[:, None] - place[None], axis=2)
    off = ~np.eye(20, dtype=bool)
    assert gaps[reference].mean() < 0.7 * gaps[~reference & off].mean()


@pytest.mark.parametrize("seed", range(10))
def test_nodes_follow_the_order_of_the_columns_as_the_matrix_beside_them(seed):
    d = 12
    place = positions(some_graph(d, seed, 0.3), d)
    order = np.arange(d) - (d - 1) / 2
    assert order @ (place[:, 0] - place[:, 0].mean()) >= -1e-9  # from left to right
    assert order @ (place[:, 1] - place[:, 1].mean()) <= 1e-9  # from top to bottom
    chain = positions(graph(d, *((k, k + 1) for k in range(d - 1))), d)
    assert np.corrcoef(chain[:, 0], np.arange(d))[0, 1] > 0.5


@pytest.mark.parametrize("reference", [None, np.zeros((6, 6), bool)])
def test_without_a_reference_nodes_stand_on_a_circle_clockwise_from_the_top(reference):
    place = positions(reference, 6)
    np.testing.assert_allclose(np.linalg.norm(place, axis=1), 1)
    np.testing.assert_allclose(place[0], [0, 1], atol=1e-12)
    assert place[1][0] > 0
    large = positions(some_graph(MAX_NODES + 1, 0), MAX_NODES + 1)
    np.testing.assert_allclose(np.linalg.norm(large, axis=1), 1)


@pytest.mark.parametrize("d", [1, 2])
def test_one_and_two_nodes_have_places(d):
    assert np.isfinite(positions(np.ones((d, d), bool) & ~np.eye(d, dtype=bool), d)).all()


# --- the network --------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "d")
TRUE, FOUND = graph(4, (0, 1), (1, 2)), graph(4, (0, 1), (0, 3))


@pytest.mark.parametrize("names", [("a", "b"), ("a long name", "another long name")])
def test_two_nodes_on_a_line_have_a_picture_that_is_wide_enough_for_them(names):
    edge = np.array([[False, True], [True, False]])
    layout = network([("Found", edge)], positions(edge, 2), names, LIGHT).figure.layout
    for axis in (layout.xaxis, layout.yaxis):
        assert axis.range[1] - axis.range[0] >= 0.2
    assert layout.margin.l >= max(3.5 * min(14, max(map(len, names))), 12)


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


def test_a_kind_without_edges_keeps_its_place_in_the_legend():
    picture = network(against_reference(TRUE, TRUE), positions(TRUE, 4), NAMES, LIGHT)
    missed = picture.figure.data[0]
    assert missed.name == "Missed: 0"
    assert missed.showlegend
    assert np.isnan(missed.x).all()


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


def test_a_full_network_of_two_hundred_stays_small():
    d = 200
    whole = np.ones((d, d), bool) & ~np.eye(d, dtype=bool)
    picture = network([("Drawn", whole)], positions(None, d), tuple(f"x{i}" for i in range(d)), LIGHT)
    assert len(picture.figure.to_json()) < 2_000_000


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


def test_a_path_that_ends_before_a_tenth_says_so():
    assert "This release finds 0.40 at its end, and ends at 0.05" in roc(rates((0.05, 0.4)), None, OWN, LIGHT).alt
    assert "Without noise" not in roc(SHORT, None, OWN, LIGHT).alt


def test_the_network_on_the_screen_is_marked():
    picture = roc(SHORT, WHOLE, OWN, LIGHT)
    moved = point_at(picture, (0.25, 0.75)).figure.data[-1]
    assert (moved.name, moved.x, moved.y) == ("This network", (0.25,), (0.75,))
    assert point_at(picture, None).figure.data[-1].x == (None,)


def test_all_that_is_sent_is_finite_and_in_the_pens_of_the_method_and_of_ink():
    for palette in (LIGHT, DARK):
        for trace in roc(SHORT, WHOLE, pen(0, palette), palette).figure.data[:-1]:
            assert np.isfinite(np.array(trace.y, dtype=float)).all()
        drawn = {t.name: t.line.color for t in roc(SHORT, WHOLE, pen(0, palette), palette).figure.data}
        assert (drawn["This release"], drawn["Without noise"]) == (palette.lines[0], palette.ink)
