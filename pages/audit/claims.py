"""Tab of Privacy audit: every published claim, and the actual guarantee at the visitor's own parameters."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from pages.common import address, fields, frame, show
from pages.common.fields import ends
from pages.common.study import Study
from privcov.attacks import catalogue, claims
from privcov.core.guarantees import ApproxDP
from privcov.core.words import plain, powers, to_powers

SETTING_NAMES = tuple(f"claims.{name}" for name in ("epsilon", "delta", "n", "d", "verdict"))
_ORDER = (
    "Paper",
    "Mechanism",
    "Verdict",
    "Claim",
    "True delta at epsilon",
    "True epsilon at delta",
    "Sensitivity used",
    "True sensitivity",
    "Noise / needed",
    "Where",
)
_NUMBERS = _ORDER[4:9]
_COLOURS = {catalogue.FALSE: "red", catalogue.NONE: "red", catalogue.EMPTY: "orange", catalogue.LUCKY: "orange"}


@st.cache_data(max_entries=64, show_spinner="Computing every claim ...")
def _table(epsilon: float, delta: float, n: int, d: int) -> pd.DataFrame:
    return claims.table(epsilon, delta, n, d)


def section(study: Study) -> None:
    """Show the tab."""
    st.markdown("Each line computes the exact privacy curve of a printed calibration.")
    with st.container(border=True):
        one, two, three, four = st.columns(4)
        epsilon = address.bind_widget(
            one.number_input, "Epsilon", 0.01, 50.0, name="claims.epsilon", default=1.0, step=0.1, format="%g",
            key="claims-epsilon",
        )  # fmt: skip
        delta = address.bind_widget(
            two.select_slider,
            "Delta",
            [1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.02, 0.05],
            name="claims.delta",
            default=1e-5,
            format_func=powers,
            key="claims-delta",
        )
        ends("stronger claim", "weaker claim", two)
        n = address.bind_widget(
            three.number_input, "Rows n", 10, 1_000_000, name="claims.n", default=1000, step=100, key="claims-n"
        )
        d = address.bind_widget(four.number_input, "Columns d", 2, 200, name="claims.d", default=20, key="claims-d")
        verdicts = address.bind_widget(
            st.pills, "Verdict", catalogue.VERDICTS, name="claims.verdict", default=[], selection_mode="multi",
            key="claims-verdict", help="None chosen: all.",
        )  # fmt: skip
        fields.attacker(ApproxDP(float(epsilon), float(delta)), "Attacker, where the claim is true")
    whole = _table(float(epsilon), float(delta), int(n), int(d))
    rows = whole[whole["Verdict"].isin(verdicts)] if verdicts else whole
    counts = whole["Verdict"].value_counts()
    st.markdown(
        " ".join(f":{_COLOURS.get(v, 'green')}-badge[{counts[v]} {v}]" for v in catalogue.VERDICTS if v in counts.index)
    )
    show.tag(
        "Simulated", f"computed at epsilon = {epsilon:g}, delta = {powers(delta)}, n = {n:,}, d = {d}; no data are used"
    )
    palette, text = frame.palette(), st.column_config.TextColumn
    colours = {v: palette.bad if c in ("red", "orange") else palette.good for v, c in _COLOURS.items()}
    table = rows.assign(
        Claim=rows["Claim"].map(to_powers).replace("", "-"), **{name: rows[name].map(number) for name in _NUMBERS}
    )
    styled = table.style.map(lambda v: f"color: {colours.get(v, palette.good)}; font-weight: 600", subset=["Verdict"])
    st.dataframe(
        styled,
        hide_index=True,
        row_height=36,
        height="content",
        column_order=_ORDER,
        column_config={
            "Verdict": text(width=140),
            "Claim": text(
                width=130, help="As printed. In Dong et al. 2022 rho is the largest that implies the parameters above."
            ),
            "True delta at epsilon": text(help="Of the printed noise. 0: too small to compute."),
            "True epsilon at delta": text(help="Pure claims: at delta 0 where it exists."),
            "Sensitivity used": text(help="In R squared; per report in the local model."),
            "True sensitivity": text(help="One row replaced; experiments: the two tables named in the reason."),
            "Noise / needed": text(help="Below 1: false. Above: noise wasted. Wishart: degrees of freedom."),
        },
    )
    show.download("Table as CSV", lambda: rows.to_csv(index=False), "privacy-claims.csv", "claims-csv")
    with st.expander("Why"):
        for _, row in table.iterrows():
            colour = _COLOURS.get(row["Verdict"], "green")
            st.markdown(
                f":{colour}-badge[{row['Verdict']}] **{show.as_text(row['Paper'])}**, {show.as_text(row['Where'])}: "
                f"{show.as_text(row['Mechanism'])}. {show.as_text(row['Why'])}"
            )
    again = (
        "from privcov.attacks.claims import table\n\n"
        f"found = table({epsilon!r}, {delta!r}, n={n!r}, d={d!r})\nprint(found)"
    )
    with st.expander("The same in Python"):
        st.code(again)


def number(value: float) -> str:
    """Return a number of the table: "none" for a guarantee that does not exist, "-" where nothing is computed."""
    if math.isnan(value):
        return "-"
    return "none" if math.isinf(value) else plain(value) if value > 1e-290 else "0"
