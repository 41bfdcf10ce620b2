"""The compiled loops of a pass over files: the same bits as the plain numpy code, for every row there can be."""

import collections
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privcov.measurements.integer_gram import UNIT, to_working, whole_rows
from privcov.measurements.tables import sketch
from privcov.measurements.tables.sketch import Mixer, near_of, rounded
from privcov.measurements.tables.sketching import Sketching, sketch_of
from privcov.measurements.tables.table_sums import Adding, SumSpec
from privcov.units import Units

pytest.importorskip("numba")

SECRETS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x2545F4914F6CDD1D)
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -1e-310, 1e308, -1.7e308, 1.0, -1.0, 0.5, 1e-20, 1e20]
CELLS = st.one_of(st.sampled_from(SPECIAL), st.floats(), st.floats(-3, 3))
BOUNDS = st.sampled_from([1e-100, 1e-91, 1e-90, 1e-30, 0.3, 1.0, 2.0, 1e30, 1e100])


def ask(d: int, row_bound: float = 1.0, bounds=None, **more) -> SumSpec:
    units = Units.unbounded(d, row_bound)
    if bounds is not None:
        limits = np.array(bounds, dtype=float)
        units = Units.within(limits, limits.mean(axis=1) * 0.7, row_bound)
    spec = {"columns": tuple(f"x{j}" for j in range(d)), "label": "", "classes": (), "units": units}
    return SumSpec(**spec | {"private": True, "drop": False} | more)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6), BOUNDS, st.booleans())
@example([[1.0, 0.0, 0.0], [1.0, 5e-324, 0.0], [1e308, 1e308, 1e308]], 1.0, False)
def test_every_row_becomes_the_whole_numbers_of_the_proof(rows, bound, bounded):
    rows = np.array(rows)
    asked = ask(3, bound, [(-2.0, 3.0), (0.0, 1e-3), (-1e300, 1e300)] if bounded else None)
    expected = whole_rows(to_working(asked.units, rows), bound)
    adding = Adding(asked)
    whole, hole = adding._whole(np.ascontiguousarray(rows.T))
    assert whole.T.tolist() == expected.tolist()
    assert hole.tolist() == (~np.isfinite(rows)).any(axis=1).tolist()
    assert adding.holes.tolist() == (~np.isfinite(rows)).sum(axis=0).tolist()


def test_the_length_is_judged_exactly_in_floating_point():
    """Rows of exactly 2^40 pass untouched, and one step more is seen."""
    full = np.array([[2**19] * 4, [2**20, 0, 0, 0]], dtype=float)
    rows = np.vstack([full, full + [[0, 0, 0, 1]] * 2]) / UNIT
    adding = Adding(ask(4))
    whole, _ = adding._whole(np.ascontiguousarray(rows.T))
    assert adding.long == 2
    assert whole.T[:2].tolist() == full[:2].tolist()
    assert ((whole**2).sum(axis=0) <= UNIT**2).all()


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("bounded", [True, False])
def test_without_numba_the_numbers_are_the_same(private, bounded):
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(4, 3_000)) * rng.choice([0.1, 1.0, 1e200], size=3_000)
    cells[rng.integers(0, 4, 50), rng.integers(0, 3_000, 50)] = rng.choice([np.nan, np.inf], 50)
    asked = ask(4, 1.7, [(-2.0, 2.0)] * 4 if bounded else None, private=private)
    fast, slow = Adding(asked), Adding(asked, compiled=False)
    assert (fast.kernel is None, slow.kernel is None) == (False, True)
    one, two = fast._whole(cells), slow._whole(cells)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1].astype(bool), two[1])
    assert (fast.long, fast.holes.tolist()) == (slow.long, slow.holes.tolist())
    assert bounded or fast.long > 900  # every third row is beyond floating point, and counted


NEAR = near_of(SimpleNamespace(columns=("a", "b", "c", "e"), bounds=None, row_bound=2.0))


def coarse(x: float, tiny: float) -> float:
    """The cell on the coarse grid, by exact fractions."""
    if not np.isfinite(x):
        return x
    if abs(x) <= tiny:
        return 0.0
    step = Fraction(2) ** (math.frexp(x)[1] - 16)
    return math.copysign(float(math.floor(abs(Fraction(x)) / step + Fraction(2**37 // 3, 2**37)) * step), x)


def literal(rows: np.ndarray, secrets=SECRETS, near=NEAR):
    """The definition, with dictionaries: what is kept of the cells, and of the rounded cells."""
    mix, few = Mixer(secrets), {}

    def kept(cells, pairs, labels):
        hashes = mix(cells)
        lines = mix.finish((hashes * labels).sum(axis=1, dtype=np.uint64)).tolist()
        columns = [sorted(collections.Counter(column.tolist()).items())[:16] for column in hashes.T]
        for i, j in pairs:
            if max(len(columns[i]), len(columns[j])) < 16:
                both = (hashes[:, i] * np.uint64(secrets[1]) + hashes[:, j]) >> np.uint64(2)
                few[i, j] = sorted(collections.Counter(mix(both.view(np.float64)).tolist()).items())[:16]
        return sum(lines) % 2**64, sorted(collections.Counter(lines).items())[:256], columns

    near_rows = np.array([[coarse(x, t) for x, t in zip(row, near.tiny, strict=True)] for row in rows.tolist()])
    return kept(rows, [], np.uint64(1)), kept(near_rows.reshape(rows.shape), near.pairs, near.labels), few


def content(made: sketch.Sketch):
    def listed(counted):
        return list(zip(*(part.tolist() for part in counted), strict=True))

    def kept(half):
        return half.whole, listed((half.rows, half.repeats)), [listed(column) for column in half.columns]

    assert made.pairs == {}
    return kept(made), kept(made.rounded), {at: listed(pair) for at, pair in made.rounded.pairs.items()}


def table(n: int, seed: int = 0) -> np.ndarray:
    """Columns of many, few and two values, with both zeros and missing cells."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.normal(size=n), rng.integers(0, 40, n), rng.integers(0, 2, n), np.zeros(n)], axis=1)
    rows[rng.random(n) < 0.1, 3] = -0.0
    rows[rng.random(n) < 0.05, 1] = np.nan
    rows[rng.random(n) < 0.01, 0] = np.inf
    return rows


@given(st.one_of(st.sampled_from(SPECIAL), st.floats(-1e300, 1e300), st.floats(-3, 3)))
@example(-0.0)
@example(1.0 - 2**-53)
@example(131073.0)
def test_a_rounded_cell_is_what_its_definition_says(x):
    if abs(x) < 1e308 or not math.isfinite(x):
        np.testing.assert_array_equal(rounded(np.array([[x]]), np.array([2.0**-20])), [[coarse(x, 2.0**-20)]])


def test_no_tiny_change_moves_a_whole_number_or_a_short_fraction_to_another_cell():
    """Also not where 16 bits are too few for it, so that it lies between two points of the grid."""
    numbers = np.array([[1.0, 2.0, 5.0, 0.25, 90.0, 65_535.0, 65_537.0, 131_071.0, 999_999.0, -3.0, 0.0, 2.0**-9]])
    tiny = np.array([100 * 2.0**-20])
    assert len(np.unique(rounded(numbers, tiny))) == numbers.size
    for change in (1e-9, -1e-9, 1e-7 * numbers, -1e-7 * numbers):
        np.testing.assert_array_equal(rounded(numbers + change, tiny), rounded(numbers, tiny))


def test_what_a_sketch_needs_of_the_columns_is_public_and_goes_by_their_names():
    names = tuple(f"x{j}" for j in range(12))
    near = near_of(SimpleNamespace(columns=names, bounds=np.array([(-4.0, 2.0)] * 6 + [(0.0, 8.0)] * 6), row_bound=9.0))
    assert near.tiny.tolist() == [4.0 * 2**-20] * 6 + [8.0 * 2**-20] * 6
    assert near_of(SimpleNamespace(columns=names, bounds=None, row_bound=9.0)).tiny.tolist() == [9.0 * 2**-20] * 12
    assert len(near.pairs) == 28
    assert len(set(near.labels.tolist())) == 12
    assert (near.labels % 2 == 1).all()
    pairs = {(names[i], names[j]) for i, j in near.pairs}
    turned = names[::-1]
    again = near_of(SimpleNamespace(columns=turned, bounds=None, row_bound=1.0)).pairs
    assert {(turned[i], turned[j]) for i, j in again} == pairs, "whatever the order of the columns"
    fewer = names[1:]
    left = near_of(SimpleNamespace(columns=fewer, bounds=None, row_bound=1.0)).pairs
    assert len(pairs & {(fewer[i], fewer[j]) for i, j in left}) >= 21, "a column less leaves most of them"


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("n", [1, 15, 300, 5_000])
def test_a_sketch_is_what_its_definition_says(n, compiled):
    rows = table(n)
    made = Sketching(SECRETS, NEAR, compiled)
    for start in range(0, n, 700):
        made.take(np.ascontiguousarray(rows[start : start + 700].T))
    assert content(made.sketch()) == literal(rows) == content(sketch_of(rows, SECRETS, NEAR))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 900), max_size=6), st.randoms(use_true_random=False))
def test_sketches_of_parts_are_the_sketch_of_the_whole_in_whatever_order(cuts, random):
    rows = table(900)
    parts = np.split(rows, sorted(cuts))
    random.shuffle(parts)
    made = [sketch_of(part, SECRETS, NEAR) for part in parts]
    while len(made) > 1:  # any tree of merges
        one = made.pop(random.randrange(len(made)))
        at = random.randrange(len(made))
        made[at] = made[at].plus(one)
    assert content(made[0]) == literal(rows)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("beyond", [2.0**-39, 1e-9, 1e-6, 1e-4, 1e-3, 0.1])
def test_a_private_row_a_little_longer_than_the_bound_is_brought_inside(beyond, compiled):
    """The sensitivity rests on this: no row adds more than UNIT squared, however little too long it came."""
    rng = np.random.default_rng(5)
    for d in (1, 2, 7, 50):
        rows = rng.normal(size=(200, d))
        rows *= (1 + beyond) / np.sqrt((rows**2).sum(axis=1, keepdims=True))
        asked = ask(d)
        whole, _ = Adding(asked, compiled)._whole(np.ascontiguousarray(rows.T))
        assert (whole**2).sum(axis=0).max() <= UNIT**2
        assert np.array_equal(whole.T, whole_rows(rows, 1.0))
