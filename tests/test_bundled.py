"""The bundled tables: their public facts are sensible, and the example is what its README says."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from privcov.data_sources.base import SOURCES, make_dataset
from privcov.data_sources.example import written
from privcov.data_sources.sachs import networks
from privcov.measurements.clipping import share_clipped
from privcov.tables.dataset import Dataset

ROOT = Path(__file__).resolve().parents[1]
SHAPES = {
    "breast-cancer": (569, 30),
    "wine": (178, 13),
    "digits": (1797, 64),
    "diabetes": (442, 10),
    "example": (20_000, 10),
    "sachs": (7466, 11),
}
# Limits that hold by the definition of the column, so that rows may well attain them.
BY_DEFINITION = {("diabetes", "sex"): {1.0, 2.0}} | {
    ("digits", f"pixel {i},{j}"): {16.0} for i in range(8) for j in range(8)
}


@pytest.fixture(scope="module")
def tables() -> dict[str, Dataset]:
    return {key: make_dataset(SOURCES.get(key).cls(), seed=0) for key in SHAPES}


@pytest.mark.parametrize("key", SHAPES)
def test_a_table_has_its_shape_names_and_provenance(tables, key):
    ds, card = tables[key], SOURCES.get(key)
    assert ds.rows.shape == SHAPES[key]
    assert ds.name == key
    assert ds.provenance == ("simulated" if key == "example" else "public")
    assert card.group == ("Simulated" if key == "example" else "Public data")
    assert len(set(ds.columns)) == ds.d
    assert max(map(len, ds.columns)) <= 24
    assert ds.truth is None
    assert not ds.mean_is_zero


@pytest.mark.parametrize("key", SHAPES)
def test_nothing_depends_on_the_seed(tables, key):
    again = make_dataset(SOURCES.get(key).cls(), seed=7, repeat=3)
    assert np.array_equal(again.rows, tables[key].rows)
    assert again.row_bound == tables[key].row_bound == 0.5 * math.sqrt(tables[key].d)


def test_labels_are_kept(tables):
    assert dict(zip(*np.unique(tables["breast-cancer"].labels, return_counts=True), strict=True)) == {
        "benign": 357,
        "malignant": 212,
    }
    assert np.unique(tables["wine"].labels, return_counts=True)[1].tolist() == [59, 71, 48]
    assert np.unique(tables["digits"].labels).tolist() == list(range(10))
    assert tables["example"].labels is None
    assert tables["diabetes"].labels is None


def test_columns_follow_the_packaged_order(tables):
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

    assert list(tables["breast-cancer"].columns) == load_breast_cancer().feature_names.tolist()
    assert load_diabetes().feature_names == ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
    assert load_digits().feature_names == [
        name.replace(" ", "_").replace(",", "_") for name in tables["digits"].columns
    ]
    header = (ROOT / "data" / "example.csv").read_text().splitlines()[0]
    assert list(tables["example"].columns) == header.split(",")


@pytest.mark.parametrize("key", SHAPES)
def test_public_facts_are_not_read_off_the_rows(tables, key):
    ds = tables[key]
    for name, values, (low, high), typical in zip(ds.columns, ds.rows.T, ds.bounds, ds.origin, strict=True):
        own = {values.min(), values.max(), values.mean()}
        # zero is the natural floor of a share, a length, a scale
        facts = {low, high, typical} - {0.0} - BY_DEFINITION.get((key, name), set())
        assert not own & facts, name
        assert low < typical < high or (key == "digits" and typical == low == 0), name
        for fact in (low, high, typical):
            assert fact == float(f"{fact:.3g}"), f"{name}: {fact} is not a round number"


@pytest.mark.parametrize("key", SHAPES)
def test_every_public_fact_has_a_unit_and_a_reason(key):
    for column in SOURCES.get(key).cls().table:
        assert column.unit
        assert len(column.why) > 10, column.name


@pytest.mark.parametrize(
    ("key", "cells", "rows"),
    [("breast-cancer", 54, 3), ("wine", 1, 0), ("digits", 0, 648), ("diabetes", 0, 0), ("example", 7, 0)],
)
def test_bounds_clip_little_and_are_not_absurdly_wide(tables, key, cells, rows):
    ds = tables[key]
    beyond = (ds.rows < ds.bounds[:, 0]) | (ds.rows > ds.bounds[:, 1])
    assert beyond.sum() == cells  # as the docstrings state
    assert beyond.mean(axis=0).max() < 0.05
    if key != "digits":  # a pixel's range is its definition, and some pixels are always blank
        assert (np.ptp(ds.bounds, axis=1) < 4 * np.ptp(ds.rows, axis=0)).all()
    assert (np.linalg.norm(ds.to_working(), axis=1) > ds.row_bound).sum() == rows


def test_the_example_is_reproduced_byte_for_byte():
    assert written() == (ROOT / "data" / "example.csv").read_bytes()


def test_the_example_is_small_and_plausible(tables):
    assert (ROOT / "data" / "example.csv").stat().st_size < 1_200_000
    ds = tables["example"]
    column = dict(zip(ds.columns, ds.rows.T, strict=True))
    assert np.array_equal(np.round(ds.rows, 1), ds.rows)
    assert column["age"].min() >= 18
    assert (column["systolic"] > column["diastolic"]).all()
    assert 0 <= column["stress"].min() < column["stress"].max() <= 40


PLANTED = {
    ("systolic", "diastolic"): 0.69, ("height", "weight"): 0.56, ("age", "systolic"): 0.51,
    ("age", "glucose"): 0.46, ("weight", "glucose"): 0.37, ("weight", "systolic"): 0.28,
    ("age", "steps"): -0.37, ("glucose", "steps"): -0.38, ("sleep", "stress"): -0.45,
    ("age", "cholesterol"): 0.29, ("age", "stress"): -0.19, ("height", "sleep"): 0.00,
}  # fmt: skip


@pytest.mark.parametrize(("pair", "expected"), PLANTED.items(), ids=map("-".join, PLANTED))
def test_the_planted_correlations_are_there_and_in_the_readme(tables, pair, expected):
    ds = tables["example"]
    x, y = (ds.rows[:, ds.columns.index(name)] for name in pair)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(expected, abs=0.0051)
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    line = next(line for line in readme.splitlines() if ", ".join(pair) in line)
    assert f"{expected:.2f}".replace("-", "−") in line


def test_the_readme_states_the_bounds_of_the_code():
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    for column in SOURCES.get("example").cls.table:
        row = f"| {column.name} | {column.unit} | {column.low:,} to {column.high:,} | {column.typical:,} |"
        assert row in readme


def test_importing_the_sources_loads_no_heavy_library():
    code = (
        "import sys\n"
        "from privcov.data_sources import breast_cancer, wine, digits, diabetes, example\n"
        "print({'pandas', 'sklearn'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_sachs_carries_three_published_networks(tables):
    ds = tables["sachs"]
    assert {name: int(graph.sum()) // 2 for name, graph in ds.graphs.items()} == {
        "consensus, 20 edges": 20,
        "18 edges": 18,
        "17 edges": 17,
    }
    assert ds.columns[3:5] == ("pip2", "pip3")
    for graph in ds.graphs.values():
        assert graph.shape == (11, 11)
        assert graph.dtype == bool
        np.testing.assert_array_equal(graph, graph.T)
        assert not graph.diagonal().any()
        assert (graph <= ds.graphs["consensus, 20 edges"]).all()
    raf, mek, p38, jnk = (ds.columns.index(name) for name in ("raf", "mek", "p38", "jnk"))
    assert all(graph[raf, mek] for graph in ds.graphs.values())
    assert not any(graph[p38, jnk] for graph in ds.graphs.values())
    assert networks() is networks()


def test_raw_intensities_of_the_cells(tables):
    raw = make_dataset(SOURCES.get("sachs").cls(scale="raw"), seed=0)
    assert np.array_equal(np.log10(raw.rows), tables["sachs"].rows)
    assert raw.row_bound == 1.0
    assert [round(share_clipped(ds) * ds.n) for ds in (tables["sachs"], raw)] == [34, 1]
