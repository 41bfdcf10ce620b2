"""What the owner takes home: of a plan a report without a name of the file; of a release its bundle and its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

import privcov
from pages.shell import show
from pages.shell import take_home as shell_take_home
from pages.your_data.shown import doubtful, square, under_test
from privcov import places
from privcov.answering.answers import FALSE_DISCOVERIES
from privcov.bundle.derived import strongest
from privcov.bundle.opened import Opened, bundle_of
from privcov.bundle.paper import NOT_COVERED
from privcov.figures.look import Picture
from privcov.figures.matrices import colour_limit, heatmap
from privcov.figures.own import pairs
from privcov.figures.palette import LIGHT, Palette
from privcov.figures.words import percent, plain, raised
from privcov.ledger import Entry
from privcov.owner.preview import Preview
from privcov.owner.simulated_table import SimulatedTable
from privcov.privacy import GaussianDP, Guarantee
from privcov.public_facts import PublicFacts

if TYPE_CHECKING:
    from privcov.bundle.front import Front
    from privcov.measurements.noise import NoiseDistribution

_PAIRS = 20  # of the strongest correlations, in the report


def bundle(opened: Opened, entry: Entry, declaration: dict | None) -> None:
    """Show the button of the bundle, which is made when it is pressed."""
    record = entry.to_dict()
    st.download_button(
        "Download the bundle",
        data=lambda: bundle_of(opened, record, declaration, _pictures(opened)),
        file_name=f"release-{entry.number}.zip",
        mime="application/zip",
        on_click="ignore",
        key="own-bundle",
        type="primary",
        width="stretch",
        help="One zip with every answer. Take home says what is in it, and how its reader checks it.",
    )


def section(opened: Opened, entry: Entry, declaration: dict | None, answer: str) -> None:
    """Show what is in the bundle, and the report; ``answer`` is the release as the ledger has it."""
    st.markdown(
        "The bundle is one zip: every matrix as CSV and npz, the statement, the method card, the ledger entry, the "
        "declaration, figures, a one-page report, and `verify.py`. Who gets it checks it without the data: "
        f"`{places.command()} verify release.zip`, or a trusted `verify.py`, which needs Python and numpy only. The "
        "guarantee and every file are worked out again from the noisy whole numbers and compared byte for byte, but "
        "the pictures and the matrices as the method estimates them. Its folder `extras` has these, intervals, the "
        "codebook, and readers for Python and R without privcov."
    )
    if declaration is None:
        st.caption("The declaration is not open in this session; its public facts go in, the reasons do not.")
    _report(opened, entry, answer)
    st.header("Statement")
    for title, text in opened.release.statement.lines:
        name, words = st.columns([1, 6])
        name.markdown(f"**{title}**")
        words.text(text)
    for note in opened.release.notes:
        st.caption(show.as_text(note))
    with st.expander("Ledger entry"):
        st.json(entry.to_dict(), expanded=1)


def _pictures(opened: Opened) -> dict[str, tuple[str, Picture]]:
    """Return file stem -> (title, figure), in the light palette of paper."""
    columns, found, pictures = opened.columns, privcov.answers(opened.release), {}
    for stem, title in (("correlation", "Correlation"), ("partial", "Partial correlation")):
        matrix = getattr(opened.matrices, stem)
        pale, unknown = doubtful(found, stem, FALSE_DISCOVERIES, opened.total)
        limit, what = colour_limit(matrix), f"released {title.lower()}"
        pictures[stem] = title, heatmap(matrix, columns, limit, LIGHT, what=what, pale=pale, unknown=unknown)
    if len(columns) > 1:
        pictures["pairs"] = (
            "The strongest correlations with total intervals",
            pairs(found.correlations(), LIGHT, x_title="Correlation", what="The strongest correlations", most=_PAIRS),
        )
    return pictures


def _report(opened: Opened, entry: Entry, answer: str) -> None:
    """Show the report of a release; everything in them was released."""
    matrices, columns, facts = opened.matrices, opened.columns, opened.total.facts
    rows = f"n = {facts.n:,}" if facts.n is not None else f"n about {opened.measured.rows:,.0f}, a noisy count"
    judged = privcov.answers(opened.release)
    pale, unknown = doubtful(judged, "correlation", FALSE_DISCOVERIES, opened.total)
    found = judged.correlations()
    real = square(found, "real", columns, fill=False)
    low, high = (square(found, end, columns, fill=1.0) for end in ("low", "high"))
    strong = [pair for pair in strongest(np.where(real, matrices.correlation, 0.0), _PAIRS) if real[pair]]

    def front() -> Front:
        from privcov.bundle import front as fronts

        words, advised = "The variance of the one column was released.", "Read it with the noise of its table."
        if under_test(found).any():
            words, advised = (
                f"None of {under_test(found).sum()} correlations can be told from none.",
                "Read nothing from them.",
            )
        if strong:
            i, j = strong[0]
            words = (
                f"{int(found['real'].sum())} of {under_test(found).sum()} correlations are real. The strongest is "
                f"{plain(float(matrices.correlation[i, j]))}, of {columns[i]} and {columns[j]}."
            )
            advised = f"Report it with its total interval, {plain(float(low[i, j]))} to {plain(float(high[i, j]))}."
        return fronts.Front(
            words,
            advised,
            fronts.risk_of(opened.release),
            [
                ("Rows and columns", f"{rows}, d = {facts.d}; {facts.neighbours.sentence}"),
                ("Bounds", fronts.bounds_of(columns, facts.bounds)),
                ("Row bound", f"R = {plain(facts.row_bound)}"),
                ("Guarantee", raised(str(opened.release.given))),
                ("Rows", f"{entry.name}: confidential; what is shown was released under the guarantee"),
                ("Seed", "none: the noise of a private release cannot be drawn again"),
            ],
            heatmap(
                matrices.correlation,
                columns,
                colour_limit(matrices.correlation),
                LIGHT,
                what="released correlation",
                pale=pale,
                unknown=unknown,
            ),
            "Released correlations; orange is negative, teal positive, pale what may be noise, hatched what is not "
            "identified.",
        )

    def behind() -> pd.DataFrame:
        return pd.DataFrame(
            [(columns[i], columns[j], float(matrices.correlation[i, j])) for i, j in strong],
            columns=["column", "other column", "correlation"],
        )

    script = "\n".join(
        [
            "from privcov.bundle.opened import open_answer",
            "",
            f"answer = {answer!r}",
            "",
            "opened = open_answer(answer)",
            "print(opened.release.statement)",
            "print(opened.matrices.correlation)",
        ]
    )
    shell_take_home.result(
        "own",
        f"Release: {entry.name}",
        front,
        provenance="Released",
        subject=f"{rows}, {facts.d} columns; {raised(str(opened.release.given))}",
        behind=behind,
        script=script,
        words=[f"{title}: {text}" for title, text in opened.release.statement.lines],
        notes=NOT_COVERED,
        where="",
    )


def of_plan(
    plan: Preview,
    facts: PublicFacts,
    distribution: NoiseDistribution,
    claim: Guarantee | GaussianDP,
    words: str,
    lines: list[dict],
    chart: Callable[[Palette], Picture],
) -> None:
    """Show what Plan takes home, without a column's name: claim, meaning of the chosen guarantee, and candidates."""
    twin = plan.twin
    size = f"n = {twin.n:,}" + ("" if facts.n is not None else ", a guess that is not public") + f", d = {facts.d}"

    def front() -> Front:
        from privcov.bundle import front as fronts

        seen = f"correlations of {plain(plan.visible)} or more can mostly be seen"
        seen = seen if plan.visible < 1 else "no correlation can be seen"
        hidden = plan.error > plan.trivial > 0
        return fronts.Front(
            f"Under {raised(str(plan.guarantee))} the covariance is expected to be {percent(plan.error)} off, and "
            f"{seen}.",
            "Do not release yet: the variances alone would be a better answer. More rows, fewer columns, tighter "
            "bounds or a weaker guarantee help."
            if hidden
            else "Release under this guarantee if that is accurate enough; the record is there to be signed.",
            fronts.odds([claim]),
            [
                ("Rows and columns", size),
                ("Bounds", f"declared for each of the {facts.d} columns; see the record"),
                ("Row bound", f"R = {plain(facts.row_bound)}"),
                ("Guarantee", f"{raised(str(plan.guarantee))}; {facts.neighbours.sentence}"),
                ("Rows", f"{twin.what}; no row of the file is read"),
                ("Seed", f"0, for {plan.replicates} draws of the noise"),
            ],
            chart(LIGHT),
            "Chance that a pair is kept, by its correlation, under each candidate.",
        )

    shell_take_home.result(
        "plan",
        "Planned release",
        front,
        provenance="Simulated",
        subject=size,
        behind=lambda: pd.DataFrame(lines),
        script=_again(plan, distribution),
        words=[words],
        notes=["Prepared without reading a row."],
        where="",
    )


def _again(plan: Preview, distribution: NoiseDistribution) -> str:
    """Return a script that computes the plan again; of example rows the noise alone."""
    lines = ["from privcov.measurements.noise import NoiseDistribution"]
    noise = f"noise = {distribution!r}"
    if not isinstance(plan.twin, SimulatedTable):
        last = 'print(f"noise on an entry {noise.off_diagonal_std:.3g} R^2")'
        return "\n".join([*lines, "", noise, last])
    lines += [
        "from privcov.owner.preview import SimulatedTable, preview",
        f"from privcov.privacy import {type(plan.guarantee).__name__}",
        "",
        f"twin = {plan.twin!r}",
        noise,
        f"plan = preview(twin, {plan.guarantee!r}, noise)",
        'print(f"expected error {100 * plan.error:.1f} %, smallest visible correlation {plan.visible:.3g}")',
    ]
    return "\n".join(lines)
