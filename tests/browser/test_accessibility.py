"""Pages in the dark and states that work leads to: axe-core objects to nothing. test_reach.py looks at every page.

The violations that stay are listed here, each with its reason.
"""

import re

import pytest

from pages.common.frame import MENU
from tests.browser import test_own_data as own_data
from tests.serving import serving

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright", reason="make test installs it")

PATHS = [
    "/" if entry.file == "app.py" else "/" + re.sub(r"^\d+_|\.py$", "", entry.file.removeprefix("pages/"))
    for _, entries in MENU
    for entry in entries
]
# (rule, part of the element's markup, why it is not mended): markup of Streamlit 1.67 that no option changes.
KNOWN = [
    (
        "presentation-role-conflict",
        'data-testid="stFileUploaderDropzone"',
        "the drop zone says role=presentation beside its aria-label; the button in it has role and name of its own",
    )
]
# The colour of an element's words on black, as red, green and blue from 0 to 255, however the style sheet writes it.
INK = """selector => {
    const brush = new OffscreenCanvas(1, 1).getContext("2d");
    for (const colour of ["black", getComputedStyle(document.querySelector(selector)).color]) {
        brush.fillStyle = colour;
        brush.fillRect(0, 0, 1, 1);
    }
    return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


# What fades in, as the numbers under a slider near the mouse do, is looked at when it is there. An animation that is
# paused, or whose page is not drawn, never ends: nothing here has a limit of its own, so a test would wait for ever.
AT_REST = """() => Promise.race([new Promise(done => setTimeout(done, 3000)), Promise.all(document.getAnimations()
    .filter(a => a.effect.getComputedTiming().endTime !== Infinity).map(a => a.finished.catch(() => null)))])"""


def violations(page, **options: object) -> list[str]:
    """One line per element that axe objects to and KNOWN does not list."""
    page.evaluate(AT_REST)
    found = axe_playwright.Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]} | {node['failureSummary'][:300]}"
        for rule in found
        for node in rule["nodes"]
        if not any(rule["id"] == name and part in node["html"] for name, part, _ in KNOWN)
    ]


def cut_off(page, width: int) -> list[str]:
    """What does not fit a window of `width`: the page that scrolls sideways, a chart that stands outside it."""
    # A chart that is folded away has no box.
    boxes = [box for chart in page.locator(".js-plotly-plot").all() if (box := chart.bounding_box())]
    outside = [f"a chart at {box}" for box in boxes if box["x"] < 0 or box["x"] + box["width"] > width]
    # The document itself never scrolls: Streamlit hides what runs over its body and scrolls the main part.
    wider = page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth")
    return ["the page scrolls sideways", *outside] if wider > 1 else outside


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[] if path == "/Estimate" else pytest.mark.deep) for path in PATHS]
)
def test_every_page_can_be_read_in_the_dark(visit, path):
    page = visit(path, dark=True)
    assert page.locator("h1").first.is_visible()
    assert violations(page, runOnly=["color-contrast"]) == []  # nothing else depends on the theme


def test_what_is_cut_off_is_seen(visit):
    page = visit("/Your_data")
    page.evaluate(
        """() => document.querySelector("h1").insertAdjacentHTML("afterend",
        '<div class="js-plotly-plot" style="position: absolute; left: 0; width: 3000px; height: 9px">chart</div>')"""
    )
    sideways, chart = cut_off(page, 1280)
    assert sideways == "the page scrolls sideways"
    assert chart.startswith("a chart at")


def test_axe_sees_what_is_wrong(visit):
    """The check itself: grey on grey, a picture without words and a level left out are reported."""
    page = visit("/Methods")
    page.evaluate(
        """() => document.querySelector("h1").insertAdjacentHTML("afterend",
        '<h4>far down</h4><img src="data:,"><p style="color: #777; background: #888">grey</p>')"""
    )
    rules = {line.split(" ")[0] for line in violations(page)}
    assert {"heading-order", "image-alt", "color-contrast"} <= rules


@pytest.mark.deep
def test_axe_finds_nothing_in_the_states_that_work_leads_to(visit, settle):
    """Answers, tables and dialogs that a page has only after a click."""
    page = visit("/Trade_offs?kind=zcdp&data.n=2000&data.d=8", dark=True)
    page.get_by_text("Which method?", exact=True).first.click()
    page.get_by_text("What was simulated", exact=True).first.click()
    settle(page)
    assert violations(page) == []
    page = visit("/Estimate?kind=zcdp&data.n=2000&data.d=8", dark=True)
    page.get_by_role("button", name="Export a figure").click()
    page.frame_locator("[data-testid=stDialog] iframe").get_by_role("button", name="SVG").wait_for()
    settle(page)
    assert violations(page) == []


@pytest.mark.deep
def test_axe_finds_nothing_on_the_way_of_a_release(visit, settle, tmp_path):
    """Declared, planned, asked and answered, with a ledger of its own."""
    with serving(tmp_path) as server:
        page = visit("/Your_data", base=server.address, dark=True)
        own_data.press(page, settle, "Use the practice table")
        own_data.press(page, settle, "Declare")
        assert violations(page) == []
        own_data.press(page, settle, "Go on to Plan")
        page.get_by_text("Which rho do I need?").click()
        own_data.press(page, settle, "Find it")
        assert violations(page) == []
        own_data.press(page, settle, "Go on to Release")
        page.get_by_label("Most rho in all").fill("0.1")
        page.keyboard.press("Tab")
        settle(page)
        own_data.press(page, settle, "Set the limit")
        own_data.press(page, settle, "Release ...")
        assert violations(page) == []
        # axe gives no verdict on what lies over other things, so the fine print is looked at by itself
        assert min(page.evaluate(INK, "[data-testid=stDialog] [data-testid=stCaptionContainer]")) > 128
        page.emulate_media(color_scheme="light")
        own_data.press(page, settle, "Confirm and release")
        page.get_by_text("one noisy measurement. Looking at it").wait_for()
        page.get_by_role("radio", name="Matrices", exact=True).hover()
        settle(page)
        assert violations(page) == []
        page.close()  # before its server goes: a page that loses it complains
