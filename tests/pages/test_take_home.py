"""Take home: on every page that computes, a report with its parts in order, and a notebook with the page's numbers."""

import json
import re
from html import escape

import numpy as np
import pytest

import privcov
from pages.shell import show
from privcov.audit import disclosure
from privcov.bundle import notebook, report
from privcov.figures.words import percent
from tests.pages import test_own_data
from tests.pages.test_sharing import GRAPH, SPECTRA, TRADE_OFFS, open_page

ESTIMATE, AUDIT = "pages/1_Estimate.py", "pages/9_Privacy_audit.py"
SMALL = {"data.n": "200", "data.d": "3", "rho": "0.5"}
NAMED = ("risk", "assumptions", "date", "tables")
ORDER = ("<h1>", 'id="answer"', 'id="recommendation"', "<svg", *(f'id="{name}"' for name in NAMED))


@pytest.fixture
def files(monkeypatch):
    """What each download of a page would hold, by its key."""
    made = {}
    monkeypatch.setattr(show, "download", lambda label, make, file_name, key, mime="": made.update({key: make}))
    return made


def run(text: str) -> dict:
    """Run a notebook cell by cell in one interpreter; its last cell compares the numbers."""
    scope: dict = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), scope)
    return scope


def in_order(html: str, pictures: int = 1) -> None:
    """The parts of a report stand in their order, with one figure before the tables."""
    parts = [part for part in ORDER if pictures or part != "<svg"]
    places = [html.index(part) for part in parts]
    assert places == sorted(places)
    front = html[places[0] : places[-1]]
    assert front.count("<svg") == pictures
    assert re.search(r"suspicion.*can (rise to at most|become certainty)", front)
    for fact in ("Rows and columns", "Bounds", "Guarantee", "Rows<", "Seed"):
        assert fact in front[front.index('id="assumptions"') :]
    assert re.search(r'id="date">\d{4}-\d{2}-\d{2}<', front)


PAGES = {
    "estimate": (ESTIMATE, SMALL | {"more": "take-home"}, ""),
    "spectra": (SPECTRA, SMALL, ""),
    "graph": (GRAPH, {"data.n": "200", "data.d": "4"}, ""),
    "answer": (TRADE_OFFS, SMALL, "answer-"),
    "curves": (TRADE_OFFS, SMALL | {"values": "rho:0.1,1", "replicates": "3", "methods": "auto-cov,gaussian-cov"}, ""),
    "which": (TRADE_OFFS, SMALL | {"tab": "which-epsilon", "which.asked": "yes", "which.replicates": "3",
              "which.target": "40"}, "which-"),
    "map": (TRADE_OFFS, SMALL | {"tab": "who-wins-where", "who.asked": "yes", "who.n": "500,1000", "who.d": "5,6",
            "who.steps": "2", "who.replicates": "2", "who.methods": "gaussian-cov,wishart-cov"}, "map-"),
    "live": (AUDIT, {"live.draws": "2000", "live.asked": "yes"}, "audit-"),
    "claims": (AUDIT, {"tab": "claims"}, "claims-"),
    "learn": (AUDIT, {"tab": "what-an-attacker-learns"}, "learn-"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_takes_home_a_report_in_order_and_a_notebook_that_runs(name, files):
    file, query, stem = PAGES[name]
    at = open_page(file, **query)
    for _ in range(3):  # a job may have ended after the page was drawn
        if f"download-{stem}notebook" not in files:
            at.run()
    assert not at.exception
    in_order(files[f"download-{stem}report"](), pictures=0 if name == "claims" else 1)
    run(files[f"download-{stem}notebook"]())


# --- the same numbers as the page -----------------------------------------------------------------------------------


def test_estimate_and_its_report_show_one_error(files):
    at = open_page(ESTIMATE, **SMALL, more="take-home")
    html = files["download-report"]()
    for label in ("Frobenius error to truth", "Attacker's best chance"):
        assert next(m.value for m in at.metric if m.label == label) in html[: html.index('id="tables"')]


def test_which_epsilon_and_its_report_show_one_sentence(files):
    file, query, _ = PAGES["which"]
    open_page(file, **query)
    html = files["download-which-report"]()
    found = run(files["download-which-notebook"]())["answer"]
    assert escape(str(found)) in html[html.index('id="answer"') : html.index('id="recommendation"')]


def test_a_notebook_fails_where_its_number_is_another():
    text = notebook.of_script("a", "b", "x = 1.5", [notebook.Shown("x", "x", 1.5 * (1 + 3 * notebook.CLOSE))])
    with pytest.raises(AssertionError, match="x"):
        run(text)
    run(notebook.of_script("a", "b", "x = 1.5", [notebook.Shown("x", "x", 1.5 * (1 + notebook.CLOSE / 3))]))
    # Another machine's rounding is below this by far, another result hardly ever.
    with pytest.raises(AssertionError, match="x"):
        run(notebook.of_script("a", "b", "x = 1.5", [notebook.Shown("x", "x", 1.5 * (1 + 1.1e-5))]))


# --- the owner's table ----------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))


def test_a_plan_takes_home_no_name_of_the_file(ledger, files):
    at = test_own_data.declared()
    test_own_data.go(at, "plan")
    html, text = (files[f"download-plan-{kind}"]() for kind in ("report", "notebook"))
    in_order(html)
    plan = run(text)["plan"]
    assert percent(plan.error) in html
    for column in test_own_data.declaration().columns:
        assert not re.search(rf"\b{re.escape(escape(column.name))}\b", html[html.index("<h1>") :] + text)
        assert column.reason not in html + text


def test_a_release_takes_home_what_was_released(ledger, files):
    at = test_own_data.released()
    test_own_data.of_release(at, "segmented_control", "answer").set_value("home").run()
    html, text = (files[f"download-own-{kind}"]() for kind in ("report", "notebook"))
    in_order(html)
    assert ">Released<" in html
    opened = run(text)["opened"]
    assert disclosure.suspicion(opened.release.trade_off) in html
    assert test_own_data.SECRET not in html + text


# --- hostile names, valid notebooks ---------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}\u202e\"'` # **x**"


def test_a_hostile_name_is_text_in_a_report_and_in_a_notebook():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    bounds = [(-4.0, 4.0), (-4.0, 4.0)]
    data = privcov.Dataset.from_rows(rows, columns=[HOSTILE, "b"], name=HOSTILE, bounds=bounds)
    rel = privcov.release("gaussian-cov", data, privcov.ZCDP(1.0), seed=1)
    html = report.of_release(rel, data, title=HOSTILE, script=f"# {HOSTILE}", address=f"/Estimate?{HOSTILE}")
    first = html[html.index("<body>") :]
    assert "<script" not in first
    assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\}|\b49\b", first)
    assert first.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 5  # title, bounds, rows, script, address
    text = notebook.of_script(HOSTILE, HOSTILE, "x = 1\n\ny = 2", [notebook.Shown(HOSTILE, "y", 2)])
    cells = json.loads(text)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "code", "code"]
    assert "<script" not in "".join(cells[0]["source"])
    assert run(text)["found"] == {HOSTILE: 2}


def test_a_notebook_is_valid():
    nbformat = pytest.importorskip("nbformat")
    text = notebook.of_script("a", "b", "for x in [1]:\n    y = x\n\n    z = y\n\nprint(z)", [])
    nbformat.validate(nbformat.reads(text, as_version=nbformat.NO_CONVERT))
    cells = json.loads(text)["cells"]
    assert len(cells) == 3  # an indented paragraph stays with its block
    run(text)
    broken = json.loads(text)
    del broken["cells"][1]["outputs"]
    with pytest.raises(nbformat.ValidationError):
        nbformat.validate(nbformat.from_dict(broken))
