"""The sheets for a class: minutes that add up, links that open, codes that are the links, one page a lesson."""

import re
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from pages.lessons import lesson_03_sample_size, run_sheets, sheets, teach
from pages.lessons.catalogue import LESSONS, NUMBERS
from pages.lessons.lesson import content
from tests.pages.test_lessons import played
from tests.pages.test_pages import open_page

PAGE, BASE = "pages/6_Lessons.py", "https://statistics.example/privcov/"


class Links(HTMLParser):
    """The addresses that a page links to, and those that it would fetch."""

    def __init__(self, text: str):
        super().__init__()
        self.to, self.fetched, self.sections = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.sections += tag == "section"
        if tag == "a":
            self.to.append(named["href"])
        elif named.get("src") or (named.get("href") and not named["href"].startswith("data:")):
            self.fetched.append(named)


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    texts = {f"run-{minutes}": sheets.run_sheet(minutes, BASE) for minutes in run_sheets.SHEETS}
    return {**texts, "handout": sheets.handout(BASE), "key": sheets.key()}


@pytest.mark.parametrize("minutes", run_sheets.SHEETS)
def test_the_minutes_add_up_and_every_step_is_a_place_of_its_lesson(minutes):
    steps = run_sheets.SHEETS[minutes]
    assert sum(step.minutes for step in steps) == minutes
    assert [step.number for step in steps] == sorted({step.number for step in steps}, key=NUMBERS.index)
    for step in steps:
        assert step.value is None or step.value in step.lesson.control.options
        assert step.value != step.lesson.control.start, "the step moves the control, or says that it does not"


def test_every_step_of_a_run_sheet_ends_where_it_says():
    """The lines have crossed and not before; the best R and the best cut are those of the whole range; and so on."""
    ends = {step.number: step.value for steps in run_sheets.SHEETS.values() for step in steps}
    sizes = [n for n in LESSONS[3].control.options if n <= ends[3]]
    larger = [sampling > noise for noise, sampling in lesson_03_sample_size.standard_deviations(sizes)]
    assert larger == [False] * (len(sizes) - 1) + [True]
    for number, read in ((5, r"\*\*error ([\d.]+)"), (6, r"truth: \*\*([\d.]+)\xa0%")):
        errors = {}
        for value in LESSONS[number].control.options:
            found = content(LESSONS[number], value)
            errors[value] = float(re.search(read, found.sentence).group(1))
        assert errors[ends[number]] == min(errors.values())
        assert errors[LESSONS[number].control.start] > 1.05 * min(errors.values()), "the step leads somewhere"
    assert ends[1] == 2 * LESSONS[1].control.start, "the question compares the two"
    assert ends[2] == 2 * LESSONS[2].control.start
    assert ends[9] == 100
    assert ends[4] == LESSONS[4].control.options[-1]
    drawn = [
        int((re.search(r"\*\*(\d+)\*\*", content(LESSONS[8], at).sentence) or [0, 0])[1])
        for at in LESSONS[8].control.options
    ]
    assert drawn[ends[8]] == max(drawn) > drawn[LESSONS[8].control.start]
    (_, _, spectra), *_ = content(LESSONS[7], ends[7]).pictures
    assert float(re.search(r"Noisy from [\d.]+ down to ([-\d.]+)", spectra.alt).group(1)) < -3


def test_papers_say_where_their_addresses_open_on_this_computer_only():
    for base, local in ((BASE, False), ("http://127.0.0.1:8501", True), ("http://localhost:8501", True)):
        for paper in (sheets.handout(base, [1]), sheets.run_sheet(20, base)):
            assert ("on the lecturer's computer only" in paper) == local


def test_sheets_fetch_nothing_and_link_to_the_lessons(written):
    for name, text in written.items():
        links = Links(text)
        assert links.fetched == [], name
        assert "<script" not in text
        for address in links.to:
            assert address.startswith("https://statistics.example/privcov/Lessons")
    numbers = [int(parse_qs(urlsplit(to).query).get("lesson", ["1"])[0]) for to in Links(written["handout"]).to]
    assert numbers == NUMBERS
    for minutes, steps in run_sheets.SHEETS.items():
        linked = Links(written[f"run-{minutes}"]).to
        numbers = [int(parse_qs(urlsplit(to).query).get("lesson", ["1"])[0]) for to in linked[1:]]
        assert numbers == [step.number for step in steps]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_link_opens_its_lesson_at_its_place(number):
    control = LESSONS[number].control
    query = {k: v[0] for k, v in parse_qs(urlsplit(run_sheets.link(BASE, number, control.options[0])).query).items()}
    at = open_page(PAGE, **query)
    assert not at.warning
    assert at.title[0].value == run_sheets.title(number)
    assert played(at)["at"] == 0


def test_the_handout_has_the_questions_and_the_key_the_answers(written):
    handout, key = written["handout"], written["key"]
    assert Links(handout).sections == Links(key).sections == len(LESSONS)
    assert handout.count("break-before: page") == len(LESSONS) - 1
    for lesson in LESSONS.values():
        for choice in lesson.choices:
            assert sheets.words(choice.text) in handout
            assert sheets.words(choice.reason) not in handout
            assert sheets.words(choice.reason) in key
        assert sheets.words(lesson.remember) in key
        assert sheets.words(lesson.remember) not in handout
        right = next(choice for choice in lesson.choices if choice.right)
        assert f"<b>Right:</b> {sheets.words(right.text)}" in key
        for value in (lesson.control.options[0], lesson.control.options[-1]):
            assert sheets.words(content(lesson, value).sentence) in key
    assert key.count("<b>Right:</b>") == len(LESSONS)


def test_links_of_a_class_open_the_files(monkeypatch):
    monkeypatch.setenv("PRIVCOV_LESSONS", "http://192.0.2.7:8502")
    assert teach.here() == "http://192.0.2.7:8502"
    assert run_sheets.link(teach.here(), 3, 200) == "http://192.0.2.7:8502/lesson-3.html?lever=200"
    assert run_sheets.link("https://s.example/", 3) == "https://s.example/Lessons?lesson=3"
    assert "http://192.0.2.7:8502/lesson-5.html" in sheets.handout(teach.here(), [5])
