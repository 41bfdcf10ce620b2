"""Class means in one measurement: sensitivities found by search, structural zeros, and one class is the joint form."""

import itertools
import math

import numpy as np
import pytest

import privcov
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, NoPrivacy, PureDP, ZCDP
from privcov.estimators.base import METHODS
from privcov.measurements.labels import class_list
from privcov.measurements.moment import ANCHOR_SQUARED, clipped_moment, measure_moment, sensitivity
from privcov.measurements.noise import SHAPES, NoiseDistribution
from privcov.measurements.wishart import measure_wishart
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

S2 = ANCHOR_SQUARED
K = 3
ABLE = [card.key for card in METHODS.all() if "classes" in card.centres]


def labelled(n=60, d=4, k=K, seed=0, row_bound=2.0) -> Dataset:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    rows = rng.standard_normal((n, d)) + 1.5 * np.eye(k, d)[y]
    return Dataset.from_rows(rows, row_bound, labels=np.array(list("abcdefghijkl"))[y])


def z_of(x: np.ndarray, label: int, k: int = K) -> np.ndarray:
    return np.concatenate([x, math.sqrt(S2) * np.eye(k)[label]])


def literal(dataset: Dataset) -> np.ndarray:
    """The definition, one row at a time."""
    classes = sorted(set(dataset.labels.tolist()))
    total = 0.0
    for row, label in zip(dataset.rows, dataset.labels, strict=True):
        u = row / max(dataset.row_bound, np.linalg.norm(row))
        z = z_of(u, classes.index(label), len(classes))
        total = total + np.outer(z, z)
    return total / dataset.n


# --- sensitivities ------------------------------------------------------------------------------------------


def norms(g: np.ndarray) -> dict[str, float]:
    upper = g[np.triu_indices(len(g))]
    return {
        "l2": np.linalg.norm(g),
        "triangle": np.linalg.norm(upper),
        "l1": np.abs(upper).sum(),
        "nuclear": np.abs(np.linalg.eigvalsh(g)).sum(),
    }


def ball(rng, d: int) -> np.ndarray:
    x = rng.standard_normal(d) * (rng.random(d) < rng.choice([0.3, 1.0]))
    size = np.linalg.norm(x)
    return x / size * rng.choice([1.0, rng.random()]) if size else x


def by_hand(d: int) -> list[tuple]:
    """Rows that the proofs name as the largest, for either label."""
    axis = np.eye(d)
    flat = np.ones(d) / math.sqrt(d)
    found = [(axis[0], 0 * axis[0]), (axis[0], -axis[0]), (flat, -flat), (axis[0], axis[0]), (flat, 0 * flat)]
    found += [(np.full(1, 1.0), np.full(1, -math.sqrt(S2) / 2))] if d == 1 else []
    if d > 1:
        tilted = -S2 * axis[0] + math.sqrt(1 - S2**2) * axis[1]
        found += [(axis[0], axis[1]), (axis[0], tilted)]
        alternating = flat * np.where(np.arange(d) % 2, 1.0, -1.0)
        found += [(flat, alternating)]
    return found


def changes(d: int, relation: str, draws: int = 4000):
    """n times the change of the moment between neighbours: the hand-made pairs with every pair of labels, then
    ``draws`` random ones."""
    rng = np.random.default_rng(d)
    pairs = [(x, y, a, b) for x, y in by_hand(d) for a, b in ((0, 0), (0, 1))]
    pairs += [(ball(rng, d), ball(rng, d), 0, int(rng.integers(0, 2))) for _ in range(draws)]
    for x, y, a, b in pairs:
        z = z_of(x, a)
        w = {"replace-one": z_of(y, b), "add-remove": 0 * z}[relation]
        yield np.outer(z, z) - np.outer(w, w)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_no_pair_exceeds_a_sensitivity_and_the_tight_ones_are_attained(d, relation):
    largest = dict.fromkeys(("l2", "triangle", "l1", "nuclear"), 0.0)
    for g in changes(d, relation):
        for norm, size in norms(g).items():
            largest[norm] = max(largest[norm], size)
    for norm, size in largest.items():
        bound = sensitivity(d, 1, norm=norm, n_anchors=K, relation=relation)
        assert size <= bound * (1 + 1e-12), norm
        # The l1 bound adds parts that no one pair attains; a Frobenius bound is kept in one column as well.
        loose = norm == "l1" or (norm == "l2" and d == 1 and relation == "replace-one")
        assert size >= bound * (0.8 if loose else 1 - 1e-9), norm


def test_a_changed_label_is_covered_and_costs_as_much_as_a_changed_row():
    """Two orthogonal rows of different classes attain sqrt(2)(1 + s^2); the label alone changes less."""
    x, y = np.eye(4)[:2]
    whole = np.outer(z_of(x, 0), z_of(x, 0)) - np.outer(z_of(y, 1), z_of(y, 1))
    bound = sensitivity(4, 1, norm="l2", n_anchors=K)
    assert np.linalg.norm(whole) == pytest.approx(math.sqrt(2) * (1 + S2), rel=1e-14)
    assert np.linalg.norm(whole) <= bound <= np.linalg.norm(whole) * (1 + 1e-13)
    only = np.outer(z_of(x, 0), z_of(x, 0)) - np.outer(z_of(x, 1), z_of(x, 1))
    assert 0 < np.linalg.norm(only) < bound


@pytest.mark.parametrize("norm", ["l2", "triangle", "l1", "nuclear"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("d", [1, 2, 9])
def test_more_classes_cost_no_more_than_two_and_one_is_the_joint_form(d, relation, norm):
    one, two, ten = (sensitivity(d, 7, norm=norm, n_anchors=k, relation=relation) for k in (1, 2, 10))
    assert one == sensitivity(d, 7, norm=norm, n_anchors=1, relation=relation)
    assert one <= two == ten


def test_measured_neighbours_differ_by_the_formula():
    ds = labelled(n=12)
    classes = class_list(ds)
    rows, labels = ds.rows.copy(), ds.labels.copy()
    rows[5], labels[5] = [0.0, 2.0, 0.0, 0.0], "c" if labels[5] != "c" else "a"
    other = Dataset.from_rows(rows, 2.0, labels=labels, classes=classes)
    a, b = (clipped_moment(x, n_anchors=K) for x in (ds, other))
    z, w = (
        z_of(x / max(2.0, np.linalg.norm(x)), classes.index(y))
        for x, y in ((ds.rows[5], ds.labels[5]), (rows[5], labels[5]))
    )
    np.testing.assert_allclose(12 * (a - b), np.outer(z, z) - np.outer(w, w), atol=1e-12)


@pytest.mark.parametrize("shape", ["free-trace", "isotropic", "upper-triangle"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_mahalanobis_length_stays_within_the_event(d, shape):
    """The exact covariance of the noise, from its linear map; every change of replace-one measured in it."""
    ds = Dataset.from_rows(np.zeros((6, d)), labels=list("abcabc"))
    distribution = measure_moment(
        ds, ZCDP(0.1), centre="classes", shape=shape, rng=np.random.default_rng(0)
    ).distribution
    event = measure_moment(ds, ZCDP(0.1), centre="classes", shape=shape, rng=np.random.default_rng(0)).event
    upper = np.triu_indices(d + K)
    count = Unit(-1)
    distribution.draw(count)
    linear = np.stack([distribution.draw(Unit(i))[upper] for i in range(count.count)], axis=1)
    inverse = np.linalg.pinv(linear @ linear.T, hermitian=True)
    inside = linear @ linear.T @ inverse
    longest = 0.0
    for g in changes(d, "replace-one", 1500):
        flat = g[upper] / 6
        np.testing.assert_allclose(inside @ flat, flat, atol=1e-9)  # no change leaves the space that has noise
        longest = max(longest, flat @ inverse @ flat)
    assert longest <= event.multiplier**-2 * (1 + 1e-9)
    assert longest >= event.multiplier**-2 * (1 - 1e-9) or d == 1


class Unit:
    """Hands out zeros with a single 1, so that a linear draw shows its matrix."""

    def __init__(self, one):
        self.one, self.count = one, 0

    def standard_normal(self, size=()):
        total = int(np.prod(size))
        out = np.zeros(total)
        if self.count <= self.one < self.count + total:
            out[self.one - self.count] = 1.0
        self.count += total
        return out.reshape(size) if size != () else float(out[0])


# --- the noise ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [*SHAPES, "wishart-difference", "wishart"])
@pytest.mark.parametrize("corner", [False, True])
def test_the_corner_has_structural_zeros_and_counts_that_add_up(shape, corner):
    groups = {"groups": (0, 1, 0, 2, 2), "weights": (1.0, 2.0, 3.0)} if shape == "free-groups" else {}
    noise = NoiseDistribution(shape, 0.7, 5, K, corner=corner, freedom=4, **groups).draw(np.random.default_rng(0))
    assert noise.shape == (8, 8)
    np.testing.assert_array_equal(noise, noise.T)
    block = noise[5:, 5:]
    assert np.count_nonzero(block - np.diag(np.diag(block))) == 0
    assert np.count_nonzero(np.diag(block)) == K
    assert (abs(np.trace(block)) < 1e-13) == (not corner)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    ("shape", "asked"),
    [*itertools.product(("free-trace", "upper-triangle"), (ApproxDP(1.0, 1e-6), ZCDP(0.2))),
     ("laplace", PureDP(0.5)), ("wishart-difference", PureDP(0.5))],
)  # fmt: skip
def test_the_event_gives_what_was_asked_and_the_noise_is_one_draw(shape, asked, relation):
    ds = labelled()
    measured = measure_moment(ds, asked, centre="classes", shape=shape, rng=np.random.default_rng(1), relation=relation)
    assert accounting.covers(asked, accounting.compose((measured.event,), asked))
    assert "class" in measured.event.statistic
    assert measured.matrix.shape == (7, 7)
    assert measured.class_counts.sum() == pytest.approx(measured.n_rows)
    if relation != "add-remove":
        assert np.trace(measured.matrix[4:, 4:]) == pytest.approx(S2, abs=1e-12)
        draw = measured.distribution.draw(np.random.default_rng(1))
        np.testing.assert_array_equal(measured.matrix, clipped_moment(ds, n_anchors=K) + draw)


def test_wishart_noise_measures_classes_too():
    ds = labelled()
    found = measure_wishart(ds, freedom=50, ratio=0.5, centre="classes", rng=np.random.default_rng(0))
    assert found.matrix.shape == (7, 7)
    assert found.event.sensitivity == pytest.approx(1.5 / 60, rel=1e-12)
    assert np.trace(found.matrix[4:, 4:]) == pytest.approx(S2, abs=1e-12)


# --- the statistic and what is made of it -------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 10])
def test_against_the_slow_formula(k):
    ds = labelled(n=80, k=k)
    np.testing.assert_allclose(clipped_moment(ds, n_anchors=k), literal(ds), atol=1e-13)


def test_without_noise_they_are_the_class_means_and_the_pooled_covariance():
    ds = labelled(n=200)
    clipped = ds.rows * np.minimum(1, 2.0 / np.linalg.norm(ds.rows, axis=1))[:, None]
    rel = privcov.release(ds, NoPrivacy(), "gaussian-cov", centre="classes", random_state=0)
    within = 0.0
    for j, name in enumerate(rel.classes):
        part = clipped[ds.labels == name]
        np.testing.assert_allclose(rel.class_means[j], part.mean(axis=0), atol=1e-12)
        assert rel.class_counts[j] == pytest.approx(len(part))
        within = within + (part - part.mean(axis=0)).T @ (part - part.mean(axis=0))
    np.testing.assert_allclose(rel.covariance, within / 200, atol=1e-12)
    np.testing.assert_allclose(rel.mean, clipped.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(rel.second_moment, clipped.T @ clipped / 200, atol=1e-12)


@pytest.mark.parametrize("key", ABLE)
def test_every_method_that_lists_classes_measures_them(key):
    """Without noise, in units with bounds; with noise, the guarantee, the statement and the JSON."""
    base = labelled(n=300, row_bound=4.0)
    ds = Dataset.from_rows(base.rows, 4.0, [(-8.0, 6.0)] * 4, base.labels)
    card = METHODS.get(key)
    calibration = card.default_calibration
    exact = privcov.release(ds, NoPrivacy(), key, centre="classes", calibration=calibration, random_state=0)
    for j, name in enumerate(exact.classes):
        np.testing.assert_allclose(exact.class_means[j], ds.rows[ds.labels == name].mean(axis=0), atol=1e-8)
    kind = card.guarantees[0]
    asked = {PureDP: PureDP(3.0), ApproxDP: ApproxDP(3.0, 1e-3), ZCDP: ZCDP(1.0)}[kind]
    rel = privcov.release(ds, asked, key, centre="classes", calibration=calibration, random_state=4)
    assert rel.classes == ("a", "b", "c")
    assert rel.class_counts.sum() == pytest.approx(300)
    if rel.is_sound:
        assert accounting.covers(asked, rel.actual_guarantee)
    assert "class counts, class means" in rel.statement["Measured"]
    again = Release.from_json(rel.to_json())
    np.testing.assert_array_equal(again.class_means, rel.class_means)
    np.testing.assert_array_equal(again.class_counts, rel.class_counts)
    assert again.classes == rel.classes
    assert again.to_json() == rel.to_json()


def test_methods_that_do_not_measure_classes_say_so_before_they_run(monkeypatch):
    others = [card for card in METHODS.all() if "classes" not in card.centres]
    assert {"em-cov", "zero"} <= {card.key for card in others}
    for card in others:
        monkeypatch.setattr(card.cls, "run", lambda *a: pytest.fail("it touched the rows"))
        with pytest.raises(ValueError, match="does not measure class means"):
            privcov.release(labelled(), USUAL[card.guarantees[0]], card.key, centre="classes",
                            calibration=card.default_calibration, random_state=0)  # fmt: skip


USUAL = {PureDP: PureDP(1.0), ApproxDP: ApproxDP(1.0, 1e-6), ZCDP: ZCDP(1.0)}


# --- labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "classes", "says"),
    [
        (None, None, "needs a label for every row"),
        (["a"] * 4, None, "at least two classes"),
        (["a", "", "b", "b"], None, "1 of 4 are missing or blank"),
        ([1.0, float("nan"), 2.0, None], None, "2 of 4 are missing or blank"),
        (["a", "b", "c", "a"], ["a", "b"], "not in the declared classes"),
        (["a", "b", "a", "b"], ["a", "b", "c", "d", "e"], "more than 4 rows"),
        (["a", "b", "a", "b"], ["a", "b", "a"], "name every class once"),
    ],
)
def test_labels_that_cannot_be_used(labels, classes, says):
    ds = Dataset.from_rows(np.eye(4), labels=labels, classes=classes)
    with pytest.raises(ValueError, match=says):
        privcov.release(ds, ZCDP(1.0), "auto-cov", centre="classes", random_state=0)


def test_measurements_are_not_classes():
    ds = Dataset.from_rows(np.ones((300, 2)), labels=np.random.default_rng(0).random(300))
    with pytest.raises(ValueError, match="classes, not measurements"):
        privcov.release(ds, ZCDP(1.0), "auto-cov", centre="classes", random_state=0)
