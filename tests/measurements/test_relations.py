"""Zero-out and add-remove: sensitivities on real pairs and attained, the noise that is declared, and n unknown.

Statistics of neighbours are exact (no noise): a bound is exceeded or it is not, up to rounding.
"""

from __future__ import annotations

import functools
import itertools
import json
import math

import numpy as np
import pytest

import privcov
from privcov.core import accounting
from privcov.core.guarantees import KINDS, RELATIONS, ApproxDP, GaussianDP, PureDP, ZCDP
from privcov.estimators.base import METHODS
from privcov.measurements.clipping import clip_rows
from privcov.measurements.moment import ANCHOR_SQUARED, clipped_moment, measure_moment, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset
from tests.measurements.test_moment import UnitDraws, frobenius, pairs, upper_l1, upper_l2

S2 = ANCHOR_SQUARED
S = math.sqrt(S2)
DIMENSIONS = (1, 2, 3, 5, 20)


def nuclear(g):
    return np.abs(np.linalg.eigvalsh(g)).sum(axis=1)


NORMS = {"l2": frobenius, "triangle": upper_l2, "l1": upper_l1, "nuclear": nuclear}
SHAPES = {"upper-triangle": "triangle", "isotropic": "l2", "free-trace": "l2", "laplace": "l1"}
# (relation, joint): under add-remove the sum is always measured jointly
CASES = [("add-remove", True)]
NEW = ("add-remove",)


@functools.cache
def changes(d, relation, joint):
    """Change of n times the statistic, for both rows of test_moment's 20,000 pairs: zz' minus the origin's, or all."""
    rows = np.vstack(pairs(d))
    if joint:
        rows = np.hstack([rows, np.full((len(rows), 1), S)])
    return rows[:, :, None] * rows[:, None, :]


def extremes(d):
    """Rows that attain the bounds: an axis for the l2 norms, equal entries for l1."""
    axis, flat = np.eye(d)[0], np.ones(d) / math.sqrt(d)
    return {"l2": axis, "triangle": axis, "l1": flat, "nuclear": flat}


def real_sums(x, relation, joint, n=6, row_bound=2.5, bounds=None):
    """n times the statistic of two real tables, through the package's own clipping, in the relation's two states."""
    rows = np.random.default_rng(1).standard_normal((n, len(x)))
    with_row = rows.copy()
    with_row[n // 2] = x * row_bound
    without = np.delete(with_row, n // 2, axis=0)
    return [
        len(table) * clipped_moment(Dataset.from_rows(table, row_bound), n_anchors=joint)
        for table in (with_row, without)
    ]


# --- sensitivity --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("relation", "joint"), CASES)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_no_row_exceeds_a_sensitivity(d, relation, joint):
    g = changes(d, relation, joint)
    assert len(g) > 20_000
    for norm, size in NORMS.items():
        assert size(g).max() <= sensitivity(d, 1, norm=norm, n_anchors=joint, relation=relation), norm


@pytest.mark.parametrize(("relation", "joint"), CASES)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_real_tables_change_by_what_the_formula_says_and_stay_below(d, relation, joint):
    formula, rows = changes(d, relation, joint), np.vstack(pairs(d))
    for i in [*range(60), *range(10_000, 10_030)]:
        a, b = real_sums(rows[i], relation, joint)
        np.testing.assert_allclose(a - b, formula[i], atol=1e-12)
        for norm, size in NORMS.items():
            bound = sensitivity(d, 1, norm=norm, n_anchors=joint, relation=relation)
            assert size((a - b)[None])[0] <= bound * (1 + 1e-12)


@pytest.mark.parametrize(("relation", "joint"), CASES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_every_sensitivity_is_attained_by_a_row_made_by_hand(d, norm, relation, joint):
    a, b = real_sums(extremes(d)[norm], relation, joint)
    bound = sensitivity(d, 1, norm=norm, n_anchors=joint, relation=relation)
    assert NORMS[norm]((a - b)[None])[0] == pytest.approx(bound, rel=1e-12)


def test_a_row_beyond_the_bound_moves_no_more_than_one_on_it():
    for (relation, joint), norm in itertools.product(CASES, NORMS):
        a, b = real_sums(1e9 * extremes(4)[norm], relation, joint)
        bound = sensitivity(4, 1, norm=norm, n_anchors=joint, relation=relation)
        assert NORMS[norm]((a - b)[None])[0] == pytest.approx(bound, rel=1e-12)


def test_joint_triangle_under_replace_one_is_attained_by_a_pair_made_by_hand():
    """xx' - yy' is diagonal for x = (cos t, sin t), y = (sin t, cos t), and <x, y> = sin 2t = -s^2 / 2."""
    t = math.asin(-S2 / 2) / 2
    for d in (2, 5):
        x, y = np.zeros((2, d))
        x[:2], y[:2] = (math.cos(t), math.sin(t)), (math.sin(t), math.cos(t))
        z, w = (np.append(row, S) for row in (x, y))
        g = (np.outer(z, z) - np.outer(w, w))[None]
        assert upper_l2(g)[0] == pytest.approx(sensitivity(d, 1, norm="triangle", n_anchors=1), rel=1e-12)
    # one column: 1 against -1 in l2, 1 against -s/2 in l1
    for norm, other in (("triangle", -1.0), ("l1", -S / 2)):
        z, w = np.array([1.0, S]), np.array([other, S])
        g = (np.outer(z, z) - np.outer(w, w))[None]
        assert NORMS[norm](g)[0] == pytest.approx(sensitivity(1, 1, norm=norm, n_anchors=1), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_relations_hang_together(d, joint, norm):
    """Replacing is taking out and putting in, the triangle is a part of the whole, and n does not divide add-remove."""
    one = {r: sensitivity(d, 1, norm=norm, n_anchors=joint, relation=r) for r in RELATIONS}
    assert one["replace-one"] <= 2 * one["add-remove"] * (1 + 1e-12)
    assert sensitivity(d, 40, norm=norm, n_anchors=joint) == pytest.approx(one["replace-one"] / 40)
    assert sensitivity(d, 40, norm=norm, n_anchors=joint, relation="add-remove") == one["add-remove"]
    for r in RELATIONS:
        whole, part = (sensitivity(d, 3, norm=k, n_anchors=joint, relation=r) for k in ("l2", "triangle"))
        assert part <= whole


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_law_without_a_calibration_here_does_not_pass_for_gaussian(relation):
    """Additive Wishart noise has a calibration of its own; here it once came out as a Gaussian event."""
    with pytest.raises(ValueError, match="shape must be"):
        measured("wishart", relation)


# --- noise and event ----------------------------------------------------------------------------------------

DATA = Dataset.from_rows(np.random.default_rng(6).standard_normal((20, 4)))


def measured(shape, relation, centre="joint", share=None, data=DATA, seed=0):
    share = share or (PureDP(0.7) if shape == "laplace" else ZCDP(0.3))
    rng = np.random.default_rng(seed)
    return measure_moment(data, share, centre=centre, shape=shape, rng=rng, relation=relation)


@pytest.mark.parametrize("relation", NEW)
@pytest.mark.parametrize("centre", ["none", "zero", "joint"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("d", [1, 4])
def test_the_event_holds_the_sensitivity_and_the_scale_of_the_relation(d, shape, centre, relation):
    data = Dataset.from_rows(np.random.default_rng(6).standard_normal((20, d)))
    for asked in (PureDP(0.7), ApproxDP(0.4, 1e-6), ZCDP(0.3), GaussianDP(0.2)):
        if isinstance(asked, (PureDP, GaussianDP)) and (isinstance(asked, PureDP) != (shape == "laplace")):
            continue
        m = measured(shape, relation, centre, asked, data)
        joint = centre == "joint" or relation == "add-remove"
        want = sensitivity(d, 20, norm=SHAPES[shape], n_anchors=joint, relation=relation)
        assert m.event.sensitivity == want
        assert m.event.law == ("isotropic" if shape == "free-trace" else shape)
        if isinstance(asked, GaussianDP):
            assert 1 / m.event.multiplier == pytest.approx(0.2, rel=1e-14)
        else:
            assert accounting.covers(asked, accounting.compose((m.event,), asked))
        count = m.count if relation == "add-remove" else 1
        assert m.distribution.scale == pytest.approx(m.event.scale / count, rel=1e-15)
        assert m.matrix.shape == (d + (centre == "joint"),) * 2


def noise_covariance(distribution):
    """Exact covariance of the upper triangle of the noise, corner included, as L L'."""
    counter = UnitDraws()
    distribution.draw(counter)
    upper = np.triu_indices(distribution.dimension + distribution.n_anchors)
    linear = np.stack([distribution.draw(UnitDraws(i))[upper] for i in range(counter.count)], axis=1)
    return linear @ linear.T, upper


@pytest.mark.parametrize(("relation", "joint"), CASES)
@pytest.mark.parametrize("shape", ["upper-triangle", "isotropic", "free-trace"])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_mahalanobis_length_never_exceeds_what_the_event_declares(d, shape, relation, joint):
    """And attains it: no noise is wasted. The law is that of the sum, before anything is divided by a count."""
    data = Dataset.from_rows(np.zeros((1, d)))
    m = measured(shape, relation, "joint" if joint else "none", ZCDP(0.1), data)
    distribution = NoiseDistribution(m.distribution.shape, m.event.scale, d, joint, corner=relation == "add-remove")
    covariance, upper = noise_covariance(distribution)
    rows = np.vstack([*extremes(d).values(), np.vstack(pairs(d))])
    z = np.hstack([rows, np.full((len(rows), 1), S)]) if joint else rows
    g = z[:, :, None] * z[:, None, :]
    keep = np.ones(len(upper[0]), dtype=bool)
    g = g[:, *upper][:, keep]
    lengths = np.einsum("ij,ij->i", g, np.linalg.solve(covariance[np.ix_(keep, keep)], g.T).T)
    mu2 = m.event.multiplier**-2
    assert lengths.max() == pytest.approx(mu2, rel=1e-12)
    assert lengths.max() <= mu2 * (1 + 1e-12)
    assert mu2 <= 0.2  # rho = mu^2 / 2


@pytest.mark.parametrize("relation", NEW)
def test_the_trace_is_not_set_free(relation):
    """Free-trace noise would spend (1 + (tr G)^2 / |G|^2) times the rho here: both lengths of xx' are 1."""
    free, plain = (measured(shape, relation) for shape in ("free-trace", "isotropic"))
    assert free.distribution == plain.distribution
    assert free.matrix.tobytes() == plain.matrix.tobytes()
    covariance, upper = noise_covariance(NoiseDistribution("free-trace", 1.0, 3))
    g = np.outer(np.eye(3)[0], np.eye(3)[0])[upper]
    assert g @ np.linalg.solve(covariance, g) == pytest.approx(2, rel=1e-12)


# --- add-remove: the count, and what is divided by it -------------------------------------------------------


@pytest.mark.parametrize("shape", ["upper-triangle", "isotropic", "laplace"])
@pytest.mark.parametrize("centre", ["none", "joint"])
def test_the_matrix_is_the_noisy_sum_over_the_noisy_count(centre, shape):
    m = measured(shape, "add-remove", centre, seed=4)
    distribution = NoiseDistribution(shape, m.event.scale, 4, True, corner=True)
    total = 20 * clipped_moment(DATA, n_anchors=1) + distribution.draw(np.random.default_rng(4))
    assert m.count == total[-1, -1] / S2
    want = total / m.count
    assert want[-1, -1] == pytest.approx(S2, rel=1e-15)
    np.testing.assert_allclose(m.matrix, want if centre == "joint" else want[:-1, :-1], rtol=1e-14)
    assert (m.distribution.n_anchors, m.distribution.corner) == (centre == "joint", False)
    assert m.n is None
    assert m.n_rows == m.count


@pytest.mark.parametrize("key", ["auto-cov", "gaussian-cov", "laplace-cov"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_count_far_below_its_noise_gives_a_finite_release(key, n):
    """Raised to 1, and the corner to the public constant: noise at the corner must not pass for a scale of the mean."""
    data = Dataset.from_rows(np.ones((n, 3)) / 2)
    own = {} if key == "auto-cov" else {"repair": "none"}
    floored = 0
    for seed in range(30):
        asked = PureDP(0.01) if key == "laplace-cov" else ZCDP(1e-4)
        rel = privcov.release(data, asked, key, random_state=seed, neighbours="add-remove", **own)
        floored += rel.count == 1
        assert rel.count >= 1
        assert rel.noisy_moment.matrix[-1, -1] == S2
        assert np.isfinite(rel.covariance).all()
        if own:
            np.testing.assert_allclose(rel.mean, rel.noisy_moment.matrix[:-1, -1] * rel.row_bound / S, rtol=1e-12)
    assert floored > 5


OFFERS = [(c.key, relation) for c in METHODS.all() for relation in NEW if relation in c.relations]
ENORMOUS = {"pure": PureDP(1e12), "approx": ApproxDP(1e4, 1e-6), "zcdp": ZCDP(1e24)}
USUAL = {"pure": PureDP(2.0), "approx": ApproxDP(1.0, 1e-6), "zcdp": ZCDP(0.3)}
ADDITIVE = ("auto-cov", "gaussian-cov", "laplace-cov")


def rows(n=1237, d=4):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * rng.random((d, d))) + 0.3


@pytest.mark.parametrize("relation", NEW)
@pytest.mark.parametrize("key", ADDITIVE)
def test_with_an_enormous_epsilon_the_covariance_is_that_of_the_clipped_rows(key, relation):
    x = rows()
    clipped = clip_rows(x, 3.0)
    for guarantee, centre in itertools.product(METHODS.get(key).guarantees, ("none", "joint")):
        rel = privcov.release(
            Dataset.from_rows(x, 3.0), ENORMOUS[guarantee.kind], key, centre=centre, neighbours=relation, random_state=0
        )
        # (1e4, 1e-6)-DP has mu of about 137: noise of 1e-2 / 1237 in unit-ball units, times R^2 = 9, times 6
        atol = 6 * 9 * rel.noisy_moment.distribution.scale * 3 + 1e-9
        assert atol < 3e-3
        want = np.cov(clipped.T, bias=True) if centre == "joint" else clipped.T @ clipped / len(x)
        np.testing.assert_allclose(rel.matrix, want, rtol=0, atol=atol)
        if centre == "joint":
            np.testing.assert_allclose(rel.mean, clipped.mean(axis=0), rtol=0, atol=atol)
        else:
            assert rel.mean is None
        if relation == "add-remove":
            assert rel.count == pytest.approx(1237, abs=atol * 1237)


def numbers_in(thing) -> list:
    if isinstance(thing, dict):
        return [v for one in thing.values() for v in numbers_in(one)]
    if isinstance(thing, (list, tuple)):
        return [v for one in thing for v in numbers_in(one)]
    return [thing] if isinstance(thing, (int, float)) and not isinstance(thing, bool) else []


@pytest.mark.parametrize("key", [key for key, relation in OFFERS if relation == "add-remove"])
def test_n_is_nowhere_in_a_release_that_must_not_know_it(key):
    n = 1237
    x = Dataset.from_rows(rows(n), 3.0)
    for guarantee, centre in itertools.product(METHODS.get(key).guarantees, ("none", "joint")):
        rel = privcov.release(x, USUAL[guarantee.kind], key, random_state=1, centre=centre, neighbours="add-remove")
        assert rel.n is None
        assert rel.noisy_moment is None or rel.noisy_moment.n is None
        assert rel.count != n
        text = rel.to_json()
        assert str(n) not in str(rel.statement)
        assert not any(str(n) in note for note in rel.notes)
        told = numbers_in(json.loads(text))
        # n itself, its root, the exact sums' divisor, and the sensitivities a public n would give
        banned = [n, n - 1, 1 / n, math.sqrt(n), S2 * n, n * 9.0]
        banned += [
            sensitivity(4, n, norm=norm, n_anchors=joint, relation=r)
            for norm, joint, r in itertools.product(NORMS, (False, True), ("replace-one",))
        ]
        for number in told:
            assert not any(abs(number - b) <= 1e-9 * abs(b) for b in banned), number
        assert "the number of rows is not public" in rel.statement["Neighbours"]
        assert "noisy count" in rel.statement["Measured"]
        assert Release.from_json(text).to_json() == text


@pytest.mark.parametrize("key", [key for key, relation in OFFERS if relation == "add-remove"])
def test_a_release_depends_on_n_through_the_noisy_sum_only(key, monkeypatch):
    """Two tables, one with a row of zeros more; the second's noise is smaller by exactly the difference. Then the noisy
    sums are the same, and so must everything be: a branch, a constant or a note that read n would show."""
    one = rows(50)
    two = np.vstack([one, np.zeros(4)])
    asked = USUAL[METHODS.get(key).guarantees[0].kind]
    want = privcov.release(Dataset.from_rows(one, 3.0), asked, key, random_state=2, neighbours="add-remove")
    if len(want.events) != 1:
        pytest.skip("several measurements: there is no one noise to shift")
    honest, drawn = NoiseDistribution.draw, []

    def shifted(self, rng):
        noise = honest(self, rng)
        if not drawn:  # later draws are post-processing: copies of the noise that a rule makes for itself
            noise[-1, -1] -= S2
        drawn.append(self)
        return noise

    monkeypatch.setattr(NoiseDistribution, "draw", shifted)
    found = privcov.release(Dataset.from_rows(two, 3.0), asked, key, random_state=2, neighbours="add-remove")
    a, b = (json.loads(rel.to_json()) for rel in (want, found))
    np.testing.assert_allclose(numbers_in(a), numbers_in(b), rtol=1e-9, atol=1e-12)
    assert [line[0] for line in a["statement"]] == [line[0] for line in b["statement"]]
    assert a["statement"] == b["statement"]
    assert a["events"] == b["events"]


def test_a_release_read_back_keeps_its_noisy_count():
    rel = privcov.release(
        Dataset.from_rows(rows(50), 3.0), ZCDP(1.0), "auto-cov", neighbours="add-remove", random_state=0
    )
    back = Release.from_json(rel.to_json())
    assert back.count == rel.count == rel.noisy_moment.count == back.noisy_moment.count
    assert back.noisy_moment.n_rows == rel.noisy_moment.n_rows
    public = privcov.release(Dataset.from_rows(rows(50), 3.0), ZCDP(1.0), "auto-cov", random_state=0)
    assert Release.from_json(public.to_json()).noisy_moment.n_rows == 50


@pytest.mark.parametrize(("key", "relation"), OFFERS)
def test_the_relation_changes_the_noise_only(key, relation):
    """One seed: the unit noise of the block is the same under every relation, so the picture only melts."""
    if key not in ADDITIVE:
        pytest.skip("several measurements")
    own = {} if key == "auto-cov" else {"repair": "none"}
    data = Dataset.from_rows(rows(200), 3.0)
    asked = USUAL[METHODS.get(key).guarantees[0].kind]
    clean = clipped_moment(data, n_anchors=1)[:4, :4]
    units = []
    for r in ("replace-one", relation):
        rel = privcov.release(data, asked, key, random_state=3, neighbours=r, **own)
        rest = rel.noisy_moment.matrix[:4, :4] - clean * (1 if r != "add-remove" else 200 / rel.count)
        units.append(rest / rel.noisy_moment.distribution.scale)
    if key == "auto-cov":  # free trace against isotropic: only the trace differs
        units = [u - np.trace(u) / 4 * np.eye(4) for u in units]
    np.testing.assert_allclose(units[0], units[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("card", METHODS.all(), ids=lambda card: card.key)
def test_a_method_is_refused_under_a_relation_it_was_not_calibrated_for(card):
    data = Dataset.from_rows(rows(300), 3.0)
    for relation in RELATIONS:
        asked = USUAL[card.guarantees[0].kind]
        if relation in card.relations:
            rel = privcov.release(
                data, asked, card.key, neighbours=relation, calibration=card.default_calibration, random_state=0
            )
            if card.trust == "central":
                assert rel.neighbours == RELATIONS[relation]
        else:
            with pytest.raises(ValueError, match="Choose another method or neighbouring relation"):
                privcov.release(
                    data, asked, card.key, neighbours=relation, calibration=card.default_calibration, random_state=0
                )
    assert set(KINDS) >= set(USUAL)


def test_an_unknown_relation_is_a_sentence():
    with pytest.raises(ValueError, match="neighbours must be one of"):
        privcov.release(DATA, ZCDP(1.0), "auto-cov", neighbours="everybody", random_state=0)
    with pytest.raises(ValueError, match="relation must be one of"):
        sensitivity(3, 1, norm="l2", n_anchors=0, relation="local")
