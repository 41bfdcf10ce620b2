"""Trade-offs answers first: the sentence is the study, and what stands below it is what privcov.advice says."""

import dataclasses
import re
import threading
from html import unescape
from types import SimpleNamespace

import pandas as pd
import pytest

import privcov
from pages.shell.study import Study
from pages.trade_offs import curves, sentence
from privcov import accounting
from privcov.advice import ask, live
from privcov.advice.answer import Question
from privcov.audit.risk import trade_off_of_method
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.measurements.clipping import share_clipped
from privcov.privacy import ApproxDP, NoPrivacy, PureDP, ZCDP
from tests.pages.test_pages import alts, draw_curves, open_page, settle
from tests.pages.test_upload import declared

PAGE = "pages/2_Trade_offs.py"
TINY = {"data.n": "500", "data.d": "5", "replicates": "2", "values": "rho:0.1,1", "methods": "gaussian-cov"}
KINDS = [({"rho": "0.05"}, ZCDP(0.05)), ({"kind": "approx", "epsilon": "2"}, ApproxDP(2.0, 1e-6)),
         ({"kind": "pure", "epsilon": "2"}, PureDP(2.0))]  # fmt: skip


def said(at) -> str:
    """The answer, in large type, once it was measured."""
    settle(at)
    at.run()  # AppTest has no clock that lets the page run again when a job has ended
    (found,) = [h.proto.body for h in at.main.get("html") if "<p data-says" in h.proto.body]
    return unescape(re.search("<b>(.*)</b>", found)[1]).replace("\u00a0", " ")


def drawn(at) -> list[str]:
    """The text alternatives of the answer's chart."""
    return [alt for alt in alts(at).values() if alt.startswith(("Relative Frobenius error against ", "At worst, "))]


def words(at) -> str:
    return " ".join(m.value for m in at.main.markdown).replace("\\", "").replace("\u2060", "")


def measured(at) -> ask.Reply:
    """The answer that the page's last job has measured."""
    return list(at.session_state["solved"].values())[-1].progress.rows[0]["reply"]


def again(found: ask.Reply, stored: ask.Reply, sizes: dict) -> ask.Reply:
    """The same releases once more, on fresh rows of AR(1)."""
    source = SOURCES.get("ar1-covariance").cls(**sizes)
    counts = {"releases": found.releases, "draws": found.draws}
    reply = live.measured(stored, lambda r: make_dataset(source, seed=0, repeat=r), **counts)
    assert (reply.error, reply.level, reply.line.key) == (found.error, found.level, stored.line.key)
    return reply


@pytest.mark.parametrize(("query", "guarantee"), KINDS, ids=lambda v: str(v) if not isinstance(v, dict) else "")
@pytest.mark.parametrize("structure", ["unknown", "fading", "banded"])
def test_the_page_says_what_the_engine_says(query, guarantee, structure):
    at = open_page(PAGE, **{**TINY, "values": "", **query, "ask.structure": structure}, ask="level")
    question = Question(500, 5, guarantee, structure=structure, mean_known=True)
    stored = reply = ask.which_level(question, 0.1)
    if structure == "fading":  # that of the study's source, whose rows are measured
        reply = again(measured(at), stored, {"n": 500, "d": 5})
    assert said(at) == ask.sentence(reply)
    chance = accounting.attacker_success(trade_off_of_method(reply.line.key, reply.guarantee))
    assert any(f'aria-valuenow="{chance:.4f}"' in h.proto.body for h in at.main.get("html"))
    assert any("pc-tag" in h.proto.body and "stored" in h.proto.body for h in at.main.get("html"))
    for line in reply.runners_up:
        assert line.label.split(" (")[0] in words(at)
    (listed,) = [m.value for m in at.main.markdown if m.value.startswith("| Answer |")]
    rows = [row for row in listed.splitlines()[2:] if row.startswith("|")]
    assert len(rows) == len(reply.advice.ranking)
    assert rows[0].startswith("| **") == bool(reply.advice.pick)
    assert drawn(at)
    next(box for box in at.selectbox if box.label == "Question").set_value("error").run()
    settle(at)
    assert said(at) == ask.sentence(measured(at) if structure == "fading" else ask.how_far(question))
    assert "ask" not in at.query_params  # the question of the strip's level comes first


def test_rows_columns_and_level_of_the_sentence_are_those_of_the_study():
    at = open_page(PAGE, **TINY)
    at.number_input(key="ask.n").set_value(700).run()
    at.number_input(key="ask.d").set_value(4).run()
    at.select_slider(key="w.rho").set_value(0.02).run()
    settle(at)
    study = at.session_state["study"]
    assert (dict(study.data), study.rho) == ({"n": 700, "d": 4}, 0.02)
    assert {"data.n": "700", "data.d": "4", "rho": "0.02"}.items() <= dict(at.query_params).items()
    stored = ask.how_far(Question(700, 4, ZCDP(0.02), structure="fading", mean_known=True))
    assert said(at) == ask.sentence(again(measured(at), stored, {"n": 700, "d": 4}))
    at.number_input(key="ask.n").set_value(50_000).run()  # the default is not written down
    assert "data.n" not in at.query_params


def test_an_error_in_the_sentence_is_in_the_address_and_read_back():
    at = open_page(PAGE, **TINY, ask="level")
    at.number_input(key="ask.percent").set_value(25.0).run()
    at.selectbox(key="ask.structure").select("dense").run()
    assert {"ask.error": "25", "ask.structure": "dense"}.items() <= dict(at.query_params).items()
    again = open_page(PAGE, **dict(at.query_params))
    assert said(again) == said(at)
    assert not again.warning


def test_runners_up_are_compared_where_both_were_stored(monkeypatch):
    """A live run may have replaced the error of the first."""
    said = []
    monkeypatch.setattr(sentence.st, "markdown", said.append)
    reply = ask.how_far(Question(500, 5, ZCDP(0.1), structure="banded", mean_known=True))
    for error in (0.5, 9.0):
        line = dataclasses.replace(reply.line, error=error)
        ranking = tuple(line if one is reply.line else one for one in reply.advice.ranking)
        advice = dataclasses.replace(reply.advice, ranking=ranking)
        sentence._others(dataclasses.replace(reply, advice=advice, line=line))
        for other in reply.runners_up:
            assert f"{other.label}: {other.error / error:.2f}" in said[-1].replace("\\", "")


def test_the_curves_start_with_the_methods_of_the_answer():
    at = open_page(PAGE, **{"data.n": "500", "data.d": "5", "ask.structure": "banded"})
    reply = ask.which_level(Question(500, 5, ZCDP(0.1), structure="banded", mean_known=True), 0.1)
    assert at.multiselect(key="t.methods").value == sentence.methods_of(reply)
    assert "methods" not in at.query_params
    at.number_input(key="t.replicates").set_value(2).run()
    at.run()
    # Written down with the first setting of the curves: a change of the question does not redraw them.
    assert at.query_params["methods"] == ",".join(sentence.methods_of(reply))


def test_a_table_of_its_own_size_asks_about_that_size():
    at = open_page(PAGE, source="wine", replicates="2", values="rho:0.1,1", methods="gaussian-cov", ask="level")
    rows, columns = (next(w for w in at.number_input if w.label == label) for label in ("Rows", "Columns"))
    assert (rows.value, columns.value) == (178, 13)
    assert rows.disabled
    assert columns.disabled
    assert said(at) == ask.sentence(measured(at))
    at.number_input(key="ask.percent").set_value(60.0).run()
    settle(at)
    found = measured(at)
    assert said(at) == ask.sentence(found)
    assert found.reached
    assert found.advice.question.n == 178
    data, counts = privcov.source("wine"), {"releases": found.releases, "draws": found.draws}
    stored = ask.which_level(Question(178, 13, ZCDP(0.1)), 0.6)
    assert live.measured(stored, lambda _: data, **counts).level == found.level


@pytest.mark.parametrize(
    ("study", "structure"),
    [(Study(), "fading"), (Study(data=(("rho", 0.9),)), "dense"), (Study(data=(("rho", 0.0),)), "unknown"),
     (Study(source="banded-covariance"), "banded"), (Study(source="sparse-covariance"), "independent"),
     (Study(source="zipf-norms", data=(("bins", 1),)), "low-rank"), (Study(source="zipf-norms"), "skewed"),
     (Study(source="wine"), "unknown")],
)  # fmt: skip
def test_the_structure_of_a_source(study, structure):
    assert sentence.structure_of(study) == structure


def test_the_floor_of_clipping_is_named_where_curves_reach_it():
    query = {"data.n": "20000", "data.d": "5", "replicates": "2", "values": "rho:1,10", "methods": "gaussian-cov"}
    at = draw_curves(open_page(PAGE, **query, bound="0.5"))
    assert "floor from clipping: raise the row bound" in " ".join(alts(at).values())
    at = draw_curves(open_page(PAGE, **query, bound="4"))
    assert "floor from clipping" not in " ".join(alts(at).values())


def test_of_a_table_nothing_is_said_that_stored_simulations_do_not_know(monkeypatch):
    """Before its own rows are measured, nor where the method refuses them."""
    started = threading.Event()

    def refuse(*_, **__):
        started.set()
        raise ValueError("These rows are refused.")

    monkeypatch.setattr(live, "measured", refuse)
    at = open_page(PAGE, source="wine", rho="0.0777", **{"ask.error": "4.5"})  # which no other test has asked
    settle(at)
    assert started.is_set()
    assert said(at) == sentence.UNMEASURED
    at.run()
    assert any("These rows are refused" in c.value.replace("\u2060", "").replace("\\", "") for c in at.caption)
    assert "raise" not in words(at)


def test_a_question_that_another_one_interrupted_is_measured_when_it_is_asked_again():
    at = open_page(PAGE, **TINY)
    settle(at)
    job = list(at.session_state["solved"].values())[-1]
    job.progress.state = "stopped"
    job.progress.rows = []
    assert "about" not in said(at)
    assert list(at.session_state["solved"].values())[-1] is not job


def test_another_row_bound_or_other_rows_are_another_question():
    """Nothing but the guarantee of the answer and the noise of the page is left out of what is remembered."""
    seen = []
    for more in ({}, {"bound": "0.3"}, {"rows": "5"}, {"data.rho": "0.7"}):
        at = open_page(PAGE, **{**TINY, "values": "rho:0.1", **more}, **{"ask.structure": "fading"})
        said(at)
        seen.append(measured(at).error)
    assert len(set(seen)) == len(seen)


def test_a_visitor_s_own_file_is_measured_and_named_by_its_source_alone():
    at = declared()
    at.switch_page(PAGE).run()
    at.run()
    assert "of this size" not in said(at)
    (asked,) = at.session_state["solved"]
    assert asked[0].source == "csv"
    assert "the sample" in str([h.proto.body for h in at.main.get("html") if "<p data-says" in h.proto.body])


@pytest.mark.parametrize("table", ["wine", "example", "own"])
def test_the_floor_of_clipping_on_tables_with_bounds_is_the_error_without_noise(table):
    data = declared().session_state["csv"] if table == "own" else privcov.source(table, random_state=0)
    sweep = SimpleNamespace(x="rho")
    reached = pd.DataFrame({"mean": [1e-9, 0.1, 1e9]})
    for metric in ("relative-frobenius-to-sample", "spectral-to-sample"):
        assert not share_clipped(data)
        assert curves.floor(data, metric, "covariance", sweep, reached) == []
        tight = data.with_row_bound(data.row_bound / 3)
        assert share_clipped(tight) > 0
        ((words, level),) = curves.floor(tight, metric, "covariance", sweep, reached)
        assert words.endswith("raise the row bound")
        rel = privcov.release("gaussian-cov", tight, NoPrivacy(), random_state=0)
        norm = metric.removeprefix("relative-").split("-")[0]
        assert level == pytest.approx(privcov.error(rel, tight, norm, relative=metric.startswith("relative")))


def test_another_row_bound_leaves_out_what_was_stored_for_the_usual_one():
    """At twice the bound the named method has a 25th of the error; what is stored of the others has the usual bound."""
    query = {"source": "ar1-covariance", "data.d": "5", "data.n": "100000", "kind": "approx"}
    usual, wide = open_page(PAGE, **query), open_page(PAGE, **query, bound="2")
    assert float(re.search(r"([\d.]+) % error", said(wide))[1]) < 0.1 * float(
        re.search(r"([\d.]+) % error", said(usual))[1]
    )
    assert "Runners-up" in words(usual)
    assert sentence.OTHER_BOUND not in words(usual)
    assert "Runners-up" not in words(wide)
    assert sentence.OTHER_BOUND in words(wide)
    assert "halves this error" not in words(wide)


@pytest.mark.parametrize(("bound", "mostly"), [("1", True), ("2", False)])
def test_estimate_says_where_clipping_is_most_of_the_error(bound, mostly):
    query = {"source": "ar1-covariance", "data.d": "5", "data.n": "100000", "kind": "approx", "bound": bound}
    assert ("Most of it is clipping." in words(open_page("pages/1_Estimate.py", **query))) == mostly


def test_a_stored_number_of_few_replicates_is_called_about():
    """At 1,000 x 40 and epsilon 3 the stored error was 9.7 %, and 100 releases gave 8.9 %."""
    stored = ask.how_far(Question(1_000, 40, ApproxDP(3.0, 1e-6), "covariance", "fading", mean_known=True))
    assert stored.line.se > ask.SURE * stored.error
    assert " gives about " in ask.sentence(stored)
