"""Edge, no edge or undecided at one lambda: what the known noise leaves open, without knowing the graph."""

from __future__ import annotations

import streamlit as st

from pages.parts import cached, graph_set
from pages.parts.study import Study
from privcov._release import Release
from privcov.metrics.graphs import decided_edges
from privcov.postprocess.edges import EdgeStates
from privcov.privacy import NoPrivacy

MOST = 60  # columns; more would make the slider wait
COPIES = 60
_KEEP = 60


def at(study: Study, rel: Release, position: int) -> tuple[EdgeStates | None, str]:
    """(states or None, one sentence on how they were found or why there are none)."""
    if isinstance(rel.guarantee, NoPrivacy) or rel.raw is None or not rel.raw.law.scale:
        return None, "There is no noise here that could leave an edge undecided."
    if rel.parameters["calibration"] != "sound":
        return None, "Which edges are undecided is computed for the sound calibration only."
    if len(rel.columns) > MOST:
        return None, (
            f"With more than {MOST} columns the three states edge, no edge and undecided are left out here, because "
            "they take many solves at each lambda."
        )
    told = (
        f"{COPIES} further draws of the known noise are added to the released matrix and solved at the same lambda: a "
        "pair that 95 % of them link is an edge, one that 95 % leave apart is none, the rest is undecided. It covers "
        "the privacy noise, not the sampling of the rows, and each pair by itself. Free: only the release is read."
    )
    if cached.in_session(study, graph_set.SOURCE):  # what came from a file is not kept
        return decided_edges(rel, position, COPIES), told
    kept = st.session_state.setdefault("graph.states", {})
    if (study, position) not in kept:
        kept[study, position] = decided_edges(rel, position, COPIES)
        while len(kept) > _KEEP:
            kept.pop(next(iter(kept)))
    found = kept[study, position]
    if found.copies < COPIES:
        told += f" {COPIES - found.copies} of the {COPIES} draws had no answer at this lambda and count against both."
    return found, told
