"""The owner's check of typed columns: what is a value, what is missing, and what is neither."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privcov import Kind, PrivateDataset, check
from privcov.steward.cell_kinds import UNDATED, UNLISTED
from privcov.steward.check import advice

KINDS = {
    "pay": Kind("number", 1, 100, transform="log"),
    "ward": Kind("category", values=("A", "B"), missing_codes=("?",)),
    "day": Kind("date", "2020-01-01", "2020-12-31"),
}
CELLS = {
    "pay": ["5", "1000", "-9", "", "n/a", "12 EUR"],
    "ward": ["A", "B ", "C", "?", "", "-9"],
    "day": ["2020-02-01", "2019-01-01", "01.02.2020", "", "-9", "2020-02-30"],
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_values_missing_and_unreadable_cells_are_counted(form, tmp_path):
    path = tmp_path / f"a.{form}"
    if form == "csv":
        rows = zip(*CELLS.values(), strict=True)
        path.write_text("\n".join([",".join(CELLS), *map(",".join, rows), ""]), encoding="utf-8")
    else:
        pq.write_table(pa.table(CELLS), path)
    found = check(PrivateDataset.from_files(path, kinds=KINDS, missing_codes=["-9"]))
    counts = {c.name: (c.numbers, c.missing, c.unreadable, c.outside, c.looks) for c in found.columns}
    assert counts["pay"][:4] == (2, 3, 1, 1)
    assert counts["ward"] == (2, 3, 1, 0, {UNLISTED: 1})
    assert counts["day"] == (2, 2, 2, 1, {UNDATED: 2})
    assert any("declared level" in line and "other=True" in line for line in advice(found))


@pytest.mark.parametrize("kinds", [{}, {"ward": KINDS["ward"]}, {"pay": KINDS["pay"]}])
def test_codes_are_seen_whatever_kinds_are_declared(kinds, tmp_path):
    """A kind of one column declares them all as kinds."""
    path = tmp_path / "a.csv"
    path.write_text("pay,age,ward\n" + "5,40,A\n" * 20 + "-9,-9,B\n" * 3)
    plain = {"pay": Kind("number", 1, 100), "age": Kind("integer", 0, 99), "ward": KINDS["ward"]}
    if not kinds:  # numbers with bounds and nothing else
        table = PrivateDataset.from_files(path, columns=["pay", "age"], bounds=[(1, 100), (0, 99)])
    else:
        table = PrivateDataset.from_files(path, kinds=plain | kinds)
    found = check(table)
    assert {c.name: c.codes for c in found.columns if c.name != "ward"} == {"pay": {-9.0: 3}, "age": {-9.0: 3}}
    assert any("Codes for missing cells" in line for line in advice(found))


def test_a_column_of_dates_has_values(tmp_path):
    days = pa.array([18300, 18400, None], pa.date32())
    pq.write_table(pa.table({"day": days}), tmp_path / "a.parquet")
    (column,) = check(PrivateDataset.from_files(tmp_path / "a.parquet", kinds={"day": KINDS["day"]})).columns
    assert (column.numbers, column.missing, column.unreadable) == (2, 1, 0)
