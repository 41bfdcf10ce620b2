"""The two tabs on a page of their own: what they say is what privcov computes, and the script makes it again."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.patience import patient


def which_page():
    import streamlit as st

    from pages.shell import cached, frame
    from pages.shell.study import Study
    from pages.trade_offs import which_epsilon

    frame.palette = lambda: __import__("privcov.figures.palette", fromlist=["LIGHT"]).LIGHT
    study = Study(**st.session_state["asked"])
    which_epsilon.section(study, cached.dataset(study), st.session_state.get("answered", ()))


def who_page():
    import streamlit as st

    from pages.shell import cached, frame
    from pages.shell.study import Study
    from pages.trade_offs import who_wins

    frame.palette = lambda: __import__("privcov.figures.palette", fromlist=["LIGHT"]).LIGHT
    study = Study(**st.session_state["asked"])
    who_wins.section(study, cached.dataset(study))


SMALL = {"data": (("d", 4), ("n", 500))}


def open_page(page, **asked) -> AppTest:
    at = AppTest.from_function(page, default_timeout=patient(120))
    at.session_state["asked"] = {**SMALL, **asked}
    at.session_state["page"], at.session_state["address"] = "Trade-offs", {}
    at.run()
    assert not at.exception, at.exception
    return at


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click()
    at.run()
    assert not at.exception, at.exception
    assert not at.error, at.error
    return at


def said(at: AppTest) -> str:
    """The sentence in large type."""
    return next(re.sub("<[^>]*>", "", h.proto.body) for h in at.get("html") if "role=" in h.proto.body)


def box(at: AppTest, label: str):
    return next(w for w in [*at.selectbox, *at.number_input] if w.label == label)


def executed(at: AppTest, name: str):
    space = {}
    exec(at.code[-1].value.replace("print(", "str("), space)
    return space[name]


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_which_epsilon_says_the_answer_and_the_script_repeats_it(kind):
    at = open_page(which_page, kind=kind)
    assert "about" in at.info[0].value
    box(at, "Replicates").set_value(4)
    box(at, "Target error, %").set_value(30.0)
    press(at, "Find it")
    sentence = said(at)
    assert ("rho = " if kind == "zcdp" else "epsilon = ") in sentence
    assert "Monte-Carlo interval" in sentence
    assert sentence == str(executed(at, "answer"))
    assert at.get("plotly_chart")[0].proto.alt.startswith("Mean error of")


def test_which_n_and_the_sentence_when_it_is_not_achievable():
    at = open_page(which_page)
    box(at, "Replicates").set_value(4)
    box(at, "Looking for").set_value("n")
    box(at, "Target error, %").set_value(20.0)
    press(at, "Find it")
    assert "needs n = " in said(at)
    assert said(at) == str(executed(at, "answer"))
    box(at, "Looking for").set_value("rho")
    box(at, "Target error, %").set_value(1.0)
    press(at, "Find it")
    assert "sampling error alone" in said(at)


def test_an_answer_stays_when_only_its_own_lever_moves():
    at = open_page(which_page)
    box(at, "Replicates").set_value(3)
    box(at, "Target error, %").set_value(30.0)
    press(at, "Find it")
    first = said(at)
    at.session_state["asked"] = {**SMALL, "rho": 0.5}
    at.run()
    assert said(at) == first
    at.session_state["asked"] = {**SMALL, "bound": 2.0}
    at.run()
    assert at.info


def test_a_public_table_is_asked_for_epsilon_only_and_has_no_map():
    at = open_page(which_page, source="wine", data=())
    assert list(box(at, "Looking for").options) == ["smallest rho"]
    assert "to the truth" not in box(at, "Error").options
    box(at, "Replicates").set_value(3)
    box(at, "Target error, %").set_value(60.0)
    press(at, "Find it")
    assert said(at) == str(executed(at, "answer"))
    at = open_page(who_page, source="wine", data=())
    assert "This table has one size" in at.info[0].value
    assert not at.button


def test_the_studys_own_settings_go_with_its_method():
    at = open_page(which_page, method="gaussian-cov", options=(("repair", "none"),))
    box(at, "Replicates").set_value(3)
    box(at, "Target error, %").set_value(30.0)
    press(at, "Find it")
    assert "'repair': 'none'" in at.code[-1].value
    assert said(at) == str(executed(at, "answer"))


def test_the_simulated_answer_says_why_the_sentence_above_has_another_number():
    for above in (("auto-cov",), ()):
        at = open_page(which_page)
        at.session_state["answered"] = above
        box(at, "Replicates").set_value(3)
        box(at, "Target error, %").set_value(30.0)
        press(at, "Find it")
        tags = " ".join(h.proto.body for h in at.get("html") if "pc-tag" in h.proto.body)
        assert ("not interpolated as in the sentence above" in tags) == bool(above)


def finish(at: AppTest) -> None:
    """Wait for the map's job: AppTest runs no fragment clock."""
    job = next(reversed(at.session_state["maps"].values()))
    assert job.wait(patient(60))
    at.run()
    assert not at.exception


def test_a_map_can_be_stopped_and_goes_on_from_what_it_has():
    at = open_page(who_page)
    box(at, "Replicates").set_value(8)
    at.run()
    press(at, "Draw the map")
    job = next(reversed(at.session_state["maps"].values()))
    job.stop()
    assert job.wait(patient(60))
    first = job.progress
    assert first.done > 0
    at.run()
    assert not at.exception
    press(at, "Draw the map")
    finish(at)
    again = next(reversed(at.session_state["maps"].values())).progress
    assert again.state == "finished"
    assert again.reused >= first.computed
    assert at.get("plotly_chart")


def small_map(at: AppTest) -> AppTest:
    next(w for w in at.select_slider if w.label.startswith("Rows n")).set_value((100, 1000))
    box(at, "Steps each way").set_value(2)
    box(at, "Replicates").set_value(3)
    at.run()
    return at


@pytest.mark.parametrize(("kind", "over"), [("zcdp", "d"), ("zcdp", "rho"), ("pure", "epsilon"), ("approx", "d")])
def test_the_map_is_drawn_and_the_script_repeats_it(kind, over):
    at = open_page(who_page, kind=kind)
    box(at, "Map over").set_value(over)
    at.run()
    small_map(at)
    if over == "d":
        next(w for w in at.select_slider if w.label.startswith("Columns")).set_value((2, 5))
        at.run()
    assert any("runs, about" in c.value for c in at.caption)
    press(at, "Draw the map")
    finish(at)
    alt = at.get("plotly_chart")[0].proto.alt
    found = executed(at, "found")
    assert f"Of {len(found)} cells" in alt
    assert len(found) == 4
    for method, cells in found[found["clear"]].groupby("winner"):
        assert f"wins {len(cells)}" in alt, method
    assert {"zero", "diagonal"} <= set(executed(at, "table")["method"])


def test_a_map_that_would_take_too_long_is_refused_before_it_starts():
    at = open_page(who_page)
    next(w for w in at.select_slider if w.label.startswith("Columns")).set_value((5, 1000))
    next(w for w in at.select_slider if w.label.startswith("Rows n")).set_value((100, 2_000_000))
    at.run()
    assert not at.exception
    assert at.warning
    assert next(b for b in at.button if b.label == "Draw the map").disabled
