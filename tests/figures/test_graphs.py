"""Networks stay put and say what they draw; curves end where they end."""

import dataclasses
import math

import numpy as np
import pytest

from privcov.figures.graphs import LINKED, MOST, against_reference, by_state, network, positions
from privcov.figures.palette import DARK, LIGHT
from privcov.figures.roc import pens, point_at, precision_recall, roc
from privcov.metrics.graphs import Rates
from privcov.postprocess.edges import EDGE, NO_EDGE, UNDECIDED
from privcov.privacy import NoPrivacy, ZCDP
from privcov.sweeps.graph_curves import GRID, average
from privcov.sweeps.graph_study import Line, Run


def graph(d: int, *pairs: tuple[int, int]) -> np.ndarray:
    found = np.zeros((d, d), dtype=bool)
    for i, j in pairs:
        found[i, j] = found[j, i] = True
    return found


def some_graph(d: int, seed: int, share: float = 0.15) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((d, d)) < share, 1)
    return upper | upper.T


# --- where nodes stand --------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [3, 11, 20, MOST])
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
    large = positions(some_graph(MOST + 1, 0), MOST + 1)
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
    assert [t.name for t in picture.figure.data if t.name] == ["Undecided: 2", f"{LINKED}: 1"]
    assert picture.alt.endswith(
        "by pairs: 2 undecided, 1 linked in at least 95\u00a0% of redraws. 3 are linked in few."
    )
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

LINES = [Line("m", "m", ZCDP(0.1)), Line("m", "m", NoPrivacy())]


def some_curves():
    def run(line, replicate, *points, marks=()):
        fpr, tpr = np.array(points, dtype=float).T
        rates = Rates(np.arange(len(points), 0, -1.0), fpr, tpr)
        return Run(line, replicate, rates, 0.2, marks=dict(marks))

    found = [
        run(0, 0, (0, 0.5), (0.5, 1.0), marks={"ebic": (0.1, 0.6)}),
        run(0, 1, (0, 0.3), (0.3, 0.9), marks={"ebic": (0.3, 0.8)}),
        run(1, 0, (0, 0.8), (1.0, 1.0)),
    ]
    return average(LINES, ["rho = 0.1", "No privacy"], found)


def test_roc_sends_the_mean_and_ends_with_a_ring():
    picture = roc(some_curves(), LIGHT)
    thick, thin = (t for t in picture.figure.data if t.name == "rho = 0.1" and t.mode == "lines")
    assert thick.x[-1] == pytest.approx(0.3)
    assert thin.x[0] == pytest.approx(0.3)  # the same line goes on, thinner, where one replicate has ended
    assert thin.line.width < thick.line.width
    at = int(np.flatnonzero(np.isclose(thick.x, 0.1))[0])
    assert thick.y[at] == pytest.approx(((0.5 + 0.1) + (0.3 + 0.2)) / 2)
    rings = [t for t in picture.figure.data if t.mode == "markers" and t.marker.symbol == "circle-open"]
    assert [t.x[0] for t in rings] == [pytest.approx(0.5)]  # the curve without noise reaches the corner
    assert "rho = 0.1 finds 0.55 at false positive rate 0.10, open beyond 0.3" in picture.alt
    assert next(t for t in picture.figure.data if t.name == "Guessing").y[1] == 1


def test_a_band_holds_its_line():
    for picture, name in ((roc(some_curves(), LIGHT), "rho = 0.1 band"), (precision_recall(some_curves(), DARK), "")):
        band = next(t for t in picture.figure.data if t.fill == "toself" and name in t.name)
        half = len(band.x) // 2
        high, low = np.array(band.y[:half]), np.array(band.y[half:])[::-1]
        assert (low <= high + 1e-12).all()


def test_precision_recall_starts_from_the_base_rate_of_the_graph():
    picture = precision_recall(some_curves(), LIGHT)
    assert set(picture.figure.data[0].y) == {0.2}
    assert "guessing gives 0.20" in picture.alt
    quiet = next(t for t in picture.figure.data if t.name == "No privacy")
    at = int(np.flatnonzero(np.isclose(quiet.x, 0.9))[0])
    assert quiet.y[at] == pytest.approx(0.9 * 0.2 / (0.9 * 0.2 + 0.5 * 0.8))


def test_automatic_lambdas_and_the_network_are_marked_on_both():
    curves = some_curves()
    for make, want in ((roc, (0.2, 0.7)), (precision_recall, (0.7, 0.14 / 0.3))):
        picture = make(curves, LIGHT, rules=True)
        assert "diamond" not in {t.marker.symbol for t in make(curves, LIGHT).figure.data}  # only when asked for
        mark = next(t for t in picture.figure.data if t.marker.symbol == "diamond" and t.x[0] is not None)
        assert (mark.x[0], mark.y[0]) == (pytest.approx(want[0]), pytest.approx(want[1]))
        moved = point_at(picture, (0.25, 0.75)).figure.data[-1]
        assert (moved.name, moved.x, moved.y) == ("This network", (0.25,), (0.75,))
        assert point_at(picture, None).figure.data[-1].x == (None,)


def test_both_kinds_of_curves_are_named_in_large_type_and_drawn_alike():
    for palette in (LIGHT, DARK):
        pictures = [make(some_curves(), palette, rules=rules) for make in (roc, precision_recall) for rules in (0, 1)]
        looks = []
        for picture in pictures:
            figure, lines = picture.figure, {}
            assert {note.text for note in figure.layout.annotations} == {"rho = 0.1", "No privacy", "guessing"}
            sizes = [note.font.size for note in figure.layout.annotations] + [figure.layout.legend.font.size]
            sizes += [axis.tickfont.size for axis in (figure.layout.xaxis, figure.layout.yaxis)]
            sizes += [axis.title.font.size for axis in (figure.layout.xaxis, figure.layout.yaxis)]
            assert min(sizes) >= 14
            for trace in figure.data:
                if trace.name in ("rho = 0.1", "No privacy") and trace.mode == "lines":
                    lines.setdefault(trace.name, (trace.line.color, trace.line.dash, trace.line.width))
                    assert not trace.showlegend
            assert min(width for _, _, width in lines.values()) >= 3
            looks.append(lines)
        assert looks[1:] == looks[:-1]


def test_the_rules_in_the_legend_keep_their_order():
    first, second = some_curves()
    marks = dict.fromkeys(("fission", "ebic", "half-universal"), (0.1, 0.2, 0.3))
    shuffled = [
        dataclasses.replace(first, marks=dict(list(marks.items())[::-1])),
        dataclasses.replace(second, marks={}),
    ]
    for lines in ([dataclasses.replace(first, marks=marks), second], shuffled, shuffled[::-1]):
        names = [t.name for t in roc(lines, LIGHT, rules=True).figure.data if t.mode == "markers" and t.x == (None,)]
        assert names == ["ebic", "half-universal", "fission", "This network"]


def test_the_line_without_noise_is_ink_and_the_others_keep_their_pens():
    for palette in (LIGHT, DARK):
        noisy, quiet = pens(some_curves(), palette)
        assert quiet.colour == palette.ink
        assert noisy.colour == palette.lines[0]


def test_all_that_is_sent_is_finite_and_same_input_same_figure():
    first, second = (roc(some_curves(), LIGHT).figure.to_json() for _ in range(2))
    assert first == second
    for trace in roc(some_curves(), LIGHT).figure.data[:-1]:
        assert np.isfinite(np.array(trace.y, dtype=float)).all()
    assert len(GRID) == 101
