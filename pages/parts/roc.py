"""ROC curves of the study: its own guarantee, a tenth of it, and no privacy; kept in the session."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

import privcov
from pages.parts.study import Study
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.metrics.graphs import roc_points
from privcov.parameters import build
from privcov.privacy import NoPrivacy

REPLICATES = 5
UNASKED = 25  # columns


def section(study: Study, dataset: Dataset, default_source: str) -> list[tuple[str, list[np.ndarray]]]:
    """The curves when they have been drawn; otherwise a button to draw them."""
    weaker = getattr(study, study.lever)
    stronger = float(f"{weaker / 10:.3g}")
    levels = [
        (f"{study.lever} = {weaker:g}", study.guarantee),
        (f"{study.lever} = {stronger:g}", dataclasses.replace(study, **{study.lever: stronger}).guarantee),
        ("No privacy", NoPrivacy()),
    ]
    key = (study.without_method(), default_source)
    kept = st.session_state.setdefault("roc", {})
    if key not in kept:
        # Small graphs take about a second: draw them unasked. Larger ones wait for a click.
        if dataset.d > UNASKED:
            st.caption(f"Three curves ({', '.join(name for name, _ in levels)}), {REPLICATES} replicates each.")
            if not st.button("Draw the ROC curves", type="primary"):
                return []
        kept[key] = _curves(study, dataset, levels, default_source)
        while len(kept) > 8:
            kept.pop(next(iter(kept)))
    return kept[key]


def _curves(study: Study, dataset: Dataset, levels: list, default_source: str) -> list:
    key = study.source_key(default_source)
    source = build(SOURCES.get(key).cls, f"Source {key!r}", dict(study.data))
    bar = st.progress(0.0, "Running ...")
    found: dict[str, list] = {name: [] for name, _ in levels}
    for repeat in range(REPLICATES):
        rows = make_dataset(source, seed=study.rows, row_bound=dataset.row_bound, repeat=repeat)
        for step, (name, guarantee) in enumerate(levels):
            rel = privcov.release("glasso-gaussian", rows, guarantee, seed=study.seed + repeat)
            points = roc_points(rel, rows.truth.precision)
            found[name].append(np.array([(fpr, tpr) for _, fpr, tpr in points]))
            bar.progress(
                (repeat * len(levels) + step + 1) / (REPLICATES * len(levels)), f"Replicate {repeat + 1}: {name}"
            )
    bar.empty()
    return [(name, found[name]) for name, _ in levels]
