"""The strip: what its buttons say, what survives a change of data, and what a link may leave out."""

import pytest

from pages.shell.study import CSV, OPENING, Study, from_query, to_query
from tests.pages.test_pages import open_page

ESTIMATE = "pages/1_Estimate.py"


def labels(at) -> list[str]:
    """What the buttons of the strip say."""
    return [block.proto.popover.label for block in at.get("popover")]


def test_the_button_of_the_data_says_its_size_and_more_says_how_much_is_changed():
    at = open_page(ESTIMATE)
    assert "AR(1), 1,000 x 40" in labels(at)
    assert "More" in labels(at)
    at = open_page(ESTIMATE, kind="pure", seed="7", source="wine")
    assert "Wine (Italian cultivars)" in labels(at)
    assert "More: 2 changed" in labels(at)
    at.button(key="strip-reset").click().run()
    assert not at.exception
    study = at.session_state["study"]
    assert (study.kind, study.seed, study.source) == (OPENING.kind, OPENING.seed, "wine")
    assert "More" in labels(at)


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
