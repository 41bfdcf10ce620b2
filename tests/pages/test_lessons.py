"""The Lessons page: every lesson at both ends of its control, answers checked, links that open what they say."""

import dataclasses
import json
import re

import numpy as np
import pytest

import privcov
from pages.common import study_results
from pages.lessons import (
    lesson_03_sample_size,
    lesson_04_columns,
    lesson_05_clipping,
    lesson_07_shrinkage,
    lesson_10_guess,
    player,
)
from pages.lessons.catalogue import LESSONS, NUMBERS
from pages.lessons.lesson import content
from privcov.core.words import percent
from privcov.plots.palette import LIGHT
from tests.pages.test_pages import open_page

PAGE = "pages/6_Lessons.py"


def element(at, kind, key):
    return next(e for e in getattr(at, kind) if e.key == key)


def test_lessons_are_numbered_without_a_gap():
    assert list(range(1, len(LESSONS) + 1)) == NUMBERS


def played(at) -> dict:
    """What the player on the page was given."""
    (found,) = [e.proto for e in at.get("bidi_component") if e.key == "player"]
    return json.loads(found.json)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_player_has_the_pictures_and_the_sentence_of_each_place(number):
    lesson = LESSONS[number]
    control = lesson.control
    at = open_page(PAGE, lesson=str(number), lever=str(control.options[-1]))
    assert not at.exception
    assert not at.error
    assert not at.warning
    assert at.title[0].value == f"{number}. {lesson.title}"
    given = played(at)
    assert given["at"] == len(control.options) - 1
    assert given["places"] == [control.to_text(option) for option in control.options]
    assert given["values"][given["start"]] == str(control.start)
    assert [choice["right"] for choice in given["choices"]] == [choice.right for choice in lesson.choices]
    parts = ["".join(given["pieces"][index] for index in part) for part in given["parts"]]
    (shows,) = given["shows"]
    for option, (pictures, said) in zip(control.options, shows, strict=True):
        found = content(lesson, option)
        assert parts[said] == player.paragraphs(found.sentence)
        in_the_vote = number == 10  # the three matrices
        assert re.findall(r'role="img" aria-label="([^"]*)"', parts[pictures]) == [
            picture.alt.replace("'", "&#x27;").replace("<", "&lt;") for _, _, picture in found.pictures[in_the_vote:]
        ]


@pytest.mark.parametrize("number", [number for number in NUMBERS if LESSONS[number].draws])
def test_each_draw_has_noise_of_its_own_and_the_first_is_the_one_on_paper(number):
    lesson = LESSONS[number]
    drawn = [content(lesson, lesson.control.start, draw=draw) for draw in range(3)]
    assert len({player.pictures(one, LIGHT) for one in drawn}) == 3
    assert player.pictures(drawn[0], LIGHT) == player.pictures(content(lesson, lesson.control.start), LIGHT)


def test_the_control_starts_anew_with_the_lesson():
    at = open_page(PAGE, lesson="3", lever="200000")
    element(at, "button", "lesson-next").click().run()
    assert "lever" not in at.query_params
    given = played(at)
    assert given["at"] == given["start"]


@pytest.mark.parametrize(("name", "text"), [("lesson", "eleven"), ("lever", "-1"), ("part", "<b>")])
def test_a_link_with_nonsense_gets_a_sentence(name, text):
    at = open_page(PAGE, **{"lesson": "3", name: text})
    assert len(at.warning) == 1
    assert "was left out" in at.warning[0].value
    assert not at.error
    assert played(at)["places"]


# --- what a lesson shows is what the page behind its link shows ---------------------------------------------


def linked(number: int, value: object):
    """The release of the study that the lesson hands on."""
    study = LESSONS[number].onward[2](value)
    return study_results.dataset(study), study_results.release(study)


def test_links_open_the_very_matrices_of_the_lesson():
    data, rel = linked(3, 2_000)
    np.testing.assert_allclose(rel.covariance, lesson_03_sample_size.release_of_rows(2_000).released, atol=1e-12)
    data, rel = linked(4, 20)
    np.testing.assert_allclose(rel.covariance, lesson_04_columns.release_of_columns(20).sparse, atol=1e-12)
    multiple = lesson_05_clipping.MULTIPLES[3]
    data, rel = linked(5, multiple)
    (found,) = lesson_05_clipping.clipped((multiple,))
    assert data.row_bound == pytest.approx(found.row_bound)
    assert privcov.error(rel, data, relative=True) == pytest.approx(found.total)
    data, rel = linked(7, 0.05)
    np.testing.assert_allclose(np.linalg.eigvalsh(rel.covariance), lesson_07_shrinkage.shrunk(0.05).shrunk, atol=1e-12)


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


# --- guess the neighbour ------------------------------------------------------------------------------------


def test_the_ballot_has_the_matrices_and_the_noise_of_the_game():
    options = LESSONS[10].control.options
    ballot = player.ballot(options, LIGHT)
    upper = np.triu_indices(lesson_10_guess.D)
    for table, exact in zip(ballot["tables"], lesson_10_guess.exact_moments(), strict=True):
        np.testing.assert_allclose(table, exact[upper])
        np.testing.assert_allclose(np.take(table, ballot["entry"]).reshape(lesson_10_guess.D, lesson_10_guess.D), exact)
    assert ballot["sigmas"] == [lesson_10_guess.play(rho, 7, 3).sigma for rho in options]
    assert ballot["limits"] == [percent(lesson_10_guess.limit(rho)) for rho in options]


@pytest.mark.parametrize("query", [{"lesson": "99"}, {"part": "nonsense"}, {"lesson": "5", "lever": "77"}])
def test_what_a_link_left_out_is_said_until_the_visitor_does_something(query):
    at = open_page(PAGE, **query)
    assert len(at.warning) == 1
    at.run()  # as the player of a lesson begins one
    assert len(at.warning) == 1
    assert "was left out" in at.warning[0].value
    at.button(key="lesson-next").click().run()
    assert not at.warning
