"""Who wins where, on a page of its own: what it says is what privcov computes, and the script makes it again."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.patience import patient


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


def box(at: AppTest, label: str):
    return next(w for w in [*at.selectbox, *at.number_input] if w.label == label)


def executed(at: AppTest, name: str):
    space = {}
    exec(at.code[-1].value.replace("print(", "str("), space)
    return space[name]


def test_a_public_table_has_no_map():
    at = open_page(who_page, source="wine", data=())
    assert "This table has one size" in at.info[0].value
    assert not at.button


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
