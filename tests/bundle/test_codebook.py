"""The codebook of a bundle: every measured column in the owner's terms, the same in every reader."""

import csv
import io
import zipfile

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov import Kind, PrivateDataset
from privcov.bundle.codebook import HEADINGS, RULES, about_rows, codebook
from privcov.releases.display import matrix_of
from tests import forging

KINDS = {
    "=age": Kind("integer", 0, 120, typical=45),
    "pay": Kind("number", 0, 1e6, transform="log1p", missing_codes=("-9", "x")),
    "sex": Kind("yes-no", values=("F", "M"), typical="F"),
    "ward": Kind("category", values=("A", "B"), other=True),
    "pain": Kind("ordinal", values=("no", "some", "much")),
    "seen": Kind("date", "2024-01-01", "2024-12-31"),
}


def test_every_measured_column_is_in_the_owners_terms():
    facts = PrivateDataset.from_rows(pd.DataFrame({name: [""] for name in KINDS}), kinds=KINDS).facts
    assert codebook(facts) == [
        ("'=age", "'=age", "integer", "0", "120", "45", "", ""),
        ("log1p(pay)", "pay", "number log1p", "0", "1000000", "the middle", "", "'-9 | x"),
        ("sex=M", "sex", "yes-no", "", "", "F", "0: F | 1: M", ""),
        ("ward=A", "ward", "category", "", "", "", "A", ""),
        ("ward=B", "ward", "category", "", "", "", "B", ""),
        ("ward=other", "ward", "category", "", "", "", "other", ""),
        ("pain", "pain", "ordinal", "", "", "the middle", "1: no | 2: some | 3: much", ""),
        ("seen", "seen", "date, in days since 1970-01-01", "2024-01-01", "2024-12-31", "the middle", "", ""),
    ]


def test_numbers_have_their_limits_and_none_without_bounds():
    rows = np.zeros((3, 2))
    bounded = PrivateDataset.from_rows(rows, bounds=[(0, 1), (-5, 2.5)], typical=[None, 0.25], columns=["a", "b"])
    assert [line[3:6] for line in codebook(bounded.facts)] == [("0", "1", "0.5"), ("-5", "2.5", "0.25")]
    assert [line[3:6] for line in codebook(PrivateDataset.from_rows(rows, row_bound=2.0).facts)] == [("", "", "")] * 2


@pytest.mark.parametrize("missing", list(RULES))
def test_what_holds_for_every_row_is_said(missing):
    table = PrivateDataset.from_rows(
        np.zeros((3, 2)), bounds=[(0, 1)] * 2, missing=missing, n_public=missing != "drop-row", row_bound_fraction=0.5
    )
    protected, rule, shortened = about_rows(table.facts)
    assert table.facts.neighbours.sentence in protected
    assert rule == RULES[missing]
    assert "0.5 of the longest possible row" in shortened


@pytest.mark.parametrize("kind", ["zcdp", "typed columns", "missing cells", "classes, hidden n"])
def test_it_is_in_the_bundle_the_report_and_python(kind, tmp_path):
    files = forging.bundled(tmp_path, kind)
    with zipfile.ZipFile(tmp_path / "out.zip") as zipped:
        assert sorted(zipped.namelist()) == sorted(files)
    bundle = privcov.open_bundle(tmp_path / "out.zip")
    facts = bundle.measurement.facts
    head, *lines = csv.reader(io.StringIO(files["extras/codebook.csv"].decode()))
    assert (tuple(head), [tuple(line) for line in lines]) == (HEADINGS, codebook(facts))
    assert bundle.codebook().to_numpy().tolist() == [list(line) for line in codebook(facts)]
    assert RULES[facts.missing] in files["report.html"].decode()
    assert RULES[facts.missing] in files["README.txt"].decode()
    said = str(bundle).splitlines()
    assert len(said) == 5
    assert f"{facts.d} columns" in said[0]
    assert max(map(len, said)) < 200


@pytest.mark.parametrize("kind", ["zcdp", "typed columns", "missing cells", "classes, hidden n", "laplace"])
def test_the_matrix_that_the_page_shows_is_in_the_bundle(kind, tmp_path):
    files = forging.bundled(tmp_path, kind)
    bundle = privcov.open_bundle(tmp_path / "out.zip")
    rel = bundle.estimate(bundle.entry["request"]["method"], **bundle.entry["request"]["parameters"])
    for name in ("correlation", "covariance"):
        held = pd.read_csv(io.BytesIO(files[f"extras/estimated_{name}.csv"]), index_col=0).to_numpy()
        assert held.tolist() == matrix_of(rel, name).tolist()
    assert rel.parameters["centre"] == "joint", "of all rows together, also where the release is of classes"
    assert sum("extras/estimated_" in line and line.startswith("Not checked") for line in bundle.checked) == 2
