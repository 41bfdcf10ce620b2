"""Your data with more than bounds: ids of persons, measured gaps, a share of the row bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pages.your_data import wording
from pages.your_data.declare import columns, practice
from pages.your_data.plan import example_table
from privcov.bundle.read import open_stored
from privcov.core.guarantees import ZCDP
from privcov.ledger import Ledger
from privcov.plots.words import plain
from privcov.tables.declaration.private_file import Column, Declaration
from tests.pages.limits import type_in
from tests.pages.sent import everything
from tests.pages.sent import plain as unmarked
from tests.pages.test_own_data import (
    calm,
    declaration,
    declared,
    fill,
    given,
    go,
    ledger,  # noqa: F401 - every ledger here is a temporary one
    limited,
    opened,
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


def test_missing_cells_are_measured_in_every_column(ledger):  # noqa: F811
    at = through(ward(missing="pairs"))
    facts = stored(ledger)[1].measurement.facts
    assert (facts.missing, facts.flagged) == ("pairs", tuple(range(len(WARD))))
    own = at.session_state["own"]
    assert Declaration.from_json(own.declared.to_json()) == own.declared
    assert "over the rows that have both." in " ".join(wording.facts_in_words(own.declared))


def test_a_share_of_the_row_bound_is_what_is_released(ledger):  # noqa: F811
    through(ward(row_bound_fraction=0.5))
    assert stored(ledger)[1].measurement.facts.row_bound == pytest.approx(0.5 * math.sqrt(len(WARD)), rel=1e-9)


def test_everything_declared_under_advanced_is_said_before_a_row_is_read():
    said = " ".join(wording.facts_in_words(of_ward(row_bound_fraction=0.25, missing="pairs")))
    for part in ("'patient', and counts as one", "are measured", "longer than 0.25 of the longest"):
        assert part in said
    assert "means by group" not in said, "no column makes groups"
    sexed = {"columns": (*of_ward().columns, Column("sex", kind="yes-no", values=("F", "M")))}
    assert "means by group" in " ".join(wording.facts_in_words(of_ward(row_bound_fraction=0.25, **sexed)))
    assert "means by group" not in " ".join(wording.facts_in_words(of_ward(**sexed)))
    assert wording.facts_in_words(declaration()) == ["A missing cell counts as the typical value."]
    by_class = declaration(n_public=False, missing="drop-row", label="arm", classes=("a", "b"))
    assert wording.facts_in_words(by_class) == [
        "A row with a missing cell is left out.",
        "Classes in 'arm': 'a', 'b'. Plan and the matrices of Answers are for all rows. A method's covariance is "
        "within the classes.",
    ]
    pairs = declaration(missing="pairs", label="arm", classes=("a", "b"))
    assert "within the classes" not in " ".join(wording.facts_in_words(pairs)), "all rows are measured together"


# --- a plan is that of its declaration --------------------------------------------------------------------------


def test_a_plan_is_computed_anew_where_a_declared_fact_changed():
    """In one visit, with what was computed before at hand; of shorter rows the noise is a quarter."""
    at, shown = ward(), []
    for fraction in (1.0, 0.5):
        press(fill(go(at, "declare"), of_ward(row_bound_fraction=fraction)), "Declare")
        shown.append(table(go(at, "plan"), "Expected error"))
    assert shown[0] != shown[1]


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
    keys = {example_table.as_declared(wording.facts_of(declared, 1000)) for declared in (of_ward(), of_ward(**change))}
    assert len(keys) == 2


def test_the_picked_candidate_stays_while_its_level_changes():
    at = go(declared(), "plan")
    widget(at, "radio", "pick").set_value(2).run()
    widget(at, "number_input", "level-zcdp-2").set_value(0.7).run()
    assert widget(calm(at), "radio", "pick").value == 2
    assert at.session_state["own"].chosen == ZCDP(0.7)
    assert list(widget(at, "radio", "pick").options) == [f"Candidate {k}" for k in (1, 2, 3)]


# --- fewer clicks, fewer keys -----------------------------------------------------------------------------------


def test_the_practice_table_is_declared_when_it_is_taken():
    at = press(opened(), "Use the practice table")
    own = at.session_state["own"]
    assert own.declared == practice.declaration(own.declared.name.split()[-1])
    assert not at.info
    assert not at.error
    assert own.checked is own.look is None, "no row was read"


@pytest.mark.parametrize(("kind", "level"), [("zcdp", 0.1), ("approx", 1.0), ("pure", 1.0)])
def test_the_limit_begins_at_one_release_of_what_was_picked(kind, level, ledger):  # noqa: F811
    at = go(declared(), "plan")
    widget(at, "selectbox", "kind").set_value(kind).run()
    press(go(at, "release"), "Set the limit")
    assert str(Ledger(ledger).account("trial").limit) == str(at.session_state["own"].chosen)
    assert plain(level) in str(at.session_state["own"].chosen)


def test_several_columns_are_meant_by_a_part_of_their_names():
    """A bank table: yes-no columns and amounts are two fillings, and what stood there stays."""
    at = given(("acc_a,acc_b,flag_a,flag_b\n" + "1,2,0,1\n" * 5).encode())
    type_in(at, {2: {"high": 2.0}})
    for part, high, why in (("FLAG", 1.0, "yes or no"), ("acc", 5000.0, "the contract")):
        widget(at, "text_input", "all-part").set_value(part).run()
        assert "2 of 4 columns, 2 of them ticked" in everything(calm(at))
        widget(at, "number_input", "all-low").set_value(0.0).run()
        widget(at, "number_input", "all-high").set_value(high).run()
        widget(at, "text_input", "all-reason").set_value(why).run()
        if part == "FLAG":
            widget(at, "text_input", "all-typical").set_value("0").run()
        press(at, "Fill in where empty")
    typed = at.session_state["own"].typed
    assert typed["low"].tolist() == [0.0] * 4
    assert typed["high"].tolist() == [5000.0, 5000.0, 2.0, 1.0]
    assert typed["typical"].tolist()[2:] == [0.0, 0.0]
    assert typed["reason"].tolist() == ["the contract"] * 2 + ["yes or no"] * 2
    assert widget(at, "text_input", "all-typical").value == "", "what was filled in goes into no other columns"
    press(at, "Tick none")
    assert at.session_state["own"].typed["use"].tolist() == [False, False, True, True]
    widget(at, "text_input", "all-part").set_value("").run()
    press(at, "Tick all")
    assert at.session_state["own"].typed["use"].all()


def test_a_declaration_changed_in_any_fact_is_noticed():
    at = ward()
    for kind, name, value in (("number_input", "fraction", 0.5), ("radio", "missing", "pairs")):
        before = at.session_state["own"].declared
        widget(at, kind, name).set_value(value).run()
        assert any("You changed something since" in i.value for i in calm(at).info)
        press(at, "Declare")
        assert at.session_state["own"].declared != before


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


def test_a_table_is_declared_from_pasted_lines():
    at = given(visits())
    press(at, "Take 'patient' as the ids")
    widget(at, "text_input", "name").set_value("ward").run()
    widget(at, "text_input", "unit").set_value("one visit").run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    lines = [f"{name}\t{low:g}\t{high:g}\t\t\tknown before" for name, low, high in reversed(WARD)]
    widget(at, "text_area", "pasted").set_value("\n".join([*lines, "temp\t1\t2"])).run()
    press(at, "Take these lines")
    assert any("'temp', which this file does not have" in unmarked(e.value) for e in at.error)
    assert at.session_state["own"].typed["low"].isna().all()
    widget(at, "text_area", "pasted").set_value("\n".join(lines)).run()
    press(press(at, "Take these lines"), "Declare")
    assert at.session_state["own"].declared == of_ward(), [e.value for e in at.error]
    assert widget(at, "text_area", "pasted").value == ""
