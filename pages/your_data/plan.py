"""Step 2: what the release is going to look like. From the declaration and a simulated twin; no row is read."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.shell import advice, attacker, frame, show
from pages.shell.glossary import term
from pages.shell.sliders import ends
from pages.your_data import paper
from pages.your_data.noise import IMPLIED_DELTA, best_shape, facts_of, in_words, line, text_table
from pages.your_data.state import keep, next_step, own
from privcov import accounting
from privcov.data_sources.private_file import Declaration
from privcov.figures.look import plain
from privcov.figures.own import chances
from privcov.owner.preview import STRUCTURES, Preview, Twin, planned_law, preview
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP
from privcov.private_dataset import Facts

KINDS = {"zcdp": "zCDP", "approx": "(epsilon, delta)", "pure": "pure epsilon"}
START = {"zcdp": (0.02, 0.1, 0.5), "approx": (0.5, 1.0, 3.0), "pure": (0.5, 1.0, 3.0)}
_STRENGTHS = np.linspace(0.0, 1.0, 51)


def section() -> None:
    """Plan: what each guarantee means and costs, from the declaration alone."""
    mine = own()
    if mine.declared is None:
        st.info("First declare the table: the plan is computed from the declaration.")
        return
    show.tag("Simulated", "from the declaration and an invented table; no row of yours is read")
    controls, results = st.columns([2, 5], gap="large")
    with controls:
        twin_of = _twin_controls(mine.declared)
        guarantees = _candidates()
    with results, show.problems():
        facts = facts_of(mine.declared, twin_of["rows"])
        twin = _twin(facts, twin_of)
        plans = [_preview(twin, facts, g) for g in guarantees]
        picked = _table(plans, facts)
        mine.chosen = guarantees[picked]
        advice.for_owner(facts, guarantees[picked], twin_of["rows"], twin_of["spread"])
        _curves(plans)
        paper.which_level(twin, facts, guarantees[picked])
        paper.explain(mine.declared, facts, plans[picked])
        paper.record(mine.declared, facts, plans, picked)
        next_step("Go on to Release", "release")


# --- what is asked ------------------------------------------------------------------------------------------


def _twin_controls(declared: Declaration) -> dict:
    st.markdown("**The invented table**")
    rows = st.number_input(
        "About how many rows",
        min_value=2,
        max_value=4_000_000,
        step=1000,
        help="Your own knowledge. The file is not asked.",
        **keep("rows", 1000),
    )
    structure = st.selectbox(
        "What moves together",
        list(STRUCTURES),
        format_func=STRUCTURES.get,
        **keep("twin", "factor", among=list(STRUCTURES)),
    )
    strength = st.slider(
        "Correlation within it", 0.0, 0.95, step=0.05, disabled=structure == "independent", **keep("strength", 0.5)
    )
    ends("unrelated", "nearly the same")
    spread = st.slider(
        "Usual deviation, as a share of the half-range",
        0.05,
        0.6,
        step=0.05,
        help="How much of its declared range a column usually uses. Bounds that are too wide make this small, and the "
        "noise large beside it.",
        **keep("spread", 0.3),
    )
    ends("bounds far too wide", "bounds nearly too tight")
    return {"rows": int(rows), "structure": structure, "strength": strength, "spread": spread}


def _candidates() -> list[Guarantee]:
    st.markdown("**Three candidates**")
    kind = st.selectbox(
        "Kind of guarantee", list(KINDS), format_func=KINDS.get, **keep("kind", "zcdp", among=list(KINDS))
    )
    lever = "rho" if kind == "zcdp" else "epsilon"
    delta = 1e-6
    if kind == "approx":
        power = st.slider("delta = 10 to the power", -12, -3, **keep("delta", -6))
        ends("stronger privacy", "more accuracy")
        delta = 10.0**power
        if delta > 0.1 / max(int(own().kept.get("rows", 1000)), 1):
            st.caption("A delta near 1/n or above would allow publishing somebody's row outright: take a smaller one.")
    made: list[Guarantee] = []
    for k, (column, start) in enumerate(zip(st.columns(3), START[kind], strict=True)):
        level = column.number_input(
            f"{lever} {k + 1}", min_value=1e-4, max_value=100.0, format="%g", **keep(f"level-{kind}-{k}", start)
        )
        made.append(ZCDP(level) if kind == "zcdp" else PureDP(level) if kind == "pure" else ApproxDP(level, delta))
    for k, guarantee in enumerate(made):
        attacker.line(guarantee, f"Attacker, {lever} {k + 1}")
    st.caption("Smaller numbers protect people more and blur the answer more.")
    if kind == "zcdp":
        same = ", ".join(plain(accounting.zcdp_to_approx(g.rho, IMPLIED_DELTA)) for g in made if isinstance(g, ZCDP))
        st.caption(
            f"{term('zcdp', 'zCDP')} is the guarantee that Gaussian noise gives; its rho adds up over releases. These "
            f"three imply {term('epsilon')} = {same} at delta = {plain(IMPLIED_DELTA)}."
        )
    return made


# --- what is answered ---------------------------------------------------------------------------------------


def _twin(facts: Facts, asked: dict) -> Twin:
    return Twin(
        facts.d,
        asked["rows"],
        asked["structure"],
        asked["strength"],
        asked["spread"],
        facts.row_bound,
        len(facts.classes) or 1,
    )


def _preview(twin: Twin, facts: Facts, guarantee: Guarantee) -> Preview:
    """Kept in this session: the declaration is the owner's, so it enters no shared cache."""
    key = (twin, guarantee, facts.rows_per_person, facts.n is None)
    kept = st.session_state.setdefault("own-previews", {})
    if key not in kept:
        while len(kept) >= 60:
            kept.pop(next(iter(kept)))
        kept[key] = preview(
            twin, guarantee, planned_law(facts, guarantee, best_shape(facts, guarantee, twin.n), twin.n)
        )
    return kept[key]


def _table(plans: list[Preview], facts: Facts) -> int:
    st.header("What to expect")
    st.html(text_table([line(p) for p in plans]))
    pick = st.radio(
        "Go on with",
        [0, 1, 2],
        horizontal=True,
        format_func=lambda k: str(plans[k].guarantee),
        **keep("pick", 1, among=[0, 1, 2]),
    )
    plan = plans[pick]
    st.markdown(show.as_text(in_words(plan)))
    said = (
        "Odds: right guesses of that somebody to wrong ones. "
        f"Expected error: of the covariance as a whole, relative, over {plan.replicates} invented tables as set "
        f"at the left; answering with the variances alone would give {show.percent(plan.trivial)}. Visible: kept by "
        "the thresholded answer with a chance of 80 %. Even without any noise a correlation near zero is uncertain by "
        f"{plain(plan.sampling_std)} because of the number of rows."
    )
    if facts.rows_per_person > 1:
        said += f" The guarantee is for all {facts.rows_per_person} rows of a person together."
    st.caption(said)
    if plan.error > plan.trivial and plan.twin.structure != "independent":
        st.warning(
            "At this guarantee the noise hides what moves together: the variances alone would be a better answer. More "
            "rows, fewer columns, tighter bounds or a weaker guarantee help."
        )
    return pick


def _curves(plans: list[Preview]) -> None:
    st.header("Which correlations survive")
    series = [(str(p.guarantee), np.array([p.survives(r) for r in _STRENGTHS])) for p in plans]
    show.picture(chances(_STRENGTHS, series, frame.palette(), x_title="Correlation of a pair"), "own-chances")
