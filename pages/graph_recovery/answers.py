"""Solvable penalties: the interval, a certificate that can be checked by hand, and the repairs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import streamlit as st

from pages.graph_recovery import settings
from pages.shell import frame, show
from pages.shell.study import Study
from privcov.estimators.base import METHODS
from privcov.figures.feasible import falling, lambda_line, objective
from privcov.figures.matrices import colour_limit, heatmap
from privcov.figures.words import plain
from privcov.metrics.graphs import noisy_matrix
from privcov.postprocess.repair import repair_for_lasso
from privcov.releasing.release import Release

_HOW = {"psd": "Raise eigenvalues", "max-norm": "Nearest matrix", "ridge": "Add a ridge"}


def section(study: Study, rel: Release, columns: tuple[str, ...]) -> None:
    """Show the tab for the noisy matrix of the release, before any repair."""
    from privcov.postprocess.feasibility import diagnose  # LAPACK: only when the tab is open

    s = noisy_matrix(rel)
    published = rel.parameters["calibration"] != "sound"
    diagnosis = diagnose(s, penalise_diagonal=published)
    values = np.linalg.eigvalsh(s)
    path = settings.path_of(rel)
    usable = [fit.precision is not None for fit in path]
    repaired = rel.parameters.get("repair", "none") != "none" and not published
    if diagnosis.below <= 0:
        st.markdown(
            f"The noisy matrix is positive definite (smallest eigenvalue {plain(float(values[0]))}), so **every "
            "lambda has exactly one solution**. For one that is not, press *No solution at small lambda* above."
        )
        return
    endless = math.isinf(diagnosis.smallest)
    st.markdown(
        f"**{int((values < 0).sum())} of {len(values)} noisy eigenvalues are negative**, the smallest "
        f"{plain(float(values[0]))}. "
        + (
            "A diagonal entry is not positive: without a repair **no lambda has a solution**."
            if endless
            else f"Without a repair there is no solution up to lambda = **{plain(diagnosis.below)}**, and one "
            f"above **{plain(diagnosis.smallest)}**."
        )
        + (" This release was repaired, so it has a solution everywhere." if repaired else "")
    )
    palette = frame.palette()
    lambdas = [fit.lam for fit in path]
    show.picture(lambda_line(lambdas, usable, diagnosis.below, diagnosis.smallest, palette), "lambda-line")
    _certificate(s, diagnosis, published, columns)
    _repairs(study, rel, s, published)


def _certificate(s: np.ndarray, diagnosis, published: bool, columns: tuple[str, ...]) -> None:
    """Show the certificate D and the objective that falls along it."""
    palette = frame.palette()
    left, right = st.columns(2)
    with left:
        st.markdown("**The certificate D**")
        show.picture(
            heatmap(diagnosis.ray, columns, colour_limit(diagnosis.ray), palette, what="the certificate"), "square-ray"
        )
    with right:
        st.markdown("**The objective along I + t D**")
        if math.isinf(diagnosis.below):
            pair = [(float(np.abs(s).max()), True)]
        else:
            pair = [(diagnosis.below / 2, True)]
            pair += [] if math.isinf(diagnosis.smallest) else [(2 * diagnosis.smallest, False)]
        t, curves = objective(s, diagnosis.ray, [lam for lam, _ in pair], published)
        series = [(f"lambda = {plain(lam)}", values, end) for (lam, end), values in zip(pair, curves, strict=True)]
        show.picture(falling(t, series, palette), "falling")
    size = float(np.abs(diagnosis.ray).sum()) - (0.0 if published else float(np.trace(np.abs(diagnosis.ray))))
    slope = float(np.sum(s * diagnosis.ray))
    sign = (
        f"For this D the sum of S_ij D_ij is {plain(slope)} and the sum of |D_ij|"
        f"{'' if published else ' off the diagonal'} is {plain(size)}"
    )
    st.caption(
        f"D is positive semi-definite. {sign}: up to lambda = {plain(-slope / size) if size else 'any value'} the "
        "objective falls without end along I + t D."
    )


def _repairs(study: Study, rel: Release, s: np.ndarray, published: bool) -> None:
    """Show the repairs of the noisy matrix, with a button for each."""
    st.markdown("**Repairs**, free: they read the noisy matrix only")
    offered = any(spec.name == "repair" for spec in METHODS.get(rel.method).parameters) and not published
    for how, label in _HOW.items():
        try:
            done = repair_for_lasso(s, how)
        except ValueError as problem:  # no variance left: no repair can help
            st.caption(show.as_text(str(problem)))
            return
        left, right = st.columns([2, 3], vertical_alignment="center")
        in_use = rel.parameters.get("repair") == how and offered
        left.button(
            label,
            key=f"repair-{how}",
            on_click=_use,
            args=(study, how),
            disabled=in_use or not offered,
            type="primary" if in_use else "secondary",
            width="stretch",
        )
        right.caption(show.as_text(done.sentence) + (" **In use.**" if in_use else ""))
    if not offered:
        st.caption("This form takes no repair: choose the sound calibration under Advanced.")


def _use(study: Study, how: str) -> None:
    """Choose a repair; for the button."""
    default = next(s.default for s in METHODS.get(study.method).parameters if s.name == "repair")
    kept = {k: v for k, v in study.options if k != "repair"} | ({} if how == default else {"repair": how})
    frame.change(lambda _: dataclasses.replace(study, options=tuple(sorted(kept.items()))))
