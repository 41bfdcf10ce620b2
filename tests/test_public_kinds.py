"""Public files are read as private ones are: kinds, codes and dialects make the same whole numbers at both doors."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov import Dataset, Dialect, Kind, PrivateDataset
from privcov.measurements.exact.file_pass.file_moment import sums_of
from privcov.steward.check import check_files, check_upload
from privcov.tables.declaration.declaration import FORMAT, Column, Declaration, read_private

KINDS = {
    "age": Kind("integer", 0, 120),
    "pay": Kind("number", 0, 1e5, transform="log1p", typical=2000.0),
    "sex": Kind("yes-no", values=("F", "M")),
    "agrees": Kind("ordinal", values=("no", "so so", "yes"), weight=0.5),
    "ward": Kind("category", values=("A", "B"), other=True),
    "seen": Kind("date", "2024-01-01", "2024-12-31", format="%d.%m.%Y"),
}
CODES = ("-9", "?")
PLAIN, GERMAN = Dialect(), Dialect(";", ",", "latin-1")


def frame(n: int = 400, holes: float = 0.0) -> pd.DataFrame:
    """Cells of any kind as texts; ``holes`` is the share that is empty, a code, or nothing of its kind."""
    rng = np.random.default_rng(8)
    cells = {
        "age": rng.integers(0, 130, n).astype(str),
        "pay": [f"{x:.2f}" for x in rng.lognormal(7, 1, n)],
        "sex": rng.choice(["F", "M"], n),
        "agrees": rng.choice(["no", "so so", "yes"], n),
        "ward": rng.choice(["A", "B", "Ä", "x, y"], n),
        "seen": [f"{d:02}.{m:02}.2024" for d, m in zip(rng.integers(1, 29, n), rng.integers(1, 13, n), strict=True)],
        "left out": rng.choice(["?", "é"], n),
    }
    table = pd.DataFrame(cells)
    for name in list(KINDS):
        bad = rng.random(n) < holes
        table.loc[bad, name] = rng.choice(["", "-9", "?"], bad.sum())
    return table


def written(table: pd.DataFrame, path, dialect: Dialect):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=dialect.separator, lineterminator="\n")
    writer.writerow(table.columns)
    mark = str.maketrans(".", dialect.decimal)
    for row in table.itertuples(index=False):
        cells = zip(table.columns, row, strict=True)
        writer.writerow([cell.translate(mark) if name == "pay" else cell for name, cell in cells])
    path.write_bytes(out.getvalue().encode(dialect.encoding))
    return path


def sums(made) -> tuple:
    """Everything that the pass adds up."""
    found = sums_of(made)
    return np.array(found.second()).tolist(), found.lines.tolist(), found.n_rows


@pytest.mark.parametrize("dialect", [PLAIN, GERMAN], ids=["plain", "german"])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_csv_and_parquet_add_up_to_the_same_whole_numbers(tmp_path, dialect, holes):
    table = frame(holes=holes)
    path = written(table, tmp_path / "t.csv", dialect)
    table.to_parquet(tmp_path / "t.parquet")
    how = {"kinds": KINDS, "missing_codes": CODES}
    private = PrivateDataset.from_files(path, missing="drop-row", n_public=False, dialect=dialect, **how)
    assert private.facts.columns[-2:] == ("ward=other", "seen")
    again = PrivateDataset.from_files(tmp_path / "t.parquet", missing="drop-row", n_public=False, **how)
    assert private.facts.to_dict() == again.facts.to_dict()
    assert sums(private) == sums(again)
    if not holes:
        assert Dataset.from_rows(table, **how).columns == private.facts.columns


def test_a_public_cell_that_is_no_value_is_refused_with_its_column():
    with pytest.raises(ValueError, match=r"X must be finite, but columns .*'age'"):
        Dataset.from_rows(frame(holes=0.2), kinds=KINDS, missing_codes=CODES)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"kinds": KINDS, "bounds": [(0, 1)] * 6}, "kinds hold the bounds"),
        ({"kinds": {}}, "kinds must give at least one column"),
        ({"kinds": {"nowhere": Kind("number", 0, 1)}}, "nowhere"),
        ({"missing_codes": ["-9"]}, "missing_codes need bounds or kinds"),
        ({"missing_codes": "-9", "kinds": KINDS}, "missing_codes must be a list"),
        ({"kinds": KINDS, "mean_is_zero": True}, "mean_is_zero says the mean is publicly zero"),
    ],
)
def test_kinds_that_do_not_fit_a_public_table(how, words):
    with pytest.raises(ValueError, match=words):
        Dataset.from_rows(frame(5), **how)


# --- declarations -------------------------------------------------------------------------------------------


def declared(**more) -> Declaration:
    columns = tuple(
        Column(name, kind.low, kind.high, kind.typical, "why", kind.kind, kind.values, kind.other, kind.transform)
        if kind.kind != "date"
        else Column(name, "2024-01-01", "2024-12-31", kind="date", format="%d.%m.%Y")
        for name, kind in KINDS.items()
    )
    usual = {"missing_codes": CODES, "missing": "pairs", "dialect": GERMAN}
    return Declaration("t", "one patient", columns, **{**usual, **more})


def test_kinds_go_through_json_and_a_bundle(tmp_path):
    declaration = declared()
    assert Declaration.from_json(declaration.to_json()) == declaration
    fields = json.loads(declaration.to_json())
    assert fields["columns"][0] == {
        "name": "age",
        "low": 0.0,
        "high": 120.0,
        "typical": None,
        "reason": "why",
        "kind": "integer",
    }
    assert "kind" not in fields["columns"][1]  # a number is the usual kind
    path = written(frame(holes=0.1), tmp_path / "t.csv", GERMAN)
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(1.0))
    release = privcov.release_private(
        declaration.dataset_from_files(path), privcov.ZCDP(1.0), "auto-cov", ledger=ledger
    )
    release.save_bundle(tmp_path / "b.zip", fields)
    from privcov.cli.entry import main

    assert main(["verify", str(tmp_path / "b.zip")]) == 0
    found = read_private(path.read_bytes(), declaration)
    assert found.facts.to_dict() == declaration.dataset_from_files(path).facts.to_dict()
    ledger.set_limit("t", privcov.ZCDP(1.0))
    again = privcov.release_private(found, privcov.ZCDP(1.0), "auto-cov", ledger=ledger)
    assert again.to_json() == release.to_json()  # the upload is the same table, and nothing is paid again


def test_the_owners_check_knows_the_kinds(tmp_path):
    path = written(frame(holes=0.1), tmp_path / "t.csv", GERMAN)
    results = check_files(declared(), path), check_upload(path.read_bytes(), declared())
    for result in results:
        assert [c.unreadable for c in result.columns] == [0] * 6
        assert all(c.missing > 0 for c in result.columns[:4])
    assert [vars(c) for c in results[0].columns] == [vars(c) for c in results[1].columns]


def test_a_declaration_without_kinds_names_none():
    fields = json.loads(Declaration("t", "x", (Column("a", 0, 1),)).to_json())
    assert (fields["format"], set(fields["columns"][0])) == (FORMAT, {"name", "low", "high", "typical", "reason"})


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"kind": "category"}, "Column 'a': kind='category' needs values"),
        ({"kind": "category", "values": "AB"}, "values of a column as a list"),
        ({"kind": "nothing"}, "Column 'a': kind must be one of"),
        ({"low": 0, "high": 9, "transform": "log"}, "transform='log' needs low > 0"),
        ({"low": 0, "high": 9, "missing_codes": ["5"]}, "The code '5' for a missing cell is inside the bounds"),
        ({"low": "x", "high": 9, "kind": "integer"}, "low must be"),
        ({"kind": "date", "low": "2024-01-01"}, "needs low and high"),
        ({"kind": "category", "values": [str(k) for k in range(10_000)]}, "takes 2 to 200 values, got 10,000"),
        ({"kind": "date", "low": "2024-01-01", "high": "2024-12-31", "format": "%Q"}, "format"),
    ],
)
def test_a_column_that_cannot_be_is_named_in_one_sentence(column, words):
    fields = {"format": FORMAT, "name": "t", "row_stands_for": "x", "rows_per_person": 1, "n_public": True}
    fields["missing"] = "typical"
    fields["columns"] = [{"name": "a", **column}]
    with pytest.raises(ValueError, match=words) as caught:
        Declaration.from_json(json.dumps(fields))
    assert "\n" not in str(caught.value)
