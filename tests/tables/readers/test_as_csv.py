"""A Parquet file in memory as CSV: the numbers that `blocks_of` reads of it, and what is refused."""

import datetime
import decimal
import io

import numpy as np
import pytest

from privcov.tables.declaration.csv_file import read_public
from privcov.tables.readers import TableFileError, as_csv, blocks_of, columnar, describe, parts_of

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra files has it")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: the extra files has it")


def written(table, **more) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **more)
    return out.getvalue()


def refusal(raw: bytes) -> str:
    try:
        as_csv(raw, "t.parquet")
    except TableFileError as problem:
        return str(problem)
    return "none"


def numbers(n: int = 1_000):
    rng = np.random.default_rng(5)
    wild = rng.standard_normal(n) * 10.0 ** rng.integers(-300, 300, n)
    wild[:5] = np.nan, np.inf, 0.1, 5e-324, 1.7976931348623157e308
    return pa.table(
        {
            "wild": wild,
            "single": wild.clip(-1e30, 1e30).astype(np.float32),
            "whole": pa.array([None if k % 7 == 0 else k - 2**62 for k in range(n)]),
            "yes": pa.array([None if k % 5 == 0 else k % 2 == 0 for k in range(n)]),
            "money": pa.array([decimal.Decimal(k) / 100 for k in range(n)], pa.decimal128(10, 2)),
        }
    )


def test_every_number_is_the_one_that_the_file_on_disk_gives(tmp_path):
    raw, path = written(numbers(), row_group_size=77), tmp_path / "t.parquet"
    path.write_bytes(raw)
    table = describe(path)
    on_disk = np.concatenate(
        [block.cells for part in parts_of(table) for block in blocks_of(part, table.columns, private=False)], axis=1
    )
    np.testing.assert_array_equal(read_public(as_csv(raw, "t.PARQUET")).to_numpy(), on_disk.T)


def test_texts_and_dates_keep_what_they_say():
    day = datetime.date(2024, 1, 31)
    table = pa.table(
        {
            'of "all"': pa.array(['a,"b"\nc', None, ""]),
            "kind": pa.array(["u", None, "u"]).dictionary_encode(),
            "day": pa.array([day, None, day]),
            "at": pa.array([datetime.datetime(2024, 1, 31, 13, 5), None, None]),
        }
    )
    import pandas as pd

    told = pd.read_csv(io.BytesIO(as_csv(written(table), "t.parquet")), keep_default_na=False)
    assert list(told.columns) == table.column_names
    assert told['of "all"'].tolist() == ['a,"b"\nc', "", ""]
    assert told["kind"].tolist() == ["u", "", "u"]
    assert told["day"].tolist() == [*told["at"].tolist()[:1], "", "2024-01-31"] == ["2024-01-31", "", "2024-01-31"]


@pytest.mark.parametrize("raw", [b"", b"PAR1", b"a,b\n1,2\n", b"PK\x03\x04", b"PAR1" + bytes(2_000) + b"PAR1"])
def test_what_is_no_parquet_is_one_sentence_without_its_content(raw):
    with pytest.raises(TableFileError, match=r"^t\.parquet is damaged, or no Parquet file: .*\.$"):
        as_csv(raw, "t.parquet")


def test_a_damaged_file_is_a_sentence_wherever_it_is_damaged():
    raw, rng = written(numbers(200)), np.random.default_rng(8)
    for _ in range(200):
        broken = bytearray(raw)
        at = int(rng.integers(len(raw)))
        broken[at : at + 4] = rng.bytes(4)
        assert refusal(bytes(broken)).startswith(("t.parquet ", "Column ", "none"))


def test_a_column_that_holds_no_cells_is_left_out_of_a_public_table():
    table = pa.table({"x": [1.0, 2.0], "l": [[1.0], None], "b": [b"1", b"2"]})
    found = read_public(as_csv(written(table), "t.parquet"))
    assert list(found) == ["x"]


def test_a_small_file_of_endless_text_is_refused_before_it_is_written_out(monkeypatch):
    """A text of a million letters, a million times: the file has 50 kB, the table a terabyte."""
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1_000_000, dtype=np.int32)), pa.array(["x" * 1_000_000]))
    raw = written(pa.table({"t": same}))
    assert len(raw) < 100_000
    with pytest.raises(TableFileError, match="as text: keep fewer rows"):
        as_csv(raw, "t.parquet")
    with pytest.raises(TableFileError, match="as text: keep fewer rows"):
        as_csv(written(pa.table({"t": ['"' * 300_000_000]})), "t.parquet")
    plain = written(pa.table({"t": np.arange(50_000)}))
    assert as_csv(plain, "t.parquet")
    monkeypatch.setattr(columnar, "MAX_BYTES", 100_000)
    with pytest.raises(TableFileError, match="as text: keep fewer rows"):
        as_csv(plain, "t.parquet")


def test_columns_without_cells_are_not_read_however_much_they_unpack_to():
    """Bytes and lists of gigabytes in a file of bytes: the peak of Arrow's memory stays that of the numbers."""
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(8_192, np.int32)), pa.array([bytes(100_000)]))
    lists = pa.array([[0] * 3_000] * 8_192, pa.list_(pa.int8()))
    raw = written(pa.table({"x": np.arange(8_192), "b": same, "l": lists}), compression="zstd", store_schema=False)
    del same, lists
    before, peak = pa.total_allocated_bytes(), []
    pool = pa.default_memory_pool()
    top = pool.max_memory()
    found = as_csv(raw, "t.parquet")
    peak.append(max(pool.max_memory() - max(top, before), 0))
    assert found.count(b"<binary>") == found.count(b"<list>") == 8_192
    assert peak[0] < 50_000_000
