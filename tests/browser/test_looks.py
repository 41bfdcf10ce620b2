"""What the eye meets: matrices that are square and named, nothing wider than its window, figures fit for a paper."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from privcov.plots.matrices import RIGHT, TOP
from privcov.plots.palette import DARK, LIGHT, channels

SVG = "{http://www.w3.org/2000/svg}"


def test_the_camera_of_a_chart_saves_it_as_svg(visit, settle):
    page = visit("/Spectra?kind=zcdp&data.n=2000&data.d=8")
    chart = page.locator("[data-testid=stPlotlyChart]").first
    chart.hover()
    with page.expect_download() as download:
        chart.get_by_role("button", name="Download plot").click()
    assert download.value.suggested_filename.endswith(".svg")
    root = ET.fromstring(Path(download.value.path()).read_text())
    assert "".join("".join(t.itertext()) for t in root.iter(SVG + "text"))  # text stays text


def test_on_paper_the_matrices_stand_side_by_side(visit, settle):
    page = visit("/Estimate?kind=zcdp&data.n=2000&data.d=8")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 760, "height": 1080})  # a sheet of A4
    settle(page)
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("[class*=st-key-square-] .js-plotly-plot")].map(plot => {
        const box = plot.getBoundingClientRect();
        return [box.top, box.left, box.right];
    })"""
    )
    assert len(boxes) == 4
    tops, lefts, rights = zip(*boxes, strict=True)
    assert max(tops) - min(tops) < 2
    assert all(right <= left for right, left in zip(rights, lefts[1:], strict=False))
    assert rights[-1] <= 760


def test_matrices_are_square_and_named_and_nothing_runs_out_of_the_window(visit, settle):
    page = visit("/Estimate?kind=zcdp&data.n=2000&data.d=8", width=1920)
    for width in (1920, 1280, 800, 420):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        boxes = page.evaluate(
            """() => [...document.querySelectorAll("[class*=st-key-square-] .js-plotly-plot")].map(plot => {
            const box = plot.getBoundingClientRect(), cells = plot.querySelector(".hm image").getBoundingClientRect();
            return [box.width, box.height, cells.width, cells.height];
        })"""
        )
        assert len(boxes) == 4
        for whole, high, across, down in boxes:
            assert whole == pytest.approx(high + RIGHT - TOP, abs=2)
            assert across == pytest.approx(down, abs=2)
            assert across >= 0.7 * whole - RIGHT  # the names leave room for the matrix
        assert page.locator(".st-key-square-released .xtick text").first.text_content() == "x1"
        assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def test_the_focus_in_the_menu_is_a_ring_and_the_open_page_a_ground(visit):
    """Light and dark; the page on which the keyboard stands does not look as if it were open."""
    look = """e => {const s = getComputedStyle(e); return [s.outlineStyle, s.outlineColor, s.backgroundColor];}"""
    for dark in (False, True):
        page = visit("/Spectra?kind=zcdp&data.n=2000&data.d=8", dark=dark)
        menu = page.get_by_test_id("stSidebar").get_by_role("link")
        opened = menu.filter(has_text=re.compile("^Spectra$")).evaluate(look)
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.textContent.trim()") == "Lessons":
                break
        style, colour, ground = page.evaluate(f"() => ({look})(document.activeElement)")
        assert style == "solid"
        ink = (DARK if dark else LIGHT).ink
        assert colour == f"rgb({', '.join(map(str, channels(ink)))})"
        assert ground != opened[2]
        assert opened[0] != "solid"


# Words of charts that leave their chart or, where they are numbers of cells, are wider than a third of their panel; and
# labels of buttons that are cut.
CUT = """() => {
    const found = [];
    for (const word of document.querySelectorAll('.js-plotly-plot .main-svg text')) {
        const box = word.getBoundingClientRect(), chart = word.closest('.main-svg').getBoundingClientRect();
        if (box.width && (box.left < chart.left - 1 || box.right > chart.right + 1)) found.push(word.textContent);
    }
    for (const trace of document.querySelectorAll('.textpoint')) {
        const plot = trace.closest('.subplot').querySelector('.hm image, .heatmaplayer image');
        const word = trace.getBoundingClientRect();
        if (plot && word.width > plot.getBoundingClientRect().width / 3) found.push(trace.textContent);
    }
    for (const label of document.querySelectorAll('[data-testid=stMain] button, [data-testid=stMain] button *'))
        if (label.scrollWidth > label.clientWidth + 1 && getComputedStyle(label).overflowX !== 'visible')
            found.push(label.textContent);
    return found;
}"""


@pytest.mark.parametrize("address", ["/Trade_offs", "/Graph_recovery"])
def test_no_word_of_a_chart_or_a_button_is_cut_on_a_phone(address, visit):
    page = visit(address, width=390)
    page.locator(".js-plotly-plot .main-svg text").nth(5).wait_for(state="attached")  # simulated, then drawn
    assert page.evaluate(CUT) == []
