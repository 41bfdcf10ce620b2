"""The share of redraws that link each pair at one lambda: what the known noise leaves open of a graph."""

from __future__ import annotations

import streamlit as st

from pages.graph_recovery import settings
from pages.shell import cached
from pages.shell.study import Study
from privcov._release import Release
from privcov.metrics.graphs import decided_edges
from privcov.postprocess.edges import LACKED, EdgeStates
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
            f"With more than {MOST} columns the share of redraws that link a pair is left out here, because it takes "
            "many solves at each lambda."
        )
    told = (
        f"The known noise is drawn {COPIES} times more, added to the released matrix, and solved at the same lambda. "
        "Pairs are marked by the share of these redraws that link them: at least 95 %, at most 5 %, or undecided. "
        f"{LACKED} The redraws cover the privacy noise, not the sampling of the rows. Free: only the release is "
        "read."
    )
    if cached.in_session(study, settings.SOURCE):  # what came from a file is not kept
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
