"""The lessons in a real browser: one screen, by keyboard alone, and in the lecture hall."""

import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.patience import patient, until


def query(page) -> dict:
    return {k: v[0] for k, v in parse_qs(urlsplit(page.evaluate("location.href")).query).items()}


def title(page) -> str:
    return page.locator("h1").first.inner_text()


def test_the_fullest_lessons_fit_on_one_screen(visit):
    for number in (1, 10):
        page = visit(f"/Lessons?lesson={number}", width=1280, height=800)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("m => m.scrollHeight <= m.clientHeight")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.get_by_test_id("stSidebar").is_visible()


@pytest.mark.parametrize("size", [(1280, 800), pytest.param((1920, 1080), marks=pytest.mark.deep)])
def test_a_lesson_fills_the_lecture_hall_and_stays_on_its_screen(visit, size):
    """The control is the last thing on the left; what is below it is less than a tenth of the window."""
    width, height = size
    for number in (1, 3, 7, 10):
        page = visit(f"/Lessons?lesson={number}&full=1", width=width, height=height)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("m => m.scrollHeight <= m.clientHeight"), number
        foot = page.locator(".st-key-lesson-ends").bounding_box()
        assert 0.9 * height < foot["y"] + foot["height"] <= height, number


def test_a_teacher_takes_the_sheets_home(visit, settle):
    """Each download is whole, and the sheet shows its figures and codes from the disk."""
    page = visit("/Lessons?part=teach", width=1280, height=900)
    code = page.get_by_alt_text("QR code of")
    assert code.evaluate("image => image.complete && image.naturalWidth > 0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for label, name in (("Run sheet", "run-sheet-20.html"), ("Key", "key.html"), ("Handout", "handout.html")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=label, exact=True).click()
        assert waiting.value.suggested_filename == name
    sheet = page.context.new_page()
    sheet.set_content(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert sheet.locator("section").count() == 10
    assert sheet.locator("section svg[role=img]").count() >= 20
    pages = re.findall(rb"/Type\s*/Page[^s]", sheet.pdf(prefer_css_page_size=True))
    assert len(pages) == 10, "one printed page a lesson"
    assert urlsplit(sheet.locator("a").nth(1).get_attribute("href")).netloc == urlsplit(page.url).netloc
    sheet.close()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="All figures (SVG)").click()
    assert zipfile.is_zipfile(waiting.value.path())


@pytest.mark.parametrize("number", [3, 10])
def test_the_buttons_of_a_lesson_take_two_rows_on_a_telephone(visit, number):
    page = visit(f"/Lessons?lesson={number}", width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows, right = set(), 0
    for button in page.locator(".st-key-lesson-chooser button:visible").all():
        box = button.bounding_box()
        rows.add(round(box["y"] + box["height"] / 2))
        right = max(right, box["x"] + box["width"])
    assert len(rows) == 2
    assert right <= 390, "no lesson is cut off at the edge"


_ORDER = """() => {
  const tops = (what) => [...document.querySelectorAll(".st-key-lesson-screen " + what)]
    .map((found) => found.getBoundingClientRect()).filter((box) => box.height);
  const idea = document.querySelector("img.idea");
  return {
    idea: idea && idea.complete && idea.naturalWidth ? [idea.getBoundingClientRect()] : [],
    picture: tops("[data-testid=stPlotlyChart]"), lever: tops("[data-testid=stSlider]"),
    question: tops("[data-testid=stRadio]"), answers: tops("[data-testid=stRadio] label").slice(-3),
    end: document.querySelector("[data-testid=stMain]").scrollHeight
  };
}"""


@pytest.mark.parametrize("number", range(1, 11))
def test_a_lesson_on_a_telephone_is_one_or_two_screens_in_the_order_of_its_thought(visit, number):
    """Idea, picture, control, question; answers that a thumb hits, and nothing beside the screen."""
    page = visit(f"/Lessons?lesson={number}", width=390, height=844)
    complete = "(found) => found.answers.length === 3 && found.picture.length && found.lever.length && found"
    found = until(lambda: page.evaluate(f"({complete})(({_ORDER})())"), 10)
    assert bool(found["idea"]) == (number in (1, 2, 3, 6))
    # Measured from the top of the last picture: a curve may stand below matrices.
    order = [found[part][-1]["y"] for part in ("idea", "picture", "lever", "question") if found[part]]
    assert order == sorted(order)
    assert all(box["height"] >= 44 for box in found["answers"])
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for part in ("answers", "lever") for box in found[part])
    assert found["end"] <= 2 * 844


def test_every_control_of_a_lesson_is_reached_by_tab_and_shows_it(visit):
    """Its picture with the focus differs from the one without it."""
    page = visit("/Lessons?lesson=7", width=1280, height=800)
    page.locator(".st-key-lesson-previous button").focus()
    reached = []
    for _ in range(30):
        page.wait_for_timeout(150)  # the ring fades in
        found = page.evaluate(
            """() => {const e = document.activeElement, box = e.closest('[class*="st-key-lesson-"]');
            return e === document.body || !box ? null : [...box.classList].find(c => c.startsWith('st-key-'));}"""
        )
        if found is not None:
            place = page.evaluate(
                """() => {const e = document.activeElement, b = (e.closest('label') || e).getBoundingClientRect();
                return [b.x, b.y, b.width, b.height];}"""
            )
            x, y, w, h = place
            around = {"x": x - 5, "y": y - 5, "width": w + 10, "height": h + 10}
            with_focus = page.screenshot(clip=around)
            page.evaluate("() => {window.before = document.activeElement; window.before.blur();}")
            page.wait_for_timeout(150)
            assert page.screenshot(clip=around) != with_focus, found
            page.evaluate("() => window.before.focus({focusVisible: true})")
            reached.append(found)
        page.keyboard.press("Tab")
    wanted = ("number", "next", "full", "lever-7", "lever-less", "unit", "lever-more", "choice-7", "check-7")
    assert {f"st-key-lesson-{name}" for name in wanted} <= set(reached)


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
    until(lambda: query(page) == {"lesson": "2", "lever": "1.4"}, 5, what="without a way to the lever by Tab")
    page.keyboard.press("ArrowDown")
    settle(page)
    until(lambda: query(page) == {"lesson": "2"}, 5, what="and back")
    lever = page.get_by_role("slider", name="Row bound R").first
    lever.focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    until(lambda: query(page) == {"lesson": "2", "lever": "1.4"}, 5, what="the lever moved, the lesson did not")
    page.get_by_text("becomes four times as large").click()
    settle(page)
    page.get_by_role("button", name="Check").focus()
    page.keyboard.press("Enter")
    settle(page)
    assert page.get_by_text("Right.", exact=False).first.is_visible()
    reason, check = page.get_by_test_id("stAlert").last, page.get_by_role("button", name="Check")
    assert reason.bounding_box()["y"] < check.bounding_box()["y"], "in sight of who pressed the button"


def test_the_class_votes_in_the_lecture_hall_and_comes_back(visit, settle):
    soon = patient(10) * 1000
    page = visit("/Lessons?lesson=10", width=1280, height=800)
    page.keyboard.press("f")
    expect(page.get_by_test_id("stSidebar")).not_to_be_visible(timeout=soon)
    settle(page)
    page.keyboard.press("b")
    expect(page.get_by_text("You said B")).to_be_visible(timeout=soon)
    settle(page)
    page.keyboard.press("n")
    expect(page.get_by_text("round 2").first).to_be_visible(timeout=soon)
    settle(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=soon)
    settle(page)
    assert query(page) == {"lesson": "10"}
