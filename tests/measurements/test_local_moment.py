"""The average of users' reports: its law, its sensitivity, and what it costs to draw."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from privcov.core.guarantees import NoPrivacy, ZCDP
from privcov.measurements.local_moment import measure_reports, report_sensitivity
from privcov.measurements.moment import ANCHOR_SQUARED
from privcov.tables.dataset import Dataset


def unit_rows(n, d, seed=0):
    """Rows in the unit ball whose second moment is far from diagonal."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) * 0.1 + rng.standard_normal((n, 1)) * np.linspace(1, 0, d)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)


def data(x, row_bound, **more):
    return Dataset.from_rows(x, row_bound, **{"mean_is_zero": True, **more})


def literal_reports(x, sigma, rng, joint):
    """Every user adds isotropic noise with a small trace part of its own; the server averages. z = (x, s)."""
    n, d = x.shape
    s = math.sqrt(ANCHOR_SQUARED)
    total = np.zeros((d + joint, d + joint))
    for row in x:
        a = rng.standard_normal((d, d))
        block = (a + a.T) / 2
        block += np.eye(d) * (rng.standard_normal() / math.sqrt(d * (d + 1)) - np.trace(block) / d)
        report = np.outer(row, row) + sigma * block
        if joint:
            edge = s * row + sigma * rng.standard_normal(d) / math.sqrt(2)
            report = np.block([[report, edge[:, None]], [edge[None, :], np.array([[ANCHOR_SQUARED]])]])
        total += report
    return total / n


@pytest.mark.parametrize("joint", [False, True])
def test_one_draw_of_the_average_has_the_law_of_n_users(joint):
    """500 literal averages of 20 users against 500 fast ones; Kolmogorov-Smirnov on the matrix norm, an off-diagonal
    and a diagonal entry and the trace at level 1e-3: sees distances of the distribution functions above 0.12, such as
    a scale that is off by 25 %."""
    x, rng = unit_rows(20, 3), np.random.default_rng(1)
    ds, centre = data(x, 1.0), "joint" if joint else "zero"
    fast = [measure_reports(ds, ZCDP(0.5), centre=centre, shape="free-trace", rng=rng) for _ in range(500)]
    sigma = fast[0].event.scale
    assert fast[0].distribution.scale == pytest.approx(sigma / math.sqrt(20), rel=1e-15)
    slow = [literal_reports(x, sigma, rng, joint) for _ in range(500)]
    exact = x.T @ x / 20
    looks = {
        "norm": lambda m: np.linalg.norm(m[:3, :3] - exact),
        "(0, 1)": lambda m: m[0, 1],
        "(0, 0)": lambda m: m[0, 0],
        "trace": lambda m: np.trace(m[:3, :3]),
        "last": lambda m: m[1, -1],
    }
    for name, look in looks.items():
        assert ks_2samp([look(f.matrix) for f in fast], [look(m) for m in slow]).pvalue > 1e-3, name


def test_the_cost_and_the_unit_noise_do_not_grow_with_the_users():
    unit = []
    for n in (3, 3000):
        ds = data(np.tile(unit_rows(3, 4), (n // 3, 1)), 1.0)
        measured = measure_reports(ds, ZCDP(1.0), centre="zero", shape="free-trace", rng=np.random.default_rng(0))
        clean = measure_reports(ds, NoPrivacy(), centre="zero", shape="free-trace", rng=np.random.default_rng(0))
        unit.append((measured.matrix - clean.matrix) * math.sqrt(n) / measured.event.scale)
    np.testing.assert_allclose(unit[0], unit[1], atol=1e-12)


@pytest.mark.parametrize("shape", ["free-trace", "upper-triangle"])
@pytest.mark.parametrize("joint", [False, True])
def test_the_sensitivity_of_a_report_is_attained_and_never_exceeded(shape, joint):
    """smartnoise-core#243 (a missing root in a sensitivity) and paper 4, Algorithm 2 (a missing sqrt(2)): 20,000 random
    pairs of rows stay below; alone, two axes attain it."""
    rng, d = np.random.default_rng(2), 3
    bound = report_sensitivity(d, shape=shape, n_anchors=joint)
    weight = np.where(np.eye(d + joint), 1.0, 1.0 if shape == "upper-triangle" else 2.0)
    weight = np.triu(weight)

    def length(u, v):
        s = [math.sqrt(ANCHOR_SQUARED)] * joint
        a, b = np.append(u, s), np.append(v, s)
        g = np.outer(a, a) - np.outer(b, b)
        extra = np.trace(g[:d, :d]) ** 2 if shape == "free-trace" else 0.0
        return math.sqrt((weight * g**2).sum() + extra)

    found = 0.0
    for _ in range(20_000):
        u, v = rng.standard_normal((2, d)) / rng.uniform(1, 2)
        u, v = u / max(1, np.linalg.norm(u)), v / max(1, np.linalg.norm(v))
        found = max(found, length(u, v))
    assert 0.9 * bound < found <= bound
    if not joint:
        assert length(np.eye(d)[0], np.eye(d)[1]) == pytest.approx(bound, rel=1e-12)
