"""The owner's page at the speed of a person, and Plan also as fast as keys can be sent: what was typed stands there.

Ten trials on a fixed schedule each: a fault in one of five shows with probability 0.89.
"""

from tests.browser.test_own_data import press, step, type_highest

TRIALS = 10
HUMAN, MACHINE = 110, 0  # ms from key to key
EDGES = (("12", "3456", "known one"), ("7", "89.5", "known two"), ("1", "2345", "known three"))


def test_the_declaration_grid_keeps_every_key(visit, settle):
    """From the second cell on: Streamlit's front end fetches the editor itself when the first one opens."""
    page = visit("/Your_data", height=1500)
    for _ in range(TRIALS // len(EDGES) + 1):
        raw = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"u,v,w\n1,2,3\n"}
        page.locator("input[type=file]").first.set_input_files(raw)
        settle(page)
        type_highest(page, settle, 3, "5")
        box = page.get_by_test_id("stDataFrame").locator("canvas").first.bounding_box()
        for row, (low, high, why) in enumerate(EDGES):
            page.mouse.click(box["x"] + 295, box["y"] + 33 * (row + 1) + 16)
            page.locator(f"#glide-cell-2-{row}[aria-selected=true]").wait_for(state="attached")
            for text in (low, high, "", why):
                page.keyboard.type(text, delay=HUMAN)
                page.keyboard.press("Tab")
                page.wait_for_timeout(HUMAN)
        step(page, settle, "2 Plan")  # the page takes over what was typed, also where the editor is not drawn
        step(page, settle, "1 Declare")
        shown = [
            tuple(page.get_by_test_id(f"glide-cell-{column}-{row}").text_content() for column in (2, 3, 5))
            for row in range(3)
        ]
        assert shown == list(EDGES)
        press(page, settle, "Forget this file")


def test_plans_controls_stand_where_they_were_however_soon_one_goes_on(visit, settle):
    """A second click, or keys into the first field, while the first run of the step is under way."""
    page = visit("/Your_data", height=1500)
    for trial in range(TRIALS):
        press(page, settle, "Use the practice table")
        press(page, settle, "Declare")
        onward = page.get_by_role("button", name="Go on to Plan")
        onward.scroll_into_view_if_needed()
        box = onward.bounding_box()
        for pause in (0, 40 * trial):
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
        sliders = [page.get_by_role("slider").nth(place).input_value() for place in range(2)]
        assert [rows.input_value(), *sliders] == [f"{5000 + trial}", "0.5", "0.3"], f"trial {trial}"
        press(page, settle, "Forget this file")
