"""The one pass over files: exact whole numbers, the same bits however the table lies in files and whoever reads it."""

import dataclasses
import gzip
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privcov
from privcov import PrivateDataset
from privcov.core import parallel
from privcov.measurements.exact.file_pass import table_pass, table_sums
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.measurements.exact.file_pass.marks import marks_of
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT, noiseless_gram
from privcov.measurements.exact.private_moment import NoisySum, measure_exactly
from privcov.measurements.exact.reading import read_sum
from privcov.tables import readers
from privcov.tables.dataset import RowsInFiles
from privcov.tables.readers import TableFileError
from privcov.tables.units import Units
from tests.measurements.test_sum_kernel import SECRETS

D, CLASSES = 3, ("a", "b")
BOUNDS = [(-2.0, 3.0), (-1.0, 1.0), (0.0, 5.0)]


def rows_of(n: int = 900, seed: int = 0, holes: bool = True) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal([0.0, 0.2, 1.0], size=(n, D))
    rows[rng.random(n) < 0.05] *= 1e3
    if holes:
        rows[rng.random((n, D)) < 0.02] = np.nan
        rows[rng.random((n, D)) < 0.01] = np.inf
    return rows, np.array(["a", "b", " b ", "other"])[rng.integers(0, 4 if holes else 2, n)]


def write(path, rows: np.ndarray, labels: np.ndarray, group: int = 10**6):
    """One file; its kind is that of its name."""
    columns = {f"x{j + 1}": rows[:, j] for j in range(D)} | {"y": labels}
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=group)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path, chunksize=group, compression="uncompressed")
    else:
        cells = [[repr(float(x)) for x in row] + [str(y)] for row, y in zip(rows, labels, strict=True)]
        text = "".join(",".join(line) + "\n" for line in [list(columns), *cells]).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def private(paths, **more) -> PrivateDataset:
    told = {"bounds": BOUNDS, "label": "y", "classes": CLASSES, "columns": ["x1", "x2", "x3"]}
    return PrivateDataset.from_files(paths, **told | more)


def numbers(found: table_sums.ExactSums) -> tuple:
    arrays = found.high, found.low, found.lines, found.counts, found.norms
    return found.n_rows, [a.tolist() for a in arrays], found.marks


@pytest.mark.parametrize("how", [{"bounds": BOUNDS}, {"bounds": None, "row_bound": 1.5}])
@pytest.mark.parametrize("more", [{}, {"missing": "drop-row", "n_public": False}])
@pytest.mark.parametrize("labelled", [True, False])
def test_the_sums_are_those_of_the_rows_in_memory(tmp_path, how, more, labelled):
    rows, labels = rows_of()
    write(tmp_path / "t.parquet", rows, labels, group=250)
    named = {} if labelled else {"label": "", "classes": None}
    table = private(tmp_path / "t.parquet", **how, **more, **named)
    memory = PrivateDataset.from_rows(
        rows, **how, **more, **({"labels": labels, "classes": CLASSES} if labelled else {})
    )
    n_anchors = 2 if labelled else 1
    found = sums_of(table).gram(n_anchors)
    assert found.dtype == np.int64
    assert found.tolist() == noiseless_gram(memory, n_anchors).tolist()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cuts=st.lists(st.integers(1, 899), max_size=4, unique=True),
    kinds=st.lists(st.sampled_from([".csv", ".csv.gz", ".parquet", ".arrow"]), min_size=5, max_size=5),
    order=st.permutations(range(5)),
    block=st.sampled_from([1, 7, 64, 8192]),
    group=st.sampled_from([37, 10_000]),
    workers=st.sampled_from(["1", "3"]),
)
def test_the_bits_do_not_depend_on_cuts_order_blocks_formats_or_workers(
    tmp_path_factory, monkeypatch, cuts, kinds, order, block, group, workers
):
    rows, labels = rows_of()
    folder = tmp_path_factory.mktemp("t")
    pieces = np.split(np.arange(900), sorted(cuts))
    paths = [write(folder / f"{i}{kinds[i]}", rows[at], labels[at], group) for i, at in enumerate(pieces)]
    paths = [paths[i] for i in order if i < len(paths)]
    with monkeypatch.context() as patch:
        patch.setenv("PRIVCOV_WORKERS", workers)
        patch.setattr(table_pass, "BLOCK_ROWS", block)
        table = private(paths)
        found = sums_of(table, SECRETS)
        memory = PrivateDataset.from_rows(rows, bounds=BOUNDS, labels=labels, classes=CLASSES)
        assert found.marks == marks_of(rows, table.facts.columns, SECRETS, code=memory._class_of)
        assert found.gram(2).tolist() == noiseless_gram(memory, 2).tolist()


def test_merging_is_associative_and_commutative_beyond_64_bits(tmp_path):
    """900 rows doubled 23 times are 7.5e9; every number is 2^23 times the first, in Python's own integers."""
    rows, labels = rows_of()
    found = sums_of(private(write(tmp_path / "t.csv", rows, labels)), SECRETS)
    many = found
    for _ in range(23):
        many = many.plus(many)
    assert (many.low >= 0).all()
    assert (many.low < 2**32).all()
    assert many.second().tolist() == [[v * 2**23 for v in line] for line in found.second()]
    assert max(map(abs, many.second().ravel())) > 2**63 // 2
    one, two = many.plus(found).plus(found), found.plus(found.plus(many))
    assert numbers(one) == numbers(two)
    big = many.gram(2)
    assert big.dtype == object
    assert big.tolist() == [[v * 2**23 for v in line] for line in found.gram(2).tolist()]


@pytest.mark.parametrize("long", [(1.0, 0.0), (-1.0, 0.0), (1 - 2**-20, 2**-20), (math.sqrt(0.5), -math.sqrt(0.5))])
def test_full_blocks_of_the_longest_rows_are_summed_exactly(long):
    """8,192 rows of length 2^20 fill the 53 bits of float64 to the last; one row more in a block is refused."""
    asked = dataclasses.replace(_ask_of_one(), columns=("x", "y"), units=Units.unbounded(2, 1.0))
    adding = table_sums.SumAccumulator(asked)
    cells = np.repeat(np.array([long]).T, table_sums.BLOCK_ROWS, axis=1)
    for _ in range(3):
        adding.take(readers.Block(cells, None))
    k = [int(x * UNIT) for x in long]
    n = 3 * table_sums.BLOCK_ROWS
    assert adding.sums().second().tolist() == [[n * a * b for b in k] for a in k]
    assert adding.sums().lines.tolist() == [[n * a] for a in k]
    with pytest.raises(AssertionError, match=r"beyond 2\^53"):
        adding.take(readers.Block(np.zeros((2, table_sums.BLOCK_ROWS + 1)), None))


def test_blocks_are_carried_before_a_limb_is_full(monkeypatch):
    """As if 2^14 largest blocks came: each adds 2^53, and 512 of them fill no limb."""
    adding = table_sums.SumAccumulator(_ask_of_one())
    block = np.full((1, 1), 2.0**53, dtype=float)
    for _ in range(2**14):
        adding.low += block.astype(np.int64)
        adding.blocks += 1
        if adding.blocks % 512 == 0:
            adding._carry()
    assert adding.sums().second().tolist() == [[2**67]]


def _ask_of_one() -> table_sums.SumSpec:
    return table_sums.SumSpec(("x",), "", (), Units.unbounded(1, 1.0), drop=False)


def test_the_longest_rows_add_up_exactly_over_many_blocks():
    """Each adds 2^40 to the sum: a thousand full blocks are more than one word of 64 bits holds."""
    adding, blocks = table_sums.SumAccumulator(_ask_of_one()), 1_100
    block = SimpleNamespace(cells=np.ones((1, table_sums.BLOCK_ROWS)), labels=None)
    for _ in range(blocks):
        adding.take(block)
    found, n = adding.sums(), blocks * table_sums.BLOCK_ROWS
    assert n * UNIT**2 > 2**63
    assert found.second()[0, 0] == n * UNIT**2
    assert found.gram(1)[0, 0] == n * UNIT**2  # Python's integers, where 64 bits do not do
    assert (found.lines[0, 0], found.counts[0]) == (n * UNIT, n)


# --- the measurement ----------------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A private table whose pass finds 7.5e9 rows, and one of its rows once."""
    rows, labels = rows_of()
    table = private(write(tmp_path / "t.csv", rows, labels), n_public=False)
    once = sums_of(table)
    for _ in range(23):
        kept = table.files.private_pass
        table.files.private_pass = kept._replace(sums=kept.sums.plus(kept.sums))
    return table, once


@pytest.mark.parametrize(
    ("shape", "share"),
    [("isotropic", privcov.ZCDP(0.5)), ("laplace", privcov.PureDP(1.0)), ("wishart-difference", privcov.PureDP(1.0))],
)
def test_a_sum_beyond_64_bits_is_measured_written_and_read(large, shape, share):
    """With 7.5e9 rows the noise is below 1e-7 of every share, so the answer is that of 900 rows to six digits."""
    table, once = large
    noisy = measure_exactly(table, share, shape=shape)
    assert noisy.total.dtype == object
    assert max(abs(v) for v in noisy.total.ravel()) > 2**63
    assert (noisy.total == noisy.total.T).all()
    assert noisy.total[D, D + 1] == 0
    import json

    again = NoisySum.from_dict(json.loads(json.dumps(noisy.to_dict())))
    assert again.total.tolist() == noisy.total.tolist()
    made = read_sum(again, "classes")
    assert made.matrix.tolist() == read_sum(noisy, "classes").matrix.tolist()
    exact = once.gram(2).astype(float) / UNIT**2
    exact[D:, :] *= math.sqrt(0.5) * UNIT / ANCHOR
    exact[:, D:] *= math.sqrt(0.5) * UNIT / ANCHOR
    np.testing.assert_allclose(made.matrix, exact / once.counts.sum(), atol=1e-6)
    assert made.count == pytest.approx(once.counts.sum() * 2**23, rel=1e-6)


def test_noise_that_would_not_fit_is_refused_before_it_is_paid(tmp_path):
    rows, labels = rows_of()
    path = write(tmp_path / "t.csv", rows, labels)
    table = private(path, rows_per_person=1_000_000)
    book = privcov.Ledger(tmp_path / "ledger.sqlite")
    book.set_limit("private", privcov.ZCDP(1.0))
    with pytest.raises(ValueError, match="at most 2\\^54"):
        privcov.release_private(table, privcov.ZCDP(1e-3), "auto-cov", ledger=book)
    assert book.entries() == ()
    with pytest.raises(ValueError, match="at most 2\\^54"):
        measure_exactly(table, privcov.ZCDP(1e-3), shape="isotropic")
    memory = PrivateDataset.from_rows(rows, bounds=BOUNDS, rows_per_person=1_000_000)
    with pytest.raises(ValueError, match="at most 2\\^54"):
        measure_exactly(memory, privcov.ZCDP(1e-3), shape="isotropic")


def test_what_needs_rows_in_memory_is_refused_in_one_sentence(tmp_path):
    rows, labels = rows_of(holes=False)
    files = private(write(tmp_path / "t.csv", rows, labels))
    with pytest.raises(RowsInFiles, match="stay in their files"):
        files.files.mean()
    for act in (np.asarray, len, list, lambda x: x[0], lambda x: x.mean(), lambda x: x @ x.T):
        with pytest.raises(TypeError):
            act(files.files)


# --- what goes wrong ----------------------------------------------------------------------------------------


def test_other_rows_than_were_counted_are_refused(tmp_path):
    rows, labels = rows_of()
    files = private(write(tmp_path / "t.parquet", rows, labels)).files
    (file,) = files.table.files
    counted = dataclasses.replace(files.table, files=(dataclasses.replace(file, rows=len(rows) - 1),))
    ask = dataclasses.replace(_ask_of_one(), columns=("x1",))
    assert table_pass.add_up(files, ask).n_rows == len(rows)
    with pytest.raises(TableFileError, match="do not hold the rows that they held"):
        table_pass.add_up(type(files)(counted, files.shape), ask)


def test_a_failure_in_a_worker_carries_no_cell(tmp_path, monkeypatch):
    rows, labels = rows_of()
    path = write(tmp_path / "t.csv", rows, labels)

    def broken(*_):
        raise ValueError(f"could not use {rows[0, 0]!r}")

    monkeypatch.setattr(table_sums, "to_working", broken)
    with pytest.raises(table_pass.PassError) as caught:
        sums_of(private(path))
    assert str(caught.value) == "A part of the table could not be summed."
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_no_message_repeats_what_is_not_private(tmp_path):
    """An error or a log may hold the repr of a task or of its result."""
    rows, labels = rows_of()
    (part,) = readers.parts_of(private(write(tmp_path / "t.csv", rows, labels)).files.table)
    spec = dataclasses.replace(_ask_of_one(), columns=("x1",), secrets=SECRETS)
    shown = repr((part, spec, table_pass.sum_part(part, spec))).replace(str(tmp_path), "")
    assert "rows" not in shown
    assert str(SECRETS[0]) not in shown
    assert "array" not in shown


def test_sums_serve_the_declaration_they_were_made_for(tmp_path):
    rows, labels = rows_of()
    one = private(write(tmp_path / "t.csv", rows, labels))
    two = private(tmp_path / "t.csv", bounds=None, row_bound=0.1)
    sums_of(one)
    moved = dataclasses.replace(one, facts=two.facts)
    assert numbers(sums_of(moved)) == numbers(sums_of(two))


def test_a_file_that_changed_is_one_sentence_and_spends_nothing(tmp_path):
    rows, labels = rows_of()
    path = write(tmp_path / "t.csv", rows, labels)
    book = privcov.Ledger(tmp_path / "ledger.sqlite")
    book.set_limit("private", privcov.ZCDP(1.0))
    table = private(path)
    write(path, rows[:-1], labels[:-1])
    with pytest.raises(TableFileError, match="changed"):
        privcov.release_private(table, privcov.ZCDP(0.5), "auto-cov", ledger=book)
    assert book.entries() == ()
    assert privcov.release_private(private(path), privcov.ZCDP(0.5), "auto-cov", ledger=book).covariance.size


@pytest.mark.parametrize("problem", [KeyboardInterrupt, parallel.ParallelError("The workers are lost."), MemoryError])
def test_an_interrupted_pass_spends_nothing_and_can_begin_again(tmp_path, monkeypatch, problem):
    rows, labels = rows_of()
    path = write(tmp_path / "t.csv", rows, labels)
    book = privcov.Ledger(tmp_path / "ledger.sqlite")
    book.set_limit("private", privcov.ZCDP(1.0))
    kind = problem if isinstance(problem, type) else type(problem)

    def lost(work, tasks, **_):
        raise problem
        yield

    table = private(path)
    with monkeypatch.context() as patch:
        patch.setattr(parallel, "run_tasks", lost)
        # What nobody foresaw is an identifier; an interruption and lost workers say what they are.
        with pytest.raises(privcov.releases.private.MeasurementError if kind is MemoryError else kind):
            privcov.release_private(table, privcov.ZCDP(0.5), "auto-cov", ledger=book)
        assert book.entries() == ()
    seen = []
    table = private(path, progress=lambda *now: seen.append(now))
    made = privcov.release_private(table, privcov.ZCDP(0.5), "auto-cov", ledger=book)
    assert [now[:2] for now in seen] == [(900, 900)]  # the files are read once for fingerprint and measurement
    memory = PrivateDataset.from_rows(rows, bounds=BOUNDS, labels=labels, classes=CLASSES, columns=["x1", "x2", "x3"])
    again = privcov.release_private(memory, privcov.ZCDP(0.5), "auto-cov", ledger=book)
    assert again.to_json() == made.to_json()  # the same table for the ledger, so the same release
    assert len(book.entries()) == 1


def test_a_limit_is_missed_before_anything_is_read(tmp_path):
    rows, labels = rows_of()
    table = private(write(tmp_path / "t.csv", rows, labels), progress=lambda *_: pytest.fail("it reads"))
    with pytest.raises(privcov.ledger.LedgerError, match="no limit"):
        privcov.release_private(table, privcov.ZCDP(0.5), "auto-cov", ledger=privcov.Ledger(tmp_path / "l.sqlite"))


def test_a_private_table_in_files_is_not_written_out_and_not_looked_at(tmp_path):
    from privcov.steward.owner_view import compute_owner_view

    rows, labels = rows_of()
    table = private(write(tmp_path / "t.csv", rows, labels))
    with pytest.raises(TypeError, match="never written out"):
        pickle.dumps(table)
    with pytest.raises(RowsInFiles):
        compute_owner_view(table, privcov.ZCDP(0.5), np.random.default_rng(0))
    assert repr(table) == "PrivateDataset('private', n=900, d=3, row_bound=1.73205)"


def test_a_pass_without_secrets_leaves_that_with_secrets(tmp_path):
    """What another bound needs is summed anew, and the fingerprint of the table is not read again for it."""
    table = private(write(tmp_path / "t.csv", *rows_of()))
    marks = sums_of(table, SECRETS).marks
    kept = table.files.private_pass
    other = dataclasses.replace(table, facts=dataclasses.replace(table.facts, rows_per_person=2))
    assert other.files is table.files
    assert sums_of(other) is not kept.sums
    assert table.files.private_pass is kept
    assert sums_of(table, SECRETS).marks is marks
