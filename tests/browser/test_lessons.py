"""The lessons in a real browser: one screen, by keyboard alone, and in the lecture hall."""

from urllib.parse import parse_qs, urlsplit

import pytest


def query(page) -> dict:
    return {k: v[0] for k, v in parse_qs(urlsplit(page.evaluate("location.href")).query).items()}


def title(page) -> str:
    return page.locator("h1").first.inner_text()


@pytest.mark.parametrize("full", ["", "&full=1"])
def test_the_fullest_lessons_fit_on_one_screen(visit, full):
    for number in (1, 10):
        page = visit(f"/Lessons?lesson={number}{full}", width=1280, height=800)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("m => m.scrollHeight <= m.clientHeight")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.get_by_test_id("stSidebar").is_visible() == (not full)


def test_a_lesson_by_keyboard_alone(visit, settle):
    page = visit("/Lessons?lesson=2", width=1280, height=800)
    page.keyboard.press("ArrowRight")
    settle(page)
    assert title(page).startswith("3.")
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert title(page).startswith("2.")
    page.keyboard.press("ArrowUp")
    settle(page)
    assert query(page) == {"lesson": "2", "lever": "1.4"}, "without a way to the lever by Tab"
    page.keyboard.press("ArrowDown")
    settle(page)
    assert query(page) == {"lesson": "2"}
    lever = page.get_by_role("slider", name="Row bound R").first
    lever.focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert query(page) == {"lesson": "2", "lever": "1.4"}, "the lever moved, the lesson did not"
    page.get_by_text("It becomes four times as large").click()
    settle(page)
    page.get_by_role("button", name="Check").focus()
    page.keyboard.press("Enter")
    settle(page)
    assert page.get_by_text("Right.", exact=False).first.is_visible()


def test_the_class_votes_in_the_lecture_hall_and_comes_back(visit, settle):
    page = visit("/Lessons?lesson=10", width=1280, height=800)
    page.keyboard.press("f")
    settle(page)
    assert not page.get_by_test_id("stSidebar").is_visible()
    page.keyboard.press("b")
    settle(page)
    assert page.get_by_text("You said B").is_visible()
    page.keyboard.press("n")
    settle(page)
    assert page.get_by_text("released in round 2").first.is_visible()
    page.keyboard.press("Escape")
    settle(page)
    assert page.get_by_test_id("stSidebar").is_visible()
    assert query(page) == {"lesson": "10"}
