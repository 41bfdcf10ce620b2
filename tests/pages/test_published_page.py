"""Published results: every table opens, shows printed and computed numbers, can be computed again, and leads on."""

import numpy as np
import pytest

from pages.published import again, figures, front, summary
from pages.published import table as published_table
from pages.shell import show
from pages.shell.papers import place_in
from privcov.figures import published as pictures
from privcov.figures.palette import DARK, LIGHT, wash
from privcov.figures.published import colours, scatter
from privcov.papers import base, catalogue
from privcov.papers.catalogue import FIGURES
from privcov.papers.curves import curves
from privcov.papers.names import AUTHORS
from tests.pages.test_pages import chart, open_page

PAGE = "pages/8_Published_results.py"
TABLES = list(summary.shown())


def button(at, key):
    return next(b for b in at.button if b.key == key)


@pytest.fixture(scope="module")
def page():
    return open_page(PAGE)


def test_the_summary_names_every_table_with_its_verdict(page):
    assert [b.key for b in page.button if b.key.split("-")[0] == "published" and b.key.count("-") == 3][
        : len(TABLES)
    ] == [f"published-{key}" for key in TABLES]
    text = " ".join(m.value for m in page.markdown)
    for verdict in summary.verdicts().values():
        assert summary.chip(verdict.word) in text
    assert "684 printed numbers" not in text or len(TABLES) == 10


def test_the_page_opens_on_a_paragraph_per_paper_and_keeps_its_tables_closed(page):
    at = open_page(PAGE)
    table, words = front.stored("claims.csv"), front.stored("paragraphs.csv")
    text = " ".join(m.value for m in at.markdown)
    assert words["paper"].tolist() == list(AUTHORS)
    for paper, name in AUTHORS.items():
        assert f"**{name}.** {show.as_text(words.set_index('paper')['paragraph'][paper])}" in text
    assert at.session_state["published.part"] == "In words"
    every = next(e for e in at.expander if e.label.startswith("Every claim"))
    assert every.label == f"Every claim: {len(table)} sentences, bounds and guarantees"
    assert not every.proto.expanded
    shown = next(d.value for d in at.dataframe if "As published" in d.value and "Claim" in d.value)
    assert shown["Verdict"].tolist() == table["verdict"].tolist()


@pytest.mark.parametrize(
    ("asked", "tab"),
    [({"part": "all-tables"}, "All tables"), ({"table": "4-table-5"}, "One table"), ({"part": "in-words"}, "In words")],
)
def test_a_link_opens_its_tab(asked, tab):
    at = open_page(PAGE, **asked)
    assert not at.exception
    assert at.session_state["published.part"] == tab


@pytest.mark.parametrize("key", TABLES)
def test_every_table_opens(page, key):
    button(page, f"published-{key}").click().run()
    assert not page.exception
    assert not page.error
    table = catalogue.TABLES[key]
    assert any(s.value.startswith(place_in(table.paper, table.where)) for s in page.header)
    _, alt = chart(page, "Printed against ours")
    assert "within error" in alt


def test_the_grid_shows_printed_ours_and_sound_in_one_cell():
    table = catalogue.TABLES["2-table-2"]
    found = base.beside(table)
    found = found[found["metric"] == "frobenius"]
    html = published_table.grid(table, found, {name: wash(c, 0.2) for name, c in colours(LIGHT).items()})
    assert html.count("<tr>") == 1 + 18
    assert html.count('class="pc-cell"') == 54
    row = found.iloc[0]
    assert "<b>9.45</b>" in html
    assert published_table._number(row, "ours") in html
    assert published_table._number(row, "sound") in html


def test_a_doubtful_number_is_marked_and_a_missing_one_says_why():
    table = catalogue.TABLES["4-table-6"]
    found = base.beside(table)
    html = published_table.grid(table, found[found["metric"] == "spectral"], {})
    assert "<b>5.73*</b>" in html
    assert "probably 4.73" in html
    table = catalogue.TABLES["3-table-1"]
    assert 'title="The noisy matrix is indefinite' in published_table.grid(table, base.beside(table), {})


def test_a_cell_can_be_computed_again():
    at = open_page(PAGE)
    button(at, "published-4-table-3").click().run()
    button(at, "published-run-4-table-3").click().run()
    assert not at.exception
    assert not at.error
    tables = [d.value for d in at.dataframe if "Now" in d.value]
    assert len(tables) == 1
    assert len(tables[0]) == 32
    assert (tables[0]["Now"] != "no number").all()
    # 3 fresh runs against the stored ones: central errors vary by a few percent between runs.
    first = tables[0].iloc[0]
    now, stored = (float(first[name].split()[0]) for name in ("Now", "Stored"))
    assert now == pytest.approx(stored, rel=0.25)


def test_cells_lead_to_estimate_with_the_published_calibration():
    for key, calibration in (("2-table-1", "as-published"), ("2-table-2", "as-published-2"), ("4-table-1", None)):
        table = catalogue.TABLES[key]
        row = base.printed(table).iloc[0]
        study = again.study_of(table, row)
        assert dict(study.data)["n"] == int(row["n"])
        assert study.epsilon == float(row["epsilon"])
        assert calibration in (None, study.calibration)
    assert study.delta == 1 / 400
    row = base.printed(catalogue.TABLES["3-table-1"]).iloc[0]
    assert again.study_of(catalogue.TABLES["3-table-1"], row) is None


def test_the_button_opens_the_same_table_in_trade_offs():
    at = open_page(PAGE)
    button(at, "published-4-table-1").click().run()
    button(at, "published-trade-4-table-1").click().run()
    assert not at.exception
    assert at.query_params["preset"] == "4-table-1-model-1"


def test_a_table_shows_its_readings_and_the_rows_that_its_errors_need(page):
    button(page, "published-4-table-1").click().run()
    assert not page.exception
    text = " ".join(m.value for m in page.markdown)
    assert "Under another reading (fitted to the print, " in text
    results = catalogue.results_of("4-table-1")
    assert all(show.as_text(one.reading.assumes) in text for one in results)
    searched = next(one for one in results if one.words)
    assert show.as_text(searched.words) in text
    shares = [d.value for d in page.dataframe if "As described" in d.value]
    assert [len(table) for table in shares] == [len(one.columns) for one in results if one.columns]
    (rows,) = [d.value for d in page.dataframe if "Rows for the published error" in d.value]
    assert len(rows) == 16
    button(page, "published-2-table-2").click().run()
    assert "2 free constants" not in " ".join(m.value for m in page.markdown)


def test_every_curve_is_listed_when_asked():
    at = open_page(PAGE)
    assert not [d for d in at.dataframe if "Curve" in d.value and "Table or figure" in d.value]
    next(t for t in at.toggle if t.key == "published.needed").set_value(True).run()
    assert not at.exception
    (every,) = [d.value for d in at.dataframe if "Table or figure" in d.value]
    assert len(every) > 150
    assert {"yes", "no"} == set(every["Survives"])


@pytest.mark.parametrize("key", FIGURES)
def test_every_figure_shows_its_curves_findings_and_what_is_left(page, key):
    table = catalogue.TABLES[key]
    figure = next(s for s in page.selectbox if s.key == "published.figure")
    figure.set_value(figures.saved_name(table)).run()
    assert place_in(table.paper, table.where) in figure.options
    assert not page.exception
    assert not page.error
    text = " ".join(m.value for m in page.markdown)
    checks = figures._checks(summary.stored_at())[key]
    assert checks
    for check in checks:
        assert f"{figures.badge(check)} **{show.as_text(check.question)}**" in text
    kept = figures._kept(summary.stored_at())[key]
    assert f"{sum(one.survives for one in kept)} of {len(kept)} curves survive" in text
    read = base.told(table)
    captions = " ".join(c.value for c in page.caption)
    assert (read["what"] == "setting").any()
    assert all(show.as_text(line) in captions for line in read.loc[read["what"] != "question", "text"])
    left = next(d.value for d in page.dataframe if "Times n for the published error" in d.value)
    assert len(left) == len(kept)
    spec, alt = chart(page, "Curves of")
    assert "sound from" in alt
    assert len(spec["data"]) >= 2


def test_a_figure_says_what_is_skipped_and_what_stands_in(page):
    figure = next(s for s in page.selectbox if s.key == "published.figure")
    figure.set_value("Paper 5, Figure 4").run()
    told = " ".join(c.value for c in page.caption)
    assert "20,000 and 60,000 pictures" in told
    assert show.as_text("Skipped, without their rows: 4-b, 4-c.") in told
    figure = next(s for s in page.selectbox if s.key == "published.figure")
    figure.set_value("Paper 5, Figure 5").run()
    assert show.as_text("Stand-in") in " ".join(c.value for c in page.caption)


def test_a_figure_opens_from_a_link_with_its_panel():
    at = open_page(PAGE, figure="paper-5-figure-5", panel="5-f", shown="sound")
    assert not at.exception
    spec, alt = chart(at, "Curves of")
    assert "as published" not in alt
    assert len(spec["data"]) == 4


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_chart_of_a_panel_draws_both_versions_of_every_line(palette):
    table = catalogue.TABLES["2-figure-2"]
    found = curves(table)
    made = pictures.panel(found, palette, x="epsilon", y="wrong", log=False, methods=False)
    assert {t.line.dash for t in made.figure.data} == {"dash", "solid"}
    assert {t.name for t in made.figure.data} == set(found["line"])
    level = next(t for t in made.figure.data if t.name == "guessing")
    assert len(set(level.y)) == 1  # an answer without a level is drawn across
    one = next(t for t in made.figure.data if t.name == "DP-RP" and t.line.dash == "dash")
    stored = found[(found["line"] == "DP-RP") & (found["variant"] == "as published")].sort_values("x")
    np.testing.assert_allclose(one.y, stored["value"])
    np.testing.assert_allclose(one.error_y.array, stored["se"])


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_chart_puts_equal_numbers_on_the_diagonal(palette):
    found = base.beside(catalogue.TABLES["2-table-2"]).head(4).copy()
    found["ours"] = found["value"] * np.array([1, 1, 2, 100])
    found = base.again(found)
    picture = scatter(found, list("abcd"), palette)
    shown = {trace.name: len(trace.x) for trace in picture.figure.data if trace.name}
    assert shown == {"within error": 2, "same order": 1, "different": 1}
    assert "2 within error, 1 same order, 1 different" in picture.alt
