"""The owner's check counts what the reader counts, in every format, and names every kind of unreadable column."""

import dataclasses
import gzip
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privcov
from privcov.cli.check import _rules
from privcov.steward import cell_kinds
from privcov.steward.check import advice, check_files, check_upload
from privcov.tables.declaration.declaration import Column, Declaration, PrivateFileError, read_private

SECRET = "Quibbleworth"
# kind -> cells of a column that no reader takes for numbers
UNREADABLE = {
    cell_kinds.COMMA: ['"1,5"', '"2,25"', '"1.234,5"', '"-3,0"'],
    cell_kinds.TRUTH: ["True", "False", "yes", "No"],
    cell_kinds.DATES: ["2001-05-03", "03.05.2001", "5/6/2001", "2001-05-03 12:30"],
    cell_kinds.LETTERS: ["F", "M", "F", "m"],
    cell_kinds.UNITS: ["12 kg", "€5", "50%", "7mg"],
    cell_kinds.ABSENT: ["-", "?", "unknown", "#N/A"],
    cell_kinds.TEXT: [SECRET, f"Mr {SECRET}", "x y z", "1_2"],
}


def declared(*names: str, low: float = 0.0, high: float = 100.0, **more) -> Declaration:
    return Declaration("ward", "one patient", tuple(Column(name, low, high) for name in names), **more)


def csv_of(columns: dict[str, list[str]]) -> bytes:
    lines = [",".join(columns), *(",".join(cells) for cells in zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def both(tmp_path, raw: bytes, what: Declaration) -> list:
    """From a file, from one that is compressed, and from the bytes in memory: the same counts."""
    (tmp_path / "t.csv").write_bytes(raw)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(raw))
    found = [check_files(what, tmp_path / name) for name in ("t.csv", "t.csv.gz")]
    found.append(check_upload(raw, what))
    counted = [[vars(column) for column in one.columns] for one in found]
    assert counted[0] == counted[1] == counted[2]
    return found


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_column_of_every_unreadable_kind_is_named(tmp_path, kind):
    raw = csv_of({"age": ["30", "40", "50", "60"], "odd": UNREADABLE[kind]})
    for found in both(tmp_path, raw, declared("age", "odd")):
        age, odd = found.columns
        assert (age.numbers, age.unreadable, age.missing) == (4, 0, 0)
        assert (odd.numbers, odd.unreadable, odd.missing) == (0, 4, 0)
        assert odd.looks == {kind: 4}
        assert found.wasted == ("odd",)
        assert found.verdict == "Look again: no readable number in 'odd'."
        assert len(advice(found)) == 1
        assert SECRET not in repr(found) + found.verdict + repr(vars(odd)) + str(advice(found))


def test_a_mixed_file_is_counted_cell_by_cell(tmp_path):
    columns = {
        "fine": ["1", "2.5", "1e1", " 4 ", "5", "6"],
        "holes": ["", "NA", "nan", "7", "null", "n/a"],
        "endless": ["inf", "-inf", "1", "2", "3", "4"],
        "mixed": ["1", '"1,5"', "abc", "2001-05-03", "", "2"],
        "code": ["-9", "999", "-9", "999", "50", "999"],
        "wide": ["1000", "2", "-7.5", "4", "5", "6"],
    }
    for found in both(tmp_path, csv_of(columns), declared(*columns)):
        numbers = {c.name: (c.numbers, c.missing, c.infinite, c.unreadable, c.outside) for c in found.columns}
        assert numbers == {
            "fine": (6, 0, 0, 0, 0),
            "holes": (1, 5, 0, 0, 0),
            "endless": (4, 0, 2, 0, 0),
            "mixed": (2, 1, 0, 3, 0),
            "code": (6, 0, 0, 0, 5),
            "wide": (6, 0, 0, 0, 2),
        }
        assert found.columns[3].looks == {cell_kinds.COMMA: 1, cell_kinds.TEXT: 1, cell_kinds.DATES: 1}
        assert found.columns[4].codes == {-9.0: 2, 999.0: 3}
        assert found.wasted == ("mixed",)
        assert found.verdict == (
            "Look again: hardly a readable number in 'mixed'; mostly missing cells in 'holes'; numbers that look "
            "like codes for missing cells in 'code'; more than 1% of the cells outside their bounds in 'wide'; missing "
            "cells in 'endless', which count as typical values: means lean towards those, and correlations are weaker."
        )


def test_each_file_of_a_table_has_its_own_decimal_mark(tmp_path):
    """Parquet has none, whatever the CSV beside it declares, and the release reads both so."""
    (tmp_path / "b.csv").write_text("a;b\n1,5;2,5\n;3,5\n", encoding="utf-8")
    pq.write_table(pa.table({"a": [1.5, 2.5], "b": [3.5, None]}), tmp_path / "a.parquet")
    what = declared("a", "b", dialect=privcov.Dialect(";", ","))
    found = check_files(what, [tmp_path / "a.parquet", tmp_path / "b.csv"])
    assert [(c.numbers, c.missing, c.unreadable) for c in found.columns] == [(3, 1, 0), (3, 1, 0)]


def test_a_fine_file_is_said_to_be_fine_in_one_sentence(tmp_path):
    whole, gap = (csv_of({"a": ["1", "2", "3"], "b": ["4", cell, "6"]}) for cell in ("5", ""))
    for found in both(tmp_path, whole, declared("a", "b")):
        assert found.verdict.startswith("All fine: ")
        assert advice(found) == []
    for found in both(tmp_path, gap, declared("a", "b")):
        assert found.verdict.startswith("Look again: missing cells in 'b', which count as typical values")
    for rule in ({"missing": "pairs"}, {"missing": "drop-row", "n_public": False}):
        other = dataclasses.replace(declared("a", "b"), **rule)
        for found in both(tmp_path, gap, other):
            assert found.verdict.startswith("All fine: ")


def test_the_same_cells_are_numbers_as_in_a_release(tmp_path):
    """Cells of every spelling, plain and not, in pieces small enough that text comes and goes."""
    rng = np.random.default_rng(2)
    spelt = [
        "1",
        "-2.5e3",
        " 7",
        "nan(x)",
        "NaN",
        "0x1A",
        "1_0",
        "1,0",
        "",
        "inf",
        "+.5",
        "٣",
        "abc",
        "1e400",
        "n/A",
        "--",
    ]
    cells = rng.choice(spelt, size=(600, 2))
    lines = "\n".join(",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in cells)
    raw = ("a,b\n" + lines + "\n").encode()
    what = declared("a", "b", low=-1e4, high=1e4)
    (tmp_path / "t.csv").write_bytes(raw)
    rows = read_private(raw, what)._rows
    for found in (check_files(what, tmp_path / "t.csv"), check_upload(raw, what)):
        for j, column in enumerate(found.columns):
            assert column.numbers == np.isfinite(rows[:, j]).sum()
            assert column.infinite == np.isinf(rows[:, j]).sum()
            assert column.missing + column.unreadable == np.isnan(rows[:, j]).sum()
            assert column.cells == 600


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_typed_columns_that_hold_no_numbers_are_found_and_not_refused(tmp_path, kind):
    import datetime

    table = pa.table(
        {
            "number": pa.array([1.0, None, 3.0, float("inf")]),
            "whole": pa.array([1, 2, None, 150], pa.int32()),
            "truth": [True, False, True, None],
            "text": ["1.5", "F", "", None],
            "coded": pa.array(["F", "M", "F", "M"]).dictionary_encode(),
            "born": [datetime.date(2001, 5, 3)] * 4,
            "money": pa.array([1, 2, 3, 4], pa.decimal128(9, 2)),
        }
    )
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=3)
    else:
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table, max_chunksize=3)
    found = check_files(declared(*table.column_names), path)
    assert {c.name: (c.numbers, c.missing, c.infinite, c.unreadable) for c in found.columns} == {
        "number": (2, 1, 1, 0),
        "whole": (3, 1, 0, 0),
        "truth": (3, 1, 0, 0),
        "text": (0, 2, 0, 2),
        "coded": (0, 0, 0, 4),
        "born": (0, 0, 0, 4),
        "money": (4, 0, 0, 0),
    }
    looks = {c.name: c.looks for c in found.columns}
    assert looks["text"] == {cell_kinds.AS_TEXT: 1, cell_kinds.LETTERS: 1}
    assert looks["coded"] == {cell_kinds.LETTERS: 4}
    assert looks["born"] == {cell_kinds.DATES: 4}
    assert found.columns[1].outside == 1
    assert found.wasted == ("text", "coded", "born")


def test_labels_outside_the_list_are_counted(tmp_path):
    raw = csv_of({"a": ["1", "2", "3", "4"], "arm": ["x", " y ", "z", ""]})
    for found in both(tmp_path, raw, declared("a", label="arm", classes=("x", "y"))):
        assert (found.rows, found.unlisted) == (4, 2)
        assert "labels outside the list in 50.0% of the rows" in found.verdict


@pytest.mark.parametrize("kind", ["csv", "parquet", "numbers"])
def test_rows_without_an_id_are_counted(tmp_path, kind):
    """By the same rule as in a release, in a file as in memory."""
    what = declared("a", person="who")
    ids = [17, None, 3, 3] if kind == "numbers" else ["p1", " n/a ", "p2", "p2"]
    if kind == "csv":
        found = both(tmp_path, csv_of({"a": ["1", "2", "3", "4"], "who": ids}), what)
    else:
        pq.write_table(pa.table({"a": [1.0, 2.0, 3.0, 4.0], "who": ids}), tmp_path / "t.parquet")
        found = [
            check_files(what, tmp_path / "t.parquet"),
            privcov.check(what.dataset_from_files(tmp_path / "t.parquet")),
        ]
    rows = np.array([[1.0], [2.0], [3.0], [4.0]])
    for one in (*found, privcov.check(what.dataset_from_rows(rows, None, ids))):
        assert (one.rows, one.nameless) == (4, 1)
        assert one.verdict == "Look again: no id in 25.0% of the rows, which count as no row."
        assert advice(one)[0].startswith("1 of 4 rows have no id in ")
    whole = privcov.check(what.dataset_from_rows(rows, None, [1, 1, 2, 3]))
    assert (whole.nameless, advice(whole)) == (0, [])
    assert whole.verdict.startswith("All fine")


@pytest.mark.parametrize(("ids", "lone"), [(["p", " p ", "", "p"], 1), (["p", "p", "p", "q"], 0)])
def test_one_id_throughout_is_said(tmp_path, ids, lone):
    """An id of a hospital or a wave where those of persons were meant: the whole table would count as one person."""
    what = declared("a", person="who")
    found = both(tmp_path, csv_of({"a": ["1", "2", "3", "4"], "who": ids}), what)
    in_memory = privcov.check(what.dataset_from_rows(np.array([[1.0], [2.0], [3.0], [4.0]]), None, ids))
    for one in (*found, in_memory):
        assert one.lone is bool(lone)
        assert ("one id throughout in 'who', so the table is one person" in one.verdict) == bool(lone)
        assert ["one person: declare" in line for line in advice(one)].count(True) == lone


def test_one_id_is_compared_across_the_blocks_of_a_file(tmp_path):
    what, rows = declared("a", person="who"), 300_000
    for last, lone in (("p", True), ("q", False)):
        table = pa.table({"a": np.ones(rows), "who": ["p"] * (rows - 1) + [last]})
        pq.write_table(table, tmp_path / "t.parquet")
        assert check_files(what, tmp_path / "t.parquet").lone is lone


def test_a_file_without_the_column_of_ids_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv_of({"a": ["1", "2"]}))
    with pytest.raises(privcov.tables.readers.TableFileError, match="who"):
        check_files(declared("a", person="who"), tmp_path / "t.csv")
    with pytest.raises(ValueError, match="who"):
        check_upload(csv_of({"a": ["1", "2"]}), declared("a", person="who"))


def test_the_rule_says_whose_missing_cells_are_measured(tmp_path):
    raw = csv_of({"a": ["1", "", "3"], "b": ["", "2", "x"], "c": ["1", "2", "3"]})
    for rule in ("typical", "pairs"):
        for found in both(tmp_path, raw, declared("a", "b", "c", missing=rule)):
            assert found.missing == rule
            assert ("count as typical values" in found.verdict) is (rule == "typical")
    frame = pd.DataFrame({"y": [1.0, np.nan, 3.0] * 9, "ward": ["a", "b", None] * 9})
    kinds = {"y": privcov.Kind("number", 0, 5), "ward": privcov.Kind("category", values=("a", "b"))}
    private = privcov.PrivateDataset.from_rows(frame, kinds=kinds, missing="pairs", name="t")
    assert "count as typical" not in privcov.check(private).verdict
    assert _rules(privcov.check(private)) == ["Missing cells are measured in all columns."]
    left_out = privcov.PrivateDataset.from_rows(frame, kinds=kinds, missing="drop-row", n_public=False, name="t")
    assert _rules(privcov.check(left_out)) == []


def test_a_table_in_memory_and_one_in_files_are_checked_by_name(tmp_path):
    rows = np.array([[1.0, np.nan], [2.0, np.nan], [200.0, np.nan]])
    private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 100), (0, 1)], columns=["a", "b"], name="ward")
    found = privcov.check(private)
    assert found.wasted == ("b",)
    assert (found.columns[0].numbers, found.columns[0].outside, found.columns[1].missing) == (3, 1, 3)
    (tmp_path / "t.csv").write_bytes(csv_of({"a": ["1", "2", "200"], "b": ["F", "M", "F"]}))
    told = []
    of_files = privcov.check(
        declared("a", "b").dataset_from_files(tmp_path / "t.csv"), lambda *now: told.append(now[:2])
    )
    assert of_files.wasted == ("b",)
    assert told[-1] == (1000, 1000)


def test_it_cannot_be_written_out():
    found = check_upload(csv_of({"a": ["1", "2"]}), declared("a"))
    with pytest.raises(TypeError, match="never written out"):
        pickle.dumps(found)
    assert "numbers" not in repr(found.columns[0])


def test_what_cannot_be_read_says_nothing():
    with pytest.raises(PrivateFileError) as caught:
        check_upload(f"a,b\n1,2\n{SECRET}\n".encode(), declared("a", "b"))
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
