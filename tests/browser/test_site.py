"""The lessons as files, opened from the disk in a real browser: the control works, by keyboard too."""

import re

import numpy as np
import pytest

from pages.common import show
from pages.lessons import site
from pages.lessons.catalogue import LESSONS
from pages.lessons.lesson import content
from pages.lessons.lesson_10_guess import exact_moments, limit


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    for name, text in site.files():
        (out / name).write_text(text, encoding="utf-8")
    return out


PICTURES = ".pl-show > :not([hidden])"


def shown(page) -> int:
    """The place whose pictures and words are seen, and no others."""
    assert page.locator(PICTURES).count() == page.locator(".pl-said > :not([hidden])").count() == 1
    return int(page.locator(".pl-box").get_attribute("data-at"))


def test_the_control_shows_one_place_at_a_time(folder, tab):
    page = tab(width=390, height=844)
    complaints = []
    page.on("console", lambda line: complaints.append(line.text))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
    page.goto((folder / site.name(3)).as_uri())
    options, start = LESSONS[3].control.options, LESSONS[3].control.start
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert shown(page) == options.index(start)
    control = page.get_by_role("slider")
    control.focus()
    page.keyboard.press("ArrowRight")
    assert shown(page) == options.index(start) + 1
    page.keyboard.press("End")
    assert shown(page) == len(options) - 1
    assert page.locator("output").inner_text() == control.evaluate("one => one.ariaValueText") == "200,000"
    sentence = content(LESSONS[3], options[-1]).sentence.replace("**", "")
    assert page.locator(".pl-said").inner_text().strip() == sentence
    assert page.locator(f"{PICTURES} svg").count() == 2
    box = page.locator(f"{PICTURES} svg").first.bounding_box()
    assert box["width"] > 300
    page.get_by_text(LESSONS[3].choices[1].text).click()
    assert page.get_by_text(LESSONS[3].choices[1].reason[:30]).is_visible()
    page.get_by_role("link", name="Home").click()
    assert page.get_by_role("heading", level=1).inner_text() == "What does privacy cost a covariance matrix?"
    assert shown(page) == site.EPSILONS.index(1.0)
    assert complaints == []


def test_the_picture_follows_the_mouse_along_the_control(folder, tab):
    """Held down it shows the nearest place at once, in the frame after the move; let go, it changes nothing."""
    page = tab(width=1280, height=900)
    page.goto((folder / site.INDEX).as_uri())
    box, last = page.get_by_role("slider").bounding_box(), len(site.EPSILONS) - 1
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    for at in range(last + 1):
        page.mouse.move(box["x"] + 8 + at * (box["width"] - 16) / last, box["y"] + box["height"] / 2)
        assert shown(page) == at
    page.mouse.up()
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    assert shown(page) == last


_LAID_OUT = """() => {
  document.querySelector(".pl-lever").style.position = "static"; // it stays in sight over taller pictures
  const place = (part) => [part.getBoundingClientRect().top + scrollY, part.getBoundingClientRect().bottom + scrollY];
  const [pictures, said] = ["show", "said"].map((part) => document.querySelector(`.pl-${part} > :not([hidden])`));
  const texts = [...pictures.querySelectorAll("svg text")].map((words) => {
    const drawing = words.ownerSVGElement;
    const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    return scale * parseFloat(getComputedStyle(words).fontSize);
  });
  const over = [...pictures.querySelectorAll("svg")].flatMap((drawing) => {
    const boxes = [...drawing.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return boxes.flatMap(([one, a], k) => boxes.slice(k + 1).filter(([, b]) => meet(a, b)).map((two) => [one, two[0]]));
  });
  return {
    over,
    order: [pictures, document.querySelector(".pl-lever"), said, document.querySelector(".pl-answer")].map(place),
    heights: [...document.querySelectorAll(".pl-answer, .pl-lever input, nav a")].map(
      (part) => part.getBoundingClientRect().height),
    smallest: Math.min(...texts),
    sideways: document.documentElement.scrollWidth > innerWidth,
  };
}"""


@pytest.mark.parametrize("number", LESSONS)
def test_a_lesson_on_a_telephone(folder, tab, number):
    """Picture, slider, number, question, in that order on two screens at most; thumbs and eyes find them."""
    page = tab(width=390, height=844)
    page.goto((folder / site.name(number)).as_uri())
    found = page.evaluate(_LAID_OUT)
    ends = [end for part in found["order"] for end in part]
    assert ends == sorted(ends)
    assert ends[-1] - ends[0] < 2 * 844
    assert min(found["heights"]) >= 44
    assert found["smallest"] >= 9
    assert not found["sideways"]
    assert found["over"] == [], "no words lie on others"
    names = page.locator(f"{PICTURES} svg > text").evaluate_all(
        "all => all.map((words) => [words.getBoundingClientRect().left, words.getBoundingClientRect().right])"
    )
    assert all(left >= 0 and right <= 390 for left, right in names), "titles are whole"


@pytest.mark.parametrize("number", [1, 5, 8, 10])
def test_every_place_of_a_control_is_reached(folder, tab, number):
    page = tab(width=1280, height=900)
    page.goto((folder / site.name(number)).as_uri())
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    for at in range(len(LESSONS[number].control.options)):
        assert shown(page) == at
        page.keyboard.press("ArrowRight")


_VOTES = """() => {
  const seen = [];
  for (let k = 0; k < 2000; k++) {
    seen.push([...document.querySelectorAll(".pl-cells span")].slice(18).map((cell) => Number(cell.textContent)));
    const [first, , next] = document.querySelectorAll(".pl-buttons button");
    first.click();
    if (k < 1999) next.click();
  }
  return seen;
}"""


def test_a_class_votes_without_a_server(folder, tab):
    """The optimal attacker of 2,000 rounds reaches the limit, within four standard errors; who never looks, half."""
    page = tab(width=390, height=844)
    page.goto((folder / site.name(10)).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    control, said = LESSONS[10].control, page.locator(".pl-vote [role=status]")
    page.get_by_role("button", name="It was B").click()
    assert re.match(
        r"It was [AB], and you said B\. You: [01] of 1 right\. The optimal attacker: [01] of 1\. ", said.inner_text()
    )
    assert page.get_by_role("button", name="It was A").bounding_box()["height"] >= 44
    released = page.locator(".pl-cells").last.inner_text()
    assert page.get_by_role("button", name="It was A").is_disabled(), "the truth is out"
    page.get_by_role("button", name="Next release").click()
    assert page.locator(".pl-cells").last.inner_text() != released, "another one"
    exact = page.locator(".pl-cells").evaluate_all(
        "all => all.slice(0, 2).map((one) => [...one.children].map((cell) => cell.innerText))"
    )
    for table, cells in zip(exact_moments(), exact, strict=True):
        assert [f"{x + 0.0:.2f}" for x in table.ravel()] == cells
    shades = page.locator(".pl-cells span").evaluate_all(
        "cells => cells.map((one) => [one.textContent, one.style.background])"
    )
    for number, colour in shades:  # teal has more green than red, orange the contrary
        red, green = map(int, re.findall(r"\d+", colour)[:2])
        assert (red > green) == number.startswith("-"), (number, colour)
    for rho in (0.05, 0.5):
        page.get_by_role("slider").fill(str(control.options.index(rho)))
        page.get_by_role("button", name="New game").click()
        assert said.inner_text().startswith("Which table is the release closer to"), "another rho is another game"
        seen = np.array(page.evaluate(_VOTES)).reshape(-1, 3, 3)
        assert (seen == seen.transpose(0, 2, 1)).all()
        assert seen.mean(axis=0) == pytest.approx(sum(exact_moments()) / 2, abs=4 * seen.std() / 2000**0.5)
        right, best = map(int, re.findall(r"(\d+) of 2000", said.inner_text()))
        most = limit(rho)
        assert show.chance(most, exact=True) in said.inner_text()
        assert right / 2000 == pytest.approx(0.5, abs=0.045)
        assert best / 2000 == pytest.approx(most, abs=0.045)
