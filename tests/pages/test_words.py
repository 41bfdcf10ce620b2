"""What a visitor reads: every slider has words at both ends, every term one entry, every epsilon its attacker.

Inventories: they fail when somebody adds a slider, a label, a kind of guarantee, a band or an epsilon without words.
"""

import ast
import json
import re
from pathlib import Path

import pytest

from pages.common import cached, frame, glossary, show
from pages.common.address import word
from pages.graphs import settings
from privcov.core import accounting
from privcov.core.guarantees import KINDS, RELATIONS
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from tests.pages.test_pages import SMALL, open_page

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
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


def blocks(node):
    """Every list of neighbours on the page."""
    children = list(getattr(node, "children", {}).values())
    yield children
    for child in children:
        yield from blocks(child)


def markup(element) -> str:
    return str(getattr(element.proto, "body", "")) if element.type == "html" else ""


# --- both ends of every slider ------------------------------------------------------------------------------


@pytest.mark.parametrize("card", [*SOURCES.all(), *METHODS.all()], ids=lambda c: c.key)
def test_every_parameter_that_slides_has_words_for_both_ends(card):
    for spec in card.parameters:
        assert not spec.slides or all(spec.ends), f"{spec.name} of {card.key} is a slider: give it ends=(low, high)"


# Where one `ends` serves two calls: a slider of a field is either linear or logarithmic; the shared slider's caller
# writes the words; a lesson's words are two buttons that move its control.
SHARED = {
    ("common/fields.py", "of_parameter"): 1,
    ("common/strip.py", "_study_slider"): 1,
    ("lessons/view.py", "_control"): 1,
}


@pytest.mark.parametrize(("file", "query"), PLACES)
def test_every_slider_on_the_page_is_followed_by_its_words(file, query):
    at = place(file, query)
    seen = 0
    for root in (at.main, at.sidebar):
        for beside in blocks(root):
            for element, after in zip(beside, [*beside, None][1:], strict=True):
                if getattr(element, "type", "") in ("slider", "select_slider"):
                    seen += 1
                    words = re.findall(r"<span>(.*?)</span>", markup(after)) if after is not None else []
                    words += [b.label for b in getattr(after, "button", [])]
                    assert [bool(w) for w in words] == [True, True], f"{element.label} has no words at its ends"
    assert seen == len(at.slider) + len(at.select_slider)


# --- what runs out ------------------------------------------------------------------------------------------


def test_the_interval_of_a_release_is_named_in_the_picture():
    import numpy as np

    from privcov.plots.intervals import intervals
    from privcov.plots.palette import LIGHT

    one = np.array([0.2, -0.1])
    made = intervals(
        ["a", "b"], one, one - 0.1, one + 0.1, LIGHT, clear=np.array([True, False]), x_title="x", what="Pairs"
    )
    names = [t.name.replace("\u00a0", " ") for t in made.figure.data]
    assert names == ["Total interval, 95 %", "Total interval, 95 %, may be zero", "Released"]
    assert "with total intervals" in made.alt


def test_the_glossary_is_complete_and_each_entry_is_whole():
    words = glossary.words()
    labels = {entry.label for _, entries in frame.MENU for entry in entries}
    for key, entry in words.items():
        assert re.fullmatch(r"[a-z-]+", key)
        assert re.fullmatch(r"([^.]|\.\d)+\.", entry.means), f"{key}: the meaning is one sentence"
        assert entry.is_not.startswith(("Not", "A ", "An ", "As ", "Rho", "Lambda", "Local", "Cross")), key
        assert entry.page in labels
    assert len({w.term for w in words.values()}) == len(words)


def test_every_kind_relation_and_label_has_an_entry():
    words = glossary.words().values()
    for name in [t.name for t in KINDS.values() if t.kind != "none"] + list(RELATIONS):
        assert any(name.lower() in " ".join((w.term, *w.also)).lower() for w in words), f"{name} has no entry"
    labels = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "show.tag"
                and isinstance(node.args[0], ast.Constant)
            ):
                labels.add(node.args[0].value)
    assert {"Simulated", "Released", "Owner's view"} <= labels
    for label in labels:
        assert any(w.term == f"The label {label}" for w in words), f"the label {label!r} has no entry"


@pytest.mark.parametrize(("file", "query"), PLACES[:2])
def test_words_is_in_the_menu_of_every_page(file, query):
    found = [link for link in place(file, query).sidebar.get("page_link") if link.proto.label == "Words"]
    assert ["word=" in link.proto.query_string for link in found] == [False]


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


def test_a_strange_word_opens_the_list():
    at = open_page("pages/10_Words.py", word="<script>")
    assert not at.error
    assert not any(m.value.startswith("## ") for m in at.main.markdown)
    assert any(m.value.startswith("### ") for m in at.main.markdown)


# --- when not to use a method -------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "method"), [("pages/1_Estimate.py", "separate-cov"), ("pages/4_Spectra.py", "sulq")])
def test_the_chosen_method_says_when_not_to_use_it(file, method):
    at = open_page(file, **QUICK, method=method, kind="approx")
    assert any(METHODS.get(method).avoid in c.value for c in at.main.caption)


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
        rel = cached.release(at.session_state["study"])
        line = meters(at.main)[0]  # of the strip
        assert f">{show.chance(rel.attacker_success)}</span>" in line
        if rel.given is not None:
            assert f"at most {show.chance(accounting.attacker_success(rel.guarantee))}." in line
        said |= {re.search('aria-valuenow="([^"]*)"', text)[1] for text in meters(at)}
        assert all(m.value == show.chance(rel.attacker_success) for m in at.metric if "Attacker" in m.label)
    assert said == {f"{rel.attacker_success:.4f}"}


def test_a_graph_s_attacker_is_that_of_its_release():
    at = open_page("pages/3_Graph_recovery.py", **{"data.n": "300", "data.d": "5", "kind": "approx"})
    rel = cached.release(settings.effective(at.session_state["study"]), default_source=settings.SOURCE)
    line = meters(at.main)[0]  # of the strip
    assert f'aria-valuenow="{rel.attacker_success:.4f}"' in line


@pytest.mark.parametrize("tab", ["Claims", "What an attacker learns"])
def test_every_part_of_the_audit_shows_what_the_claim_leaves(tab):
    at = open_page("pages/9_Privacy_audit.py", tab=word(tab))
    assert levers(at.main)
    assert meters(at.main)
