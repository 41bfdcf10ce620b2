"""Your data with a real mouse: a hospital table with ids and gaps, and how few clicks lead to a verified bundle."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from privcov.bundle.read import open_stored
from privcov.ledger import Ledger
from tests.browser.reach import reached
from tests.browser.test_own_data import said, step
from tests.pages.test_own_facts import PERSONS, WARD, visits
from tests.patience import patient
from tests.serving import ROOT, serving

FEWEST_CLICKS = 8  # from Home to the download of the bundle, the menu included


def mouse(page, settle, found) -> None:
    """Click the middle of an element, where nothing else may lie."""
    found = found.first
    found.scroll_into_view_if_needed()
    settle(page)  # it may have come with a run that has not ended yet, which closes what a click opens
    box = found.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page)


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def field(page, name: str):
    return page.get_by_role("spinbutton", name=name).or_(page.get_by_role("textbox", name=name))


def enter(page, settle, name: str, text: str) -> None:
    mouse(page, settle, field(page, name))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)
    page.keyboard.press("Tab")
    settle(page)


def opens(page, settle, words: str) -> None:
    mouse(page, settle, page.locator("summary").filter(has_text=words))


def choose(page, settle, box: str, option: str) -> None:
    mouse(page, settle, page.get_by_role("combobox", name=box))
    mouse(page, settle, page.get_by_role("option", name=option, exact=True))


def verify(page, tmp_path) -> None:
    """Press the button, and let `privcov verify` judge the bundle."""
    with page.expect_download(timeout=patient(30) * 1000) as download:
        button(page, "Download the bundle").click()
    download.value.save_as(tmp_path / "release.zip")
    command = [sys.executable, "-m", "privcov", "verify", str(tmp_path / "release.zip")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert done.returncode == 0, done.stdout + done.stderr


def at_every_width(page, settle, step: str, also=lambda page: True) -> None:
    """The mouse reaches everything that stands there, on a phone and on a laptop."""
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        assert reached(page).dead == [], f"{step} at {width} px"
        assert also(page), f"{step} at {width} px"


def beside_their_bar(page) -> bool:
    """Whether the numbers of every colour bar begin where it ends."""
    places = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].filter(e => e.querySelector('.cbfills')).map(e => [
            e.querySelector('.cbfills').getBoundingClientRect().right,
            ...[...e.querySelectorAll('.annotation-text')].map(note => note.getBoundingClientRect().left)])"""
    )
    assert places
    return all(min(numbers) >= bar for bar, *numbers in places)


@pytest.mark.deep
def test_ids_gaps_and_row_bound_from_a_file_to_a_verified_bundle(visit, settle, tmp_path):
    file = {"name": "ward.csv", "mimeType": "text/csv", "buffer": visits()}
    with serving(tmp_path) as server:
        page = visit("/Your_data", base=server.address)
        page.locator("input[type=file]").first.set_input_files(file)
        settle(page)
        enter(page, settle, "Name of the table", "ward")
        enter(page, settle, "One row stands for", "one visit")
        public = page.locator("label").filter(has_text="Public: it may be known to everybody")
        mouse(page, settle, public)
        mouse(page, settle, button(page, "Take 'patient' as the ids"))
        expect(page.get_by_text("Number of persons", exact=True)).to_be_visible()
        expect(
            public.get_by_role("radio")
        ).to_be_checked()  # what was answered stays, though the question has new words
        mouse(page, settle, page.locator("label").filter(has_text="Missing cells are measured"))
        choose(page, settle, "Columns that can have missing cells", "pressure")
        page.keyboard.press("Escape")
        opens(page, settle, "Advanced: ids of persons")
        enter(page, settle, "Row bound, as a share", "0.75")
        for name, low, high in WARD:
            mouse(page, settle, page.get_by_role("textbox", name=f"Lowest of {name}", exact=True))
            for text in (f"{low:g}", f"{high:g}", "", "", "", "known before"):
                page.keyboard.type(text)
                page.keyboard.press("Tab")
        at_every_width(page, settle, "Declare")
        mouse(page, settle, button(page, "Declare"))
        assert "Declared: 3 columns of 'ward'" in said(page)
        words = page.get_by_test_id("stMain").inner_text()
        for fact in ("one id in 'patient'", "both (in 'pressure')", "longer than 0.75 of"):
            assert fact in words

        mouse(page, settle, button(page, "Go on to Plan"))
        mouse(page, settle, page.locator("label").filter(has_text="Candidate 3"))
        enter(page, settle, "rho 3", "0.8")
        expect(page.locator("label").filter(has_text="Candidate 3").get_by_role("radio")).to_be_checked()
        at_every_width(page, settle, "Plan")
        mouse(page, settle, button(page, "Go on to Release"))
        at_every_width(page, settle, "Release")
        assert field(page, "Most rho in all").input_value() == "0.8"
        mouse(page, settle, button(page, "Set the limit"))
        mouse(page, settle, button(page, "Release ..."))
        mouse(page, settle, button(page, "Confirm and release"))
        page.get_by_text("one noisy measurement. Looking at it").wait_for()
        settle(page)
        assert f"{PERSONS} persons" in page.get_by_test_id("stMain").inner_text()
        book = Ledger(tmp_path / "ledger.sqlite")
        (entry,) = book.entries()
        facts = open_stored(book.stored(entry.token)).measurement.facts
        assert (facts.person, facts.missing, facts.flagged, facts.row_bound_fraction) == (
            "patient",
            "pairs",
            (1,),
            0.75,
        )
        at_every_width(page, settle, "Answers", beside_their_bar)
        for view in ("Which are real", "Spectrum and PCA", "Take home"):
            step(page, settle, view)
            assert not re.search(r"\b(nan|NaN|None)\b", page.get_by_test_id("stMain").inner_text()), view
        verify(page, tmp_path)
        page.close()


def test_home_to_a_verified_bundle_in_few_clicks(visit, settle, tmp_path):
    """Nothing is typed: the practice table, declared already, and a limit of one release."""
    with serving(tmp_path) as server:
        page, clicks = visit("/", base=server.address), 0
        mouse(page, settle, page.get_by_test_id("stSidebar").get_by_role("link", name="Your data", exact=True))
        for label in (
            "Use the practice table",
            "Go on to Plan",
            "Go on to Release",
            "Set the limit",
            "Release ...",
            "Confirm and release",
        ):
            button(page, label).wait_for()
            mouse(page, settle, button(page, label))
            clicks += 1
        button(page, "Download the bundle").wait_for()
        verify(page, tmp_path)
        assert clicks + len(("the menu", "the download")) <= FEWEST_CLICKS
        page.close()
