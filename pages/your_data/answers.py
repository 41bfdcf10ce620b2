"""Step 4: everything that follows from a stored release. No row is touched, so every view is free."""

from __future__ import annotations

import json

import streamlit as st

from pages.shell import frame, show
from pages.your_data import models, take_home, views
from pages.your_data.state import keep, open_ledger, own
from privcov.bundle.opened import Opened, open_answer
from privcov.ledger import Entry, Ledger
from privcov.measurements.exposed import REMEDY
from privcov.privacy import from_dict

VIEWS = {
    "matrices": "Matrices",
    "pairs": "Correlations",
    "spectrum": "Spectrum and PCA",
    "graph": "Graph",
    "regression": "Regression",
    "classes": "Classes",
    "synthetic": "Synthetic table",
    "home": "Take home",
}

_DRAWN = {
    "matrices": views.matrices,
    "pairs": views.pairs,
    "spectrum": views.spectrum,
    "graph": views.graph,
    "regression": models.regression,
    "classes": models.classes,
    "synthetic": models.synthetic,
}


def section() -> None:
    """Answers: an old release of the ledger or the new one, and everything that follows from it."""
    mine, ledger = own(), open_ledger()
    stored = [e for e in ledger.entries() if e.state == "stored"]
    if not stored:
        st.info("There is no release in the ledger yet. An old release opens here without its file.")
        return
    entry = _pick(stored)
    opened = _open(ledger, entry)
    facts = opened.total.facts
    rows = f"{facts.n:,} rows" if facts.n is not None else f"about {opened.measured.rows:,.0f} rows (a noisy count)"
    given = "guarantee not established" if opened.release.exposed else opened.release.given
    show.tag("Released", f"{entry.name}: {rows}, {facts.d} columns, {given}")
    if opened.release.exposed:
        st.error(show.as_text(f"Guarantee: {opened.release.statement['Guarantee']}. {REMEDY}"))
    st.caption(
        "All of this is made from one noisy measurement. Looking at it, in any way and as often as you like, is free."
    )
    offered = [v for v in VIEWS if v != "classes" or len(facts.classes) > 1]
    if mine.kept.get("answer") not in (None, *offered):
        mine.kept["answer"] = offered[0]
        st.session_state.pop(f"own-answer-{mine.file_id}-{mine.turn}", None)
    view = st.segmented_control(
        "View",
        offered,
        required=True,
        format_func=VIEWS.get,
        label_visibility="collapsed",
        **keep("answer", "matrices", told="default"),
    )
    with show.problems():
        if view == "home":
            take_home.section(opened, entry, _declaration(entry))
        else:
            _DRAWN[view](opened, frame.palette())


def _pick(stored: list[Entry]) -> Entry:
    """The release to look at: the one just made, or the newest."""
    by_token = {e.token: e for e in stored[::-1]}
    labels = {
        token: f"{e.number}: {e.name}, {from_dict(e.request['guarantee'])}, {e.reserved_at[:16].replace('T', ' ')} UTC"
        for token, e in by_token.items()
    }
    first = own().released if own().released in by_token else next(iter(by_token))
    key = f"own-stored-{own().released}"
    if st.session_state.get(key) not in by_token:
        st.session_state[key] = first
    return by_token[st.selectbox("Release", list(by_token), format_func=labels.get, key=key)]


def _open(ledger: Ledger, entry: Entry) -> Opened:
    kept = st.session_state.get("own-opened")
    if kept is None or kept[0] != entry.token:
        kept = (entry.token, open_answer(ledger.answer(entry.token)))
        st.session_state["own-opened"] = kept
        st.session_state.pop("own-kept", None)  # simulated around another release
    return kept[1]


def _declaration(entry: Entry) -> dict | None:
    """The declaration of this session, where it is that of the release."""
    declared = own().declared
    if declared is None or declared.name != entry.name:
        return None
    same = [c.name for c in declared.columns] == entry.request["facts"]["columns"]
    return json.loads(declared.to_json()) if same else None
