"""Show Methods: every registered method on a card that opens."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd
import streamlit as st

import privcov
from pages.common import address, frame, glossary, show, study_form
from pages.common.study import Study
from privcov.core.parameters import ParameterSpec
from privcov.core.words import plain
from privcov.estimators.base import MethodCard

ANY = "All"
STANDINGS = {
    "proved": "sensitivity and noise proved here",
    "reference": "a trivial answer to beat",
    "historical": "for comparison: claim false, or noise wasted",
}


def study_for(card: MethodCard, study: Study) -> Study:
    """Return the current study with this method, under a guarantee that the method can give."""
    kind = card.guarantees[-1].kind if card.refuses(study.kind) else study.kind
    base = study if study.method == card.key else study.with_method(card.key)
    return dataclasses.replace(base, kind=kind)


def span(spec: ParameterSpec) -> str:
    """Return the values that a parameter may take, in words."""
    if spec.choices:
        return ", ".join(map(str, spec.choices))
    if isinstance(spec.default, bool):
        return "on, off"
    ends = [plain(x) if x is not None and math.isfinite(x) else "any" for x in (spec.low, spec.high)]
    return f"{ends[0]} to {ends[1]}" + (f" {spec.unit}" if spec.unit else "")


def settings(specs: tuple[ParameterSpec, ...]) -> pd.DataFrame:
    """Return the parameters of a method as a table."""
    return pd.DataFrame(
        [
            {
                "Setting": spec.label,
                "In Python": f"`{spec.name}`",
                "Default": str(spec.default),
                "Range": span(spec),
                "What it does": spec.help or "-",
            }
            for spec in specs
        ]
    )


def badge(standing: str) -> str:
    """Return the standing of a method as a coloured badge."""
    return f":{study_form.STANDING[standing]}-badge[{standing}]"


def title(card: MethodCard) -> str:
    """Return the line of a card that is seen before it is opened."""
    guarantees = " ".join(f":blue-badge[{g.name.removesuffix(' DP')}]" for g in card.guarantees)
    return f"**{card.label}** {badge(card.standing)} {guarantees}"


def method(card: MethodCard, study: Study) -> None:
    """Show one method: its formula, when not to use it, where it comes from and its settings."""
    summary, button = st.columns([4, 1])
    summary.markdown(f"{card.summary}\n\n**When not to use it.** {card.avoid}")
    with button:
        frame.link(
            "pages/1_Estimate.py",
            "Open in Estimate",
            study_for(card, study),
            width="stretch",
            help=f"{card.label}, with your study's other settings",
        )
    st.latex(card.formula)
    st.caption(f"{card.trust.capitalize()} model; target: {card.target}. **Reference.** {card.reference}")
    if card.differs:
        st.caption(f"**Differs from the paper.** {card.differs}")
    if len(card.calibrations) > 1:
        scales = "; ".join(f"**{key}**: {meaning}" for key, meaning in card.calibrations.items())
        st.caption(f"**Noise scales on offer.** {scales}.")
    if card.parameters:
        st.table(settings(card.parameters), hide_index=True, border="horizontal")
    else:
        st.caption("No settings.")


def gallery(study: Study) -> None:
    """Show the cards by family: references last, historical methods folded."""
    cards = privcov.methods()
    families = list(dict.fromkeys(c.family for c in sorted(cards, key=lambda c: c.standing == "reference")))
    kinds = {g.kind: g.name for c in cards for g in c.guarantees}
    left, right = st.columns([3, 2])
    family = address.bind_widget(
        left.pills, "Family", [ANY, *families], name="show.family", default=ANY, required=True, key="methods-family"
    )
    kind = address.bind_widget(
        right.segmented_control,
        "Guarantee",
        [ANY, *kinds],
        name="show.kind",
        default=ANY,
        required=True,
        key="methods-kind",
        format_func=lambda k: kinds.get(k, k),
    )
    selection = [c for c in cards if family in (ANY, c.family) and (kind == ANY or not c.refuses(kind))]
    legend = [
        f"- {badge(name)} {words}." for name, words in STANDINGS.items() if any(c.standing == name for c in cards)
    ]
    proved = sum(card.standing == "proved" for card in cards)
    st.caption(f"{len(selection)} of {len(cards)} methods; {proved} have a proof here.", help="\n".join(legend))
    if not selection:
        st.info("No such method: choose another family or guarantee.")
    historical = [c for c in selection if c.standing == "historical"]
    for name in families:
        group = [c for c in selection if c.family == name and c.standing != "historical"]
        if historical and all(c.standing == "reference" for c in group) and group:
            folded(historical, study, alone=len(selection) == len(historical))
            historical = []
        if group:
            st.header(name)
        for card in group:
            with st.expander(title(card), key=f"card-{card.key}", expanded=len(selection) == 1):
                method(card, study)
    if historical:
        folded(historical, study, alone=len(selection) == len(historical))


def folded(cards: list[MethodCard], study: Study, *, alone: bool) -> None:
    """Show the historical methods in an expander, which is open when no other method is shown."""
    with st.expander(f"Historical methods ({len(cards)})", expanded=alone):
        for card in cards:
            with st.container(border=True):
                st.markdown(f"### {card.label}\n\n{badge(card.standing)}")
                method(card, study)


study = frame.page("Methods", keeps=("show.family", "show.kind"))
st.title(
    "Methods",
    help=f"Rows are read through a noisy {glossary.term('measurement')}; the rest is free "
    f"{glossary.term('post-processing')}.",
)
with show.problems():
    gallery(study)
