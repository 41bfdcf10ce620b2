"""Graph recovery: what is drawn is what privcov computes; presets, the slider, and the states."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import privcov
from pages.common.study import Study, to_query
from pages.graphs import board, settings
from privcov.metrics import graphs
from privcov.plots.graphs import TESTED_EDGE
from tests.pages.test_pages import chart
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"data.n": "600", "data.d": "8"}
EBIC = {"method": "auto-precision", "method.rule": "ebic"}


def open_page(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=patient(120))
    at.switch_page("pages/3_Graph_recovery.py")
    if not {"kind", "epsilon"} & query.keys():
        query = {"kind": "zcdp"} | query
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception, at.exception
    return at


def counts(at: AppTest) -> dict[str, int]:
    spec, _ = chart(at, "Recovered network")
    return {
        k: int(v)
        for k, v in re.findall(r"(\w[\w %\u00a0]*): (\d+)", "; ".join(t.get("name", "") for t in spec["data"]))
    }


def words(at: AppTest) -> str:
    return " ".join([m.value for m in at.markdown] + [c.value for c in at.caption])


def test_the_network_is_the_release_s_and_the_counts_are_recovery_s():
    at = open_page(**SMALL, **EBIC)
    assert not at.error
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release(data, privcov.ZCDP(0.1), "auto-precision", random_state=1, rule="ebic")
    want = privcov.graph_recovery(rel, data.truth.precision)
    assert counts(at) == {"Missed": want.fn, "False": want.fp, "Found": want.tp}
    assert f"**{want.tp} of {want.tp + want.fn}** edges of the true graph found" in words(at)


def test_the_slider_reads_the_path_and_moves_the_mark_but_no_node():
    at = open_page(**SMALL, **EBIC)
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release(data, privcov.ZCDP(0.1), "auto-precision", random_state=1, rule="ebic")
    slider = next(s for s in at.select_slider if s.label == "Penalty lambda")
    before, _ = chart(at, "Recovered network")
    curve, _ = chart(at, "ROC curves")
    slider.set_value(17).run()
    after, _ = chart(at, "Recovered network")
    moved, _ = chart(at, "ROC curves")
    want = privcov.graph_recovery(rel.path[17].precision, data.truth.precision)
    assert counts(at) == {"Missed": want.fn, "False": want.fp, "Found": want.tp}
    nodes = [spec["data"][-1] for spec in (before, after)]
    assert (nodes[0]["x"], nodes[0]["y"]) == (nodes[1]["x"], nodes[1]["y"])
    assert (moved["data"][-1]["x"], moved["data"][-1]["y"]) == ([want.fpr], [want.tpr])
    assert moved["data"][:-1] == curve["data"][:-1]


def test_the_tested_edges_are_the_release_s_in_every_view():
    """A visit without a link begins with them; they stand at the left end of the slider and need no lambda."""
    at = open_page(**SMALL, method="auto-precision", **{"method.rule": "edge-test"})
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release(data, privcov.ZCDP(0.1), "auto-precision", random_state=1)
    want = privcov.graph_recovery(rel, data.truth.precision)
    assert want.tp
    assert counts(at) == {"Missed": want.fn, "False": want.fp, "Found": want.tp}
    slider = next(s for s in at.select_slider if s.label == "Penalty lambda")
    assert slider.value == settings.TESTED
    assert len(slider.options) == 21
    scope: dict = {}
    exec(next(c.value for c in at.code if "tested edges" in c.value), scope)
    assert (scope["counts"].tp, scope["counts"].fp) == (want.tp, want.fp)
    at.segmented_control(key="graph.view").set_value("As an owner sees it").run()
    states = graphs.tested_states(rel)[np.triu_indices(8, 1)]
    assert counts(at) == {"Undecided": int((states == 0).sum()), TESTED_EDGE: want.tp + want.fp}
    next(s for s in at.select_slider if s.label == "Penalty lambda").set_value(17).run()
    assert dict(at.query_params)["lambda"] != "tested"
    assert [*counts(at)] == ["Drawn"]


def test_the_curves_are_those_of_the_release_and_of_the_same_without_noise(pictures):
    at = open_page(**SMALL)
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    paths = {
        name: privcov.release(data, guarantee, "auto-precision", random_state=1).path
        for name, guarantee in (("This release", privcov.ZCDP(0.1)), ("Without noise", privcov.NoPrivacy()))
    }
    figure, alt = pictures["roc"]
    for name, path in paths.items():
        rates = graphs.path_rates(path, data.truth.graph)
        line = next(t for t in figure.data if t.name == name)
        np.testing.assert_allclose(line.y, graphs.roc_at(rates, np.asarray(line.x)), atol=1e-6)
        assert f"{name} finds {graphs.roc_at(rates, np.array([0.1]))[0]:.2f} at" in alt
        assert f"{name}: {graphs.auc(rates):.2f}" in words(at)
    rel = privcov.release(data, privcov.ZCDP(0.1), "auto-precision", random_state=1)
    counted = privcov.graph_recovery(rel, data.truth.precision)
    assert (figure.data[-1].x, figure.data[-1].y) == ((counted.fpr,), (counted.tpr,))
    scope: dict = {}
    exec(next(c.value for c in at.code if "auc-to-truth" in c.value), scope)
    assert scope["plan"].steps == 40


def test_a_visitor_from_another_page_meets_the_edge_test():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=patient(120))
    at.switch_page("pages/1_Estimate.py")
    for name, value in {**SMALL, "source": "precision-ar2"}.items():
        at.query_params[name] = value
    at.run()
    at.switch_page("pages/3_Graph_recovery.py").run()
    assert at.selectbox(key="w.options.auto-precision.rule").value == "edge-test"
    assert at.session_state["study"].method == ""  # the other pages keep their own method


def test_lambdas_without_a_solution_are_left_out_until_a_repair():
    repaired = Study(source="precision-ar2", data=(("n", 300),), method="glasso-gaussian", kind="approx", delta=1e-3)
    at = open_page(**to_query(dataclasses.replace(repaired, options=(("repair", "none"),))))
    assert not at.error
    slider = next(s for s in at.select_slider if s.label == "Penalty lambda")
    told = re.search(r"(\d+) of 20 lambdas left out", words(at))
    assert len(slider.options) + int(told.group(1)) == 20
    at = open_page(**to_query(repaired))
    assert len(next(s for s in at.select_slider if s.label == "Penalty lambda").options) == 20


def test_a_reference_network_is_chosen_and_called_a_reference(monkeypatch, pictures):
    data = privcov.source("precision-ar2", n=400, d=5, random_state=0)
    line, star = (np.zeros((5, 5), bool) for _ in range(2))
    for i in range(4):
        line[i, i + 1] = line[i + 1, i] = star[0, i + 1] = star[i + 1, 0] = True
    public = privcov.Dataset.from_rows(
        data.rows, data.row_bound, graphs={"line": line, "star": star}, mean_is_zero=True, name="wine"
    )
    from pages.common import study_results

    monkeypatch.setattr(study_results, "dataset", lambda study, default_source="": public)
    rel = privcov.release(public, privcov.ZCDP(0.1), "auto-precision", random_state=1, rule="ebic")
    monkeypatch.setattr(study_results, "release", lambda study, **_: rel)
    at = open_page(source="wine", bound="1")
    at.selectbox(key="graph.reference").set_value("star").run()
    want = privcov.metrics.graphs.compare(privcov.metrics.graphs.edges(rel.precision), star)
    assert counts(at) == {"Missed": want.fn, "False": want.fp, "Found": want.tp}
    assert "It is a published reference, not the truth." in words(at)
    exact = privcov.metrics.errors.without_noise(rel, public)
    drawn = next(t for t in pictures["roc"].figure.data if t.name == "Without noise")
    want = graphs.roc_at(graphs.path_rates(exact.path, star), np.asarray(drawn.x))
    np.testing.assert_allclose(drawn.y, want, atol=1e-6)
    assert list(at.selectbox(key="graph.reference").options) == ["line (4 edges)", "star (4 edges)"]


def test_a_lambda_that_was_computed_from_a_visitor_s_rows_is_not_put_into_the_address():
    data = privcov.source("precision-ar2", n=200, d=4, random_state=0)
    rel = privcov.release(data, privcov.ZCDP(0.5), "auto-precision", random_state=1, rule="ebic")
    solved = [i for i, fit in enumerate(rel.path) if fit.precision is not None]
    ours, theirs = (board._position(rel, solved, visitors=visitors) for visitors in (False, True))
    for at in solved:
        assert theirs.write(at) == str(at)
        assert float(ours.write(at)) == pytest.approx(rel.path[at].lam, rel=1e-5)
        assert theirs.read(theirs.write(at)) == ours.read(ours.write(at)) == at
