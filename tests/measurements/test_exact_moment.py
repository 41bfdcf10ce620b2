"""The exact measurement: whole-number arithmetic, its bounds beside those of `measure_moment`, and how it is read."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import privcov
from privcov.measurements.exact import integer_gram
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT
from privcov.measurements.exact.private_moment import scale_over
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.moment import sensitivity
from privcov.tables.private_dataset import PrivateDataset

RNG = np.random.default_rng(0)


def table(rows, **more) -> PrivateDataset:
    return PrivateDataset.from_rows(rows, **{"row_bound": 1.0} | more)


def silent(values, scale):
    return values


@pytest.fixture
def no_noise(monkeypatch):
    for name in ("add_discrete_gaussian", "add_discrete_laplace", "add_wishart_difference", "add_coupled_wishart"):
        monkeypatch.setattr(exact_noise, name, silent)


def test_entries_are_cut_towards_zero():
    """Also at the rim, where rounding to the nearest would leave the ball and be shortened in another entry."""
    steps = np.array([[0.7, -0.7, 1.5], [2.999, -3.999, 0.0], [UNIT - 0.25, 0.0, 0.75]])
    assert integer_gram.integer_rows(steps / UNIT, 1.0).tolist() == [[0, 0, 1], [2, -3, 0], [UNIT - 1, 0, 0]]
    assert integer_gram.integer_rows(steps / UNIT * 8.0, 8.0).tolist() == [[0, 0, 1], [2, -3, 0], [UNIT - 1, 0, 0]]


def test_a_cell_beyond_its_bounds_counts_as_the_bound():
    """Each cell by itself: shortening the whole row instead would pull the other cells in as well."""
    bounds, beyond, limit = [[0.0, 4.0], [-1.0, 1.0]], [[9.0, 0.5], [-7.0, -3.0]], [[4.0, 0.5], [0.0, -1.0]]
    one, two = (integer_gram.noiseless_gram(PrivateDataset.from_rows(x, bounds=bounds), 1) for x in (beyond, limit))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(("n_anchors", "more"), [(1, {}), (2, {"classes": ["a", "b"]})])
def test_the_gram_is_that_of_python_integers(n_anchors, more, monkeypatch):
    monkeypatch.setattr(integer_gram, "_BLOCK_ENTRIES", 40)  # many blocks
    rows = RNG.normal(size=(101, 3))
    labels = {"labels": ["a", "b", "?"] * 33 + ["a", None]} if more else {}
    gram = integer_gram.noiseless_gram(table(rows, **labels, **more), n_anchors)
    k = integer_gram.integer_rows(rows, 1.0).tolist()
    told = labels.get("labels", [None] * 101)
    tail = {1: lambda c: [ANCHOR], 2: lambda c: [ANCHOR * (c == "a"), ANCHOR * (c == "b")]}[n_anchors]
    z = [row + tail(c) if not more or c in ("a", "b") else [0] * 5 for row, c in zip(k, told, strict=True)]
    expected = [[sum(a[i] * a[j] for a in z) for j in range(3 + n_anchors)] for i in range(3 + n_anchors)]
    assert gram.tolist() == expected


def test_the_largest_block_is_still_exact():
    """Every product at its largest: 8,192 rows at full length make 2^53, the last whole number before gaps."""
    rows = np.zeros((3 * 8192 + 1, 1))
    rows[:] = 1.0
    assert integer_gram.block_rows(2) == 8192
    assert integer_gram.noiseless_gram(table(rows), 1)[0].tolist() == [
        (3 * 8192 + 1) * UNIT**2,
        (3 * 8192 + 1) * UNIT * ANCHOR,
    ]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("d", [2, 7, 40])
@pytest.mark.parametrize("n_anchors", [1, 3])
@pytest.mark.parametrize(("shape", "norm"), [("isotropic", "l2"), ("laplace", "l1"), ("wishart-difference", "nuclear")])
def test_bounds_agree_with_those_of_the_floating_point_measurement(relation, d, n_anchors, shape, norm):
    facts = table(np.zeros((2, d)), n_public=relation == "replace-one").facts
    whole = math.sqrt(exact_moment.norm_bound(facts, shape, n_anchors)) / UNIT**2
    assert whole == pytest.approx(sensitivity(d, 1, norm=norm, n_anchors=n_anchors, relation=relation), rel=1e-5)


def test_scales_are_exact_rationals_on_the_safe_side():
    """rho of the very scales that are drawn, for a person with five rows, never exceeds what was asked."""
    for rho, k, d in itertools.product((1e-6, 0.1, 3.7), (1, 5), (1, 2, 9)):
        facts = table(np.zeros((4, d)), rows_per_person=k).facts
        event = exact_moment.planned_event(facts, privcov.ZCDP(rho), shape="isotropic")
        square = exact_moment.norm_bound(facts, "isotropic", 1)
        assert Fraction(event.sensitivity) ** 2 >= square
        assert Fraction(square) / 2 / Fraction(event.scale) ** 2 <= Fraction(rho)
        for divisor in (2, Fraction(22, 7), Fraction(10**9 + 7, 3)):
            assert Fraction(scale_over(event.scale, divisor)) ** 2 * divisor >= Fraction(event.scale) ** 2
        assert float(Fraction(square) / 2 / Fraction(event.scale) ** 2) == pytest.approx(rho, rel=1e-12)
        assert square == k * k * exact_moment.norm_bound(table(np.zeros((4, d))).facts, "isotropic", 1)


@pytest.mark.parametrize(
    ("share", "shape"),
    [
        (privcov.PureDP(1.0), "isotropic"),
        (privcov.ApproxDP(1.0, 1e-6), "laplace"),
        (privcov.NoPrivacy(), "isotropic"),
        (None, "laplace"),
    ],
)
def test_a_share_of_the_wrong_kind_is_refused(share, shape):
    with pytest.raises(TypeError):
        exact_moment.measure_exactly(table(np.zeros((2, 2))), share, shape=shape)


@pytest.mark.parametrize(
    ("bounded", "anchor_for"),
    [
        (True, "covariance"),
        (False, "both"),
        *(pytest.param(*case, marks=pytest.mark.deep) for case in [(True, "both"), (False, "covariance")]),
    ],
)
def test_the_looks_at_the_diagonal_have_the_law_they_claim(bounded, anchor_for):
    """3,000 draws at d = 5: deviations within 8 % (six standard errors of 1.3 %), of entries and of linear forms."""
    declared = {"bounds": [(-1, 1)] * 5, "row_bound": None} if bounded else {}
    private, d = table(np.zeros((3, 5)), **declared), 5
    how = {"shape": "free-trace", "anchor_for": anchor_for}
    drawn = [read_sum(exact_moment.measure_exactly(private, privcov.ZCDP(0.5), **how), "joint") for _ in range(3_000)]
    distribution = drawn[0].distribution
    assert distribution.shape == "free-groups"
    assert len(set(distribution.groups)) == (d if bounded else 1)
    found = np.array([m.matrix for m in drawn])
    s2 = drawn[0].anchor_squared
    assert s2 == (0.5 if anchor_for == "both" else 1 / math.sqrt(24))
    size = math.sqrt(2) * (1 + s2) / 3 / math.sqrt(2 * 0.5)
    kappa = 1 + 2 * s2
    # By hand, from the variances of the two looks.
    diagonal = 1 / (1 + d * kappa) if bounded else 1 - 1 / d + 1 / (d * (1 + d * kappa))
    trace = d / (1 + d * kappa)
    assert np.std(found[:, 0, 1]) == pytest.approx(size * math.sqrt(0.5), rel=0.08)
    assert np.std(found[:, 1, 5]) == pytest.approx(size * math.sqrt(0.5), rel=0.08)
    assert np.std(found[:, 2, 2]) == pytest.approx(size * math.sqrt(diagonal), rel=0.08)
    assert np.std(np.trace(found[:, :5, :5], axis1=1, axis2=2)) == pytest.approx(size * math.sqrt(trace), rel=0.08)
    assert distribution.diagonal_std == pytest.approx(size * math.sqrt(diagonal), rel=1e-5)
    form = RNG.normal(size=(6, 6))
    form += form.T
    assert np.std(np.einsum("kij,ij->k", found, form)) == pytest.approx(
        math.sqrt(distribution.form_variance(form)), rel=0.08
    )


def test_classes_are_read_as_class_sums_or_as_one_mean(no_noise):
    rows = RNG.normal(size=(40, 2)) / 5
    labels = np.array(["u", "v"])[RNG.integers(0, 2, size=40)]
    private = table(rows, labels=labels, classes=["u", "v"])
    noisy = exact_moment.measure_exactly(private, privcov.ZCDP(1.0), shape="isotropic")
    s, hot = math.sqrt(0.5), (labels[:, None] == ["u", "v"]).astype(float)
    z = np.hstack([rows, s * hot])
    np.testing.assert_allclose(read_sum(noisy, "classes").matrix, z.T @ z / 40, atol=4e-6)
    joint = read_sum(noisy, "joint").matrix
    np.testing.assert_allclose(joint[:2, 2] / math.sqrt(joint[2, 2]), rows.mean(axis=0), atol=4e-6)


@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("shape", ["isotropic", "wishart-difference", "laplace"])
def test_labels_outside_the_list_do_not_bias_the_classes(shape, n_public, no_noise):
    """70 % of class a, none of b, 30 % unlisted, every cell .8: the mean of a was read as .659 where n was public."""
    labels = ["a"] * 700 + ["?"] * 200 + [None] * 100
    private = table(np.full((1000, 1), 0.8), labels=labels, classes=["a", "b"], n_public=n_public)
    share = privcov.PureDP(1.0) if shape in exact_moment.PURE else privcov.ZCDP(0.5)
    noisy = exact_moment.measure_exactly(private, share, shape=shape)
    measured = read_sum(noisy, "classes")
    assert measured.count == pytest.approx(700, rel=1e-9)
    np.testing.assert_allclose(measured.class_counts, [700, 0], atol=1e-6)
    np.testing.assert_allclose(measured.matrix[0, 1] / measured.matrix[1, 1] * math.sqrt(0.5), 0.8, rtol=1e-5)
    assert measured.matrix[0, 0] == pytest.approx(0.64, rel=1e-5)
    joint = read_sum(noisy, "joint").matrix
    assert joint[0, 1] / math.sqrt(joint[1, 1]) == pytest.approx(0.8, rel=1e-5)


def test_the_shares_of_the_classes_add_up_and_classes_need_a_list():
    labelled = table(np.zeros((30, 2)), labels=["a", "b", "c"] * 10, classes=["a", "b", "c"])
    noisy = exact_moment.measure_exactly(labelled, privcov.ZCDP(10.0), shape="isotropic")
    corner = np.diag(read_sum(noisy, "classes").matrix)[2:]
    assert corner.sum() == pytest.approx(0.5, rel=1e-12)
    assert len(set(corner)) == 3
    plain = exact_moment.measure_exactly(table(np.zeros((30, 2))), privcov.ZCDP(1.0), shape="isotropic")
    with pytest.raises(ValueError, match="centre='classes' was not measured"):
        read_sum(plain, "classes")


def test_a_hidden_number_of_rows_is_counted(no_noise):
    rows = RNG.normal(size=(37, 2)) / 5
    noisy = exact_moment.measure_exactly(table(rows, n_public=False), privcov.ZCDP(1.0), shape="isotropic")
    measured = read_sum(noisy, "joint")
    assert (measured.n, noisy.facts.n) == (None, None)
    assert measured.count == pytest.approx(37, rel=1e-9)
    np.testing.assert_allclose(measured.matrix[:2, :2], rows.T @ rows / 37, atol=4e-6)


def test_a_noisy_count_below_one_is_read_as_one(monkeypatch):
    """It divides everything else; a count of zero rows or fewer is what noise does to a small table."""
    monkeypatch.setattr(exact_noise, "add_discrete_gaussian", lambda values, scale: values - 5 * UNIT**2)
    hidden = table(np.zeros((3, 2)), n_public=False)
    noisy = exact_moment.measure_exactly(hidden, privcov.ZCDP(1.0), shape="isotropic")
    measured = read_sum(noisy, "joint")
    assert measured.count == 1.0
    assert np.diag(measured.matrix)[:2] == pytest.approx(-5)


def test_missing_cells_follow_the_declared_rule(no_noise):
    rows = np.array([[1.0, 4.0], [np.nan, 2.0], [3.0, np.inf]])
    facts = {"bounds": [(0, 4), (0, 4)], "typical": [1.0, 2.0]}
    told = np.array([[1.0, 4.0], [1.0, 2.0], [3.0, 2.0]])

    def moment(rows, **more):
        private = PrivateDataset.from_rows(rows, **facts, **more)
        noisy = exact_moment.measure_exactly(private, privcov.ZCDP(1.0), shape="isotropic")
        return read_sum(noisy, "joint")

    np.testing.assert_array_equal(moment(rows).matrix, moment(told).matrix)
    dropped = moment(rows, n_public=False, missing="drop-row")
    assert dropped.count == pytest.approx(1)
    np.testing.assert_array_equal(dropped.matrix, moment(rows[:1], n_public=False).matrix)


@pytest.mark.parametrize("add", [exact_noise.add_wishart_difference, exact_noise.add_coupled_wishart])
def test_pure_noise_is_rounded_to_the_nearest_and_never_wraps_around(add):
    whole = np.array([[5, -3], [-3, 0]])
    np.testing.assert_array_equal(add(whole, 1e-9), whole)
    far = add(np.full((2, 2), 2**62), 2.0**200)
    assert far.dtype == object
    assert max(abs(v) for v in far.ravel()) > 2**190


@pytest.mark.parametrize("add", [exact_noise.add_discrete_gaussian, exact_noise.add_discrete_laplace])
def test_discrete_noise_that_needs_more_than_64_bits_is_added_in_python_integers_or_refused(add):
    """Ten sums just below 2^63: about half of them leave it; OpenDP alone would end there."""
    sums = np.full(10, 2**63 - 1)
    assert exact_noise.fits(2**62, 2.0**50)
    assert not exact_noise.fits(2**63 - 2**40, 2.0**40)
    noisy = add(sums.astype(object), 2.0**40)
    assert any(int(v) != 2**63 - 1 for v in noisy)
    assert max(abs(int(v) - (2**63 - 1)) for v in noisy) < 2**46
    with pytest.raises(ValueError, match=r"at most 2\^54 steps"):
        add(sums, 2.0**54 * 1.001)


def test_a_person_with_a_million_rows_is_hidden_under_pure_dp():
    """Clipped noise gave the sums away here: 9 of 16 numbers were the exact sum plus or minus 2^61."""
    private = table(RNG.normal(size=(50, 3)), rows_per_person=10**6, n_public=False)
    noisy = exact_moment.measure_exactly(private, privcov.PureDP(1.0), shape="wishart-difference")
    exact = integer_gram.noiseless_gram(private, 1)
    noise = [int(v) - int(t) for v, t in zip(noisy.total.ravel(), exact.ravel(), strict=True)]
    assert not {abs(v) for v in noise} & {2**61, 2**62, 2**63}
    assert len({abs(v) for v in noise}) == 10
    again = exact_moment.NoisySum.from_dict(noisy.to_dict())
    assert again.total.tolist() == noisy.total.tolist()


@pytest.mark.parametrize("shape", ["laplace", "isotropic"])
def test_discrete_noise_of_too_large_a_scale_is_refused_from_public_facts(shape):
    facts = table(np.zeros((4, 3)), rows_per_person=10**6).facts
    share = privcov.PureDP(1e-3) if shape == "laplace" else privcov.ZCDP(1e-9)
    with pytest.raises(ValueError, match="weaker guarantee, or declare fewer rows"):
        exact_moment.planned_event(facts, share, shape=shape)


def test_the_noise_keeps_to_the_decimal_that_the_ledger_counts():
    """0.1 is counted as 1/10 and its double lies above, so the noise must be that of a double at or below 1/10."""
    facts = PrivateDataset.from_rows(np.zeros((50, 3)), row_bound=1.0).facts
    for level in (0.1, 0.3, 0.7, 1e-5):
        event = exact_moment.planned_event(facts, privcov.ZCDP(level), shape="isotropic")
        rho = Fraction(exact_moment.norm_bound(facts, "free-groups", 1)) / (2 * Fraction(event.scale) ** 2)
        assert rho <= Fraction(repr(level))
        assert rho > Fraction(repr(level)) * (1 - Fraction(1, 10**6))


@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("kind", ["zcdp", "pure", "approx"])
def test_no_release_costs_more_than_the_ledger_counts(kind, n_public):
    """Every noise that the guarantee can have, in exact rationals; without the step down a tenth of some lie above."""
    from privcov.ledger import cost_of

    levels = [k / 10 for k in range(1, 40)] if kind != "approx" else [0.1, 1.0, 3.0]
    shapes = {"zcdp": ("isotropic", *exact_moment.PURE), "pure": exact_moment.PURE, "approx": ("isotropic",)}[kind]
    for level, shape, d in itertools.product(levels, shapes, (1, 2, 3)):
        asked = {"zcdp": privcov.ZCDP, "pure": privcov.PureDP, "approx": lambda e: privcov.ApproxDP(e, 1e-6)}[kind](
            level
        )
        facts = table(np.zeros((4, d)), n_public=n_public).facts
        event = exact_moment.planned_event(facts, asked, shape=shape)
        ratio, cost = Fraction(event.sensitivity) / Fraction(event.scale), cost_of(asked)
        assert (ratio if cost.kind == "pure" else ratio**2 / 2) <= cost.amount
