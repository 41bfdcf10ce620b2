"""The owner's page at the speed of a person and as fast as keys can be sent: what was typed stands there.

Five trials of Plan on a fixed schedule: a fault in one of three shows with probability 0.87. Three of the table of
limits, of eighteen fields each: a key lost in one field of twenty shows with probability 0.94.
"""

import pytest

from tests.browser.test_own_data import press, said, step
from tests.patience import until

TRIALS = 5
HUMAN, MACHINE = 110, 0  # ms from key to key
EDGES = {
    "u": ("20 to 3000", "12", "3456", "", "", "known one"),
    "v": ("8", "7", "89.5", "", "-9 | 999", "known two"),
    "w": ("", "-1", "2e3", "", "", "known three"),
}
LABELS = ("Typical", "Lowest", "Highest", "Levels or date form", "Missing codes", "Why these")
KINDS = {
    "u": ("yes-no", "F", "", "", "F | M", "", "the form"),
    "v": ("date", "", "01.01.2020", "2024-12-31", "%d.%m.%Y", "00.00.0000", "the study"),
    "w": ("number log1p", "", "0", "1e6", "", "", "contracts"),
}


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


def kind_of(page, column: str):
    return page.get_by_role("combobox", name=f"Kind of {column}", exact=True)


@pytest.mark.deep
def test_kinds_levels_and_dates_keep_every_key(visit, settle):
    """The kind is picked by typing its name; a date is no wrong number, and becomes one when the kind is a number."""
    page = visit("/Your_data", height=1500)
    for trial, delay in enumerate((HUMAN, MACHINE)):
        given(page, settle)
        for column, (kind, *line) in KINDS.items():
            kind_of(page, column).focus()
            page.keyboard.type(kind, delay=delay)
            page.keyboard.press("Tab")
            for text in line:
                page.keyboard.type(text, delay=delay)
                page.keyboard.press("Tab")
        for _ in ("as typed", "as the page has it"):
            for column, (kind, *line) in KINDS.items():
                assert kind_of(page, column).input_value() == kind, f"trial {trial}"
                shown = list(standing(page)[column])
                if column == "w":
                    shown[2] = {"1000000": "1e6"}.get(shown[2], shown[2])
                assert shown == line, f"trial {trial}"
            settle(page)
            step(page, settle, "2 Plan")
            step(page, settle, "1 Declare")
        low = cell(page, "Lowest", "v")
        assert low.get_attribute("aria-invalid") == "false"
        kind_of(page, "v").select_option("number")
        settle(page)
        assert low.get_attribute("aria-invalid") == "true"
        assert low.input_value() == "01.01.2020"
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


def test_mistakes_are_marked_taken_back_and_typing_outlasts_a_reload(visit, settle):
    page = visit("/Your_data", height=1500)

    def wrong(label: str, column: str) -> bool:
        return cell(page, label, column).get_attribute("aria-invalid") == "true"

    given(page, settle)
    press(page, settle, "Declare")
    assert all(wrong(label, name) for name in EDGES for label in ("Typical", "Why these"))
    cell(page, "Typical", "u").click()
    page.keyboard.type("20 to 70")
    page.get_by_role("textbox", name="Name of the table").click()
    page.keyboard.type("visits")
    page.keyboard.press("Tab")
    settle(page)
    assert not wrong("Typical", "u")
    assert not wrong("Why these", "u")
    assert wrong("Typical", "v")
    page.get_by_role("button", name="Tick none").or_(page.get_by_text("Several columns at once")).first.click()
    settle(page)
    press(page, settle, "Tick none")
    until(lambda: not wrong("Typical", "v"), 5, what="a column that is left out lacks nothing")
    press(page, settle, "Undo")
    until(lambda: wrong("Typical", "v"), 5, what="and lacks it again")
    page.reload()
    settle(page)
    given(page, settle)
    assert page.get_by_text("What was typed before in this tab is there again").is_visible()
    assert cell(page, "Typical", "u").input_value() == "20 to 70"
    assert page.get_by_role("textbox", name="Name of the table").input_value() == "visits"
    press(page, settle, "Forget this file")
    page.reload()
    settle(page)
    given(page, settle)
    assert cell(page, "Typical", "u").input_value() == ""
    assert page.get_by_role("textbox", name="Name of the table").input_value() == ""


@pytest.mark.deep
def test_plans_controls_stand_where_they_were_however_soon_one_goes_on(visit, settle):
    """A second click, or keys into the first field, while the first run of the step is under way."""
    page = visit("/Your_data", height=1500)
    for trial in range(TRIALS):
        press(page, settle, "Use the practice table")
        press(page, settle, "Declare")
        onward = page.get_by_role("button", name="Go on to Plan")
        onward.scroll_into_view_if_needed()
        box = onward.bounding_box()
        for pause in (0, 80 * trial):
            page.wait_for_timeout(pause)
            page.mouse.click(box["x"] + 20, box["y"] + 10)
        rows = page.get_by_role("textbox", name="About how many rows").or_(
            page.get_by_role("spinbutton", name="About how many rows")
        )
        rows.wait_for()
        rows.click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(f"{5000 + trial}", delay=(HUMAN, MACHINE)[trial % 2])
        page.keyboard.press("Tab")
        settle(page)
        page.get_by_text("Advanced: the invented table").click()
        settle(page)
        sliders = [page.get_by_role("slider").nth(place).input_value() for place in range(2)]
        assert [rows.input_value(), *sliders] == [f"{5000 + trial}", "0.5", "0.3"], f"trial {trial}"
        press(page, settle, "Forget this file")
