"""A table in files on a real scheduler with two worker processes: the same sums, nothing counted or spent twice."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privcov
from privcov import PrivateDataset, engine
from privcov.measurements.tables.file_moment import moments, sums_of

FILES, ROWS, D = 16, 12_000, 6
SECRETS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x2545F4914F6CDD1D)
GUARANTEE = privcov.ZCDP(0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Many files, so that there are tasks before and after a worker dies."""
    found = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(0)
    for k in range(FILES):
        rows = rng.normal(size=(ROWS, D))
        rows[rng.random(rows.shape) < 0.01] = np.nan
        pq.write_table(pa.table({f"x{j}": rows[:, j] for j in range(D)}), found / f"{k:02}.parquet")
    return found


def private(folder, progress=None) -> PrivateDataset:
    return PrivateDataset.from_files(folder, bounds=[(-3.0, 3.0)] * D, progress=progress)


def numbers(sums) -> tuple:
    arrays = [a.tolist() for a in (sums.holes, sums.high, sums.low, sums.lines, sums.counts)]
    return sums.seen, sums.dropped, sums.long, arrays, sums.marks


@pytest.fixture
def here(folder, monkeypatch) -> tuple:
    with monkeypatch.context() as patch:
        patch.delenv("PRIVCOV_SCHEDULER", raising=False)
        return numbers(sums_of(private(folder), SECRETS))


def at_first_call(act):
    """A progress that acts once."""
    told = []

    def tell(rows: int, total: int, seconds: float) -> None:
        told.append(rows)
        if len(told) == 1:
            act()

    tell.told = told
    return tell


def kill_one(cluster) -> None:
    max(cluster.worker_processes(), key=lambda one: one.create_time()).kill()


def test_the_sums_have_the_same_bits(cluster, folder, here, monkeypatch):
    assert numbers(sums_of(private(folder), SECRETS)) == here
    public = [privcov.Dataset.from_files(folder, bounds=[(-3.0, 3.0)] * D, missing="drop-row") for _ in range(2)]
    there = moments(public[0])
    monkeypatch.delenv("PRIVCOV_SCHEDULER")
    for one, two in zip(there, moments(public[1]), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_killed_worker_counts_nothing_twice(cluster, folder, here):
    tell = at_first_call(lambda: kill_one(cluster))
    found = sums_of(private(folder, tell), SECRETS)
    assert numbers(found) == here
    assert found.seen == FILES * ROWS == tell.told[-1]
    assert tell.told == sorted(set(tell.told))
    assert len(tell.told) > 2


def test_a_release_with_a_killed_worker_spends_once(cluster, folder, tmp_path):
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.limit("private", privcov.ZCDP(1.0))
    table = private(folder, at_first_call(lambda: kill_one(cluster)))
    made = privcov.release_private("auto-cov", table, GUARANTEE, ledger=ledger)
    assert [entry.state for entry in ledger.entries()] == ["stored"]
    assert float(ledger.entries()[0].cost.amount) == pytest.approx(GUARANTEE.rho)
    again = privcov.release_private("auto-cov", private(folder), GUARANTEE, ledger=ledger)
    assert len(ledger.entries()) == 1  # the same question is answered from the ledger
    np.testing.assert_array_equal(made.covariance, again.covariance)


def test_a_lost_scheduler_spends_nothing(own_cluster, folder, tmp_path, monkeypatch):
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.limit("private", privcov.ZCDP(1.0))
    table = private(folder, at_first_call(own_cluster.scheduler.kill))
    with pytest.raises(engine.EngineError, match="was lost"):
        privcov.release_private("auto-cov", table, GUARANTEE, ledger=ledger)
    assert ledger.entries() == ()
    monkeypatch.delenv("PRIVCOV_SCHEDULER")
    privcov.release_private("auto-cov", table, GUARANTEE, ledger=ledger)
    assert [entry.state for entry in ledger.entries()] == ["stored"]
    assert float(ledger.entries()[0].cost.amount) == pytest.approx(GUARANTEE.rho)


def test_an_interruption_spends_nothing(cluster, folder, tmp_path):
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.limit("private", privcov.ZCDP(1.0))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        privcov.release_private("auto-cov", private(folder, at_first_call(interrupt)), GUARANTEE, ledger=ledger)
    assert ledger.entries() == ()
    assert privcov.release_private("auto-cov", private(folder), GUARANTEE, ledger=ledger).n == FILES * ROWS
