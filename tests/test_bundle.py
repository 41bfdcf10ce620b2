"""The bundle: checked without the data, the same bytes for the same release, and nothing in it that must not leave."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privcov
from pages.common import show
from privcov.bundle import derived, safe, verify
from privcov.bundle.archive import BundleError
from privcov.bundle.derived import declared_facts
from privcov.bundle.inputs import facts_of
from privcov.bundle.read import bundle_of, open_stored
from privcov.core.guarantees import ZCDP
from privcov.ledger import Ledger
from privcov.tables.declaration.declaration import Column, Declaration
from tests.forging import KINDS, NAMES, ROWS, bundled, files_of, problem, redone, released, rewritten
from tests.privacy.checkers import replayed


def of_the_page(folder: Path, kind: str) -> dict[str, bytes]:
    """As the page makes it."""
    _, ledger = released(folder, kind)
    (entry,) = ledger.entries("t")
    opened = open_stored(ledger.stored(entry.token))
    return files_of(bundle_of(opened, entry.to_dict(), None))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    return of_the_page(tmp_path_factory.mktemp("bundle"), "zcdp")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_bundle_holds_without_the_data(tmp_path, kind):
    found = bundled(tmp_path, kind)
    _, lines = verify.check(found)
    assert lines[-1] == "Consistent: everything that can be checked holds."
    stored = np.load(io.BytesIO(found["matrices.npz"]))
    (entry,) = Ledger(tmp_path / "ledger.sqlite").entries("t")
    answers = open_stored(Ledger(tmp_path / "ledger.sqlite").stored(entry.token)).matrices
    there = [name for name in derived.MATRICES if getattr(answers, name) is not None]
    assert set(stored.files) == {"moment", *there}
    for name in there:
        assert np.array_equal(stored[name], getattr(answers, name))
        lines = list(csv.reader(io.StringIO(found[f"matrices/{name}.csv"].decode(), newline="")))[1:]
        read = np.array([[float(x) for x in line[1:]] for line in lines])
        assert np.array_equal(read, np.atleast_2d(stored[name]))


def test_python_and_the_page_make_the_same_bytes(tmp_path):
    """Twice, and from a stored release returned again."""
    page, rel = of_the_page(tmp_path, "zcdp"), None
    method, guarantee, _ = KINDS["zcdp"]
    x = np.random.default_rng(3).multivariate_normal([50] * 4, 60 + 100 * np.eye(4), ROWS)
    private = privcov.PrivateDataset.from_rows(x, bounds=[(0, 100)] * 4, columns=NAMES, name="t")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for turn in range(2):
        rel = privcov.release_private(private, guarantee, method, ledger=ledger)
        rel.save_bundle(tmp_path / f"{turn}.zip")
    assert len(ledger.entries()) == 1
    first = (tmp_path / "0.zip").read_bytes()
    assert (tmp_path / "1.zip").read_bytes() == first
    own = files_of(first)
    assert page == own
    assert sorted(path.name for path in tmp_path.glob("*.zip*")) == ["0.zip", "1.zip"]


def declaration(**more) -> Declaration:
    columns = tuple(Column(name, 0.0, 100.0, None, "known before") for name in NAMES)
    return Declaration(**{"name": "t", "row_stands_for": "one patient", "columns": columns, **more})


def test_the_owners_declaration_goes_in_where_it_is_that_of_the_release(tmp_path, monkeypatch):
    rel, _ = released(tmp_path, "zcdp")
    for said, kept in ((declaration(), True), (declaration(name="other"), False), (declaration(missing="typical",
                       rows_per_person=2), False)):  # fmt: skip
        rel.save_bundle(tmp_path / "out.zip", json.loads(said.to_json()))
        found = files_of((tmp_path / "out.zip").read_bytes())
        assert not problem(found, monkeypatch)
        there = json.loads(found["declaration.json"])
        assert there == (json.loads(said.to_json()) if kept else declared_facts(rel.measurement))
    for said in (5, [], "words"):  # is none at all
        rel.save_bundle(tmp_path / "out.zip", said)
        assert json.loads(files_of((tmp_path / "out.zip").read_bytes())["declaration.json"]) == there
    forged = json.loads(declaration().to_json())
    for change in (
        {"rows_per_person": 2}, {"n_public": False}, {"row_bound": 1.0}, {"missing": "drop-row"}, {"name": "other"},
        {"classes": ["a", "b"], "label": "c"}, {"more": 1}, {"columns": []}, {"format": "privcov-declaration-3"},
    ):  # fmt: skip
        changed = redone({**found, "declaration.json": derived.json_bytes({**forged, **change})})
        assert "declaration" in problem(changed, monkeypatch), change


def test_what_was_measured_is_public_and_makes_the_release_again(tmp_path):
    from privcov.releases import private as _private
    from privcov.releases import private_request as _request

    rel, ledger = released(tmp_path, "zcdp")
    found = rel.measurement
    assert found.total.dtype == np.int64
    assert found.event == rel.events[0]
    assert (found.facts.n, found.n_anchors, found.shape) == (ROWS, 1, "free-groups")
    assert _request.release_from_measurement("gaussian-cov", found, ZCDP(0.5)).to_json() == rel.to_json()
    (entry,) = ledger.entries()
    again = _private.read_release(ledger.stored(entry.token))
    assert again.measurement.to_dict() == found.to_dict()
    assert rel.entry == entry.to_dict()
    public = privcov.release(
        privcov.source("ar1-covariance", n=100, d=3, random_state=0), ZCDP(0.5), "gaussian-cov", random_state=0
    )
    for unknowing in (public, again, privcov.Release.from_json(rel.to_json())):
        with pytest.raises(ValueError, match="make the same request again, which pays nothing"):
            unknowing.save_bundle(tmp_path / "never.zip")
    assert public.measurement is None
    assert not (tmp_path / "never.zip").exists()
    answer = json.loads(ledger.stored(entry.token))
    answer["measurement"]["event"]["law"] = "another"
    with pytest.raises(ValueError, match="belongs to another release"):
        _private.read_release(json.dumps(answer))


def test_a_bundle_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    rel, _ = released(tmp_path, "zcdp")
    (tmp_path / "taken").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for place in (tmp_path / "taken", tmp_path / "nowhere" / "out.zip"):
        with pytest.raises(OSError, match=r"taken|nowhere"):
            rel.save_bundle(place)
    assert sorted(tmp_path.rglob("*")) == before


# --- what must not be in it ---------------------------------------------------------------------------------


def test_an_undeclared_number_of_rows_a_seed_or_a_hash_is_nowhere(files, tmp_path, monkeypatch):
    # fixed noise of a few rows: drawn noise could leave the count at the true one by chance
    with replayed([], monkeypatch, noise=12_345 * 10**8):
        found = of_the_page(tmp_path, "approx, hidden n")
    as_printed = rf"(?<![\d.]){ROWS:,}(?!\d)".replace(",", ",?")
    assert re.search(as_printed, files["report.html"].decode()), "a public number of rows would be found"
    for name, raw in found.items():
        if name in ("verify.py", "README.txt", "matrices.npz"):
            continue
        text = re.sub("[0-9a-f]{64}", "", raw.decode())  # a hash may hold any four digits
        assert not re.search(as_printed, text), name
        assert "seed" not in text.lower().replace("no seed", ""), name
        assert "fingerprint" not in text, name
    assert json.loads(found["measurement.json"])["facts"]["n"] is None


def test_names_are_text_everywhere(files):
    for name in files:
        header = files[name].decode().splitlines()[0] if name.endswith(".csv") else ""
        if NAMES[2] in header:
            assert "'=cmd" in header, name
        assert not re.search(r'(^|,)"?=', header), name
    report = files["report.html"].decode()
    assert "<script>alert" not in report
    assert "http://" not in report


def test_lines_of_a_bundle_are_text_and_its_axes_are_no_columns(files):
    """The eigenvalues and loadings stand over axes, every other matrix over the columns."""
    for name in files:
        if name.startswith("matrices/"):
            header = files[name].decode().splitlines()[0].split(",")[1:]
            axes = name in ("matrices/eigenvalues.csv", "matrices/loadings.csv")
            assert header == ([f"axis {k}" for k in range(1, 5)] if axes else [safe.cell(n) for n in NAMES]), name
    assert derived._lines((("=title", "@text"), ("plain", "words"))) == b"'=title: '@text\nplain: words\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [("=1", "'=1"), ("  =1", "'  =1"), ("\u00a0-1", "'\u00a0-1"), ("\uff1d1", "'\uff1d1"), ("%1", "'%1"), ("|1", "'|1"),
     ("\t1", "'\t1"), ("\u200b=1", "'=1"), ("a\u202eb\x00c", "abc"), ("a=b", "a=b"), ("", "")],
)  # fmt: skip
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(text, told):
    assert safe.cell(text) == told


def test_names_that_only_invisible_letters_told_apart_stay_apart():
    assert safe.cells(["a", "a\u200b", "a\u200c", "a (2)"]) == ["a", "a (2)", "a (3)", "a (2) (2)"]


@given(st.text(max_size=12))
def test_no_text_cell_starts_a_formula(text):
    found = safe.cell(text)
    assert not found.lstrip(" \u00a0\u3000").startswith(("=", "+", "-", "@", "\t", "\r"))
    assert "\u202e" not in found
    assert "\x00" not in found


@pytest.mark.parametrize("separator", ";\t,")
@pytest.mark.parametrize("between", [";", "\t", ",", "\n", "\r\n", ", ;", ';"', "; "])
def test_no_reader_of_any_separator_sees_a_formula_in_a_name(between, separator):
    """As a spreadsheet reads it, line by line where a quoted line break is none for it; also Estimate's matrix."""
    name = f"x{between}=cmd|' /C calc'!A0"
    own = show.matrix_table(np.ones((2, 2)), ("a", name)).to_csv()
    for text in (safe.table(np.ones((2, 2)), ("a", name), ("a", name)), own):
        for read in (io.StringIO(text, newline=""), (line.replace('"', "") for line in text.splitlines())):
            found = [field.strip() for line in csv.reader(read, delimiter=separator) for field in line]
            assert any("=cmd" in field for field in found)
            assert not [field for field in found if field.startswith(("=", '"='))]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_a_csv_holds_the_same_doubles(numbers):
    matrix = np.array(numbers).reshape(2, 2)
    lines = list(csv.reader(io.StringIO(safe.table(matrix, ("a", "b"), ("a", "b")), newline="")))[1:]
    read = np.array([[float(cell) for cell in line[1:]] for line in lines])
    assert read.tobytes() == matrix.tobytes()


def test_bounds_beside_a_row_bound_are_refused(tmp_path, monkeypatch):
    """No number follows from them, and a reader would believe them."""
    table = privcov.PrivateDataset.from_rows(np.full((50, 2), 0.3), row_bound=1.0, columns=["a", "b"], name="t")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(1.0))
    rel = privcov.release_private(table, privcov.ZCDP(1.0), "auto-cov", ledger=ledger)
    columns = (Column("a", reason="x"), Column("b", reason="x"))
    plain = json.loads(Declaration("t", "one row", columns, row_bound=1.0, missing="typical").to_json())
    rel.save_bundle(tmp_path / "b.zip", plain)
    files = files_of((tmp_path / "b.zip").read_bytes())
    assert json.loads(files["declaration.json"]) == plain
    assert not problem(files, monkeypatch)
    plain["columns"][0] |= {"low": -1000.0, "high": 7777.0}
    assert "bounds or a row_bound" in problem(rewritten(files, "declaration.json", plain), monkeypatch)


@pytest.mark.parametrize("more", [{"row_bound_fraction": 1.0}, {"person": ""}, {"missing_codes": []}, {"n": 50}])
def test_a_declaration_is_written_in_one_way(more):
    """What has its usual value is left out, so that two texts never state the same facts."""
    plain = json.loads(Declaration("t", "one row", (Column("a", 0, 9, 4, "x"),), missing="typical").to_json())
    assert facts_of(plain, 50).n == 50
    with pytest.raises((ValueError, BundleError)):
        facts_of(plain | more, 50)
