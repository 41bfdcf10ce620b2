"""The lessons in a real browser: one screen, by keyboard alone, and in the lecture hall."""

import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from pages.lessons import player
from pages.lessons.catalogue import LESSONS
from tests.exhaustive import some_of
from tests.patience import patient, until


def query(page) -> dict:
    return {k: v[0] for k, v in parse_qs(urlsplit(page.evaluate("location.href")).query).items()}


def title(page) -> str:
    return page.locator("h1").first.inner_text()


def at(page) -> int:
    """The place of the control whose picture is seen."""
    return int(page.locator(".pl-box").get_attribute("data-at"))


def test_the_fullest_lessons_fit_on_one_screen(visit):
    for number in (1, 10):
        page = visit(f"/Lessons?lesson={number}", width=1280, height=800)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("m => m.scrollHeight <= m.clientHeight"), number
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.get_by_test_id("stSidebar").is_visible()


_LARGE = [pytest.param(size, marks=pytest.mark.deep) for size in ((1280, 800), (3840, 2160))]


@pytest.mark.parametrize("size", [(1024, 768), (1920, 1080), *_LARGE])
def test_a_lesson_fills_the_lecture_hall_and_stays_on_its_screen(visit, size):
    """A line of text has about a thirtieth of the height; nothing has to be scrolled before the answer."""
    width, height = size
    for number in (1, 8, 10):
        page = visit(f"/Lessons?lesson={number}", width=width, height=height)
        page.keyboard.press("f")
        expect(page.get_by_test_id("stSidebar")).not_to_be_visible()
        page.wait_for_timeout(300)
        assert page.evaluate("() => Boolean(document.fullscreenElement)")
        main = page.get_by_test_id("stMain")
        assert main.evaluate("m => m.scrollHeight <= m.clientHeight + 1"), number
        said = page.locator(".pl-said").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        assert said >= min(height / 31, width / 50)
        page.keyboard.press("f")


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
  const tops = (what) => [...document.querySelectorAll(".pl " + what)]
    .map((found) => found.getBoundingClientRect()).filter((box) => box.height);
  return {
    picture: tops("figure"), lever: tops(".pl-lever input"), said: tops(".pl-said"),
    question: tops(".pl-question"), answers: tops(".pl-answer"),
    end: document.querySelector("[data-testid=stMain]").scrollHeight
  };
}"""


@pytest.mark.parametrize("number", some_of(range(1, 11), 0, 4, 7, 9))
def test_a_lesson_on_a_telephone_is_in_the_order_of_its_thought(visit, number):
    """Picture, control, sentence, question; the last four on a screen and a half, with answers for a thumb."""
    page = visit(f"/Lessons?lesson={number}", width=390, height=844)
    found = page.evaluate(_ORDER)
    order = [found[part][-1]["y"] for part in ("picture", "lever", "said", "question") if found[part]]
    assert order == sorted(order)
    assert len(found["answers"]) == 3
    assert all(box["height"] >= 44 for part in ("answers", "lever") for box in found[part])
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for part in ("answers", "lever") for box in found[part])
    last = found["answers"][-1]
    assert last["y"] + last["height"] - found["picture"][0]["y"] <= 1.5 * 844
    assert found["end"] <= 2 * 844


def test_a_swipe_that_begins_on_the_picture_or_the_control_scrolls(visit):
    """And leaves the control where it was."""
    page = visit("/Lessons?lesson=3", width=390, height=844)
    page.locator(".pl-draws").wait_for()  # nothing comes between the touches
    touch, main = page.context.new_cdp_session(page), page.get_by_test_id("stMain")
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for part in (".pl-show figure", ".pl-lever input", ".pl-answer"):
        page.wait_for_timeout(500)  # a swipe goes on for a moment
        main.evaluate("m => m.scrollTo(0, 0)")
        page.locator(part).first.scroll_into_view_if_needed()
        box, before = page.locator(part).first.bounding_box(), main.evaluate("m => m.scrollTop")
        way = -1 if main.evaluate("m => m.scrollHeight - m.clientHeight - m.scrollTop < 100") else 1  # not past the end
        for kind, by in (("touchStart", 0), ("touchMove", -60), ("touchMove", -120), ("touchEnd", None)):
            finger = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2 + way * (by or 0)}
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [finger] if by is not None else []})
            page.wait_for_timeout(50)  # as a finger does: moves of one frame are no swipe
        until(lambda before=before, way=way: (main.evaluate("m => m.scrollTop") - before) * way > 0, 5, what=part)
    assert at(page) == LESSONS[3].control.options.index(LESSONS[3].control.start)


_FRAMES = """() => {
  window.changes = [];
  const look = () => {
    const [place, words] = [document.querySelector(".pl-box").dataset.at, document.querySelector(".pl-said").innerText];
    const last = window.changes.at(-1);
    if (!last || last[0] !== place) window.changes.push([place, words, performance.now()]);
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.parametrize("number", some_of([3, 5, 8], 1))
def test_picture_and_sentence_follow_the_finger_and_nothing_is_asked_of_the_server(visit, number):
    """Dragged over all places in about a second: each is drawn with its own sentence; let go, the address follows."""
    page = visit(f"/Lessons?lesson={number}", width=1280, height=800)
    last, sent = len(LESSONS[number].control.options) - 1, []
    page.locator(".pl-draws").wait_for()  # the other draws are there
    page.wait_for_timeout(1500)
    page.on("request", lambda request: sent.append(request.url))
    socket = page.context.new_cdp_session(page)
    socket.send("Network.enable")
    socket.on("Network.webSocketFrameSent", lambda frame: sent.append(frame["response"]["payloadData"][:40]))
    page.evaluate(_FRAMES)
    box = page.get_by_role("slider").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    for k in range(last + 1):
        page.mouse.move(box["x"] + 8 + k * (box["width"] - 16) / last, y)
        page.wait_for_timeout(30)
    found = page.evaluate("() => window.changes")
    assert {int(place) for place, _, _ in found} == set(range(last + 1))
    assert len({words for _, words, _ in found}) >= last
    assert sent == []
    page.mouse.up()
    wanted = {"lesson": str(number), "lever": str(LESSONS[number].control.options[-1])}
    until(lambda: query(page) == wanted, 10)
    page.keyboard.press("ArrowRight")  # the hand on the mouse leaves the keys to the lesson
    until(lambda: title(page).startswith(f"{number + 1}."), 10)


def test_the_noise_is_drawn_again_and_again(visit):
    page = visit("/Lessons?lesson=6", width=1280, height=800)
    page.locator(".pl-draws").wait_for()
    pictures = ".pl-show .pl-part:not([hidden])"
    seen = {page.locator(pictures).inner_html()}
    for _ in range(player.DRAWS - 1):
        page.get_by_role("button", name="Draw again").click()
        seen.add(page.locator(pictures).inner_html())
    assert len(seen) == player.DRAWS
    page.get_by_role("button", name="Many draws").click()
    before = page.locator(".pl-box").get_attribute("data-draw")
    until(lambda: page.locator(".pl-box").get_attribute("data-draw") != before, 3)
    page.get_by_role("button", name="Many draws").click()
    now = page.locator(".pl-box").get_attribute("data-draw")
    page.wait_for_timeout(1000)
    assert page.locator(".pl-box").get_attribute("data-draw") == now


_UP_AND_DOWN = ["ArrowUp", "ArrowRight", "ArrowLeft", "ArrowUp"]


@pytest.mark.parametrize(
    "keys", some_of([3 * _UP_AND_DOWN, 2 * ["PageDown", "PageUp", "PageDown", "ArrowUp", "PageDown"]], 1)
)
def test_quick_keys_lose_no_lesson(visit, settle, keys):
    """Sixteen a second, faster than the server answers: what was asked for last is shown, and named by the address."""
    page = visit("/Lessons?lesson=3", width=1280, height=800)
    number = 3 + sum({"ArrowRight": 1, "PageDown": 1, "ArrowLeft": -1, "PageUp": -1}.get(key, 0) for key in keys)
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(60)
    page.wait_for_timeout(patient(2500))
    settle(page)
    assert title(page).startswith(f"{number}."), keys
    assert query(page)["lesson"] == str(number)


def test_a_lesson_by_keyboard_alone(visit, settle):
    page = visit("/Lessons?lesson=2", width=1280, height=800)
    for key, number in (("ArrowRight", "3."), ("ArrowLeft", "2."), ("PageDown", "3."), ("PageUp", "2.")):
        page.keyboard.press(key)
        settle(page)
        assert title(page).startswith(number), key
    page.keyboard.press("ArrowUp")
    until(lambda: query(page) == {"lesson": "2", "lever": "1.4"}, 5, what="without a way to the lever by Tab")
    page.keyboard.press("ArrowDown")
    until(lambda: query(page) == {"lesson": "2"}, 5, what="and back")
    page.get_by_role("slider", name="Row bound R").focus()
    page.keyboard.press("ArrowRight")
    until(lambda: query(page) == {"lesson": "2", "lever": "1.4"}, 5, what="the lever moved, the lesson did not")
    page.get_by_role("button", name="doubles").focus()
    page.keyboard.press("Enter")
    assert page.locator(".pl-wrong").is_visible()
    page.get_by_role("button", name="becomes four times as large").focus()
    page.keyboard.press("Enter")
    assert LESSONS[2].remember in page.locator(".pl-reason.pl-right").inner_text()
    page.keyboard.press("PageDown")
    settle(page)
    page.keyboard.press("PageUp")
    settle(page)
    until(lambda: page.locator(".pl-reason.pl-right").count() == 1, 5, what="the answer is still there")


def test_a_demonstration_that_was_chosen_has_its_own_control(visit, settle):
    page = visit("/Lessons?part=demos", width=1280, height=800)
    page.get_by_text("Rows outside the ball").click()
    until(lambda: page.get_by_role("slider", name="Length of the one row (of R)").count() == 1, 20)
    settle(page)
    before = at(page)
    page.keyboard.press("ArrowUp")  # the focus is still on the choice
    assert at(page) == before + 1
    until(lambda: query(page).get("demo_lever") == "4", 10)


def test_a_link_opens_its_place_and_leads_on_with_it(visit, settle):
    page = visit("/Lessons?lesson=3&lever=50000", width=1280, height=800)
    assert at(page) == LESSONS[3].control.options.index(50_000)
    page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Estimate: this data set").click()
    page.wait_for_url("**/Estimate?**")
    settle(page)
    assert query(page)["data.n"] == "100000"
    page.go_back()
    until(lambda: page.locator(".pl-box").count() == 1, 10)
    until(lambda: at(page) == LESSONS[3].control.options.index(100_000), 10)


def test_the_class_votes_in_the_lecture_hall_and_comes_back(visit, settle):
    page = visit("/Lessons?lesson=10", width=1280, height=800)
    page.keyboard.press("f")
    expect(page.get_by_test_id("stSidebar")).not_to_be_visible()
    page.keyboard.press("b")
    expect(page.get_by_text("you said B")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("Vote.")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("of 2 right")).to_be_visible()
    page.keyboard.press("f")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    page.reload()
    expect(page.get_by_text("of 2 right")).to_be_visible(timeout=patient(20) * 1000)
    assert query(page) == {"lesson": "10"}
