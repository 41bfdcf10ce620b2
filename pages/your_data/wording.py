"""Functions that several steps of the data owner's page share."""

from __future__ import annotations

import dataclasses
import math
from html import escape

from pages.common import show
from privcov.core import accounting
from privcov.core.guarantees import Guarantee, ZCDP
from privcov.core.words import percent, plain, powers, to_powers
from privcov.measurements.norm_histogram import SEARCH_SHARE
from privcov.steward.preview import Preview, planned_trade_off
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.public_facts import FEWEST_COLUMNS, PublicFacts
from privcov.tables.readers.kinds import CATEGORY, YES_NO

IMPLIED_DELTA = 1e-6
# What each rule is for; with pairs the joint law of all entries is not known.
MISSING_WHEN = {
    "typical": "Where at most some 5 % of a column are missing: correlations fall by about that share, means move.",
    "drop-row": "Where the other cells of such a row are worth little.",
    "pairs": "Where more are missing. No regression, components or graph then.",
}
MISSING = {
    "typical": "A missing cell counts as the typical value",
    "drop-row": "A row with a missing cell is left out (only where the number of rows is not public)",
    "pairs": "Missing cells are measured: two columns are compared over the rows that have both",
}


SEARCHED = {"yes": True, "no": False}  # the answers to whether a search may shorten the row bound


def facts_in_words(declaration: Declaration) -> list[str]:
    """Return sentences on what is declared beyond the bounds: persons, missing cells, row bound, classes."""
    lines = []
    if declaration.person:
        lines.append(f"A person is all rows with one id in {declaration.person!r}, and counts as one.")
    lines.append(f"{MISSING[declaration.missing].partition(' (')[0]}.")
    if declaration.row_bound_fraction < 1:
        share = f"{declaration.row_bound_fraction:g}"
        lines.append(f"Rows longer than {share} of the longest possible row are shortened to it.")
        if any(column.kind in (YES_NO, CATEGORY) for column in declaration.columns):
            lines.append(
                "Then Answers has no means by group of a yes-no column or category; it has them with a row bound of 1 "
                "(under Advanced), at more noise."
            )
    if declaration.row_bound_search and len(declaration.measured) >= FEWEST_COLUMNS:
        lines.append(
            f"A release spends {percent(SEARCH_SHARE)} of its guarantee on noisy counts of the lengths of the rows. It "
            "then shortens the row bound to where most rows end."
        )
    if declaration.label:
        within = " A method's covariance is within the classes." if declaration.missing != "pairs" else ""
        lines.append(
            f"Classes in {declaration.label!r}: {', '.join(map(repr, declaration.classes))}. Plan and the matrices of "
            f"Answers are for all rows.{within}"
        )
    return lines


def facts_of(declaration: Declaration, rows: int) -> PublicFacts:
    """Return the public facts for a given number of rows, or of persons with ids; the file is not read."""
    return dataclasses.replace(declaration.facts, n=rows if declaration.n_public else None)


def attacker(facts: PublicFacts, guarantee: Guarantee) -> float:
    """Return the attacker's best chance against the release that would follow."""
    return accounting.attacker_success(planned_trade_off(facts, guarantee))


def line(plan: Preview, chance: float) -> dict:
    """Return one plan as a line of the table of guarantees; ``chance`` is the attacker's best chance."""
    low, high = (powers(end, 2) for end in plan.correlation_ends)
    apart = math.isfinite(plan.correlation_ends[1]) and low != high
    return {
        "Guarantee": to_powers(str(plan.guarantee)),
        show.ATTACKER: show.chance(chance),
        "Expected error": percent(plan.error),
        "Correlations off by": plain(plan.correlation_error),
        "Noise on them": f"{plain(plan.correlation_std)} ({low} to {high})" if apart else plain(plan.correlation_std),
        "Smallest visible correlation": plain(plan.visible) if plan.visible < 1 else "none",
    }


def explain_guarantee(plan: Preview, chance: float) -> str:
    """Return what a guarantee and an attacker's best chance mean, in a paragraph for a reader who does not know it."""
    visibility = (
        f"correlations of {plain(plan.visible)} or more can mostly be seen"
        if plan.visible < 1
        else "no correlation, however strong, can be seen"
    )
    implied = ""
    if isinstance(plan.guarantee, ZCDP):
        epsilon = accounting.zcdp_to_approx(plan.guarantee.rho, IMPLIED_DELTA)
        implied = f" It implies epsilon = {plain(epsilon)} at delta = {plain(IMPLIED_DELTA)}."
    return (
        f"{to_powers(str(plan.guarantee))} means: somebody who knows the rows of everybody else and has the release "
        f"guesses {plan.table.facts.neighbours.secret}, and is right {show.chance(chance, most=True)} of the time; "
        f"a coin toss, 50 %.{implied} The covariance of a table like the invented one is then off by "
        f"{percent(plan.error)} "
        f"as a whole, and {visibility}."
    )


def text_table(lines: list[dict]) -> str:
    """Return a table of plain texts as HTML; every cell is escaped."""
    head = "".join(f"<th style='text-align:left;padding:.2rem .8rem .2rem 0'>{escape(k)}</th>" for k in lines[0])
    body = "".join(
        "<tr>"
        + "".join(f"<td style='padding:.2rem .8rem .2rem 0;white-space:nowrap'>{escape(v)}</td>" for v in line.values())
        + "</tr>"
        for line in lines
    )
    table = f"<table style='width:100%;border-collapse:collapse'><tr>{head}</tr>{body}</table>"
    return f"<div style='overflow-x:auto' tabindex='0'>{table}</div>"  # a phone is narrower than six columns
