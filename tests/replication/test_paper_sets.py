"""The papers' real sets, from a folder beside the project: shapes, labels, public limits, and rows that these clip."""

import math
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.measurements.clipping import share_clipped, share_out_of_bounds
from replication import sources
from replication.sources.papers import GROUP

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
PRESENT = "40 present (chosen on the data)"
SHARES = "shares of a sample"
LARGEST = "largest row (chosen on the data)"
SETS = [SOURCES.get(key) for key in sources.__all__]
# (key, parameters, shape, row bound, labels, rows scaled down)
CASES = [
    ("ionosphere", {}, (351, 34), math.sqrt(34), {"bad": 126, "good": 225}, 0),
    ("colon", {}, (62, 50), 0.5 * math.sqrt(50), {"normal": 22, "tumor": 40}, 0),
    ("colon", {"d": 2000}, (62, 2000), 0.5 * math.sqrt(2000), {"normal": 22, "tumor": 40}, 0),
    ("parkinsons", {}, (195, 22), 0.5 * math.sqrt(22), {"healthy": 48, "parkinson": 147}, 0),
    ("microbiome", {}, (98, 87), 0.5 * math.sqrt(87), {"lean": 63, "obese": 35}, 0),
    ("microbiome", {"genera": PRESENT}, (98, 40), 0.5 * math.sqrt(40), {"lean": 63, "obese": 35}, 0),
    ("microbiome", {"genera": PRESENT, "scale": SHARES}, (98, 40), 1.0, {"lean": 63, "obese": 35}, 0),
    ("mnist", {}, (6000, 784), 1.0, dict.fromkeys(range(10), 600), 0),
    ("mnist", {"digit": "3"}, (600, 784), 1.0, {3: 600}, 0),
    ("news", {"d": 32}, (6046, 32), 1.0, {0: 4150, 1: 1896}, 0),
    ("news", {"d": 512, "divide": LARGEST}, (6046, 512), 1.0, {0: 4150, 1: 1896}, 0),
]


@pytest.fixture
def real(monkeypatch):
    """Make a set, or skip where the folder or its file is not there."""
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(DATA))

    def make(key, **parameters):
        if not SOURCES.get(key).cls.found():
            pytest.skip(f"the real {key} file is not in a folder shared/data beside the project")
        return privcov.source(key, **parameters)

    return make


PAPERS = ("Su et al. 2019", "Wang et al. 2018", "Mathematics 2023", "Dong et al. 2022")


def test_every_set_is_found_by_its_key_alone_and_says_what_it_needs():
    assert not {card.key for card in SETS} & {card.key for card in SOURCES.all()}
    for card in SETS:
        assert card.group == GROUP
        assert card.reference.startswith(PAPERS)
        assert card.cls.title in card.cls.missing()
        assert card.cls().default_row_bound(0) == card.cls().default_row_bound(9) > 0  # without a file


@pytest.mark.parametrize(("key", "parameters", "shape", "bound", "labels", "shortened"), CASES)
def test_a_real_set_has_its_shape_and_few_rows_beyond_its_public_bound(
    real, key, parameters, shape, bound, labels, shortened
):
    ds = real(key, **parameters)
    assert ds.rows.shape == shape
    assert ds.row_bound == pytest.approx(bound, rel=1e-15)
    assert ds.provenance == "public"
    assert ds.truth is None
    assert not ds.mean_is_zero
    assert len(set(ds.columns)) == ds.d
    found = None if ds.labels is None else dict(zip(*np.unique(ds.labels, return_counts=True), strict=True))
    assert found == labels
    assert round(share_clipped(ds) * ds.n) == shortened
    if ds.bounds is not None:
        assert share_out_of_bounds(ds).max() == 0  # no cell of any column is clipped
    again = make_dataset(SOURCES.get(key).cls(**parameters), seed=5, repeat=2)
    np.testing.assert_array_equal(again.rows, ds.rows)


@pytest.mark.parametrize("key", ["ionosphere", "colon", "parkinsons", "microbiome"])
def test_limits_are_round_public_numbers_and_not_the_extremes_of_the_rows(real, key):
    """A limit copied from the rows would be attained by them; only those that hold by definition are."""
    ds = real(key)
    table = ds.bounds
    attained = (ds.rows.min(axis=0) == table[:, 0]) | (ds.rows.max(axis=0) == table[:, 1])
    if key in ("colon", "parkinsons"):
        assert not attained.any()
    digits = [f"{value:.3g}" for value in table.ravel()]
    assert [float(text) for text in digits] == table.ravel().tolist()
