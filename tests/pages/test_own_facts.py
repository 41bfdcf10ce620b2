"""Your data with more than bounds: ids of persons, measured gaps, a share of the row bound."""

from __future__ import annotations

import numpy as np
import pytest

from pages.your_data import example_table, wording
from pages.your_data.declare import columns
from privcov.bundle.read import open_stored
from privcov.core.words import plain
from privcov.ledger import Ledger
from privcov.tables.declaration.declaration import Column, Declaration
from tests.pages.limits import type_in
from tests.pages.sent import everything
from tests.pages.sent import plain as unmarked
from tests.pages.test_own_data import (
    calm,
    declared,
    fill,
    given,
    go,
    ledger,  # noqa: F401 - every ledger here is a temporary one
    limited,
    press,
    widget,
)

WARD = (("age", 0.0, 110.0), ("pressure", 60.0, 220.0), ("pulse", 30.0, 180.0))
PERSONS = 300


def visits() -> bytes:
    """One to four visits of each person, with gaps in two columns, and one row without an id."""
    rng = np.random.default_rng(8)
    ids = np.repeat(np.arange(PERSONS), rng.integers(1, 5, PERSONS))
    age, pressure = rng.normal(55, 10, len(ids)), rng.normal(130, 15, len(ids))
    pulse = 40 + pressure / 4 + rng.normal(0, 5, len(ids))
    cells = [
        f"P{i},{a:.1f},{'' if rng.random() < 0.3 else f'{b:.1f}'},{'' if rng.random() < 0.2 else f'{c:.1f}'}"
        for i, a, b, c in zip(ids, age, pressure, pulse, strict=True)
    ]
    return "\n".join(["patient,age,pressure,pulse", *cells, ",50.0,120.0,70.0", ""]).encode()


def of_ward(**changes) -> Declaration:
    columns = tuple(Column(name, low, high, None, "known before") for name, low, high in WARD)
    usual = {"name": "ward", "row_stands_for": "one visit", "columns": columns, "person": "patient"}
    return Declaration(**(usual | changes))


def ward(**changes):
    at = press(fill(given(visits()), of_ward(**changes)), "Declare")
    assert at.session_state["own"].declared == of_ward(**changes), [e.value for e in at.error]
    return at


def through(at):
    """From Declare to Answers."""
    press(press(limited(at), "Release ..."), "Confirm and release")
    assert not at.error, [e.value for e in at.error]
    return at


def stored(book):
    (entry,) = Ledger(book).entries()
    return entry, open_stored(Ledger(book).stored(entry.token))


def said(at, words: str) -> bool:
    return any(words in unmarked(m.value) for m in at.markdown)


def table(at, word: str) -> str:
    (found,) = [h.proto.body for h in at.get("html") if f"{word}</th>" in h.proto.body]
    return found


# --- ids, gaps, and the share of the row bound -----------------------------------------------------------------


def test_a_column_of_ids_is_taken_by_the_button_of_the_question(ledger):  # noqa: F811
    at = given(visits())
    assert [m.label for m in at.number_input if m.label.startswith("Most rows") and not m.disabled]
    press(at, "Take 'patient' as the ids")
    assert widget(at, "selectbox", "person").value == "patient"
    assert widget(at, "number_input", "people").disabled
    assert widget(at, "radio", "public").label == "Number of persons"
    assert not at.warning
    widget(at, "text_input", "name").set_value("ward").run()
    widget(at, "text_input", "unit").set_value("one visit").run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    type_in(at, {k + 1: {"low": low, "high": high, "reason": "known before"} for k, (_, low, high) in enumerate(WARD)})
    press(at, "Declare")
    assert at.session_state["own"].declared == of_ward(), [e.value for e in at.error]
    assert said(at, "A person is all rows with one id in 'patient'")
    entry, answer = stored((through(at), ledger)[1])
    assert entry.request["facts"]["person"] == "patient"
    assert answer.measurement.facts.n == PERSONS
    assert f"{PERSONS} persons" in everything(at)


# --- a plan is that of its declaration --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"person": ""},
        {"row_bound_fraction": 0.5},
        {"missing": "pairs"},
        {"n_public": False},
        {"columns": (Column("age", 0.0, 109.0, None, ""), *of_ward().columns[1:])},
        {"columns": (Column("age", 0.0, 110.0, 20.0, ""), *of_ward().columns[1:])},
    ],
    ids="-".join,
)
def test_every_fact_that_the_noise_may_depend_on_is_in_the_key_of_a_plan(change):
    keys = {example_table.facts_key(wording.facts_of(declared, 1000)) for declared in (of_ward(), of_ward(**change))}
    assert len(keys) == 2


# --- fewer clicks, fewer keys -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "level"), [("zcdp", 0.1), ("approx", 1.0), ("pure", 1.0)])
def test_the_limit_begins_at_one_release_of_what_was_picked(kind, level, ledger):  # noqa: F811
    at = go(declared(), "plan")
    widget(at, "selectbox", "kind").set_value(kind).run()
    press(go(at, "release"), "Set the limit")
    assert str(Ledger(ledger).account("trial").limit) == str(at.session_state["own"].guarantee)
    assert plain(level) in str(at.session_state["own"].guarantee)


def test_answers_never_opens_a_release_of_the_table_s_earlier_name(ledger):  # noqa: F811
    """One visit: released, picked on Answers, then declared anew as another table."""
    at = through(declared())
    (box,) = [s for s in at.selectbox if s.label == "Release"]
    box.select_index(0).run()
    widget(go(at, "declare"), "text_input", "name").set_value("other people").run()
    go(press(at, "Declare"), "answers")
    (box,) = [s for s in calm(at).selectbox if s.label == "Release"]
    assert box.value is None
    assert any("has no release in the ledger yet" in i.value for i in at.info)
    assert not at.get("plotly_chart")


HEADER = ("age", "blood, pressure", "pulse", "sex")
LINES = (
    ("age, 0, 120, , , human lifetimes", ".", Column("age", 0.0, 120.0, None, "human lifetimes")),
    ('"blood, pressure", 60, 220, 120, number, medical', ".", Column("blood, pressure", 60.0, 220.0, 120.0, "medical")),
    ("pulse\t30\t180,5\t\tinteger\tmedical\n", ",", Column("pulse", 30.0, 180.5, None, "medical", kind="integer")),
    ("name; kind\nsex; yes-no: F | M", ".", Column("sex", kind="yes-no", values=("F", "M"))),
)


@pytest.mark.parametrize(("text", "decimal", "column"), LINES)
def test_a_pasted_line_is_read_by_its_name(text, decimal, column):
    assert columns.pasted(text, HEADER, decimal) == (column,)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "holds 0 columns"),
        ("age, 0, 1\nweight, 0, 2", "'weight', which this file does not have"),
        ("age,0,1\nage,0,2", "both name 'age'"),
        ("age, 0, 120, , human lifetimes", "'human lifetimes' under kind"),
    ],
)
def test_pasted_lines_are_taken_all_or_none(text, word):
    with pytest.raises(ValueError, match=word):
        columns.pasted(text, HEADER)
