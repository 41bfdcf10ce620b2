"""The noise is what its law says, no more and no less.

The statistical tests use 100,000 draws of an entry with a fixed seed and reject below p = 1e-4. The two-sided
test of the scale then sees one that is 2 % off: the sum of squares of Gaussian noise and the sum of absolute
values of Laplace noise are exactly chi-square, the estimated scale deviates by 0.22 % and 0.32 %, and 2 % are
nine and six deviations. The Kolmogorov-Smirnov test asks for the shape of the law: it tells Laplace from
Gaussian noise of the same variance (distance 0.06, against 0.007 at p = 1e-4).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from privcov.measurements.noise import NoiseDistribution

# Entries of these are independent; the Wishart shapes have tests of their own (test_wishart.py).
SHAPES = ("upper-triangle", "isotropic", "free-trace", "laplace")

DRAWS = 100_000
REJECT = 1e-4


def draws(distribution, seed, count=DRAWS):
    rng = np.random.default_rng(seed)
    return np.stack([distribution.draw(rng) for _ in range(count)])


def scale_p_value(sample, std, *, laplace=False):
    """Two-sided p-value that a centred sample has this deviation; an exact chi-square test for either law."""
    n = len(sample)
    if laplace:
        ratio, freedom = 2 * np.abs(sample).sum() / (std / np.sqrt(2)), 2 * n
    else:
        ratio, freedom = np.sum(sample**2) / std**2, n
    return 2 * min(stats.chi2.cdf(ratio, freedom), stats.chi2.sf(ratio, freedom))


@pytest.fixture(scope="module", params=[(s, j) for s in SHAPES for j in (False, True)], ids=str)
def sampled(request):
    shape, joint = request.param
    distribution = NoiseDistribution(shape, 0.7, 3, joint)
    return distribution, draws(distribution, seed=2024)


def _entries(distribution, sample):
    """(sample of one entry, its declared deviation): two diagonal, two off-diagonal, and the edge."""
    yield sample[:, 0, 0], distribution.diagonal_std
    yield sample[:, 2, 2], distribution.diagonal_std
    yield sample[:, 0, 1], distribution.off_diagonal_std
    yield sample[:, 2, 1], distribution.off_diagonal_std
    if distribution.n_anchors:
        yield sample[:, 1, 3], distribution.off_diagonal_std


def test_right_scale_accepted_two_percent_off_rejected(sampled):
    distribution, sample = sampled
    laplace = distribution.shape == "laplace"
    for entry, std in _entries(distribution, sample):
        assert scale_p_value(entry, std, laplace=laplace) > REJECT
        assert scale_p_value(entry, std * 1.02, laplace=laplace) < REJECT
        assert scale_p_value(entry, std / 1.02, laplace=laplace) < REJECT
        assert abs(entry.mean()) < 4.5 * std / np.sqrt(DRAWS)


def test_entries_have_the_declared_law(sampled):
    distribution, sample = sampled
    for entry, std in _entries(distribution, sample):
        gaussian = stats.kstest(entry, stats.norm(scale=std).cdf).pvalue
        laplace = stats.kstest(entry, stats.laplace(scale=std / np.sqrt(2)).cdf).pvalue
        right, wrong = (laplace, gaussian) if distribution.shape == "laplace" else (gaussian, laplace)
        assert right > REJECT
        assert wrong < 1e-20


def test_entries_are_uncorrelated_except_through_the_free_trace(sampled):
    distribution, sample = sampled
    upper = np.triu_indices(3 + distribution.n_anchors)
    flat = sample[:, upper[0], upper[1]]
    flat = flat[:, : flat.shape[1] - distribution.n_anchors]  # the corner is constant
    found = np.corrcoef(flat, rowvar=False)
    expected = np.eye(len(found))
    if distribution.shape == "free-trace":
        d = distribution.dimension
        between = (-1 / d + 1 / (d * (d + 1))) / (1 - 1 / d + 1 / (d * (d + 1)))
        diagonal = np.flatnonzero((upper[0] == upper[1])[: len(found)])
        expected[np.ix_(diagonal, diagonal)] = between
        np.fill_diagonal(expected, 1.0)
    # 5 deviations of a correlation estimate; 100,000 draws would show a correlation of 0.03.
    assert np.abs(found - expected).max() < 5 / np.sqrt(DRAWS)


def test_draws_are_symmetric_and_the_corner_is_public(sampled):
    distribution, sample = sampled
    size = distribution.dimension + distribution.n_anchors
    assert sample.shape == (DRAWS, size, size)
    assert np.array_equal(sample, sample.transpose(0, 2, 1))
    if distribution.n_anchors:
        assert not sample[:, -1, -1].any()
        assert np.all(sample[:, -1, :-1] != 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("joint", [False, True])
def test_one_seed_gives_one_picture_at_every_scale(shape, joint):
    unit = NoiseDistribution(shape, 1.0, 4, joint).draw(np.random.default_rng(3))
    for scale in (0.0, 0.25, 1 / 3, 7.7):
        ours = NoiseDistribution(shape, scale, 4, joint).draw(np.random.default_rng(3))
        assert np.array_equal(ours, scale * unit)


def test_unknown_shapes_are_refused():
    with pytest.raises(ValueError, match="shape must be one of"):
        NoiseDistribution("gaussian", 1.0, 2)
