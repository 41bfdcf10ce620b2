"""The computed figures of papers 2 and 5: cells come out again, checks see planted opposites, absent files are said."""

import dataclasses
import hashlib
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privcov.postprocess.fit import PathPoint
from replication import base, reproduce
from replication.base import LITERAL, SOUND
from replication.catalogue import FIGURES, TABLES
from replication.curves import kept
from replication.dong2022 import figures as dong
from replication.su2019 import figures as su
from replication.su2019.figures import rates_of
from replication.verdicts import survives
from tests.replication.test_tables import comes_out_again

# Every entry point of replication/ is tried in the files beside this one.
pytestmark = pytest.mark.deep
SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"
NEW = [key for key in FIGURES if key not in ("1-figure-1", "5-figure-2", "5-figure-3")]


@pytest.fixture
def files(monkeypatch):
    """The folder of the papers' own data, where it is."""
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is not there: the rows of this figure have to be brought, see data/README.md")
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(SHARED))


# --- stored numbers come out again --------------------------------------------------------------------------


@pytest.mark.parametrize("key", NEW)
def test_one_cell_of_each_figure_is_computed_again(key, monkeypatch, request):
    """A cell that the figure's name picks, with fresh noise (and rows, where they are simulated), against the stored
    mean. A change of its level by SLACK relative deviations of one replicate over the root of their number is seen."""
    table = TABLES[key]
    if table.needs:
        request.getfixturevalue("files")
    stored = base.stored(table.key)
    stored = stored[(stored["variant"] == LITERAL) & (stored["sd"] > 0) & (stored["replicates"] > 1)]
    spread = stored["sd"] / stored["value"]
    stored = stored[spread <= spread.median()]
    number = int(hashlib.blake2b(key.encode(), digest_size=4).hexdigest(), 16)
    row = stored.iloc[number % len(stored)]
    _only(row, table, monkeypatch)
    point = next(p for p in table.points if p.name == row["point"])
    comes_out_again(row, stored, point, 1 if key in ("2-figure-3", "5-figure-4", "5-digits") else 2)


def _only(row, table, monkeypatch):
    """No more levels than the cell has, so that a test does not compute a figure."""
    if table.paper == 2 and row["epsilon"]:
        monkeypatch.setattr(su, "EPSILONS", (row["epsilon"],))
    if table.key == "2-figure-3":
        real = su._levels
        monkeypatch.setattr(su, "_levels", lambda *args: (level for level in real(*args) if level[0] == row["epsilon"]))
    if table.paper == 5:
        own = dong.PANELS[row["model"]]
        text = row["epsilon"] or row["data"].removeprefix("rho = ")
        same = [g for g in own.guarantees if f"{next(iter(vars(g).values())):g}" == text]
        one = dataclasses.replace(own, methods=(row["method"],), guarantees=tuple(same) or own.guarantees)
        monkeypatch.setitem(dong.PANELS, row["model"], one)


@pytest.mark.parametrize("key", NEW)
def test_results_carry_seed_version_and_replicates_in_both_versions(key):
    found = base.stored(key)
    assert set(found["variant"]) == {LITERAL, SOUND}
    assert (found["seed"] == reproduce.SEED).all()
    for step in reproduce.steps([key]):
        mine = found[(found["point"] == step.point.name) & (found["variant"] == step.variant)]
        if step.point.name in ("4-b", "4-c"):
            assert mine.empty  # no copy of 20,000 pictures was there
            continue
        assert ((mine["replicates"] + mine["failed"]) >= step.replicates).all()
        assert (mine["version"] == reproduce.stamp(step)).all()


# --- what is not there is said ------------------------------------------------------------------------------


def test_figures_whose_files_are_absent_are_left_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path))
    told = []
    reproduce.reproduce(
        ["2-figure-2", "5-figure-4", "5-figure-5", "5-digits"], folder=tmp_path / "made",
        progress=lambda done, total, step, seconds: told.append((step.table.key, seconds)),
    )  # fmt: skip
    assert {key for key, _ in told} == {
        "2-figure-2", "5-figure-4", "5-figure-5", "5-digits"
    }  # fmt: skip
    assert all(math.isnan(seconds) for _, seconds in told)
    assert not (tmp_path / "made").exists()


# --- settings are those of the file -------------------------------------------------------------------------


# --- the curves ---------------------------------------------------------------------------------------------


def test_a_curve_of_edges_found_ends_where_every_pair_is_drawn():
    true = np.zeros((4, 4), bool)
    true[0, 1] = true[1, 0] = True
    whole = np.eye(4) + 0.1 * true
    path = [PathPoint(1.0, np.eye(4), "ok", 0.0, 1, "x"), PathPoint(0.5, whole, "ok", 0.0, 1, "x")]
    found = {n.metric: n.value for n in rates_of(path, true, {})}
    assert found["area"] == pytest.approx(1.0)
    wrong = np.eye(4)
    wrong[2, 3] = wrong[3, 2] = 0.1
    found = {n.metric: n.value for n in rates_of([path[0], PathPoint(0.5, wrong, "ok", 0.0, 1, "x")], true, {})}
    assert found["found at 0.1"] == 0.0
    assert found["found at 1"] == 1.0  # joined by a straight line from (1/5, 0)
    assert found["found at 0.5"] == pytest.approx((0.5 - 0.2) / 0.8)


def _planted(tmp_path, change, *keys):
    """Stored results with other values, in a folder of their own. change: row -> value."""
    for path in base.REPRODUCED.glob("*.csv"):
        shutil.copy(path, tmp_path / path.name)
    for key in keys:
        found = pd.read_csv(tmp_path / f"{key}.csv", dtype=str, keep_default_na=False)
        found["value"] = [
            "" if row["value"] == "" else str(change(row | {"value": float(row["value"])}))
            for row in found.to_dict("records")
        ]
        found.to_csv(tmp_path / f"{key}.csv", index=False, lineterminator="\n")
    return tmp_path


def _level(row):
    return float(row["epsilon"] or row["data"].removeprefix("rho = "))


def test_rows_needed_are_those_of_a_known_law(tmp_path):
    """Errors a/sqrt(rho) as published and b a/sqrt(rho) sound: n has to be multiplied by exactly b."""
    for factor in (0.5, 2.0):
        folder = _planted(
            tmp_path, lambda r, f=factor: 1e-3 * (f if r["variant"] == SOUND else 1) / math.sqrt(_level(r)),
            "5-figure-4", "5-figure-5",
        )  # fmt: skip
        for key in ("5-figure-4", "5-figure-5"):
            for one in kept(TABLES[key], folder):
                assert one.times.rows == pytest.approx(factor)
                assert one.ratio == pytest.approx(factor)
                assert not survives(one.ratio, one.sound, one.trivial) or factor < 1
                # Half the error of the zero matrix, which follows the same law here: sound is f times it.
                assert one.half.rows == pytest.approx(2 * factor)


# --- the checks see what is there, and do not see what is not ------------------------------------------------
