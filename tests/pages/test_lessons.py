"""The Lessons page: every lesson at both ends of its control, answers checked, links that open what they say."""

import dataclasses

import numpy as np
import pytest

import privcov
from pages.common import cached
from pages.lessons import clipping, columns, guess, reruns, rows, scale, shrinkage, simulated
from pages.lessons.catalogue import FILES, LESSONS, NUMBERS, place
from pages.lessons.offline import content
from privcov.core import accounting
from privcov.core.guarantees import ZCDP
from privcov.plots.words import percent
from tests.pages.test_pages import chart, open_page

PAGE = "pages/6_Lessons.py"


def told(at, name: str) -> str | None:
    """What the address says of a setting; AppTest gives back a list or a text, as it was set."""
    found = at.query_params.get(name)
    return found[0] if isinstance(found, list) else found


def element(at, kind, key):
    return next(e for e in getattr(at, kind) if e.key == key)


def test_the_book_is_complete_and_every_question_has_one_right_answer():
    for lesson in LESSONS.values():
        assert sum(choice.right for choice in lesson.choices) == 1
        assert len(lesson.choices) >= 3
        assert all(choice.reason and choice.text for choice in lesson.choices)
        assert lesson.control.start in lesson.control.options
        assert all((lesson.control.left, lesson.control.right, lesson.remember))
        for option in lesson.control.options:
            assert lesson.control.read(str(option)) == option, "an address brings back every place of the control"
    assert len({lesson.title for lesson in LESSONS.values()}) == len(LESSONS)
    assert len({[c.right for c in lesson.choices].index(True) for lesson in LESSONS.values()}) == 3, (
        "not always the same place"
    )


def test_saved_links_open_the_lessons_they_always_did():
    """A number is given once: a new lesson takes the next one, wherever its row is."""
    assert sorted(FILES) == list(range(1, len(FILES) + 1))
    first = "neighbours sensitivity rows columns clipping thresholding shrinkage graphs reruns guess"
    assert [FILES[number] for number in range(1, 11)] == first.split()


@pytest.mark.parametrize("number", NUMBERS)
def test_every_lesson_runs_at_both_ends_of_its_control(number):
    control = LESSONS[number].control
    at = open_page(PAGE, lesson=str(number), lever=str(control.options[0]))
    for end in (control.options[0], control.options[-1]):
        element(at, "select_slider", f"lesson-lever-{number}").set_value(end).run()
        assert not at.exception
        assert not at.error
        assert not at.warning
        assert len(at.get("plotly_chart")) >= 1
        assert (told(at, "lever") or str(control.start)) == str(end)
    assert at.title[0].value == f"{place(number)}. {LESSONS[number].title}"


def test_answers_are_checked_with_a_reason_and_counted_on_the_chooser():
    at = open_page(PAGE, lesson="2")
    element(at, "button", "lesson-check-2").click().run()
    assert any("Choose one of the answers first" in c.value for c in at.caption)
    choices = LESSONS[2].choices
    radio = element(at, "radio", "lesson-choice-2")
    radio.set_value(0).run()
    element(at, "button", "lesson-check-2").click().run()
    assert choices[0].reason in at.warning[0].value
    assert not at.success
    element(at, "radio", "lesson-choice-2").set_value(1).run()
    assert not at.warning, "another choice is not checked yet"
    element(at, "button", "lesson-check-2").click().run()
    assert choices[1].reason in at.success[0].value
    assert LESSONS[2].remember in at.success[0].value
    element(at, "button", "lesson-next").click().run()
    assert at.title[0].value.startswith("3. ")
    assert told(at, "lesson") == "3"
    (chooser,) = [group for group in at.get("button_group") if group.key == "lesson-number"]
    assert "2 \u2713" in chooser.options
    element(at, "button", "lesson-previous").click().run()
    assert at.success, "the answer is still there"


def test_the_words_at_the_ends_move_the_control_one_step_and_stop_there():
    options, start = LESSONS[3].control.options, LESSONS[3].control.start
    at = open_page(PAGE, lesson="3")
    element(at, "button", "lesson-lever-more").click().run()
    assert told(at, "lever") == str(options[options.index(start) + 1])
    element(at, "button", "lesson-lever-less").click().run()
    assert not told(at, "lever"), "back at the start, which the address leaves out"
    element(at, "select_slider", "lesson-lever-3").set_value(options[-1]).run()
    assert element(at, "button", "lesson-lever-more").disabled
    element(at, "select_slider", "lesson-lever-3").set_value(options[0]).run()
    assert element(at, "button", "lesson-lever-less").disabled


def test_the_control_starts_anew_with_the_lesson():
    at = open_page(PAGE, lesson="3", lever="200000")
    element(at, "button", "lesson-next").click().run()
    assert "lever" not in at.query_params
    after = list(LESSONS)[list(LESSONS).index(3) + 1]
    assert element(at, "select_slider", f"lesson-lever-{after}").value == LESSONS[after].control.start


@pytest.mark.parametrize(("name", "text"), [("lesson", "eleven"), ("lever", "-1"), ("part", "<b>")])
def test_a_link_with_nonsense_gets_a_sentence(name, text):
    at = open_page(PAGE, **{"lesson": "3", name: text})
    assert len(at.warning) == 1
    assert "was left out" in at.warning[0].value
    assert not at.error
    assert len(at.get("plotly_chart")) >= 1


def test_the_full_screen_has_a_way_back_and_keeps_the_lesson():
    at = open_page(PAGE, lesson="3", lever="5000")
    element(at, "button", "lesson-full").click().run()
    assert told(at, "full") == "1"
    assert element(at, "select_slider", "lesson-lever-3").value == 5_000
    element(at, "button", "lesson-small").click().run()
    assert "full" not in at.query_params
    assert told(at, "lever") == "5000"


def test_the_link_on_the_page_is_its_address():
    at = open_page(PAGE, lesson="5", lever="1.189207")
    assert at.code[0].value == "/Lessons?lesson=5&lever=1.189207"
    at = open_page(PAGE, lesson="9", path="teach-3")
    assert at.code[0].value == "/Lessons?lesson=9", "what no page knows is in no link"


def test_the_demonstrations_are_the_other_part():
    at = open_page(PAGE, part="demos")
    assert at.title[0].value == "Demonstrations"
    assert not at.error
    assert not at.warning


# --- what a lesson shows is what the page behind its link shows ---------------------------------------------


def linked(number: int, value: object):
    """The release of the study that the lesson hands on."""
    study = LESSONS[number].onward[2](value)
    return cached.dataset(study), cached.release(study)


def test_links_open_the_very_matrices_of_the_lesson():
    data, rel = linked(3, 2_000)
    np.testing.assert_allclose(rel.covariance, rows.of_many(2_000).released, atol=1e-12)
    data, rel = linked(4, 20)
    np.testing.assert_allclose(rel.covariance, columns.of_width(20).sparse, atol=1e-12)
    multiple = clipping.MULTIPLES[3]
    data, rel = linked(5, multiple)
    (found,) = clipping.clipped((multiple,))
    assert data.row_bound == pytest.approx(found.row_bound)
    assert privcov.error(rel, data, relative=True) == pytest.approx(found.total)
    data, rel = linked(7, 0.05)
    np.testing.assert_allclose(np.linalg.eigvalsh(rel.covariance), shrinkage.shrunk(0.05).shrunk, atol=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_link_survives_its_address(number):
    from pages.common.study import from_query, to_query

    lesson = LESSONS[number]
    for value in (lesson.control.options[0], lesson.control.options[-1]):
        study = lesson.onward[2](value)
        again, problems = from_query(to_query(study))
        assert problems == []
        assert again == dataclasses.replace(study, bound=again.bound)
        assert again.bound == pytest.approx(study.bound)


def test_the_re_runs_are_read_from_the_control():
    assert LESSONS[9].control.options == reruns.RUNS


# --- guess the neighbour ------------------------------------------------------------------------------------


def test_a_vote_reveals_the_truth_and_scores_beside_the_optimal_attacker(monkeypatch):
    monkeypatch.setattr(guess.secrets, "randbelow", lambda most: 1)
    at = open_page(PAGE, lesson="10", lever="0.5")
    rounds = [guess.play(0.5, 1, k) for k in (1, 2)]
    assert not any("It was **" in m.value for m in at.markdown), "nothing is told before the vote"
    element(at, "button", "lesson-vote-A").click().run()
    said = next(m.value for m in at.markdown if "It was **" in m.value)
    assert f"It was **{'AB'[rounds[0].truth]}**" in said
    assert f"optimal attacker said {'AB'[rounds[0].optimal]}" in said
    assert element(at, "button", "lesson-vote-A").disabled
    element(at, "button", "lesson-next-release").click().run()
    element(at, "button", "lesson-vote-B").click().run()
    hits = (rounds[0].truth == 0) + (rounds[1].truth == 1)
    low, high = guess.score_interval(hits, 2)
    words = next(m.value for m in at.markdown if "**Votes:**" in m.value)
    assert f"{hits} of 2;" in words
    assert f"{percent(low)} to {percent(high)}" in words
    assert f"{sum(r.optimal_is_right for r in rounds)} of the same 2" in words
    assert percent(guess.limit(0.5), "at most") in words


def test_every_visit_and_every_new_game_has_coins_and_noise_of_its_own(monkeypatch):
    drawn = iter(range(5, 20))
    monkeypatch.setattr(guess.secrets, "randbelow", lambda most: next(drawn))
    seeds = []
    for _ in range(2):
        at = open_page(PAGE, lesson="10", seed="1")
        for _ in range(2):
            seeds += [game.seed for game in at.session_state["lesson_games"].values()]
            element(at, "button", "lesson-vote-A").click().run()
            element(at, "button", "lesson-new-game").click().run()
    assert seeds == [5, 6, 8, 9], "two games in each of two visits"


def test_a_hundred_rounds_of_the_optimal_attacker_leave_the_class_alone(monkeypatch):
    monkeypatch.setattr(guess.secrets, "randbelow", lambda most: 1)
    at = open_page(PAGE, lesson="10", lever="2.0")
    for _ in range(3):
        element(at, "button", "lesson-hundred").click().run()
    right = sum(guess.play(2.0, 1, k).optimal_is_right for k in range(1, 301))
    words = next(m.value for m in at.markdown if "**Limit**" in m.value)
    assert f"**Optimal attacker:** {right} of all 300" in words
    assert "Votes" not in words
    low, high = guess.usual(2.0, 100)
    assert f"of 100 usually {low} to {high}" in words
    assert f"**{low} to {high}**" in content(LESSONS[10], 2.0).sentence, "what the run sheet promises"
    _, alt = chart(at, "Running scores")
    assert f"optimal attacker: {right} of 300 right" in alt
    element(at, "button", "lesson-new-game").click().run()
    assert not any("On all" in m.value for m in at.markdown)
    element(at, "button", "lesson-hundred").click().run()
    assert "of all 100" in next(m.value for m in at.markdown if "**Limit**" in m.value)


def test_the_numbers_in_the_last_question_are_true():
    low, high = guess.score_interval(17, 20)
    assert round(low, 2) == 0.62
    assert low < guess.limit(LESSONS[10].control.start) < high
    assert round(guess.limit(LESSONS[10].control.start), 2) == 0.69


# --- rho or epsilon -----------------------------------------------------------------------------------------

OF_RHO = [number for number, lesson in LESSONS.items() if lesson.control.is_rho]


@pytest.mark.parametrize("number", OF_RHO)
def test_a_control_of_rho_is_one_of_epsilon_over_the_same_range(number):
    by_rho = LESSONS[number].control
    by_epsilon = scale.in_unit(by_rho, "epsilon")
    assert scale.in_unit(by_rho, "rho") is by_rho
    rhos = [by_epsilon.meaning(option) for option in by_epsilon.options]
    assert rhos == sorted(rhos)
    for option, rho in zip(by_epsilon.options, rhos, strict=True):
        assert simulated.epsilon(rho) == pytest.approx(option, rel=1e-9), "the epsilon that the lesson tells"
        assert by_epsilon.read(str(option)) == option
    assert by_epsilon.start in by_epsilon.options
    for ours, theirs in ((rhos[0], by_rho.options[0]), (rhos[-1], by_rho.options[-1])):
        assert 1 / 2.2 < ours / theirs < 2.2


def test_only_a_control_of_rho_has_the_switch():
    assert {7, 10} <= set(OF_RHO)
    for number, lesson in LESSONS.items():
        at = open_page(PAGE, lesson=str(number))
        assert len([t for t in at.toggle if t.key == "lesson-unit"]) == lesson.control.is_rho
        assert "Rho" not in lesson.control.label or lesson.control.is_rho


def test_the_switch_keeps_the_noise_goes_back_and_is_in_the_address():
    at = open_page(PAGE, lesson="7", lever="0.05")
    element(at, "toggle", "lesson-unit").set_value(True).run()
    assert not at.exception
    assert told(at, "unit") == "epsilon"
    place = float(f"{simulated.epsilon(0.05):.3g}")
    assert place not in scale.in_epsilon(LESSONS[7].control).options
    assert element(at, "select_slider", "lesson-lever-7-epsilon").value == place
    assert told(at, "lever") == str(place)
    assert f"epsilon = {place:.3g} at delta" in " ".join(
        [h.proto.body for h in at.get("html")] + [c.value for c in [*at.markdown, *at.caption]]
    )
    element(at, "button", "lesson-next").click().run()
    assert told(at, "unit") == "epsilon", "the class keeps its unit"
    element(at, "button", "lesson-previous").click().run()
    start = scale.in_epsilon(LESSONS[7].control).start
    assert element(at, "select_slider", "lesson-lever-7-epsilon").value == start, "another lesson begins at its start"
    element(at, "toggle", "lesson-unit").set_value(False).run()
    assert not told(at, "unit")
    assert element(at, "select_slider", "lesson-lever-7").value == float(f"{simulated.rho_at(start):.3g}")


@pytest.mark.parametrize("number", OF_RHO)
def test_every_place_of_a_control_keeps_its_noise_under_the_other_name_and_comes_back(number):
    """All places of both units: the same rho, bit for bit, and the first place again after the second switch."""
    control = LESSONS[number].control
    for here, there in (scale.UNITS, scale.UNITS[::-1]):
        first = scale.in_unit(control, here)
        for option in first.options:
            place = scale.renamed(first.meaning(option), there)
            second = scale.in_unit(control, there, str(place))
            assert second.read(str(place)) == place
            assert second.meaning(place) == pytest.approx(
                first.meaning(option), rel=0 if place not in scale.in_unit(control, there).options else 1e-2
            )
            assert scale.renamed(second.meaning(place), here) == pytest.approx(option, rel=1e-2)


def test_the_switch_keeps_the_game():
    at = open_page(PAGE, lesson="10")
    for _ in range(3):
        element(at, "button", "lesson-vote-A").click().run()
        element(at, "button", "lesson-next-release").click().run()
    scores = next(m.value for m in at.markdown if "**Limit**" in m.value)
    assert "of 3;" in scores
    for on in (True, False):
        element(at, "toggle", "lesson-unit").set_value(on).run()
        assert next(m.value for m in at.markdown if "**Limit**" in m.value) == scores
    assert len(at.session_state["lesson_games"]) == 1


def test_a_link_by_epsilon_opens_what_it_says_and_hands_on_the_same_noise():
    at = open_page(PAGE, lesson="10", unit="epsilon", lever="2.0")
    assert not at.warning
    assert percent(guess.limit(simulated.rho_at(2.0)), "at most") in next(
        m.value for m in at.markdown if "**Limit**" in m.value
    )
    study = LESSONS[7].onward[2](simulated.rho_at(2.0))
    found = cached.release(study).raw.event
    assert found.sensitivity / found.scale == pytest.approx(accounting.mu_of(ZCDP(simulated.rho_at(2.0))))
    at = open_page(PAGE, lesson="10", unit="bits")
    assert "was left out" in at.warning[0].value
