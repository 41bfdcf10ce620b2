"""Step 2, beside the numbers: one draw of each candidate, and what could be declared or planned otherwise."""

from __future__ import annotations

import functools
import math

import numpy as np
import streamlit as st

from pages.shell import frame, show
from pages.your_data.noise import best_shape, planned, text_table
from pages.your_data.plan_table import Asked, as_declared, once
from pages.your_data.state import keep, norm_budget
from privcov import accounting
from privcov.figures import own as own_figures
from privcov.figures.matrices import colour_limit, heatmap, still
from privcov.figures.words import percent, plain, raised
from privcov.measurements.lengths.exact_norms import planned_norms, split
from privcov.measurements.useful import reason_no_norms
from privcov.owner.choices import Choice, choices
from privcov.owner.preview import Preview, Table, after_norms, preview, with_level
from privcov.owner.series import MOST_RELEASES, series
from privcov.owner.stand_in import StandIn
from privcov.owner.weights import noise_ratio, weight_words
from privcov.privacy import Guarantee, NoPrivacy, ZCDP
from privcov.public_facts import PublicFacts

_WEIGHTS = range(1, 21)
_RULES = {"pairs": "measured", "typical": "counted as typical values"}


def draws(plans: list[Preview], columns: tuple[str, ...]) -> None:
    """Show the correlations of the table beside one noisy draw of them under each candidate."""
    st.header("One draw of each")
    first = plans[0].twin
    real = isinstance(first, StandIn) and first.public
    show.tag("Public rows" if real else "Simulated", f"{first.what}; the noise is simulated, and the same in all three")
    truth, palette = first.correlation, frame.palette()
    limit = min(2 * max(colour_limit(truth), 0.1), 1.0)  # beyond the truth, so that noise shows on either side of it
    panels = [("Without noise", truth), *((raised(str(p.guarantee)), p.draw) for p in plans)]
    for k, (place, (title, matrix)) in enumerate(zip(st.columns(4), panels, strict=True)):
        with place:
            st.markdown(f"**{title}**")
            what = f"correlations, {title}"
            make = functools.partial(heatmap, matrix, columns, limit, palette, what=what)
            show.still(still(matrix, columns, limit, palette, what=what), f"own-draw-{k}", palette, make)
            if k:
                st.caption(f"Off by {plain(plans[k - 1].correlation_error)}")
    show.colour_note(
        "correlation, brown negative and green positive",
        "Off by: root mean square over all pairs, on average. The release draws other noise of the same size.",
    )


def weight_of_person(facts: PublicFacts, asked: Asked) -> None:
    """Show what the largest weight of a person does to the noise, from the owner's guess of their rows."""
    if not facts.person:
        return
    with st.expander("Advanced: noise against the largest weight of a person"):
        each = asked.each
        if facts.most_weight == 1:
            each = st.number_input(
                "Rows of a person, on average",
                min_value=1.0,
                max_value=1000.0,
                step=0.5,
                format="%g",
                help="Your own knowledge; the file is not asked. At the largest weight 1 the noise does not depend on "
                "it.",
                **keep("each", 1.0),
            )
        ratios = np.array([noise_ratio(most, each) for most in _WEIGHTS])
        chart = own_figures.against_weight(np.array(_WEIGHTS), ratios, facts.most_weight, frame.palette())
        show.picture(chart, "own-weights")
        now = weight_words(facts.most_weight, each)
        st.markdown(
            "At 1 every person counts the same, and the noise is least. A larger weight never lowers it: it changes "
            "**what** is estimated, from the average person towards the average row. " + show.as_text(now)
        )
        if each == 1:
            st.caption("With one row per person, as entered, a larger weight only adds noise.")


def recommended(simulated: Table, facts: PublicFacts, guarantee: Guarantee, asked: Asked) -> None:
    """Show what to declare otherwise, from public facts, and why."""
    with st.expander("Advanced: what to declare otherwise"), show.problems():
        st.markdown(
            "Row bound, missing cells, counts by length and weights of columns, tried on the table of this plan. No "
            "private row is read."
        )
        key = ("choices", simulated, guarantee, asked.each, as_declared(facts))
        pressed = st.button("Try them", key="own-choices")
        if not pressed and key not in st.session_state.get("own-previews", {}):
            return
        with st.spinner("Trying ..."):
            shape = best_shape(facts, guarantee, simulated.n)
            public = isinstance(simulated, StandIn) and simulated.public
            found = once(key, lambda: choices(simulated, facts, guarantee, shape, weigh=public, rows_each=asked.each))
        if not found:
            st.markdown("**Nothing**: none of them makes the correlations clearly better here.")
            return
        st.markdown(
            "\n".join(f"{k}. **{_named(one, facts)}.** {show.as_text(one.why)}" for k, one in enumerate(found, 1))
        )
        st.markdown(
            f"Correlations are then off by **{plain(found[-1].error)}**, instead of {plain(found[0].before)} as "
            "declared."
        )
        if not public:
            st.caption(
                "It holds as far as the private table is like the invented one. A public table like it makes the "
                "advice safer; counting rows by length asks the private rows, and is paid for."
            )


def _named(one: Choice, facts: PublicFacts) -> str:
    """Return a choice in words, with the place where it is made."""
    if one.name == "missing":
        return f"On Declare, missing cells are {_RULES[str(one.value)]}"
    if one.name == "row_bound_fraction":
        return f"On Declare, the row bound is {one.value:g} of the longest possible row"
    if one.name == "norm_budget":
        return f"Below, {one.value:g} of the guarantee for counting rows by length"
    assert isinstance(one.value, tuple), "weights are one for each column"
    weights = (f"{name} {c:g}" for name, c in zip(facts.sources, one.value, strict=True))
    return "In the declaration, weights of columns: " + show.as_text(", ".join(weights))


def several(facts: PublicFacts, guarantee: Guarantee, rows: int) -> None:
    """Show what a planned series of releases costs."""
    with st.expander("Advanced: several releases"), show.problems():
        count = st.number_input(
            "Releases planned, this one included",
            min_value=1,
            max_value=MOST_RELEASES,
            step=1,
            help="Such as 12, one a month. The ledger adds up every release of one table.",
            **keep("releases", 1),
        )
        if count == 1:
            st.caption("Guarantees add up over releases: plan them together.")
            return
        shape = best_shape(facts, guarantee, rows)
        cost = once(
            ("series", count, guarantee, rows, as_declared(facts)),
            lambda: series(facts, guarantee, shape, rows, int(count)),
        )
        chance = accounting.attacker_success(cost.claim)
        one = accounting.attacker_success(accounting.trade_off_of(cost.events[:1], guarantee))
        lines = [
            {
                "Plan": f"Each under {raised(str(guarantee))}",
                "Together": raised(str(cost.together)),
                show.ATTACKER: show.chance(chance),
                "Noise of one": "1 x",
                "Of their mean": f"{plain(cost.pooled / cost.noise)} x",
            },
            {
                "Plan": f"Each under {raised(str(_rounded(cost.share)))}",
                "Together": f"within {raised(str(guarantee))}",
                show.ATTACKER: show.chance(one),
                "Noise of one": f"{plain(cost.noise)} x",
                "Of their mean": f"{plain(cost.pooled)} x",
            },
            {
                "Plan": "One release at the end",
                "Together": raised(str(guarantee)),
                show.ATTACKER: show.chance(one),
                "Noise of one": "1 x",
                "Of their mean": "1 x",
            },
        ]
        st.html(text_table(lines))
        st.caption(
            "For people who are in every release, under one declaration; noise as a multiple of that of one release "
            "under the picked candidate. People who are in one release only pay for that one, where the ledger has a "
            "name of its own for each group."
        )


def _rounded(share: Guarantee) -> Guarantee:
    """Return a guarantee with three digits of its level, rounded down."""
    assert not isinstance(share, NoPrivacy), "a series has a level"
    level = share.rho if isinstance(share, ZCDP) else share.epsilon
    unit = 10.0 ** (math.floor(math.log10(level)) - 2)
    return with_level(share, float(f"{math.floor(level / unit * (1 + 1e-9)) * unit:.3g}"))


def norms_first(simulated: Table, facts: PublicFacts, plans: list[Preview], picked: int, each: float) -> None:
    """Show what counting the rows by length first costs and changes under each candidate, where it is asked for."""
    with st.expander("Advanced: count the rows by length first"), show.problems():
        st.markdown(
            "A share of the guarantee buys noisy numbers of rows by length. A smaller R follows from them, and the "
            "matrix is measured under it with the rest: less noise where most rows are far shorter than R, a little "
            "more elsewhere."
        )
        if (share := norm_budget()) is None:
            return
        st.html(text_table([_price(simulated, facts, plan, share, each) for plan in plans]))
        event = planned_norms(facts, split(plans[picked].guarantee, share)[0])
        if useless := reason_no_norms(facts, [event], simulated.n, "as planned"):
            st.warning(show.as_text(useless))
        else:
            st.caption("The release will count them so, and read R from its own noisy numbers.")


def _price(simulated: Table, facts: PublicFacts, plan: Preview, share: float, each: float) -> dict:
    """Return what one candidate pays for the numbers of rows by length, and what it gets for them, as a line."""

    def make() -> tuple[Preview, float]:
        after, chosen, rest = after_norms(simulated, facts, plan.guarantee, share)
        return preview(after, plan.guarantee, planned(chosen, rest, simulated.n, each)), chosen.row_bound

    found, bound = once(("norms", simulated, plan.guarantee, share, each, as_declared(facts)), make)
    return {
        "Guarantee": raised(str(plan.guarantee)),
        "Price of the counts": raised(str(split(plan.guarantee, share)[0])),
        "R after them": f"{plain(bound)}, was {plain(facts.row_bound)}" if bound < facts.row_bound else "as before",
        "Rows shortened": percent(found.clipped),
        "Expected error": f"{percent(found.error)}, was {percent(plan.error)}",
    }
