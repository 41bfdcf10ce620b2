"""The edge test: its statistic by a literal formula, its law by draws, the matrix on a graph, and who uses it."""

import math

import numpy as np
import pytest

import privcov
from privcov.core.guarantees import PureDP, ZCDP
from privcov.inference.unbiased import unbiased_moments
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory.noise_law import NoiseLaw, law_of
from privcov.metrics.graphs import tested_states as states_of
from privcov.postprocess.edge_test import EDGE, NO_EDGE, SLIGHT, discoveries, edge_test, on_graph

AR2 = np.eye(6) * 1.0
for i in range(5):
    AR2[i, i + 1] = AR2[i + 1, i] = 0.4
    if i < 4:
        AR2[i, i + 2] = AR2[i + 2, i] = 0.2


def quiet(d: int, off: float = 0.0, **more) -> NoiseLaw:
    """Noise of one variance on every entry above the diagonal."""
    return NoiseLaw(off, np.zeros(d), 0.0, 0.0, **more)


def test_the_variance_of_every_product_is_that_of_its_form():
    """`Law.products` against `Law.form_variance` of each A = (th_i th_j' + th_j th_i') / 2, a number of rows included.

    m'C^-1 stands for itself: C0 = Th^-1, so that <A, C0> = Th_ij.
    """
    theta, mean = AR2 + np.diag(np.arange(6) / 10), np.array([0.3, -0.2, 0.1, 0.4, 0.0, -0.5])
    law = NoiseLaw(0.02, np.linspace(-0.01, 0.02, 6), 0.003, 0.01, 0.04)
    found, covariance = law.products(theta, mean), np.linalg.inv(theta)
    for i in range(6):
        for j in range(6):
            form = (np.outer(theta[i], theta[j]) + np.outer(theta[j], theta[i])) / 2
            assert found[i, j] == pytest.approx(law.form_variance(form, mean, covariance), rel=1e-9)


@pytest.mark.parametrize("shape", ["laplace", "wishart-difference", "isotropic"])
def test_p_values_of_pure_noise_are_not_too_small(shape):
    """S = C + W, W drawn from the law, no sampling error: at most 1.15 of the nominal share below .05 and below .01.

    1,000 draws of 10 pairs; a law with the variance a fifth too small is seen (1.5 of the nominal at .01). V is made
    larger on purpose, so there is no lower bound but that the test is not empty.
    """
    noise, d, n = NoiseDistribution(shape, 0.002, 5), 5, 10**9
    rng, clear = np.random.default_rng(3), np.triu_indices(5, 1)
    measured = NoisyMoment(np.eye(d), noise, None, "none", n, 1.0)
    law, low = law_of(measured), []
    for _ in range(1_000):
        test = edge_test(np.eye(d) + noise.draw(rng), np.zeros(d), n, law)
        low.append(test.p_value[clear])
    p = np.concatenate(low)
    for level in (0.05, 0.01):
        assert 0.15 * level < (p < level).mean() < 1.15 * level + 2 * math.sqrt(level / len(p))


def test_an_entry_of_laplace_noise_has_its_exact_tail():
    """On the identity the form is one entry: P(|X| > t) = exp(-t sqrt(2) / sd), far from the normal tail."""
    law = quiet(3, 2.0, laplace=True)
    value = np.full((3, 3), 9.0)
    found = law.tail(value, np.zeros((3, 3)), np.full((3, 3), 2.0), np.eye(3))
    assert found[0, 1] == pytest.approx(math.exp(-9.0), rel=0.02)
    wide = law.tail(value, np.zeros((3, 3)), np.full((3, 3), 2.0), np.ones((3, 3)) + np.eye(3))
    assert wide[0, 1] < found[0, 1] / 10  # a sum of many has lighter tails


def test_the_states_name_edges_and_pairs_without_one():
    """Exact moments of AR(2), a million rows: every edge is found, and every other pair is called none."""
    test = edge_test(np.linalg.inv(AR2), np.zeros(6), 10**6, quiet(6))
    states = test.states(0.05)
    true = (AR2 != 0) & ~np.eye(6, dtype=bool)
    assert ((states == EDGE) == true).all()
    assert ((states == NO_EDGE) == ~true).all()
    few = edge_test(np.linalg.inv(AR2), np.zeros(6), 60, quiet(6))
    assert (few.states(0.05) == 0).any()
    np.testing.assert_allclose(np.abs(test.partial)[true], np.abs(AR2)[true], atol=0.02)
    assert SLIGHT < 0.2 < np.abs(AR2)[true].min() + 0.01


def test_nothing_is_tested_where_there_is_no_pair_or_no_number():
    assert edge_test(np.eye(1), np.zeros(1), 100, quiet(1)) is None
    assert edge_test(np.full((3, 3), np.nan), np.zeros(3), 100, quiet(3)) is None


def test_the_matrix_on_a_graph_has_its_zeros_and_keeps_the_rest_of_s():
    """Dempster's conditions, which have one solution: the inverse agrees with s on the edges and the diagonal."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 7)) @ rng.standard_normal((7, 7))
    s = rows.T @ rows / 40
    graph = np.triu(rng.random((7, 7)) < 0.4, 1)
    graph |= graph.T
    theta = on_graph(s, graph)
    inverse, kept = np.linalg.inv(theta), graph | np.eye(7, dtype=bool)
    assert (theta[~kept] == 0).all()
    np.testing.assert_allclose(inverse[kept], s[kept], rtol=1e-6, atol=1e-8)
    assert np.linalg.eigvalsh(theta)[0] > 0
    full = np.ones((7, 7), dtype=bool)
    np.testing.assert_allclose(on_graph(s, full), np.linalg.inv(s), rtol=1e-6)


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), PureDP(3.0)], ids=["gaussian", "wishart"])
@pytest.mark.parametrize("centre", ["zero", "joint"])
def test_the_estimator_the_answers_and_the_page_draw_the_same_edges(guarantee, centre):
    ds = privcov.source("precision-ar2", n=4_000, d=8, random_state=4)
    rel = privcov.release(ds, guarantee, "auto-precision", random_state=2, centre=centre, rate=0.08)
    upper = np.triu_indices(8, 1)
    told = privcov.answers(rel).edges(rate=0.08)
    assert told["reject"].any()
    np.testing.assert_array_equal(rel.precision[upper] != 0, told["reject"].to_numpy())
    np.testing.assert_array_equal(states_of(rel)[upper] == EDGE, told["reject"].to_numpy())
    known = unbiased_moments(rel)
    literal = edge_test(known.covariance, known.centre, known.n_rows, known.law).p_value[upper]
    np.testing.assert_array_equal(told["reject"].to_numpy(), discoveries(literal, 0.08))


def test_class_sums_have_the_rule_ebic_and_say_so():
    ds = privcov.source("breast-cancer")
    rel = privcov.release(ds, ZCDP(5.0), "auto-precision", random_state=1, centre="classes")
    old = privcov.release(ds, ZCDP(5.0), "auto-precision", random_state=1, centre="classes", rule="ebic")
    np.testing.assert_array_equal(rel.precision, old.precision)
    assert rel.notes[-1] == "The edge test is not derived for class sums: the rule ebic took its place."


def test_noise_alone_draws_no_edges_and_a_diagonal_matrix():
    ds = privcov.source("precision-ar2", n=300, d=8, random_state=4)
    rel = privcov.release(ds, ZCDP(1e-4), "auto-precision", random_state=2)
    assert (rel.precision == np.diag(np.diag(rel.precision))).all()
    assert "the matrix is diagonal" in rel.notes[-1]


@pytest.mark.parametrize("more", [{}, {"n_public": False}, {"rows_per_person": 2}], ids=["public", "hidden", "persons"])
def test_private_rows_have_the_edges_of_their_answers(more, tmp_path):
    """Whole-number noise, read back: the same law, the same number of independent rows, the same edges."""
    data = privcov.source("precision-ar2", n=6_000, d=5, random_state=4)
    cells = np.clip(data.rows / 4, -1, 1)
    private = privcov.PrivateDataset.from_rows(cells, bounds=[(-1, 1)] * 5, name="t", **more)
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", ZCDP(50.0))
    rel = privcov.release_private(private, ZCDP(10.0), "auto-precision", ledger=ledger)
    told = privcov.answers(rel).edges(rate=0.1)
    assert told["reject"].any()
    np.testing.assert_array_equal(rel.precision[np.triu_indices(5, 1)] != 0, told["reject"].to_numpy())
