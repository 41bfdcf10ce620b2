"""Live audit of the sampler of pure-DP noise: the old one, in floating point, beside the exact one."""

from __future__ import annotations

import streamlit as st

from pages.shell import address, fields, frame, show
from privcov.audit import trial as trials
from privcov.figures import audit as pictures
from privcov.figures.words import plain
from privcov.privacy import PureDP

ASKED = ("epsilon", "people")


@st.cache_data(max_entries=32, show_spinner="Drawing from both samplers ...")
def _trial(epsilon: float, rows_per_person: int, turn: int) -> trials.Trial:
    """Run the test of both samplers, anew at each ``turn``, the number of the visitor's clicks."""
    return trials.trial(epsilon, rows_per_person)


def section(box) -> None:
    """Show the controls, which go into the box, and the result."""
    with box:
        st.caption(
            "No longer used: rounded floating-point noise lies on a lattice, so an answer's residue tells what "
            f"it was added to. Second moment of {trials.COLUMNS} columns."
        )
        one, two, three = st.columns([2, 3, 5], vertical_alignment="bottom")
        epsilon = address.bound(
            one.number_input, "Epsilon", 0.05, 8.0, name="live.epsilon", default=1.0, step=0.25, format="%g",
            key="sampler-epsilon",
        )  # fmt: skip
        people = address.bound(
            two.selectbox, "Rows per person, at most", [1, 10, 100, 1_000], name="live.people", default=1_000,
            key="sampler-people", format_func=lambda v: f"{v:,}",
            help="More rows, more noise, a coarser lattice.",
        )  # fmt: skip
        with three:
            fields.attacker(PureDP(float(epsilon)), "Attacker, if the claim holds")
    counts = st.session_state.setdefault("sampler-turns", {})
    asked = (float(epsilon), int(people))
    if st.button("Draw again", key="sampler-run"):
        counts[asked] = counts.get(asked, 0) + 1
    _show(_trial(*asked, counts.get(asked, 0)))
    with st.expander("What an audit can and cannot see"):
        st.markdown(
            f"""
- **Unevenness:** n times the squared mean of exp(2 pi i N / period), for the noise N modulo 2^k and scale / 2^j; 1 on
  average for even noise, which all looks together accuse less than once in 10^11 trials.
- **Not seen:** other periods, a wrong scale, dependence. The exact sampler's proof:
  `privcov/measurements/exact_wishart.py`.
- **The attack** subtracts either table's exact diagonal and counts in how many ways floating point could have given
  the rest, in {trials.RELEASES} releases of a table chosen by a coin.
"""
        )
    with st.expander("The same in Python"):
        st.code(
            f"from privcov.audit.trial import trial\n\nfound = trial({asked[0]!r}, {asked[1]!r})\n"
            "print(found.sentence)\nprint(found.meaning)",
            language="python",
        )


def _show(trial: trials.Trial) -> None:
    """Show the result of the test."""
    palette = frame.palette()
    numbers = trial.old[0].numbers
    show.tag("Simulated", f"{trials.RELEASES} draws of {trials.COLUMNS} x {trials.COLUMNS} noise, {numbers:,} numbers")
    show.verdict(trial.sentence, trial.caught, palette)
    one, two, three, four = st.columns(4)
    one.metric("Old: largest unevenness", plain(trial.old[0].worst.statistic), border=True)
    two.metric("Exact: largest unevenness", plain(trial.exact[0].worst.statistic), border=True)
    three.metric("Old: attacker right", f"{trial.old[1].right} of {trial.old[1].releases}", border=True)
    four.metric("Exact: attacker right", f"{trial.exact[1].right} of {trial.exact[1].releases}", border=True)
    st.markdown(show.as_text(trial.meaning))
    show.picture(pictures.evenness(trial, palette), "audit-lattice")
