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


@pytest.mark.parametrize(("width", "rows"), [(390, 2), (1280, 1)])
def test_what_is_jumped_to_and_what_has_the_focus_stands_below_the_strip(visit, settle, width, rows):
    page = visit("/Estimate?kind=approx&data.n=2000&data.d=8", width=width)
    bottom = "() => document.querySelector('.st-key-strip').getBoundingClientRect().bottom"
    buttons = page.locator(".st-key-strip [data-testid=stPopover] button").evaluate_all(
        "all => all.map(b => b.getBoundingClientRect().top)"
    )
    assert len({round(top) for top in buttons if top}) <= rows
    heading = page.get_by_role("heading", name="Where the error comes from")
    heading.evaluate("heading => heading.scrollIntoView()")
    assert heading.bounding_box()["y"] >= page.evaluate(bottom)
    page.get_by_role("tab", name="Take home").focus()
    for _ in range(25):
        page.keyboard.press("Shift+Tab")
        hidden = page.evaluate(
            """() => {const at = document.activeElement, box = at.getBoundingClientRect();
            const strip = document.querySelector('.st-key-strip'), over = strip.getBoundingClientRect();
            return !strip.contains(at) && document.querySelector('[data-testid=stMain]').contains(at)
                && box.height < 60 && box.top >= over.top && box.bottom <= over.bottom}"""
        )
        assert not hidden, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_a_number_behind_a_button_is_changed_and_the_button_stays_open(visit, settle):
    page = visit("/Estimate?kind=zcdp&data.n=2000&data.d=8")
    page.locator(".st-key-strip-data button").first.click()
    rows = page.get_by_role("slider", name="Rows n")
    rows.focus()
    for said in ("2,500 rows, 8 columns", "3,000 rows, 8 columns"):  # one after the other
        rows.press("ArrowRight")
        settle(page)
        assert page.get_by_text(said).first.is_visible()
        assert page.get_by_role("combobox", name="Data set").is_visible()
