"""Keys, screen readers and small windows: what does not need a mouse, a large window or eyes."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from pages.your_data.declare.public_file import ANSWERS
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


@pytest.mark.parametrize(("width", "height", "sticky"), [(320, 200, False), (640, 400, False), (1280, 800, True)])
def test_the_strip_stays_in_sight_in_high_windows_alone(visit, width, height, sticky):
    page = visit("/Estimate?kind=approx&data.n=2000&data.d=8", width=width, height=height)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 900)")
    bottom = page.locator(".st-key-strip").evaluate("strip => strip.getBoundingClientRect().bottom")
    assert (bottom > 0) is sticky


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


PUBLIC = ANSWERS["yes"]


def test_a_table_that_was_read_is_said(visit, settle, tmp_path):
    page = visit("/")
    page.get_by_role("button", name="Open your own table").click()
    settle(page)
    page.locator(".st-key-upload-public label").filter(has_text=PUBLIC).click()
    settle(page)
    file = tmp_path / "own.csv"
    file.write_text("a,b\n" + "".join(f"{k % 7},{k % 5}\n" for k in range(60)))
    page.locator("input[type=file]").first.set_input_files(file)
    until(lambda: "read" in page.locator(".pc-said").inner_text(), 10)


@pytest.mark.parametrize("name", ["Open the first lesson", "Try the practice table", "Graph recovery"])
def test_the_focus_is_seen_on_the_links_of_home(visit, name):
    link = visit("/").get_by_test_id("stMain").get_by_role("link", name=name).first
    link.press("Shift")  # as from the keyboard
    link.focus()
    assert link.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    assert link.evaluate("one => parseFloat(getComputedStyle(one).outlineWidth)") >= 2


FOCUSED = """() => {const at = document.activeElement;
    return [at.tagName, (at.innerText || at.ariaLabel || "").trim().split("\\n")[0]];}"""


def test_a_popover_is_entered_and_left_by_keys(visit, settle):
    page = visit(f"/Estimate?{SMALL}")
    for name in ("data", "method", "more"):
        button = page.locator(f".st-key-strip-{name} button").first
        button.press("Enter")
        page.wait_for_function("() => document.activeElement.closest('[data-testid=stPopoverBody]')")
        assert page.evaluate("document.activeElement.matches('input, [role=radio]')")
        page.keyboard.press("Escape")
        page.wait_for_function("() => !document.querySelector('[data-testid=stPopoverBody]')")
        assert button.evaluate("one => one === document.activeElement")


def test_no_toolbar_of_a_chart_is_on_the_way_of_tab(visit, settle):
    page = visit(f"/Estimate?{SMALL}")
    page.locator(".st-key-strip-more button").first.focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        assert not page.evaluate("document.activeElement.closest('.modebar-container')")
    page.locator(".stPlotlyChart").first.hover()
    assert page.locator(".stPlotlyChart").first.get_by_role("button", name="Zoom in").is_visible()


def test_nothing_in_the_closed_menu_takes_the_focus(visit):
    """The first ten stops of Tab on a phone are on the screen."""
    page = visit("/Estimate", width=390)
    for _ in range(10):
        page.keyboard.press("Tab")
        box = page.evaluate(
            "(() => { const r = document.activeElement.getBoundingClientRect(); return [r.right, r.left]; })()"
        )
        assert box[0] > 0
        assert box[1] < 390


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


NAMES = """() => {
    const main = document.querySelector("[data-testid=stMain]");
    const steps = [...main.querySelectorAll("[data-testid=stNumberInputContainer] button")].map(b => b.ariaLabel);
    const drawn = [...main.querySelectorAll(".stPlotlyChart svg.main-svg")].filter(s => s.ariaHidden !== "true");
    const heads = [...document.querySelectorAll("h1, h2, h3")].map(h => h.tagName);
    const current = [...document.querySelectorAll("[role=navigation] [aria-current=page]")].map(a => a.innerText);
    return {steps, drawn: drawn.length, first: heads[0], current};
}"""


@pytest.mark.parametrize(("path", "name"), [("/?kind=approx", "Home"), (f"/Trade_offs?{SMALL}", "Trade-offs")])
def test_names_and_landmarks(visit, path, name):
    page = visit(path)
    page.get_by_role("slider", name="Epsilon", exact=True).first.wait_for(state="attached")
    found = page.evaluate(NAMES)
    assert (found["first"], found["drawn"], found["current"]) == ("H1", 0, [name])
    assert found["steps"]
    assert all(len(step.split()) > 1 for step in found["steps"])


def test_what_is_chosen_is_seen_in_forced_colours(visit, settle):
    page = visit(f"/Estimate?{SMALL}")
    page.emulate_media(forced_colors="active")
    settle(page)
    ground = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    track = ".st-key-strip-level .stSlider [role=group] > div > div"
    for part in (f"{track}:nth-child(1)", f"{track}:nth-child(2)", ".pc-meter > i"):
        assert page.locator(part).first.evaluate("one => getComputedStyle(one).backgroundColor") != ground, part
    assert page.locator(".pc-meter").first.evaluate("one => getComputedStyle(one).borderTopWidth") == "1px"
    chosen, other = (
        page.locator(f"[role=tab][aria-selected={known}]").first.evaluate("one => getComputedStyle(one).borderBottom")
        for known in ("true", "false")
    )
    assert chosen != other


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
