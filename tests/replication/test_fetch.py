"""Downloads: only when asked, checked as a file is, kept whole or not at all. No network is used here."""

from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

import privcov
from privcov.data_sources.base import SOURCES
from replication.sources import fetch
from replication.sources.papers import MissingData


@pytest.fixture
def openml(monkeypatch):
    """openml.table and openml.labels are what the next download gives; openml.asked is what was asked for."""
    state = SimpleNamespace(table=None, labels=None, problem=None, asked=[])

    def fake(name, *, version, as_frame, cache):
        state.asked.append((name, version))
        assert as_frame
        assert not cache
        if state.problem is not None:
            raise state.problem
        return SimpleNamespace(data=state.table, target=state.labels)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fake)
    return state


def test_mnist_keeps_the_training_pictures(made, folder, openml):
    labels = np.concatenate([np.repeat(np.arange(10), made.each), np.zeros(10_000, dtype=int)])
    pixels = np.zeros((70_000, 784), dtype=np.uint8)
    pixels[:, 400] = labels
    openml.table, openml.labels = pd.DataFrame(pixels, copy=False), pd.Series(labels.astype(str)).astype("category")
    assert fetch.download("mnist") == folder / "mnist.npz"
    ds = privcov.source("mnist", n=60_000, digit="7", random_state=0)
    assert ds.name == "mnist"
    assert ds.n == made.each[7]
    np.testing.assert_allclose(ds.rows[:, 400], 7 / (255 * 28))


@pytest.mark.parametrize(
    "problem",
    [URLError("name not known"), TimeoutError("timed out"), ValueError("No active dataset"), KeyError("data")],
    ids=lambda p: type(p).__name__,
)
def test_a_failed_download_says_what_to_do(folder, openml, problem):
    openml.problem = problem
    with pytest.raises(MissingData, match="download of the Ionosphere set failed") as caught:
        fetch.download("ionosphere")
    for part in ("ionosphere.csv or ionosphere.data", str(folder)):
        assert part in str(caught.value)
    assert list(folder.iterdir()) == []


def test_a_download_that_is_another_set_is_not_kept(made, folder, openml):
    values, status = made.parkinsons()
    for table, labels, said in [
        (values[:-1], status[:-1], "194 rows of 22, and the Parkinson's set has 195"),
        (values, [1 - s for s in status], "147 healthy, 48 parkinson"),
        (values[:, ::-1], status, "not three times MDVP:RAP"),
    ]:
        openml.table, openml.labels = pd.DataFrame(table), pd.Series(np.array(labels) + 1)
        with pytest.raises(MissingData, match=said):
            fetch.download("parkinsons")
    assert list(folder.iterdir()) == []


def test_half_a_file_is_never_left(folder, monkeypatch):
    monkeypatch.setattr(fetch.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(MissingData, match="No space left"):
        fetch._keep("ionosphere.csv", b"x")
    assert list(folder.iterdir()) == []


def test_making_rows_never_downloads(folder, openml):
    for key in fetch.fetchable():
        with pytest.raises(MissingData):
            privcov.source(key, random_state=0)
        assert SOURCES.get(key).cls().default_row_bound(0) > 0
    assert openml.asked == []
