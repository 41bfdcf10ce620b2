"""The sheets for a class: minutes that add up, links that open, codes that are the links, one page a lesson."""

import io
import re
import zipfile
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
import segno

from pages.lessons import demos, guess, plan, rows, sheets, site, teach
from pages.lessons.catalogue import LESSONS, NUMBERS
from pages.lessons.lesson import content
from privcov.plots.exports import svg
from privcov.plots.palette import LIGHT
from tests.pages.test_lessons import played, told
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
    texts = {f"run-{minutes}": sheets.run_sheet(minutes, BASE) for minutes in plan.SHEETS}
    return {**texts, "handout": sheets.handout(BASE), "key": sheets.key()}


@pytest.mark.parametrize("minutes", plan.SHEETS)
def test_the_minutes_add_up_and_every_step_is_a_place_of_its_lesson(minutes):
    steps = plan.SHEETS[minutes]
    assert sum(step.minutes for step in steps) == minutes
    assert [step.number for step in steps] == sorted({step.number for step in steps}, key=NUMBERS.index)
    for step in steps:
        assert step.value is None or step.value in step.lesson.control.options
        assert step.value != step.lesson.control.start, "the step moves the control, or says that it does not"


def test_every_step_of_a_run_sheet_ends_where_it_says():
    """The lines have crossed and not before; the best R and the best cut are those of the whole range; and so on."""
    ends = {step.number: step.value for steps in plan.SHEETS.values() for step in steps}
    sizes = [n for n in LESSONS[3].control.options if n <= ends[3]]
    larger = [sampling > noise for noise, sampling in rows.standard_deviations(sizes)]
    assert larger == [False] * (len(sizes) - 1) + [True]
    for number, read in ((5, r"\*\*error ([\d.]+)"), (6, r"truth: \*\*([\d.]+)\xa0%")):
        errors = {}
        for value in LESSONS[number].control.options:
            found = content(LESSONS[number], value)
            errors[value] = float(re.search(read, found.sentence).group(1))
        assert errors[ends[number]] == min(errors.values())
        assert errors[LESSONS[number].control.start] > 1.05 * min(errors.values()), "the step leads somewhere"
    assert ends[1] == LESSONS[1].control.options[-1] == 1.0, "full length"
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


def test_the_game_on_paper_is_that_of_the_optimal_attacker():
    rho = LESSONS[10].control.start
    found = content(LESSONS[10], rho)
    rounds = [guess.play(rho, guess.usual_seed(rho), k) for k in range(1, 101)]
    # The first round is shown and not guessed, so that the hundred begin with it.
    assert f"optimal attacker: {sum(r.optimal_is_right for r in rounds)} of 100 right" in found.pictures[1][2].alt
    assert "**60 to 78**" in found.sentence, "95 % of a hundred at 69.2 %"
    matrices = [trace for trace in found.pictures[0][2].figure.data if trace.type == "heatmap"]
    np.testing.assert_allclose(matrices[2].z, rounds[0].release, atol=1e-6)


def test_the_printed_hundreds_scatter_about_their_limits():
    """Within what their sentences call usual; with one seed for all places nine of ten lay above the limit."""
    z = []
    for rho in LESSONS[10].control.options:
        p = guess.limit(rho)
        hits = sum(guess.play(rho, guess.usual_seed(rho), k).optimal_is_right for k in range(1, 101))
        low, high = map(int, re.search(r"\*\*(\d+) to (\d+)\*\*", content(LESSONS[10], rho).sentence).groups())
        assert low <= hits <= high
        z.append((hits - 100 * p) / np.sqrt(100 * p * (1 - p)))
    assert 2 <= sum(x > 0 for x in z) <= 8
    assert np.abs(z).max() < 3


def test_sheets_fetch_nothing_and_link_to_the_lessons(written):
    for name, text in written.items():
        links = Links(text)
        assert links.fetched == [], name
        assert "<script" not in text
        for address in links.to:
            assert address.startswith("https://statistics.example/privcov/Lessons")
    numbers = [int(parse_qs(urlsplit(to).query).get("lesson", ["1"])[0]) for to in Links(written["handout"]).to]
    assert numbers == NUMBERS
    for minutes, steps in plan.SHEETS.items():
        linked = Links(written[f"run-{minutes}"]).to
        numbers = [int(parse_qs(urlsplit(to).query).get("lesson", ["1"])[0]) for to in linked[1:]]
        assert numbers == [step.number for step in steps]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_link_opens_its_lesson_at_its_place(number):
    control = LESSONS[number].control
    query = {k: v[0] for k, v in parse_qs(urlsplit(plan.link(BASE, number, control.options[0])).query).items()}
    at = open_page(PAGE, **query)
    assert not at.warning
    assert at.title[0].value == plan.title(number)
    assert played(at)["at"] == 0


def test_a_code_is_that_of_its_address():
    """Drawn again module by module from the path, and compared with the matrix of the encoder."""
    address = plan.link(BASE, 7)
    tree = ElementTree.fromstring(sheets.qr(address))
    assert address in tree.get("aria-label")
    wanted = np.array([list(row) for row in segno.make(address, error="l", micro=False).matrix], dtype=bool)
    side = len(wanted) + 8
    assert tree.get("viewBox") == f"0 0 {side} {side}"
    paths = list(tree.iter("{http://www.w3.org/2000/svg}path"))
    drawn, x, y = np.zeros((side, side), dtype=bool), 0.0, 0.0
    for kind, numbers in re.findall(r"([Mmh])([-0-9. ]+)", paths[-1].get("d")):
        values = [float(v) for v in numbers.split()]
        if kind == "M":
            x, y = values
        elif kind == "m":
            x, y = x + values[0], y + values[1]
        else:
            drawn[int(y), int(x) : int(x + values[0])] = True
            x += values[0]
    np.testing.assert_array_equal(drawn[4:-4, 4:-4], wanted)
    assert drawn.sum() == wanted.sum(), "a quiet zone of four modules"


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


def test_every_figure_of_the_lessons_is_in_the_zip():
    with zipfile.ZipFile(io.BytesIO(sheets.figures())) as archive:
        names = archive.namelist()
        pictures = [
            picture for lesson in LESSONS.values() for _, _, picture in content(lesson, lesson.control.start).pictures
        ]
        assert len(names) == len(set(names)) == len(pictures)
        for name, picture in zip(names, pictures, strict=True):
            tree = ElementTree.fromstring(archive.read(name))
            assert tree.get("aria-label") == picture.alt
            assert svg(picture).startswith("<svg")
            assert name.startswith("lesson-")
    first = pictures[0].figure.data[0]
    assert [colour for _, colour in first.colorscale] == [colour for _, colour in LIGHT.diverging]


def test_markup_of_a_lesson_is_bold_alone():
    assert sheets.words("a < **b** & **c <d>**") == "a &lt; <b>b</b> &amp; <b>c &lt;d&gt;</b>"


def test_the_teacher_s_part_shows_the_run_sheet_and_keeps_its_length():
    at = open_page(PAGE, part="teach")
    assert not at.error
    assert at.title[0].value == "Teach"
    text = " ".join(m.value for m in at.markdown)
    for step in plan.SHEETS[20]:
        assert step.lesson.question in text
        assert step.shown().sentence in text
    assert "**14\u201320** min" in text
    at.button_group(key="teach-minutes").set_value(50).run()
    assert not at.exception
    assert told(at, "minutes") == "50"
    assert plan.SHEETS[50][1].lesson.question in " ".join(m.value for m in at.markdown)
    at = open_page(PAGE, part="teach", minutes="35")
    assert "was left out" in at.warning[0].value
    assert len(at.get("download_button")) == 5


def test_the_address_of_the_workbench_is_that_of_the_room(monkeypatch):
    monkeypatch.setattr(teach.st, "get_option", lambda name: "192.0.2.7")
    monkeypatch.setattr(type(teach.st.context), "url", "http://localhost:8501/Lessons?part=teach")
    assert teach.here() == "http://192.0.2.7:8501"
    monkeypatch.setattr(type(teach.st.context), "url", "https://statistics.example/privcov/Lessons")
    assert teach.here() == "https://statistics.example/privcov"


def test_the_lessons_are_taken_home_as_a_folder():
    with zipfile.ZipFile(io.BytesIO(site.folder())) as folder:
        assert len(folder.namelist()) == len(NUMBERS) + len(demos.BY_KEY) + 2
        assert "lessons/index.html" in folder.namelist()
    assert len(site.folder()) < 3_000_000


def test_the_address_of_the_workbench_is_the_one_that_was_typed():
    at = open_page(PAGE, part="teach")
    assert at.code[0].value == f"{teach.here()}/Lessons"
    assert any("this computer only" in c.value for c in at.caption)
    at.text_input(key="teach-base").set_value(BASE).run()
    assert at.code[0].value == "https://statistics.example/privcov/Lessons"
    assert not any("this computer only" in c.value for c in at.caption)
