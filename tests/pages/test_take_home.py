"""Take home: on every page that computes, a report with its parts in order and a script that has the page's numbers."""

import re
from html import escape, unescape

import numpy as np
import pytest

import privcov
from pages.common import show
from privcov.bundle import report
from tests.pages.test_pages import open_page

ESTIMATE = "pages/1_Estimate.py"
SMALL = {"data.n": "200", "data.d": "3", "rho": "0.5"}
NAMED = ("risk", "assumptions", "date", "tables")
ORDER = ("<h1>", 'id="answer"', 'id="recommendation"', "<svg", *(f'id="{name}"' for name in NAMED))


@pytest.fixture
def files(monkeypatch):
    """What each download of a page would hold, by its key."""
    made = {}
    monkeypatch.setattr(show, "download", lambda label, make, file_name, key, mime="": made.update({key: make}))
    return made


def run(html: str) -> dict:
    """Run the script of a report, which computes what the page shows; return its variables."""
    (script,) = re.findall(r"<pre[^>]*>(.*?)</pre>", html, re.S)
    scope: dict = {}
    exec(unescape(re.sub(r"<[^>]+>", "", script)), scope)
    return scope


def in_order(html: str) -> None:
    """The parts of a report stand in their order, with one figure before the tables."""
    places = [html.index(part) for part in ORDER]
    assert places == sorted(places)
    front = html[places[0] : places[-1]]
    assert front.count("<svg") == 1
    assert re.search(r"suspicion.*can (rise to at most|become certainty)", front)
    for fact in ("Rows and columns", "Bounds", "Guarantee", "Rows<", "Seed"):
        assert fact in front[front.index('id="assumptions"') :]
    assert re.search(r'id="date">\d{4}-\d{2}-\d{2}<', front)


def test_estimate_takes_home_a_report_in_order_with_a_script_that_runs(files):
    at = open_page(ESTIMATE, **SMALL, more="take-home")
    assert not at.exception
    html = files["download-report"]()
    in_order(html)
    said = f"{100 * run(html)['relative_error']:.1f}"
    assert escape(said) in html[html.index('id="answer"') :], said


# --- the same numbers as the page -----------------------------------------------------------------------------------


# --- hostile names ---------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}\u202e\"'` # **x**"


def test_a_hostile_name_is_text_in_a_report():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    bounds = [(-4.0, 4.0), (-4.0, 4.0)]
    data = privcov.Dataset.from_rows(rows, columns=[HOSTILE, "b"], name=HOSTILE, bounds=bounds)
    rel = privcov.release(data, privcov.ZCDP(1.0), "gaussian-cov", random_state=1)
    html = report.report_on_release(rel, data, title=HOSTILE, script=f"# {HOSTILE}", address=f"/Estimate?{HOSTILE}")
    first = html[html.index("<body>") :]
    assert "<script" not in first
    assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\}|\b49\b", first)
    assert first.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 5  # title, bounds, rows, script, address
