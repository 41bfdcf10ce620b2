"""Step 2, beside the numbers: one draw of each candidate, and what could be declared or planned otherwise."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import streamlit as st

from pages.common import frame, show
from pages.your_data.declare import drafts
from pages.your_data.example_table import facts_key, has_limits_alone, once, preview_release, table
from pages.your_data.state import owner_session
from privcov.core.guarantees import Guarantee
from privcov.core.words import percent, plain, to_powers
from privcov.measurements.norm_histogram import SEARCH_SHARE
from privcov.plots.matrices import colour_limit, still
from privcov.steward.choices import WORTH, Choice, choices
from privcov.steward.example_rows import ExampleRows, Invention
from privcov.steward.preview import Preview
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.public_facts import FEWEST_COLUMNS, PublicFacts
from privcov.tables.readers.kinds import MAX_WEIGHT

_CLOSE = 0.8  # correlation of columns that are nearly copies
_FEW, _DIFFERS = 4, 0.1  # draws for a table that differs, and the part of the error that is worth a sentence
_RULES = {"pairs": "measured", "typical": "counted as typical values"}


def draws(plans: list[Preview], columns: tuple[str, ...]) -> None:
    """Show the correlations of the table beside one noisy draw of them under each candidate."""
    st.header("One draw of each")
    first = plans[0].table
    show.tag(
        "Public rows" if first.public else "Simulated",
        f"{first.description}; the noise is simulated, and the same in all three",
    )
    truth, palette = first.correlation, frame.palette()
    limit = min(2 * max(colour_limit(truth), 0.1), 1.0)  # beyond the truth, so that noise shows on either side of it
    panels = [("Without noise", truth), *((to_powers(str(p.guarantee)), p.draw) for p in plans)]
    for k, (place, (title, matrix)) in enumerate(zip(st.columns(4), panels, strict=True)):
        with place:
            st.markdown(f"**{title}**")
            label = f"correlations, {title}"
            show.still(still(matrix, columns, limit, palette, what=label), f"own-draw-{k}", palette)
            if k:
                st.caption(f"Off by {plain(plans[k - 1].correlation_error)}")
    show.colour_note(
        "correlation, orange negative and teal positive",
        "Off by: root mean square over all pairs, on average. The release draws other noise of the same size.",
    )


def unlike(plan: Preview, facts: PublicFacts, invention: Invention) -> None:
    """Show the error where the private table differs from the invented one in what costs most."""
    declaration = owner_session().declared
    if declaration is None or plan.table.public:
        return
    skewed = dataclasses.replace(invention, skew=1.0)
    others = {"number columns are skewed, as incomes are (declare those on a log scale)": skewed}
    if invention.structure != "independent" and invention.strength < _CLOSE:
        others[f"correlations are {_CLOSE:g}"] = dataclasses.replace(invention, strength=_CLOSE)
    if has_limits_alone(declaration):
        narrow = invention.spread / 3
        others[f"columns have a deviation of {narrow:.2g} of half their range"] = dataclasses.replace(
            invention, spread=narrow
        )
    sentences = []
    for words, unlike_it in others.items():
        other = table(declaration, facts, unlike_it)
        search = declaration.row_bound_search
        key = ("unlike", other, plan.guarantee, facts_key(facts), search)
        error = once(
            key, functools.partial(preview_release, other, plan.guarantee, search=search, replicates=_FEW)
        ).error
        if abs(error / max(plan.error, 1e-9) - 1) > _DIFFERS:
            sentences.append(f"**{percent(error)}** where {words}")
    if sentences:
        st.markdown(f"Expected error in a table that differs: {'; '.join(sentences)}.")


def recommended(simulated: ExampleRows, facts: PublicFacts, guarantee: Guarantee) -> None:
    """Show what to declare otherwise, from public facts, and why."""
    with st.expander("Less noise: what to declare otherwise"), show.problems():
        _search(simulated, facts, guarantee)
        st.markdown(
            "Row bound, missing cells and weights of columns, tried on the table of this plan. No private row is read."
        )
        key = ("choices", simulated, guarantee, facts_key(facts))
        pressed = st.button("Try them", key="own-choices")
        if not pressed and key not in st.session_state.get("own-previews", {}):
            return
        with st.spinner("Trying ..."):
            advice = once(key, lambda: choices(simulated, facts, guarantee, weigh=simulated.public))
        if not advice:
            st.markdown("**Nothing**: none of them makes the correlations clearly better here.")
            return
        st.markdown(
            "\n".join(
                f"{k}. **{_describe_choice(one, facts)}.** {show.as_text(one.why)}" for k, one in enumerate(advice, 1)
            )
        )
        st.markdown(
            f"Under {to_powers(str(guarantee))} correlations are then off by **{plain(advice[-1].error)}**, instead of "
            f"{plain(advice[0].before)} as declared."
        )
        st.button("Apply", key="own-apply", on_click=_apply, args=(advice,), help="Declares the table so.")
        if not simulated.public:
            st.caption(
                "It holds as far as the private table is like the invented one. A public table like it makes the "
                "advice safer."
            )


def _search(simulated: ExampleRows, facts: PublicFacts, guarantee: Guarantee) -> None:
    """Offer a search for the row bound where it is not declared, with what it would leave of the error."""
    declaration = owner_session().declared
    if declaration is None or declaration.row_bound_search or facts.d < FEWEST_COLUMNS:
        return
    key = ("search", simulated, guarantee, facts_key(facts))
    whole = simulated.under(
        facts.with_shorter_bound(1 / facts.row_bound_fraction)
    )  # the search shortens it, and nothing else
    before, after = once(
        key,
        lambda: [
            preview_release(table, guarantee, search=table is whole, replicates=4).error for table in (simulated, whole)
        ],
    )
    if after > WORTH * before:
        return
    st.markdown(
        f"**Search for the row bound**: a release spends {percent(SEARCH_SHARE)} of its guarantee on noisy counts of "
        f"the lengths of the rows, and shortens the row bound to where most end. Expected error "
        f"**{percent(after)}** instead of {percent(before)}. The search looks at the rows themselves, so it fits the "
        "private table too."
    )
    st.button("Apply", key="own-search", on_click=_declare_search, help="Declares the table so.")


def _declare_search() -> None:
    session = owner_session()
    assert session.declared is not None  # the plan needs one
    searched = dataclasses.replace(session.declared, row_bound_search=True, row_bound_fraction=1.0)
    session.declared, session.owner_view = searched, None
    drafts.fill(session.declared)


def _apply(advice: list[Choice]) -> None:
    session = owner_session()
    assert session.declared is not None  # the plan needs one
    session.declared, session.owner_view = with_choices(session.declared, advice), None
    drafts.fill(session.declared)


def with_choices(declaration: Declaration, advice: list[Choice]) -> Declaration:
    """Return the declaration with all choices."""
    changes: dict[str, Any] = {one.name: one.value for one in advice}
    # Only the ratios of weights count, and a weight of 1 is one that nobody declared.
    pairs = zip(declaration.columns, changes.pop("weight", ()), strict=False)
    heavy = tuple(dataclasses.replace(column, weight=min(2 * weight, MAX_WEIGHT)) for column, weight in pairs)
    return dataclasses.replace(declaration, columns=heavy or declaration.columns, **changes)


def _describe_choice(one: Choice, facts: PublicFacts) -> str:
    if one.name == "missing":
        return f"On Declare, missing cells are {_RULES[str(one.value)]}"
    if one.name == "row_bound_fraction":
        return f"On Declare, set the row bound to {one.value:g} of the longest possible row"
    assert isinstance(one.value, tuple), "weights are one for each column"
    weights = (f"{name} {c:g}" for name, c in zip(facts.sources, one.value, strict=True))
    return "In the declaration, weights of columns: " + show.as_text(", ".join(weights))
