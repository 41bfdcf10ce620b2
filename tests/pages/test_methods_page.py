"""The gallery shows what the registry holds."""

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import privcov
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
CARDS = privcov.methods()


def open_page(page: str = "pages/7_Methods.py", **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(30))
    at.switch_page(page)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def told(at: AppTest) -> str:
    return "\n".join(e.value for e in (*at.markdown, *at.caption))


def listed(at: AppTest) -> list[str]:
    """The names of the cards: those that open, and inside the historical ones those that stand there."""
    names = []
    for box in at.main.expander:
        if box.label.startswith("**"):
            names.append(box.label.split("**")[1])
        else:
            names += [m.value.split("\n")[0].removeprefix("### ") for m in box.markdown if m.value.startswith("### ")]
    return names


def doors(at: AppTest) -> list[dict]:
    """The query of every card's link, in the order of the cards."""
    return [dict(parse_qsl(link.proto.query_string)) for link in at.main.get("page_link")]


def test_every_registered_method_has_its_card():
    at = open_page()
    assert sorted(listed(at)) == sorted(c.label for c in CARDS)
    words = told(at)
    formulas = [element.value for element in at.latex]
    for card in CARDS:
        for text in (card.summary, card.avoid, card.reference, card.differs):
            assert text in words
        assert any(card.formula in formula for formula in formulas)


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_each_link_opens_its_method_under_a_guarantee_it_can_give(kind):
    at = open_page(kind=kind, seed="7", **{"data.d": "5", "data.n": "300"})
    by_label = {c.label: c for c in CARDS}
    for label, query in zip(listed(at), doors(at), strict=True):
        card = by_label[label]
        assert query["method"] == card.key
        assert query["seed"] == "7"  # the rest of the study is kept
        assert query["data.d"] == "5"
        there = open_page("pages/1_Estimate.py", **query)
        study = there.session_state["study"]
        assert study.method == card.key
        assert not card.refuses(study.kind)
        assert card.refuses(kind) or study.kind == kind
        assert not there.error


def test_the_filters_keep_what_they_say():
    at = open_page()
    at.button_group(key="methods-kind").set_value("pure").run()
    assert sorted(listed(at)) == sorted(c.label for c in CARDS if not c.refuses("pure"))
    family = CARDS[0].family
    at.button_group(key="methods-family").set_value(family).run()
    assert listed(at) == [c.label for c in CARDS if c.family == family and not c.refuses("pure")]
    at.button_group(key="methods-kind").set_value("All").run()
    assert listed(at) == [c.label for c in CARDS if c.family == family]
    assert not at.exception
