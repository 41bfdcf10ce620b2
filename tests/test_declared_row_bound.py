"""A declared row bound, from a declaration in files: texts, the shell, bundles and public rows."""

import json
import math
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privcov import Ledger, Release, ZCDP
from privcov.cli.entry import main
from privcov.tables.declaration.declaration import Column, Declaration, read_private

COLUMNS = tuple(Column(f"x{j}", -1.0, 1.0, 0.0, "known") for j in range(4))
SHORT = Declaration("clinic", "one patient", COLUMNS, row_bound_fraction=0.35)
PLAIN = Declaration("clinic", "one patient", COLUMNS)


@pytest.fixture
def place(tmp_path):
    """A folder with a table whose rows are mostly short, and a ledger with a limit."""
    rows = np.clip(np.random.default_rng(0).normal(size=(5000, 4)) * 0.1, -1, 1)
    rows[:100] = 0.9
    pq.write_table(pa.table({c.name: rows[:, j] for j, c in enumerate(COLUMNS)}), tmp_path / "t.parquet")
    Ledger(tmp_path / "ledger.sqlite").set_limit("clinic", ZCDP(10.0))
    return tmp_path


def shell(place, declaration: Declaration, *more) -> int:
    (place / "d.json").write_text(declaration.to_json(), encoding="utf-8")
    words = ["release", place / "t.parquet", "--declaration", place / "d.json", "--rho", 2, "--ledger"]
    return main(list(map(str, [*words, place / "ledger.sqlite", *more])))


def test_a_text_says_the_row_bound_only_where_it_is_declared():
    plain, short = json.loads(PLAIN.to_json()), json.loads(SHORT.to_json())
    assert plain["format"] == short["format"] == "privcov-declaration-2"
    assert "row_bound_fraction" not in plain
    assert short["row_bound_fraction"] == 0.35
    for one in (PLAIN, SHORT):
        assert Declaration.from_json(one.to_json()) == one
    with pytest.raises(ValueError, match="privcov-declaration-2"):
        Declaration.from_json(json.dumps({**short, "format": "privcov-declaration-1"}))
    assert Declaration.from_json(json.dumps({**short, "row_bound_fraction": None})) == PLAIN, "no column has a range"
    for wrong in (0, 1.5, "x"):
        with pytest.raises(ValueError, match="row_bound_fraction"):
            Declaration.from_json(json.dumps({**short, "row_bound_fraction": wrong}))


def test_a_declared_bound_reaches_rows_and_files(place):
    rows = pq.read_table(place / "t.parquet").to_pandas().to_csv(index=False).encode()
    bound = 0.35 * math.sqrt(4)
    assert SHORT.dataset_from_files(place / "t.parquet").facts.row_bound == bound
    assert read_private(rows, SHORT).facts.row_bound == bound


@pytest.mark.parametrize("declaration", [SHORT, PLAIN])
def test_the_shell_releases_bundles_and_verifies(place, declaration, capsys):
    out, bundle = place / "r.json", place / "b.zip"
    assert shell(place, declaration, "--out", out, "--bundle", bundle) == 0
    made = Release.from_json(out.read_text(encoding="utf-8"))
    assert len(made.events) == 1
    assert made.row_bound == declaration.row_bound_fraction * 2
    assert main(["verify", str(bundle)]) == 0
    with zipfile.ZipFile(bundle) as archive:
        told = json.loads(archive.read("declaration.json"))
    assert told == json.loads(declaration.to_json())
    free = "Nothing was spent: the ledger had this release already."
    assert free not in capsys.readouterr().err
    assert shell(place, declaration, "--out", out) == 0
    assert free in capsys.readouterr().err
    assert len(Ledger(place / "ledger.sqlite").entries()) == 1
