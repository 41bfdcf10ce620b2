"""A page's address holds what its widgets show, and scripts and saved studies give the page's numbers."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.common import frame
from tests.pages.test_pages import open_page

ESTIMATE, TRADE_OFFS, GRAPH, SPECTRA = (
    f"pages/{name}.py" for name in ("1_Estimate", "2_Trade_offs", "3_Graph_recovery", "4_Spectra")
)
TINY = {"data.n": "40", "data.d": "3"}
WIDGETS = (
    "selectbox", "select_slider", "multiselect", "number_input", "text_input", "toggle", "button_group", "slider",
)  # fmt: skip


def values(at: AppTest) -> dict[str, object]:
    """What every widget with a key shows; the lambda's key depends on the visit."""
    return {w.key.split("-")[0] if w.key.startswith("lambda-") else w.key: w.value
            for kind in WIDGETS for w in getattr(at, kind) if w.key}  # fmt: skip


def widget(at: AppTest, key: str):
    return next(w for kind in WIDGETS for w in getattr(at, kind) if w.key == key or w.key.startswith(key + "-"))


def again(at: AppTest, file: str) -> AppTest:
    """The page's address in a fresh visit."""
    return open_page(file, **dict(at.query_params))


# (page, its address, widget, another value, what the address then says)
CHANGES = [
    (TRADE_OFFS, TINY, "ask.structure", "factor", {"ask.structure": "factor"}),
    (TRADE_OFFS, {"source": "wine"}, "ask.n", 300, {"ask.n": "300"}),
    (GRAPH, {"data.n": "200", "data.d": "4"}, "graph.view", "As an owner sees it", {"view": "as-an-owner-sees-it"}),
    ("pages/7_Methods.py", {}, "methods-kind", "pure", {"show.kind": "pure"}),
    ("pages/9_Privacy_audit.py", {}, "audit-d", 1, {"live.d": "1"}),
    ("pages/9_Privacy_audit.py", {"tab": "claims"}, "claims-n", 500, {"claims.n": "500"}),
    ("pages/9_Privacy_audit.py", {"tab": "what-an-attacker-learns"}, "learn-prior", 25.0, {"learn.prior": "25"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "query", "key", "value", "told"), CHANGES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_change_is_in_the_address_and_a_fresh_visit_shows_the_same(file, query, key, value, told, monkeypatch):
    from pages.common.jobs import Job

    if "audit" not in file:
        monkeypatch.setattr(Job, "__init__", _no_work(Job.__init__))
    at = open_page(file, **query)
    widget(at, key).set_value(value).run()
    assert not at.exception
    assert told.items() <= dict(at.query_params).items()
    other = again(at, file)
    assert not other.exception
    assert not other.warning
    assert dict(other.query_params) == dict(at.query_params)
    assert values(other) == values(at)


def _no_work(original):
    """Jobs that end at once: the test is about widgets."""

    def start(self, steps, total, places):
        original(self, lambda _: iter(()), total, places)

    return start


def test_back_undoes_one_change(monkeypatch):
    monkeypatch.setattr(frame, "ON_THE_WAY", 0.0)  # nobody presses Back as soon after a change as this test does
    at = open_page(GRAPH, **{"data.n": "200", "data.d": "4"})
    before, owner = dict(at.query_params), "As an owner sees it"
    widget(at, "graph.view").set_value(owner).run()
    at.select_slider(key="w.rho").set_value(1.0).run()
    del at.query_params["rho"]
    at.run()
    assert (widget(at, "graph.view").value, at.select_slider(key="w.rho").value) == (owner, 0.1)
    del at.query_params["view"]
    at.run()
    assert widget(at, "graph.view").value == "Against the graph"
    assert dict(at.query_params) == before


# --- the same in Python ---------------------------------------------------------------------------------------------
