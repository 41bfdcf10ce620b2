"""Row norms in bins: right bins, right sensitivity on real neighbours, right noise, and the bound that follows."""

import numpy as np
import pytest

from privcov.core import accounting
from privcov.core.guarantees import PureDP, ZCDP
from privcov.measurements.moment import measure_moment
from privcov.measurements.norm_histogram import (
    BINS,
    RowBoundSearch,
    exact_histogram,
    halvings,
    measure_norms,
    noise_in_rows,
    norm_noise,
    search_row_bound,
)
from privcov.tables.dataset import Dataset


def rows_of_norm(norms) -> np.ndarray:
    return np.outer(norms, [0.6, 0.8])


def test_rows_fall_into_the_bins_by_hand():
    norms = [2.0, 1.0, 0.9999, 0.71, 0.70, 0.51, 0.5, 0.26, 0.25, 2.0**-13, 0.0]
    data = Dataset.from_rows(rows_of_norm(norms), 1.0)
    counts = exact_histogram(data)
    assert list(counts[:5]) == [4, 2, 1, 1, 1]  # too long counts as longest; a norm of one half opens the third bin
    assert counts.sum() == 9  # the shortest and the zero row are not counted


def literal(counts, std, n, noise, laplace):
    """The rule of the docstring of norm_histogram.py, in words: the best k of all that are allowed."""
    rows = max(sum(counts), 1.0) if n is None else n
    least = (5 if laplace else 3) * std
    visible = [k for k, c in enumerate(counts) if c > least]
    accounted = sum(counts[k] for k in visible)
    if not visible or accounted < rows / 2 or rows / 2 < least:
        return 0
    hidden = [k for k in range(visible[-1]) if k not in visible]
    supposed = list(counts)
    together, positive = sum(counts[k] for k in hidden), sum(max(counts[k], 0) for k in hidden)
    for k in hidden:
        supposed[k] = min(max(rows - accounted, 0) / len(hidden), std / 10)
        if together > 2 * std * len(hidden) ** 0.5:
            supposed[k] = together * max(counts[k], 0) / positive
    cost = {}
    for k in range(visible[-1] + 1):
        lost = sum(supposed[m] * (2 ** -(m + 0.5) - 2**-k) for m in range(k))
        cost[k] = 1.5 * lost + noise / 2**k
    return min(cost, key=lambda k: cost[k])


def test_the_bound_is_that_of_the_rule_as_it_is_written():
    rng = np.random.default_rng(5)
    found = set()
    for _ in range(400):
        std, noise, n = 10.0 ** rng.uniform(-1, 2), 10.0 ** rng.uniform(0, 4), int(rng.integers(1, 5000))
        counts = rng.multinomial(
            n, rng.dirichlet(np.full(BINS, 10.0 ** rng.uniform(-1, 1)))
        ) + std * rng.standard_normal(BINS)
        known, laplace = (n if rng.random() < 0.5 else None), bool(rng.random() < 0.5)
        k = halvings(counts, std, known, noise, laplace=laplace, search_for="covariance")
        assert k == literal(counts.tolist(), std, known, noise, laplace)
        found.add(k)
    assert len(found) > 10


@pytest.mark.parametrize("laplace", [False, True])
def test_a_graph_takes_the_bound_next_to_its_part_of_the_median_norm(laplace):
    """The part falls from 1.3 to 0.65 where the noise of an entry passes its sampling error."""
    rng = np.random.default_rng(6)
    found = set()
    for _ in range(400):
        n, d = int(rng.integers(500, 50_000)), 20
        norms = rng.uniform(0.05, 0.9) * np.exp(rng.uniform(0.01, 0.6) * rng.standard_normal(n))
        counts = exact_histogram(Dataset.from_rows(rows_of_norm(np.minimum(norms, 1)), 1.0))
        entry = 10.0 ** rng.uniform(-3, 1) / n  # noise of an entry, in units of R^2
        noise = entry * n * d / (2 if laplace else 2 * np.sqrt(2))
        k = halvings(counts, 1.0, n, noise, laplace=laplace, search_for="graph")
        q = n * (entry * d * 1.3**2) ** 2
        part = 1.3 if q < 0.5 else 1.0 if q < 2 else 0.85 if q < 6 else 0.65
        assert abs(2.0 ** (-k / 2) / min(part * np.median(np.minimum(norms, 1)), 1)) == pytest.approx(1, rel=0.25)
        found.add(part)
    assert len(found) == 4


def test_what_shortened_rows_keep_of_their_squares():
    rng = np.random.default_rng(7)
    norms = np.exp(-0.7 + 0.4 * rng.standard_normal(20_000))
    table = Dataset.from_rows(rows_of_norm(np.minimum(norms, 1)), 1.0)
    shorter, search = search_row_bound(
        table, ZCDP(1.0), ZCDP(1e-3), search_for="graph", rng=rng, relation="replace-one"
    )
    assert search.halvings
    kept = np.sum(np.minimum(norms, shorter.row_bound) ** 2) / np.sum(np.minimum(norms, 1) ** 2)
    assert search.kept_square == pytest.approx(kept, rel=0.05)


def test_neighbours_stay_below_the_sensitivity():
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows = rows_of_norm(2.0 ** rng.uniform(-6, 1, 12))
        other = rows.copy()
        other[0] = rows_of_norm([2.0 ** rng.uniform(-6, 1)])[0]
        a, b = (exact_histogram(Dataset.from_rows(r, 1.0)) for r in (rows, other))
        assert np.linalg.norm(a - b) <= np.sqrt(2) + 1e-12
        assert np.abs(a - b).sum() <= 2


@pytest.mark.parametrize("share", [ZCDP(0.02), PureDP(0.3)])
def test_the_noise_is_what_the_event_says(share):
    """4,000 draws of 20 counts: the sample deviation of 80,000 values is known to 0.3 % (1.1 % for Laplace)."""
    data = Dataset.from_rows(rows_of_norm([1.0, 0.3]), 1.0)
    rng = np.random.default_rng(1)
    found = [measure_norms(data, share, rng=rng, relation="replace-one") for _ in range(4000)]
    noise = np.array([counts for counts, _, _ in found]) - exact_histogram(data)
    _, std, event = found[0]
    assert noise.std() == pytest.approx(std, rel=0.02)
    assert std == norm_noise(share, "replace-one")
    assert accounting.covers(share, accounting.compose((event,), share))


@pytest.mark.parametrize("share", [ZCDP(0.02), PureDP(0.3)])
@pytest.mark.parametrize(("relation", "moved"), [("replace-one", 0.3), ("add-remove", 0.0)])
def test_the_declared_sensitivity_is_the_one_that_neighbours_attain(share, relation, moved):
    """A row that leaves one bin for another moves two counts; one that is taken out moves one, as one of zeros does."""
    one, two = (Dataset.from_rows(rows_of_norm([1.0, length]), 1.0) for length in (1.0, moved))
    change = exact_histogram(one) - exact_histogram(two)
    _, _, event = measure_norms(one, share, rng=np.random.default_rng(0), relation=relation)
    size = np.abs(change).sum() if isinstance(share, PureDP) else np.linalg.norm(change)
    assert size <= event.sensitivity
    assert event.sensitivity == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize(
    ("share", "shape", "part"), [(PureDP(0.3), "wishart-difference", 0.5), (ZCDP(0.02), "isotropic", 0.5**1.5)]
)
@pytest.mark.parametrize("d", [12, 30])
def test_the_noise_of_the_rule_is_the_stated_part_of_the_noise_that_is_drawn(share, shape, part, d):
    """The mean norm of 100 draws has a standard error below 1 %; the formula for Wishart noise is asymptotic in d."""
    rng = np.random.default_rng(4)
    data = Dataset.from_rows(np.zeros((50, d)), 1.0)
    law = measure_moment(data, share, centre="none", shape=shape, rng=rng).distribution
    drawn = 50 * np.mean([np.linalg.norm(law.draw(rng)) for _ in range(100)])
    assert noise_in_rows(share, d) == pytest.approx(part * drawn, rel=0.05)


@pytest.mark.parametrize("share", [ZCDP(0.02), PureDP(0.3)])
def test_the_share_of_longer_rows_is_said_with_the_noise_that_it_has(share):
    """Of 600 searches 95 % are expected within two deviations (Laplace sums: 94.6 %); their standard error is 0.9 %."""
    data = Dataset.from_rows(rows_of_norm(2.0 ** np.linspace(-4, 0, 900)), 1.0)
    rng, k = np.random.default_rng(6), 6
    true = 100 * exact_histogram(data)[:k].sum() / 900
    inside, widths = 0, set()
    for _ in range(600):
        counts, _, event = measure_norms(data, share, rng=rng, relation="replace-one")
        words = RowBoundSearch(tuple(counts), k, event).longer(900).split()
        inside += abs(float(words[0]) - true) <= float(words[3])
        widths.add(words[3])
    assert len(widths) == 1
    assert 0.92 <= inside / 600 <= 0.98
