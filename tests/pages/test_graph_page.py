"""Graph recovery: what is drawn is what privcov computes; presets, the slider, and the states."""

import dataclasses
import re
import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import privcov
from pages.graph_recovery import board, roc, settings
from pages.shell.study import Study, from_query, to_query
from privcov import accounting
from privcov.audit.risk import trade_off_of_method
from privcov.figures.graphs import LINKED, TESTED_EDGE
from privcov.figures.roc import RULES
from privcov.figures.words import percent
from privcov.metrics import graphs
from privcov.metrics.graphs import decided_edges, losses, without_noise_at
from tests.pages.test_pages import chart
from tests.patience import patient, until

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
    return settle(at)


def settle(at: AppTest) -> AppTest:
    """Run the page until its curves are complete."""
    assert not at.exception, at.exception
    jobs = at.session_state["roc"].values() if "roc" in at.session_state else ()
    until(lambda: not any(job.progress.alive for job in jobs), 60, what="complete curves")
    return at.run()


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click().run()
    return settle(at)


def counts(at: AppTest) -> dict[str, int]:
    spec, _ = chart(at, "Recovered network")
    return {
        k: int(v)
        for k, v in re.findall(r"(\w[\w %\u00a0]*): (\d+)", "; ".join(t.get("name", "") for t in spec["data"]))
    }


def words(at: AppTest) -> str:
    return " ".join([m.value for m in at.markdown] + [c.value for c in at.caption])


def test_the_marks_of_the_rules_are_drawn_when_asked_for_and_by_the_address():
    at = open_page(**SMALL, **{"roc.replicates": "2"})
    plain, alt = chart(at, "ROC curves")
    at.toggle(key="graph.rules").set_value(True).run()
    assert dict(at.query_params)["rules"] == "yes"
    marked, same = chart(at, "ROC curves")
    added = {t["name"] for t in marked["data"] if t.get("name")} - {t["name"] for t in plain["data"] if t.get("name")}
    assert added
    assert added <= set(RULES)
    assert same == alt
    again, _ = chart(open_page(**SMALL, **{"roc.replicates": "2", "rules": "yes"}), "ROC curves")
    assert len(again["data"]) == len(marked["data"])


def test_the_form_of_the_curves_tells_the_strips_number_and_names_its_method():
    """The study's own level has the number of the strip; with another level beside, each line names the method."""
    at = open_page(**SMALL, **{"roc.replicates": "2", "roc.epsilon": "0.1", "kind": "approx", "epsilon": "1"})
    line = re.compile(r'aria-label="([^"]*): ([^"]*)"')
    side, *_ = [line.search(h.proto.body) for h in at.main.get("html") if 'role="meter"' in h.proto.body]
    beside = dict(line.search(h.proto.body).groups() for h in at.main.get("html") if 'role="meter"' in h.proto.body)
    assert beside["Auto (graphical lasso), epsilon = 1"] == side[2]
    claim = trade_off_of_method("auto-precision", privcov.ApproxDP(0.1, 1e-6))
    assert beside["Auto (graphical lasso), epsilon = 0.1"] == percent(accounting.attacker_success(claim), "at most")
    at = open_page(
        **SMALL,
        **{
            "roc.replicates": "2",
            "roc.epsilon": "0.1",
            "kind": "approx",
            "epsilon": "1",
            "method": "glasso-gaussian",
            "method.repair": "none",
        },
    )
    told = [line.search(h.proto.body) for h in at.main.get("html") if 'role="meter"' in h.proto.body]
    assert [one[1] for one in told][1:] == ["Any method, epsilon = 0.1", "Graphical lasso (DP-AGL), epsilon = 1"]


def test_another_level_moves_the_pen_of_no_other_line():
    def lines(levels: str) -> dict[str, tuple]:
        spec, _ = chart(open_page(**SMALL, **{"roc.replicates": "2", "roc.rho": levels}), "ROC curves")
        drawn = [t for t in spec["data"] if t.get("mode") == "lines" and " = " in t.get("name", "")]
        return {t["name"]: (t["line"]["color"], t["line"]["dash"]) for t in drawn}

    few, many = lines("0.01"), lines("0.01,1")
    assert list(few) == ["rho = 0.1", "rho = 0.01"]
    assert few.items() < many.items()


def test_the_network_is_the_release_s_and_the_counts_are_recovery_s():
    at = open_page(**SMALL, **EBIC)
    assert not at.error
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release("auto-precision", data, privcov.ZCDP(0.1), random_state=1, rule="ebic")
    want = privcov.graph_recovery(rel, data.truth.precision)
    assert counts(at) == {"Missed": want.fn, "False": want.fp, "Found": want.tp}
    assert f"**{want.tp} of {want.tp + want.fn}** edges of the true graph found" in words(at)


def test_the_slider_reads_the_path_and_moves_the_mark_but_no_node():
    at = open_page(**SMALL, **EBIC)
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release("auto-precision", data, privcov.ZCDP(0.1), random_state=1, rule="ebic")
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


def test_the_chosen_lambda_is_named_on_the_slider():
    at = open_page(**SMALL, **EBIC)
    slider = next(s for s in at.select_slider if s.label == "Penalty lambda")
    named = [option for option in slider.options if "chosen: ebic" in option]
    assert len(named) == 1
    assert len(slider.options) == 20


def test_the_curves_are_those_of_the_script():
    at = open_page(**SMALL)
    scope: dict = {}
    exec(at.code[0].value, scope)
    spec, alt = chart(at, "ROC curves")
    names = [t.get("name") for t in spec["data"]]
    for name, curve in zip(("rho = 0.1", "No privacy"), scope["curves"], strict=True):
        assert name in names
        told = float(re.search(rf"{re.escape(name)} finds ([\d.]+)", alt).group(1))
        assert told == pytest.approx(curve.tpr[10], abs=0.005)
    table = next(d.value for d in at.dataframe if "Curve" in d.value.columns)
    common = min(c.reach for c in scope["curves"])
    assert f"Partial AUC to FPR {common:.2f}" in table.columns
    assert list(table[f"Partial AUC to FPR {common:.2f}"]) == [
        f"{c.area(common):.3f} of at most {common:.2f}" for c in scope["curves"]
    ]


def test_every_rule_is_followed_only_where_that_is_asked_for():
    def marked(at: AppTest) -> set[str]:
        spec, _ = chart(at, "ROC curves")
        marks = (t["hovertemplate"] for t in spec["data"] if t.get("marker", {}).get("size") == 13)
        return {mark.split(",")[0].removesuffix(" lambda") for mark in marks}

    at = open_page(**SMALL, **EBIC)
    assert marked(at) == set()
    (job,) = at.session_state["roc"].values()
    assert {rule for run in job.progress.rows for rule in run.marks} == {"ebic"}  # its lambda is known already
    at.toggle(key="graph.rules").set_value(True).run()
    assert marked(settle(at)) == {"edge-test", "ebic", "half-universal", "fission"}


def test_the_tested_edges_are_the_release_s_in_every_view():
    """A visit without a link begins with them; they stand at the left end of the slider and need no lambda."""
    at = open_page(**SMALL, method="auto-precision", **{"method.rule": "edge-test"})
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release("auto-precision", data, privcov.ZCDP(0.1), random_state=1)
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
    assert LINKED in counts(at)
    at = open_page(**SMALL, method="auto-precision", tab="matrices", **{"method.rule": "edge-test"})
    assert chart(at, "Heatmap of non-private, same test precision")


def test_the_page_s_own_rule_is_the_edge_test():
    for query in ({}, {"method": "auto-precision"}, {"method": "gaussian-cov"}):
        at = open_page(**SMALL, **query)
        assert at.selectbox(key="w.options.auto-precision.rule").value == "edge-test"
    at.selectbox(key="w.options.auto-precision.rule").set_value("ebic").run()
    assert at.session_state["study"].given == {"rule": "ebic"}
    assert dict(at.query_params)["method.rule"] == "ebic"


def test_a_visitor_from_another_page_meets_the_edge_test():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=patient(120))
    at.switch_page("pages/1_Estimate.py")
    for name, value in {**SMALL, "source": "precision-ar2"}.items():
        at.query_params[name] = value
    at.run()
    at.switch_page("pages/3_Graph_recovery.py").run()
    settle(at)
    assert at.selectbox(key="w.options.auto-precision.rule").value == "edge-test"
    assert at.session_state["study"].method == ""  # the other pages keep their own method


def test_other_levels_and_methods_make_more_curves_and_none_is_the_default():
    at = open_page(**SMALL)
    _, alt = chart(at, "ROC curves")
    assert alt.count("finds") == 2, "the study's own level and no privacy"
    at.multiselect(key="graph.levels.zcdp").set_value([1.0, 0.05])
    at.multiselect(key="graph.methods.zcdp").set_value(["glasso-gaussian"]).run()
    settle(at)
    _, alt = chart(at, "ROC curves")
    for level in ("1", "0.1", "0.05"):
        assert f"Auto (graphical lasso), rho = {level} finds" in alt
        assert f"Graphical lasso (DP-AGL), rho = {level} finds" in alt
    assert alt.count("No privacy") == 1


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_each_kind_offers_the_methods_that_can_give_it_and_says_who_cannot(kind):
    at = open_page(**SMALL, kind=kind)
    assert not at.error
    able, why = settings.offered(kind)
    assert len(at.selectbox(key="w.method").options) == len(able)
    assert all(not privcov.estimators.base.METHODS.get(key).refuses(kind) for key in able)
    assert any(why in c.value for c in at.caption) or not why
    assert ("glasso-gaussian" in able) == (kind != "pure")
    assert "ridge-precision" not in able  # it draws no graph


def test_a_method_without_a_graph_gives_way_to_the_page_s_own_and_stays_elsewhere():
    at = open_page(**SMALL, method="gaussian-cov")
    assert not at.error
    assert at.selectbox(key="w.method").value == settings.METHOD
    assert at.session_state["study"].method == "gaussian-cov"
    # A setting of the shown method belongs to it, not to the method of the other pages.
    at.selectbox(key="w.options.auto-precision.rule").set_value("half-universal").run()
    assert at.session_state["study"].method == "auto-precision"
    assert dict(at.session_state["study"].options) == {"rule": "half-universal"}


def test_paper_2_figure_1_is_one_click():
    at = open_page(**SMALL)
    press(at, "Su et al. 2019, Figure 1: AR(2)")
    assert not at.error
    study = at.session_state["study"]
    assert (study.kind, study.epsilon, study.delta, study.method) == ("approx", 2.0, 1e-3, "glasso-gaussian")
    data = study.data
    assert data == ()  # 2,000 rows and 20 columns are the source's own defaults
    spec = privcov.sources()
    card = next(c for c in spec if c.key == study.source)
    assert {s.name: s.default for s in card.parameters} == {"n": 2000, "d": 20}
    (job,) = [j for j in at.session_state["roc"].values() if j.progress.total == 50]
    assert job.progress.state == "finished"
    _, alt = chart(at, "ROC curves")
    for name in ("epsilon = 2", "epsilon = 1", "No privacy"):
        assert f"{name} finds" in alt
    assert "mean over 50 replicates" in words(at)


def test_an_example_sets_the_whole_page_and_is_there_where_a_study_cannot_be_shown():
    """Also the marks of the rules, which another study may have asked for."""
    at = open_page(**{"data.n": "1000000", "data.d": "500"})
    assert any("n x d is" in error.value.replace("\\", "") for error in at.error)
    at.session_state["graph.rules"] = True
    at.button(key="preset-Paper 2, figure 3: Sachs").click().run()
    assert not at.error
    assert at.session_state["graph.rules"] is False
    assert at.session_state["graph-tab"] == settings.CURVES


@pytest.mark.parametrize("preset", settings.PRESETS, ids=lambda p: p.label)
def test_a_preset_is_a_link_that_comes_back(preset):
    study, problems = from_query(to_query(preset.study))
    assert problems == []
    assert study == preset.study


def test_lambdas_without_a_solution_are_left_out_until_a_repair():
    repaired = Study(source="precision-ar2", data=(("n", 300),), method="glasso-gaussian", kind="approx", delta=1e-3)
    at = open_page(**to_query(dataclasses.replace(repaired, options=(("repair", "none"),))))
    assert not at.error
    slider = next(s for s in at.select_slider if s.label == "Penalty lambda")
    told = re.search(r"(\d+) of 20 lambdas left out", words(at))
    assert len(slider.options) + int(told.group(1)) == 20
    at = open_page(**to_query(repaired))
    assert len(next(s for s in at.select_slider if s.label == "Penalty lambda").options) == 20


def test_the_owner_s_view_has_three_states():
    at = open_page(**SMALL, **EBIC)
    at.segmented_control(key="graph.view").set_value("As an owner sees it").run()
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release("auto-precision", data, privcov.ZCDP(0.1), random_state=1, rule="ebic")
    at_chosen = next(i for i, fit in enumerate(rel.path) if np.array_equal(fit.precision, rel.precision))
    edge, undecided, none = decided_edges(rel, at_chosen).counts
    assert counts(at) == {"Undecided": undecided, LINKED: edge}
    assert f"**{edge}** pairs linked in at least 95 % of 60 redraws, **{none}** in at most 5 %" in words(at)
    assert "not the chance that an edge is there" in words(at)
    assert "lacked 1 % of the pairs" in words(at)
    assert any("Owner" in h.proto.body for h in at.get("html"))


def test_without_a_known_graph_only_the_owner_s_view_is_there():
    at = open_page(source="wine", **EBIC)
    assert not at.error
    assert LINKED in counts(at)
    assert "A ROC curve needs a known graph" in at.info[0].value
    assert not [s for s in at.segmented_control if s.key == "graph.view"]


def test_matrices_share_one_scale_and_the_losses_are_paper_2_s():
    at = open_page(**SMALL, **EBIC)
    at.session_state["graph-tab"] = settings.MATRICES
    at.run()
    ranges = set()
    for name in ("truth precision", "non-private, same lambda precision", "private precision"):
        spec, _ = chart(at, f"Heatmap of {name}")
        ranges.add((spec["data"][0]["zmin"], spec["data"][0]["zmax"]))
    assert len(ranges) == 1
    data = privcov.source("precision-ar2", n=600, d=8, random_state=0)
    rel = privcov.release("auto-precision", data, privcov.ZCDP(0.1), random_state=1, rule="ebic")
    lam = next(fit.lam for fit in rel.path if np.array_equal(fit.precision, rel.precision))
    want = losses(rel.precision, without_noise_at(rel, data, lam))
    shown = next(d.value for d in at.dataframe if "Spectral" in d.value.columns)
    assert list(shown.iloc[0])[1:] == [percent(want[k]) for k in ("l1", "frobenius", "spectral")]
    at.toggle(key="graph.partial").set_value(True).run()
    spec, _ = chart(at, "Heatmap of private partial correlations")
    assert (spec["data"][0]["zmin"], spec["data"][0]["zmax"]) == (-1.0, 1.0)


def test_a_large_graph_waits_for_a_click_and_says_how_long():
    at = open_page(**{"data.n": "300", "data.d": "40"})
    assert "roc" not in at.session_state or not at.session_state["roc"]
    assert "2 curves, 20 replicates: about" in words(at)
    button = next(b for b in at.button if b.label == "Draw the ROC curves")
    at.number_input(key="graph.replicates").set_value(2)
    button.click().run()
    settle(at)
    assert "epsilon" not in chart(at, "ROC curves")[1]
    assert "rho = 0.1 finds" in chart(at, "ROC curves")[1]


def test_a_reference_network_is_chosen_and_called_a_reference(monkeypatch):
    data = privcov.source("precision-ar2", n=400, d=5, random_state=0)
    line, star = (np.zeros((5, 5), bool) for _ in range(2))
    for i in range(4):
        line[i, i + 1] = line[i + 1, i] = star[0, i + 1] = star[i + 1, 0] = True
    public = privcov.Dataset.from_rows(
        data.rows, data.row_bound, graphs={"line": line, "star": star}, mean_is_zero=True, name="wine"
    )
    from pages.shell import cached

    monkeypatch.setattr(cached, "dataset", lambda study, default_source="": public)
    rel = privcov.release("auto-precision", public, privcov.ZCDP(0.1), random_state=1, rule="ebic")
    monkeypatch.setattr(cached, "release", lambda study, **_: rel)
    at = open_page(source="wine", bound="1")
    at.selectbox(key="graph.reference").set_value("star").run()
    want = privcov.metrics.graphs.compare(privcov.metrics.graphs.edges(rel.precision), star)
    assert counts(at) == {"Missed": want.fn, "False": want.fp, "Found": want.tp}
    assert "It is a published reference, not the truth." in words(at)
    assert list(at.selectbox(key="graph.reference").options) == ["line (4 edges)", "star (4 edges)"]


def test_a_stopped_job_keeps_what_it_has(monkeypatch):
    made = roc.runs

    def slow(*args, **more):
        """On a quick machine all replicates may be there before Stop is."""
        for replicate in made(*args, **more):
            time.sleep(0.02)
            yield replicate

    monkeypatch.setattr(roc, "runs", slow)
    at = open_page(**SMALL)
    at.number_input(key="graph.replicates").set_value(500).run()
    job = list(at.session_state["roc"].values())[-1]
    next(b for b in at.button if b.label == "Stop").click().run()
    assert job.wait(patient(20))
    at.run()
    assert job.progress.state == "stopped"
    assert 0 < job.progress.done < 500
    assert f"Stopped after {job.progress.done} of 500 replicates" in words(at)
    assert chart(at, "ROC curves")


def test_the_form_keeps_its_word_while_another_tab_is_open():
    at = open_page(**SMALL)
    at.number_input(key="graph.replicates").set_value(7).run()
    settle(at)
    for tab in (settings.MATRICES, settings.CURVES):
        at.session_state["graph-tab"] = tab
        at.run()
    settle(at)
    assert at.number_input(key="graph.replicates").value == 7
    assert "mean over 7 replicates" in words(at)


def test_many_columns_are_asked_about_before_they_are_solved():
    at = open_page(**{"data.n": "50", "data.d": "301"})
    assert "301 columns take about" in at.info[0].value
    assert not at.get("plotly_chart")
    assert [b.label for b in at.button if b.label == "Solve it"]


def test_a_lambda_that_was_computed_from_a_visitor_s_rows_is_not_put_into_the_address():
    data = privcov.source("precision-ar2", n=200, d=4, random_state=0)
    rel = privcov.release("auto-precision", data, privcov.ZCDP(0.5), random_state=1, rule="ebic")
    solved = [i for i, fit in enumerate(rel.path) if fit.precision is not None]
    ours, theirs = (board._position(rel, solved, visitors=visitors) for visitors in (False, True))
    for at in solved:
        assert theirs.write(at) == str(at)
        assert float(ours.write(at)) == pytest.approx(rel.path[at].lam, rel=1e-5)
        assert theirs.read(theirs.write(at)) == ours.read(ours.write(at)) == at
