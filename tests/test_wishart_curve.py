"""The curve of additive Wishart noise: against its definition, literal simulations, limits and 40 digits.

Monte Carlo: delta = E_P (1 - e^(epsilon - loss))_+; its standard error is reported by the draws themselves, and a check
is 5 of them (a chance failure once in 1.7 million; seeds are fixed).
"""

import math

import numpy as np
import pytest

from privcov.core.wishart_curve import LARGEST_FREEDOM, add_delta, remove_delta, wishart_delta, wishart_freedom

GRID = [(e, k, r) for e in (0.0, 0.1, 0.5, 2.0, 8.0) for k in (2, 3, 7, 30, 200) for r in (0.05, 0.5, 2.0)]


def simulated(epsilon: float, loss: np.ndarray) -> tuple[float, float]:
    """(delta, its standard error) from losses drawn under P; inf where Q has no mass."""
    gain = np.maximum(-np.expm1(epsilon - loss), 0.0)
    return gain.mean(), gain.std() / math.sqrt(len(loss))


def log_density(w: np.ndarray, m: int) -> np.ndarray:
    """log of det(W)^((m-d-1)/2) e^(-tr W / 2), C = 1, -inf outside the cone; w is (draws, d, d)."""
    d = w.shape[-1]
    values = np.linalg.eigvalsh(w)
    inside = values[:, 0] > 0
    out = np.full(len(w), -np.inf)
    out[inside] = (m - d - 1) / 2 * np.log(values[inside]).sum(axis=1) - values[inside].sum(axis=1) / 2
    return out


def wishart_draws(rng, size: int, d: int, m: int) -> np.ndarray:
    g = rng.standard_normal((size, d, m))
    return g @ g.transpose(0, 2, 1)


# --- the paper's definition, one vector ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "freedom", "ratio"), [(0.5, 30, 0.5), (1.0, 10, 0.5), (0.2, 5, 1.5), (0.5, 3, 2.0)]
)
def test_the_scalar_curve_is_that_of_shifted_chi_square_noise(epsilon, freedom, ratio):
    """400,000 draws of t ~ chi^2_k and of the density ratio with a shift of 2 ratio (C = 1), both directions."""
    t = np.random.default_rng(1).chisquare(freedom, 400_000)
    shift, power = 2 * ratio, freedom / 2 - 1

    def log_f(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x > 0, power * np.log(x) - x / 2, -np.inf)

    for exact, loss in [(add_delta, log_f(t) - log_f(t - shift)), (remove_delta, log_f(t) - log_f(t + shift))]:
        found, error = simulated(epsilon, loss)
        assert abs(found - exact(epsilon, freedom, ratio)) < 5 * error + 1e-9


@pytest.mark.parametrize(("d", "m"), [(1, 6), (3, 8), (5, 12)])
def test_one_vector_on_a_matrix_costs_what_it_costs_the_scalar(d, m):
    """100,000 Wishart matrices and the ratio of their densities after adding (removing) a vector of length 1.3."""
    rng, epsilon = np.random.default_rng(d), 0.3
    w = wishart_draws(rng, 100_000, d, m)
    x = rng.standard_normal(d)
    x *= 1.3 / np.linalg.norm(x)
    ratio, one = 1.3**2 / 2, np.outer(x, x)
    here = log_density(w, m)
    for exact, other in [(add_delta, w - one), (remove_delta, w + one)]:
        found, error = simulated(epsilon, here - log_density(other, m))
        assert abs(found - exact(epsilon, m - d + 1, ratio)) < 5 * error


# --- replacing a row ----------------------------------------------------------------------------------------


def replace_loss(freedom: int, size: int, seed: int, ratio: float = 0.5) -> np.ndarray:
    """Losses of W + xx' against W + yy', x and y orthogonal, |x|^2 = |y|^2 = 2 ratio (C = 1), d = 2."""
    m = freedom + 1
    w = wishart_draws(np.random.default_rng(seed), size, 2, m)
    change = 2 * ratio * np.diag([1.0, -1.0])
    return log_density(w, m) - log_density(w + change, m)


@pytest.mark.parametrize(("epsilon", "delta", "zero_out", "replace"), [(0.5, 1e-3, 29, 50), (1.0, 1e-5, 33, 44)])
def test_the_fewest_degrees_of_freedom(epsilon, delta, zero_out, replace):
    """m - d for one vector, and for replacing a row with C = 1/n."""
    one = next(k for k in range(3, 99) if max(add_delta(epsilon, k, 0.5), remove_delta(epsilon, k, 0.5)) <= delta)
    assert one - 1 == zero_out
    assert wishart_freedom(epsilon, delta, 0.5) - 1 == replace


def test_what_is_enough_for_one_vector_is_not_enough_for_a_replaced_row():
    """400,000 matrices at (0.5, 1e-3) and m - d = 29: delta 1.3e-3, more than 5 standard errors above 1e-3."""
    found, error = simulated(0.5, replace_loss(30, 400_000, 2))
    assert found - 5 * error > 1e-3
    assert found + 5 * error < wishart_delta(0.5, 30, 0.5)


@pytest.mark.parametrize(("epsilon", "freedom", "ratio"), [(0.5, 51, 0.5), (0.2, 5, 0.5), (1.0, 3, 0.5), (0.3, 8, 2.0)])
def test_the_exact_loss_of_a_replaced_row_stays_below_the_bound(epsilon, freedom, ratio):
    """200,000 matrices at orthogonal x and y; the bound is not vacuous (below 6 times what was found)."""
    found, error = simulated(epsilon, replace_loss(freedom, 200_000, 3, ratio))
    bound = wishart_delta(epsilon, freedom, ratio)
    assert found - 5 * error <= bound < max(6 * found, 1e-3)


def test_each_order_of_the_two_steps_is_a_bound_so_the_smaller_counts():
    """The derivation took the larger of the two orders. Both hold for the same pair, so the smaller will do."""
    for epsilon, freedom, ratio in [(0.5, 30, 0.5), (1.0, 12, 1.0)]:
        found, error = simulated(epsilon, replace_loss(freedom, 200_000, 4, ratio))
        for first, second in [(remove_delta, add_delta), (add_delta, remove_delta)]:
            orders = [
                first(e, freedom, ratio) + math.exp(e) * second(epsilon - e, freedom, ratio) for e in (0, 0.2, 0.4)
            ]
            assert found - 5 * error <= min(orders)
            assert wishart_delta(epsilon, freedom, ratio) <= min(orders) * (1 + 1e-6)


# --- limits and identities ----------------------------------------------------------------------------------


def test_m_equal_to_d_plus_1_has_a_flat_curve():
    for ratio in (1e-9, 0.1, 1 / 3, 5.0):
        for epsilon in (0.0, 0.5, 10.0, 500.0):
            assert wishart_delta(epsilon, 2, ratio) == -math.expm1(-ratio)


def test_the_flat_curve_by_simulation():
    """100,000 matrices with m = d + 1: the share that rules the neighbour out, P(W - xx' has a negative eigenvalue)."""
    w = wishart_draws(np.random.default_rng(5), 100_000, 3, 4)
    out = np.linalg.eigvalsh(w - np.diag([1.0, 0, 0]))[:, 0] < 0
    want = wishart_delta(3.0, 2, 0.5)
    assert abs(out.mean() - want) < 5 * math.sqrt(want * (1 - want) / len(w))


def test_the_curve_falls_with_epsilon_and_freedom_and_rises_with_the_ratio():
    for e, k, r in GRID:
        here = wishart_delta(e, k, r)
        assert 0 < here <= 1
        assert wishart_delta(e + 0.3, k, r) <= here * (1 + 1e-8)
        assert wishart_delta(e, k + 3, r) <= here * (1 + 1e-8)
        assert wishart_delta(e, k, 1.2 * r) >= here * (1 - 1e-8)


def test_one_vector_less_costs_nothing_beyond_the_ratio():
    assert remove_delta(0.6, 10, 0.5) == 0
    assert remove_delta(0.4, 10, 0.5) > 0
    np.testing.assert_array_equal(remove_delta(np.array([0.5, 7.0]), 10, 0.5), 0)


def test_much_freedom_looks_gaussian():
    """C chi^2_k has deviation 2C sqrt(k/2), so for many k the one-vector curve nears that of mu = ratio/sqrt(k/2)."""
    from privcov.core.accounting import delta_of_gaussian

    for k, epsilon in [(20_000, 0.02), (200_000, 0.005)]:
        want = delta_of_gaussian(epsilon, 1 / math.sqrt(k / 2))
        # The two differ by the skewness of chi^2, in opposite directions.
        both = add_delta(epsilon, k, 1.0) + remove_delta(epsilon, k, 1.0)
        assert both / 2 == pytest.approx(want, rel=0.01)


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-12])
def test_the_freedom_is_the_smallest(delta):
    for epsilon in (0.1, 0.5, 3.0, 100.0):
        for ratio in (0.1, 0.5, 2.0):
            k = wishart_freedom(epsilon, delta, ratio)
            assert wishart_delta(epsilon, k, ratio) <= delta
            assert k == 3 or wishart_delta(epsilon, k - 1, ratio) > delta


def test_what_cannot_be_given_is_a_sentence():
    with pytest.raises(ValueError, match=r"No Wishart noise with up to 262,144 degrees of freedom gives"):
        wishart_freedom(1e-4, 1e-9, 0.5)
    with pytest.raises(ValueError, match="freedom must"):
        wishart_delta(1.0, 1.5, 0.5)
    assert wishart_delta(0.01, 1e8, 0.5) == wishart_delta(0.01, LARGEST_FREEDOM, 0.5)


def test_it_is_never_below_forty_digits():
    """1 - F and F of the incomplete gamma function lose digits in tails and at many degrees of freedom."""
    mp = pytest.importorskip("mpmath")
    mp.mp.dps = 40
    rng = np.random.default_rng(6)
    for _ in range(60):
        e, k, r = 10 ** rng.uniform(-2, 1), int(10 ** rng.uniform(0.5, 3.5)), 10 ** rng.uniform(-1.5, 0.5)
        a, epsilon, ratio = mp.mpf(k) / 2, mp.mpf(e), mp.mpf(r)
        t = ratio / -mp.expm1(-(epsilon + ratio) / (a - 1))
        exact = mp.gammainc(a, 0, t, regularized=True)
        exact -= mp.exp(epsilon) * mp.gammainc(a, 0, max(t - ratio, 0), regularized=True)
        assert mp.mpf(float(add_delta(e, k, r))) >= exact
        assert mp.mpf(float(add_delta(e, k, r))) <= exact * (1 + mp.mpf(10) ** -6) + mp.mpf(10) ** -250
        if e < 0.9 * r:
            t = ratio / -mp.expm1(-(ratio - epsilon) / (a - 1))
            exact = mp.gammainc(a, t - ratio, mp.inf, regularized=True)
            exact -= mp.exp(epsilon) * mp.gammainc(a, t, mp.inf, regularized=True)
            assert mp.mpf(float(remove_delta(e, k, r))) >= exact
