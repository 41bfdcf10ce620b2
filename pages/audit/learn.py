"""Tab of Privacy audit: what a guarantee leaves an attacker who has every other row."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.common import address, frame, show
from pages.common.fields import ends
from pages.common.study import Study
from privcov.attacks import disclosure
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, GaussianDP, PureDP, ZCDP
from privcov.core.words import powers
from privcov.plots import audit as pictures

_KINDS = {"pure": "Pure", "approx": "Approximate", "zcdp": "zCDP", "gdp": "Gaussian noise"}
_LEVEL_NAMES = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu"}
SETTING_NAMES = tuple(f"learn.{name}" for name in ("kind", "epsilon", "rho", "mu", "delta", "prior"))
_LOW, _HIGH = 1e-5, 50.0
_CHANCES = (0.5, 0.05, 0.001)
_EXACT = {
    "pure": "Exact: every point is reached by some mechanism with this guarantee. Most reveal less.",
    "approx": "Exact: every point is reached by some mechanism with this guarantee. With probability delta it "
    "may print the row; Gaussian noise never does.",
    "zcdp": "Upper bounds. For Gaussian noise alone, choose mu = sqrt(2 rho).",
    "gdp": "Exact: every point is reached by Gaussian noise of this mu, or by an answer computed from it.",
}


def section(study: Study) -> None:
    """Show the tab."""
    st.markdown("The most an attacker can learn who knows the method and **every row but yours**.")
    with st.container(border=True):
        first, second, third, fourth = st.columns([6, 2, 3, 3], vertical_alignment="bottom")
        kind = address.bind_widget(
            first.segmented_control, "Guarantee", list(_KINDS), name="learn.kind", default=study.kind, required=True,
            format_func=_KINDS.get, key="learn-kind",
        )  # fmt: skip
        level_name = _LEVEL_NAMES[kind]
        value = address.bind_widget(
            second.number_input,
            level_name.capitalize(),
            _LOW,
            _HIGH,
            name=f"learn.{level_name}",
            default=min(max(float(getattr(study, level_name, 1.0)), _LOW), _HIGH),
            step=0.1,
            format="%g",
            key=f"learn-{kind}",
        )
        delta = 1e-5
        if kind == "approx":
            delta = address.bind_widget(
                third.select_slider, "Delta", [1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1], name="learn.delta",
                default=1e-5, format_func=powers, key="learn-delta",
            )  # fmt: skip
            ends("stronger privacy", "weaker privacy", third)
        belief = address.bind_widget(
            fourth.slider, "Belief before the release, %", 0.1, 99.9, name="learn.prior", default=10.0,
            key="learn-prior", format="%.1f",
        )  # fmt: skip
        prior = belief / 100
        ends("small suspicion", "nearly certain", fourth)
    claims: dict[str, Callable[[float], disclosure.BoundedGuarantee]] = {
        "pure": PureDP,
        "zcdp": ZCDP,
        "gdp": GaussianDP,
    }
    claim = ApproxDP(value, delta) if kind == "approx" else claims[kind](value)
    palette = frame.palette()
    show.tag("Simulated", f"{claim}; computed from the trade-off curve, no data are used")
    chance = disclosure.usual_chance(claim)
    left, right = st.columns([3, 2], gap="large")
    left.markdown("\n".join(f"- {show.as_text(line)}" for line in disclosure.sentences(claim, prior, chance)))
    with right:
        st.metric("Attacker's best chance of guessing right", show.chance(accounting.attacker_success(claim)))
        show.attacker_meter(accounting.attacker_success(claim), palette)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Belief before and after**")
        chances = _CHANCES if kind in ("zcdp", "gdp") else (chance,)
        show.picture(pictures.beliefs(claim, chances, prior, palette), "learn-beliefs")
    with right:
        st.markdown("**ROC curve of the best attacker**")
        show.picture(pictures.accusations(claim, palette), "learn-roc")
    st.caption(_EXACT[kind])
