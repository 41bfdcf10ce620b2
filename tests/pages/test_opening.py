"""What a visitor meets who comes without a link: one opening for each page, and old links as they were."""

from __future__ import annotations

import pytest

from pages.common import cached, frame
from pages.common.study import OPENING, Study, opening
from privcov.metrics.errors import error
from tests.pages.test_home import links, open_page

SHOWN = ("Estimate", "Trade-offs", "Graph recovery", "Spectra")


@pytest.mark.parametrize("label", SHOWN)
def test_a_bare_visit_opens_the_opening_and_leaves_the_address_bare(label):
    page = open_page(frame.file_of(label))
    assert page.session_state["study"] == opening(label)
    assert not page.query_params


def test_privacy_costs_something_at_the_opening_and_the_answer_still_says_something():
    rel, data = cached.release(OPENING), cached.dataset(OPENING)
    wrong = error(rel, data, relative=True, against="truth")
    sampled = error(rel, data, relative=True, against="sample")
    assert (data.n, data.d, str(OPENING.guarantee)) == (1_000, 40, str(Study(kind="approx").guarantee))
    assert 0.1 < wrong < 0.5
    assert sampled > 0.1  # nearly all of it is the price of privacy


def test_the_menu_of_an_opening_leads_to_the_openings_of_the_other_pages():
    page = open_page(frame.file_of("Estimate"))
    for label in SHOWN:
        assert links(page.sidebar)[label] == {}


def test_the_menu_carries_a_study_that_was_changed():
    page = open_page(frame.file_of("Estimate"), epsilon="2", kind="approx")
    for label in SHOWN:
        assert links(page.sidebar)[label] == {"epsilon": "2", "kind": "approx"}


def test_another_page_s_opening_comes_with_its_page():
    page = open_page(frame.file_of("Graph recovery"))
    assert page.session_state["study"] == opening("Graph recovery")
    page.switch_page(frame.file_of("Spectra")).run()
    assert page.session_state["study"] == OPENING


def test_the_menu_has_at_most_ten_entries():
    shown = links(open_page("app.py").sidebar)
    assert len([label for label in shown if label != frame.WORDS.label]) <= 10
    assert frame.WORDS.label in shown
