"""Your data with more than numbers: kinds, levels, dates, codes and dialects, from the form to the answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pages.your_data.declare import columns, drafts
from privcov.bundle.read import open_stored
from privcov.ledger import Ledger
from privcov.tables.declaration.declaration import Column, Declaration, row_bound_fraction
from privcov.tables.readers.dialect import Dialect
from tests.pages.limits import drawn, type_in
from tests.pages.sent import everything, plain
from tests.pages.test_own_data import (
    calm,
    fill,
    given,
    go,
    ledger,  # noqa: F401 - every ledger here is a temporary one
    limited,
    press,
    widget,
)

NAMES = ("patient", "age", "sex", "ward", "pay", "pain", "seen")
COMMA = "1,5 (decimal comma)"
TYPED = (
    Column("age", 0.0, 120.0, None, "lifetimes", kind="integer"),
    Column("sex", None, None, "F", "", kind="yes-no", values=("F", "M")),
    Column("ward", None, None, None, "", kind="category", values=("A", "B"), other=True, missing_codes=("?",)),
    Column("pay", 0.0, 1e6, 2e3, "contracts", transform="log1p", missing_codes=("-9", "-8")),
    Column("pain", None, None, None, "", kind="ordinal", values=("none", "some", "much")),
    Column("seen", "2020-01-01", "2024-12-31", None, "the study", kind="date", format="%d.%m.%Y"),
)
CELLS = {
    1: {"kind": "integer", "low": 0, "high": 120, "reason": "lifetimes"},
    2: {"kind": "yes-no", "levels": "F | M", "typical": "F"},
    3: {"kind": "category", "levels": "A|B|...", "codes": "?"},
    4: {"kind": "number log1p", "low": 0, "high": "1e6", "typical": 2000, "codes": "-9, -8", "reason": "contracts"},
    5: {"kind": "ordinal", "levels": "none | some | much"},
    6: {"kind": "date", "low": "01.01.2020", "high": "2024-12-31", "levels": "%d.%m.%Y", "reason": "the study"},
}


def visits(rows: int = 300) -> bytes:
    rng = np.random.default_rng(2)
    lines = [";".join(NAMES)]
    for k in range(rows):
        lines.append(
            f"P{k};{rng.integers(18, 90)};{rng.choice(['F', 'M'])};{rng.choice(['A', 'B', 'C', '?'])};"
            f"{rng.lognormal(8, 1):.2f}".replace(".", ",")
            + f";{rng.choice(['none', 'some', 'much', ''])};{rng.integers(1, 29):02d}.03.2023"
        )
    return ("\n".join(lines) + "\n").encode("cp1252")


def of_visits(**changes) -> Declaration:
    usual = {"name": "visits", "row_stands_for": "one visit", "columns": TYPED, "dialect": Dialect(";", ",")}
    return Declaration(**(usual | {"person": "patient", "missing_codes": ("-99",)} | changes))


def opened_visits():
    """After the question how the file is written, which is asked once."""
    at = given(visits())
    assert at.session_state["own"].dialect is None
    assert [box.key for box in at.get("bidi_component")] == ["hands", "tab-kept"], "no form before the names are known"
    return press(at, COMMA)


# --- the form ----------------------------------------------------------------------------------------------------


def test_every_kind_is_declared_in_the_one_table():
    at = opened_visits()
    assert list(drawn(at)["column"]) == list(NAMES)
    widget(at, "selectbox", "person").set_value("patient").run()
    widget(at, "text_input", "name").set_value("visits").run()
    widget(at, "text_input", "unit").set_value("one visit").run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    widget(at, "text_input", "codes").set_value("-99").run()
    type_in(at, CELLS)
    press(at, "Declare")
    assert not at.error, [e.value for e in at.error]
    own = at.session_state["own"]
    expected = (*TYPED[:5], TYPED[5].from_dict({**TYPED[5].to_dict(), "low": "01.01.2020"}))
    assert own.declared == of_visits(columns=expected)
    assert own.declared.kinds == of_visits().kinds
    assert own.declared.measured == (
        "age", "sex=M", "ward=A", "ward=B", "ward=other", "log1p(pay)", "pain", "seen",
    )  # fmt: skip
    shown = everything(at)
    for words in (
        "age: from 0 to 120, the middle is typical; whole numbers",
        "sex: 0 is F, 1 is M, typical F",
        "ward: one of 'A', 'B', or any other text; missing where it is ?",
        "pay: from 0 to 1,000,000, typical 2,000; log1p is measured; missing where it is -9 or -8",
        "pain: 1 is none, 2 is some, 3 is much, the middle is typical",
        "seen: dates written %d.%m.%Y, from 01.01.2020 to 2024-12-31, the middle is typical",
        "Declared: 6 columns of 'visits'. 8 are measured",
    ):
        assert words in plain(shown), words


def test_a_saved_declaration_with_kinds_comes_back_as_it_was():
    """Also what the table does not show, such as a weight: the form once dropped it without a word."""
    heavy = (*TYPED[:-1], Column("seen", "2020-01-01", "2024-12-31", None, "the study", kind="date", weight=2.0))
    what = of_visits(columns=heavy, missing="pairs")
    at = press(fill(opened_visits(), what), "Declare")
    assert at.session_state["own"].declared == what, [e.value for e in at.error]
    assert "weight 2" in everything(at)
    again = Declaration.from_json(at.session_state["own"].declared.to_json())
    assert again == what


def test_a_declaration_of_another_dialect_or_of_what_the_form_cannot_hold_is_refused():
    barred = (Column("ward", kind="category", values=("A|1", "B")),)
    coded = (Column("age", 0.0, 1.0, missing_codes=("x,y",)),)
    for change, words in (
        ({"dialect": Dialect()}, "is separated by semicolons"),
        ({"columns": barred, "person": ""}, "a level with a vertical bar"),
        ({"columns": coded, "person": ""}, "a bar, comma or semicolon inside"),
    ):
        at = fill(opened_visits(), of_visits(**change))
        assert [words in plain(e.value) for e in at.error] == [True]
        assert at.session_state["own"].declared is None


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({2: {"kind": "yes-no"}}, "the levels of 'sex'"),
        ({2: {"kind": "yes-no", "levels": "F, M"}}, "takes 2 values, got 1"),
        ({3: {"kind": "category", "levels": " | ".join(map(str, range(10_000)))}}, "takes 2 to 200 values, got 10,000"),
        ({6: {"kind": "date", "low": "x", "high": "2024-12-31", "reason": "r"}}, "low must be a date"),
        ({6: {"kind": "date", "low": "2024-01-01", "high": "2024-12-31", "levels": "%Y", "reason": "r"}}, "a month"),
        ({4: {"kind": "number log", "low": 0, "high": 9, "reason": "r"}}, "needs low > 0"),
        ({4: {"kind": "number", "low": 0, "high": 9, "levels": "A | B", "reason": "r"}}, "under kind"),
        ({4: {"kind": "number", "low": "1,500", "high": 9, "reason": "r"}}, "is '1,500', which is not a finite number"),
        ({4: {"kind": "number", "low": 0, "high": 9, "codes": "5", "reason": "r"}}, "inside the bounds"),
        ({2: {"kind": "yes-no", "levels": "F | M", "low": 1}}, "low is not for kind='yes-no'"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_stays_as_typed(cells, words):
    at = opened_visits()
    widget(at, "text_input", "name").set_value("visits").run()
    widget(at, "text_input", "unit").set_value("one visit").run()
    widget(at, "number_input", "people").set_value(1).run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    ((row, _),) = cells.items()
    type_in(at, {**{k: {"use": False} for k in range(7) if k != row}, **cells})
    press(at, "Declare")
    assert [words in plain(e.value) for e in at.error] == [True], [plain(e.value) for e in at.error]
    typed = at.session_state["own"].column_table.loc[row]
    assert all(typed[name] == value or float(typed[name]) == float(value) for name, value in cells[row].items())


def test_many_columns_are_declared_at_once():
    """A survey of 45 questions: one filling, or lines that a spreadsheet copies."""
    names = [f"q{k:02d}" for k in range(45)]
    at = given((",".join(names) + "\n").encode())
    for name, value in (("kind", "ordinal"),):
        widget(at, "selectbox", f"all-{name}").set_value(value).run()
    widget(at, "text_input", "all-levels").set_value("1 | 2 | 3 | 4 | 5").run()
    widget(at, "text_input", "all-codes").set_value("-9").run()
    press(at, "Fill in where empty")
    widget(at, "text_input", "name").set_value("survey").run()
    widget(at, "text_input", "unit").set_value("one answer").run()
    widget(at, "number_input", "people").set_value(1).run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    press(at, "Declare")
    levels = tuple("12345")
    first = at.session_state["own"].declared
    assert first is not None, [e.value for e in at.error]
    assert first.columns == tuple(Column(n, kind="ordinal", values=levels, missing_codes=("-9",)) for n in names)
    lines = "\n".join(f"{name}\t\t\t\tordinal: 1 | 2 | 3 | 4 | 5\tthe form" for name in names[:44])
    widget(at, "text_area", "pasted").set_value(lines).run()
    press(press(at, "Take these lines"), "Declare")
    assert [c.reason for c in at.session_state["own"].declared.columns] == ["the form"] * 44 + [""]
    assert at.session_state["own"].declared.columns[0].missing_codes == ("-9",), "a line says nothing of codes"


def test_changes_of_the_table_are_taken_back_one_by_one():
    at = given(b"smokes,rent,heating\n")
    typed = lambda: at.session_state["own"].column_table  # noqa: E731
    undo = lambda: next(b for b in at.button if b.label == "Undo")  # noqa: E731
    assert undo().disabled
    press(at, "Tick none")
    assert not typed()["use"].any()
    type_in(at, {1: {"low": "0,5"}})
    at.run()
    assert typed().loc[1, "low"] == 0.5
    undo().click().run()
    assert columns.empty(typed()["low"]).all()
    assert not typed()["use"].any()
    undo().click().run()
    assert typed()["use"].all()
    assert undo().disabled


def test_a_draft_brings_back_what_was_typed_before_a_reload():
    """Not complete, and with a cell that is no number yet; the file is given again, with one more column."""
    at = given(b"smokes,rent,heating\n")
    widget(at, "text_input", "name").set_value("flats").run()
    widget(at, "radio", "missing").set_value("pairs").run()
    widget(at, "number_input", "people").set_value(3).run()
    type_in(at, {0: {"kind": "yes-no", "levels": "no | yes"}, 1: {"low": "0,5", "high": "dear"}, 2: {"use": False}})
    at.run()
    own = at.session_state["own"]
    text = drafts.draft(own)
    again = given(b"smokes,rent,heating,floor\n")
    press(load(again, text), "Fill the form from it")
    after = again.session_state["own"]
    pd.testing.assert_frame_equal(after.column_table[:3], own.column_table, check_dtype=False)
    assert list(after.column_table.loc[3, ["column", "use", "kind"]]) == ["floor", True, "number"]
    assert {name: after.widget_values[name] for name in ("name", "missing", "people")} == {
        "name": "flats", "missing": "pairs", "people": 3,
    }  # fmt: skip
    assert widget(again, "radio", "missing").value == "pairs"


def test_an_untouched_form_of_the_same_columns_takes_what_the_tab_kept():
    first = given(b"smokes,rent\n")
    widget(first, "text_input", "name").set_value("flats").run()
    kept = first.session_state["tab-draft"]

    def name(header: bytes, text: str, typed: str = "") -> str | None:
        at = given(header)
        if typed:
            widget(at, "text_input", "unit").set_value(typed).run()
        at.session_state["tab-draft"] = text
        calm(at.run())
        return at.session_state["own"].widget_values.get("name")

    assert name(b"smokes,rent\n", kept) == "flats"
    assert name(b"smokes,floor\n", kept) is None
    assert name(b"smokes,rent\n", "") is None
    assert name(b"smokes,rent\n", kept, "a flat") is None, "it would take away what was typed since"
    assert name(b"smokes,rent\n", kept.replace('"use": true', '"use": [')) is None, "spoilt"


def test_a_draft_on_another_file_keeps_no_column_that_is_not_there():
    at = given(b"patient_id,arm,age\n")
    widget(at, "radio", "missing").set_value("pairs").run()
    press(at, "Take 'patient\\_id' as the ids")
    widget(at, "selectbox", "label").set_value("arm").run()
    again = press(load(given(b"height,arms\n"), drafts.draft(at.session_state["own"])), "Fill the form from it")
    assert not again.exception
    kept = again.session_state["own"].widget_values
    assert (kept["person"], kept["label"]) == (None, None)
    assert kept["missing"] == "pairs"
    said = [caption.value.replace("\\", "") for caption in again.caption]
    assert any("no such columns: patient_id, arm, age." in words for words in said)
    assert any(words == "New in this file: height, arms." for words in said)


def load(at, text: str):
    (box,) = [box for box in at.file_uploader if "own-load" in box.key]
    box.set_value(("draft.json", text.encode(), "application/json")).run()
    return at


# --- how the file is written -------------------------------------------------------------------------------------


def test_another_encoding_is_asked_and_what_was_typed_stays():
    """A first line in plain letters says nothing of the rows: the owner may say it later, and the form stays."""
    raw = "age,city\n30,Münster\n".encode("latin-1")
    at = given(raw)
    assert at.session_state["own"].dialect == Dialect()
    type_in(at, {0: {"low": 0, "high": 99}})
    press(at, "Written in another way")
    mine = at.session_state["own"]
    at.selectbox(key=f"own-written-{mine.file_id}-{mine.turn}-encoding").set_value("latin-1").run()
    press(at, "1.5 (decimal point)")
    mine = at.session_state["own"]
    assert mine.dialect == Dialect(",", ".", "latin-1")
    assert list(drawn(at)["high"]) == ["99", ""]
    press(at, "Written in another way")
    mine = at.session_state["own"]
    at.selectbox(key=f"own-written-{mine.file_id}-{mine.turn}-separator-1").set_value(";").run()
    press(at, COMMA)
    assert ["is separated by commas" in plain(e.value) for e in at.error] == [True]
    at.selectbox(key=f"own-written-{mine.file_id}-{mine.turn}-separator-1").set_value(",").run()
    press(at, "1.5 (decimal point)")
    assert list(drawn(at)["high"]) == ["99", ""]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_a_header_in_another_encoding_is_asked_about_and_not_guessed(encoding):
    at = given("größe;b\n1,5;2\n".encode(encoding))
    mine = at.session_state["own"]
    assert mine.dialect is None
    assert at.selectbox(key=f"own-written-{mine.file_id}-{mine.turn}-encoding").value == encoding
    press(at, COMMA)
    assert at.session_state["own"].header == ("größe", "b")
    assert at.session_state["own"].dialect == Dialect(";", ",", encoding)


# --- to the answers ----------------------------------------------------------------------------------------------


def test_a_table_of_texts_dates_and_commas_is_released(ledger):  # noqa: F811
    """From the file to a bundle, by the page alone; every step has the measured columns."""
    what = of_visits()
    at = press(fill(opened_visits(), what), "Declare")
    limited(at, rho=5.0)
    press(at, "Release ...")
    press(at, "Confirm and release")
    assert not at.error, [e.value for e in at.error]
    (entry,) = Ledger(ledger).entries()
    total = open_stored(Ledger(ledger).stored(entry.token)).measurement
    assert total.facts.columns == what.measured
    assert total.facts.n == 300
    go(at, "view")
    at.checkbox(key=f"own-agree-{at.session_state['own'].file_id}").set_value(True).run()
    press(at, "Show me")
    assert at.get("plotly_chart")
    for step in ("plan", "release", "answers", "declare"):
        go(at, step)
        assert not at.error, (step, [e.value for e in at.error])


# --- where most people lie -----------------------------------------------------------------------------------------


def ranged(cells: dict[int, dict], raw: bytes = b"age,pay,score\n" + b"30,1000,3\n" * 20):
    at = given(raw)
    widget(at, "text_input", "name").set_value("pay").run()
    widget(at, "text_input", "unit").set_value("one person").run()
    widget(at, "number_input", "people").set_value(1).run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    type_in(at, cells)
    return press(at, "Declare")


def test_a_typical_range_is_enough_for_a_column():
    """Limits, typical value, weight, reason and the row bound follow, and are said as they will be used."""
    at = ranged({0: {"typical": "20 to 70"}, 1: {"typical": "500-20000"}, 2: {"low": 1, "high": 5, "reason": "a form"}})
    own = at.session_state["own"]
    assert not at.error, [e.value for e in at.error]
    age, pay, score = own.declared.columns
    assert (age.typical_range, age.low, age.high, age.typical) == ((20, 70), 0, 120, 45)
    assert (pay.typical_range, score.typical_range, score.weight) == ((500, 20_000), None, 1)
    assert own.declared.row_bound_fraction == row_bound_fraction(own.declared.columns) < 1
    shown = plain(everything(at))
    assert "age: from 0 to 120, typical 45 (most people 20 to 70); weight 2.2" in shown
    assert "Rows longer than 0." in shown
    again = Declaration.from_json(own.declared.to_json())
    assert press(fill(given(b"age,pay,score\n1,2,3\n"), again), "Declare").session_state["own"].declared == again
