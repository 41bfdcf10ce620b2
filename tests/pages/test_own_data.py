"""The data owner's page: nothing is read before it is declared, one confirmed release, and every answer from it."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.common import show
from pages.your_data import state, wording
from pages.your_data.answers import entries
from privcov.cli.entry import main
from privcov.core.accounting import attacker_success
from privcov.core.guarantees import ZCDP
from privcov.core.words import plain, to_powers
from privcov.ledger import Ledger, LedgerError
from privcov.steward.check import check_upload
from privcov.tables.declaration.declaration import Column, Declaration
from privcov.tables.readers.dialect import Dialect
from tests.pages.limits import type_in
from tests.patience import patient
from tests.tables.readers.test_excel import several_sheets

APP = str(Path(__file__).resolve().parents[2] / "app.py")
PAGE = "pages/5_Your_data.py"
NAMES = ("age", "weight", "<b>=dose</b>")
SECRET = "73.4375"


def table(rows: int = 400) -> bytes:
    """Invented rows, with a value that must not turn up anywhere."""
    rng = np.random.default_rng(5)
    common = rng.normal(size=rows)
    cells = np.column_stack([50 + 12 * common, 75 + 9 * common + 5 * rng.normal(size=rows), rng.uniform(0, 10, rows)])
    lines = [f"{a:.3f},{b:.3f},{c:.3f}" for a, b, c in cells]
    lines[7] = f"{SECRET},80,5"
    return ("patient_id," + ",".join(NAMES) + "\n" + "".join(f"p{i},{line}\n" for i, line in enumerate(lines))).encode()


def declaration(**changes) -> Declaration:
    columns = (
        Column("age", 0.0, 120.0, 50.0, "human lifetimes"),
        Column("weight", 30.0, 200.0, None, "the scale ends there"),
        Column(NAMES[2], 0.0, 10.0, None, "dosing protocol"),
    )
    return Declaration(**({"name": "trial", "row_stands_for": "one patient", "columns": columns} | changes))


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("PRIVCOV_LEDGER", str(path))
    return path


def opened() -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page(PAGE).run()
    return calm(at)


def calm(at: AppTest) -> AppTest:
    assert not at.exception, at.exception
    return at


def given(raw: bytes | None = None) -> AppTest:
    at = opened()
    at.file_uploader[0].set_value(("patients.csv", raw or table(), "text/csv")).run()
    return calm(at)


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click().run()
    return calm(at)


def fill(at: AppTest, what: Declaration) -> AppTest:
    """The form, filled from a saved declaration."""
    raw = what.to_json().encode()
    next(u for u in at.file_uploader if u.label == "Declaration").set_value(("d.json", raw, "application/json")).run()
    return press(at, "Fill the form from it")


def go(at: AppTest, step: str) -> AppTest:
    at.segmented_control(key="own-step").set_value(step).run()
    return calm(at)


def widget(at: AppTest, kind: str, name: str):
    mine = at.session_state["own"]
    return getattr(at, kind)(key=f"own-{name}-{mine.file_id}-{mine.turn}")


def of_release(at: AppTest, kind: str, name: str):
    """A widget of the open release."""
    return getattr(at, kind)(key=f"{at.session_state['own-opened'][1].key}-{name}")


def declared(**changes) -> AppTest:
    """A table whose form was filled from a saved declaration, and declared."""
    at = given()
    press(fill(at, declaration(**changes)), "Declare")
    assert at.session_state["own"].declared == declaration(**changes), [e.value for e in at.error]
    return at


def limited(at: AppTest, rho: float = 1.0) -> AppTest:
    go(at, "plan")
    go(at, "release")
    widget(at, "number_input", "limit-rho").set_value(rho).run()
    return press(at, "Set the limit")


def released(**changes) -> AppTest:
    at = limited(declared(**changes))
    press(at, "Release ...")
    return press(at, "Confirm and release")


def text_of(at: AppTest) -> str:
    return "\n".join(str(getattr(node, "proto", "")) for node in at.main)


# --- declare ------------------------------------------------------------------------------------------------


def replace(at: AppTest, raw: bytes) -> AppTest:
    mine = next(u for u in at.file_uploader if u.label == "Corrected table")
    return calm(mine.set_value(("corrected.csv", raw, "text/csv")).run())


def test_a_corrected_file_keeps_the_form():
    at = replace(fill(given(), declaration()), table(500))
    assert at.session_state["own"].file_name == "corrected.csv"
    assert at.session_state["own"].declared is None
    press(at, "Declare")
    assert at.session_state["own"].declared == declaration(), [e.value for e in at.error]


def test_a_file_that_cannot_be_read_replaces_nothing():
    at = replace(fill(given(), declaration()), b"")
    assert at.session_state["own"].file_name == "patients.csv"
    assert any("first line" in e.value for e in at.error), [e.value for e in at.error]
    press(at, "Declare")
    assert at.session_state["own"].declared == declaration()


def test_only_the_header_is_read():
    broken = b"age,weight\n" + b"\xff\xfe not text \x00, at all\n" * 3
    at = given(broken)
    assert at.session_state["own"].header == ("age", "weight")
    assert not at.error
    at = given()
    assert SECRET not in text_of(at)


def test_every_bound_is_told_as_it_will_be_used():
    """What the editor holds may differ from what was meant; the page says it in words, from what was declared."""
    at = declared()
    told = next(t.value for t in at.text if t.value.startswith("age"))
    assert told.splitlines() == [
        "age: from 0 to 120, typical 50",
        "weight: from 30 to 200, the middle is typical",
        f"{NAMES[2]}: from 0 to 10, the middle is typical",
    ]


def test_bounds_start_empty_and_ids_are_left_out():
    own = given().session_state["own"]
    assert own.column_table[["low", "high", "typical"]].isna().all(axis=None)
    assert (own.column_table["reason"] == "").all()
    assert dict(zip(own.column_table["column"], own.column_table["use"], strict=True)) == {
        "patient_id": False, "age": True, "weight": True, NAMES[2]: True,
    }  # fmt: skip


def test_nothing_is_declared_before_it_is_complete():
    at = press(given(), "Declare")
    assert "how many rows one person" in at.error[0].value
    assert at.session_state["own"].declared is None
    assert go(at, "plan").info


def test_a_column_of_classes_leaves_the_matrix():
    at = given()
    widget(at, "selectbox", "label").set_value("weight").run()
    typed = calm(at).session_state["own"].column_table
    assert dict(zip(typed["column"], typed["use"], strict=True)) == {
        "patient_id": False, "age": True, "weight": False, NAMES[2]: True,
    }  # fmt: skip
    assert widget(at, "selectbox", "label").value == "weight"
    assert widget(at, "text_area", "classes").value == ""


def test_a_saved_declaration_comes_back():
    at = declared(n_public=False, missing="drop-row", rows_per_person=4, row_bound_fraction=0.35)
    assert any("0.35 of the longest possible row" in m.value.replace("\\", "") for m in at.markdown)
    own = at.session_state["own"]
    assert Declaration.from_json(own.declared.to_json()) == own.declared
    at = go(go(at, "plan"), "declare")
    assert widget(at, "number_input", "people").value == 4
    assert widget(at, "number_input", "fraction").value == 0.35
    assert widget(at, "radio", "public").value is False
    assert own.column_table["reason"].tolist()[1] == "human lifetimes"


def test_a_declaration_of_another_file_is_refused():
    at = given(b"height,weight\n1,2\n")
    assert "does not have" in fill(at, declaration()).error[0].value


# --- plan ---------------------------------------------------------------------------------------------------


def test_the_plan_reads_no_row():
    """The same plan from a file whose rows are no table at all."""
    seen = []
    for raw in (table(), table()[: len(",".join(NAMES)) + 12] + b"\n\xff\x00\xff"):
        at = fill(given(raw), declaration())
        go(press(at, "Declare"), "plan")
        assert not at.error
        seen.append([h.proto.body for h in at.get("html") if "Guarantee" in h.proto.body])
    assert seen[0] == seen[1] != []


def test_the_level_that_was_found_takes_the_place_of_the_picked_candidate():
    at = go(declared(), "plan")
    widget(at, "radio", "pick").set_value(2).run()
    press(at, "Find it")
    (told,) = [m.value for m in at.markdown if re.search(r"About rho [0-9.]+", m.value)]
    press(at, "Use it as candidate 3")
    chosen = at.session_state["own"].guarantee.rho
    assert f"About rho {plain(chosen)}" in told
    assert widget(at, "number_input", "level-zcdp-2").value == chosen
    assert [widget(at, "number_input", f"level-zcdp-{k}").value for k in (0, 1)] == [0.02, 0.1]
    assert go(go(at, "declare"), "plan").session_state["own"].guarantee.rho == chosen


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_the_plan_says_in_words_what_was_picked(kind):
    at = go(declared(n_public=kind == "zcdp"), "plan")
    widget(at, "selectbox", "kind").set_value(kind).run()
    plan = calm(at).session_state["own"].guarantee
    (said,) = [m.value.replace("\\", "") for m in at.markdown if "has the release guesses" in m.value]
    assert said.startswith(f"{to_powers(str(plan))} means:")
    mine = at.session_state["own"]
    chance = wording.attacker(wording.facts_of(mine.declared, 1000), plan)
    assert 0.5 < chance <= attacker_success(plan)
    assert f"right {show.chance(chance, most=True)} of the time" in said
    secret = "which of two values one given row has" if kind == "zcdp" else "whether one given row is in the table"
    assert f"guesses {secret}, and" in said
    assert ("It implies epsilon" in said) == (kind == "zcdp")


def test_answers_opens_a_release_of_the_declared_table_and_of_no_other():
    released(name="patients in one ward")
    at = go(declared(name="patients in another ward"), "answers")
    assert any("has no release in the ledger yet" in i.value for i in at.info)
    (box,) = [s for s in at.selectbox if s.label == "Release"]
    assert box.value is None
    assert not at.get("plotly_chart")
    box.select_index(0).run()
    assert "patients in one ward" in text_of(calm(at))
    released(name="patients in another ward")
    at = go(declared(name="patients in one ward"), "answers")
    assert "patients in one ward: " in text_of(at)


# --- owner's view -------------------------------------------------------------------------------------------


def test_the_owners_view_is_asked_for_and_leaves():
    at = go(go(declared(), "plan"), "view")
    assert not at.get("plotly_chart")
    at.checkbox[0].check().run()
    press(at, "Show me")
    assert len(at.get("plotly_chart")) == 3
    assert not at.get("download_button")
    assert not at.dataframe
    assert "not private" in text_of(at)
    press(at, "Clear")
    assert at.session_state["own"].owner_view is None
    assert not at.get("plotly_chart")
    at.checkbox[0].check().run()
    go(press(at, "Show me"), "plan")
    assert at.session_state["own"].owner_view is None


# --- release ------------------------------------------------------------------------------------------------


def test_a_release_is_confirmed_recorded_and_shown(ledger):
    at = limited(declared())
    press(at, "Release ...")
    assert Ledger(ledger).entries() == ()
    press(at, "Confirm and release")
    (entry,) = Ledger(ledger).entries("trial")
    assert entry.state == "stored"
    assert entry.request["draw"] == 1
    assert at.segmented_control(key="own-step").value == "answers"
    assert SECRET not in text_of(at)


def test_answers_show_why_the_limit_was_raised(ledger):
    Ledger(ledger).set_limit("trial", ZCDP(0.01))
    Ledger(ledger).set_limit("trial", ZCDP(1.0), "the board agreed")
    at = press(press(go(go(declared(), "plan"), "release"), "Release ..."), "Confirm and release")
    captions = " ".join(c.value.replace("\\", "") for c in at.caption)
    assert "raised from 0.01-zCDP to 1-zCDP" in captions
    assert ": the board agreed." in captions


@pytest.mark.parametrize(("kind", "level"), [("zcdp", "--rho=0.1"), ("pure", "--epsilon=1")])
@pytest.mark.parametrize("n_public", [True, False])
def test_what_the_page_released_is_free_in_a_shell(ledger, tmp_path, capsys, kind, level, n_public):
    """One request by the same method on both ways, so it is paid once."""
    at = go(declared(n_public=n_public), "plan")
    widget(at, "selectbox", "kind").set_value(kind).run()
    Ledger(ledger).set_limit("trial", ZCDP(1.0))
    press(press(go(at, "release"), "Release ..."), "Confirm and release")
    first = Ledger(ledger).entries("trial")
    assert len(first) == 1
    (tmp_path / "t.csv").write_bytes(table())
    (tmp_path / "d.json").write_text(at.session_state["own"].declared.to_json(), encoding="utf-8")
    out = ["--out", str(tmp_path / "r.json")]
    assert main(["release", str(tmp_path / "t.csv"), "--declaration", str(tmp_path / "d.json"), level, *out]) == 0
    assert "Nothing was spent" in capsys.readouterr().err
    assert Ledger(ledger).entries("trial") == first


def test_a_release_that_exists_is_not_called_too_much(ledger):
    """With the limit used up, the same release again is free, and another one is refused: the page tells them apart."""
    at = limited(declared(), rho=0.1)
    press(press(at, "Release ..."), "Confirm and release")
    go(at, "release")
    assert any("in the ledger already" in i.value for i in at.info)
    assert not at.warning
    assert any("spends nothing and gives the same" in m.value for m in press(at, "Release ...").markdown)
    press(at, "Confirm and release")
    assert len(Ledger(ledger).entries("trial")) == 1
    widget(go(at, "plan"), "number_input", "level-zcdp-1").set_value(0.05).run()
    assert not go(at, "release").info
    (warned,) = [w.value for w in at.warning if "more than is left" in w.value]
    assert "Pick a smaller" not in warned, "there is none"


def test_a_table_with_another_public_number_of_rows_is_refused_as_the_page_says(ledger):
    at = limited(declared(n_public=True))
    press(press(at, "Release ..."), "Confirm and release")
    at.session_state["own"].raw = table() + b"p400,50,75,5\n"
    at.session_state["own"].checked = None
    go(at, "release")
    assert any("in the ledger already" in i.value for i in at.info)
    assert any(
        "changed table it is refused, and nothing is spent" in m.value for m in press(at, "Release ...").markdown
    )
    press(at, "Confirm and release")
    assert any("from another table" in e.value for e in at.error)
    assert len(Ledger(ledger).entries("trial")) == 1


def test_a_hidden_number_of_rows_after_a_public_one_is_another_unit_and_no_repeat(ledger):
    at = limited(declared(n_public=True))
    press(press(at, "Release ..."), "Confirm and release")
    at = limited(declared(n_public=False))
    assert not any("in the ledger already" in i.value for i in at.info)
    assert any("such costs do not add up" in w.value for w in at.warning)


def test_every_higher_limit_has_a_reason_of_its_own(ledger):
    at = limited(declared(), rho=0.1)
    for rho in (0.5, 0.9):
        widget(at, "number_input", "limit-rho").set_value(rho).run()
        press(at, "Set the limit")
        assert any("Give a reason" in e.value for e in at.error)
        widget(at, "text_input", "limit-reason").set_value(f"the board, {rho}").run()
        press(at, "Set the limit")
        assert not at.error
        assert Ledger(ledger).account("trial").limit == ZCDP(rho)
        assert widget(at, "text_input", "limit-reason").value == ""


def test_a_release_beyond_the_limit_is_refused(ledger):
    at = limited(declared(), rho=0.5)
    press(at, "Release ...")
    Ledger(ledger).set_limit("trial", ZCDP(0.05))  # while the question is open
    press(at, "Confirm and release")
    assert any("more than is left" in e.value.replace("\\", "") for e in at.error)
    assert Ledger(ledger).entries() == ()
    at.run()
    assert next(b for b in at.button if b.label == "Release ...").disabled
    assert any("more than is left" in w.value.replace("\\", "") for w in at.warning)


def test_what_is_paid_and_was_interrupted_is_gone_on_with_though_the_limit_is_used_up(ledger, monkeypatch):
    at = limited(declared(), rho=0.1)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "_commit", busy)
        press(at, "Release ...")
        press(at, "Confirm and release")
    book = Ledger(ledger)
    (entry,) = book.entries()
    assert entry.state == "reserved"
    assert not book.account("trial").affords(ZCDP(0.1))
    at.run()
    assert not next(b for b in at.button if b.label == "Release ...").disabled
    press(at, "Release ...")
    press(at, "Confirm and release")
    assert [e.state for e in book.entries()] == ["stored"]


def busy(*_):
    raise LedgerError("The ledger is busy.")


def test_a_row_that_cannot_be_read_says_nothing(ledger):
    at = press(fill(given(table() + b"secret-cell,1\n"), declaration()), "Declare")
    press(limited(at), "Release ...")  # the check reads first, and nothing is left to confirm
    assert not [b for b in at.button if b.label == "Confirm and release"]
    assert any("(id " in e.value.replace("\\", "") for e in at.error)
    assert "secret" not in text_of(at)
    assert Ledger(ledger).entries() == ()


# --- answers ------------------------------------------------------------------------------------------------


def test_every_view_of_a_release_and_none_spends(ledger):
    at = released(n_public=False)
    before = Ledger(ledger).account("trial").spent_rho
    for view in (*(v for v in entries.VIEWS if v != "classes"), "home"):
        of_release(at, "segmented_control", "answer").set_value(view).run()
        calm(at)
        assert not at.error, (view, [e.value for e in at.error])
    assert Ledger(ledger).account("trial").spent_rho == before


def test_classes_are_released_with_the_rest(ledger):
    raw = table().decode().splitlines()
    raw = "\n".join([raw[0] + ",arm", *(line + (",a" if i % 3 else ",b") for i, line in enumerate(raw[1:]))])
    at = given(raw.encode())
    fill(at, declaration(label="arm", classes=("a", "b"), rows_per_person=2))
    press(press(limited(press(at, "Declare")), "Release ..."), "Confirm and release")
    assert Ledger(ledger).entries("trial")[0].request["facts"]["classes"] == ["a", "b"]
    of_release(at, "segmented_control", "answer").set_value("classes").run()
    calm(at)
    assert not at.error
    assert at.get("plotly_chart")


def test_forgetting_leaves_nothing():
    at = press(released(), "Forget this file")
    assert at.session_state["own"] == state.OwnerSession()
    for key in ("own-opened", "own-previews"):
        assert key not in at.session_state
    assert at.session_state["tab-draft"] == "", "the browser is told to empty its tab"


def test_what_was_typed_last_is_taken_in_where_the_table_is_not_drawn():
    at = declared()
    type_in(at, {1: {"high": 99.0, "typical": None}})
    go(at, "plan")
    mine = at.session_state["own"]
    assert mine.column_table.loc[1, "high"] == 99.0
    assert np.isnan(mine.column_table.loc[1, "typical"])
    assert any("You changed something since" in i.value for i in at.info)
    assert mine.declared == declaration()
    press(go(at, "declare"), "Declare")
    assert at.session_state["own"].declared.columns[0].high == 99.0


def test_a_cell_that_is_no_number_is_named_and_nothing_is_declared_with_it():
    at = declared()
    type_in(go(at, "declare"), {1: {"high": "1,500"}})
    press(at, "Declare")
    assert [e.value for e in at.error if "which is not a finite number" in e.value]
    assert at.session_state["own"].declared == declaration()


CODEBOOK = f"""variable,type,min,max,most,levels,missing codes,reason
age,integer,0,120,20 to 70,,-9 | 999,human lifetimes
weight,,30,200,,,,the scale ends there
{NAMES[2]},yes-no,,,,0; 1,,dosing protocol
"""


@pytest.mark.parametrize("name", ["codebook.csv", "codebook.txt"])
def test_a_codebook_fills_every_field_of_the_form(name):
    """Two presses instead of a click for every cell."""
    at = given()
    uploader = next(u for u in at.file_uploader if u.label == "Declaration")
    press(calm(uploader.set_value((name, CODEBOOK.encode(), "text/csv")).run()), "Fill the form from it")
    own = at.session_state["own"]
    # A limit of the codebook stays where the typical value is edited, also one that would follow from it.
    assert [*own.column_table.set_index("column").loc["age", ["low", "high"]]] == [0, 120]
    own.widget_values |= {"name": "trial", "unit": "one patient", "people": 1, "public": True, "missing": "typical"}
    own.turn += 1
    press(calm(at.run()), "Declare")
    assert own.declared is not None, [e.value for e in at.error]
    age, weight, dose = own.declared.columns
    assert (age.kind, age.low, age.high, age.typical_range) == ("integer", 0, 120, (20, 70))
    assert age.missing_codes == ("-9", "999")
    assert (weight.kind, weight.low, weight.high, weight.reason) == ("number", 30, 200, "the scale ends there")
    assert (dose.kind, dose.values) == ("yes-no", ("0", "1"))


@pytest.mark.parametrize(("raw", "said"), [
    (CODEBOOK.replace("weight", "height").encode(), "height"),
    (CODEBOOK.replace("lifetimes", "Größe").encode("latin-1"), "UTF-8"),
    (CODEBOOK.replace("0; 1", "0 = no; 1 = yes").encode(), "0 | 1"),
    (CODEBOOK.replace("-9 | 999", "-9 = refused").encode(), "-9"),
])  # fmt: skip
def test_a_codebook_that_cannot_be_taken_changes_nothing(raw, said):
    at = given()
    uploader = next(u for u in at.file_uploader if u.label == "Declaration")
    press(calm(uploader.set_value(("codebook.csv", raw, "text/csv")).run()), "Fill the form from it")
    assert any(said in e.value.replace("\\", "") for e in at.error)
    assert at.session_state["own"].column_table["low"].isna().all()


def test_the_sheet_and_the_row_of_the_names_are_asked_of_a_workbook_and_saved_with_the_declaration():
    """The declaration of the page then reads the same workbook in Python, and the page again."""
    pytest.importorskip("openpyxl", reason="openpyxl is not installed: the extra files has it")
    raw = several_sheets()
    at = opened()
    at.file_uploader[0].set_value(("survey.xlsx", raw, "")).run()
    mine = calm(at).session_state["own"]
    assert (mine.header, mine.dialect) == ((), None)
    asked = f"own-written-{mine.file_id}-{mine.turn}"
    at.selectbox(key=f"{asked}-sheet").set_value("Data")
    press(at, "Read the column names")
    assert at.error  # a merged title stands in line 1
    at.number_input(key=f"{asked}-header-row").set_value(3)
    press(at, "Read the column names")
    assert at.session_state["own"].header == ("a", "b")
    columns = (Column("a", 0, 9, 4, "x"), Column("b", 0, 9, 4, "x"))
    dialect = Dialect(sheet="Data", header_row=3)
    declared = Declaration("t", "one row", columns, dialect=dialect, missing="typical")
    press(fill(at, declared), "Declare")
    session = at.session_state["own"]
    assert session.declared == declared
    assert check_upload(session.raw, session.declared).rows == 2
    press(at, "Written in another way")
    assert at.session_state["own"].dialect is None


def test_marks_between_thousands_are_chosen_in_the_form():
    """The owner's own answer: of a confidential file nothing is guessed."""
    at = given(b'pay,age\n"1,234.5",40\n"12,000",50\n')
    press(at, "Written in another way")
    mine = at.session_state["own"]
    asked = f"own-written-{mine.file_id}-{mine.turn}"
    at.selectbox(key=f"{asked}-thousands").set_value(",")
    press(at, "1,5 (decimal comma)")
    assert at.error  # one mark has two meanings
    press(at, "1.5 (decimal point)")
    session = at.session_state["own"]
    assert session.dialect == Dialect(thousands=",")
    columns = (Column("pay", 0, 1e5, 4, "x"), Column("age", 0, 99, 4, "x"))
    declared = Declaration("t", "one row", columns, dialect=session.dialect, missing="typical")
    press(fill(at, declared), "Declare")
    (pay, _) = check_upload(at.session_state["own"].raw, at.session_state["own"].declared).columns
    assert (pay.missing, pay.unreadable) == (0, 0)


def test_no_line_below_the_first_is_shown_before_it_is_chosen():
    """A wrong row of the names would show a person; the page says what becomes of it."""
    at = given(b"name,city\nAlicea,Rome0\nBrunob,Rome1\n")
    press(at, "Written in another way")
    mine = at.session_state["own"]
    at.number_input(key=f"own-written-{mine.file_id}-{mine.turn}-header-row").set_value(3).run()
    assert "Brunob" not in text_of(at)
    assert any("never choose a row about a person" in c.value for c in at.caption)
