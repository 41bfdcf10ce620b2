"""Keys, screen readers and small windows: what does not need a mouse, a large window or eyes."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.patience import until
from tests.serving import serving

HOME = "/?kind=approx&epsilon=1"
STUDIES = [
    HOME,
    "/Trade_offs?kind=approx&epsilon=1",
    *(
        pytest.param(f"/{name}?kind=approx&epsilon=1", marks=pytest.mark.deep)
        for name in ("Estimate", "Graph_recovery", "Spectra")
    ),
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


@pytest.mark.parametrize("every", [33, *(pytest.param(every, marks=pytest.mark.deep) for every in (0, 120))])
@pytest.mark.parametrize("path", STUDIES)
def test_slider_answer_and_address_agree_after_quick_keys(visit, settle, path, every):
    page = visit(path)
    lever = page.get_by_role("slider", name="Epsilon").first
    for keys, level in (("<<<<<<", "0.25"), (">>>><>>", "0.8")):
        pressed(page, settle, lever, keys, every)
        assert lever.get_attribute("aria-valuetext") == level
        assert parse_qs(urlsplit(page.url).query)["epsilon"] == [level]
        if path.startswith("/Trade_offs"):
            assert re.search(r"epsilon = ([\d.]+\d)", page.locator("p[data-says]").inner_text())[1] == level
        elif path.startswith("/Spectra"):
            assert f"({level}," in page.locator(".stMain").inner_text()
        else:
            assert page.locator(".pc-answers").get_attribute("data-level") == level


# What a screen reader was told, in order.
LISTEN = """() => {
    window.told = [];
    const region = document.querySelector(".pc-said");
    new MutationObserver(() => window.told.push(region.textContent)).observe(region, {childList: true});
}"""
SMALL = "kind=approx&epsilon=1&data.n=500&data.d=8"


@pytest.mark.parametrize(
    "path", ["/?kind=approx", *(f"/{name}?{SMALL}" for name in ("Estimate", "Trade_offs", "Graph_recovery"))]
)
def test_a_new_answer_is_said_once(visit, settle, path):
    page = visit(path)
    region = page.locator(".pc-said")
    assert region.get_attribute("role") == "status"
    assert region.inner_text() == "", "nothing is said as a page opens"
    page.evaluate(LISTEN)
    pressed(
        page, settle, page.get_by_role("slider", name="Epsilon").first, "<<<", 120
    )  # quicker keys have a test of their own
    until(lambda: page.evaluate("told.length"), 5)
    settle(page)
    told = page.evaluate("told")
    shown = page.locator("[data-says]").evaluate_all("all => all.map(one => one.dataset.says)")
    assert told == list(dict.fromkeys(told))
    assert any(answer in told[-1] for answer in shown)


FOCUSED = """() => {const at = document.activeElement;
    return [at.tagName, (at.innerText || at.ariaLabel || "").trim().split("\\n")[0]];}"""


@pytest.mark.parametrize(("path", "button"), [("/", "Open your own table"), ("/Your_data", "Use the practice table")])
def test_the_focus_goes_to_the_new_heading(visit, settle, path, button):
    page = visit(path)
    old = page.locator(".stMain :is(h1, h2, h3)").all_inner_texts()
    page.get_by_role("button", name=button).press("Enter")
    settle(page)
    page.wait_for_function("() => document.activeElement !== document.body")
    tag, words = page.evaluate(FOCUSED)
    assert tag in ("H1", "H2", "H3")
    assert words not in old


AT = """() => {const at = document.activeElement;
    return [at.ariaLabel || at.innerText || "", Boolean(at.closest("table"))];}"""


@pytest.mark.deep
def test_the_practice_table_by_keys_alone(visit, settle, tmp_path):
    """From the page's own link to its contents to the bundle, beside the cells of the table."""
    presses = 0
    with serving(tmp_path) as server:
        page = visit("/Your_data", base=server.address)
        steps = ["Skip to", "Use the practice table", "Declare", "Go on to Plan", "Go on to Release"]
        for name in (*steps, "Set the limit", "Release ...", "Confirm", "Download the bundle"):
            words = ""
            while not words.startswith(name):
                page.keyboard.press("Tab")
                words, cell = page.evaluate(AT)
                presses += not cell
                assert presses <= 60, f"on the way to {name}"
            if name != "Download the bundle":
                page.keyboard.press("Enter")
                settle(page)
            if name != "Skip to":
                page.wait_for_function("() => document.activeElement !== document.body")
        page.close()  # before its server goes: a page that loses it complains
