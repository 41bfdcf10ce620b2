"""The demonstrations on the page: every one opens, its lever moves, its address and its script give it again."""

from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.lessons import demos
from privcov.attacks import demonstrations
from privcov.attacks.demonstrations import DEMONSTRATIONS
from privcov.core.words import chance
from tests.pages.test_lessons import played
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
TITLES = [d.title for d in DEMONSTRATIONS]


def open_page(**query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page("pages/6_Lessons.py")
    at.query_params["part"] = "demos"
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception, at.exception
    return at


def said(at: AppTest) -> str:
    """The words at the place of the control."""
    given = played(at)
    _, words = given["shows"][0][given["at"]]
    return unescape(
        "".join(given["pieces"][index] for index in given["parts"][words]).replace("<b>", "").replace("</b>", "")
    )


def address(at: AppTest, name: str) -> str:
    value = at.query_params.get(name, "")
    return value[0] if isinstance(value, list) else value


@pytest.mark.parametrize("made", DEMONSTRATIONS, ids=lambda d: d.key)
def test_every_demonstration_shows_the_attack_and_the_repair(made):
    at = open_page(demo=made.key)
    found = demonstrations.run(made.key, seed=1)
    words = said(at)
    for side in (found.done, found.repaired):
        assert f": {chance(side.success)}. Permitted at most by" in words
        assert f": {chance(side.limit)}." in words
        assert side.finding in words
    assert "The repair holds." in words
    assert ("The claim is kept, and permits certainty." if made.certain else "The attack succeeds.") in words
    assert not at.error
    assert not at.warning
    space = {}
    exec(at.code[-1].value, space)
    assert space["found"].done.hits == found.done.hits


@pytest.mark.parametrize("made", DEMONSTRATIONS, ids=lambda d: d.key)
def test_each_place_has_the_curve_and_both_sides(made):
    given = demos.demonstration_content(made.key, False, 1)
    assert given["places"] == [made.control.words(value) for value in made.control.options]
    (shows,) = given["shows"]
    for pictures, _ in shows:
        markup = "".join(given["pieces"][index] for index in given["parts"][pictures])
        assert markup.count('role="img"') == 3
    assert len(set(map(tuple, shows))) == len(made.control.options)


def test_the_choice_is_in_the_address_and_begins_anew():
    at = open_page(demo="outside", demo_lever="5")
    assert "rows of any length" in said(at)
    at.button_group(key="demo-choice").set_value("re-runs").run()
    assert not at.exception
    assert address(at, "demo") == "re-runs"
    assert address(at, "demo_lever") == ""
    assert played(at)["at"] == played(at)["start"]
