"""The compiled loops of a pass over files: the same bits as the plain numpy code, for every row there can be."""

import collections

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privcov.measurements import sketch
from privcov.measurements.integer_gram import UNIT, to_working, whole_rows
from privcov.measurements.sketch import Mixer, Sketching, sketch_of
from privcov.measurements.table_sums import Adding, Ask

pytest.importorskip("numba")

SECRETS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x2545F4914F6CDD1D)
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -1e-310, 1e308, -1.7e308, 1.0, -1.0, 0.5, 1e-20, 1e20]
CELLS = st.one_of(st.sampled_from(SPECIAL), st.floats(), st.floats(-3, 3))
BOUNDS = st.sampled_from([1e-100, 1e-91, 1e-90, 1e-30, 0.3, 1.0, 2.0, 1e30, 1e100])


def ask(d: int, row_bound: float = 1.0, bounds=None, **more) -> Ask:
    limits = None if bounds is None else np.array(bounds, dtype=float)
    origin = np.zeros(d) if bounds is None else limits.mean(axis=1) * 0.7
    scale = np.ones(d) if bounds is None else np.maximum(limits[:, 1] - origin, origin - limits[:, 0])
    told = {"columns": tuple(f"x{j}" for j in range(d)), "label": "", "classes": (), "row_bound": row_bound}
    told |= {"bounds": limits, "origin": origin, "scale": scale, "private": True, "drop": False}
    return Ask(**told | more)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6), BOUNDS, st.booleans())
@example([[1.0, 0.0, 0.0], [1.0, 5e-324, 0.0], [1e308, 1e308, 1e308]], 1.0, False)
def test_every_row_becomes_the_whole_numbers_of_the_proof(rows, bound, bounded):
    rows = np.array(rows)
    asked = ask(3, bound, [(-2.0, 3.0), (0.0, 1e-3), (-1e300, 1e300)] if bounded else None)
    expected = whole_rows(to_working(asked, rows), bound)
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


def literal(rows: np.ndarray, secrets=SECRETS):
    """The definition, with dictionaries: (whole, rows, columns)."""
    mix = Mixer(secrets)
    hashes = mix(rows)
    lines = mix.finish(hashes.sum(axis=1, dtype=np.uint64)).tolist()
    columns = [sorted(collections.Counter(column.tolist()).items())[:16] for column in hashes.T]
    return sum(lines) % 2**64, sorted(set(lines))[:256], columns


def content(made: sketch.Sketch):
    return made.whole, made.rows.tolist(), [list(zip(v.tolist(), c.tolist(), strict=True)) for v, c in made.columns]


def table(n: int, seed: int = 0) -> np.ndarray:
    """Columns of many, few and two values, with both zeros and missing cells."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.normal(size=n), rng.integers(0, 40, n), rng.integers(0, 2, n), np.zeros(n)], axis=1)
    rows[rng.random(n) < 0.1, 3] = -0.0
    rows[rng.random(n) < 0.05, 1] = np.nan
    rows[rng.random(n) < 0.01, 0] = np.inf
    return rows


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("n", [1, 15, 300, 5_000])
def test_a_sketch_is_what_its_definition_says(n, compiled):
    rows = table(n)
    made = Sketching(SECRETS, 4, compiled)
    for start in range(0, n, 700):
        made.take(np.ascontiguousarray(rows[start : start + 700].T))
    assert content(made.sketch()) == literal(rows) == content(sketch_of(rows, SECRETS))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 900), max_size=6), st.randoms(use_true_random=False))
def test_sketches_of_parts_are_the_sketch_of_the_whole_in_whatever_order(cuts, random):
    rows = table(900)
    parts = np.split(rows, sorted(cuts))
    random.shuffle(parts)
    made = [sketch_of(part, SECRETS) for part in parts]
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
