"""Running a sweep for the current study, with progress, and keeping its table in the session."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.study import CSV, Study
from privcov.dataset import Dataset
from privcov.experiments.plan import Plan, run_on
from privcov.experiments.plan import run as run_plan
from privcov.metrics.errors import answers_to_beat
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP

LEVELS = {"rho": np.geomspace(1e-5, 10, 13), "epsilon": np.geomspace(0.02, 20, 13)}


@dataclass(frozen=True)
class Setting:
    """What the form asks for."""

    methods: tuple[str, ...]
    norm: str
    replicates: int


@dataclass(frozen=True, eq=False)
class Sweep:
    """The tidy table and the horizontal reference lines (name, level)."""

    table: pd.DataFrame
    references: list[tuple[str, float]]


def against(dataset: Dataset) -> str:
    return "truth" if dataset.truth is not None else "sample"


def runs(setting: Setting) -> int:
    return len(setting.methods) * setting.replicates * 13


def worth_drawing_unasked(dataset: Dataset, setting: Setting) -> bool:
    """The first visit shows a picture when it takes seconds; later changes wait for the button."""
    cells = dataset.n * dataset.d * setting.replicates
    return "sweeps" not in st.session_state and bool(setting.methods) and cells <= 30_000_000 and dataset.d <= 50


def _guarantee(study: Study, level: float) -> Guarantee:
    level = float(f"{level:.3g}")
    if study.kind == "zcdp":
        return ZCDP(level)
    return PureDP(level) if study.kind == "pure" else ApproxDP(level, study.delta)


def _key(study: Study, setting: Setting) -> tuple:
    """A sweep does not depend on where the lever stands, nor on the study's own method."""
    same = dataclasses.replace(study, rho=1.0, epsilon=1.0, method="", options=())
    return same, setting


def result(study: Study, setting: Setting) -> Sweep | None:
    return st.session_state.get("sweeps", {}).get(_key(study, setting))


def run(study: Study, dataset: Dataset, setting: Setting) -> None:
    """Run and keep. Raises ValueError when there is nothing to run."""
    if not setting.methods:
        raise ValueError("Choose at least one method to draw.")
    target = against(dataset)
    guarantees = [_guarantee(study, level) for level in LEVELS[study.lever]]
    metric = f"relative-{setting.norm}-to-{target}"
    bar = st.progress(0.0, "Running ...")

    def tell(done: int, total: int, rows: list) -> None:
        if done % 20 == 0 or done == total:
            bar.progress(done / total, f"Run {done:,} of {total:,}")

    if dataset.provenance == "simulated" and study.source != CSV:
        plan = Plan(
            source=study.source_key(),
            source_params=dict(study.data),
            methods=list(setting.methods),
            guarantees=guarantees,
            metrics=[metric],
            replicates=setting.replicates,
            seed=study.rows,
            row_bound=dataset.row_bound,
        )
        table = run_plan(plan, tell)
    else:
        table = run_on(
            dataset,
            list(setting.methods),
            guarantees,
            [metric],
            replicates=setting.replicates,
            seed=study.seed,
            progress=tell,
        )
    bar.empty()
    kept = st.session_state.setdefault("sweeps", {})
    goal = str(table["target"].iloc[0])
    # A logarithmic axis has no place for an error of zero.
    lines = [(name, level) for name, level in answers_to_beat(dataset, goal, setting.norm) if level > 0]
    kept[_key(study, setting)] = Sweep(table, lines)
    while len(kept) > 8:
        kept.pop(next(iter(kept)))
