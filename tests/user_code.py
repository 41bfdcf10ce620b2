"""What somebody writes who uses the package from Python: test_user_code.py runs it, and type checkers read it strictly.

Every name that `privcov` exports is used once.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np

import privcov
from privcov import ApproxDP, Dataset, Declaration, PrivateCovariance, PureDP, Release, RowsClippedWarning, Truth


def table() -> Dataset:
    """Rows in memory, with bounds by name."""
    rows = np.random.default_rng(0).uniform(0, 1, size=(500, 3))
    bounds = {"age": (0.0, 1.0), "pay": (0.0, 1.0), "time": (0.0, 1.0)}
    return Dataset.from_rows(rows, bounds=bounds, columns=["age", "pay", "time"], truth=Truth(np.eye(3) / 12))


def released(data: Dataset) -> Release:
    """A release, its numbers and its statement."""
    rel = privcov.release(data, privcov.ZCDP(rho=0.5), "auto-cov", random_state=1)
    matrix: np.ndarray = rel.covariance @ np.ones(3) + rel.matrix
    success: float = rel.attacker_success
    print(matrix.shape, success, rel.statement["Guarantee"], str(rel.actual_guarantee))
    assert Release.from_json(rel.to_json()).n == data.n
    return rel


def compared(rel: Release, data: Dataset) -> float:
    """How far it is from the rows, and a study of several methods."""
    keys: list[str] = [card.key for card in privcov.methods() if card.target == "covariance"]
    print([privcov.release(data, privcov.ZCDP(1.0), key, random_state=0).method for key in keys[:2]])
    sources: list[str] = [card.key for card in privcov.sources()]
    study = privcov.Plan(
        source=sources[0],
        source_params={"n": 100, "d": 3},
        methods=keys[:1],
        guarantees=[PureDP(1.0), ApproxDP(1.0, 1e-6), privcov.NoPrivacy()][1:2],
        metrics=["relative-frobenius-to-truth"],
        replicates=1,
    )
    print(len(privcov.run(study)))
    simulated = privcov.source("precision-ar2", n=300, d=4, random_state=0)
    graph = privcov.release(simulated, privcov.ZCDP(1.0), "glasso-gaussian", random_state=0)
    assert simulated.truth is not None
    assert simulated.truth.precision is not None
    print(privcov.graph_recovery(graph, simulated.truth.precision))
    error: float = privcov.error(rel, data, relative=True)
    print(privcov.expect(300, 4, privcov.ZCDP(1.0), releases=5).error)
    return error


def private(folder: Path) -> Release:
    """The same for confidential rows, with a ledger."""
    rows = np.random.default_rng(1).uniform(0, 1, size=(400, 2))
    limits = {"age": (0.0, 1.0), "pay": (0.0, 1.0)}
    survey = privcov.PrivateDataset.from_rows(rows, bounds=limits, columns=["age", "pay"], name="survey")
    ledger = privcov.Ledger(folder / "ledger.sqlite")
    ledger.set_limit("survey", privcov.ZCDP(1.0))
    return privcov.release_private(survey, privcov.ZCDP(0.1), "auto-cov", ledger=ledger)


def typed(folder: Path) -> float:
    """Columns of several kinds, a bundle, and what its receiver reads from it."""
    kinds = {"age": privcov.Kind("integer", 18, 90), "smokes": privcov.Kind("yes-no", values=("no", "yes"))}
    rows = [f"{20 + k % 60};{'yes' if k % 3 else 'no'}\n" for k in range(400)]
    (folder / "typed.csv").write_text("age;smokes\n" + "".join(rows), encoding="utf-8")
    survey = privcov.PrivateDataset.from_files(
        folder / "typed.csv", kinds=kinds, name="typed", dialect=privcov.Dialect(";", ",")
    )
    ledger = privcov.Ledger(folder / "typed.sqlite")
    ledger.set_limit("typed", privcov.ZCDP(1.0))
    rel = privcov.release_private(survey, privcov.ZCDP(1.0), "auto-cov", ledger=ledger)
    rel.save_bundle(folder / "typed.zip")
    opened = privcov.open_bundle(folder / "typed.zip")
    mean: float = privcov.answers(opened).means()["estimate"].iloc[0]
    return mean


def reopened(folder: Path, text: str) -> privcov.PrivateDataset:
    """The table of a saved declaration."""
    return Declaration.from_json(text).dataset_from_files(folder / "typed.csv")


def learned() -> np.ndarray:
    """The estimator of scikit-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsClippedWarning)
        model = PrivateCovariance("gaussian-cov", privcov.ZCDP(1.0), row_bound=2.0, random_state=0)
        covariance: np.ndarray = model.fit(np.random.default_rng(0).uniform(0, 1, (50, 3))).covariance_
    return covariance


def classified() -> np.ndarray:
    """Several models from one release with class sums."""
    wine = privcov.source("wine")
    rel = privcov.release(wine, privcov.ZCDP(10.0), "auto-cov", random_state=0, centre="classes")
    found: np.ndarray = privcov.answers(rel).groups().means
    return found


if __name__ == "__main__":
    data = table()
    print(compared(released(data), data), learned().shape, classified().shape, callable(privcov.check))
    with tempfile.TemporaryDirectory() as place:
        print(private(Path(place)).columns, typed(Path(place)))
