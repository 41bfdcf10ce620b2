"""Your data with a search for the row bound: declared by default, offered on Plan, carried out by Release."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from privcov.bundle.read import open_stored
from privcov.ledger import Ledger
from privcov.tables.declaration.declaration import Column, Declaration, row_bound_search
from tests.pages.sent import everything
from tests.pages.test_own_data import (
    fill,
    given,
    go,
    ledger,  # noqa: F401 - every ledger here is a temporary one
    limited,
    press,
    widget,
)

NAMES = tuple(f"item{k}" for k in range(12))
COLUMNS = tuple(Column(name, -50.0, 50.0, None, "the scale") for name in NAMES)


def rows() -> bytes:
    lines = [",".join(f"{v:.2f}" for v in row) for row in np.random.default_rng(2).normal(0, 2, (2000, 12))]
    return "\n".join([",".join(NAMES), *lines, ""]).encode()


def scale(**changes) -> Declaration:
    return Declaration(**({"name": "scale", "row_stands_for": "one person", "columns": COLUMNS} | changes))


@pytest.mark.parametrize("asked", ["yes", "no"])
def test_a_search_is_declared_or_offered_by_plan_and_carried_out(ledger, asked):  # noqa: F811
    at = fill(given(rows()), scale())
    widget(at, "selectbox", "search").set_value(asked).run()
    press(at, "Declare")
    declared = at.session_state["own"].declared
    assert declared.row_bound_search == (asked == "yes")
    assert ("It then shortens the row bound" in everything(at)) == (asked == "yes")
    go(at, "plan")
    if asked == "no":  # Plan offers it, with what it is worth
        assert "Search for the row bound" in everything(at)
        at.button(key="own-search").click().run()
        assert at.session_state["own"].declared == dataclasses.replace(declared, row_bound_search=True)
    else:
        assert "Search for the row bound" not in everything(at)
    press(press(limited(at), "Release ..."), "Confirm and release")
    assert not at.error, [e.value for e in at.error]
    (entry,) = Ledger(ledger).entries()
    assert entry.request["parameters"]["row_bound_search"] == "auto"
    answer = open_stored(Ledger(ledger).stored(entry.token))
    assert answer.measurement.search is not None
    assert "row norms counted in bins" in answer.release.statement["Measured"]


def test_a_template_takes_the_rule_and_a_saved_declaration_the_answer():
    habits = (*COLUMNS[:-1], Column("item11", typical_range=(-4, 4)))
    assert row_bound_search(COLUMNS)
    assert not row_bound_search(COLUMNS[:9])
    assert not row_bound_search(habits)
    assert not row_bound_search((*COLUMNS[:-1], Column("yes", kind="yes-no", values=("n", "y"))))
    for columns, expected in ((COLUMNS, True), (habits, False)):
        text = scale(columns=columns).to_json()
        assert "row_bound_search" not in text
        left_open = text.replace('"columns"', '"row_bound_search": null, "columns"', 1)
        assert Declaration.from_json(left_open).row_bound_search is expected
    searched = scale(row_bound_search=True)
    assert Declaration.from_json(searched.to_json()) == searched
    with pytest.raises(ValueError, match="row_bound_search"):
        scale(row_bound_search="yes")
