"""Beside the plan: which level do I need, how bounds become noise, and the record to sign. No row is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import attacker, frame, show
from pages.shell.sliders import ends
from pages.your_data.noise import best_shape, in_words, line
from pages.your_data.state import keep
from privcov.bundle.paper import officer_record
from privcov.bundle.safe import cell
from privcov.data_sources.private_file import Declaration
from privcov.figures.look import plain
from privcov.owner.preview import STRUCTURES, Preview, Twin, planned_law, preview, smallest_level, with_level
from privcov.privacy import Guarantee, ZCDP
from privcov.private_dataset import Facts


@st.dialog("Security and limits", width="large")
def security() -> None:
    """What the private path promises and what it does not: the project's own file, without its title."""
    st.markdown((frame.ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("\n")[2])


def which_level(twin: Twin, facts: Facts, picked: Guarantee) -> None:
    """Which rho or epsilon a wanted accuracy needs, on simulated rows."""
    lever = "rho" if isinstance(picked, ZCDP) else "epsilon"
    with st.expander(f"Which {lever} do I need?"):
        what = st.radio(
            "I want",
            ["see", "error"],
            horizontal=True,
            format_func={"see": "to see a correlation", "error": "a small error as a whole"}.get,
            **keep("want", "see", among=["see", "error"]),
        )
        if what == "see":
            wanted = st.slider("of this size or more", 0.05, 0.95, step=0.05, **keep("want-see", 0.3))
            ends("faint", "unmistakable")
        else:
            wanted = st.slider("at most, in percent", 1, 100, **keep("want-error", 20)) / 100
            ends("nearly exact", "as bad as zero")
        asked = (twin, facts.rows_per_person, facts.n is None, picked, what, wanted)
        pressed, before = st.button("Find it", key="own-find"), st.session_state.get("own-found")
        if not pressed:
            if before is not None and before[0] == asked:  # the answer stays while its question does
                _level_found(before[1], lever, asked)
            return

        def law(level: float):
            tried = with_level(picked, level)
            return tried, planned_law(facts, tried, best_shape(facts, tried, twin.n), twin.n)

        def meets(level: float) -> bool:
            found = preview(twin, *law(level), replicates=1 if what == "see" else None)
            return found.visible <= wanted if what == "see" else found.error <= wanted

        with st.spinner("Searching ..."):
            level = smallest_level(meets, ratio=1.02 if what == "see" else 1.1)
        st.session_state["own-found"] = (asked, level)
        _level_found(level, lever, asked)


def _level_found(level: float | None, lever: str, asked: tuple) -> None:
    twin, picked = asked[0], asked[3]
    if level is None:
        st.markdown(f"**None up to 100.** With {twin.n:,} rows the sampling error or the repairs alone leave more.")
        return
    st.markdown(
        f"**About {lever} {plain(level)}.** For the invented table at the left. To go on with it, type it as one of "
        f"the three candidates."
    )
    attacker.line(with_level(picked, level), f"Attacker, {lever} {plain(level)}")


def explain(declared: Declaration, facts: Facts, plan: Preview) -> None:
    """From the user's own bounds to the noise on the user's own columns."""
    d = facts.d
    with st.expander("How your bounds become noise"):
        first = declared.columns[0]
        st.markdown(
            "1. "
            + show.as_text(
                f"Each column is counted in units of its half-range, the distance from its typical value to the "
                f"farther bound: {first.name!r} becomes ({first.name} - {facts.origin[0]:g}) / {facts.scale[0]:g}, a "
                "number between -1 and 1."
            )
        )
        st.markdown(
            f"2. {d} such numbers make a row of norm at most R = sqrt({d}) = {plain(facts.row_bound)}. Dividing by R "
            f"is the scaling to [-1, 1] / sqrt({d}): no row is longer than 1, so no person weighs more than another."
        )
        people = "" if facts.rows_per_person == 1 else f", times {facts.rows_per_person} rows of a person"
        st.markdown(
            "3. Replacing one such row moves the sum of all products, as a whole, by no more than a fixed amount that "
            f"depends on none of your rows (the sensitivity{people}). The noise is that amount, divided by what the "
            f"guarantee allows, over the number of rows: {plain(plan.entry_std)} on a covariance, in half-range units."
        )
        st.markdown(
            f"4. Every column adds the same 1 to R squared = {d}, and the noise grows with R squared: leaving a column "
            f"out lowers it for all others by {1 / d:.0%}. In its own units a column pays with its half-range: bounds "
            "twice as wide, noise four times as large on its variance."
        )
        reach = facts.scale / ((facts.bounds[:, 1] - facts.bounds[:, 0]) / 2)
        table = pd.DataFrame(
            {
                "Column": [cell(c) for c in facts.columns],
                "Half-range": facts.scale,
                "Noise on its variance": plan.variance_std * facts.scale**2,
                "As a deviation": np.sqrt(plan.variance_std) * facts.scale,
                "Off-centre cost": reach**2,
            }
        )
        worst = int(np.argmax(reach))
        if reach[worst] > 1.01:
            st.markdown(
                show.as_text(
                    f"{facts.columns[worst]!r} costs most: its typical value is off the middle, so one side of its "
                    f"range is {reach[worst]:.2f} times the middle's, and its noise {reach[worst] ** 2:.1f} times."
                )
            )
        number = st.column_config.NumberColumn
        st.dataframe(
            table,
            hide_index=True,
            height=min(35 * (d + 1) + 3, 300),
            column_config={
                "Half-range": number(format="%.4g"),
                "Noise on its variance": number(format="%.3g", help="Deviation, in the column's own units squared."),
                "As a deviation": number(format="%.3g", help="The root of it, in the column's own units."),
                "Off-centre cost": number(format="%.2f x", help="1 when the typical value is in the middle."),
            },
        )


def record(declared: Declaration, facts: Facts, plans: list[Preview], picked: int) -> None:
    """The plan as a page of paper, to be kept or signed."""
    twin = plans[picked].twin
    people = "1 row" if declared.rows_per_person == 1 else f"{declared.rows_per_person} rows"
    lines = [
        f"One row stands for {declared.row_stands_for}; one person has at most {people}.",
        f"{facts.d} columns; the number of rows is {'public' if declared.n_public else 'not public'} "
        f"(planned with {twin.n:,}).",
        f"A missing cell: {'counts as the typical value' if declared.missing == 'typical' else 'its row is left out'}.",
        f"Neighbouring tables: {facts.neighbours.sentence}.",
    ]
    if declared.label:
        lines.append(f"Classes in {declared.label}: {', '.join(declared.classes)}.")
    bounds = [
        (c.name, low, high, float(origin), c.reason)
        for c, (low, high), origin in zip(declared.columns, facts.bounds.tolist(), facts.origin, strict=True)
    ]
    candidates = [tuple(line(p).values()) for p in plans]
    shape = (
        f"Error and noise are for an invented table: {STRUCTURES[twin.structure]}, correlation {twin.strength:g}, "
        f"deviation {twin.spread:g} of the half-range, {twin.n:,} rows."
    )
    made = officer_record(declared.name, lines, bounds, candidates, shape, in_words(plans[picked]))
    show.download(
        "Record for the data protection officer (HTML, one page)",
        lambda: made,
        "planned-release.html",
        "own-record",
        "text/html",
    )
