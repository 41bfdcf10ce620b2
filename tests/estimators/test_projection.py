"""The projection mechanism: nearest matrix, a trace that is free, and every relation."""

import numpy as np
import pytest

from privcov.core.guarantees import ZCDP
from privcov.releases.public import release
from privcov.tables.dataset import Dataset


def data(n=300, d=20, centre="zero"):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d)) * np.r_[2.0, np.full(d - 1, 0.3)]
    x *= (rng.random(n) / np.linalg.norm(x, axis=1))[:, None]
    return Dataset.from_rows(x, mean_is_zero=centre == "zero")


@pytest.mark.parametrize("trace", ["released", "bound"])
def test_no_matrix_of_the_set_is_nearer(trace):
    rel = release(data(), ZCDP(0.02), "projection", trace=trace, random_state=0)
    noisy, found = rel.noisy_moment.matrix, rel.covariance
    limit = min(max(np.trace(noisy), 0.0), 1.0) if trace == "released" else 1.0
    assert np.trace(found) <= limit * (1 + 1e-12)
    rng = np.random.default_rng(1)
    for _ in range(300):  # the condition of a projection: no angle below 90 degrees towards any member of the set
        a = rng.standard_normal((20, int(rng.integers(1, 21))))
        member = a @ a.T
        member *= limit * rng.random() / np.trace(member)
        assert np.sum((noisy - found) * (member - found)) <= 1e-10


def test_the_released_trace_is_as_accurate_as_one_entry():
    """400 draws: the deviation of the trace is sigma sqrt(d/(d+1)); 12 % would be seen (3.5 deviations of 3.5 %)."""
    ds = data()
    rels = [release(ds, ZCDP(0.5), "projection", random_state=s) for s in range(400)]
    traces = [np.trace(r.noisy_moment.matrix) for r in rels]
    assert np.std(traces) == pytest.approx(rels[0].noisy_moment.distribution.scale * np.sqrt(20 / 21), rel=0.12)
