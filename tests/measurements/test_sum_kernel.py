"""The compiled loops of a pass over files: the same bits as the plain numpy code, for every row there can be."""

import functools
import hashlib
import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privcov.measurements.exact.file_pass.marks import marks_of, together
from privcov.measurements.exact.file_pass.table_sums import SumAccumulator, SumSpec
from privcov.measurements.exact.integer_gram import UNIT, integer_rows, to_working
from privcov.tables.units import Units

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
    return SumSpec(**spec | {"drop": False} | more)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6), BOUNDS, st.booleans())
@example([[1.0, 0.0, 0.0], [1.0, 5e-324, 0.0], [1e308, 1e308, 1e308]], 1.0, False)
def test_every_row_becomes_the_whole_numbers_of_the_proof(rows, bound, bounded):
    rows = np.array(rows)
    asked = ask(3, bound, [(-2.0, 3.0), (0.0, 1e-3), (-1e300, 1e300)] if bounded else None)
    expected = integer_rows(to_working(asked.units, rows), bound)
    adding = SumAccumulator(asked)
    whole, hole = adding._whole(np.ascontiguousarray(rows.T))
    assert whole.T.tolist() == expected.tolist()
    assert hole.tolist() == (~np.isfinite(rows)).any(axis=1).tolist()


def test_the_length_is_judged_exactly_in_floating_point():
    """Rows of exactly 2^40 pass untouched, and one step more is seen."""
    full = np.array([[2**19] * 4, [2**20, 0, 0, 0]], dtype=float)
    rows = np.vstack([full, full + [[0, 0, 0, 1]] * 2]) / UNIT
    adding = SumAccumulator(ask(4))
    whole, _ = adding._whole(np.ascontiguousarray(rows.T))
    assert whole.T[:2].tolist() == full[:2].tolist()
    assert ((whole**2).sum(axis=0) <= UNIT**2).all()


@pytest.mark.parametrize("bounded", [True, False])
def test_without_numba_the_numbers_are_the_same(bounded):
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(4, 3_000)) * rng.choice([0.1, 1.0, 1e200], size=3_000)
    cells[rng.integers(0, 4, 50), rng.integers(0, 3_000, 50)] = rng.choice([np.nan, np.inf], 50)
    asked = ask(4, 1.7, [(-2.0, 2.0)] * 4 if bounded else None)
    fast, slow = SumAccumulator(asked), SumAccumulator(asked, compiled=False)
    assert (fast.kernel is None, slow.kernel is None) == (False, True)
    one, two = fast._whole(cells), slow._whole(cells)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1].astype(bool), two[1])


def literal(rows: np.ndarray, columns: tuple[str, ...]) -> tuple[int, ...]:
    """The definition, in whole numbers of any size, of a table without persons and classes."""
    first, odd, other, last = SECRETS

    def stir(x: int) -> int:
        x = x * odd % 2**64
        x = (x ^ x >> 32) * other % 2**64
        x = (x ^ x >> 29) * odd % 2**64
        return x ^ x >> 32

    names = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") | 1 for name in columns]
    total = 0
    for row in rows.tolist():
        line = 0
        for x, name in zip(row, names, strict=True):
            (bits,) = struct.unpack("<Q", struct.pack("<d", math.nan if math.isnan(x) else x + 0.0))
            line += stir(bits ^ first) * name
        total += stir(line % 2**64 ^ last)
    return (total % 2**64,) * 3


def table(n: int, seed: int = 0) -> np.ndarray:
    """Columns of many, few and two values, with both zeros and missing cells."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.normal(size=n), rng.integers(0, 40, n), rng.integers(0, 2, n), np.zeros(n)], axis=1)
    rows[rng.random(n) < 0.1, 3] = -0.0
    rows[rng.random(n) < 0.05, 1] = np.nan
    rows[rng.random(n) < 0.01, 0] = np.inf
    return rows


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=6), st.randoms(use_true_random=False))
def test_the_marks_of_parts_are_those_of_the_whole_as_defined_in_whatever_order(cuts, random):
    rows, columns = table(300), ("a", "b", "c", "e")
    parts = [part for part in np.split(rows, sorted(cuts)) if len(part)]
    random.shuffle(parts)
    made = functools.reduce(together, (marks_of(part, columns, SECRETS) for part in parts))
    assert made == literal(rows, columns)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("beyond", [2.0**-39, 1e-9, 1e-6, 1e-4, 1e-3, 0.1])
def test_a_private_row_a_little_longer_than_the_bound_is_brought_inside(beyond, compiled):
    """The sensitivity rests on this: no row adds more than UNIT squared, however little too long it came."""
    rng = np.random.default_rng(5)
    for d in (1, 2, 7, 50):
        rows = rng.normal(size=(200, d))
        rows *= (1 + beyond) / np.sqrt((rows**2).sum(axis=1, keepdims=True))
        asked = ask(d)
        whole, _ = SumAccumulator(asked, compiled)._whole(np.ascontiguousarray(rows.T))
        assert (whole**2).sum(axis=0).max() <= UNIT**2
        assert np.array_equal(whole.T, integer_rows(rows, 1.0))
