"""The bundled tables: their public facts are sensible, and the example is what its README says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from privcov.data_sources.base import SOURCES, make_dataset
from privcov.data_sources.example import survey_csv
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
    assert survey_csv() == (ROOT / "data" / "example.csv").read_bytes()


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
