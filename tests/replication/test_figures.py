"""The computed figures of papers 2 and 5: cells come out again, checks see planted opposites, absent files are said."""

import dataclasses
import hashlib
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import clipped_moment
from privcov.metrics.graphs import edges
from privcov.postprocess.fit import Fit
from replication import base, catalogue, reproduce
from replication.base import LITERAL, SOUND
from replication.catalogue import FIGURES, TABLES, run_check
from replication.curves import curves, judged, kept, panels
from replication.dong2022 import figures as dong
from replication.sources.papers import MissingData
from replication.su2019 import figures as su
from replication.su2019.figures import DELTA, EPSILONS, D, N, printed_noise, rates_of, stopped_path
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


def test_a_part_of_mnist_is_too_little_for_the_larger_panels(files):
    dong.ready("4-a")
    with pytest.raises(MissingData, match="needs 20,000 pictures, and this copy of MNIST has 6,000"):
        dong.ready("4-b")


def test_a_stopped_figure_goes_on(tmp_path, monkeypatch):
    """Sound points that no plan measures are resumed like the others."""
    keep = tuple(p for p in TABLES["2-figure-1"].points if p.name in ("model 4, n = 2000", "model 4, n = 4000"))
    table = dataclasses.replace(TABLES["2-figure-1"], points=keep, small=(0, 2))
    monkeypatch.setattr(catalogue, "TABLES", {"2-figure-1": table})
    reproduce.reproduce(folder=tmp_path)
    path = tmp_path / "2-figure-1.csv"
    whole = path.read_text()
    pd.read_csv(path, dtype=str, keep_default_na=False).query("point == 'model 4, n = 2000'").to_csv(
        path, index=False, lineterminator="\n"
    )
    made = []
    monkeypatch.setattr(reproduce, "one_replicate", lambda task, real=reproduce.one_replicate: made.append(task.point)
                        or real(task))  # fmt: skip
    reproduce.reproduce(folder=tmp_path, workers=1)  # what other processes compute would not be counted
    assert made == ["model 4, n = 4000"] * 2
    assert path.read_text() == whole


# --- settings are those of the file -------------------------------------------------------------------------


def test_the_plans_have_the_settings_that_were_read():
    found = pd.read_csv(base.PUBLISHED / "figure_settings.csv", dtype=str, keep_default_na=False)
    assert not found.duplicated(["paper", "figure", "panel", "name"]).any()
    assert (found["where"] != "").all()
    assert (found["doubt"][found["value"] == ""] != "").sum() >= 2  # what is in no text is marked

    def value(paper, figure, name, panel=""):
        row = found[(found["paper"] == paper) & (found["figure"] == figure) & (found["name"] == name)]
        return row[row["panel"] == panel]["value"].item()

    assert tuple(value("2", "1", "epsilon").split()) == EPSILONS
    assert (value("2", "1", "p"), value("2", "1", "n"), value("2", "1", "delta")) == (str(D), str(N), f"{DELTA:g}")
    assert tuple(value("2", "4", "lambda").split()) == su.LAMBDAS
    assert value("2", "2", "training") == str(su.TRAINING)
    assert value("2", "2", "validation") == str(su.VALIDATION)
    for letter, n in zip("abc", dong.PICTURES, strict=True):
        assert value("5", "4", "n", f"({letter})") == str(n)
    for letter in "abcdef":
        own = dict(dong.PANELS[f"5-{letter}"].params)
        assert value("5", "5", "d", f"({letter})") == str(own["d"])
        assert (value("5", "5", "tr", f"({letter})") == "1") == (own["divide"] == "each row")
    ends = [float(v) for v in value("5", "4", "rho, ends").split()]
    assert ends == [dong._RHOS[0], dong._RHOS[-1]]


# --- the curves ---------------------------------------------------------------------------------------------


def test_a_curve_of_edges_found_ends_where_every_pair_is_drawn():
    true = np.zeros((4, 4), bool)
    true[0, 1] = true[1, 0] = True
    whole = np.eye(4) + 0.1 * true
    path = [Fit(1.0, np.eye(4), "ok", 0.0, 1, "x"), Fit(0.5, whole, "ok", 0.0, 1, "x")]
    found = {n.metric: n.value for n in rates_of(path, true, {})}
    assert found["area"] == pytest.approx(1.0)
    wrong = np.eye(4)
    wrong[2, 3] = wrong[3, 2] = 0.1
    found = {n.metric: n.value for n in rates_of([path[0], Fit(0.5, wrong, "ok", 0.0, 1, "x")], true, {})}
    assert found["found at 0.1"] == 0.0
    assert found["found at 1"] == 1.0  # joined by a straight line from (1/5, 0)
    assert found["found at 0.5"] == pytest.approx((0.5 - 0.2) / 0.8)


def test_the_loop_draws_the_same_edges_after_500_and_2000_iterations():
    """The stop that decides Table 2's numbers does not decide Figure 1's edges: four lambdas, epsilon 2, Model 4."""
    data = su._draw("4", N, 3, 0)
    data = data.with_row_bound(float(row_norms(data).max()))
    s = clipped_moment(data, n_anchors=0) + printed_noise(D, N, np.random.default_rng(0)) / 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(su, "POINTS", 4)
        short, long = stopped_path(s, 500), stopped_path(s, 2000)
    pairs = [(edges(a.precision), edges(b.precision)) for a, b in zip(short, long, strict=True)]
    assert sum(int((a != b).sum()) // 2 for a, b in pairs) <= 2  # of 4 x 190


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


def test_judged_errors_of_edges_found_are_what_the_area_leaves():
    found = judged(TABLES["2-figure-1"])
    stored = base.stored("2-figure-1")
    area = stored[stored["metric"] == "area"]
    assert len(found) == len(area)
    assert sorted(found["value"]) == pytest.approx(sorted(1 - area["value"]))


@pytest.mark.parametrize("key", FIGURES)
def test_every_figure_has_curves_and_what_is_left(key):
    table = TABLES[key]
    found = curves(table)
    assert set(found["panel"]) == set(panels(table))
    assert not found.duplicated(["panel", "line", "variant", "x"]).any()
    left = kept(table)
    assert left
    assert all(np.isfinite(one.ratio) and one.ratio > 0 for one in left)
    if key in NEW:
        assert all(not math.isnan(one.times.rows) for one in left)


# --- the checks see what is there, and do not see what is not ------------------------------------------------


def _free(row, key):
    found = base.stored(key)
    alike = (found["variant"] == row["variant"]) & (found["metric"] == row["metric"]) & (found["method"] == "no noise")
    for name in ("model", "data", "n"):
        alike &= found[name] == row[name]
    return float(found.loc[alike, "value"].iloc[0])


OPPOSITES = [
    ("2-roc-same", "2-figure-1", lambda r: _free(r, "2-figure-1") if r["epsilon"] else r["value"], True),
    ("2-lda-gap", "2-figure-2", lambda r: 0.2, False),
    ("2-lda-gap", "2-figure-2", lambda r: 0.2 + 0.1 * float(r["epsilon"] or 0), False),  # the gap grows
    ("2-cells-utility", "2-figure-3", lambda r: 0.9, True),
    ("2-graphs-same", "2-figure-4", lambda r: 0.0, True),
    ("5-never-better", "5-figure-5", lambda r: r["value"] * (10 if r["method"] == "gaussian-cov" else 1), True),
    ("5-adaptive-real", "5-figure-5", lambda r: r["value"] * (100 if r["method"] == "adaptive-cov" else 1), False),
    ("5-zero-real", "5-figure-5", lambda r: r["value"] * (1000 if r["method"] == "zero" else 1), True),
    ("5-slopes", "5-figure-5", lambda r: 1.0, False),
    ("5-digits-same", "5-digits", lambda r: r["value"] / (1e3 if r["method"] == "gaussian-cov" else 1), False),
]


@pytest.mark.parametrize(("check", "figure", "change", "holds"), OPPOSITES)
def test_a_check_sees_a_planted_opposite(tmp_path, check, figure, change, holds):
    assert run_check(check).holds is (not holds)
    assert run_check(check, _planted(tmp_path, change, figure)).holds is holds


def test_checks_of_figures_that_are_not_computed_say_so(tmp_path):
    for check, *_ in OPPOSITES:
        found = run_check(check, tmp_path)
        assert found.holds is None
        assert found.verdict == "Not computed yet."
