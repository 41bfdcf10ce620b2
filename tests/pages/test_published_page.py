"""Published results: the papers at a glance, and every table and figure as it was decided and stored."""

import pytest

from pages.common import show
from pages.published import table_view
from pages.published.front import read_results
from privcov.core.references import AUTHORS, place_in
from privcov.plots import published as pictures
from privcov.plots.palette import LIGHT, wash
from tests.pages.test_pages import chart, open_page

PAGE = "pages/8_Published_results.py"
EVERY = read_results("tables.csv").to_dict("records")


def texts(at):
    return " ".join(m.value for m in at.markdown)


def box(at, key):
    return next(s for s in at.selectbox if s.key == key)


@pytest.fixture(scope="module")
def page():
    return open_page(PAGE)


def test_the_page_opens_on_a_picture_with_a_line_per_paper_and_the_rest_closed(page):
    claims, words = read_results("claims.csv").sort_values("paper", kind="stable"), read_results("paragraphs.csv")
    spec, alt = chart(page, "Claims of each paper")
    assert sum(sum(bar["x"]) for bar in spec["data"]) == len(claims)
    for paper, name in AUTHORS.items():
        bad = ((claims["paper"] == paper) & (claims["verdict"] == "does not hold")).sum()
        assert f"{name}: " in alt
        assert f"{bad} does not hold" in alt.partition(f"{name}: ")[2].partition(";")[0] or not bad
    assert words["paper"].tolist() == list(AUTHORS)
    folded = [e for e in page.expander if e.label.startswith("**")]
    assert [e.label.split("**")[1] for e in folded] == list(AUTHORS.values())
    assert show.as_text("Use instead: ") in folded[0].markdown[0].value
    assert not any(e.proto.expanded for e in page.expander)
    (every,) = [e for e in page.expander if e.label.startswith("Every claim")]
    assert every.label == f"Every claim: {len(claims)} sentences and bounds"
    shown = next(d.value for d in page.dataframe if "Claim" in d.value)
    assert shown["Verdict"].tolist() == claims["verdict"].tolist()


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one["table"])
def test_every_table_and_figure_opens_with_what_was_decided(page, one):
    box(page, "published.table").set_value(one["table"]).run()
    assert not page.exception
    assert not page.error
    assert place_in(int(one["paper"]), one["place"]) in box(page, "published.table").options
    text = texts(page)
    assert f"{table_view.badge(one['headline'])} {show.as_text(one['found'].split(chr(10))[0])}" in text
    assert all(show.as_text(sentence) in text for sentence in one["found"].split("\n") if sentence)
    for check in read_results("checks.csv", one["table"]).to_dict("records"):
        assert f"**{show.as_text(check['question'])}** {table_view.badge(check['headline'])}" in text
    for line in read_results("readings.csv", one["table"]).to_dict("records"):
        assert show.as_text(line["assumes"]) in text
    kept = read_results("curves_kept.csv", one["table"])
    survive = kept["survives"].map({"True": "yes", "False": "no"}).tolist()
    assert f"**{survive.count('yes')} of {len(kept)} curves survive" in text or kept.empty
    listed = [d.value["Survives"].tolist() for d in page.dataframe if "Survives" in d.value]
    assert survive in listed or kept.empty
    if one["statements"]:
        captions = " ".join(c.value for c in page.caption)
        assert all(show.as_text(line) in captions for line in one["statements"].split("\n"))
        _, alt = chart(page, "Curves of")
        assert "sound from" in alt
    else:
        _, alt = chart(page, "Printed against ours")
        assert "within error" in alt


def test_the_grid_shows_printed_ours_and_sound_in_one_cell():
    cells = read_results("tables/2-table-2.csv")
    cells = cells[cells["metric"] == "frobenius"]
    (one,) = [one for one in EVERY if one["table"] == "2-table-2"]
    tones = {name: wash(c, 0.2) for name, c in pictures.colours(LIGHT).items()}
    html = table_view.grid(cells, one["rows"].split(), one["columns"].split(), tones)
    assert html.count("<tr>") == 1 + 18
    assert html.count('class="pc-cell"') == 54
    row = cells.iloc[0].to_dict()
    assert "<b>9.45</b>" in html
    assert table_view._number(row, "ours") in html
    assert table_view._number(row, "sound") in html


def test_a_doubtful_number_is_marked_and_a_missing_one_says_why():
    of = {one["table"]: (one["rows"].split(), one["columns"].split()) for one in EVERY}
    cells = read_results("tables/4-table-6.csv")
    html = table_view.grid(cells[cells["metric"] == "spectral"], *of["4-table-6"], {})
    assert "<b>5.73*</b>" in html
    assert "probably 4.73" in html
    html = table_view.grid(read_results("tables/3-table-1.csv"), *of["3-table-1"], {})
    assert 'title="The noisy matrix is indefinite' in html


def test_a_figure_opens_from_a_link_with_its_panel_and_says_what_is_skipped_and_what_stands_in(page):
    at = open_page(PAGE, table="5-figure-5", panel="5-f", shown="sound")
    assert not at.exception
    spec, alt = chart(at, "Curves of")
    assert "as published" not in alt
    assert len(spec["data"]) == 4
    assert show.as_text("Stand-in") in texts(at)
    box(page, "published.table").set_value("5-figure-4").run()
    assert "20,000 and 60,000 pictures" in texts(page)
    assert show.as_text("Skipped, without their rows: 4-b, 4-c.") in texts(page)
