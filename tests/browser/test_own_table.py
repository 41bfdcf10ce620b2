"""One's own table in a real browser: how many clicks to the first picture, one upload, and a form of 45 columns."""

import re

import numpy as np
import pytest

MAX_CLICKS = 4


class Clicks:
    """Real clicks at the centre of what is visible, counted; a file is chosen in the dialogue that a click opens."""

    def __init__(self, page, settle) -> None:
        self.page, self.settle, self.count = page, settle, 0

    def on(self, found) -> None:
        found.scroll_into_view_if_needed()
        self.settle(self.page)  # a page that still scrolls moves its target away from the mouse
        box = found.bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.count += 1
        self.settle(self.page)

    def choose(self, name: str, raw: bytes) -> None:
        with self.page.expect_file_chooser() as chooser:
            self.on(self.page.get_by_test_id("stFileUploader").get_by_role("button").first)
        chooser.value.set_files({"name": name, "mimeType": "text/csv", "buffer": raw})
        self.settle(self.page)


def mixed_scales() -> bytes:
    """A survey as spreadsheets write it where a comma stands before the decimals: shares, ages, incomes, years."""
    rng = np.random.default_rng(4)
    common = rng.normal(size=400)
    lines = ["share;age;income;year"]
    for z, e in zip(common, rng.normal(size=400), strict=True):
        lines.append(f"{0.5 + 0.1 * z:.3f};{45 + 12 * e:.0f};{30_000 * np.exp(0.4 * z):.2f};{2000 + 5 * e:.0f}")
    return "\n".join(lines).replace(".", ",").encode()


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.deep)])
def test_a_public_table_with_semicolons_shows_its_heatmap_by_two_decisions(visit, settle, width):
    page = visit("/", width=width)
    clicks = Clicks(page, settle)
    clicks.on(page.get_by_role("button", name="Open your own table"))
    clicks.on(page.get_by_text("Yes, anyone may see its rows"))
    clicks.choose("survey.csv", mixed_scales())
    clicks.on(page.get_by_role("button", name="Start with the file's own range"))
    page.locator(".st-key-square-released").wait_for()
    assert clicks.count <= MAX_CLICKS
    words = page.get_by_test_id("stMain").inner_text()
    assert "Not private." in words
    assert "The range of 4 of 4 columns comes from the file" in words


def test_a_confidential_table_is_uploaded_once(visit, settle):
    page = visit("/")
    clicks = Clicks(page, settle)
    clicks.on(page.get_by_role("button", name="Open your own table"))
    clicks.on(page.get_by_text("No, its rows are confidential"))
    assert page.locator("input[type=file]").count() == 0
    clicks.on(page.get_by_role("link", name="Go on to Your data"))
    page.wait_for_url(re.compile("/Your_data"))
    settle(page)
    clicks.choose("ward.csv", b"age,ward\n777123,A\n3,B\n")
    fields = page.get_by_role("textbox", name=re.compile("^Lowest of "))
    assert fields.count() == 2
    assert page.locator("input[type=file]").count() == 1, "the one of a saved declaration"
    assert "777123" not in page.get_by_test_id("stMain").inner_text()
