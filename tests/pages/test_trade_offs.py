"""Trade-offs: sweeps run in the background, survive, stop and resume; every figure can be taken home."""

import json
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import privcov
from pages.common import jobs, visitor_files
from pages.common.jobs import Job
from pages.common.study import Study
from pages.trade_offs import curves, sweep
from pages.trade_offs.sweep import axes, read_values, script
from privcov.core import accounting
from privcov.data_sources.private_file import Column, Declaration, public_upload
from privcov.studies import draws as draws_module
from privcov.studies.cells import Cell
from tests.pages.test_pages import ROOT, chart, draw_curves, open_page, settle
from tests.patience import patient, until

PAGE = "pages/2_Trade_offs.py"
STUDY = Study(data=(("d", 3), ("n", 60)))
DATA = privcov.source("ar1-covariance", n=60, d=3, random_state=0)


def setting(**changes) -> sweep.Setting:
    return sweep.Setting(**({"methods": ("auto-cov", "gaussian-cov"), "replicates": 2} | changes))


def built(study=STUDY, **changes) -> sweep.Sweep:
    return sweep.build(study, DATA, setting(**changes))


def button(at: AppTest, label: str):
    return next(b for b in at.button if b.label == label)


# --- from the form to plans ---------------------------------------------------------------------------------


def test_everything_a_source_has_can_vary():
    names = [a.name for a in axes(STUDY, DATA)]
    assert names == ["privacy", "row_bound", "n", "d", "rho"]
    assert "delta" in [a.name for a in axes(Study(kind="approx"), DATA)]
    zipf = [a.name for a in axes(Study(source="zipf-norms"), privcov.source("zipf-norms", n=50, d=3, random_state=0))]
    assert {"n", "d", "bins", "skew"} <= set(zipf)
    sparse = [a.name for a in axes(Study(source="sparse-covariance"), DATA)]
    assert "sparsity" in sparse
    assert [a.name for a in axes(Study(source="wine"), privcov.source("wine"))] == ["privacy", "row_bound"]


@pytest.mark.parametrize("axis", ["privacy", "row_bound", "n", "d", "rho"])
def test_every_axis_runs_and_stands_on_x(axis):
    made = built(axis=axis, values=(2, 3) if axis in ("n", "d") else (0.1, 0.5))
    rows = [row for cell in made.cells(None) for row in cell]
    table = sweep.tidy(made, rows)
    assert set(table["x"]) == ({2, 3} if axis in ("n", "d") else {0.1, 0.5})
    assert table["value"].notna().all()
    assert made.steps == len(rows) == 2 * 2 * 2


@pytest.mark.parametrize("norm", ["frobenius", "spectral", "l1", "max"])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("against", ["truth", "sample", "nonprivate"])
def test_every_error_can_be_drawn(norm, relative, against):
    made = built(norm=norm, relative=relative, against=against, values=(0.1,))
    rows = [row for cell in made.cells(None) for row in cell]
    assert sweep.tidy(made, rows)["value"].gt(0).all()


def test_kinds_stand_on_one_axis_by_what_they_imply():
    made = built(methods=("auto-cov", "laplace-cov"), kinds=("pure", "approx", "zcdp"), values=(0.5, 2.0), delta=1e-6)
    rows = [row for cell in made.cells(None) for row in cell]
    table = sweep.tidy(made, rows)
    assert set(table["x"]) == {0.5, 2.0}
    assert (
        set(table["series"]) >= {"Laplace mechanism, Pure DP", "Auto (shrinkage), zCDP"}
        or table["series"].nunique() > 2
    )
    plan = made.plan
    for guarantee in plan.guarantees:
        implied = accounting.to_approx(guarantee, 1e-6)
        assert implied.epsilon <= 2.0 * (1 + 1e-9)
        if guarantee.kind == "zcdp":  # and no larger rho would do
            assert accounting.zcdp_to_approx(guarantee.rho * 1.001, 1e-6) > min(
                e for e in (0.5, 2.0) if e >= implied.epsilon * (1 - 1e-9)
            )
    words = sweep.conversion(("pure", "approx", "zcdp"), 1.0, 1e-6)
    assert f"rho = {accounting.approx_to_zcdp(1.0, 1e-6):.3g}" in words
    assert "delta = 10⁻⁶" in words


def test_a_curve_above_the_zero_matrix_says_where():
    drawn = [("A", 0.1, 1.2), ("A", 1.0, 0.4), ("B", 0.1, 1.0), ("A, no noise", None, 2.0), ("B", 1.0, 0.1)]
    summary = pd.DataFrame(drawn, columns=["series", "x", "mean"])
    lines = [("zero matrix", 1.0), ("diagonal of the sample (not private)", 0.3)]
    assert curves.worse_than_zero(summary, lines, "rho") == ["A: worse than the zero matrix here, at rho 0.1."]
    assert curves.worse_than_zero(summary, lines[1:], "rho") == []


def test_lines_without_noise():
    made = built(values=(0.1, 1.0), without_noise=True)
    rows = [row for cell in made.cells(None) for row in cell]
    table = sweep.tidy(made, rows)
    assert table[table["x"].isna()]["series"].str.contains("no noise").all()
    made = built(axis="n", values=(20, 40), without_noise=True)
    rows = [row for cell in made.cells(None) for row in cell]
    table = sweep.tidy(made, rows)
    assert table["x"].notna().all()
    assert table["series"].nunique() == 4


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": ()}, "at least one method"),
        ({"replicates": 0}, "Replicates must be from 1"),
        ({"axis": "d", "values": (3_000,)}, "d must be"),
        ({"axis": "d", "values": (0,)}, "d must be"),
        ({"axis": "delta"}, "cannot vary"),
        ({"axis": "rho", "values": (2.0,)}, "rho must lie in"),
        ({"values": (-1.0,)}, "rho must be > 0"),
        ({"axis": "row_bound", "values": (0.0,)}, "row_bound must be > 0"),
    ],
)
def test_impossible_set_ups_get_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        built(**changes)


def test_too_many_numbers_are_refused_before_anything_is_drawn():
    study = Study(data=(("d", 200), ("n", 1_000)))
    with pytest.raises(ValueError, match="20,000,000"):
        sweep.build(study, DATA, setting(axis="n", values=(2_000_000,)))


def test_values_are_read_or_refused():
    n = next(a for a in axes(STUDY, DATA) if a.name == "n")
    assert read_values(" 20, 10 ;10,", n) == (10, 20)
    for text, words in (("ten", "not a number"), ("1.5", "whole"), ("", "at least one"), ("inf", "whole")):
        with pytest.raises(ValueError, match=words):
            read_values(text, n)
    with pytest.raises(ValueError, match="60 is the limit"):
        read_values(",".join(map(str, range(1, 70))), n)


# --- the same in Python -------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [
    {"values": (0.1, 1.0)}, {"axis": "n", "values": (20, 40)}, {"axis": "row_bound", "values": (1.0, 2.0)},
    {"kinds": ("pure", "zcdp"), "values": (0.5, 1.0)}, {"values": (0.1,), "without_noise": True},
])  # fmt: skip
def test_the_script_gives_the_same_table(changes, capsys):
    made = built(**changes)
    scope: dict = {}
    exec(script(made, STUDY), scope)
    rows = [row for cell in made.cells(None) for row in cell]
    pd.testing.assert_frame_equal(scope["table"], pd.DataFrame(rows), check_exact=True)


def test_rows_of_a_file_are_swept_in_the_session_and_the_script_reads_the_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(-1, 1, (40, 3)), columns=["a", "b", "c"])
    raw = table.to_csv(index=False, float_format="%.17g").encode()
    declaration = Declaration("csv", "one row", tuple(Column(name, -1, 1) for name in table.columns))
    data, *_ = public_upload(raw, declaration)
    upload = visitor_files.Upload("1", "your.csv", raw, declared=declaration)
    monkeypatch.setattr(visitor_files, "upload", lambda: upload)
    study = Study(source="csv")
    made = sweep.build(study, data, setting(axis="row_bound", values=(1.0, 1.5), against="sample"))
    assert made.plan is None
    assert made.key[0].source == "csv"
    rows = [row for cell in made.cells(None) for row in cell]
    monkeypatch.chdir(tmp_path)
    Path("your.csv").write_bytes(raw)
    scope: dict = {}
    exec(script(made, study), scope)
    pd.testing.assert_frame_equal(scope["table"], pd.DataFrame(rows), check_exact=False, rtol=1e-9)
    assert made.steps == len(rows)


# --- jobs ---------------------------------------------------------------------------------------------------


def slow(n: int, gate: threading.Event | None = None):
    def cells():
        for k in range(n):
            if gate is not None:
                gate.wait(patient(30))
            else:
                time.sleep(0.01)
            yield Cell([{"k": k}], reused=k % 2 == 0)

    return cells


def test_a_job_counts_computed_and_reused():
    job = Job(slow(6), 6)
    assert job.wait(patient(5))
    found = job.progress
    assert (found.state, found.computed, found.reused, len(found.rows)) == ("finished", 3, 3, 6)


def test_a_job_stops_and_keeps_what_it_has():
    job = Job(slow(500), 500)
    while job.progress.done < 3:
        time.sleep(0.005)
    job.stop()
    assert job.wait(patient(5))
    assert job.progress.state == "stopped"
    assert 3 <= len(job.progress.rows) == job.progress.done < 500


def test_a_job_that_nobody_holds_stops():
    job = Job(slow(500), 500)
    progress, thread = job.progress, job._thread
    while not progress.done:
        time.sleep(0.005)
    del job
    thread.join(patient(5))
    assert progress.state == "stopped"


@pytest.mark.parametrize("problem", [ValueError("a sentence"), MemoryError()])
def test_a_failure_is_a_sentence(problem):
    def cells():
        yield Cell([{"k": 0}], False)
        raise problem

    job = Job(cells, 2)
    assert job.wait(patient(5))
    assert job.progress.state == "failed"
    assert job.progress.problem
    assert len(job.progress.rows) == 1


def test_a_crowd_waits_its_turn():
    gate = threading.Event()
    many = [Job(slow(2, gate), 2) for _ in range(4)]
    until(lambda: sum(j.progress.state == "waiting" for j in many) >= 2, 5)
    many[-1].stop()
    assert many[-1].wait(patient(5))
    gate.set()
    for job in many:
        assert job.wait(patient(5))
    assert [j.progress.state for j in many[:3]] == ["finished"] * 3
    assert jobs._SWEEPS.acquire(timeout=patient(1))
    jobs._SWEEPS.release()


def test_of_jobs_with_large_tables_one_runs_at_a_time_and_small_ones_beside_it():
    gate = threading.Event()
    large = [Job(slow(1, gate), 1, size=20_000_000) for _ in range(3)]
    until(lambda: sum(j.progress.state == "running" for j in large) == 1, 5)
    small = Job(slow(1), 1, size=1_000)
    assert small.wait(patient(5))
    assert sorted(j.progress.state for j in large) == ["running", "waiting", "waiting"]
    waiting = next(j for j in large if j.progress.state == "waiting")
    waiting.stop()
    assert waiting.wait(patient(5))
    gate.set()
    assert all(job.wait(patient(5)) for job in large)
    assert sorted(j.progress.state for j in large) == ["finished", "finished", "stopped"]


@pytest.mark.parametrize(("n", "workers"), [(1_000, None), (100_000, 1)])
def test_a_large_table_is_drawn_in_one_process_alone(monkeypatch, n, workers):
    plan = privcov.Plan(
        source="ar1-covariance", source_params={"d": 50}, guarantees=[privcov.ZCDP(1.0)], vary={"n": [100, n]}
    )
    seen = []
    monkeypatch.setattr("pages.trade_offs.sweep.cells", lambda *_, workers, stop: seen.append(workers))
    sweep.Sweep("", "", plan, {}, "", "", "", False, False, {}, None).cells(None)
    assert seen == [workers]


# --- the page -----------------------------------------------------------------------------------------------


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Method runs of sweeps, counted; those that time a method for the estimate are not. The store is empty."""
    monkeypatch.setenv("PRIVCOV_CACHE_DIR", str(tmp_path / "cache"))
    for thread in threading.enumerate():  # a sweep that an earlier test left behind must not be counted here
        if thread.name == "sweep":
            thread.join(patient(60))
    monkeypatch.setenv("PRIVCOV_WORKERS", "1")  # what other processes run is not counted here
    seen = []
    real = draws_module.run_method

    def counted(method, *rest, **more):
        seen.append(method.card.key)
        return real(method, *rest, **more)

    monkeypatch.setattr(draws_module, "run_method", counted)
    return seen


def test_adding_a_method_runs_only_its_cells_and_coming_back_runs_nothing(runs):
    at = draw_curves(open_page(PAGE, **{"data.n": "61", "data.d": "4"}))
    before = len(runs)
    chosen = at.multiselect[0].value
    assert before == 13 * 20 * len(chosen)
    at.multiselect[0].set_value([*chosen, "zero"]).run()
    settle(at)
    assert "780 already stored" in " ".join(c.value for c in at.caption).replace("\\", "")
    button(at, "Draw the curves").click().run()
    settle(at)
    assert len(runs) - before == 13 * 20
    assert set(runs[before:]) == {"zero"}
    at.switch_page("pages/4_Spectra.py").run()
    at.switch_page(PAGE).run()
    settle(at)
    assert at.multiselect[0].value == [*chosen, "zero"]
    assert len(runs) - before == 13 * 20
    assert chart(at, "Error curves")


def test_the_page_shows_what_there_is_and_stops(monkeypatch):
    real = draws_module.run_method

    def slowly(*rest, **more):
        time.sleep(0.02)
        return real(*rest, **more)

    monkeypatch.setattr(draws_module, "run_method", slowly)
    monkeypatch.setenv("PRIVCOV_WORKERS", "1")  # other processes are not slow
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=patient(120))
    at.switch_page(PAGE)
    at.query_params["data.n"], at.query_params["data.d"] = "62", "4"
    at.run()
    button(at, "Draw the curves").click().run()
    assert chart(at, "Error curves")  # a part of it
    at.switch_page("pages/4_Spectra.py").run()
    (job,) = at.session_state["sweeps"].values()
    here = job.progress.done
    until(lambda: job.progress.done > here, 5)
    at.switch_page(PAGE).run()
    button(at, "Stop").click().run()
    assert job.wait(patient(5))
    at.run()
    assert job.progress.state == "stopped"
    assert "Stopped after" in " ".join(c.value for c in at.caption)
    assert chart(at, "Error curves")
    monkeypatch.setattr(draws_module, "run_method", real)
    button(at, "Go on").click().run()
    settle(at)
    (job,) = at.session_state["sweeps"].values()
    assert job.progress.state == "finished"
    assert job.progress.reused > 0


def test_a_sweep_that_goes_on_takes_the_place_of_the_stopped_one_on_the_page(monkeypatch):
    """The button Go on is in a fragment, which would run again with the job that was stopped."""

    class Again(Exception):
        pass

    def whole_page():
        raise Again

    stopped, other, seen = Job(lambda: iter(()), 1), Job(lambda: iter(()), 1), []
    assert stopped.wait(patient(10))
    monkeypatch.setattr(jobs.st, "rerun", whole_page)
    kept = jobs.Jobs("sweeps")
    monkeypatch.setattr(jobs.Jobs, "all", lambda _: {"asked": stopped})
    kept._look("asked", seen.append, stopped, False)
    assert seen == [stopped]  # it is shown, and nothing runs again
    monkeypatch.setattr(jobs.Jobs, "all", lambda _: {"asked": other})
    with pytest.raises(Again):
        kept._look("asked", seen.append, stopped, False)


def test_the_script_on_the_page_is_its_table(capsys):
    at = draw_curves(open_page(PAGE, **{"data.n": "50", "data.d": "3"}))
    scope: dict = {}
    exec(next(c.value for c in at.code if "table = " in c.value), scope)
    shown = at.dataframe[0].value
    means = scope["table"].groupby(["method", "rho"], sort=False)["value"].mean()
    assert np.array_equal(np.sort(means.to_numpy()), np.sort(shown["mean"].to_numpy()))


def test_pins_stand_side_by_side_and_go():
    at = draw_curves(open_page(PAGE, **{"data.n": "50", "data.d": "3"}))
    button(at, "Pin").click().run()
    button(at, "Pin").click().run()
    at.session_state["tradeoffs.tab"] = "Pinned"
    at.run()
    assert len([c for c in at.get("plotly_chart") if c.proto.alt.startswith("Error curves")]) == 2
    at.button(key="unpin-1").click().run()
    assert len(at.session_state["pins"]) == 1


def test_curves_of_a_file_go_with_the_file():
    at = open_page(PAGE, **{"data.n": "50", "data.d": "3"})
    import streamlit as st

    csv = Study(source="csv")
    kept = {(csv, "x"): "curves", ("", "y"): "others"}
    st.session_state["sweeps"], st.session_state["pins"] = dict(kept), dict(kept)
    visitor_files.forget_results()
    assert list(st.session_state["sweeps"]) == list(st.session_state["pins"]) == [("", "y")]
    assert at


def test_nonsense_in_the_values_is_one_sentence():
    at = open_page(PAGE, **{"data.n": "50", "data.d": "3"})
    at.text_input[0].set_value("0.1, banana").run()
    assert [e.value for e in at.error if "not a number" in e.value]
    assert not at.exception


def test_plan_json_of_a_page_runs():
    from privcov.studies.saved import write as plans_json

    one = built(values=(0.1,))
    assert privcov.Plan.from_json(plans_json([one.plan])) == one.plan
    many = [one.plan, built(values=(0.2,)).plan]
    assert [privcov.Plan.from_json(json.dumps(p)) for p in json.loads(plans_json(many))] == many
