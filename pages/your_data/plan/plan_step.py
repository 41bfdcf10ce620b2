"""Step 2: what the release will look like, from the declaration and a simulated table; no row is read."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common import frame, show
from pages.common.fields import ends
from pages.common.glossary import term
from pages.your_data import example_table
from pages.your_data.example_table import facts_key
from pages.your_data.plan import alternatives
from pages.your_data.state import next_step, owner_session, set_value, widget_args
from pages.your_data.wording import IMPLIED_DELTA, attacker, explain_guarantee, facts_of, line, text_table
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP, with_level
from privcov.core.words import percent, plain, to_powers
from privcov.plots import intervals
from privcov.steward.example_rows import ExampleRows
from privcov.steward.preview import Preview, smallest_level
from privcov.tables.public_facts import PublicFacts

KINDS = {"zcdp": "zCDP", "approx": "(epsilon, delta)", "pure": "pure epsilon"}
START = {"zcdp": (0.02, 0.1, 0.5), "approx": (0.5, 1.0, 3.0), "pure": (0.5, 1.0, 3.0)}
HARDLY_PRIVATE = 0.9  # an attacker's chance from which the page warns
_STRENGTHS = np.linspace(0.0, 1.0, 51)


def section() -> None:
    """Show Plan: what each guarantee means and costs, from the declaration alone."""
    session = owner_session()
    if session.declared is None:
        st.info("First declare the table: the plan is computed from the declaration.")
        return
    real = "a public table" if session.public_table else "an invented table"
    show.tag("Simulated", f"from the declaration and {real}; no row of the file is read")
    controls, results = st.columns([2, 5], gap="large")
    with controls:
        invention = example_table.ask(session.declared)
        guarantees, places = _candidates()
    with results, show.problems():
        facts = facts_of(session.declared, invention.n)
        chances = [attacker(facts, g) for g in guarantees]
        for place, guarantee, chance in zip(places, guarantees, chances, strict=True):
            with place:
                show.attacker_line(chance, frame.palette(), f"{show.ATTACKER}, {guarantee}")
        simulated = example_table.table(session.declared, facts, invention)
        plans = [example_table.previewed(simulated, facts, g) for g in guarantees]
        picked = _table(plans, chances, facts, apart=invention.structure == "independent")
        session.guarantee = guarantees[picked]
        alternatives.unlike(plans[picked], facts, invention)
        alternatives.draws(plans, facts.columns)
        _curves(plans)
        _which_level(simulated, facts, guarantees[picked], picked)
        alternatives.recommended(simulated, facts, guarantees[picked])
        next_step("Go on to Release", "release")


# --- what is asked ------------------------------------------------------------------------------------------


def _candidates() -> tuple[list[Guarantee], list[DeltaGenerator]]:
    """Show the three candidates; return their guarantees, and for each the place of the attacker's chance."""
    st.markdown("**Three candidates**")
    kind = st.selectbox(
        "Kind of guarantee",
        list(KINDS),
        format_func=KINDS.__getitem__,
        **widget_args("kind", "zcdp", among=list(KINDS)),
    )
    level_name = "rho" if kind == "zcdp" else "epsilon"
    delta = 1e-6
    if kind == "approx":
        power = st.slider("delta = 10 to the power", -12, -3, **widget_args("delta", -6))
        ends("stronger privacy", "more accuracy")
        delta = 10.0**power
        if delta > 0.1 / max(int(owner_session().widget_values.get("rows", 1000)), 1):
            st.caption("A delta near 1/n would allow publishing somebody's row outright: take a smaller one.")
    guarantees: list[Guarantee] = []
    for k, (column, start) in enumerate(zip(st.columns(3), START[kind], strict=True)):
        level = column.number_input(
            f"{level_name} {k + 1}",
            min_value=1e-4,
            max_value=100.0,
            format="%g",
            **widget_args(f"level-{kind}-{k}", start),
        )
        guarantees.append(
            ZCDP(level) if kind == "zcdp" else PureDP(level) if kind == "pure" else ApproxDP(level, delta)
        )
    places = [st.container() for _ in guarantees]
    st.caption("Smaller numbers protect more and blur more.")
    return guarantees, places


# --- what is answered ---------------------------------------------------------------------------------------


def _table(plans: list[Preview], chances: list[float], facts: PublicFacts, *, apart: bool) -> int:
    """Show what to expect of each guarantee, an attacker's chances too; return the position of the chosen one.

    ``apart``: nothing moves together that noise could hide.
    """
    st.header("What to expect")
    st.html(text_table([line(p, c) for p, c in zip(plans, chances, strict=True)]))
    table = plans[0].table
    st.caption(show.as_text(f"For {table.description}: not your table. Errors and noise on correlations follow it."))
    pick = st.radio(
        "Go on with",
        [0, 1, 2],
        horizontal=True,
        format_func=lambda k: f"Candidate {k + 1}",  # labels that change with a level would lose what was picked
        captions=[to_powers(str(p.guarantee)) for p in plans],
        **widget_args("pick", 1, among=[0, 1, 2]),
    )
    plan = plans[pick]
    st.markdown(show.as_text(explain_guarantee(plan, chances[pick])))
    with st.expander("How to read"):
        st.markdown(_how_to_read(plan, facts, [p.guarantee for p in plans]))
    if plan.error > plan.trivial > 0 and not apart:
        st.warning(
            "The noise hides what moves together: the variances alone would be a better answer. More rows, fewer "
            "columns, tighter bounds or a weaker guarantee help; *Less noise* below tries what else can be declared."
        )
    return pick


def _how_to_read(plan: Preview, facts: PublicFacts, guarantees: list[Guarantee]) -> str:
    weight = " and multiplied by its weight" if facts.units.blocks else ""
    text = (
        "Expected error: of the estimated covariance, relative, each column divided by the distance from its "
        f"typical value to the farther limit{weight}, over {plan.replicates} draws of the noise; the variances "
        f"alone would give {percent(plan.trivial)}. Correlations off by: the unbiased ones that have intervals; the "
        "matrix of the release is shrunk, and closer. Noise on correlations: its deviation, for a middle pair "
        "and (from, to) for nine in ten. Visible: with a chance of 80 %, a middle pair of this correlation exceeds "
        "every pair of 19 in 20 tables without correlations (pure DP: of 16 in 20). Without any noise, a correlation "
        f"near zero is uncertain by {plain(plan.sampling_std)}."
    )
    if facts.rows_per_person > 1:
        text += f" The guarantee is for all {facts.rows_per_person} rows of a person together."
    if facts.person:
        text += " The guarantee is for all rows of a person; the invented table has one for each."
    if not isinstance(plan.guarantee, PureDP):
        text += " The chance is a bound: the noise is discrete. Lesson 10 has the smaller one of continuous noise."
    same = [plain(accounting.zcdp_to_approx(g.rho, IMPLIED_DELTA)) for g in guarantees if isinstance(g, ZCDP)]
    if same:
        text += (
            f" The rho of {term('zcdp', 'zCDP')} adds up over releases. These three imply {term('epsilon')} = "
            f"{', '.join(same)} at delta = {plain(IMPLIED_DELTA)}."
        )
    return text


def _curves(plans: list[Preview]) -> None:
    st.header("Which correlations survive")
    series = [(to_powers(str(p.guarantee)), np.array([p.survives(r) for r in _STRENGTHS])) for p in plans]
    picture = intervals.chances(_STRENGTHS, series, frame.palette(), x_title="Correlation of a pair")
    show.picture(picture, "own-chances")


# --- beside the plan: which level ---------------------------------------------------------------------------


def _which_level(simulated: ExampleRows, facts: PublicFacts, picked: Guarantee, at: int) -> None:
    """Show which rho or epsilon a wanted accuracy needs, on simulated rows; ``at`` is the picked candidate."""
    level_name = "rho" if isinstance(picked, ZCDP) else "epsilon"
    with st.expander(f"Which {level_name} do I need?"):
        goal = st.radio(
            "I want",
            ["see", "error"],
            horizontal=True,
            format_func={"see": "to see a correlation", "error": "a small error as a whole"}.get,
            **widget_args("want", "see", among=["see", "error"]),
        )
        if goal == "see":
            target = st.slider("of this size or more", 0.05, 0.95, step=0.05, **widget_args("want-see", 0.3))
            ends("faint", "unmistakable")
        else:
            target = st.slider("at most, in percent", 1, 100, **widget_args("want-error", 20)) / 100
            ends("nearly exact", "as bad as zero")
        question = (simulated, facts_key(facts), owner_session().declared, picked, goal, target)
        pressed, before = st.button("Find it", key="own-find"), st.session_state.get("own-found")
        if not pressed:
            if before is not None and before[0] == question:  # the answer stays while its question does
                _show_level(before[1], level_name, question, facts, at)
            return

        declaration = owner_session().declared
        search = declaration is not None and declaration.row_bound_search

        def meets(level: float) -> bool:
            candidate, count = with_level(picked, level), 1 if goal == "see" else 10
            plan = example_table.preview_release(simulated, candidate, search=search, replicates=count)
            return plan.visible <= target if goal == "see" else plan.error <= target

        with st.spinner("Searching ..."):
            level = smallest_level(meets, ratio=1.02 if goal == "see" else 1.1)
        st.session_state["own-found"] = (question, level)
        _show_level(level, level_name, question, facts, at)


def _show_level(level: float | None, level_name: str, question: tuple, facts: PublicFacts, at: int) -> None:
    """Show the level of the search, and the button that puts it in the place of the candidate ``at``."""
    simulated, _, _, picked, *_ = question
    if level is None:
        st.markdown(
            f"**None up to 100.** With {simulated.n:,} rows the sampling error or the repairs alone leave more."
        )
        return
    st.markdown(f"**About {level_name} {plain(level)}**, for the table of this plan.")
    chance = attacker(facts, with_level(picked, level))
    show.attacker_line(chance, frame.palette(), f"{show.ATTACKER}, {level_name} {plain(level)}")
    if chance > HARDLY_PRIVATE:
        st.warning(
            f"At {level_name} {plain(level)} an attacker is right in {show.chance(chance, most=True)} of cases: this "
            "protects hardly anybody. More rows, fewer columns or tighter bounds give more privacy at this accuracy."
        )
    st.button(
        f"Use it as candidate {at + 1}", key="own-use-level", on_click=set_value,
        args=(f"level-{picked.kind}-{at}", float(level)),
    )  # fmt: skip
