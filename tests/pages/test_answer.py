"""Trade-offs answers first: the sentence asks, and what stands below it is what privcov.expect says."""

import re
from html import unescape

import pytest

import privcov
from pages.common import jobs
from pages.trade_offs import answer
from pages.trade_offs.answer import BOUNDS, ERROR, LEVEL, ROWS, Question
from privcov.core.guarantees import ApproxDP, PureDP, ZCDP, level_of
from privcov.core.words import percent
from tests.exhaustive import some_of
from tests.pages.test_pages import alts, open_page, settle
from tests.patience import patient

PAGE = "pages/2_Trade_offs.py"
TINY = {"data.n": "500", "data.d": "5"}
KINDS = [({"rho": "0.05"}, ZCDP(0.05)), ({"kind": "approx", "epsilon": "2"}, ApproxDP(2.0, 1e-6)),
         ({"kind": "pure", "epsilon": "2"}, PureDP(2.0))]  # fmt: skip


def said(at) -> str:
    """The answer, in large type, once it was simulated."""
    settle(at)
    at.run()  # AppTest has no clock that lets the page run again when a job has ended
    (found,) = [h.proto.body for h in at.main.get("html") if "<p data-says" in h.proto.body]
    return unescape(re.search("<b>(.*)</b>", found)[1]).replace("\u00a0", " ")


def words(at) -> str:
    return " ".join(m.value for m in at.main.markdown).replace("\\", "").replace("\u2060", "")


@pytest.mark.parametrize(("query", "guarantee"), KINDS, ids=lambda v: str(v) if not isinstance(v, dict) else "")
@pytest.mark.parametrize(("bounds", "structure"), [("usual", "blocks"), ("3", "independent")])
def test_the_page_says_what_expect_says(query, guarantee, bounds, structure):
    asked = {"ask.bounds": bounds, "ask.structure": structure} if bounds != "usual" else {}
    at = open_page(PAGE, **TINY, **query, **asked)
    supposed = {"spread": BOUNDS[bounds], "structure": structure, "random_state": 0}
    found = privcov.expect(500, 5, guarantee, **supposed)
    assert said(at).endswith(f"expect an error of {percent(found.error)}.".replace("\u00a0", " "))
    assert any(f'aria-valuenow="{found.attacker:.4f}"' in h.proto.body for h in at.main.get("html"))
    assert any("pc-tag" in h.proto.body and "Simulated" in h.proto.body for h in at.main.get("html"))
    ask = Question(ERROR, 500, 5, guarantee, 0.0, bounds, structure)
    assert all(note in words(at) for note in answer.notes(ask, found))
    assert any(alt.startswith("The answer. ") for alt in alts(at).values())
    skewed = privcov.expect(500, 5, guarantee, **supposed, skew=1.0)
    line = f"Skewed columns: {answer.sentence(ask, skewed)}".replace("\u00a0", " ")
    assert (line in words(at).replace("\u00a0", " ")) == (skewed.error > 1.1 * found.error)


def test_the_three_questions_agree():
    """The error at a level, the level of that error, and the rows of that error at that level."""
    ask = Question(ERROR, 500, 5, ZCDP(0.1), 0.0, "usual", "factor")
    error = ask.answer().error
    level = Question(LEVEL, 500, 5, ZCDP(1.0), error, "usual", "factor").answer()
    assert level_of(level.guarantee) == pytest.approx(0.1, rel=0.05)
    assert level.error == pytest.approx(error, rel=0.03)
    rows = Question(ROWS, 0, 5, ZCDP(0.1), error, "usual", "factor").answer()
    assert rows.n == pytest.approx(500, rel=0.2)  # a table of other rows is another table
    assert rows.error == pytest.approx(error, rel=0.06)


@pytest.mark.parametrize("unknown", some_of([LEVEL, ROWS], 1))
def test_skewed_columns_need_more_of_each(unknown):
    """Where no level or number of rows suffices, the sentence says so instead."""
    at = open_page(PAGE, **(TINY | {"ask": unknown, "ask.error": "30", "ask.bounds": "5"}))
    said(at)
    guarantee, n = (ZCDP(1.0), 500) if unknown == LEVEL else (ZCDP(0.1), 0)
    ask = Question(unknown, n, 5, guarantee, 0.3, "5", "blocks")
    normal, skewed = ask.answer(), ask.with_skew().answer()
    assert answer.cost(ask, skewed) != answer.cost(ask, normal)
    assert (answer.sentence(ask, skewed) in words(at)) == (answer.cost(ask, skewed) > 1.1 * answer.cost(ask, normal))


def test_a_wider_row_bound_is_one_press_where_clipping_is_the_floor():
    at = open_page(
        PAGE,
        **(TINY | {"data.n": "12000", "data.d": "25", "kind": "approx", "epsilon": "0.5", "ask.structure": "factor"}),
    )
    before = said(at)
    button = next(b for b in at.button if b.label.startswith("Take a row bound"))
    promised = button.label.rsplit(" error ", 1)[1].replace("\u00a0", " ")
    button.click().run()
    assert float(re.search(r"([\d.]+) %", promised)[1]) < 0.9 * float(re.search(r"([\d.]+) %", before)[1])
    assert promised in said(at)
    found = privcov.expect(
        12_000,
        25,
        ApproxDP(0.5, 1e-6),
        structure="factor",
        row_bound_fraction=float(at.query_params["ask.row"]),
        random_state=0,
    )
    assert percent(found.error).replace("\u00a0", " ") in said(at)
    next(b for b in at.button if b.label.startswith("Leave the row bound")).click().run()
    assert said(at) == before
    assert "ask.row" not in at.query_params


def test_an_answer_comes_while_the_audits_of_others_hold_every_place():
    held = [jobs.AUDITS.acquire(timeout=patient(20)) for _ in range(2)]
    try:
        assert all(held)
        assert "expect an error of" in said(
            open_page(PAGE, **(TINY | {"data.n": "617"}))
        )  # which no other test has asked
    finally:
        for _ in held:
            jobs.AUDITS.release()


def test_rows_columns_and_level_of_the_sentence_are_those_of_the_study():
    at = open_page(PAGE, **TINY)
    at.number_input(key="ask.n").set_value(700).run()
    at.number_input(key="ask.d").set_value(4).run()
    at.select_slider(key="w.rho").set_value(0.02).run()
    settle(at)
    study = at.session_state["study"]
    assert (dict(study.data), study.rho) == ({"n": 700, "d": 4}, 0.02)
    assert {"data.n": "700", "data.d": "4", "rho": "0.02"}.items() <= dict(at.query_params).items()
    assert percent(privcov.expect(700, 4, ZCDP(0.02), random_state=0).error).replace("\u00a0", " ") in said(at)
    at.number_input(key="ask.n").set_value(50_000).run()  # the default is not written down
    assert "data.n" not in at.query_params


def test_the_question_is_in_the_address_and_read_back():
    at = open_page(PAGE, **TINY, ask="rows")
    assert not [box for box in at.number_input if box.label == "Rows"], "the rows are what is asked for"
    at.number_input(key="ask.percent").set_value(25.0).run()
    at.selectbox(key="ask.structure").select("blocks-0.8").run()
    at.selectbox(key="ask.bounds").select("5").run()
    now = dict(at.query_params)
    assert {"ask.error": "25", "ask.structure": "blocks-0.8", "ask.bounds": "5", "ask": "rows"}.items() <= now.items()
    again = open_page(PAGE, **now)
    assert said(again) == said(at)
    assert re.fullmatch(r"[\d,]+ rows give an error of 25 % at rho = 0.1\.", said(at))
    assert not again.warning


def test_the_script_of_the_page_gives_its_answer():
    for asked, wanted in ((ERROR, 0.0), (LEVEL, 0.3), (ROWS, 0.3)):
        question = Question(asked, 500, 5, ApproxDP(1.0, 1e-6), wanted, "3", "blocks")
        printed: list = []
        exec(question.script(), {"print": printed.append})
        assert list(map(repr, printed)) == [repr(question.answer()), repr(question.with_skew().answer())]


def test_a_failure_is_a_sentence_and_the_page_stands(monkeypatch):
    def refuse(*_, **__):
        raise ValueError("These sizes are refused.")

    monkeypatch.setattr(answer, "expect", refuse)
    at = open_page(PAGE, **(TINY | {"data.n": "613"}))  # which no other test has asked
    settle(at)
    at.run()
    assert any("These sizes are refused" in w.value.replace("\u2060", "").replace("\\", "") for w in at.error)
    assert at.number_input(key="ask.n").value == 613


def test_an_error_out_of_reach_costs_more_than_any_level_or_number_of_rows():
    ask = Question(LEVEL, 200, 20, ZCDP(1.0), 0.001, "2", "blocks")
    assert answer.cost(ask, ask.answer()) == float("inf")
    assert answer.cost(ask, Question(LEVEL, 200, 20, ZCDP(1.0), 0.9, "2", "blocks").answer()) == float("inf")
    near = Question(ROWS, 0, 5, ZCDP(0.1), 0.9, "2", "blocks")
    assert answer.cost(near, near.answer()) == near.answer().n
