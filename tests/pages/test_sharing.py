"""A page's address holds what its widgets show, and scripts and saved studies give the page's numbers."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.common import address, frame
from privcov.attacks.pairs import catalogue
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
    (TRADE_OFFS, TINY, "ask.structure", "blocks", {"ask.structure": "blocks"}),
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


NONSENSE = [
    (TRADE_OFFS, {"ask": "banana", "ask.row": "-3", "ask.bounds": "<b>"}, 3),
    (TRADE_OFFS, {"ask.structure": "x", "ask.row": "7"}, 2),
    (GRAPH, {"data.n": "200", "data.d": "4", "lambda": "7", "view": "none"}, 2),
    ("pages/9_Privacy_audit.py", {"tab": "claims", "claims.n": "1e30", "claims.verdict": "yes"}, 2),
    ("pages/7_Methods.py", {"show.kind": "perfect"}, 1),
]


@pytest.mark.parametrize(("file", "query", "count"), NONSENSE)
def test_nonsense_gets_a_sentence_each_and_a_working_page(file, query, count, monkeypatch):
    from pages.common.jobs import Job

    if "audit" not in file:  # a page that works runs again when it is done, and a sentence is said once
        monkeypatch.setattr(Job, "__init__", _no_work(Job.__init__))
    at = open_page(file, **{**TINY, **query})
    assert not at.error
    told = [w.value for w in at.warning if "left out" in w.value]
    assert len(told) == count
    assert not set(query).difference(("data.n", "data.d", "tab")) & set(at.query_params)


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


@pytest.mark.parametrize(("code", "value"), [
    (address.one_of(["What an attacker learns", "Claims", "claims!"]), "claims!"),
    (address.several_of(["a b", "c,d"]), ["c,d", "a b"]), (address.several_of(["a"]), []),
    (address.number(0, 10, whole=False), 0.1 + 0.2),
    (address.switch(), False),
])  # fmt: skip
def test_a_value_survives_its_text(code, value):
    assert code.read(code.write(value)) == value
    assert "&" not in code.write(value)
    assert " " not in code.write(value)


def test_a_choice_clears_what_means_nothing_after_it():
    """A pair of rows of two columns is none of one column."""
    pair = catalogue(2, False)[-1].key
    at = open_page("pages/9_Privacy_audit.py", **{"live.pair": pair})
    assert next(box for box in at.selectbox if box.key.startswith("audit-pair")).value == pair
    widget(at, "audit-d").set_value(1).run()
    assert "live.pair" not in at.query_params
    assert at.query_params["live.d"] == "1"


@pytest.mark.parametrize(("code", "text", "sentence"), [
    (address.written(), "x" * 1_001, "1,001 letters; 1,000 is the limit"), (address.switch(), "true", "yes or no"),
    (address.number(0, 10, whole=True), "0.5", "whole number from 0 to 10"),
    (address.number(0, 10, whole=True), "nan", "whole number from 0 to 10"),
    (address.number(0, 10, whole=False), "10.1", "number from 0 to 10"),
    (address.number(0, 10, whole=False), "-0.1", "number from 0 to 10"),
    (address.one_of(["a", "b"]), "c", "one of a, b"),
])  # fmt: skip
def test_text_that_is_no_value_of_the_widget_is_a_sentence(code, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        code.read(text)


def test_words_and_numbers_of_an_address():
    assert address.written().read("x" * 1_000) == "x" * 1_000
    assert address.switch().read("yes") is True
    assert [address.word(v) for v in (1.0, 20.0, 1e14, 1e15, 0.1, "A b")] == [
        "1",
        "20",
        f"{10**14}",
        "1000000000000000.0",
        "0.1",
        "a-b",
    ]
    assert address.several_of(["a"]).read("none") == []
    # A switch is no number, and a number no text: a list of options may hold both.
    for one, other, same in (
        (True, 1, False),
        (1, 1.0, True),
        ("1", 1, False),
        ([1.0], (1.0,), True),
        (0, False, False),
    ):
        assert address._same(one, other) is same


# --- the same in Python ---------------------------------------------------------------------------------------------


def executed(code: str) -> dict:
    scope: dict = {}
    exec(code, scope)
    return scope


def test_the_spectra_script_has_the_page_s_eigenvalues():
    at = open_page(SPECTRA, **TINY, rho="0.001")
    scope = executed(at.code[0].value)
    inside = int((np.abs(scope["spectra"]["Noisy"]) <= scope["edge"]).sum())
    assert next(m.value for m in at.metric if m.label.startswith("Not separately")) == f"{inside} of 3"


def test_the_network_script_has_the_page_s_counts():
    at = open_page(GRAPH, **{"data.n": "200", "data.d": "4"})
    scope = executed(next(c.value for c in at.code if "counts" in c.value))
    found = scope["counts"]
    words = f"**{found.tp} of {found.tp + found.fn}** edges"
    assert any(words in m.value for m in at.markdown)


@pytest.mark.parametrize("file", [ESTIMATE, GRAPH])
def test_a_number_is_also_told_as_the_default_of_its_widget(file):
    """A browser that never heard of the run that set a number field takes the field's default and sends it back."""
    at = open_page(file, source="ar1-covariance", seed="7", **{"data.n": "2000", "data.d": "6"})
    assert {"w.seed": 7, "w.data.ar1-covariance.d": 6}.items() <= {f.key: f.value for f in at.number_input}.items()
    for field in at.number_input:
        assert field.proto.default == field.value, field.label


@pytest.mark.parametrize(
    ("file", "query"),
    [
        (GRAPH, {"source": "precision-random", "data.n": "200", "data.d": "4", "kind": "pure",
                 "view": "as-an-owner-sees-it"}),
        (TRADE_OFFS, {**TINY, "kind": "approx", "norm": "max", "axis": "row_bound", "methods": "gaussian-cov"}),
    ],
)  # fmt: skip
def test_lists_and_buttons_are_told_what_they_show_as_their_default_too(file, query):
    """A browser that never hears of the run that set a widget's state shows the default: it must be the same."""
    at = open_page(file, **query)
    boxes = [w for w in at.selectbox if w.key and w.value is not None]
    assert boxes
    for box in boxes:
        assert box.options[box.proto.default] == box.format_func(box.value), box.key
    chosen = [w for w in at.button_group if w.key in ("w.kind", "graph.view")]
    assert chosen
    for group in chosen:
        assert [group.options[i] for i in group.proto.default] == [group.format_func(v) for v in _listed(group.value)]


def _listed(value: object) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value]
