"""Keys, screen readers and small windows: what does not need a mouse, a large window or eyes."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

HOME = "/?kind=approx&epsilon=1"
STUDIES = [
    HOME,
    *(f"/{name}?kind=approx&epsilon=1" for name in ("Estimate", "Trade_offs", "Graph_recovery", "Spectra")),
]


def pressed(page, settle, lever, keys: str, every: int) -> None:
    """Press arrow keys, "<" and ">", with so many milliseconds between them, and wait until the page is still."""
    lever.focus()
    for key in keys:
        page.keyboard.press({"<": "ArrowLeft", ">": "ArrowRight"}[key])
        if every:
            page.wait_for_timeout(every)
    settle(page)
    page.wait_for_function("() => !document.querySelector('.pc-follows')")


@pytest.mark.parametrize("every", [0, 33, 120])
@pytest.mark.parametrize("path", STUDIES)
def test_slider_answer_and_address_agree_after_quick_keys(visit, settle, path, every):
    page = visit(path)
    lever = page.get_by_role("slider", name="Epsilon").first
    for keys, level in (("<<<<<<", "0.25"), (">>>><>>", "0.8")):
        pressed(page, settle, lever, keys, every)
        assert lever.get_attribute("aria-valuetext") == level
        assert parse_qs(urlsplit(page.url).query)["epsilon"] == [level]
        if path.startswith("/Trade_offs"):
            assert re.search(r"epsilon = ([\d.]+\d)", page.get_by_role("status").first.inner_text())[1] == level
        elif path.startswith("/Spectra"):
            assert f"({level}," in page.locator(".stMain").inner_text()
        else:
            assert page.locator(".pc-answers").get_attribute("data-level") == level
