"""The steps of paper 5 and of EMCov, one by one: sensitivities on real neighbours, exact laws, slow formulas."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from privcov.core.guarantees import NoPrivacy, ZCDP
from privcov.measurements import eigenvalues, exponential_vectors, whitened
from privcov.measurements.exponential_vectors import deflate, measure_directions, sample_bingham
from privcov.measurements.moment import clipped_moment
from privcov.measurements.sparse_vector import HALVINGS, clipping_bias, first_above, norm_bins, rows_within, unit_norms
from privcov.tables.dataset import Dataset

TAUS = 2.0 ** -np.arange(HALVINGS + 1)


def ball(rng, n, d):
    """Rows of very unequal length in the unit ball, some on the sphere and some zero."""
    x = rng.standard_normal((n, d))
    length = rng.choice([0.0, 1.0, 0.5, 2.0**-7, 1e-5], n) * rng.choice([1.0, 1.0, rng.random()], n)
    return x / np.linalg.norm(x, axis=1, keepdims=True) * length[:, None]


def neighbours(trials, seed=0):
    """Real neighbours: two tables that differ in one row; n and d vary."""
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        n, d = int(rng.integers(1, 12)), int(rng.integers(1, 6))
        x = ball(rng, n, d)
        y = x.copy()
        y[rng.integers(n)] = ball(rng, 1, d)[0]
        yield Dataset.from_rows(x), Dataset.from_rows(y)


# --- sensitivities ------------------------------------------------------------------------------------------


def spectrum(ds, joint):
    return np.linalg.eigvalsh(clipped_moment(ds, n_anchors=joint))


@pytest.mark.parametrize("joint", [False, True])
def test_eigenvalues_move_no_more_than_declared(joint):
    for one, two in neighbours(2000):
        moved = spectrum(one, joint) - spectrum(two, joint)
        for norm, order in (("l1", 1), ("l2", 2)):
            limit = eigenvalues.sensitivity(one.d, one.n, norm=norm, joint=joint)
            assert np.linalg.norm(moved, order) <= limit + 1e-15


def test_the_eigenvalue_bounds_are_attained():
    x = np.tile([1.0, 0.0], (7, 1))
    y = x.copy()
    y[3] = [0.0, 1.0]
    moved = spectrum(Dataset.from_rows(x), False) - spectrum(Dataset.from_rows(y), False)
    assert np.abs(moved).sum() == pytest.approx(eigenvalues.sensitivity(2, 7, norm="l1", joint=False), rel=1e-12)
    assert np.linalg.norm(moved) == pytest.approx(eigenvalues.sensitivity(2, 7, norm="l2", joint=False), rel=1e-12)
    assert eigenvalues.sensitivity(1, 7, norm="l1", joint=False) == pytest.approx(1 / 7)


@pytest.mark.parametrize("joint", [False, True])
def test_the_score_of_a_direction_has_its_declared_sensitivity(joint):
    """EMCov (Amin et al. 2019): u'Cu has sensitivity 1, not 2, so the tight exponent is epsilon/2."""
    for one, two in neighbours(2000, seed=1):
        gap = clipped_moment(one, n_anchors=joint) - clipped_moment(two, n_anchors=joint)
        limit = exponential_vectors.score_sensitivity(one.d, one.n, joint=joint)
        assert np.abs(np.linalg.eigvalsh(gap)).max() <= limit + 1e-15
    # attained, also with the anchor: <x, y> = -s^2 makes the two extended rows orthogonal
    c = -0.5 if joint else 0.0
    pair = [Dataset.from_rows([row]) for row in ([1.0, 0.0], [c, math.sqrt(1 - c * c)])]
    gap = clipped_moment(pair[0], n_anchors=joint) - clipped_moment(pair[1], n_anchors=joint)
    limit = exponential_vectors.score_sensitivity(2, 1, joint=joint)
    assert np.abs(np.linalg.eigvalsh(gap)).max() == pytest.approx(limit, rel=1e-9)


def test_trace_counts_and_queries_move_no_more_than_declared():
    largest = np.zeros(3)
    for one, two in neighbours(3000, seed=2):
        n = one.n
        moved = [
            n * abs(np.mean(unit_norms(one) ** 2) - np.mean(unit_norms(two) ** 2)),
            np.abs(rows_within(norm_bins(one), n) - rows_within(norm_bins(two), n)).max(),
            np.abs(clipping_bias(norm_bins(one)) - clipping_bias(norm_bins(two))).max(),
        ]
        largest = np.maximum(largest, moved)
    assert (largest <= 1 + 1e-12).all()
    assert (largest > 0.999).all()  # and the bound of each is needed


def test_whitened_moments_move_no_more_than_declared():
    rng = np.random.default_rng(3)
    for one, two in neighbours(400, seed=3):
        a = rng.standard_normal((one.d, one.d)) * 3
        radius = float(rng.uniform(0.3, 3))
        z = [measure_whitened_exactly(ds, a, radius) for ds in (one, two)]
        assert np.linalg.norm(z[0] - z[1]) <= whitened.sensitivity(one.d, one.n, radius) + 1e-14


def measure_whitened_exactly(ds, a, radius):
    rng = np.random.default_rng(0)
    z, distribution, event = whitened.measure_whitened(
        ds, NoPrivacy(), a, radius=radius, joint=False, rng=rng, name="s"
    )
    assert distribution.scale == 0
    assert event is None
    return z


# --- norm bins and the bias -------------------------------------------------------------------------------


def test_bins_are_those_of_the_paper():
    """Literal: Count_s = #{x : 2^s < |x| <= 2^(s+1)}, s = -j - 1; ends belong to the bin below; zero rows to none."""
    rng = np.random.default_rng(4)
    x = np.vstack([ball(rng, 300, 3), np.diag([1.0, 0.5, 0.25]), np.zeros((4, 3)), [[2.0**-60, 0, 0], [3.0, 4.0, 0]]])
    ds = Dataset.from_rows(x)
    norms = np.minimum(np.linalg.norm(x, axis=1), 1.0)
    want = [int(((norms > 2.0 ** (-j - 1)) & (norms <= 2.0**-j)).sum()) for j in range(HALVINGS + 1)]
    # Rows of norm 1, 1/2, ... up to rounding may fall on either side of an end: they are put back on it above.
    assert norm_bins(ds).sum() == pytest.approx(sum(want), abs=1)
    exact = Dataset.from_rows(np.array([[1.0, 0], [0.5, 0], [0, 0.25], [0.3, 0], [0, 0], [0.75, 0], [2.0**-41, 0]]))
    assert norm_bins(exact)[:4].tolist() == [2, 2, 1, 0]
    assert norm_bins(exact).sum() == 5
    assert rows_within(norm_bins(exact), 7)[[0, 1, 2, 3, 40]].tolist() == [7, 5, 3, 2, 2]


def slow_bias(norms, tau):
    """Paper 5, the display before Algorithm 2, times n."""
    total = 0.0
    for s in range(-HALVINGS - 1, 0):
        if s >= math.log2(tau):
            total += np.sum((norms > 2.0**s) & (norms <= 2.0 ** (s + 1))) * (2.0 ** (2 * s + 2) - tau**2)
    return total


def test_the_bias_bound_is_the_papers_and_bounds_the_bias():
    x = np.random.default_rng(5).standard_normal((200, 4)) * np.random.default_rng(6).random((200, 1)) ** 3 / 4
    ds = Dataset.from_rows(x)
    norms = unit_norms(ds)
    fast = clipping_bias(norm_bins(ds))
    np.testing.assert_allclose(fast, [slow_bias(norms, t) for t in TAUS], rtol=1e-12, atol=1e-12)
    for tau, bound in zip(TAUS[:12], fast, strict=False):
        gap = clipped_moment(ds, n_anchors=0) - tau**2 * clipped_moment(ds.with_row_bound(tau), n_anchors=0)
        tail = float(np.sum(norms[norms > tau] ** 2))
        assert ds.n * np.linalg.norm(gap) <= bound + 1e-12
        assert bound <= 4 * tail + 1e-12


# --- the sparse vector ------------------------------------------------------------------------------------------


def answer_probabilities(f, epsilon, width=1.0):
    """P(answer = k) by quadrature, the last entry for no answer; scales width * 2/epsilon and width * 4/epsilon."""
    t_law, q_law = stats.laplace(scale=2 * width / epsilon), stats.laplace(scale=4 * width / epsilon)
    grid = np.linspace(-150 / epsilon, 150 / epsilon, 20_001)
    below = q_law.cdf(grid[None, :] - np.asarray(f)[:, None])
    before = np.vstack([np.ones_like(grid), np.cumprod(below, axis=0)])
    density = t_law.pdf(grid)
    stops = before[:-1] * (1 - below)
    return np.array([integrate.trapezoid(density * p, grid) for p in (*stops, before[-1])])


def worst_loss(epsilon, width):
    rng, worst = np.random.default_rng(7), 0.0
    for trial in range(40):
        f = rng.uniform(-6, 3, 6) / epsilon
        shift = np.array([1.0] * 5 + [-1.0]) * (-1) ** trial if trial < 20 else rng.uniform(-1, 1, 6)
        p, q = (answer_probabilities(g, epsilon, width) for g in (f, f + shift))
        assert p.sum() == pytest.approx(1, abs=1e-3)
        worst = max(worst, np.abs(np.log(p / q)).max())
    return worst


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_exact_answer_probabilities_stay_within_epsilon(epsilon):
    """40 pairs of query sequences that differ by at most 1 each. A third of the noise goes beyond epsilon."""
    assert worst_loss(epsilon, 1.0) <= epsilon * (1 + 1e-3)
    assert worst_loss(epsilon, 1 / 3) > epsilon


def test_first_above_has_the_law_of_the_literal_loop():
    """20,000 draws against the quadrature: a frequency off by 0.02 would be seen (5.6 deviations)."""
    f, epsilon, rng = np.array([-3.0, -1.0, 0.5, 4.0]), 0.7, np.random.default_rng(8)
    got = np.zeros(5)
    for _ in range(20_000):
        k = first_above(f, 1 / epsilon, rng)
        got[4 if k is None else k] += 1
    want = answer_probabilities(f, epsilon)
    assert np.abs(got / 20_000 - want).max() < 4 * math.sqrt(0.25 / 20_000)


# --- the Bingham sampler -------------------------------------------------------------------------------------


def circle_cdf(a):
    """CDF of v'Av for density exp(-v'Av) on the circle, by quadrature over 400,000 angles."""
    angle = (np.arange(400_000) + 0.5) * math.pi / 2 / 400_000
    t = a[0] * np.cos(angle) ** 2 + a[1] * np.sin(angle) ** 2
    return weighted_cdf(t)


def sphere_cdf(a):
    """The same on the sphere: area element dz dphi."""
    z, phi = np.meshgrid((np.arange(1000) + 0.5) / 1000, (np.arange(1000) + 0.5) * math.pi / 2000)
    flat = 1 - z**2
    return weighted_cdf((a[0] * flat * np.cos(phi) ** 2 + a[1] * flat * np.sin(phi) ** 2 + a[2] * z**2).ravel())


def weighted_cdf(t):
    order = np.argsort(t)
    mass = np.cumsum(np.exp(-(t[order] - t.min())))
    return lambda at: np.interp(at, t[order], mass / mass[-1])


@pytest.mark.parametrize(
    "a", [[0.0, 0.0], [0.0, 3.0], [40.0, 0.0], [0.0, 0.0, 5.0], [0.0, 1.0, 30.0], [2.0, 2.0, 0.0], [-3.0, 0.5, 1.0]]
)
def test_bingham_against_the_density_itself(a):
    """10,000 draws, KS on the quadratic form: the limit 0.0195 is p = 0.001."""
    a, rng = np.array(a), np.random.default_rng(11)
    v = np.array([sample_bingham(a, rng) for _ in range(10_000)])
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), 1, atol=1e-12)
    t = (v**2) @ a
    if np.ptp(a) == 0:
        assert np.abs((v**2).mean(axis=0) - 1 / len(a)).max() < 0.015
        return
    cdf = circle_cdf if len(a) == 2 else sphere_cdf
    assert stats.kstest(t, cdf(a)).statistic < 0.0195
    assert np.abs(np.sign(v).mean(axis=0)).max() < 0.05  # no sign is preferred


def test_deflation_is_the_compression_of_the_paper():
    rng = np.random.default_rng(15)
    for q in (2, 3, 8):
        c = rng.standard_normal((q, q))
        c = c @ c.T
        values, basis = np.linalg.eigh(c)
        v = rng.standard_normal(q)
        v /= np.linalg.norm(v)
        theta = basis @ v
        values, rest = deflate(values, basis, v)
        # literal: P an orthonormal basis of the complement of theta, C_i = P' C P
        p = np.linalg.svd(theta[None, :])[2][1:].T
        np.testing.assert_allclose(values, np.linalg.eigvalsh(p.T @ c @ p), atol=1e-12 * np.abs(c).max())
        np.testing.assert_allclose(rest.T @ rest, np.eye(q - 1), atol=1e-12)
        np.testing.assert_allclose(rest.T @ theta, 0, atol=1e-12)
        np.testing.assert_allclose(rest.T @ c @ rest, np.diag(values), atol=1e-11 * np.abs(c).max())


def test_directions_are_orthonormal_and_say_what_they_spent():
    ds = Dataset.from_rows(ball(np.random.default_rng(16), 300, 9))
    shares = [ZCDP(0.01 * (i + 1)) for i in range(9)]
    vectors, events = measure_directions(ds, shares, centre="zero", rng=np.random.default_rng(0))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(9), atol=1e-13)
    for share, event in zip(shares, events, strict=True):
        assert (event.sensitivity / event.scale) ** 2 / 8 == pytest.approx(share.rho, rel=1e-12)
        assert (event.sensitivity / event.scale) ** 2 / 8 <= share.rho
    exact, none = measure_directions(ds, [NoPrivacy()] * 9, centre="zero", rng=np.random.default_rng(0))
    assert none == ()
    assert (np.diff(np.diag(exact.T @ clipped_moment(ds, n_anchors=0) @ exact)) <= 1e-15).all()


# --- constants from no data ----------------------------------------------------------------------------------


def test_another_norm_of_eigenvalues_is_refused():
    """It would get the bound of the l1 norm, which need not be one for it."""
    for norm in ("linf", "L2", ""):
        with pytest.raises(ValueError, match=r"norm must be one of 'l2', 'l1', got norm="):
            eigenvalues.sensitivity(3, 7, norm=norm, joint=False)
