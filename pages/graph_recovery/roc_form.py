"""Which ROC curves stand beside the study's own: the form, and how it stands in the address."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.graph_recovery import settings
from pages.shell import address, attacker, glossary
from pages.shell.sliders import log_grid
from pages.shell.study import Study
from privcov.estimators.base import METHODS

KEEPS = ("roc.methods", "roc.rho", "roc.epsilon", "roc.replicates")
_RANGES = {"rho": (1e-5, 10.0), "epsilon": (0.01, 20.0)}
_REPLICATES: dict[str, Any] = {
    "name": "roc.replicates",
    "key": "graph.replicates",
    "code": address.number(2, 500, whole=True),
    "default": 20,
}


def form(study: Study) -> None:
    """Which curves stand beside the study's own."""
    kind, own = study.kind, getattr(study, study.lever)
    able, _ = settings.offered(kind)
    left, middle, right = st.columns([5, 4, 3])
    others = [key for key in able if key != study.method]
    beside = address.bound(
        left.multiselect,
        "Other methods",
        others,
        **_methods(study),
        format_func=lambda key: METHODS.get(key).label,
        placeholder="none",
        help="On the same rows, with the calibration each of them has by default.",
    )
    low, high = _RANGES[study.lever]
    address.bound(
        middle.multiselect,
        f"Other {study.lever}",
        log_grid(low, high, *st.session_state[f"graph.levels.{kind}"]),
        **_levels(study),
        format_func=lambda v: f"{v:g}",
        placeholder=f"{float(f'{own / 10:.3g}'):g}",
        help="Left empty: a tenth of the study's own.",
    )
    address.bound(
        right.number_input, "Replicates", 2, 500, **_REPLICATES, help="Fresh noise each, and fresh simulated rows."
    )
    attacker.lines(study, settings.levels(study))
    glossary.when_not(beside, "When not to use them")


def hold(study: Study) -> None:
    """Keep what the form says while another tab is open, and drop what is no longer on offer. Before the form."""
    for told in (_methods(study), _levels(study), _REPLICATES):
        address.settle(told["name"], told["key"], told["code"], told["default"])


def _methods(study: Study) -> dict:
    """How the methods beside the study's own stand in the address; those that cannot give the guarantee are dropped."""
    able, _ = settings.offered(study.kind)
    known = [card.key for card in METHODS.all() if card.target == "precision"]
    code = address.several_of([key for key in able if key != study.method], known)
    return {"name": "roc.methods", "key": f"graph.methods.{study.kind}", "code": code, "default": []}


def _levels(study: Study) -> dict:
    code = address.several_numbers(*_RANGES[study.lever])
    return {"name": f"roc.{study.lever}", "key": f"graph.levels.{study.kind}", "code": code, "default": []}
