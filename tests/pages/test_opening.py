"""What a visitor meets who comes without a link: one opening for each page, and old links as they were."""

from __future__ import annotations

import pytest

from pages.common import frame
from pages.common.study import OPENING, opening
from tests.pages.test_home import links, open_page

SHOWN = ("Estimate", "Trade-offs", "Graph recovery", "Spectra")


@pytest.mark.parametrize("label", SHOWN)
def test_a_bare_visit_opens_the_opening_and_leaves_the_address_bare(label):
    page = open_page(frame.file_of(label))
    assert page.session_state["study"] == opening(label)
    assert not page.query_params


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
