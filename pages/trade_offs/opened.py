"""A saved study on Trade-offs that neither the form nor a published figure can make: shown as it is."""

from __future__ import annotations

import streamlit as st

from pages.shell import address, frame, saved, show
from pages.trade_offs import sweep
from privcov.sweeps import studies
from privcov.sweeps.answer import metric_name
from privcov.sweeps.plan import Plan

KEEPS = ("plan", "plan.part", "plan.metric")


def plans() -> tuple[Plan, ...]:
    """The study in the address, or ()."""
    text = frame.own("plan")
    if not text:
        return ()
    try:
        found = studies.expand(text)
        for plan in found:
            saved.sweep_of(plan)
    except ValueError as problem:
        frame.leave_out("plan", str(problem))
        return ()
    return found


def form(found: tuple[Plan, ...]) -> tuple[sweep.Sweep, str]:
    """Header and what of the study is shown. Returns its sweep and the metric."""
    left, right = st.columns([4, 1.6], vertical_alignment="center")
    left.header("Saved study")
    right.button("Back to my own set-up", on_click=_leave, width="stretch", key="leave-saved")
    with st.container(border=True):
        first, second = st.columns([1, 2], vertical_alignment="bottom")
        parts = [f"{i} of {len(found)}" for i in range(1, len(found) + 1)]
        part = parts[0]
        if len(parts) > 1:
            part = address.bound(first.selectbox, "Plan", parts, name="plan.part", default=parts[0])
        plan = found[parts.index(part)]
        shown = plan.metrics[:1] if plan.sizes is not None else plan.metrics  # guessing is a line in the picture
        metric = address.bound(
            second.selectbox, "Error", shown, name="plan.metric", default=shown[0], format_func=metric_name
        )
        fixed = ", ".join(f"{k} = {v}" for k, v in plan.source_params.items())
        varied = ", ".join(plan.vary) or "the guarantee"
        st.caption(
            show.as_text(
                f"Data: {plan.source}{', ' + fixed if fixed else ''}; {plan.replicates} replicates; varies {varied}. "
                "The sidebar does not apply here."
            )
        )
    return saved.sweep_of(plan), metric


def _leave() -> None:
    frame.put(**dict.fromkeys(KEEPS, ""))
