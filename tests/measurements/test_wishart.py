"""Wishart noise: the sensitivities on real neighbours, the density proof by quadrature, the laws by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from privcov.core.guarantees import ApproxDP, NoPrivacy, PureDP, ZCDP
from privcov.measurements.moment import ANCHOR_SQUARED, measure_moment, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.wishart import (
    approx_noise_as_published,
    approx_noise_sound,
    measure_wishart,
    pure_noise_as_published,
)
from privcov.postprocess.spectrum import shrink_wishart_difference
from privcov.tables.dataset import Dataset

S = math.sqrt(ANCHOR_SQUARED)


def dataset(n: int = 40, d: int = 3, row_bound: float = 2.0, seed: int = 0) -> Dataset:
    return Dataset.from_rows(np.random.default_rng(seed).standard_normal((n, d)), row_bound)


# --- sensitivities ------------------------------------------------------------------------------------------


def nuclear(matrix: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvalsh(matrix)).sum())


def change(x: np.ndarray, y: np.ndarray, joint: bool) -> np.ndarray:
    if joint:
        x, y = np.append(x, S), np.append(y, S)
    return np.outer(x, x) - np.outer(y, y)


def ball(rng, d: int) -> np.ndarray:
    """On the sphere or inside it, as often."""
    x = rng.standard_normal(d)
    return x / np.linalg.norm(x) * rng.choice([1.0, rng.random()])


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_no_neighbours_differ_by_more_than_the_nuclear_sensitivity(d, joint):
    """4,000 random pairs per case, and the worst pair by hand attains it."""
    rng = np.random.default_rng(d)
    pairs = [(ball(rng, d), ball(rng, d)) for _ in range(4000)]
    e = np.eye(d)
    if d == 1:
        pairs.append((e[0], -e[0] if joint else 0 * e[0]))
    else:  # <x, y> = -s^2 makes z and z' orthogonal
        lean = -ANCHOR_SQUARED if joint else 0.0
        pairs.append((e[0], lean * e[0] + math.sqrt(1 - lean**2) * e[1]))
    bound = sensitivity(d, 1, norm="nuclear", n_anchors=joint)
    found = [nuclear(change(x, y, joint)) for x, y in pairs]
    assert max(found) <= bound
    assert max(found) == pytest.approx(bound, rel=1e-9)
    assert sensitivity(d, 1, norm="nuclear", n_anchors=1, relation="add-remove") == pytest.approx(1 + ANCHOR_SQUARED)


# --- the proof, by quadrature -------------------------------------------------------------------------------


def density(trace_half, spread, step: float = 0.03, reach: float = 9.0) -> float:
    """f of A - B, d = 2, C = 1, up to a constant, at W with tr W / 2 = trace_half and eigenvalue gap 2 spread.

    A is (t, q), t half its trace and q in the plane; A >= 0 is t >= |q|, and A >= W is t - trace_half >= |q - w|,
    w = (spread, 0). The integral of e^(-(tr A + tr(A - W))/2) over t is done by hand.
    """
    u = np.arange(-reach, reach, step)
    x, y = np.meshgrid(u, u)
    lowest = np.maximum(np.hypot(x, y), trace_half + np.hypot(x - spread, y))
    return float(np.exp(trace_half - 2 * lowest).sum() * step**2)


def at(w: np.ndarray) -> float:
    values = np.linalg.eigvalsh(w)
    return density(values.sum() / 2, (values[1] - values[0]) / 2)


def test_the_density_by_quadrature_is_that_of_the_draws():
    """60,000 draws against the mass of nine boxes in (half trace, spread), by 3 x 3 Gauss points: within 6 %."""
    distribution, rng = NoiseDistribution("wishart-difference", 2.0, 2), np.random.default_rng(0)
    values = np.linalg.eigvalsh(np.array([distribution.draw(rng) for _ in range(60_000)]))
    half, spread = values.sum(axis=1) / 2, (values[:, 1] - values[:, 0]) / 2
    node, weight = np.polynomial.legendre.leggauss(3)
    found, want = [], []
    for a in (-2.0, 0.0, 2.0):
        for b in (0.5, 1.5, 2.5):
            found.append(np.mean((abs(half - a) < 1) & (abs(spread - b) < 0.5)))
            want.append(
                sum(
                    wa * wb * density(a + p, b + q / 2) * (b + q / 2)
                    for p, wa in zip(node, weight, strict=True)
                    for q, wb in zip(node, weight, strict=True)
                )
            )
    np.testing.assert_allclose(np.array(found) / sum(found), np.array(want) / sum(want), rtol=0.06)


def test_no_shift_changes_the_density_by_more_than_its_nuclear_norm():
    """d = 2, C = 1: |log f(W) - log f(W - G)| <= ||G||_* / 2 at 40 random W and G, and nearly attained.

    The quadrature is good to 1e-3 in the logarithm.
    """
    rng, nearly = np.random.default_rng(1), 0.0
    for i in range(40):
        a = rng.standard_normal((2, 2))
        w = (a + a.T) * (1 + i % 3)
        x, y = rng.standard_normal((2, 2))
        g = np.outer(x, x) / (x @ x) - (i % 2) * np.outer(y, y) / (y @ y)
        share = abs(math.log(at(w) / at(w - g))) / (nuclear(g) / 2)
        assert share <= 1 + 1e-3
        nearly = max(nearly, share)
    # Far out on one side the bound is reached: the loss of a matrix with only large positive eigenvalues.
    far = abs(math.log(at(np.diag([5.0, 4.5])) / at(np.diag([4.0, 4.5])))) / 0.5
    assert 0.9 < max(nearly, far) <= 1 + 1e-3


# --- the laws -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [2, 5, 33])
def test_the_fast_draw_is_a_sum_of_squares_of_gaussian_vectors(freedom):
    """KS between 4,000 Bartlett draws and 4,000 literal sums of m outer products, in three functions of the matrix."""
    d, rng = 3, np.random.default_rng(freedom)
    distribution = NoiseDistribution("wishart", 2.0, d, freedom=float(freedom))
    m = freedom + d - 1
    fast = np.array([distribution.draw(rng) for _ in range(4000)]) + m * np.eye(d)
    g = rng.standard_normal((4000, d, m))
    slow = g @ g.transpose(0, 2, 1)
    assert distribution.removed_mean == m
    for pick in (lambda w: w[:, 0, 1], lambda w: w[:, 2, 2], lambda w: np.linalg.eigvalsh(w)[:, 0]):
        assert stats.ks_2samp(pick(fast), pick(slow)).pvalue > 0.005


# --- one Wishart matrix -------------------------------------------------------------------------------------


@pytest.mark.parametrize("centre", ["none", "joint"])
def test_an_event_of_additive_noise_tells_the_curve(centre):
    ds, joint = dataset(n=50), centre == "joint"
    noise = pure_noise_as_published(PureDP(1.5))
    measured = measure_wishart(ds, **noise, centre=centre, rng=np.random.default_rng(0))
    event, size = measured.event, 1 + ANCHOR_SQUARED * joint
    assert event.mechanism == "wishart"
    assert event.sensitivity == pytest.approx(size / 50)
    assert event.scale == pytest.approx(2 * size * 3 / (2 * 50 * 1.5))  # 2C, C = 3/(2 n epsilon)
    assert event.freedom == 2
    assert measured.distribution.degrees_of_freedom == 3 + joint + 1
    assert measured.matrix.shape == (3 + joint,) * 2


def test_the_degrees_of_freedom():
    """As printed 14 ln(4/delta)/epsilon^2 beyond d; the sound ones are the fewest."""
    asked = ApproxDP(1.0, 1e-5)
    assert approx_noise_as_published(asked) == {"freedom": 1 + math.ceil(14 * math.log(4e5)), "ratio": 0.5}
    assert approx_noise_sound(asked) == {"freedom": 45, "ratio": 0.5}
    assert approx_noise_sound(ApproxDP(0.5, 1e-3))["freedom"] == 51
    # However large epsilon is, the matrix must not rule a neighbour out: P(chi^2_k < |x|^2/(nC) = 1) <= delta.
    fewest = next(k for k in range(3, 99) if stats.chi2(k).cdf(1.0) <= 1e-3)
    assert approx_noise_sound(ApproxDP(1e6, 1e-3))["freedom"] == fewest
    for noise in (pure_noise_as_published, approx_noise_sound, approx_noise_as_published):
        assert noise(NoPrivacy())["freedom"] == 0
    with pytest.raises(ValueError, match=r"The published noise would have .* degrees of freedom"):
        approx_noise_as_published(ApproxDP(1e-3, 1e-6))


# --- shrinkage ----------------------------------------------------------------------------------------------


def slow_shrinkage(matrix: np.ndarray, c: float) -> np.ndarray:
    """C.7, one by one: K = C d, eta = C sqrt(2d), R = 2 K^2 g/(1 - K^2 g^2), xi = lambda - Re R - Im R h/(pi rho)."""
    values, vectors = np.linalg.eigh(matrix)
    d = len(values)
    k, eta, out = c * d, c * math.sqrt(2 * d), np.zeros((d, d))
    for i in range(d):
        g = sum(1 / (values[i] - 1j * eta - values[j]) for j in range(d)) / d
        r = 2 * k**2 * g / (1 - k**2 * g**2)
        out += max(values[i] - r.real - r.imag / g.imag * g.real, 0.0) * np.outer(vectors[:, i], vectors[:, i])
    return out


@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_the_shrinkage_is_the_printed_formula(d):
    rng = np.random.default_rng(d)
    a = rng.standard_normal((d, d))
    matrix = a @ a.T / d + NoiseDistribution("wishart-difference", 0.1, d).draw(rng)
    want = slow_shrinkage(matrix, 0.05)
    np.testing.assert_allclose(shrink_wishart_difference(matrix, 0.05), want, atol=1e-12 * max(1, np.abs(want).max()))
    np.testing.assert_allclose(shrink_wishart_difference(1e6 * matrix, 5e4), 1e6 * want, atol=1e-4)


def test_under_zcdp_it_spends_the_square_root():
    measured = measure_moment(
        dataset(), ZCDP(0.02), centre="none", shape="wishart-difference", rng=np.random.default_rng(0)
    )
    assert measured.event.sensitivity / measured.event.scale == pytest.approx(0.2)
