"""What a person does, in a real browser: drag, open, upload, share a link, go back, switch the theme."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.patience import until


def chart_words(page, key: str) -> str:
    """The text alternative of a chart, as a screen reader would find it."""
    return page.locator(f".st-key-{key} [aria-label]").first.get_attribute("aria-label")


def slide(page, name: str, key: str, times: int, settle) -> None:
    lever = page.get_by_role("slider", name=name).first
    lever.focus()
    for _ in range(times):
        page.keyboard.press(key)
    settle(page)


def wrong(page) -> float:
    """The error beside the level, in percent."""
    return float(page.locator(".pc-answers [data-number=error]").inner_text().rstrip("%"))


def query(page) -> dict:
    return {k: v[0] for k, v in parse_qs(address(page).query).items()}


def address(page):
    """The address bar itself: Playwright's own notion of it lags behind the history."""
    return urlsplit(page.evaluate("location.href"))


def menu(page, name: str) -> None:
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()


def test_home_melts_the_noise(visit, settle):
    page = visit("/")
    sample, released, before = chart_words(page, "sample"), chart_words(page, "released"), wrong(page)
    slide(page, "Epsilon", "ArrowRight", 6, settle)
    assert chart_words(page, "sample") == sample
    assert chart_words(page, "released") != released
    assert wrong(page) < before
    assert float(query(page)["epsilon"]) > 1
    box = page.locator(".st-key-released img").first.bounding_box()
    assert box["width"] == pytest.approx(box["height"], abs=2)  # a matrix is square on the screen


def test_the_roc_curve_and_lambda_under_the_hand(visit, settle):
    page = visit("/Graph_recovery?method=glasso-gaussian&kind=approx&epsilon=2&delta=0.001")
    settle(page)
    words = chart_words(page, "roc")
    assert "This release finds" in words
    assert "Without noise finds" in words
    before = chart_words(page, "network")
    slide(page, "Penalty lambda", "ArrowRight", 3, settle)
    assert chart_words(page, "network") != before


def test_the_back_button_undoes_and_goes_back(visit, settle):
    page = visit("/Estimate?kind=zcdp&data.n=2000")
    before = chart_words(page, "square-released")
    slide(page, "Rho", "ArrowRight", 1, settle)
    assert chart_words(page, "square-released") != before
    page.go_back()
    settle(page)
    assert query(page) == {"data.n": "2000", "kind": "zcdp"}
    until(lambda: chart_words(page, "square-released") == before, 10, what="the picture of before")
    menu(page, "Spectra")
    settle(page)
    assert address(page).path == "/Spectra"
    page.go_back()
    settle(page)
    assert address(page).path == "/Estimate"
    assert query(page) == {"data.n": "2000", "kind": "zcdp"}


CSV = "age,height,weight\n" + "".join(f"{20 + i % 60},{150 + i % 45},{50 + (3 * i) % 60}\n" for i in range(400))


def bring(page, settle, name: str, data: bytes) -> None:
    page.locator("input[type=file]").first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})
    settle(page)


def upload(page, settle, answer: str, name: str, data: bytes) -> None:
    page.get_by_text(answer).click()
    settle(page)
    bring(page, settle, name, data)


def open_csv(visit, settle):
    page = visit("/Estimate")
    page.locator(".st-key-strip-data button").first.click()
    page.get_by_role("combobox", name="Data set").click()
    page.get_by_role("option", name=re.compile("your own table", re.I)).click()
    settle(page)
    return page


def test_a_public_csv_becomes_matrices(visit, settle):
    page = open_csv(visit, settle)
    assert page.locator("input[type=file]").count() == 0  # asked first, whether it is public
    upload(page, settle, "Yes, anyone may see its rows", "mine.csv", CSV.encode())
    page.get_by_role("button", name="Start with the file's own range").click()
    settle(page)
    assert "3 by 3" in chart_words(page, "square-released")
    said = "between (age|height) and (height|weight)|Every off-diagonal entry is zero"  # 400 rows say little here
    assert re.search(said, chart_words(page, "square-released"))
    assert "source" not in query(page)
    assert "mine" not in page.url
    menu(page, "Spectra")
    settle(page)
    assert "Sample from" in chart_words(page, "spectrum")
