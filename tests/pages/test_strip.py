"""The strip: what its buttons say, what survives a change of data, and what a link may leave out."""

import pytest

from pages.common.study import CSV, Study, from_query, to_query
from privcov.core import accounting
from tests.pages.test_pages import open_page

ESTIMATE = "pages/1_Estimate.py"


def labels(at) -> list[str]:
    """What the buttons of the strip say."""
    return [block.proto.popover.label for block in at.get("popover")]


def test_n_and_d_survive_a_table_that_has_its_own():
    at = open_page(ESTIMATE, **{"source": "block-covariance", "data.n": "1200", "data.d": "24"})
    at.selectbox(key="w.source").set_value("wine").run()
    assert at.toast[0].value == ("This table has its own size. n = 1,200 and d = 24 will be back with simulated data.")
    assert "Wine (Italian cultivars)" in labels(at)
    at.selectbox(key="w.source").set_value("sparse-covariance").run()
    assert not at.toast
    assert dict(at.session_state["study"].data) == {"n": 1200, "d": 24}
    at.selectbox(key="w.source").set_value(CSV).run()
    assert not at.toast, "no table yet"
    at.selectbox(key="w.source").set_value("block-covariance").run()
    assert dict(at.session_state["study"].data) == {"n": 1200, "d": 24}


@pytest.mark.parametrize(
    ("query", "kind"),
    [({"epsilon": "99"}, "approx"), ({"epsilon": "2", "kind": "zcdp"}, "zcdp"), ({"rho": "1"}, "zcdp")],
)
def test_an_epsilon_without_a_kind_is_that_of_approximate_dp(query, kind):
    study, problems = from_query(query)
    assert (study.kind, problems) == (kind, [])
    assert from_query(to_query(study)) == (study, [])
    assert from_query(to_query(Study(epsilon=0.3)))[0] == Study(epsilon=0.3)


def test_another_kind_has_the_nearest_level_and_the_way_back_the_same():
    at = open_page("pages/1_Estimate.py", rho="0.1", **{"data.n": "300", "data.d": "4"})
    at.segmented_control(key="w.kind").set_value("approx").run()
    epsilon = at.session_state["study"].epsilon
    assert epsilon == pytest.approx(accounting.zcdp_to_approx(0.1, 1e-6), rel=0.05)
    assert any("is the nearest to" in c.value for c in at.caption)
    at.segmented_control(key="w.kind").set_value("pure").run()
    assert at.session_state["study"].epsilon == epsilon, "the same number, and delta is 0"
    at.segmented_control(key="w.kind").set_value("zcdp").run()
    assert at.session_state["study"].rho == 0.1
    at.select_slider(key="w.rho").set_value(0.2).run()
    assert not any("is the nearest to" in c.value for c in at.caption)


@pytest.mark.parametrize(("kind", "name", "level"), [("approx", "epsilon", 0.73), ("zcdp", "rho", 0.0123)])
def test_a_level_that_is_typed_is_the_sliders_too(kind, name, level):
    at = open_page("pages/2_Trade_offs.py", kind=kind, **{"data.n": "500", "data.d": "5"})
    at.text_input(key=f"w.typed-{name}").set_value(f"{level:g}").run()
    assert at.session_state["study"].at(level) == at.session_state["study"]
    assert at.select_slider(key=f"w.{name}").value == level
    assert at.query_params[name] == f"{level:g}"
    beyond = open_page("pages/2_Trade_offs.py", kind=kind, **{name: "50", "data.n": "500", "data.d": "5"})
    assert beyond.text_input(key=f"w.typed-{name}").value == "50"


@pytest.mark.parametrize("text", ["0,5", "half", "1e9", "nan", ""])
def test_a_level_that_is_no_number_within_its_limits_changes_nothing(text):
    at = open_page("pages/1_Estimate.py", kind="pure", epsilon="2", **{"data.n": "300", "data.d": "4"})
    at.text_input(key="w.typed-epsilon").set_value(text).run()
    assert at.session_state["study"].epsilon == 2
    assert any(text in e.value and "decimal point" in e.value for e in at.error)
    at.text_input(key="w.typed-epsilon").set_value("0.5").run()
    assert at.session_state["study"].epsilon == 0.5
    assert not at.error
