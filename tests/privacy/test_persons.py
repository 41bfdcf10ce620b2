"""A person with however many rows: neighbours as whole tables, through the function that is released, in whole numbers.

The largest l1 change is found exactly: it is a maximum over sign patterns of a linear form, and a person's rows are
chosen apart from each other, so the search over all persons of up to 40 rows is one over single rows.
"""

import dataclasses
import functools
import itertools
import json
import math
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privcov
from privcov import PrivateDataset
from privcov.bundle.inputs import INPUTS
from privcov.ledger.fingerprint import fingerprint, same_cells
from privcov.measurements.exact import integer_gram
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.file_pass import table_pass
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT, integer_rows
from privcov.measurements.exact.private_moment import exact_sum, measure_exactly, norm_bound
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.noise_theory.anchor import ANCHOR_PURPOSES, integer_anchor
from privcov.tables import persons_in_files
from privcov.tables.declaration.declaration import Column, Declaration, read_private
from privcov.tables.persons import id_text
from privcov.tables.persons_in_files import IdsChanged, PartIds, Weighing
from privcov.tables.public_facts import PublicFacts
from privcov.tables.readers import Block, TableFileError, parts_of
from tests.forging import bundled, problem, rewritten
from tests.measurements.test_sum_kernel import SECRETS
from tests.privacy import checkers
from tests.privacy.test_replay import SHAPES, rows_of

CLASSES = ["u", "v"]


# --- the sum itself, against a literal formula --------------------------------------------------------------


def literal(rows, ids, labels=None, drop=False, n_anchors=1, anchor=ANCHOR):
    """The sum over rows of z z', in Python's integers; the root of k^2 / r is found by `math.isqrt`."""
    size = len(rows[0]) + n_anchors
    total = [[0] * size for _ in range(size)]
    whole = integer_rows(np.array(rows, dtype=float), 1.0).tolist()
    for at, (k, who) in enumerate(zip(whole, ids, strict=True)):
        if who is None or (drop and not np.isfinite(rows[at]).all()) or (labels and labels[at] not in CLASSES):
            continue
        r = ids.count(who)
        anchors = [anchor] if not labels else [anchor * (labels[at] == name) for name in CLASSES]
        z = [int(math.copysign(math.isqrt(x * x // r), x)) for x in k + anchors[:n_anchors]]
        for i, j in itertools.product(range(size), repeat=2):
            total[i][j] += z[i] * z[j]
    return total


def some(n: int = 60, persons: int = 14, d: int = 3, seed: int = 5):
    """Rows, ids (some missing, some persons with many rows) and labels, some of which are not listed."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * 0.6
    rows[rng.random((n, d)) < 0.05] = np.nan
    ids = [int(i) for i in np.minimum(rng.geometric(0.2, n), persons)]
    ids = [None if k % 11 == 0 else i for k, i in enumerate(ids)]
    return rows, ids, [("u", "v", "w")[k % 3] for k in range(n)]


@pytest.mark.parametrize(("labelled", "drop"), [(False, False), (False, True), (True, False), (True, True)])
def test_a_row_has_the_root_of_its_persons_weight(labelled, drop):
    """r counts every row with the id, also those that a rule leaves out: a missing cell, an unlisted class."""
    rows, ids, labels = some()
    told = {"labels": labels, "classes": CLASSES} if labelled else {}
    told |= {"missing": "drop-row", "n_public": False} if drop else {"n_public": False}
    table = PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids, **told)
    anchors = 2 if labelled else 1
    expected = literal(rows.tolist(), ids, labels if labelled else None, drop, anchors)
    assert exact_sum(table, anchors).tolist() == expected


def test_a_weighted_row_is_short_in_whole_numbers():
    """Every number up to the largest, at r up to 3,000: v^2 <= k^2 / r, and v + 1 is not."""
    k = np.array([[0], [1], [-1], [3], [ANCHOR], [UNIT - 1], [UNIT], [-UNIT]])
    for r in (1, 2, 3, 4, 7, 99, 100, 2999, 3000, 10**10):
        v = integer_gram.weigh_rows(k, np.full(len(k), r))[:, 0].tolist()
        for big, small in zip(k[:, 0].tolist(), v, strict=True):
            if r == 1:
                assert small == big
            else:
                assert small * small * r <= big * big < (abs(small) + 1) ** 2 * r
                assert small == 0 or (small < 0) == (big < 0)


def test_one_row_each_is_the_table_without_ids():
    rows = np.random.default_rng(1).normal(size=(50, 4))
    for n_public in (True, False):
        plain = PrivateDataset.from_rows(rows, row_bound=1.0, n_public=n_public)
        known = PrivateDataset.from_rows(rows, row_bound=1.0, n_public=n_public, persons=np.arange(50))
        assert exact_sum(known, 1).tolist() == exact_sum(plain, 1).tolist()
        assert norm_bound(known.facts, "isotropic", 1) == norm_bound(plain.facts, "isotropic", 1)


# --- neighbours ---------------------------------------------------------------------------------------------


def neighbours(d, first, second, *, place="end", n_public=True, classes=False, **more):
    """Two tables in which one person has the rows ``first`` and ``second``: at the front, in the middle or at the end.

    The others have one, two and four rows, and one row has no id.
    """
    rng = np.random.default_rng(2)
    rest, others = rng.normal(size=(8, d)) / 3, ["a", "b", "b", "c", None, "c", "c", "c"]
    cut = {"front": 0, "middle": 4, "end": 8}[place]

    def table(mine, name, letters):
        rows = np.vstack([rest[:cut], np.reshape(mine, (-1, d)), rest[cut:]])
        ids = others[:cut] + [name] * len(mine) + others[cut:]
        told = dict(more)
        if classes:
            told |= {"labels": ["u"] * cut + letters[: len(mine)] + ["v"] * (8 - cut), "classes": CLASSES}
        return PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids, n_public=n_public, **told)

    # The other person may have another id, and the classes may differ from row to row.
    return table(first, "me", ["u"] * 99), table(second, "them", ["v"] * 3 + ["u", "w"] * 33)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_public", [True, False], ids=["replace-one", "add-remove"])
@pytest.mark.parametrize("form", ["joint", "classes"])
def test_no_person_exceeds_the_claim(shape, n_public, form, monkeypatch):
    """Persons of 1, 2, 3 and 30 rows, all alike or all kinds, in d = 1 and 2, at three places of the table."""
    worst, places = 0.0, itertools.cycle(["front", "middle", "end"])
    for d in (1, 2):
        named = rows_of(d)
        kinds = [[named[kind]] * r for kind, r in itertools.product(("axis", "other axis", "turned"), (1, 3, 30))]
        kinds += [[named["zero"]], list(named.values()), [named["axis"], named["extreme"]]]
        pairs = list(itertools.combinations(kinds, 2)) if n_public else [(kind, []) for kind in kinds]
        for first, second in pairs:
            tables = neighbours(d, first, second, place=next(places), n_public=n_public, classes=form == "classes")
            worst = max(worst, checkers.check_replay(*tables, shape, monkeypatch))
    assert worst > (0.7 if shape == "laplace" else 0.9)  # the claims are not far too large


def test_random_persons_stay_within_the_claim(monkeypatch):
    """200 random pairs of persons of up to 12 rows, with rows at the rim, missing cells and rows left out."""
    rng = np.random.default_rng(8)
    for k in range(200):
        d = 1 + k % 3
        people = [rng.normal(size=(rng.integers(1, 12), d)) * 3 for _ in range(2)]
        for rows in people:
            rows[rng.random(rows.shape) < 0.1] = np.nan
        n_public = bool(k % 2)
        told = {} if n_public else {"missing": "drop-row"}
        second = people[1] if n_public else []
        tables = neighbours(d, people[0], second, n_public=n_public, classes=k % 5 == 0, **told)
        checkers.check_replay(*tables, SHAPES[k % 3], monkeypatch)


def written(folder, table_rows, ids, kind, cut, **told):
    """The table in two files, cut after ``cut`` rows; ids with blanks and decimals that mean nothing."""
    for name, at in (("a", slice(0, cut)), ("b", slice(cut, None))):
        rows, mine = table_rows[at], ids[at]
        columns = {f"x{j + 1}": rows[:, j] for j in range(rows.shape[1])}
        if kind == "parquet":
            texts = [None if i is None else f"{i} " for i in mine]
            pq.write_table(pa.table(columns | {"who": pa.array(texts, pa.string())}), folder / f"{name}.parquet", 3)
        else:
            cells = [
                [repr(float(x)) for x in row] + ["NA" if i is None else f" {i}.0"]
                for row, i in zip(rows, mine, strict=True)
            ]
            lines = [[*columns, "who"], *cells]
            (folder / f"{name}.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    return PrivateDataset.from_files(folder, row_bound=1.0, person="who", **told)


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of four rows and blocks of two, so that the rows of a person lie in many of each, merged two by two."""
    for module in (table_pass, persons_in_files):
        monkeypatch.setattr(module, "parts_of", functools.partial(parts_of, cells=12))
    monkeypatch.setattr(table_pass, "BLOCK_ROWS", 2)
    monkeypatch.setattr(persons_in_files, "_BLOCK_ROWS", 3)
    monkeypatch.setattr(persons_in_files, "_PENDING", 1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_person_in_many_parts_files_and_blocks(tmp_path, kind, small_parts, monkeypatch):
    """One person's rows replaced by one, two and thirty others, at the front of one file and at the end of another."""
    rng = np.random.default_rng(4)
    rest, others = rng.normal(size=(14, 2)) / 3, [1, 2, 2, 3, None, 3, 3, 3, 1, 4, 4, 5, 6, 6]
    axis, other = np.eye(2)
    made = []
    for k, (mine, front) in enumerate([([axis], 1), ([other] * 2, 1), ([other] * 30, 15), ([axis] * 31, 31)]):
        (tmp_path / str(k)).mkdir()
        rows = np.vstack([mine[:front], rest, np.reshape(mine[front:], (-1, 2))])
        ids = [17] * front + others + [17] * (len(mine) - front)
        made.append(written(tmp_path / str(k), rows, ids, kind, len(mine) // 2 + 5))
        memory = PrivateDataset.from_rows(rows, row_bound=1.0, persons=[i if i is None else float(i) for i in ids])
        assert exact_sum(made[-1], 1).tolist() == exact_sum(memory, 1).tolist()
        assert made[-1].facts.n == memory.facts.n == 7
    for one, two in itertools.combinations(made, 2):
        checkers.check_replay(one, two, "isotropic", monkeypatch)


def test_a_row_of_a_file_that_is_left_out_has_no_anchor(tmp_path):
    """For an unlisted class or a missing cell; the others of its person keep their weights."""
    rows, ids, labels = some()
    columns = {f"x{j + 1}": rows[:, j] for j in range(3)} | {"y": labels, "who": ids}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", 7)
    told = {"row_bound": 1.0, "n_public": False, "missing": "drop-row", "classes": CLASSES}
    file = PrivateDataset.from_files(tmp_path / "t.parquet", label="y", person="who", **told)
    memory = PrivateDataset.from_rows(rows, labels=labels, persons=ids, **told)
    assert exact_sum(file, 2).tolist() == exact_sum(memory, 2).tolist()


def test_files_are_summed_with_the_anchor_that_is_asked_for(tmp_path):
    """Twice with each, after a pass with the usual one is kept: weighted sums hold the anchor they were made with."""
    rows, ids, _ = some()
    file = written(tmp_path, rows, ids, "parquet", 25)
    memory = PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids)
    fingerprint(file, b"k" * 32)
    for anchor_for in (*ANCHOR_PURPOSES, *ANCHOR_PURPOSES):
        anchor = integer_anchor(anchor_for, 3, 1, "replace-one")
        expected = literal(rows.tolist(), ids, anchor=anchor)
        expected[-1][-1] = memory.facts.n * anchor**2  # public, and so written as it is
        assert exact_sum(memory, 1, anchor).tolist() == expected
        assert exact_sum(file, 1, anchor).tolist() == expected


def test_the_pass_with_the_marks_is_kept_for_what_follows(tmp_path, monkeypatch):
    """Not for another bound, whose pass is not kept in its place; nor is one with another anchor."""
    rows, ids, _ = some()
    table, passes, real = written(tmp_path, rows, ids, "parquet", 25), [], table_pass.add_up
    monkeypatch.setattr(table_pass, "add_up", lambda files, spec: passes.append(spec) or real(files, spec))
    first = sums_of(table)
    assert sums_of(table) is first
    fingerprint(table, b"k" * 32, UNIT)
    kept = sums_of(table, anchor=UNIT)
    assert kept.marks is not None
    assert len(passes) == 2
    shorter = dataclasses.replace(table, facts=table.facts.with_fraction(0.5))
    assert sums_of(shorter, anchor=UNIT).gram(1, UNIT).tolist() != kept.gram(1, UNIT).tolist()
    assert sums_of(table, anchor=ANCHOR).gram(1).tolist() == first.gram(1).tolist()
    assert len(passes) == 4
    plain = PrivateDataset.from_files(tmp_path, row_bound=1.0, columns=["x1", "x2", "x3"])
    assert sums_of(plain) is sums_of(plain, anchor=UNIT)  # without weights one pass serves every anchor
    assert len(passes) == 5


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_sums_of_persons_are_the_same_with_one_worker_and_with_two(tmp_path, kind, small_parts, monkeypatch):
    """Bit for bit, with the marks, whichever worker has which rows of a person."""
    rows, ids, _ = some()
    found = []
    for workers in ("1", "2"):
        monkeypatch.setenv("PRIVCOV_WORKERS", workers)
        (tmp_path / workers).mkdir()
        table = written(tmp_path / workers, rows, ids, kind, 25)
        sums = sums_of(table, SECRETS)
        arrays = sums.norms, sums.high, sums.low, sums.lines, sums.counts
        found.append((sums.n_rows, [a.tolist() for a in arrays], sums.marks))
        assert table.facts.n == len(set(ids) - {None})
    assert found[0] == found[1]


# --- the largest l1 change, by search over all persons ------------------------------------------------------

SMALL = 8


def largest(d: int, n_anchors: int, n_public: bool) -> int:
    """The largest l1 change of the upper triangle that any persons make, with UNIT = 8, over all rows in the ball."""
    anchor = math.isqrt(SMALL**2 // 2)
    ball = np.array([k for k in itertools.product(range(-SMALL, SMALL + 1), repeat=d) if sum(x * x for x in k) <= 64])
    classes = [[anchor * (c == i) for i in range(n_anchors)] for c in range(n_anchors)]
    z = np.vstack([np.hstack([ball, np.tile(tail, (len(ball), 1))]).astype(np.int64) for tail in classes])
    upper = [(i, j) for i, j in itertools.combinations_with_replacement(range(d + n_anchors), 2) if i < d or i == j]
    if n_public and n_anchors == 1:
        upper.remove((d, d))  # the corner is public
    signs = np.array(list(itertools.product((-1, 1), repeat=len(upper))))
    highest = np.full(len(signs), 0 if n_anchors > 1 or not n_public else -(10**9))
    lowest = -highest
    for r in range(1, 41):
        v = integer_gram.weigh_rows(z, np.full(len(z), r))
        products = np.array([v[:, i] * v[:, j] for i, j in upper])
        forms = r * (signs @ products)
        highest, lowest = np.maximum(highest, forms.max(axis=1)), np.minimum(lowest, forms.min(axis=1))
    return int((highest - lowest).max() if n_public else max(highest.max(), -lowest.min()))


CASES = list(itertools.product((1, 2), (1, 2), (True, False)))


def claimed(d, n_anchors, n_public, monkeypatch) -> int:
    """What `norm_bound` says for UNIT = 8."""
    for module in (integer_gram, exact_moment):
        monkeypatch.setattr(module, "UNIT", SMALL)
        monkeypatch.setattr(module, "ANCHOR", math.isqrt(SMALL**2 // 2))
    facts = PrivateDataset.from_rows(np.zeros((1, d)), row_bound=1.0, persons=[1], n_public=n_public).facts
    return math.isqrt(norm_bound(facts, "laplace", n_anchors, math.isqrt(SMALL**2 // 2)))


@pytest.mark.parametrize(("d", "n_anchors", "n_public"), CASES)
def test_the_l1_bound_of_a_person_by_search(d, n_anchors, n_public, monkeypatch):
    bound, found = claimed(d, n_anchors, n_public, monkeypatch), largest(d, n_anchors, n_public)
    assert found <= bound
    assert found >= 0.7 * bound


def test_some_bounds_are_attained_so_that_smaller_ones_would_be_found_out(monkeypatch):
    assert min(claimed(*case, monkeypatch) - largest(*case) for case in CASES) == 0


# --- ids ----------------------------------------------------------------------------------------------------


def test_ids_are_compared_as_text():
    ids = [17, 17.0, "17", " 17 ", "17.0", "017", "0170", "1e1", "a", "A", "", None, math.nan, "NA", "n/a", "-3.00", -3]
    table = PrivateDataset.from_rows(np.zeros((len(ids), 1)), row_bound=1.0, persons=ids)
    assert table._rows_of_person.tolist() == [5] * 5 + [1] * 5 + [0] * 5 + [2] * 2
    assert table.facts.n == 7


def test_a_whole_number_is_one_person_whatever_wrote_it(tmp_path):
    """Beyond 10^16 programs write floating-point ids with an exponent: as two persons the rows would count twice."""
    ids = [2.0241123000000016e16, 1e16, 1e23, -0.0, 17.0, float(2**53 + 2)]
    for value in ids:
        forms = {id_text(value), id_text(repr(value))}
        assert len(forms) == 1
        if value != 1e23:  # whose digits are not those it is written with
            assert forms == {id_text(f"{value:.1f}"), id_text(int(value)), str(int(value))}
    assert len({id_text(text) for text in ("17", "+17", "17.", b"17", " 17.00 ", np.int64(17), np.float32(17))}) == 1
    assert len({id_text(text) for text in ("12E4", "12e4", "120000", "017", "17.5", "1e-3", "0x11")}) == 7
    assert {id_text(1e100), id_text("1e+100"), id_text(10**100), id_text(f"{10**100}.0")} == {str(10**100)}
    assert id_text(np.float32(123456789)) == id_text("123456792.0") == "123456792"  # as readers of files write it
    pq.write_table(pa.table({"who": ids, "a": [0.5] * len(ids)}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("who,a\n" + "".join(f"{value!r},0.5\n" for value in ids), encoding="utf-8")
    table = PrivateDataset.from_files(
        [tmp_path / "a.parquet", tmp_path / "b.csv"], bounds=[(0, 1)], columns=["a"], person="who", name="t"
    )
    assert table.facts.n == len(ids)


def test_texts_that_differ_in_one_digit_are_two_persons():
    """However long they are, and behind the point: as one person the rows of both would count less than is paid."""
    for length in (17, 18, 29, 400, 499, 500, 501, 2000, 2001, 3000):
        low, high = "1" + "0" * (length - 2) + "1", "1" + "0" * (length - 2) + "2"
        assert (id_text(low), id_text(high)) == (low, high)
    assert (id_text("17.5"), id_text("17.25"), id_text(17.5)) == ("17.5", "17.25", "17.5")
    rows = PrivateDataset.from_rows(np.zeros((3, 1)), row_bound=1.0, persons=["17.5", 17, "17.25"])
    assert rows.facts.n == 3


@pytest.mark.parametrize("method", ["auto-cov", "gaussian-cov"])
def test_files_are_read_once_before_anything_is_paid(tmp_path, method, monkeypatch):
    """The weighted sums depend on the anchor, so the pass before the entry must be made with that of the release."""
    rows, ids, _ = some()
    text = "".join(
        f"{who},{','.join(map(repr, row))}\n" for who, row in zip(ids, np.asarray(rows).tolist(), strict=True)
    )
    (tmp_path / "t.csv").write_text("who,a,b,c\n" + text, encoding="utf-8")
    table = PrivateDataset.from_files(
        tmp_path / "t.csv", bounds=[(-1, 1)] * 3, columns=["a", "b", "c"], person="who", name="t"
    )
    ledger, passes, real = privcov.Ledger(tmp_path / "ledger.sqlite"), [], table_pass.add_up
    ledger.set_limit("t", privcov.ZCDP(1e9))

    def spy(*told):
        passes.append(len(ledger.entries("t")))
        return real(*told)

    monkeypatch.setattr(table_pass, "add_up", spy)
    privcov.release_private(table, privcov.ZCDP(1e8), method, ledger=ledger)
    assert passes == [0]


@pytest.mark.parametrize("kept", [slice(0, 8), slice(8, 16)], ids=["first 64 bits", "last 64 bits"])
def test_every_bit_of_a_hash_counts(tmp_path, kept, monkeypatch):
    """Ids that share one half of their 128 bits stay apart: 64 bits would make two persons one."""
    real = persons_in_files._hash

    def half(text, key):
        found = bytearray(real(text, key))
        found[kept] = bytes(8)
        return bytes(found)

    rows, ids = np.eye(4)[:, :2], [1, 2, 3, 3]
    expected = exact_sum(PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids), 1).tolist()
    monkeypatch.setattr(persons_in_files, "_hash", half)
    assert exact_sum(written(tmp_path, rows, ids, "csv", 2), 1).tolist() == expected


def test_the_hashes_have_a_key_of_their_own(tmp_path):
    rows, ids = np.eye(4)[:, :2], [1, 2, 3, 3]
    first, second = (written(tmp_path, rows, ids, "csv", 2).files.persons[0] for _ in range(2))
    assert len(first.key) == 32
    assert first.key != second.key
    assert set(first.hashes.tolist()).isdisjoint(second.hashes.tolist())
    assert "hashes" not in repr(first)
    assert "here" not in repr(first)


@pytest.mark.parametrize(("old", "new"), [(" 3.0", " 2.0"), (" 3.0", " 9.0"), (" 3.0", "    "), ("NA", " 3")])
def test_the_second_pass_stops_where_the_ids_are_others(tmp_path, old, new):
    """A file of the same size and time, with another id in one row: the sum would have other weights than its rows."""
    table = written(tmp_path, np.eye(7)[:, :2], [1, 2, 3, 3, 3, None, 4], "csv", 4)
    path = tmp_path / "b.csv"
    before, stat = path.read_text(), path.stat()
    assert len(old) == len(new)
    assert old in before
    path.write_text(before.replace(old, new, 1))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(TableFileError, match="do not hold the ids that they held") as caught:
        exact_sum(table, 1)
    assert caught.value.__context__ is None


def test_an_id_that_was_not_counted_stops_the_pass_wherever_its_hash_lies():
    """Below, between and above those that were counted: it is never taken for the next one."""
    key, ids = b"k" * 32, [f"p{k}" for k in range(12)]

    def block(*texts):
        return Block(np.zeros((1, len(texts))), None, ((*texts, ""), np.arange(len(texts), dtype=np.int32)))

    places = set()
    for other in ids:
        hashes = np.sort(np.array([persons_in_files._hash(text, key) for text in ids if text != other], "S16"))
        places.add(int(np.searchsorted(hashes, np.array(persons_in_files._hash(other, key), "S16"))))
        here = np.ones(11, np.int64)
        weighing = Weighing(PartIds(key, hashes, here, 5 * here))
        assert weighing.rows_of_persons(block(*[text for text in ids if text != other][:3])).tolist() == [5, 5, 5]
        with pytest.raises(IdsChanged):
            weighing.rows_of_persons(block(other))
    assert places == set(range(12))


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [(ValueError("73.4375"), "could not be counted .* Check the column"), (MemoryError(), "Use fewer workers")],
)
def test_what_stops_the_count_of_ids_is_told_without_what_the_cells_hold(tmp_path, problem, sentence, monkeypatch):
    def stops(block, key):
        raise problem

    monkeypatch.setattr(persons_in_files, "_of_block", stops)
    with pytest.raises(TableFileError, match=sentence) as caught:
        written(tmp_path, np.eye(4)[:, :2], [1, 2, 3, 3], "csv", 2)
    assert "73.4" not in str(caught.value)  # a folder of the test may have a 73
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"rows_per_person": 2, "persons": [1, 1]}, "rows_per_person=2 is a promise .* Leave rows_per_person out"),
        ({"persons": [1]}, "persons must have one entry per row"),
        ({"persons": [1, 2, 3]}, "persons must have one entry per row"),
        ({"persons": [1, 2], "person": "x1"}, "'x1' holds the ids of persons, so it cannot be measured too"),
        ({"persons": [None, ""]}, "No row has an id in 'persons'"),
        ({"person": "who"}, "must be the name of one column of a data frame"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(told, sentence):
    with pytest.raises(ValueError, match=sentence):
        PrivateDataset.from_rows(np.zeros((2, 2)), row_bound=1.0, **told)


def test_no_id_at_all_is_no_error_where_the_number_of_persons_is_hidden():
    """A table of nobody is a neighbour of a table of one person: neither may fail."""
    table = PrivateDataset.from_rows(np.ones((2, 2)), row_bound=1.0, persons=[None, ""], n_public=False)
    assert not exact_sum(table, 1).any()


# --- declarations, ledgers and bundles ----------------------------------------------------------------------

COLUMNS = tuple(Column(name, 0.0, 1.0, None, "a share") for name in ("a", "b"))


def test_a_declaration_names_persons_only_where_it_has_them():
    plain = Declaration("t", "a visit", COLUMNS)
    told = Declaration("t", "a visit", COLUMNS, person="who")
    assert "person" not in json.loads(plain.to_json())
    fields = json.loads(told.to_json())
    assert fields["person"] == "who"
    assert [Declaration.from_json(d.to_json()) for d in (plain, told)] == [plain, told]
    with pytest.raises(ValueError, match=r"must hold the line .*privcov-declaration-2"):
        Declaration.from_json(json.dumps(fields | {"format": "privcov-declaration-1"}))
    with pytest.raises(ValueError, match="'a' holds the ids of persons"):
        Declaration("t", "a visit", COLUMNS, person="a")
    listed = [{"name": "who"}, *fields["columns"]]  # as `privcov declare` lists every column; ids need no bounds
    with pytest.raises(ValueError, match=r"'who' holds the ids of persons.*Leave it out there"):
        Declaration.from_json(json.dumps(fields | {"columns": listed}))


def test_the_facts_of_a_table_without_ids_are_written_as_before():
    facts = PrivateDataset.from_rows(np.zeros((2, 2)), row_bound=1.0).facts
    assert "person" not in facts.to_dict()
    with pytest.raises(ValueError, match="contradict each other"):
        PublicFacts.from_dict(facts.to_dict() | {"person": ""})


def test_an_upload_and_the_same_file_are_one_request(tmp_path):
    """Read into memory or summed in its file: equal facts, so one token, and one sum."""
    told = Declaration("t", "a visit", COLUMNS, person="who")
    raw = b"a,who,b\n.5, 1,.25\n1,1.0,0\n.1,,.2\n.3,x,NA\n"
    (tmp_path / "t.csv").write_bytes(raw)
    upload, file = read_private(raw, told), told.dataset_from_files(tmp_path / "t.csv")
    assert upload.facts.to_dict() == file.facts.to_dict()
    assert exact_sum(upload, 1).tolist() == exact_sum(file, 1).tolist()
    assert file.facts.n == 2


def test_a_table_is_recognised_with_ids_and_without(tmp_path):
    """The same rows under another name are refused, whichever of the two came first."""
    rows, key = np.random.default_rng(0).normal(size=(200, 3)), b"k" * 32
    plain = PrivateDataset.from_rows(rows, row_bound=1.0, columns=["x1", "x2", "x3"])
    known = PrivateDataset.from_rows(rows, row_bound=1.0, persons=np.arange(200) // 3)
    pq.write_table(
        pa.table({f"x{j + 1}": rows[:, j] for j in range(3)} | {"w": np.arange(200) // 3}), tmp_path / "t.parquet"
    )
    file = PrivateDataset.from_files(tmp_path / "t.parquet", row_bound=1.0, person="w")
    marks = [fingerprint(table, key) for table in (plain, known, file)]
    assert all(same_cells(one, other) for one, other in itertools.combinations(marks, 2))


def test_a_person_left_out_is_found(tmp_path, monkeypatch):
    """Changed everywhere a bundle says it, with everything that follows written again."""
    files = bundled(tmp_path, "persons")
    assert problem(files, monkeypatch) == ""

    def forged(change):
        made = files
        for name in INPUTS:
            value = json.loads(files[name])
            held = {"measurement.json": value.get("facts"), "declaration.json": value.get("facts")}.get(name)
            held = value["request"]["facts"] if name == "ledger_entry.json" else held
            if held is not None:
                change(held)
            if name == "declaration.json":
                value["neighbours"] = dataclasses.asdict(PublicFacts.from_dict(held).neighbours)
            made = rewritten(made, name, value)
        return problem(made, monkeypatch)

    assert "statistic of the event" in forged(lambda facts: facts.pop("person"))


# --- reading it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", [privcov.ZCDP(1.0), privcov.PureDP(1.0)], ids=str)
@pytest.mark.parametrize("n_public", [True, False])
def test_the_answer_is_the_weighted_mean(n_public, guarantee, monkeypatch):
    """Over the number of persons, which is public or measured; without noise."""
    rows, ids, _ = some()
    rows = np.nan_to_num(rows)
    table = PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids, n_public=n_public)
    shape = "isotropic" if isinstance(guarantee, privcov.ZCDP) else "wishart-difference"
    with checkers.replayed([], monkeypatch, noise=0):
        noisy = measure_exactly(table, guarantee, shape=shape)
    r = np.array([ids.count(i) for i in ids])
    w = np.where([i is None for i in ids], 0.0, 1 / np.maximum(r, 1))
    short = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    z = np.hstack([short, np.full((len(rows), 1), math.sqrt(0.5))])
    measured = read_sum(noisy, "joint")
    np.testing.assert_allclose(measured.matrix, (z * w[:, None]).T @ z / w.sum(), atol=2e-5)
    assert noisy.shape == {"isotropic": "free-groups" if n_public else "isotropic"}.get(
        shape, "coupled-wishart" if n_public else shape
    )
    assert noisy.total[-1, -1] == pytest.approx(w.sum() * ANCHOR**2, rel=1e-5)
    if n_public:
        assert noisy.total[-1, -1] == table.facts.n * ANCHOR**2
        assert measured.n_rows == table.facts.n


# --- mutants ------------------------------------------------------------------------------------------------


def test_an_anchor_without_weight_is_found(monkeypatch):
    real = integer_gram.weigh_rows

    def wrong(whole, rows_of_person):
        out = real(whole, rows_of_person)
        out[:, -1] = whole[:, -1]
        return out

    monkeypatch.setattr(integer_gram, "weigh_rows", wrong)
    axis = [[1.0, 0.0]]
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*neighbours(2, axis * 30, [], n_public=False), "isotropic", monkeypatch)


def test_counts_of_a_part_alone_are_found(tmp_path, small_parts, monkeypatch):
    """As if each worker weighed by the rows that it sees."""
    rest = np.zeros((3, 2))
    made = []
    for name, row in (("one", [1.0, 0.0]), ("two", [0.0, 1.0])):
        (tmp_path / name).mkdir()
        rows = np.vstack([rest, [row] * 30])
        made.append(written(tmp_path / name, rows, [1, 2, 3] + [7] * 30, "csv", 10))
        for ids in made[-1].files.persons:
            np.copyto(ids.everywhere, ids.here)
    with pytest.raises(AssertionError, match="costs"):
        checkers.check_replay(*made, "isotropic", monkeypatch)
