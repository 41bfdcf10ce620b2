"""What must hold for the private measurement, as functions that raise AssertionError; the mutants must make them do so.

Replay is gray-box: the noise functions are replaced by ones that add the same numbers to every table and write down the
scale they were asked for. What is left of the difference between two answers is then the change of the statistic, to be
compared with what the event says.
"""

from __future__ import annotations

import contextlib
import json
import math
from fractions import Fraction

import numpy as np

import privcov
from privcov.core import accounting
from privcov.estimators.base import MethodInput, NotOneMeasurementError
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact import reading as exact_reading
from privcov.measurements.exact.integer_gram import UNIT, noiseless_gram
from privcov.releases import private as release_steps
from privcov.tables.private_dataset import PrivateDataset

SHARES = {"isotropic": privcov.ZCDP(0.1), "laplace": privcov.PureDP(0.7), "wishart-difference": privcov.PureDP(0.7)}


@contextlib.contextmanager
def replayed(scales: list, monkeypatch, noise: int = 12_345):
    """Deterministic noise; ``scales`` collects (mechanism, scale, how many numbers)."""

    def same(kind):
        def add(values, scale):
            scales.append((kind, scale, values.size))
            shift = noise * np.arange(1, values.size + 1).reshape(values.shape)
            return values + (shift + shift.T if values.ndim == 2 else shift)

        return add

    with monkeypatch.context() as patch:
        patch.setattr(exact_noise, "add_discrete_gaussian", same("gaussian"))
        patch.setattr(exact_noise, "add_discrete_laplace", same("laplace"))
        patch.setattr(exact_noise, "add_wishart_difference", same("wishart-difference"))
        patch.setattr(exact_noise, "add_coupled_wishart", same("coupled-wishart"))
        yield


def drawn_scales(private: PrivateDataset, share, shape: str, monkeypatch, **how) -> tuple[list, list]:
    """(scale of the noise on every entry of the sum, scale on every second sum of a group), as they were drawn."""
    scales = []

    def numbered(values, scale):
        scales.append(scale)
        return np.full(values.shape, len(scales) - 1, dtype=np.int64)

    with monkeypatch.context() as patch:
        for name in ("gaussian", "laplace"):
            patch.setattr(exact_noise, f"add_discrete_{name}", numbered)
        for name in ("wishart_difference", "coupled_wishart"):
            patch.setattr(exact_noise, f"add_{name}", numbered)
        noisy = exact_moment.measure_exactly(private, share, shape=shape, **how)
    return [[scales[v] for v in line] for line in noisy.total], [scales[v] for v in noisy.sums]


def free_divisors(noisy: exact_moment.NoisySum) -> tuple[list[Fraction], list[Fraction]]:
    """How many times smaller than sigma^2 a variance on the diagonal, and one of a second sum, may be: by hand."""
    facts, size = noisy.facts, len(noisy.total)
    on, sums = [Fraction(1)] * size, []
    if noisy.shape == "free-groups":
        a2 = noisy.anchor**2
        cell = math.isqrt(UNIT**2 // facts.d) ** 2
        bounded = facts.bounds is not None and facts.row_bound == math.sqrt(facts.d)
        if bounded or facts.d == 1:
            on[: facts.d] = [1 + Fraction(facts.d * cell + 2 * a2, cell)] * facts.d
        else:
            sums = [Fraction(UNIT**2 + 2 * a2, UNIT**2)]
    return on, sums


def check_replay(
    one: PrivateDataset, other: PrivateDataset, shape: str, monkeypatch, anchor_for: str = "both"
) -> float:
    """The cost of telling two neighbours apart stays within the event and the share. Returns cost / claim."""
    share, scales, how = SHARES[shape], [], {"shape": shape, "anchor_for": anchor_for}
    with replayed(scales, monkeypatch):
        first = exact_moment.measure_exactly(one, share, **how)
        cut = len(scales)
        second = exact_moment.measure_exactly(other, share, **how)
    assert scales[:cut] == scales[cut:], "the way through the measurement depends on the rows"
    assert first.event == second.event, "the event depends on the rows"
    entries, again = drawn_scales(one, share, monkeypatch=monkeypatch, **how)
    sigma, (on, sums) = Fraction(first.event.scale), free_divisors(first)
    change = [
        [int(a) - int(b) for a, b in zip(x, y, strict=True)] for x, y in zip(first.total, second.total, strict=True)
    ]
    pairs = [(i, j) for i in range(len(change)) for j in range(i, len(change))]
    smallest = [Fraction(entries[i][i]) ** 2 * on[i] for i in range(len(on))]
    smallest += [Fraction(s) ** 2 * k for s, k in zip(again, sums, strict=True)]
    assert min(smallest) >= sigma**2, "the noise is smaller than the event says"
    if shape == "isotropic":
        cost = sum(Fraction(change[i][j]) ** 2 / 2 / Fraction(entries[i][j]) ** 2 for i, j in pairs if change[i][j])
        for a, b, scale in zip(first.sums, second.sums, again, strict=True):
            cost += Fraction(a - b) ** 2 / 2 / Fraction(scale) ** 2
        claim = accounting.zcdp_sum((first.event,))
        assert claim <= Fraction(share.rho)
    else:
        claim = accounting.pure_sum((first.event,))
        assert claim <= Fraction(share.epsilon)
        diagonal_scale = entries[0][0]
        if shape == "laplace":
            cost = Fraction(sum(abs(change[i][j]) for i, j in pairs)) / Fraction(diagonal_scale)
        else:
            # Floating point is good to 1e-15 of the norm; the bound is a whole number of steps above what is attained.
            values = np.linalg.eigvalsh(np.array(change, dtype=np.float64))
            parts = np.maximum(values, 0.0).sum(), np.maximum(-values, 0.0).sum()
            norm = max(parts) if first.shape == "coupled-wishart" else sum(parts)
            cost = Fraction(float(norm) * (1 - 1e-12)) / Fraction(diagonal_scale)
    assert cost <= claim, f"a neighbour costs {float(cost / claim):.6f} of what the event says"
    return float(cost / claim)


def check_structure(private: PrivateDataset, shape: str) -> None:
    """Whole numbers, symmetric, no more of them than there are looks at the data; on the grid after reading."""
    noisy = exact_moment.measure_exactly(private, SHARES[shape], shape=shape)
    assert noisy.total.dtype == np.int64
    np.testing.assert_array_equal(noisy.total, noisy.total.T)
    measured = exact_reading.read_sum(noisy, "joint")
    np.testing.assert_array_equal(measured.matrix, measured.matrix.T)
    d, n = private.facts.d, private.facts.n
    if noisy.sums:  # two looks at one trace, averaged with weights 1 : d kappa, and rounded once
        kappa = 1 + Fraction(2 * noisy.anchor**2, UNIT**2)
        more = kappa * (noisy.sums[0] - int(np.trace(noisy.total[:d, :d]))) / (1 + d * kappa)
        by_hand = [float((int(noisy.total[j, j]) + more) / UNIT**2 / n) for j in range(d)]
        assert np.diag(measured.matrix)[:d].tolist() == by_hand, "a diagonal entry is not the average of its looks"
    elif n is not None:
        steps = measured.matrix[:d, :d] * float(2**40 * d * (d + 1) * n)  # a trace is spread over d or d + 1
        limit = np.maximum(np.abs(steps) * 2**-51, 1e-9)
        assert (np.abs(steps - np.round(steps)) <= limit).all(), "a released number lies between two steps of the grid"
    again = exact_moment.NoisySum.from_dict(json.loads(json.dumps(noisy.to_dict())))
    np.testing.assert_array_equal(exact_reading.read_sum(again, "joint").matrix, measured.matrix)


def check_noise_size(shape: str, d: int = 60) -> None:
    """The drawn noise has the scale of the event: deviations of 1,770 or more numbers, within 15 %.

    The relative standard error is at most 1.7 % (Gaussian) and 2.7 % (Laplace); 15 % is missed by chance less than once
    in 10^7 runs. Half the noise, or a factor sqrt(2), is always seen.
    """
    empty = PrivateDataset.from_rows(np.zeros((2, d)), row_bound=1.0)
    noisy = exact_moment.measure_exactly(empty, SHARES[shape], shape=shape)
    distribution = exact_reading.read_sum(noisy, "joint").distribution
    off = noisy.total[np.triu_indices(d, 1)].astype(float)
    unit = noisy.scale / distribution.scale
    assert abs(np.std(off) / (distribution.off_diagonal_std * unit) - 1) < 0.15, "off-diagonal noise has another scale"
    if shape != "wishart-difference":
        # 60 numbers: standard error 9 %; half or twice the noise would be 5 of them away.
        own = noisy.event.scale * (np.sqrt(2) if shape == "laplace" else 1)
        assert 0.6 < np.std(np.diag(noisy.total)[:d].astype(float)) / own < 1.6, "diagonal noise has another scale"


def check_fresh_noise(shape: str) -> None:
    """No two draws are alike."""
    empty = PrivateDataset.from_rows(np.zeros((2, 3)), row_bound=1.0)
    first, second = (exact_moment.measure_exactly(empty, SHARES[shape], shape=shape).total for _ in range(2))
    assert (first != second).sum() >= 8, "two draws share their noise"


def check_unbiased(private: PrivateDataset, expected: np.ndarray, monkeypatch) -> None:
    """Without noise, the answer is the moment of the clipped rows over the number of rows, to the width of the grid."""
    with replayed([], monkeypatch, noise=0):
        noisy = exact_moment.measure_exactly(private, privcov.ZCDP(1.0), shape="isotropic")
    np.testing.assert_allclose(exact_reading.read_sum(noisy, "joint").matrix, expected, atol=4e-6)


def check_only_measures(method, facts, guarantee) -> None:
    """A method asks a private table for its one measurement and for nothing else."""
    from privcov.releases.private_request import PrivateRequest

    private = PrivateDataset.from_rows(np.zeros((2, facts.d)), row_bound=facts.row_bound)
    given = MethodInput(facts, guarantee, "joint", method.card.tunings[0], np.random.default_rng(0))
    try:
        request = PrivateRequest(method, given)
        request.finish(exact_moment.measure_exactly(private, **vars(request.measurement_request)))
    except NotOneMeasurementError as problem:
        raise AssertionError(f"{method.card.key} wants more than the measurement: {problem}") from None


def check_spent_first(ledger, monkeypatch) -> None:
    """While private rows are measured, the ledger already holds the cost, for anybody who looks."""
    ledger.set_limit("t", privcov.ZCDP(1.0))
    honest, seen = release_steps.measure_exactly, []

    def watched(*table, **asked):
        seen.append([(e.state, e.cost.amount) for e in privcov.Ledger(ledger.path).entries("t")])
        return honest(*table, **asked)

    table = PrivateDataset.from_rows(np.zeros((50, 2)), row_bound=1.0, name="t")
    with monkeypatch.context() as patch:
        patch.setattr(release_steps, "measure_exactly", watched)
        privcov.release_private(table, privcov.ZCDP(0.25), "gaussian-cov", ledger=ledger)
    assert seen == [[("committed", Fraction(1, 4))]], "the rows were measured before it was paid"


def audit(pair: tuple[PrivateDataset, PrivateDataset], share, draws: int = 1_500, epsilon: float = 2.0) -> None:
    """Black box: linear tests between two neighbours at d = 2 must not beat the claim, delta at epsilon.

    The test looks along the known difference, where Gaussian noise hides least, at three fixed cuts. Frequencies get
    exact (Clopper-Pearson) bounds with confidence 1 - 1e-9 each, so a right mechanism fails about never. Of 1,500 draws
    half the noise is seen at rho = 1, epsilon = 2: delta is then 0.63 and the claim 0.245.
    """
    from scipy.special import betaincinv

    ends = [noiseless_gram(p, 1).astype(float) for p in pair]
    direction = ends[0] - ends[1]
    scores = [
        np.array([((_total(p, share) - ends[1]) * direction).sum() for _ in range(draws)]) / (direction**2).sum()
        for p in pair
    ]
    for cut in (0.5, 0.75, 1.0):
        p, q = ((s > cut).sum() for s in scores)
        least = betaincinv(p, draws - p + 1, 1e-9) if p else 0.0
        most = betaincinv(q + 1, draws - q, 1 - 1e-9)
        beaten = least - np.exp(epsilon) * most > _delta(share.rho, epsilon)
        assert not beaten, "the audit tells the neighbours apart too well"


def _total(private: PrivateDataset, share) -> np.ndarray:
    return exact_moment.measure_exactly(private, share, shape="isotropic").total


def _delta(rho: float, epsilon: float) -> float:
    """Smallest delta of the tight conversion at epsilon, by bisection of the accountant's own epsilon."""
    low, high = 1e-12, 0.999
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if accounting.zcdp_to_approx(rho, middle) > epsilon else (low, middle)
    return high
