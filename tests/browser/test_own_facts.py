"""Your data with a real mouse: a hospital table with ids and gaps, and how few clicks lead to a verified bundle."""

import subprocess
import sys

from tests.browser.reach import reached
from tests.patience import patient
from tests.serving import ROOT, serving

FEWEST_CLICKS = 8  # from Home to the download of the bundle, the menu included


def mouse(page, settle, found) -> None:
    """Click the middle of an element, where nothing else may lie."""
    found = found.first
    found.scroll_into_view_if_needed()
    settle(page)  # it may have come with a run that has not ended yet, which closes what a click opens
    box = still_box(page, found)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page)


def still_box(page, found) -> dict:
    """Where an element lies, in sight, once it has stood still for a fifth of a second: nobody clicks at what moves.

    A page that is new goes to its top, on a busy machine after it was scrolled.
    """
    box = found.bounding_box()
    while True:
        found.scroll_into_view_if_needed()
        page.wait_for_timeout(200)
        before, box = box, found.bounding_box()
        if box is not None and box == before:
            return box


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


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
