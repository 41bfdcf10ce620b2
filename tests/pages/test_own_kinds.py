"""Your data with more than numbers: kinds, levels, dates, codes and dialects, from the form to the answers."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from pages.your_data.declare import columns, drafts, limits_table
from privcov.bundle.read import open_stored
from privcov.ledger import Ledger
from privcov.tables.declaration.private_file import Column, Declaration, row_bound_fraction
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
    typed = at.session_state["own"].typed.loc[row]
    assert all(typed[name] == value or float(typed[name]) == float(value) for name, value in cells[row].items())


def test_a_number_whose_name_sounds_like_text_is_questioned():
    at = opened_visits()
    typed = at.session_state["own"].typed
    assert list(typed["kind"][typed["column"].isin(["sex", "ward"])]) == ["yes-no", "category"], "by their names"
    type_in(at, {2: {"kind": "number"}, 3: {"kind": "number"}})
    (question,) = [plain(w.value) for w in at.run().warning if "sounds like text" in w.value]
    assert question.startswith("'sex', 'ward': declared as a number")
    type_in(at, {2: {"kind": "yes-no"}, 3: {"use": False}})
    assert not [w for w in calm(at.run()).warning if "sounds like text" in w.value]


def test_a_level_of_digits_is_a_level_and_not_a_number():
    line = columns.line_of(Column("q", kind="ordinal", values=("01", "02", "03"), typical="02"))
    typed = columns.blank(("q",))
    for name, value in line.items():
        typed.loc[0, name] = value
    typed.loc[0, "typical"] = limits_table.meant("2", next(f for f in columns.FIELDS if f.name == "typical"))
    (row,) = typed.itertuples()
    assert columns.column_of(row).of_kind().typical == "02"


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


def test_filling_many_columns_leaves_what_cannot_have_it_and_can_be_undone():
    """Limits go to numbers alone, and a kind to every column without levels, "number" too."""
    at = given(b"smokes,rent,heating\n")
    type_in(at, {0: {"kind": "yes-no", "levels": "no | yes"}})
    widget(at, "selectbox", "all-kind").set_value("integer").run()
    for name, value in (("low", 0.0), ("high", 1000.0)):
        widget(at, "number_input", f"all-{name}").set_value(value).run()
    press(at, "Fill in where empty")
    assert [t.value for t in at.toast] == [
        "6 cells were filled; cells that were not empty, and columns without a tick, stay."
    ]
    typed = at.session_state["own"].typed
    assert list(typed["kind"]) == ["yes-no", "integer", "integer"]
    assert list(typed["high"].fillna(-1)) == [-1, 1000, 1000]
    widget(at, "selectbox", "all-kind").set_value("ordinal").run()
    press(at, "Fill in where empty")
    assert list(at.session_state["own"].typed["kind"]) == ["yes-no", "integer", "integer"], "these have limits"
    widget(at, "selectbox", "all-kind").set_value("date").run()
    press(at, "Fill in where empty")
    assert list(at.session_state["own"].typed["kind"]) == ["yes-no", "date", "date"]
    widget(at, "selectbox", "all-kind").set_value("number").run()
    press(at, "Fill in where empty")
    assert list(at.session_state["own"].typed["kind"]) == ["yes-no", "number", "number"]
    press(at, "Fill in where empty")
    assert any("Write first" in t.value for t in at.toast)


def test_every_mistake_is_marked_at_its_cell():
    typed = columns.blank(tuple("abcdefghi"))
    texts = [
        ("number", "", ""),
        ("yes-no", "", ""),
        ("yes-no", "F", ""),
        ("number", "", "known"),
        ("date", "", "known"),
    ]
    for row, (kind, levels, reason) in enumerate(texts):
        typed.loc[row, ["kind", "levels", "reason"]] = kind, levels, reason
    typed.loc[3, ["low", "high"]] = 5.0, 2.0
    typed.loc[4, ["low", "high"]] = "2020-01-01", "31.31.2020"
    typed.loc[5, "use"] = False
    typed.loc[6, "typical"] = "20 to 70"
    typed.loc[7, "typical"] = "70 to 20"
    typed.loc[8, ["typical", "low", "high"]] = "18..abc", 50.0, 10.0
    found = columns.mistakes(typed)
    assert set(found) == {
        (0, "typical"), (0, "reason"), (1, "levels"), (2, "levels"), (3, "low"), (4, "low"),
        (7, "typical"),
    }  # fmt: skip
    assert "takes 2 values, got 1" in found[2, "levels"]
    assert found[1, "levels"] == "Still missing: the levels."


def test_a_code_of_every_column_that_is_a_value_of_one_is_named_with_all_that_is_missing():
    at = given(b"cost,sbp\n")
    widget(at, "text_input", "codes").set_value("-9 | 999").run()
    type_in(at, {0: {"low": 0, "high": 50_000, "reason": "the tariff"}, 1: {"low": 40, "high": 300}})
    press(at, "Declare")
    (said,) = (plain(e.value) for e in at.error)
    for words in ("the name of the table", "the reason for the bounds of 'sbp'", "Column 'cost': The code '999'"):
        assert words in said, words
    assert "give the code to the columns alone that have it" in said
    typed = at.session_state["own"].typed
    assert set(columns.impossible(typed[typed["use"]], "-9 | 999")) == {(0, "codes")}


def test_changes_of_the_table_are_taken_back_one_by_one():
    at = given(b"smokes,rent,heating\n")
    typed = lambda: at.session_state["own"].typed  # noqa: E731
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
    pd.testing.assert_frame_equal(after.typed[:3], own.typed, check_dtype=False)
    assert list(after.typed.loc[3, ["column", "use", "kind"]]) == ["floor", True, "number"]
    assert {name: after.kept[name] for name in ("name", "missing", "people")} == {
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
        return at.session_state["own"].kept.get("name")

    assert name(b"smokes,rent\n", kept) == "flats"
    assert name(b"smokes,floor\n", kept) is None
    assert name(b"smokes,rent\n", "") is None
    assert name(b"smokes,rent\n", kept, "a flat") is None, "it would take away what was typed since"
    assert name(b"smokes,rent\n", kept.replace('"use": true', '"use": [')) is None, "spoilt"


def test_what_was_undone_is_not_kept():
    at = given(b"smokes,rent\n")
    type_in(at, {1: {"low": "18"}})
    at.run()
    at.run()
    assert '"low": 18.0' in at.session_state["tab-draft"]
    next(b for b in at.button if b.label == "Undo").click().run()
    assert '"low": 18.0' not in at.session_state["tab-draft"]


@pytest.mark.parametrize(
    ("part", "wrong"), [('"people": 3', '"people": 0'), ('"kind": "number"', '"kind": "poem"'), ('"columns"', '"rows"')]
)
def test_a_draft_that_was_spoilt_is_one_sentence_and_changes_nothing(part, wrong):
    at = given(b"smokes,rent\n")
    widget(at, "number_input", "people").set_value(3).run()
    text = drafts.draft(at.session_state["own"])
    assert part in text
    again = press(load(given(b"smokes,rent\n"), text.replace(part, wrong)), "Fill the form from it")
    assert [e.value for e in again.error if "draft cannot be read" in e.value]
    assert "people" not in again.session_state["own"].kept


def test_a_draft_on_another_file_keeps_no_column_that_is_not_there():
    at = given(b"patient_id,arm,age\n")
    widget(at, "radio", "missing").set_value("pairs").run()
    press(at, "Take 'patient\\_id' as the ids")
    widget(at, "selectbox", "label").set_value("arm").run()
    again = press(load(given(b"height,arms\n"), drafts.draft(at.session_state["own"])), "Fill the form from it")
    assert not again.exception
    kept = again.session_state["own"].kept
    assert (kept["person"], kept["label"]) == (None, None)
    assert kept["missing"] == "pairs"
    said = [caption.value.replace("\\", "") for caption in again.caption]
    assert any("no such columns: patient_id, arm, age." in words for words in said)
    assert any(words == "New in this file: height, arms." for words in said)


def load(at, text: str):
    (box,) = [box for box in at.file_uploader if "own-load" in box.key]
    box.set_value(("draft.json", text.encode(), "application/json")).run()
    return at


def test_a_comma_before_the_decimals_is_a_number_and_every_wrong_column_is_named():
    at = given(b"floors,rent,heating\n")
    for name, value in (("name", "flats"), ("unit", "one flat")):
        widget(at, "text_input", name).set_value(value).run()
    widget(at, "number_input", "people").set_value(1).run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    why = {"reason": "the register"}
    type_in(at, {k: {"low": "0,5", "high": "0.25"} | why for k in (0, 1)} | {2: {"low": "-0,5", "high": 2} | why})
    press(at, "Declare")
    (said,) = (plain(e.value) for e in at.error)
    assert "'floors'" in said
    assert "'rent'" in said
    type_in(at, {k: {"high": "2,250"} for k in (0, 1)})
    press(at, "Declare")
    assert "is '2,250', which is not a finite number" in plain(at.error[0].value)
    type_in(at, {0: {"high": "0,625"}, 1: {"high": "2,25"}})
    press(at, "Declare")
    declared = at.session_state["own"].declared.columns
    assert [(c.low, c.high) for c in declared] == [(0.5, 0.625), (0.5, 2.25), (-0.5, 2.0)]


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


def test_an_excel_workbook_is_declared_like_its_csv():
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: the extra files has it")
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["age", "ward; old"], [30, "A"], [41, "B"]):
        book.active.append(row)
    book.save(out)
    assert zipfile.is_zipfile(out)
    at = given()
    press(at, "Forget this file")
    at.file_uploader[0].set_value(("t.xlsx", out.getvalue(), "application/octet-stream")).run()
    own = calm(at).session_state["own"]
    assert (own.header, own.dialect, own.raw) == (("age", "ward; old"), Dialect(), b"age,ward; old\n30,A\n41,B\n")
    widget(at, "text_input", "name").set_value("ward").run()
    widget(at, "text_input", "unit").set_value("one patient").run()
    widget(at, "number_input", "people").set_value(1).run()
    widget(at, "radio", "public").set_value(True).run()
    widget(at, "radio", "missing").set_value("typical").run()
    type_in(at, {0: {"low": 0, "high": 120, "reason": "lifetimes"}, 1: {"kind": "yes-no", "levels": "A | B"}})
    press(at, "Declare")
    go(at, "plan")
    (like,) = [u for u in at.file_uploader if u.label == "Public table with the same columns"]
    like.set_value(("last-year.xlsx", out.getvalue(), "application/octet-stream")).run()
    assert ["This is the confidential file itself" in e.value for e in calm(at).error] == [True], "its text is compared"
    assert at.session_state["own"].like == b""


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
    assert (age.usual, age.low, age.high, age.typical) == ((20, 70), 0, 120, 45)
    assert (pay.usual, score.usual, score.weight) == ((500, 20_000), None, 1)
    assert own.declared.row_bound_fraction == row_bound_fraction(own.declared.columns) < 1
    shown = plain(everything(at))
    assert "age: from 0 to 120, typical 45 (most people 20 to 70); weight 2.2" in shown
    assert "Rows longer than 0." in shown
    again = Declaration.from_json(own.declared.to_json())
    assert press(fill(given(b"age,pay,score\n1,2,3\n"), again), "Declare").session_state["own"].declared == again


def test_a_range_over_decades_is_offered_a_log_scale():
    at = ranged({0: {"typical": "20 to 70"}, 1: {"typical": "500..20000"}, 2: {"typical": "2 to 4"}})
    assert any("'pay': the typical range ends at 10 times" in plain(w.value) for w in at.warning)
    press(press(at, "Measure log(1 + x) of them"), "Declare")
    assert [c.transform for c in at.session_state["own"].declared.columns] == [None, "log1p", None]
    assert not any("typical range ends" in w.value for w in at.warning)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("70 to 20", "the lower one first"),
        ("20 to many", "not a finite number"),
        ("20 to 1,234", "not a finite number"),
        ("8.000 to 120.000", "a range as 20 to 70"),
        ("20 to 700", "beyond the limits"),
    ],
)
def test_a_wrong_range_is_a_sentence(cell, said):
    at = ranged({0: {"typical": cell, "high": 120, "low": 0}, 1: {"typical": "1 to 2"}, 2: {"typical": "1,5 to 2.5"}})
    assert said in plain(" ".join(e.value for e in at.error))


def test_what_follows_from_a_range_stays_empty_in_the_form_and_a_refused_form_shows_nothing_declared():
    at = ranged({0: {"typical": "20 to 70"}, 1: {"typical": "1 to 2"}, 2: {"typical": "2 to 4"}})
    assert "This will be used." in everything(at)
    type_in(at, {0: {"typical": "2 to many"}})
    press(at, "Declare")
    assert at.error
    assert "This will be used." not in everything(at)
    widget(at, "text_area", "pasted").set_value("age, , , 25 to 80\npay, -5, , 1 to 3, , the contract").run()
    typed = press(press(at, "Take these lines"), "Declare").session_state["own"].typed
    assert typed["low"].isna().tolist() == [True, False, True]
    assert typed["high"].isna().all()
    assert typed["reason"].tolist() == ["", "the contract", ""]
    assert [c.high for c in at.session_state["own"].declared.columns] == [140, 5, 6]


def test_levels_have_a_range_and_a_level_may_look_like_one():
    cells = {
        0: {"kind": "ordinal", "levels": "no | low | mid | high", "typical": "low to high"},
        1: {"kind": "ordinal", "levels": "0 to 500 | 500 to 900 | more", "typical": "0 to 500"},
        2: {
            "kind": "date",
            "low": "2020-01-01",
            "high": "2025-01-01",
            "reason": "a",
            "typical": "2023-01-01 to 2024-01-01",
        },
    }
    columns = ranged(cells).session_state["own"].declared.columns
    assert [(c.usual, c.typical) for c in columns] == [
        (("low", "high"), "mid"), (None, "0 to 500"), (("2023-01-01", "2024-01-01"), "2023-07-02"),
    ]  # fmt: skip


def test_what_is_proposed_on_the_plan_is_applied_by_one_press():
    at = ranged({0: {"typical": "20 to 70"}, 1: {"low": 0, "high": 9e5, "reason": "a"}, 2: {"typical": "2 to 4"}})
    widget(go(at, "plan"), "slider", "missing-share").set_value(0.2).run()
    press(at, "Try them")
    before = at.session_state["own"].declared
    press(at, "Apply")
    after = at.session_state["own"].declared
    assert (after.missing, before.missing) == ("pairs", "typical")
    assert not any("instead of" in m.value for m in at.markdown), "the answer belonged to the declaration before"
    press(go(at, "declare"), "Declare")
    assert at.session_state["own"].declared == after, "the form holds what was applied"
