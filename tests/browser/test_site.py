"""The lessons as files, opened from the disk in a real browser: the control works, by keyboard too."""

import re

import numpy as np
import pytest

from pages.lessons import site
from pages.lessons.book import LESSONS
from pages.lessons.guess import exact_moments, limit
from pages.lessons.paper import content
from pages.shell import show


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    for name, text in site.files():
        (out / name).write_text(text, encoding="utf-8")
    return out


def test_the_control_shows_one_place_at_a_time(folder, tab):
    page = tab(width=390, height=844)
    complaints = []
    page.on("console", lambda line: complaints.append(line.text))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
    page.goto((folder / site.name(3)).as_uri())
    options, start = LESSONS[3].control.options, LESSONS[3].control.start
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def shown() -> int:
        visible = [at for at, part in enumerate(page.locator(".at").all()) if part.is_visible()]
        (one,) = visible
        return one

    assert shown() == options.index(start)
    page.get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")
    assert shown() == options.index(start) + 1
    page.get_by_label("200,000").check()
    assert shown() == len(options) - 1
    sentence = content(LESSONS[3], options[-1]).sentence.replace("**", "")
    assert page.locator(".at:visible p").last.inner_text().strip() == sentence
    assert page.locator(".at:visible svg").count() == 2
    box = page.locator(".at:visible svg").first.bounding_box()
    assert box["width"] > 300
    page.get_by_text(LESSONS[3].choices[1].text).click()
    assert page.get_by_text(LESSONS[3].choices[1].reason[:30]).is_visible()
    page.get_by_role("link", name="Home").click()
    assert page.get_by_role("heading", level=1).inner_text() == "What does privacy cost a covariance matrix?"
    assert shown() == site.EPSILONS.index(1.0)
    assert complaints == []


def test_the_picture_follows_the_mouse_along_the_control(folder, tab):
    """Held down it shows the nearest place at once, in the frame after the move; let go, it changes nothing."""
    page = tab(width=1280, height=900)
    page.goto((folder / site.INDEX).as_uri())
    radios = page.get_by_role("radio").all()
    boxes = [radio.bounding_box() for radio in radios]
    middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]

    def shown() -> int:
        (one,) = [at for at, part in enumerate(page.locator(".at").all()) if part.is_visible()]
        return one

    page.mouse.move(*middle[0])
    page.mouse.down()
    for at, (x, y) in enumerate(middle[1:], 1):
        page.mouse.move(x - 3, y + 2)
        assert shown() == at
    page.mouse.up()
    last = shown()
    page.mouse.move(*middle[2])
    assert shown() == last == len(radios) - 1


@pytest.mark.parametrize("number", [1, 5, 8, 10])
def test_every_place_of_a_control_is_reached(folder, tab, number):
    """The style sheet has a rule for each of them."""
    page = tab(width=1280, height=900)
    page.goto((folder / site.name(number)).as_uri())
    for at, radio in enumerate(page.get_by_role("radio").all()):
        radio.check()
        assert [k for k, part in enumerate(page.locator(".at").all()) if part.is_visible()] == [at]


_VOTES = """() => {
  const seen = [];
  for (let k = 0; k < 2000; k++) {
    seen.push([...document.querySelectorAll(".vote td")].map((cell) => Number(cell.textContent)));
    document.querySelector(".vote button").click();
  }
  return seen;
}"""


def test_a_class_votes_without_a_server(folder, tab):
    """The optimal attacker of 2,000 rounds reaches the limit, within four standard errors; who never looks, half."""
    page = tab(width=390, height=844)
    page.goto((folder / site.name(10)).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    control, said = LESSONS[10].control, page.get_by_role("status")
    page.get_by_role("button", name="It was B").click()
    assert re.match(
        r"It was [AB], and you said B\. You: [01] of 1 right; the optimal attacker: [01] of 1; ", said.inner_text()
    )
    assert page.get_by_role("button", name="It was A").bounding_box()["height"] >= 44
    shades = page.locator(".vote td").evaluate_all(
        "cells => cells.map((one) => [one.textContent, one.style.background])"
    )
    for number, colour in shades:  # teal has more green than red, orange the contrary
        red, green = map(int, re.findall(r"\d+", colour)[:2])
        assert (red > green) == number.startswith("-"), (number, colour)
    for rho in (0.05, 0.5):
        page.get_by_label(control.shown(rho), exact=True).check()
        assert said.inner_text() == "Which table is the release closer to? Vote.", "another rho is another game"
        seen = np.array(page.evaluate(_VOTES)).reshape(-1, 3, 3)
        assert (seen == seen.transpose(0, 2, 1)).all()
        assert seen.mean(axis=0) == pytest.approx(sum(exact_moments()) / 2, abs=4 * seen.std() / 2000**0.5)
        right, best = map(int, re.findall(r"(\d+) of 2000", said.inner_text()))
        most = limit(rho)
        assert show.chance(most) in said.inner_text()
        assert right / 2000 == pytest.approx(0.5, abs=0.045)
        assert best / 2000 == pytest.approx(most, abs=0.045)
