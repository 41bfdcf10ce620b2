"""Every page on a phone, a laptop and a large screen: each control answers to the mouse, all fits, axe finds nothing.

A large screen lays out as a laptop does, so only what fits is looked at there.
"""

import re

import pytest
from playwright.sync_api import expect

from pages.common.frame import MENU
from tests.browser.reach import first_screen, reached
from tests.browser.test_accessibility import AT_REST, cut_off, violations
from tests.patience import patient

WIDTHS = (390, 1280)
PAGES = {
    entry.label: "/" + re.sub(r"^app\.py|^pages/\d+_|\.py$", "", entry.file) for _, entries in MENU for entry in entries
}
PARTS = {
    "Demonstrations": "/Lessons?part=demos",
    "Teach": "/Lessons?part=teach",
    "What an attacker learns": "/Privacy_audit?tab=what-an-attacker-learns",
}
FEWEST = 8  # controls of any page
WORDS = 60  # of a first screen
FIRST = {
    "Home": 1,
    "Estimate": 5,
    "Spectra": 6,
    "Graph recovery": 8,
    "Your data": 6,
    "Published results": 7,
    "Trade-offs": 11,
    "Methods": 11,
    "Privacy audit": 10,
}  # most controls of a first screen


@pytest.mark.parametrize("name", [*PAGES, *(pytest.param(name, marks=pytest.mark.deep) for name in PARTS)])
def test_every_page_fits_answers_to_the_mouse_and_to_axe(name, visit, settle):
    page = visit((PAGES | PARTS)[name], width=WIDTHS[0])
    assert page.locator("h1").first.is_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        settle(page)
        page.evaluate(AT_REST)  # the sidebar slides in
        if width == WIDTHS[-1] and name in FIRST:
            words, controls = first_screen(page)
            assert 5 < words <= WORDS
            assert 0 < controls <= FIRST[name]
        found = reached(page)
        assert found.count >= FEWEST
        assert found.dead == [], f"at {width} px"
        assert cut_off(page, width) == []
    assert violations(page) == []
    page.set_viewport_size({"width": 1920, "height": 1080})
    settle(page)
    assert cut_off(page, 1920) == []


def test_a_covered_control_is_found(visit):
    """What the test above rests on."""
    page = visit("/")
    page.evaluate("""() => document.body.insertAdjacentHTML('beforeend',
        '<div data-testid="cover" style="position: fixed; inset: 0; z-index: 9999999"></div>')""")
    found = reached(page)
    assert len(found.dead) == found.count
    assert found.dead[0].endswith(": cover")


def centre(page, role: str, name: str) -> tuple[float, float]:
    found = page.get_by_role(role, name=re.compile(rf"^{name}( Shortcut .*)?$"))
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.deep)])
def test_the_lesson_bar_and_the_menu_answer_to_a_real_mouse(width, visit, settle):
    page = visit("/Lessons", width=width)

    def press(role: str, name: str) -> None:
        page.mouse.click(*centre(page, role, name))
        settle(page)

    def shown(number: int) -> None:
        expect(page.locator("h1").first).to_have_text(re.compile(rf"^{number}\."), timeout=patient(5) * 1000)

    press("button", "Next")
    shown(2)
    press("radio", "7")
    shown(7)
    press("button", "Previous")
    shown(6)
    page.get_by_test_id("stMainMenuButton").click()
    page.get_by_test_id("stMainMenuPopover").wait_for()
    page.keyboard.press("Escape")
    page.get_by_test_id("stMainMenuPopover").wait_for(state="hidden")
    press("button", "Full screen")
    page.get_by_role("button", name=re.compile("Leave full screen")).wait_for()
