"""Epsilon is in sight wherever a picture depends on it: when a page opens, while it scrolls, and under a real mouse."""

import pytest

from tests.browser.test_accessibility import AT_REST

PAGES = ["/?kind=approx", *(f"/{name}?kind=approx" for name in ("Estimate", "Trade_offs", "Graph_recovery", "Spectra"))]
SIZES = [(390, 844), (1280, 800), (1920, 1080)]
# Whether the whole slider is in the window, and whether it lies on top at its centre.
ON_TOP = """slider => {
    const box = slider.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return {inside: box.top >= 0 && box.bottom <= innerHeight, own: slider.contains(top)};
}"""


@pytest.mark.parametrize("path", PAGES)
def test_epsilon_is_in_sight_and_under_the_mouse(path, visit, settle):
    page = visit(path, width=SIZES[0][0])
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        page.evaluate(AT_REST)
        slider = page.get_by_test_id("stSlider").filter(has_text="Epsilon").first
        assert slider.evaluate(ON_TOP) == {"inside": True, "own": True}, (width, "as it opens")
        if path == PAGES[0]:
            continue  # Home is one screen
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 400)")
        assert slider.evaluate(ON_TOP) == {"inside": True, "own": True}, (width, "scrolled")
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")


def test_a_number_behind_a_button_is_changed_and_the_button_stays_open(visit, settle):
    page = visit("/Estimate?data.n=2000&data.d=8")
    page.locator(".st-key-strip-data button").first.click()
    rows = page.get_by_role("slider", name="Rows n")
    rows.focus()
    for said in ("2,500 rows, 8 columns", "3,000 rows, 8 columns"):  # one after the other
        rows.press("ArrowRight")
        settle(page)
        assert page.get_by_text(said).first.is_visible()
        assert page.get_by_role("combobox", name="Data set").is_visible()
