"""Which method? On the pages: it answers, and it sets the method."""

import pytest

from privcov.advice.advise import advise
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, ZCDP
from tests.pages.test_pages import open_page, settle


def opened(file: str, where: str, **query: str):
    at = open_page(file, **query)
    at.session_state[f"advice-{where}"] = True
    at.run()
    settle(at)
    assert not at.error
    return at


def press(at, label: str) -> None:
    next(b for b in at.button if b.label == label).click().run()
    settle(at)


@pytest.mark.parametrize("file", ["pages/1_Estimate.py", "pages/4_Spectra.py"])
def test_the_button_sets_the_method_that_advise_names(file):
    query = {"kind": "approx", "data.n": "5000", "data.d": "40", "method": "gaussian-cov"}
    at = opened(file, "strip", **query)
    found = advise(5000, 40, ApproxDP(1.0, 1e-6), mean_known=True)
    said = at.success[0].value.replace("\\", "")
    assert said.startswith(f"**{METHODS.get(found.pick).label}.** Safest choice if you know nothing")
    assert found.pick == found.ranking[0].key
    press(at, "Use it")
    assert at.session_state["study"].method == found.pick
    assert at.selectbox(key="w.method").value == found.pick
    assert not [b for b in at.button if b.label == "Use it"]  # it is chosen now


def test_none_is_a_warning_without_a_button():
    at = opened("pages/1_Estimate.py", "strip", **{"data.n": "300", "data.d": "40", "rho": "0.0001"})
    at.number_input(key="advice-n-strip-300").set_value(300).run()
    at.selectbox(key="advice-structure-strip-covariance").select("skewed").run()
    assert not advise(300, 40, ZCDP(0.0001), structure="skewed", mean_known=True).pick
    assert any(w.value.startswith("**None.**") for w in at.warning)
    assert not [b for b in at.button if b.label == "Use it"]


def test_graph_recovery_is_advised_on_graphs_and_offers_only_what_draws_one():
    at = opened("pages/3_Graph_recovery.py", "strip", **{"data.n": "5000", "data.d": "15", "method": "glasso-gaussian"})
    found = advise(5000, 15, ZCDP(0.1), "graph", mean_known=True)
    assert found.pick
    assert at.session_state["study"].method == "glasso-gaussian"
    press(at, "Use it")
    assert at.session_state["study"].method == found.pick
