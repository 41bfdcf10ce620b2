"""The exact samplers of pure DP noise: against the laws, against rationals with more digits, and against a mutant."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privcov.measurements.exact import wishart as exact
from privcov.measurements.noise import NoiseDistribution


def recorded(seed: int, bits: int) -> exact.DigitStream:
    """Digits from a seeded generator: these tests replay draws; a release never does."""
    rng = np.random.default_rng(seed)
    return exact.DigitStream(bits, lambda count: rng.integers(0, 2**64, size=count, dtype=np.uint64))


@pytest.mark.parametrize(("bits", "count"), [(64, 100_000), (2, 20_000), (3, 20_000)])
def test_normal_deviates_follow_the_normal_law(bits, count):
    """Kolmogorov-Smirnov, p > 1e-4 with a fixed seed; a shift of 2 % (64 bits) or 5 % of a deviation would be seen.

    Digits of 2 and 3 bits tie all the time, so the comparisons that look further are tested too.
    """
    whole, fraction = exact._half_normals(count, recorded(1, bits))
    places = math.ceil(60 / bits)
    x = whole + sum(fraction.column(k).astype(float) * 2.0 ** (-bits * (k + 1)) for k in range(places))
    assert stats.kstest(x, "halfnorm").pvalue > 1e-4
    assert 0.1 < (whole == 1).mean() / (whole == 0).mean() < 0.6


def test_digits_that_nothing_looked_at_are_fair():
    """100,000 last bits of first words, and of second words: within five deviations of a half."""
    _, fraction = exact._half_normals(100_000, recorded(2, 64))
    for place in (0, 1):
        ones = (fraction.column(place) & np.uint64(1)).sum()
        assert abs(int(ones) - 50_000) < 5 * math.sqrt(25_000)


def test_exponential_deviates_follow_the_exponential_law():
    """1,000 deviates of each kind, fixed seed; a rate off by 20 % would be seen."""
    for bits in (64, 2):
        digits, x = recorded(3, bits), []
        for _ in range(1_000):
            whole, fraction = exact._exponential(digits)
            x.append(
                whole
                + sum(float(fraction.column(k)[0]) * 2.0 ** (-bits * (k + 1)) for k in range(math.ceil(60 / bits)))
            )
        assert stats.kstest(x, "expon").pvalue > 1e-3


def coupled(p: int, scale: float, digits: exact.DigitStream, count: int) -> np.ndarray:
    """Many draws of the coupled law, count x p x p, with the steps of one and the deviates of many at a time."""
    drawn: list = []
    while len(drawn) < count:
        tried = exact._deviates(p, digits, copies=500)
        drawn += [exact._round_product(g, 2 * scale)[0] for g in tried if exact._accepted(g, digits)]
    return np.array(drawn[:count], dtype=float)


def literal(deviates: exact._Deviates, scale: float, w: int) -> np.ndarray:
    """floor(scale / 2 X D X' + 1/2) in rationals, from the first w digits of every deviate: slow and plain."""
    p, bits = deviates.p, deviates.fraction.digits.bits
    columns = 2 * (p + 1)
    fraction = [deviates.fraction.column(k) for k in range(w)]
    g = []
    for at in range(p * columns):
        value = Fraction(int(deviates.whole[at]))
        for k in range(w):
            value += Fraction(int(fraction[k][at]), 2 ** (bits * (k + 1)))
        g.append(int(deviates.sign[at]) * value)
    rows = [g[i * columns : (i + 1) * columns] for i in range(p)]
    signs = [1] * (p + 1) + [-1] * (p + 1)
    total = [[sum(s * a * b for s, a, b in zip(signs, x, y, strict=True)) for y in rows] for x in rows]
    return np.array([[math.floor(Fraction(scale) / 2 * v + Fraction(1, 2)) for v in line] for line in total], object)


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 0.7, 1.0, 3e5, 2.0**40 * 1.5, 2.0**71.5, 2.0**200])
def test_draws_are_those_of_rationals_with_eight_digits_more(scale):
    for seed, p in enumerate((1, 2, 4)):
        deviates = exact._deviates(p, recorded(seed, 64))[0]
        noise, w = exact._round_product(deviates, scale)
        assert w >= 1
        assert noise.tolist() == literal(deviates, scale, w + 8).tolist()


def test_rounding_looks_further_until_it_is_sure_and_a_mutant_that_does_not_is_caught():
    """Digits of 4 bits and one of them to begin with: nearly every draw is ambiguous at first.

    Without the check of the interval most of the 40 draws come out wrong, with it none.
    """
    wrong = unsure = 0
    for seed in range(40):
        deviates = exact._deviates(2, recorded(seed, 4))[0]
        noise, w = exact._round_product(deviates, 50.0, w=1)
        want = literal(deviates, 50.0, w + 40).tolist()
        assert noise.tolist() == want
        unsure += w > 1
        careless, _ = exact._round_product(exact._deviates(2, recorded(seed, 4))[0], 50.0, w=1, checked=False)
        wrong += careless.tolist() != want
    assert unsure >= 35
    assert wrong >= 30


@pytest.mark.parametrize("p", [1, 11, 12, 40, 300])
def test_products_of_limbs_are_exact_at_their_worst(p):
    """All limbs full, and both signs: every float64 product is at its largest."""
    columns = 2 * (p + 1)
    limb = (53 - columns.bit_length()) // 2
    rng = np.random.default_rng(p)
    for make in (lambda: (1 << (5 * limb)) - 1, lambda: int(rng.integers(0, 2**62)) << 30):
        x = np.array([[(-1) ** int(s) * make() for s in line] for line in rng.integers(0, 2, (p, columns))], object)
        found = exact._product(x)
        for i, j in {(0, 0), (0, p - 1), (p // 2, p - 1), (p - 1, 0)}:
            signs = [1] * (p + 1) + [-1] * (p + 1)
            assert found[i, j] == sum(s * a * b for s, a, b in zip(signs, x[i], x[j], strict=True))


def test_the_exact_law_and_the_one_that_pages_simulate_agree():
    """400 coupled draws at p = 3, read as two columns and a mean, against 4,000 of the noise law; two-sample tests."""
    digits, rng = recorded(4, 64), np.random.default_rng(4)
    whole = coupled(3, 1e9, digits, 400) / 1e9
    exactly = whole[:, :2, :2] + whole[:, 2:, 2:] / 2 * np.eye(2)
    distribution = NoiseDistribution("coupled-wishart", 1.0, 2, 1, measured=1)
    simulated = np.array([distribution.draw(rng)[:2, :2] for _ in range(4_000)])
    for of in (lambda m: np.trace(m, axis1=1, axis2=2), lambda m: np.linalg.eigvalsh(m)[:, 0], lambda m: m[:, 0, 1]):
        assert stats.ks_2samp(of(exactly), of(simulated)).pvalue > 1e-3


def test_the_acceptance_of_coupled_draws_looks_further_where_it_must():
    """Digits of 2 bits: what is decided from a few digits is what 30 digits say, 150 times."""
    further = 0
    for seed in range(150):
        digits = recorded(seed, 2)
        deviates = exact._deviates(1, digits)[0]
        seen: list = []
        honest = exact._exponential
        try:
            exact._exponential = lambda d, keep=seen, draw=honest: keep.append(draw(d)) or keep[0]
            w = exact._accepted(deviates, digits)
        finally:
            exact._exponential = honest
        whole, fraction = seen[0]
        e = whole + sum(Fraction(int(fraction.column(k)[0]), 4 ** (k + 1)) for k in range(30))
        x = [Fraction(int(v), 2 ** (2 * 30 + 1)) for v in deviates.to_integers(30)[0]]
        assert (w > 0) == (e > abs(x[0] ** 2 + x[1] ** 2 - x[2] ** 2 - x[3] ** 2) / 2)
        further += w > 2
    assert further > 3


@pytest.mark.parametrize("p", [2, 3])
def test_no_change_of_one_row_costs_more_than_the_coupled_bound(p):
    """The larger trace of the two parts of zz' - ww' over 2,000 random pairs, and its subadditivity over five rows."""
    rng = np.random.default_rng(p)

    def norm(g):
        values = np.linalg.eigvalsh(g)
        return max(values[values > 0].sum(), -values[values < 0].sum())

    worst = 0.0
    for _ in range(2_000):
        z, w = (v / np.linalg.norm(v) * rng.random() ** 0.1 for v in rng.normal(size=(2, p)))
        worst = max(worst, norm(np.outer(z, z) - np.outer(w, w)))
    assert 0.98 < worst <= 1 + 1e-12
    changes = [np.outer(z, z) - np.outer(w, w) for z, w in rng.normal(size=(5, 2, p))]
    assert norm(sum(changes)) <= sum(map(norm, changes)) + 1e-9


def test_bad_sizes_and_scales_are_refused():
    with pytest.raises(ValueError, match="at most 10 rows, got 11"):
        exact.coupled_noise(11, 1.0)
    for draw in (exact.wishart_difference_noise, exact.coupled_noise):
        for scale in (-1.0, 0.0, math.nan, math.inf, 2.0**1023):
            with pytest.raises(ValueError, match="scale must be positive and at most 2\\^1022"):
                draw(2, scale)
        assert abs(draw(2, 2.0**1022)).max() > 2**1000
        assert abs(draw(2, 5e-324)).max() == 0


def test_two_draws_share_nothing():
    one, two = (exact.wishart_difference_noise(5, 2.0**60) for _ in range(2))
    assert (one != two).all()
