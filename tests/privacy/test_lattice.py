"""Private noise is even down to its last bit at every scale that it is drawn at; what is not is caught.

The noise comes from the operating system, so a right sampler can be accused by chance. One call of `examine` does so
with probability below 3e-12, and below 1e-10 more where it looks for repeated values, less where they are few or the
scale is larger; there are fewer than 60 calls on right samplers, 5 of them near that bound: below 1e-9 in all.

Lattices are necessary, not sufficient. The replay of the exact samplers against rationals, and the mutant without the
check for ambiguity, are in tests/measurements/test_exact_wishart.py.
"""

import math

import numpy as np
import pytest

import privcov
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.integer_gram import UNIT
from privcov.tables.private_dataset import PrivateDataset
from tests.privacy import lattice
from tests.privacy.lattice import floating_wishart

SAMPLERS = lattice.private_samplers()
OF_SHAPE = {
    "isotropic": "add_discrete_gaussian",
    "free-groups": "add_discrete_gaussian",
    "laplace": "add_discrete_laplace",
    "wishart-difference": "add_wishart_difference",
    "coupled-wishart": "add_coupled_wishart",
}
COUPLED = exact_moment.LARGEST_COUPLED
# (rows of the matrix, draws): 90 to 20,301 numbers each.
SIZES = {
    "add_discrete_gaussian": [(100, 1), (2, 30)],
    "add_discrete_laplace": [(100, 1), (2, 30)],
    "add_wishart_difference": [(51, 1), (1, 90)],
    "add_coupled_wishart": [(COUPLED, 2), (2, 30)],
}
SCALES = [2.0**50, 2.0**58, 2.0**71.5, 2.0**200]


def asked(shape: str, d: int, rows_per_person: int, epsilon: float):
    """(public facts, share) of a private release."""
    facts = PrivateDataset.from_rows(np.zeros((2, d)), row_bound=1.0, rows_per_person=rows_per_person).facts
    return facts, privcov.ZCDP(epsilon**2 / 2) if shape in exact_moment.GAUSSIAN else privcov.PureDP(epsilon)


def scale_of(shape: str, d: int, rows_per_person: int, epsilon: float) -> tuple[str, int, float]:
    """(shape that is drawn, rows of its matrix, scale) of a private release, from public facts alone."""
    facts, share = asked(shape, d, rows_per_person, epsilon)
    event = exact_moment.planned_event(facts, share, shape=shape)
    return exact_moment.settle_shape(facts, shape, 1), d + 1, event.scale


def check_even(name: str, p: int, scale: float, draws: int) -> lattice.Evenness:
    found = lattice.examine(lattice.draw(SAMPLERS[name], p, scale, draws), scale)
    assert not found.faults, f"{name}, p = {p}, scale {scale:g}: {'; '.join(found.faults)}"
    return found


def test_every_sampler_is_listed():
    """A noise that is not in the list would not be looked at."""
    assert set(SAMPLERS) == {name for name in vars(exact_noise) if name.startswith("add_")}
    assert set(OF_SHAPE) == set(exact_moment._NORMS)
    assert set(OF_SHAPE.values()) == set(SAMPLERS) == set(SIZES)


@pytest.mark.parametrize("scale", SCALES, ids=lambda s: f"2^{math.log2(s):g}")
@pytest.mark.parametrize(("name", "p", "draws"), [(n, p, k) for n, sizes in SIZES.items() for p, k in sizes])
def test_even_at_every_scale_or_refused_aloud(name, p, draws, scale):
    if "discrete" in name and scale > exact_noise.LARGEST_SCALE:
        with pytest.raises(ValueError, match="scale must be at most 2\\^54 steps"):
            SAMPLERS[name](p, scale)
        return
    found = check_even(name, p, scale, draws)
    # The Wishart laws are drawn at every scale, and these sizes are large enough to see a coarse lattice at each.
    assert found.numbers >= 90
    assert scale < 2.0**58 or found.scale >= found.numbers**2 * 2.0**31, "repeated values were not looked for"


@pytest.mark.parametrize(
    ("shape", "d", "rows_per_person", "epsilon", "draws"),
    [
        ("wishart-difference", 200, 1, 0.01, 1),
        ("wishart-difference", 200, 100_000, 1e-4, 1),
        ("wishart-difference", 20, 1_000, 1.0, 4),
        ("wishart-difference", 9, 100_000, 1e-4, 2),
        ("isotropic", 200, 1, 0.01, 1),
        ("isotropic", 20, 1_000, 1.0, 4),
        ("laplace", 200, 1, 0.1, 1),
        ("laplace", 20, 100, 1.0, 4),
    ],
)
def test_even_at_the_scales_of_releases(shape, d, rows_per_person, epsilon, draws):
    drawn, p, scale = scale_of(shape, d, rows_per_person, epsilon)
    check_even(OF_SHAPE[drawn], p, scale, draws)


@pytest.mark.parametrize(("d", "rows_per_person", "epsilon"), [(200, 1, 0.01), (40, 100, 0.1), (3, 1, 1e-3)])
def test_even_at_the_scales_of_the_diagonal(d, rows_per_person, epsilon):
    """The variances of bounded tables have the smallest noise that is drawn, sqrt(1 + 2 d) below the rest."""
    within = PrivateDataset.from_rows(np.zeros((2, d)), bounds=[(0, 1)] * d, rows_per_person=rows_per_person).facts
    event = exact_moment.planned_event(within, privcov.ZCDP(epsilon**2 / 2), shape="isotropic")
    _, kappas = exact_moment.weights(within, exact_moment.ANCHOR)
    smallest = exact_moment.scale_over(event.scale, 1 + kappas[0])
    assert smallest == pytest.approx(event.scale / math.sqrt(1 + 2 * d), rel=1e-5 * d)
    check_even("add_discrete_gaussian", 60, smallest, 2)


@pytest.mark.parametrize("shape", ["isotropic", "laplace"])
def test_discrete_noise_beyond_its_largest_scale_is_refused_from_public_facts(shape):
    with pytest.raises(ValueError, match="2\\^54"):
        scale_of(shape, 200, 100_000, 1e-4)


@pytest.mark.deep
@pytest.mark.parametrize("epsilon", [1.0, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("rows_per_person", [1, 1_000, 100_000])
@pytest.mark.parametrize("d", [1, 2, 9, 10, 20, 50, 200])
@pytest.mark.parametrize("shape", ["isotropic", "laplace", "wishart-difference"])
def test_even_over_the_whole_range(shape, d, rows_per_person, epsilon):
    facts, share = asked(shape, d, rows_per_person, epsilon)
    drawn = exact_moment.settle_shape(facts, shape, 1)
    whole = exact_moment._scale(facts, drawn, 1, share, exact_moment.ANCHOR)[1]
    if "discrete" in OF_SHAPE[drawn] and whole > exact_noise.LARGEST_SCALE:
        with pytest.raises(ValueError, match="2\\^54"):
            scale_of(shape, d, rows_per_person, epsilon)
        return
    drawn, p, scale = scale_of(shape, d, rows_per_person, epsilon)
    numbers = p * (p + 1) // 2
    check_even(OF_SHAPE[drawn], p, scale, max(1, -(-2_000 // numbers)))


# --- a floating-point sampler --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "scale", "draws"),
    [
        (201, 3 * UNIT**2 / 0.1, 200),  # expected statistic 130: missed with probability below 1e-10
        (201, 3 * UNIT**2 / 0.01, 40),  # 3,500
        (21, 2.0**50, 20),  # 300 and more
        (21, 3 * UNIT**2 * 1_000, 20),
        (201, 2.0**71.5, 1),  # the clipped ones
    ],
    ids=["p=201 epsilon=.1", "p=201 epsilon=.01", "p=21 2^50", "p=21 1,000 rows", "p=201 2^71.5"],
)
def test_the_floating_point_sampler_is_caught(p, scale, draws):
    drawn = lattice.draw(floating_wishart, p, scale, draws)
    assert lattice.examine(drawn, scale, diagonal_only=draws > 20).faults


# --- other faults, and the test itself ----------------------------------------------------------------------


_FAIR = np.random.default_rng(11)


def even(p: int, scale: float, rng: np.random.Generator = _FAIR) -> np.ndarray:
    """Stand-in for a right sampler, seeded: rounded Laplace noise of 40 significant bits with even bits below them."""
    coarse = np.rint(rng.laplace(size=(p, p)) * 2**40).astype(np.int64).astype(object)
    fine = rng.integers(2**60, size=(p, p)).astype(object) + (rng.integers(2**60, size=(p, p)).astype(object) << 60)
    shift = round(math.log2(scale)) - 40
    noise = (coarse << shift) + (fine >> (120 - shift) if shift < 120 else fine << (shift - 120))
    return np.triu(noise) + np.triu(noise, 1).T


def biased(p: int, scale: float) -> np.ndarray:
    """One number in ten has its last three bits cut off."""
    noise = even(p, scale)
    pick = np.triu(np.random.default_rng(5).random((p, p)) < 0.1)
    return np.where(pick | pick.T, noise >> 3 << 3, noise)


def rounded_to_doubles(p: int, scale: float) -> np.ndarray:
    return np.array([[int(float(v)) for v in line] for line in even(p, scale)], dtype=object)


def of_low_rank(p: int, scale: float) -> np.ndarray:
    """Every entry is even by itself; together they are a product of few factors."""
    x = np.random.default_rng(6).integers(2**20, size=(p, 30)).astype(object)
    return (x @ x.T) % 2 + 2 * (even(p, scale) >> 1)


def used_twice(p: int, scale: float) -> np.ndarray:
    noise = even(p, scale)
    noise[0, 1] = noise[1, 0] = noise[p - 1, p - 1]
    return noise


@pytest.mark.parametrize("scale", [2.0**58, 2.0**100])
@pytest.mark.parametrize(
    ("mutant", "told"),
    [
        (lambda p, s: 2 * even(p, s / 2), "modulo 2,"),
        (biased, "modulo 2^"),
        (rounded_to_doubles, "modulo 2^"),
        (of_low_rank, "corank"),
        (used_twice, "more than once"),
        (lambda p, s: np.clip(even(p, s), -int(s), int(s)), "more than once"),
    ],
)
def test_each_fault_is_caught(mutant, told, scale):
    found = lattice.examine([mutant(100, scale)], scale)
    assert any(told in fault for fault in found.faults), found.faults


@pytest.mark.parametrize("scale", [2.0**50, 2.0**71.5, 2.0**200])
def test_residues_are_exact(scale):
    """Against rational arithmetic, for numbers of either sign and every rung."""
    from fractions import Fraction

    numbers = even(20, scale).ravel()[:60]
    words = lattice._words(numbers)
    for shift in (1, 2, 51, 52, 53, 63, 64, 65, 117, 128, 199):
        expected = [float(Fraction(int(v) % 2**shift, 2**shift)) for v in numbers]
        np.testing.assert_allclose(lattice._fraction(words, shift), expected, rtol=0, atol=2**-51)
