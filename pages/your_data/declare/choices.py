"""What each choice of missing cells and row bound costs the receiver of a release, from the declaration alone."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from pages.your_data import example_table
from pages.your_data.state import owner_session
from pages.your_data.wording import facts_of
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain
from privcov.steward.example_rows import Invention
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.public_facts import FEWEST_COLUMNS

GUARANTEE = ZCDP(0.1)
_RULES = {"typical": "as the typical value", "drop-row": "their rows left out", "pairs": "measured by pairs"}
_Z = 1.96


def rows() -> int:
    """Return the number of rows that Plan takes."""
    return int(owner_session().widget_values.get("rows", example_table.START))


def missing() -> float:
    """Return the share of missing cells that was given on Declare or on Plan."""
    return float(owner_session().widget_values.get("missing-share", 0.0))


def lines(declaration: Declaration) -> list[dict]:
    """Return a line for each rule for missing cells, with and without the declared row bound."""
    rules = [rule for rule in _RULES if rule != "drop-row" or not declaration.n_public]
    cases = {f"Missing cells: {_RULES[rule]}": dataclasses.replace(declaration, missing=rule) for rule in rules}
    if declaration.row_bound is None:
        for fraction in sorted({declaration.row_bound_fraction, 1.0}):
            word = f"{fraction:g} of the longest row" if fraction < 1 else "no row shortened"
            cases[f"Row bound: {word}"] = dataclasses.replace(declaration, row_bound_fraction=fraction)
    return [_line(words, case) for words, case in cases.items()]


def _line(words: str, declaration: Declaration) -> dict:
    whole = declaration.missing != "pairs"
    searched = declaration.row_bound_search and len(declaration.measured) >= FEWEST_COLUMNS
    bounded = whole and declaration.row_bound is None and declaration.row_bound_fraction == 1 and not searched
    return {
        "Choice": words,
        "Regression, axes, graph": "yes" if whole else "no",
        "Means by group": "yes" if bounded else "no",
        "95 % interval of a correlation": f"± {plain(_half_width(declaration))}",
    }


def _half_width(declaration: Declaration) -> float:
    """Return half of the interval of a middle pair near zero, noise and sampling together."""
    answers = owner_session().widget_values
    values: dict[str, Any] = {name: answers[name] for name in ("structure", "strength") if name in answers}
    if example_table.has_limits_alone(declaration):
        values["spread"] = answers.get("spread", example_table.WITHIN_LIMITS)
    facts = facts_of(declaration, rows())
    table = example_table.table(declaration, facts, Invention(rows(), missing=missing(), **values))

    def compute() -> float:
        plan = example_table.preview_release(table, GUARANTEE, search=declaration.row_bound_search, replicates=1)
        return min(_Z * math.hypot(plan.correlation_std, plan.sampling_std), 1.0)

    return example_table.once(("half", table, example_table.facts_key(facts), declaration.row_bound_search), compute)
