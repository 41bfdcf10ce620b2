"""What the cards say of noise, computed: which shape has less of it, and where."""

import math

import numpy as np
import pytest

import privcov
from privcov import ApproxDP, Dataset, PureDP, ZCDP
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS

PAIR = ApproxDP(1.0, 1e-6)


def noise(method: str, guarantee, d: int, **options) -> float:
    """Root mean squared Frobenius norm of the noise, from the distribution that a release states."""
    rows = np.full((500, d), 0.1 / math.sqrt(d))
    law = privcov.release(
        Dataset.from_rows(rows, row_bound=1.0), guarantee, method, random_state=1, **options
    ).raw.distribution
    return math.sqrt(d * law.diagonal_std**2 + d * (d - 1) * law.off_diagonal_std**2)


def test_auto_is_the_least_noisy_only_for_many_columns():
    """At (1, 1e-6) the pure difference of two Wishart matrices has less noise at d = 2, and more from 8 columns on."""
    assert noise("wishart-difference", PureDP(1.0), 2) < noise("auto-cov", PAIR, 2)
    for d in (8, 10, 20, 40):
        least = noise("auto-cov", PAIR, d)
        assert least < noise("wishart-difference", PureDP(1.0), d)
        assert least < noise("wishart-approx", PAIR, d)
        for shape in ("upper-triangle", "isotropic"):
            assert least < noise("gaussian-cov", PAIR, d, shape=shape)
        assert noise("auto-cov", PureDP(1.0), d) < noise("laplace-cov", PureDP(1.0), d)
    said = METHODS.get("auto-cov").summary + METHODS.get("auto-precision").summary
    assert said.count("for many columns") == 2
    assert "the guarantee allows" not in said


@pytest.mark.parametrize("d", [2, 5, 10, 30])
def test_when_not_to_take_the_wishart_difference(d):
    rho = ZCDP(0.5)
    assert noise("auto-cov", rho, d) < noise("wishart-difference", rho, d)
    # With the anchor of the other; a smaller one wins from five columns on.
    usual = noise("gaussian-cov", PAIR, d, shape="free-trace")
    assert (usual < noise("wishart-difference", PureDP(1.0), d)) == (d >= 10)
    assert (noise("auto-cov", PAIR, d) < noise("wishart-difference", PureDP(1.0), d)) == (d >= 5)
    assert "Under zCDP, or approximate DP with more than ten columns" in METHODS.get("wishart-difference").avoid


def test_the_shapes_that_are_said_to_have_less_noise_have_it_from_three_columns_on():
    (spec,) = [s for s in METHODS.get("gaussian-cov").parameters if s.name == "shape"]
    assert "from three columns on" in spec.help
    for d in (3, 4, 10, 40):
        printed = noise("gaussian-cov", PAIR, d, shape="upper-triangle")
        assert max(noise("gaussian-cov", PAIR, d, shape=s) for s in ("isotropic", "free-trace")) < printed
    assert noise("gaussian-cov", PAIR, 2, shape="isotropic") > noise("gaussian-cov", PAIR, 2, shape="upper-triangle")


def test_wines_are_called_what_they_are():
    assert "three cultivars" in SOURCES.get("wine").summary
