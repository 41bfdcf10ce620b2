"""Flags of missing cells: the bounds by exhaustive search, one sum for every way in, and what the sums mean."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from privcov.core.guarantees import PureDP, ZCDP
from privcov.measurements.exact import integer_gram
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.file_pass.table_sums import SumAccumulator, SumSpec
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT, flagged_rows, max_entry, noiseless_gram
from privcov.measurements.exact.private_moment import NoisySum, measure_exactly, norm_bound, settle_shape, weights
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.noise_theory import free_groups
from privcov.measurements.triangle_l1 import flagged_l1
from privcov.postprocess.available_cases import available_cases
from privcov.tables import readers
from privcov.tables.declared_columns import working_units
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import PublicFacts, make_facts

SMALL = 8
FAR = 1e300


def facts_of(d: int, bounded: bool, classes: int = 0, n: int | None = 1) -> PublicFacts:
    """Public facts with flags; without bounds R is one, so that rows are shortened."""
    names = tuple(f"x{j}" for j in range(d))
    units = working_units(names, None if bounded else 1.0, [(-1, 1)] * d if bounded else None, None)
    return make_facts(names, units, tuple(map(str, range(classes))), n, n is not None, 1, "pairs")


def every_row(facts: PublicFacts, cells: tuple[float, ...]) -> np.ndarray:
    """Every row of these cells through the function of the release, each different one once, and the row of zeros."""
    raw = np.array(list(itertools.product(cells, repeat=facts.d)))
    working = integer_gram.to_working(facts.units, raw)
    k = flagged_rows(working, facts.row_bound, ~np.isfinite(raw[:, facts.flagged]), max_entry(facts.units))
    return np.unique(np.concatenate([k, np.zeros((1, facts.width), dtype=np.int64)]), axis=0)


def changes(rows: np.ndarray, n_anchors: int, anchor: int, replace: bool) -> np.ndarray:
    """zz' - ww' of every pair of rows (or zz'), in every pair of classes."""
    bare = np.pad(rows, ((0, 0), (0, n_anchors)))
    places = np.arange(rows.shape[1] + n_anchors)
    z = [bare + anchor * (places == rows.shape[1] + c) for c in range(min(n_anchors, 2))]
    outer = [x[:, :, None] * x[:, None, :] for x in z]
    if not replace:
        return outer[0]
    found = [outer[0][:, None] - other[None] for other in outer]
    return np.concatenate([g.reshape(-1, *g.shape[2:]) for g in found])


CASES = [(1, True, 1), (2, True, 1), (2, False, 1), (3, True, 1), (3, False, 1), (2, True, 2), (2, False, 2)]


@pytest.mark.parametrize(("d", "bounded", "n_anchors"), CASES)
def test_no_two_rows_differ_by_more_than_the_bounds(d, bounded, n_anchors, monkeypatch):
    """All pairs of rows of cells from a grid with every missing pattern, in whole numbers with UNIT = 8.

    A flag of weight 4 where 3 fits, a flag beside a filled value or a bound 5 % too small would be found: the mutants
    below are.
    """
    cells = (-FAR, -1.0, -0.6, -0.2, 0.0, 0.45, 0.8, 1.0, math.nan) if d < 3 else (-1.0, -0.5, 0.0, 0.7, math.inf)
    check_all_pairs(facts_of(d, bounded, n_anchors if n_anchors > 1 else 0), n_anchors, cells, monkeypatch)


@pytest.mark.deep
@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("n_anchors", [1, 2])
def test_no_two_rows_of_four_columns_differ_by_more_than_the_bounds(n_anchors, bounded, monkeypatch):
    """All 16 missing patterns of one row against all 16 of the other, every cell at an end, inside or missing."""
    facts = facts_of(4, bounded, n_anchors if n_anchors > 1 else 0)
    check_all_pairs(facts, n_anchors, (-1.0, 0.5, 1.0, math.nan), monkeypatch)


def check_all_pairs(facts: PublicFacts, n_anchors: int, cells: tuple[float, ...], monkeypatch) -> None:
    """No change between two rows of these cells costs more than any bound says, under replace-one and add-remove."""
    monkeypatch.setattr(integer_gram, "UNIT", SMALL)
    monkeypatch.setattr(exact_moment, "UNIT", SMALL)
    monkeypatch.setattr(free_groups, "UNIT", SMALL)
    anchor = math.isqrt(SMALL**2 // 2)
    rows = every_row(facts, cells)
    assert (rows * rows).sum(axis=1).max() <= SMALL**2
    g = changes(rows, n_anchors, anchor, replace=True)
    triangle = np.triu_indices(g.shape[1])
    assert np.abs(g[:, triangle[0], triangle[1]]).sum(axis=1).max() ** 2 <= norm_bound(
        facts, "laplace", n_anchors, anchor
    )
    singular = np.linalg.eigvalsh(g.astype(float))
    assert np.abs(singular).sum(axis=1).max() ** 2 <= norm_bound(facts, "wishart-difference", n_anchors, anchor) + 1e-6
    positive, negative = np.maximum(singular, 0).sum(axis=1), np.maximum(-singular, 0).sum(axis=1)
    most = np.maximum(positive, negative).max() ** 2
    assert most <= norm_bound(facts, "coupled-wishart", n_anchors, anchor) + 1e-6
    assert settle_shape(facts, "isotropic", n_anchors) == "free-groups"
    cost = (g.astype(object) ** 2).sum(axis=(1, 2))
    for group, kappa in zip(*weights(facts, anchor), strict=True):
        cost = cost + kappa * (sum(g[:, j, j] for j in group.columns).astype(object)) ** 2
    assert max(cost) <= norm_bound(facts, "free-groups", n_anchors, anchor)
    hidden = dataclasses.replace(facts, n=None)
    one = changes(rows, n_anchors, anchor, replace=False)
    l1 = np.abs(one[:, triangle[0], triangle[1]]).sum(axis=1).max()
    assert l1**2 <= norm_bound(hidden, "laplace", n_anchors, anchor)
    assert (one * one).sum(axis=(1, 2)).max() <= norm_bound(hidden, "isotropic", n_anchors, anchor)


@pytest.mark.parametrize("bounded", [True, False])
def test_a_person_with_missing_cells_is_within_the_bounds(bounded, monkeypatch):
    """A person's rows replaced by others, 1 to 4 on either side, through the exact sum with UNIT = 8: 400 random pairs.

    The rows are at the corners of the bounds, where the bounds are attained or nearly so.
    """
    for module in (integer_gram, exact_moment, free_groups):
        monkeypatch.setattr(module, "UNIT", SMALL)
    rng, limits = np.random.default_rng(8), {"bounds": [(-1, 1)] * 3} if bounded else {"row_bound": 1.5}
    anchor, most = math.isqrt(SMALL**2 // 2), {}
    for _ in range(400):
        grams = []
        for rows in rng.integers(1, 5, 2):
            x = rng.choice([-1.0, 1.0, 0.6, math.nan, math.nan], (rows, 3))
            x = np.repeat(x[:1], rows, axis=0) if rng.random() < 0.5 else x
            given = {"missing": "pairs", "persons": ["p"] * rows, **limits}
            private = PrivateDataset.from_rows(x, **given)
            grams.append(exact_moment.exact_sum(private, 1, anchor))
        facts, g = private.facts, grams[0] - grams[1]
        triangle = np.triu_indices(len(g))
        values = np.linalg.eigvalsh(g.astype(float))
        cost = Fraction(int((g * g).sum()))
        for group, kappa in zip(*weights(facts, anchor), strict=True):
            cost += kappa * int(sum(g[j, j] for j in group.columns)) ** 2
        for shape, found in (
            ("laplace", int(np.abs(g[triangle]).sum()) ** 2),
            ("wishart-difference", np.abs(values).sum() ** 2),
            ("free-groups", cost),
        ):
            most[shape] = max(most.get(shape, 0), float(found / norm_bound(facts, shape, 1, anchor)))
    assert max(most.values()) <= 1 + 1e-9, most
    assert min(most.values()) > 0.4, most  # the search comes near


def test_the_l1_bound_is_attained_by_a_full_row_and_an_empty_one():
    facts = facts_of(4, bounded=True)
    x = flagged_rows(np.array([[1.0, 1, 1, 1], [np.nan] * 4]), 2.0, np.array([[False] * 4, [True] * 4]))
    z = np.pad(x, ((0, 0), (0, 1)), constant_values=UNIT // 2)
    change = np.abs(np.triu(np.outer(z[0], z[0]) - np.outer(z[1], z[1]))).sum()
    assert change == 5 * UNIT**2 + 2 * 2 * UNIT * (UNIT // 2) == flagged_l1(facts, UNIT, UNIT // 2, 1)


@pytest.mark.parametrize("mutant", ["heavier", "beside", "flags shortened"])
def test_mutants_of_the_rows_break_the_bounds(mutant):
    """The search above finds each of them; a flag that is shortened with its row breaks the meaning instead."""
    facts = facts_of(2, bounded=False)
    raw = np.array(list(itertools.product((-1.0, 0.7, 3.0, math.nan), repeat=2)))
    holes = ~np.isfinite(raw)
    rows = flagged_rows(raw, facts.row_bound, holes)
    if mutant == "heavier":
        rows[:, 2:] = holes * (1 + integer_gram.plain_flag_value(2))
    if mutant == "beside":
        rows[:, 2:] = holes * integer_gram.plain_flag_value(2)
        rows[:, :2] = np.where(holes, UNIT // 2, rows[:, :2])
    if mutant == "flags shortened":
        whole = np.concatenate([np.nan_to_num(raw), holes / math.sqrt(2)], axis=1)
        rows = integer_gram.integer_rows(whole, facts.row_bound)
        assert len(np.unique(rows[:, 2:])) > 2  # not 0 or one weight: no numbers of rows
    else:
        assert (rows * rows).sum(axis=1).max() > UNIT**2


def test_a_row_without_missing_cells_is_the_row_of_a_table_without_flags():
    rows = np.random.default_rng(2).standard_normal((500, 5))
    for bound in (1.0, 3.0):
        there = flagged_rows(rows, bound, np.zeros((500, 5), dtype=bool))
        assert np.array_equal(there[:, :5], integer_gram.integer_rows(rows, bound))
        assert not there[:, 5:].any()


# --- one sum, whichever way the rows come in ----------------------------------------------------------------


def holed(rows: int, d: int, seed: int) -> np.ndarray:
    """Cells with holes of every kind, some beyond the bounds."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, d))
    x[rng.random((rows, d)) < 0.3] = np.nan
    x[rng.random((rows, d)) < 0.02] = np.inf
    x[rng.random((rows, d)) < 0.02] = 1e200
    x[0], x[1] = np.nan, 1e200
    return x


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("bounded", [True, False])
def test_memory_and_blocks_of_files_give_the_same_sums(compiled, bounded):
    x, d = holed(700, 4, 3), 4
    labels = np.random.default_rng(4).choice(["a", "b", "other"], 700)
    limits = {"bounds": [(-1.5, 2.0)] * d} if bounded else {"row_bound": 1.3}
    facts = {**limits, "missing": "pairs"}
    private = PrivateDataset.from_rows(x, labels=labels, classes=["a", "b"], **facts)
    known = private.facts
    spec = SumSpec(known.columns, "label", known.classes, known.units, False, known.flagged)
    whole = None
    for cut in ((0, 1), (1, 2), (2, 333), (333, 700)):
        adding = SumAccumulator(spec, compiled)
        names, codes = np.unique(labels[slice(*cut)], return_inverse=True)
        adding.take(readers.Block(np.ascontiguousarray(x[slice(*cut)].T), (names.tolist(), codes)))
        whole = adding.sums() if whole is None else whole.plus(adding.sums())
    assert np.array_equal(whole.gram(2, ANCHOR), noiseless_gram(private, 2, ANCHOR))
    assert known.width == 8


def test_a_file_gives_the_sums_of_memory(tmp_path):
    x = holed(300, 3, 5)
    lines = [",".join("" if v != v else repr(float(v)) for v in row) for row in x]
    (tmp_path / "t.csv").write_text("x1,x2,x3\n" + "\n".join(lines) + "\n")
    facts = {"bounds": [(-1, 1)] * 3, "missing": "pairs"}
    memory = measure_exactly(PrivateDataset.from_rows(x, **facts), ZCDP(1e12), shape="isotropic")
    files = measure_exactly(PrivateDataset.from_files(tmp_path / "t.csv", **facts), ZCDP(1e12), shape="isotropic")
    assert np.abs((memory.total - files.total).astype(float)).max() < 1e9  # steps of 2^40: the noise, no more
    assert memory.event == files.event


@pytest.mark.parametrize("shape", ["isotropic", "laplace", "wishart-difference"])
def test_where_a_column_meets_its_own_flag_there_is_nothing(shape):
    """It is zero in every table, so it is published as zero, and a stored sum with another number is refused."""
    private = PrivateDataset.from_rows(holed(50, 3, 6), row_bound=1.0, missing="pairs")
    share = ZCDP(0.1) if shape == "isotropic" else PureDP(0.5)
    noisy = measure_exactly(private, share, shape=shape)
    assert (
        [noisy.total[j, k] for j in range(3) for k in (3 + j,)] == [noisy.total[3 + j, j] for j in range(3)] == [0] * 3
    )
    assert noisy.total[0, 4] != 0
    stored = noisy.to_dict()
    assert NoisySum.from_dict(stored).to_dict() == stored
    stored["total"][0][3] = stored["total"][3][0] = 1
    with pytest.raises(ValueError, match="own flag"):
        NoisySum.from_dict(stored)


# --- what the sums mean -------------------------------------------------------------------------------------


def pairwise(x: np.ndarray) -> np.ndarray:
    """The covariance of every two columns over the rows that have both, slowly."""
    d = x.shape[1]
    found = np.empty((d, d))
    for i, j in itertools.product(range(d), repeat=2):
        both = np.isfinite(x[:, i]) & np.isfinite(x[:, j])
        a, b = x[both, i], x[both, j]
        found[i, j] = np.mean((a - a.mean()) * (b - b.mean()))
    return found


def nearly_exact(private: PrivateDataset):
    """The available cases with next to no noise."""
    measured = read_sum(measure_exactly(private, ZCDP(1e12), shape="isotropic"), "joint")
    return available_cases(measured.matrix, measured.flags, row_bound=measured.row_bound)


@pytest.mark.parametrize("public", [True, False])
def test_without_noise_they_are_the_covariances_of_the_rows_that_have_both(public):
    rng = np.random.default_rng(6)
    x = rng.multivariate_normal([0.2, -0.3, 0, 0.1], 0.05 * (np.eye(4) + 0.6), 3000).clip(-1, 1)
    gone = rng.random(x.shape) < [0.1, 0.3, 0.0, 0.6]
    x[gone] = np.nan
    private = PrivateDataset.from_rows(x, bounds=[(-1, 1)] * 4, missing="pairs", n_public=public)
    found = nearly_exact(private)
    assert found.covariance == pytest.approx(pairwise(x), abs=1e-5)
    there = np.isfinite(x).astype(float)
    assert found.shares == pytest.approx(there.T @ there / len(x), abs=1e-5)
    assert found.mean == pytest.approx(np.nanmean(x, axis=0), abs=1e-5)


def test_of_shortened_rows_they_are_the_covariances_of_the_shortened_table():
    """A row of h missing cells is shortened to R sqrt(1 - h/d); its flags stay, so shares are those of the table."""
    rng = np.random.default_rng(7)
    x = rng.multivariate_normal(np.zeros(5), np.eye(5) + 0.5, 4000)
    x[rng.random(x.shape) < 0.25] = np.nan
    bound = 1.5
    found = nearly_exact(PrivateDataset.from_rows(x, row_bound=bound, missing="pairs"))
    holes = np.isnan(x).sum(axis=1)
    norm = np.sqrt(np.nansum(x * x, axis=1))
    left = bound * np.sqrt(1 - holes / 5)
    assert (norm > left).mean() > 0.3
    shortened = x * np.where(norm > left, left / np.where(norm > 0, norm, 1), 1)[:, None]
    assert found.covariance == pytest.approx(pairwise(shortened), abs=2e-5)
    there = np.isfinite(x).astype(float)
    assert found.shares == pytest.approx(there.T @ there / len(x), abs=1e-5)


# --- facts --------------------------------------------------------------------------------------------------


def test_every_column_has_a_flag_as_long_as_there_is_room():
    units = working_units(("a", "b", "c"), 1.0, None, None)
    plain = make_facts(("a", "b", "c"), units, (), 5, True, 1, "typical")
    assert (plain.width, plain.flagged) == (3, ())
    every = make_facts(("a", "b", "c"), units, (), 5, True, 1, "pairs")
    assert (every.width, every.flagged) == (6, (0, 1, 2))
    assert PublicFacts.from_dict(every.to_dict()).to_dict() == every.to_dict()
    with pytest.raises(ValueError, match="contradict"):
        PublicFacts.from_dict({**every.to_dict(), "flags": [0, 1, 2]})
    with pytest.raises(ValueError, match="202 numbers of a row"):
        PrivateDataset.from_rows(np.zeros((2, 101)), row_bound=1, missing="pairs")
