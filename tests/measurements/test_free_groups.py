"""What free groups cost: no pair of rows exceeds the bound, some attain it, and a weight that is 5 % larger is caught.

Every pair of small whole rows, pairs found by climbing at more columns, whole tables through the measurement itself.
"""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import privcov
from privcov.measurements import moment
from privcov.measurements.exact import integer_gram
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT, integer_rows, max_entry
from privcov.measurements.moment import measure_moment, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory import free_groups
from privcov.measurements.noise_theory.anchor import ANCHOR_PURPOSES, anchor_squared, choose_anchor_for, integer_anchor
from privcov.measurements.noise_theory.free_groups import Group, groups_of, weights_of
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.units import Units
from tests.privacy import checkers

SMALL = 8  # the length of a row in the exhaustive search
PARTS = {"singletons": ((0,), (1,)), "pair": ((0, 1),), "mixed": ((0, 1), (2,)), "three": ((0,), (1,), (2,))}


def small_groups(parts: tuple) -> tuple[Group, ...]:
    """Groups of equal bounds whose sum is at most SMALL^2."""
    square = math.isqrt(SMALL**2 // len(parts)) ** 2 if len(parts) > 1 else SMALL**2
    return tuple(Group(columns, square) for columns in parts)


def lattice_rows(groups: tuple[Group, ...]) -> np.ndarray:
    """Every row of whole numbers that the groups allow, without a sign in front: -z gives the matrix of z."""
    d = sum(len(g.columns) for g in groups)
    most = max(math.isqrt(g.square) for g in groups)
    step = 1 if d < 3 else 2  # of the inner points; the ends are always there
    line = sorted({*range(-most, most + 1, step), most, -most, 0})
    rows = np.array(list(itertools.product(line, repeat=d)))
    for g in groups:
        rows = rows[(rows[:, list(g.columns)] ** 2).sum(axis=1) <= g.square]
    return rows


def costs(rows: np.ndarray, groups: tuple[Group, ...], anchor: int, same_class: bool, weights) -> np.ndarray:
    """F of every pair of rows, by the Gram matrices themselves."""
    z = np.column_stack([rows, np.full(len(rows), anchor)]) if anchor else rows
    inner = rows @ rows.T + (anchor**2 if same_class else 0)
    squares = (z**2).sum(axis=1)
    found = (squares[:, None] ** 2 + squares[None, :] ** 2 - 2 * inner**2).astype(float)
    for g, weight in zip(groups, weights, strict=True):
        part = (rows[:, list(g.columns)] ** 2).sum(axis=1)
        found += float(weight) * (part[:, None] - part[None, :]) ** 2
    return found


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(("anchor", "same_class"), [(0, True), (3, True), (5, True), (5, False), (8, True)])
def test_no_pair_of_small_whole_rows_costs_more_than_the_bound(parts, anchor, same_class):
    """Every pair; one row against none, of a label that is not listed, too."""
    groups = small_groups(PARTS[parts])
    rows, weights = lattice_rows(groups), weights_of(groups, anchor)
    bound = 2 * (sum(g.square for g in groups) + anchor**2) ** 2
    found = costs(rows, groups, anchor, same_class, weights)
    assert found.max() <= bound
    alone = (rows**2).sum(axis=1).max() + anchor**2
    assert alone**2 + float(sum(w * g.square**2 for w, g in zip(weights, groups, strict=True))) <= bound
    if not anchor or not same_class:
        assert found.max() >= 0.999 * bound, "the bound is attained"
        assert costs(rows, groups, anchor, same_class, [w * 1.05 for w in weights]).max() > bound


@pytest.mark.parametrize("d", [2, 4, 8])
def test_every_column_alone_is_not_free_where_the_row_bound_is_smaller_than_the_corner(d):
    """R^2 = d / 2: rows on two disjoint halves of the columns cost more than the bound; so there is one group."""
    units = Units.within(np.array([[-1.0, 1.0]] * d), np.zeros(d), math.sqrt(d / 2))
    facts = type("Facts", (), {"units": units})()
    assert groups_of(facts) == (Group(tuple(range(d)), UNIT**2),)
    half = np.repeat([1.0, 0.0], d // 2)
    x, y = half, 1 - half
    each = np.linalg.norm(np.outer(x, x) - np.outer(y, y)) ** 2 + (d / 2) * np.sum((x**2 - y**2) ** 2)
    assert each >= 1.9 * 2 * (d / 2) ** 2


# --- the groups of a declaration ----------------------------------------------------------------------------


def bounded(rows, **more) -> PrivateDataset:
    return PrivateDataset.from_rows(rows, bounds=[(-1.0, 1.0)] * np.shape(rows)[1], **more)


@pytest.mark.parametrize("d", [1, 2, 3, 9, 77, 200])
def test_the_groups_of_a_declaration_and_their_weights(d):
    within, around = bounded(np.zeros((2, d))).facts, PrivateDataset.from_rows(np.zeros((2, d)), row_bound=2.0).facts
    each = groups_of(within)
    assert [g.columns for g in each] == [(j,) for j in range(d)]
    assert sum(g.square for g in each) <= UNIT**2
    assert weights_of(each, 0) == (Fraction(d),) * d
    assert float(weights_of(each, ANCHOR)[0]) == pytest.approx(2 * d, rel=1e-5 * d)
    (whole,) = groups_of(around)
    assert (whole.columns, whole.square) == (tuple(range(d)), UNIT**2)
    assert float(weights_of((whole,), ANCHOR)[0]) == pytest.approx(2, rel=1e-5)
    labels, kappas = free_groups.in_unit_ball(within, 0.25)
    assert (labels, kappas) == (tuple(range(d)), (1.5 * d,) * d)


@pytest.mark.parametrize("d", range(1, 201))
def test_a_cell_within_its_bounds_never_exceeds_its_whole_number(d):
    """The bound that the sensitivity relies on holds before it is enforced, so enforcing it changes no stored sum."""
    rows = np.vstack([np.ones(d), -np.ones(d), np.linspace(-1, 1, d)])
    units = bounded(rows).facts.units
    working = integer_gram.to_working(units, rows)
    assert np.abs(integer_rows(working, units.row_bound)).max() <= max_entry(units)
    assert d * max_entry(units) ** 2 <= UNIT**2


def test_a_longer_cell_is_cut_to_its_whole_number_in_memory_and_in_files():
    k = integer_rows(np.array([[1.5, 0.0], [-1.5, 0.1]]), math.sqrt(2), 700_000)
    assert np.abs(k).max() == 700_000


# --- whole tables, through the measurement of a release -----------------------------------------------------


def neighbours(d: int, a: np.ndarray, b: np.ndarray, *, of: int = 1, classes: bool = False):
    """Two tables that differ in ``of`` rows of one person, in memory; their bounds are -1 to 1."""
    rest = np.random.default_rng(4).uniform(-1, 1, (6, d))
    told = {}
    made = []
    for row, label in ((a, "u"), (b, "v")):
        if classes:
            told = {"labels": ["u", "v"] * 3 + [label] * of, "classes": ["u", "v"]}
        made.append(bounded(np.vstack([rest, *[row] * of]), rows_per_person=of, **told))
    return made


def corner_rows(d: int) -> list[np.ndarray]:
    half = np.repeat([1.0, 0.0], [d // 2, d - d // 2])
    alternating = np.where(np.arange(d) % 2, 1.0, -1.0)
    return [np.zeros(d), np.ones(d), half, 1 - half, alternating, np.full(d, np.nan), np.full(d, 1e300), -half]


@pytest.mark.parametrize("anchor_for", ANCHOR_PURPOSES)
@pytest.mark.parametrize("d", [1, 2, 4, 7])
@pytest.mark.parametrize("form", ["joint", "classes", "person"])
def test_no_neighbour_costs_more_than_the_event_of_a_bounded_table(form, d, anchor_for, monkeypatch):
    """The drawn scales, entry by entry and exact; corners of the box and random rows."""
    rng = np.random.default_rng(d)
    rows = corner_rows(d) + list(rng.uniform(-1, 1, (3, d)))
    how = {"of": 3 if form == "person" else 1, "classes": form == "classes"}
    pairs = list(itertools.combinations(rows, 2))
    worst = max(
        checkers.check_replay(*neighbours(d, a, b, **how), "isotropic", monkeypatch, anchor_for) for a, b in pairs
    )
    if form == "classes" and d > 1:
        assert worst > 0.999, "some corner attains the bound"


@pytest.mark.parametrize("anchor_for", ANCHOR_PURPOSES)
@pytest.mark.parametrize("shape", ["laplace", "wishart-difference"])
def test_no_neighbour_costs_more_under_pure_dp_with_any_anchor(shape, anchor_for, monkeypatch):
    for d in (1, 2, 5):
        for a, b in itertools.combinations(corner_rows(d), 2):
            checkers.check_replay(*neighbours(d, a, b), shape, monkeypatch, anchor_for)


def test_a_weight_that_is_five_per_cent_too_large_is_caught(monkeypatch):
    honest = exact_moment.weights_of
    greedy = lambda groups, anchor: tuple(k * Fraction(21, 20) for k in honest(groups, anchor))  # noqa: E731
    monkeypatch.setattr(exact_moment, "weights_of", greedy)
    with pytest.raises(AssertionError, match="smaller than the event says"):
        checkers.check_replay(*neighbours(4, np.zeros(4), np.ones(4), classes=True), "isotropic", monkeypatch)
    monkeypatch.setattr(checkers, "free_divisors", lambda noisy: ([Fraction(10**6)] * len(noisy.total), []))
    with pytest.raises(AssertionError, match=r"costs 1\.0"):
        checkers.check_replay(*neighbours(4, np.zeros(4), np.ones(4), classes=True), "isotropic", monkeypatch)


def test_groups_of_two_cost_no_more_than_the_event(monkeypatch):
    """As columns of which one is zero where the other is not would be grouped, through the same measurement."""
    d, cell = 4, math.isqrt(UNIT**2 // 4)
    pairs = (Group((0, 1), 2 * cell**2), Group((2, 3), 2 * cell**2))
    monkeypatch.setattr(exact_moment, "groups_of", lambda facts, flagged: pairs)
    kappa = weights_of(pairs, ANCHOR)[0]
    monkeypatch.setattr(checkers, "free_divisors", lambda noisy: ([Fraction(1)] * d, [kappa] * 2))
    worst = max(
        checkers.check_replay(*neighbours(d, a, b, classes=True), "isotropic", monkeypatch)
        for a, b in itertools.combinations(corner_rows(d), 2)
    )
    assert 0.999 < worst <= 1


@pytest.mark.parametrize("most", [None, 1000])
@pytest.mark.parametrize("anchor_for", ANCHOR_PURPOSES)
def test_files_and_memory_give_the_same_sum_with_any_anchor_and_any_bound_of_a_cell(
    anchor_for, most, tmp_path, monkeypatch
):
    """A smaller bound of a cell than any declaration has shows that both ways keep to it."""
    if most:
        monkeypatch.setattr(integer_gram, "max_entry", lambda units: most)
    rows = np.random.default_rng(9).uniform(-1.3, 1.3, (300, 3)).round(6)
    text = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "t.csv").write_text(text + "\n", encoding="utf-8")
    limits = [(-1.0, 1.0)] * 3
    filed = PrivateDataset.from_files(tmp_path / "t.csv", bounds=limits)
    held = PrivateDataset.from_rows(rows, bounds=limits, columns=["a", "b", "c"])
    anchor = integer_anchor(anchor_for, 3, 1, "replace-one")
    one, other = sums_of(filed).gram(1, anchor), integer_gram.noiseless_gram(held, 1, anchor)
    assert one.tolist() == other.tolist()
    assert one[3, 3] == 300 * anchor**2
    assert np.diag(one)[:3].max() <= 300 * (most or max_entry(held.facts.units)) ** 2


# --- the noise in floating point, and the anchor ------------------------------------------------------------


@pytest.mark.parametrize("groups", [(0, 0, 0, 0), (0, 1, 2, 3), (0, 1, 0, 2)])
def test_the_covariance_of_the_noise_is_the_inverse_of_its_cost(groups):
    """A draw is linear in its normals: G' Cov^-1 G must be (||G||_F^2 + sum of weighted squares) / sigma^2."""
    weights = tuple(1.5 + k for k in range(len(set(groups))))
    distribution = NoiseDistribution("free-groups", 0.7, 4, groups=groups, weights=weights)

    class Units_:
        """Hands out zeros with a single 1."""

        def __init__(self, place):
            self.place, self.count = place, 0

        def standard_normal(self, size):
            out = np.zeros(int(np.prod(size)))
            if 0 <= self.place - self.count < len(out):
                out[self.place - self.count] = 1.0
            self.count += len(out)
            return out.reshape(size)

    upper = np.triu_indices(4)
    linear = np.stack([distribution.draw(Units_(k))[upper] for k in range(16)], axis=1)
    precision = np.linalg.inv(linear @ linear.T)
    rng = np.random.default_rng(0)
    for _ in range(20):
        g = rng.normal(size=(4, 4))
        g += g.T
        sums = np.bincount(groups, np.diag(g))
        by_hand = (np.sum(g**2) + np.sum(weights * sums**2)) / 0.49
        assert g[upper] @ precision @ g[upper] == pytest.approx(by_hand, rel=1e-9)
        form = np.where(np.eye(4), 1, 2)[upper] * g[upper]
        assert distribution.form_variance(g) == pytest.approx(form @ linear @ linear.T @ form, rel=1e-9)
    assert distribution.diagonal_stds**2 == pytest.approx(np.diag(linear @ linear.T)[upper[0] == upper[1]], rel=1e-9)


SHAPES = ("upper-triangle", "isotropic", "free-trace", "laplace", "wishart-difference", "coupled-wishart")


@pytest.mark.parametrize("anchor_for", ANCHOR_PURPOSES)
@pytest.mark.parametrize("centre", ["none", "joint", "classes"])
@pytest.mark.parametrize("within", [True, False])
def test_no_neighbour_is_nearer_than_the_sensitivity_in_floating_point(within, centre, anchor_for):
    """G' Cov^-1 G, with the groups that the measurement states, never exceeds the square of sensitivity over scale."""
    d, n = 4, 6
    limits = {"bounds": [(-1, 1)] * d} if within else {"row_bound": 2.0}
    data = privcov.Dataset.from_rows(np.zeros((n, d)), **limits, labels=list("abcabc"))
    how = {"centre": centre, "shape": "free-trace", "rng": np.random.default_rng(0), "anchor_for": anchor_for}
    measured = measure_moment(data, privcov.ZCDP(0.1), **how)
    law, s = measured.distribution, math.sqrt(measured.anchor_squared)
    assert len(law.weights) == (d if within else 1)
    rng = np.random.default_rng(1)
    rows = [row for row in corner_rows(d) if np.isfinite(row).all() and np.abs(row).max() <= 1]
    rows += [np.eye(d)[0] * 2, np.eye(d)[1] * 2] if not within else []
    rows += list(rng.uniform(-1, 1, (20, d)))
    tails = {"none": [[]], "joint": [[s]], "classes": [[s, 0, 0], [0, s, 0]]}[centre]
    z = [np.concatenate([row / 2, tail]) for row in rows for tail in tails]
    worst = 0.0
    for x, y in itertools.combinations(z, 2):
        g = (np.outer(x, x) - np.outer(y, y)) / n
        sums = np.bincount(law.groups, np.diag(g)[:d])
        worst = max(worst, (np.sum(g**2) + np.sum(law.weights * sums**2)) / law.scale**2)
    claim = (measured.event.sensitivity / measured.event.scale) ** 2
    assert worst <= claim * (1 + 1e-12)
    assert worst > 0.999 * claim or centre == "joint"


@pytest.mark.parametrize("s2", [0.01, 0.1, 0.2, 0.354, 0.5, 1.0])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_no_pair_exceeds_a_sensitivity_for_any_anchor(d, s2):
    """Random and hand-made rows; attained in the l2 norm and, in one column, in those that have their own formula."""
    rng, s = np.random.default_rng(d), math.sqrt(s2)
    axis = np.eye(d)
    pairs = [(axis[0], -r * axis[0]) for r in np.linspace(0, 1, 2001)]
    pairs += [(axis[0], axis[-1]), (axis[0], -s2 * axis[0] + math.sqrt(1 - s2**2) * axis[-1])]
    for _ in range(1500):
        x, y = rng.normal(size=(2, d))
        pairs.append((x / np.linalg.norm(x), y / np.linalg.norm(y) * rng.choice([1.0, rng.random()])))
    largest = dict.fromkeys(("l2", "triangle", "l1", "nuclear"), 0.0)
    upper = np.triu_indices(d + 1)
    for x, y in pairs:
        z, w = np.append(x, s), np.append(y, s)
        if d > 1 or abs(x[0]) <= 1:
            g = np.outer(z, z) - np.outer(w, w)
            sizes = {"l2": np.linalg.norm(g), "triangle": np.linalg.norm(g[upper]), "l1": np.abs(g[upper]).sum()}
            sizes["nuclear"] = np.abs(np.linalg.eigvalsh(g)).sum()
            largest = {norm: max(largest[norm], size) for norm, size in sizes.items()}
    for norm, size in largest.items():
        bound = sensitivity(d, 1, norm=norm, n_anchors=1, anchor_squared=s2)
        assert size <= bound * (1 + 1e-12), norm
        attained = {"l2": d > 1, "triangle": d == 1, "l1": d == 1, "nuclear": True}[norm]
        assert not attained or size >= bound * (1 - 1e-6), norm


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_an_anchor_is_read_back_as_what_it_favours(relation):
    for d, n_anchors in itertools.product((1, 3, 60), (0, 1, 4)):
        for word in ANCHOR_PURPOSES:
            a = integer_anchor(word, d, n_anchors, relation)
            s2 = anchor_squared(word, d, n_anchors, relation)
            assert a == pytest.approx(math.sqrt(s2) * UNIT, abs=1)
            assert a**2 <= s2 * UNIT**2
            assert integer_anchor(choose_anchor_for(a, d, n_anchors, relation), d, n_anchors, relation) == a
    for wrong in (0, -ANCHOR, ANCHOR + 1, float(ANCHOR), True, None, 2 * UNIT):
        with pytest.raises(ValueError, match="anchor must be"):
            choose_anchor_for(wrong, 3, 1, relation)


# --- stored measurements ------------------------------------------------------------------------------------


def stored(anchor_for: str = "covariance", shape: str = "isotropic") -> dict:
    share = privcov.ZCDP(0.5) if shape == "isotropic" else privcov.PureDP(1.0)
    made = exact_moment.measure_exactly(bounded(np.zeros((9, 3))), share, shape=shape, anchor_for=anchor_for)
    return json.loads(json.dumps(made.to_dict()))


@pytest.mark.parametrize("shape", ["isotropic", "laplace", "wishart-difference"])
@pytest.mark.parametrize("anchor_for", ANCHOR_PURPOSES)
def test_a_stored_sum_opens_as_it_was(anchor_for, shape):
    kept = stored(anchor_for, shape)
    assert kept["version"] == 2
    assert exact_moment.NoisySum.from_dict(kept).to_dict() == kept


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"version": None},
        {"version": 3},
        {"version": True},
        {"version": "2"},
        {"version": 2.0},
        {"anchor": ANCHOR + 1},
        {"anchor": 0},
        {"shape": "free-trace"},
        {"sums": [3]},
        {"sums": None},
        {"trace": 5},
    ],
)
def test_a_stored_sum_of_another_law_is_refused(change):
    with pytest.raises(ValueError, match=r"version|anchor|shape|sums|hold"):
        exact_moment.NoisySum.from_dict({**stored(), **change})


def test_the_small_anchor_never_leaves_replace_one_with_a_mean():
    assert anchor_squared("covariance", 5, 3, "replace-one") == moment.ANCHOR_SQUARED
    assert anchor_squared("covariance", 5, 1, "add-remove") == 0.5
