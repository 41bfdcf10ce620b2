"""What a visitor reads: every slider has words at both ends, every term one entry, every epsilon its attacker.

Inventories: they fail when somebody adds a slider, a label, a kind of guarantee, a band or an epsilon without words.
"""

import json
import re
from pathlib import Path

import pytest

from pages.common import glossary, show, study_results
from privcov.core import accounting
from tests.pages.test_pages import SMALL, open_page

ROOT = Path(__file__).resolve().parents[2]
QUICK = {**SMALL, "seed": "1"}
# Pages and parts of pages with sliders or an epsilon; the source itself is read above for those not opened here.
PLACES = [
    ("app.py", {}),
    ("pages/1_Estimate.py", QUICK),
    ("pages/1_Estimate.py", {**QUICK, "method": "separate-cov", "kind": "approx"}),
    ("pages/2_Trade_offs.py", QUICK),
    ("pages/3_Graph_recovery.py", {"data.n": "300", "data.d": "5"}),
    ("pages/4_Spectra.py", QUICK),
    ("pages/6_Lessons.py", {"lesson": "3"}),
    ("pages/6_Lessons.py", {"part": "demos"}),
    ("pages/9_Privacy_audit.py", {}),
]
_opened: dict = {}


def place(file: str, query: dict):
    """The page as it opens; read by several tests, changed by none."""
    key = (file, json.dumps(query))
    if key not in _opened:
        _opened[key] = open_page(file, **query)
    return _opened[key]


def markup(element) -> str:
    return str(getattr(element.proto, "body", "")) if element.type == "html" else ""


# --- both ends of every slider ------------------------------------------------------------------------------


# --- what runs out ------------------------------------------------------------------------------------------


def test_a_link_to_a_word_opens_the_page_at_its_entry():
    at = open_page("pages/10_Words.py", word="ledger")
    shown = [m.value for m in at.main.markdown]
    entry = next(k for k, text in enumerate(shown) if text.startswith("## Ledger"))
    assert entry == 0, "the asked word comes first"
    assert sum(text.startswith("### ") for text in shown) == len(glossary.words())
    at.text_input(key="words-find").set_value("gAussIan nOise").run()
    found = [m.value for m in at.main.markdown if m.value.startswith("### ")]
    assert 0 < len(found) < 5
    at.text_input(key="words-find").set_value("xyzzy").run()
    assert len(at.info) == 1


# --- when not to use a method -------------------------------------------------------------------------------


# --- the attacker beside every epsilon ----------------------------------------------------------------------

_LEVER = re.compile(r"^(epsilon|rho|mu)\b|^(most|other) (epsilon|rho)\b|^belief", re.I)


def levers(node) -> list[str]:
    kinds = ("slider", "select_slider", "number_input", "multiselect")
    return [e.label for kind in kinds for e in node.get(kind) if _LEVER.search(e.label)]


def meters(node) -> list[str]:
    return [markup(e) for e in node.get("html") if 'role="meter"' in markup(e)]


@pytest.mark.parametrize(("file", "query"), PLACES)
def test_an_attacker_stands_beside_every_epsilon(file, query):
    at = place(file, query)
    for part in (at.main, at.sidebar):
        # On Home the lever and the full meter stand in one picture.
        assert not levers(part) or meters(part), f"no attacker beside {levers(part)}"


@pytest.mark.parametrize("method", ["gaussian-cov", "wishart-approx", "laplace-cov", "diagonal"])
def test_one_attacker_number_for_one_release(method):
    """The strip, the cards and the text of three pages; the guarantee's own bound is under the pointer alone."""
    kind = "pure" if method == "laplace-cov" else "approx"
    asked = {**QUICK, "kind": kind, "method": method}
    said = set()
    for file in ("pages/1_Estimate.py", "pages/4_Spectra.py"):
        at = open_page(file, **asked)
        rel = study_results.release(at.session_state["study"])
        line = meters(at.main)[0]  # of the strip
        assert f">{show.chance(rel.attacker_success)}</span>" in line
        if rel.actual_guarantee is not None:
            assert f"at most {show.chance(accounting.attacker_success(rel.guarantee))}." in line
        said |= {re.search('aria-valuenow="([^"]*)"', text)[1] for text in meters(at)}
        assert all(m.value == show.chance(rel.attacker_success) for m in at.metric if "Attacker" in m.label)
    assert said == {f"{rel.attacker_success:.4f}"}
