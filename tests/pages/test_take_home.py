"""Take home: on every page that computes, a report with its parts in order, and a notebook with the page's numbers."""

import json
import re

import pytest
from pages.shell import show
from tests.pages.test_sharing import GRAPH, SPECTRA, TRADE_OFFS, open_page

ESTIMATE, AUDIT, PUBLISHED = "pages/1_Estimate.py", "pages/9_Privacy_audit.py", "pages/8_Published_results.py"
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
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_takes_home_a_report_in_order_and_a_notebook_that_runs(name, files, capsys):
    file, query, stem = PAGES[name]
    at = open_page(file, **query)
    for _ in range(3):
        if f"download-{stem}notebook" not in files:
            at.run()
    assert not at.exception
    html = files[f"download-{stem}report"]()
    places = [html.index(part) for part in ORDER]
    assert places == sorted(places)
    assert html[places[2] : places[-2]].count("<svg") == 1
    assert re.search(r"suspicion.*can (rise to at most|become)", html)
    for fact in ("n =" if name != "map" else "n from", "uarantee", "Rows", "Seed"):
        assert fact in html[places[5] : places[6]]
    scope = run(files[f"download-{stem}notebook"]())
    assert scope["found"]
    for one in scope["found"]:
        assert f"{one}: " in capsys.readouterr().out or len(scope["found"]) > 1
