"""The mixture of estimates: each is right on its own pattern, its product with the error is told, weights are least."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess.denoise import BlockNoise, denoise
from privcov.postprocess.structure import experts
from privcov.postprocess.structure import mixture as module
from privcov.postprocess.structure.mixture import mix
from tests.exhaustive import some_of


def noise_of(law: NoiseDistribution) -> BlockNoise:
    d, std = law.dimension, law.off_diagonal_std
    gaussian = law.shape != "wishart-difference"
    return BlockNoise(d * (d - 1) * std**2, law.diagonal_stds**2, law.form_variance(np.eye(d)), std, gaussian)


def rest_of(matrix: np.ndarray) -> np.ndarray:
    return matrix - np.diag(np.diag(matrix))


def fading(d: int, r: float = 0.6) -> np.ndarray:
    at = np.arange(d)
    return r ** np.abs(at[:, None] - at) / d


def blocks(d: int, size: int, seed: int = 0) -> np.ndarray:
    """Blocks of related columns, in an order that hides them."""
    group = np.random.default_rng(seed).permutation(np.arange(d) // size)
    return (0.6 * (group[:, None] == group) + 0.4 * np.eye(d)) / d


def branching(d: int, seed: int = 0) -> np.ndarray:
    """Columns on a tree: a correlation is the product along the path."""
    rng, found = np.random.default_rng(seed), np.eye(d)
    for j in range(1, d):
        found[j, :j] = found[:j, j] = rng.choice([-0.7, 0.5, 0.8]) * found[rng.integers(0, j), :j]
    return found / d


def one_factor(d: int, seed: int = 0) -> np.ndarray:
    loading = np.random.default_rng(seed).uniform(-1, 1, d)
    found = np.outer(loading, loading)
    np.fill_diagonal(found, 1.0)
    return found / d


def shuffled(matrix: np.ndarray, seed: int = 3) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(matrix))
    return matrix[np.ix_(order, order)]


PATTERNS = {
    "equal correlations": (0.7 * np.eye(12) + 0.3) / 12,
    "band": fading(12, 0.3),
    "tree": branching(12),
    "steps on the tree": shuffled(fading(12)),
    "similar columns": blocks(12, 4),
    "factors": one_factor(12),
    "pairs alone": blocks(12, 3, 5),
    "as measured": blocks(12, 3, 6),
    "eigenvalues": one_factor(12, 4),
}


def told(matrix: np.ndarray, noise: BlockNoise, rows: float | None) -> list:
    """The estimates of a noisy matrix, with the error as `mix` takes it."""
    d, kept = len(matrix), {}
    real = module._experts

    def spy(*given):
        kept["error"], kept["found"] = given[-1], real(*given)
        return kept["found"]

    module._experts = spy
    try:
        mix(matrix, noise, rows)
    finally:
        module._experts = real
    assert kept["error"].draws.shape[1:] == (d, d)
    return kept["found"]


@pytest.mark.parametrize("kind", PATTERNS)
def test_an_estimate_is_right_where_its_pattern_holds(kind):
    """Without noise to speak of: within a thousandth of the entries; a band is the widest."""
    truth = PATTERNS[kind]
    found = told(truth, noise_of(NoiseDistribution("free-trace", 1e-7, 12)), None)
    last = [one for one in found if one.kind == kind][-1]
    assert np.linalg.norm(last.matrix - rest_of(truth)) < 1e-3 * np.linalg.norm(rest_of(truth))


def test_the_tree_is_that_of_a_slow_search():
    """Edges by scipy, products and numbers of edges by walking from column to column."""
    rng = np.random.default_rng(0)
    for d in (2, 3, 7, 15):
        noisy = rng.uniform(-0.9, 0.9, (4, d, d))
        noisy = rest_of_each((noisy + noisy.transpose(0, 2, 1)) / 2)
        product, steps = experts.on_tree(noisy)
        for matrix, products, lengths in zip(noisy, product, steps, strict=True):
            edges = minimum_spanning_tree(1 - np.abs(matrix) * (1 - np.eye(d))).toarray()
            near = (edges + edges.T) > 0
            for start in range(d):
                walked, waiting = {start: (1.0, 0)}, [start]
                while waiting:
                    here = waiting.pop()
                    for there in np.flatnonzero(near[here]):
                        if there not in walked:
                            so_far, count = walked[here]
                            walked[there] = so_far * matrix[here, there], count + 1
                            waiting.append(there)
                for end, (so_far, count) in walked.items():
                    assert lengths[start, end] == count
                    assert products[start, end] == (pytest.approx(so_far) if end != start else 0.0)


def rest_of_each(matrices: np.ndarray) -> np.ndarray:
    return np.array([rest_of(matrix) for matrix in matrices])


def test_the_mean_of_every_number_of_steps_is_taken_with_the_sign_of_the_path():
    rng = np.random.default_rng(1)
    noisy = rest_of_each(np.array([(m + m.T) / 2 for m in rng.uniform(-0.9, 0.9, (2, 6, 6))]))
    product, steps = experts.on_tree(noisy)
    found = experts.by_steps(noisy, product, steps)
    for b, i, j in itertools.product(range(2), range(6), range(6)):
        same = steps[b] == steps[b, i, j]
        wanted = np.mean((noisy[b] * np.sign(product[b]))[same]) * np.sign(product[b, i, j])
        assert found[b, i, j] == pytest.approx(wanted)


def test_similar_columns_are_the_literal_sums():
    d, std = 6, 0.03
    rest = rest_of(blocks(d, 3)) + 0.02 * np.add.outer(np.arange(d), np.arange(d)) / d
    rest = rest_of(rest)
    alike = np.eye(d)
    for i, j in itertools.permutations(range(d), 2):
        others = [k for k in range(d) if k not in (i, j)]
        q = sum((rest[i, k] - rest[j, k]) ** 2 for k in others)
        z = (q - 2 * std**2 * (d - 2)) / (std**2 * math.sqrt(8 * (d - 2)))
        alike[i, j] = 1 / (1 + (max(z, 0) / 2) ** 4)
    found = experts.similar(rest[None], std)[0]
    for i, j in itertools.permutations(range(d), 2):
        pairs = [(k, m) for k in range(d) for m in range(d) if k != m]
        weight = sum(alike[i, k] * alike[j, m] for k, m in pairs)
        assert found[i, j] == pytest.approx(sum(alike[i, k] * alike[j, m] * rest[k, m] for k, m in pairs) / weight)


def test_an_entry_by_itself_is_its_mean_given_what_was_seen():
    """By integration over the fitted mixture, and its slope by differences of the mean with the mixture held."""
    rng = np.random.default_rng(2)
    seen, variances = rng.normal(0, 0.3, 400), np.full(400, 0.02)
    mean, slope = experts.entries(seen, variances)
    assert (np.abs(mean) <= np.abs(seen)).all()
    order = np.argsort(seen)
    apart = np.diff(seen[order]) > 1e-4
    assert (np.diff(mean[order]) > 0).all()
    assert np.median(np.diff(mean[order])[apart] / np.diff(seen[order])[apart]) == pytest.approx(
        np.median(slope), rel=0.1
    )
    nothing, flat = experts.entries(rng.normal(0, 0.1, 400), np.full(400, 0.01))
    assert np.sqrt(np.mean(nothing**2)) < 0.03 * np.sqrt(400) / 10
    assert np.median(flat) < 0.2


@pytest.mark.parametrize("rows", [None, 400.0], ids=["noise alone", "with the sampling error"])
@pytest.mark.parametrize("kind", some_of(["blocks", "fading", "one factor"], 0, 2))
def test_the_product_with_the_error_is_told(kind, rows):
    """Mean D of 400 draws against the mean of <F, E>: within a tenth of what an unbiased matrix has, and 4 errors.

    A forgotten factor of two fails for every estimate that keeps much of the noise.
    """
    d = 12
    truth = {"blocks": blocks(d, 4), "fading": fading(d), "one factor": one_factor(d)}[kind] * 0.8
    law, rng = NoiseDistribution("free-groups", 0.01, d, groups=(0,) * d, weights=(4.0,)), np.random.default_rng(3)
    root, off, stated = np.linalg.cholesky(truth), [], []
    for _ in range(400):
        sample = truth
        if rows is not None:
            x = rng.standard_normal((int(rows), d)) @ root.T
            sample = x.T @ x / rows
        noisy = sample + law.draw(rng)
        error = rest_of(noisy - truth)
        found = told(noisy, noise_of(law), rows)
        off.append([float(np.sum(one.matrix * error)) for one in found])
        stated.append([one.with_error for one in found])
    means, se = np.mean(off, axis=0), np.std(off, axis=0) / 20
    whole = means[1]  # of the matrix as measured
    assert found[1].kind == "as measured"
    assert np.abs(np.mean(stated, axis=0) - means).max() <= 0.1 * whole + 4 * se.max()
    assert np.mean(stated, axis=0)[1] == pytest.approx(whole, abs=0.1 * whole + 4 * se[1])


def test_what_a_mean_adds_to_the_error_lies_along_it():
    """A mean of equal entries: the level has 4 |a|^2 more, which 16 draws tell within a factor of 2.5."""
    d, law = 12, NoiseDistribution("free-trace", 0.01, 12)
    axis = np.full((1, d), 0.01)
    plain = noise_of(law)
    with_mean = dataclasses.replace(plain, axes=axis)
    more = [
        one.with_error - other.with_error
        for one, other in zip(*(told(blocks(d, 4), noise, None) for noise in (with_mean, plain)), strict=True)
        if one.kind == "equal correlations"
    ]
    assert 0.4 < more[0] / (4 * float(np.sum(axis**2))) < 2.5
    assert with_mean.coherent == pytest.approx(4 * float(np.sum(axis**2)))


@pytest.mark.parametrize(
    ("truth", "most"),
    [("fading", 0.7), ("blocks", 0.8), ("alike", 0.8), ("steps", 0.9), ("tree", 0.95), ("none", 1.05)],
)
def test_the_mixture_is_better_where_columns_follow_a_pattern_and_no_worse_where_not(truth, most):
    """Mean error of 30 draws at d = 20 over that of `denoise`; "none": a random factor matrix."""
    d, rng = 20, np.random.default_rng(5)
    factor = rng.standard_normal((d, 2 * d))
    truth = {"fading": fading(d), "blocks": blocks(d, 5), "alike": (0.9 * np.eye(d) + 0.1) / d,
             "steps": shuffled(fading(d, 0.8)), "tree": branching(d),
             "none": factor @ factor.T / (2 * d**2)}[truth]  # fmt: skip
    law = NoiseDistribution("free-trace", 0.012, d)
    ours, before = [], []
    for _ in range(30):
        noisy = truth + law.draw(rng)
        ours.append(np.linalg.norm(mix(noisy, noise_of(law), None).matrix - truth))
        before.append(np.linalg.norm(denoise(noisy, noise_of(law)) - truth))
    assert np.mean(ours) <= most * np.mean(before)


@pytest.mark.parametrize("repeated", [False, True])
def test_no_estimate_would_lower_the_risk_further(repeated):
    """The largest slope of an estimate in use is the lowest of all, also where two estimates are the same matrix."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        size, count = rng.integers(1, 20), rng.integers(2, 16)
        entries = rng.normal(size=(count, size)) * 10 ** rng.uniform(-2, 2, (count, 1))
        if repeated:
            entries[-1] = entries[0]
        products, towards = entries @ entries.T, entries @ rng.normal(size=size) + rng.normal(size=count)
        weights = module._weights(products, towards)
        slopes = products @ weights - towards
        assert np.all(weights >= 0)
        assert weights.sum() == pytest.approx(1, abs=1e-9)
        scale = max(np.abs(products).max(), np.abs(towards).max())
        assert slopes @ weights - slopes.min() <= 1e-10 * scale


def test_the_answer_is_a_covariance_of_the_unit_ball_and_its_shares_add_up():
    rng = np.random.default_rng(7)
    for d, scale, rows in itertools.product((5, 12), (1e-3, 1e-2, 0.3), (None, 50.0)):
        law = NoiseDistribution("free-trace", scale, d)
        found = mix(blocks(d, 2) + law.draw(rng), noise_of(law), rows)
        assert np.array_equal(found.matrix, found.matrix.T)
        assert np.linalg.eigvalsh(found.matrix)[0] >= -1e-12
        assert np.trace(found.matrix) <= 1 + 1e-12
        assert sum(found.shares.values()) == pytest.approx(1)
        assert list(found.shares.values()) == sorted(found.shares.values(), reverse=True)
        assert 0 <= found.signal_share <= 1
