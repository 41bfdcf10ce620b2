"""The demonstrations on the page: every one opens, its lever moves, its address and its script give it again."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.lessons import demos
from privcov.attacks import demonstrations
from privcov.attacks.demonstrations import DEMONSTRATIONS
from privcov.plots.words import chance
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


def numbers(at: AppTest) -> list[str]:
    return [m.value for m in at.metric if m.label in ("Attacker is right", "Permitted at most")]


def verdicts(at: AppTest) -> str:
    return " ".join(h.proto.body for h in at.get("html") if 'role="status"' in h.proto.body)


def address(at: AppTest, name: str) -> str:
    value = at.query_params.get(name, "")
    return value[0] if isinstance(value, list) else value


@pytest.mark.parametrize("made", DEMONSTRATIONS, ids=lambda d: d.key)
def test_every_demonstration_shows_the_attack_and_the_repair(made):
    at = open_page(demo=made.key)
    found = demonstrations.run(made.key, seed=1)
    assert numbers(at) == [chance(x) for side in (found.done, found.repaired) for x in (side.success, side.limit)]
    said = verdicts(at)
    assert "The repair holds." in said
    assert ("The claim is kept, and permits certainty." if made.certain else "The attack succeeds.") in said
    assert len([c for c in at.get("plotly_chart") if c.proto.alt]) == 3
    assert not at.error
    space = {}
    exec(at.code[-1].value, space)
    assert space["found"].done.hits == found.done.hits


@pytest.mark.parametrize("made", DEMONSTRATIONS, ids=lambda d: d.key)
def test_both_ends_of_the_lever(made):
    for value in (made.control.options[0], made.control.options[-1]):
        at = open_page(demo=made.key, demo_lever=f"{value:.12g}")
        (control,) = [s for s in at.select_slider if s.label == made.control.label]
        assert control.value == value
        assert chance(made.case.exact(value)[1]) in numbers(at)


def test_the_harmless_end_is_called_harmless():
    at = open_page(demo="outside", demo_lever="1")
    assert "Harmless at this end of the control." in verdicts(at)


def test_a_claim_exceeded_is_not_called_harmless_where_the_attacker_is_weak():
    at = open_page(demo="sample-mean", demo_lever="0.1")
    assert "Claim exceeded; too little for this attacker to show." in verdicts(at)
    assert "Harmless" not in verdicts(at)


def test_the_lever_and_the_choice_are_in_the_address():
    at = open_page(demo="outside")
    at.select_slider(key="demo-lever-outside").set_value(5.0).run()
    assert not at.exception
    assert address(at, "demo_lever") == "5"
    assert "rows of any length" in verdicts(at)
    at.button_group(key="demo-choice").set_value("re-runs").run()
    assert not at.exception
    assert address(at, "demo") == "re-runs"
    assert address(at, "demo_lever") == ""
    assert at.select_slider(key="demo-lever-re-runs").value == 20.0


def test_an_address_that_makes_no_sense_shows_the_first_one_at_its_default():
    at = open_page(demo="<b>", demo_lever="nan")
    assert at.button_group(key="demo-choice").value in (DEMONSTRATIONS[0].key, [DEMONSTRATIONS[0].key])
    assert at.select_slider(key="demo-lever-longest-row").value == 2.0


def test_the_seed_of_the_study_draws_the_attacks():
    one, two = (open_page(demo="one-over-n", seed=seed) for seed in ("1", "2"))
    assert verdicts(one) != verdicts(two)


def test_verdicts_in_words():
    found = demonstrations.run("outside", 1.0, count=100)
    assert demos.verdict(found.done, done=True) != demos.verdict(found.repaired, done=False)
