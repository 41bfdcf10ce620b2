"""How the error falls with the guarantee, for several methods on the same rows."""

from __future__ import annotations

import streamlit as st

from pages.parts import cached, controls, frame, show, sweep
from privcov.estimators.base import METHODS
from privcov.experiments.plan import NORMS, summarise
from privcov.figures.errors import curves
from privcov.privacy import KINDS

NORM_NAMES = {"frobenius": "Frobenius", "spectral": "spectral", "l1": "l1", "max": "max"}

study = frame.page("Trade-offs")
palette = frame.palette()
controls.sidebar(study, method=False)
st.title("Trade-offs")
st.markdown(
    "Choose methods, draw the curves, and read off where one overtakes another, or where none beats a trivial answer."
)

cards = [c for c in METHODS.all() if c.target == "covariance" and c.standing != "reference"]
fit = [c for c in cards if not c.refuses(study.kind)]
unfit = [c.refuses(study.kind) for c in cards if c.refuses(study.kind)]

with show.problems():
    data = cached.dataset(study)
    with st.form("sweep", border=True):
        first, second, third = st.columns([4, 2, 2])
        chosen = first.multiselect(
            "Methods",
            [c.key for c in fit],
            default=[c.key for c in fit][:3],
            format_func={c.key: c.label for c in cards}.get,
        )
        norm = second.selectbox(
            "Norm",
            NORMS,
            format_func=NORM_NAMES.get,
            help="Frobenius: all entries. Spectral: the largest eigenvalue. l1: the "
            "largest column sum. Max: the largest entry.",
        )
        replicates = third.number_input("Replicates", 1, 200, 20, help="Independent repetitions of every point.")
        if unfit:
            st.caption(" ".join(unfit))
        started = st.form_submit_button("Draw the curves", type="primary")

    setting = sweep.Setting(tuple(chosen), norm, int(replicates))
    if started or sweep.worth_drawing_unasked(data, setting):
        sweep.run(study, data, setting)
    found = sweep.result(study, setting)
    if found is None:
        st.info(f"Nothing drawn yet for this set-up. It takes {sweep.runs(setting):,} runs of a method.")
    else:
        lever = study.lever
        against = sweep.against(data)
        summary = summarise(found.table, ["method", lever])
        simulated = data.provenance == "simulated"
        show.tag(
            data.provenance.capitalize(),
            f"{data.n:,} rows, {data.d} columns, R = {data.row_bound:.3g}, "
            f"{setting.replicates} replicates; {KINDS[study.kind].name}"
            + (f", delta = {study.delta:g}" if study.kind == "approx" else ""),
        )
        show.picture(
            curves(
                summary,
                palette,
                x=lever,
                x_label=f"{lever} (stronger privacy left, more accuracy right)",
                y_label=f"Relative {NORM_NAMES[norm]} error to the {against}",
                order=[c.key for c in cards],
                labels={c.key: c.label for c in cards},
                references=found.references,
                marked=getattr(study, lever),
            ),
            "trade-offs",
        )
        what = (
            "fresh rows and fresh noise: sampling and privacy noise together"
            if simulated
            else "fresh noise on the same rows: privacy noise only"
        )
        st.caption(
            f"Lines: mean over replicates. Bands: 10 % to 90 % of replicates, with {what}. "
            "Horizontal lines: the trivial and the non-private answers, which are the ones to beat."
        )
        failed = int(summary["failed"].sum())
        if failed:
            st.warning(
                f'{failed} of {len(found.table)} runs gave no matrix and are in no mean; the column "problem" of the '
                "CSV says why."
            )
        with st.expander("Table"):
            st.dataframe(summary, hide_index=True)
        show.download(
            "All replicates as CSV", lambda t=found.table: t.to_csv(index=False), "trade-offs.csv", "download-table"
        )
