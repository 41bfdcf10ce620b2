"""The owner's page at the speed of a person and as fast as keys can be sent: what was typed stands there.

Five trials of Plan on a fixed schedule: a fault in one of three shows with probability 0.87. Three of the table of
limits, of eighteen fields each: a key lost in one field of twenty shows with probability 0.94.
"""

import pytest

from tests.browser.test_own_data import press, said, step

HUMAN, MACHINE = 110, 0  # ms from key to key
EDGES = {
    "u": ("20 to 3000", "12", "3456", "", "", "known one"),
    "v": ("8", "7", "89.5", "", "-9 | 999", "known two"),
    "w": ("", "-1", "2e3", "", "", "known three"),
}
LABELS = ("Typical", "Lowest", "Highest", "Levels or date form", "Missing codes", "Why these")


def cell(page, label: str, column: str):
    return page.get_by_role("textbox", name=f"{label} of {column}", exact=True)


def standing(page) -> dict[str, tuple[str, ...]]:
    return {column: tuple(cell(page, label, column).input_value() for label in LABELS) for column in EDGES}


def given(page, settle) -> None:
    raw = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"u,v,w\n1,2,3\n"}
    page.locator("input[type=file]").first.set_input_files(raw)
    settle(page)


@pytest.mark.parametrize(
    ("width", "delays"), [(390, (MACHINE,)), pytest.param(1280, (HUMAN, MACHINE), marks=pytest.mark.deep)]
)
def test_the_table_of_limits_keeps_every_key(visit, settle, width, delays):
    """From the first cell of a new page on, at a person's speed and as fast as keys can be sent."""
    page = visit("/Your_data", width=width, height=1500)
    for trial, delay in enumerate(delays):
        given(page, settle)
        for column, line in EDGES.items():
            first = cell(page, "Typical", column)
            first.scroll_into_view_if_needed()
            box = first.bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            for text in line:
                page.keyboard.type(text, delay=delay)
                page.keyboard.press("Tab")
                page.wait_for_timeout(delay)
        assert standing(page) == EDGES, f"trial {trial}"
        step(page, settle, "2 Plan")  # the page takes over what was typed, also where the table is not drawn
        step(page, settle, "1 Declare")
        numbers = {column: (*map(as_shown, line[:3]), *line[3:]) for column, line in EDGES.items()}
        assert standing(page) == numbers, f"trial {trial}"
        press(page, settle, "Forget this file")


def as_shown(text: str) -> str:
    return repr(float(text)).removesuffix(".0") if text and " " not in text else text


def test_the_table_of_limits_by_keyboard_and_from_a_spreadsheet(visit, settle):
    page = visit("/Your_data", height=1500)
    given(page, settle)
    cell(page, "Lowest", "u").click()
    for text in ("1", "2", "3"):
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")  # "Enter" in the last line stays there
    page.keyboard.type("22")  # what stood there was selected
    page.keyboard.press("Tab")
    settle(page)
    assert [cell(page, "Lowest", name).input_value() for name in EDGES] == ["1", "22", "3"]
    page.evaluate(
        """text => { const data = new DataTransfer(); data.setData('text/plain', text); document.activeElement
        .dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})) }""",
        "33\t\t\tas said\n1,500\t\t\tas written\tone too many\n",
    )
    settle(page)
    assert standing(page)["v"] == ("", "22", "33", "", "", "as said")
    assert standing(page)["w"] == ("", "3", "1,500", "", "", "as written")
    wrong = cell(page, "Highest", "w")
    assert wrong.get_attribute("aria-invalid") == "true"
    cell(page, "Highest", "u").click()
    page.keyboard.type("9")
    cell(page, "Why these", "u").click()
    page.keyboard.type("known")
    page.get_by_role("textbox", name="Name of the table").click()
    page.keyboard.type("t")
    page.get_by_role("textbox", name="One row stands for").click()
    page.keyboard.type("one visit")
    rows = page.get_by_role("textbox", name="Most rows that one").or_(page.get_by_role("spinbutton", name="Most rows"))
    rows.click()
    page.keyboard.type("1")
    page.get_by_text("Not public: it is hidden").click()
    page.get_by_text("A missing cell counts as the typical value").click()
    settle(page)
    press(page, settle, "Declare")
    assert "Highest of 'w' is '1,500', which is not a finite number" in said(page)
    assert wrong.input_value() == "1,500"
    wrong.click(click_count=3)
    page.keyboard.type("15")
    press(page, settle, "Declare")
    assert "Declared: 3 columns of 't'" in said(page)


def type_two(page, low: str, high: str) -> None:
    """Into the first line, at machine speed; the second number is not yet left."""
    cell(page, "Lowest", "u").click(click_count=3)
    page.keyboard.type(low)
    page.keyboard.press("Tab")
    page.keyboard.type(high)


def test_limits_stay_however_soon_one_clicks_or_goes_on_typing(visit, settle):
    """Another click ends a run before it has come to the table; a button changes the table while somebody types."""
    page = visit("/Your_data", height=2200)
    given(page, settle)
    for trial in range(2):
        type_two(page, f"12{trial}", f"34{trial}")
        page.get_by_role("link", name="Methods").first.click()
        settle(page)
        page.get_by_role("link", name="Your data").first.click()
        settle(page)
        assert standing(page)["u"] == ("", f"12{trial}", f"34{trial}", "", "", ""), f"trial {trial}"
    page.get_by_text("Several columns at once").click()
    settle(page)
    use, highest = page.get_by_role("checkbox", name="Use of w"), cell(page, "Highest", "w")
    box = highest.bounding_box()
    for trial, pause in enumerate((0, 30, 60, 90)):
        page.get_by_role("button", name=("Tick none", "Tick all")[trial % 2]).click()
        page.wait_for_timeout(pause)
        page.mouse.click(box["x"] + 20, box["y"] + 10, click_count=3)
        page.keyboard.type(f"{trial + 1}23456", delay=15)
        page.keyboard.press("Tab")
        settle(page)
        assert (highest.input_value(), use.is_checked()) == (f"{trial + 1}23456", trial % 2 == 1), f"after {pause} ms"
