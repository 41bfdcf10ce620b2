"""A visitor's own CSV: asked about first, read once, kept in one session, and mended by one sentence."""

import asyncio
import io
import random
import re
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.common import own_range, script, show, study_form, study_results, visitor_files
from pages.common.show import as_text
from pages.common.study import CSV, Study
from privcov.core.words import percent
from privcov.tables.declaration.csv_file import codes_of
from tests.pages.limits import drawn, type_in
from tests.pages.sent import everything, plain
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
YES, NO = "yes", "no"
GOOD = b"age,stature\n30,170.5\n41,182.25\n57,165\n"
LIMITS = {0: {"low": 0, "high": 120}, 1: {"low": 140, "high": 210}}


def estimate() -> AppTest:
    """Estimate with "Your own table" chosen in the strip."""
    at = AppTest.from_file(APP, default_timeout=patient(30))
    at.switch_page("pages/1_Estimate.py").run()
    at.selectbox(key="w.source").set_value(CSV).run()
    assert not at.exception
    return at


def answer(at: AppTest, what: str) -> AppTest:
    at.radio(key="upload-public").set_value(what).run()
    assert not at.exception
    return at


def give(at: AppTest, raw: bytes, name: str = "kohort77.csv") -> AppTest:
    at.file_uploader[0].set_value((name, raw, "text/csv")).run()
    assert not at.exception
    return at


def confidential(raw: bytes, name: str = "kohort77.csv") -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(30))
    return give(at.switch_page("pages/5_Your_data.py").run(), raw, name)


def public(raw: bytes = GOOD, name: str = "kohort77.csv") -> AppTest:
    return give(answer(estimate(), YES), raw, name)


def key(at: AppTest, what: str) -> str:
    return f"upload-{what}-{at.session_state['upload'].file_id}"


def use(at: AppTest) -> AppTest:
    next(b for b in at.button if b.label == "Use this table").click().run()
    assert not at.exception
    return at


def declared(raw: bytes = GOOD, cells: dict | None = None) -> AppTest:
    at = public(raw)
    type_in(at, LIMITS if cells is None else cells)
    return use(at)


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click().run()
    assert not at.exception
    return at


# --- the question comes first -------------------------------------------------------------------------------


def test_nothing_can_be_chosen_before_the_question_is_answered():
    at = estimate()
    assert at.radio(key="upload-public").value is None
    assert not at.file_uploader
    assert not at.error


# --- confidential files -------------------------------------------------------------------------------------


def secret_file(n: int = 1234) -> tuple[bytes, list[str]]:
    draw = random.Random(5)
    rows = [[f"{draw.uniform(1000, 9999):.4f}" for _ in range(3)] for _ in range(n)]
    raw = b"name of ward,pulse,salary\n" + "\n".join(",".join(r) for r in rows).encode()
    return raw, [cell for row in rows for cell in row]


def test_of_a_confidential_file_only_the_header_is_shown():
    raw, cells = secret_file()
    at = confidential(raw, "ward.csv")
    shown = re.sub(r"\b[0-9a-f]{32}\b", "", everything(at))  # a random name of the file may hold any number
    for name in ("name of ward", "pulse", "salary"):
        assert name in shown
    assert not [cell for cell in cells if cell in shown]
    for number in (1234, len(raw), 1235):
        assert str(number) not in shown
        assert f"{number:,}" not in shown
    assert f"{len(raw) / 1024:.1f}KB" not in shown
    assert not at.metric
    assert not at.error


def test_a_confidential_file_stays_unread_in_the_session_for_your_data():
    raw, cells = secret_file()
    at = confidential(raw, "ward.csv")
    kept = at.session_state["own"]
    assert kept.header == ("name of ward", "pulse", "salary")
    assert kept.raw == raw, "unread, for Your data"
    assert "upload" not in at.session_state
    assert "csv" not in at.session_state
    state = repr(at.session_state)
    assert not [cell for cell in cells if cell in state]
    assert not [w for w in at.file_uploader if w.value is not None]  # the uploader is empty again


def test_the_bytes_of_a_file_are_given_back(monkeypatch):
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

    gone = []
    remove = MemoryUploadedFileManager.remove_file

    def spy(self, session_id, file_id):
        remove(self, session_id, file_id)
        gone.append((file_id, self.get_files(session_id, [file_id])))

    monkeypatch.setattr(MemoryUploadedFileManager, "remove_file", spy)
    for take, where in ((confidential, "own"), (public, "upload")):
        at = take(GOOD)
        assert gone.pop() == (at.session_state[where].file_id, [])


@pytest.mark.parametrize(
    ("raw", "said"), [(b"", "blank"), (b"4711,4712\n", "numbers only"), (b"x" * 70_000, "longer than")]
)
def test_a_confidential_file_with_a_bad_header_gets_one_sentence_without_content(raw, said):
    at = confidential(raw)
    assert len(at.error) == 1
    assert said in plain(at.error[0].value)
    assert "4711" not in everything(at)
    give(at, b"good,names\n1,2\n")
    assert not at.error
    assert at.session_state["own"].header == ("good", "names")


@pytest.mark.parametrize("raw", [GOOD, GOOD.replace(b",", b";")])
def test_a_public_file_given_on_your_data_is_opened_on_estimate_without_a_second_upload(raw):
    at = AppTest.from_file(APP, default_timeout=patient(30))
    at.switch_page("pages/5_Your_data.py").run()
    give(at, raw, "ward.csv")
    press(at, "Anyone may see its rows: open it on Estimate")
    assert at.title[0].value == "Estimate"
    assert "own" not in at.session_state
    assert at.radio(key="upload-public").value == YES
    at.switch_page("pages/1_Estimate.py").run()  # where a browser is by now
    assert list(drawn(at)["column"]) == ["age", "stature"]


# --- public files, end to end -------------------------------------------------------------------------------


def test_a_public_file_from_upload_to_matrices():
    at = public()
    table = drawn(at)
    assert list(table["column"]) == ["age", "stature"]
    assert (table[["low", "high", "typical"]] == "").all(axis=None)  # never filled in for the visitor
    assert not at.get("plotly_chart")
    type_in(at, {0: {"low": 0, "high": 120, "typical": 40}, 1: {"low": 140, "high": 180}})
    use(at)
    data = at.session_state["csv"]
    np.testing.assert_array_equal(data.rows, [[30, 170.5], [41, 182.25], [57, 165]])
    np.testing.assert_array_equal(data.bounds, [[0, 120], [140, 180]])
    np.testing.assert_array_equal(data.origin, [40, 160])
    assert data.row_bound == pytest.approx(2**0.5)
    assert data.provenance == "public"
    assert data.truth is None
    assert at.get("plotly_chart")
    assert not at.error
    # one of three statures is beyond 180
    clipped = next(d.value for d in at.dataframe if "clipped" in d.value)
    assert dict(zip(clipped["column"], clipped["clipped"], strict=True)) == {"age": 0, "stature": pytest.approx(1 / 3)}
    assert at.slider or at.select_slider(key="w.bound")  # the strip has found the table too


def test_a_link_without_a_source_keeps_the_table_and_its_row_bound():
    """No link can name an upload; one that brings another guarantee alone leaves the table and what was set for it."""
    at = declared()
    at.select_slider(key="w.bound").set_value(0.5).run()
    assert at.session_state["study"].bound == 0.5
    at.query_params.clear()
    at.query_params["rho"] = "0.25"
    at.run()
    study = at.session_state["study"]
    assert (study.source, study.bound, study.rho, study.data) == (CSV, 0.5, 0.25, ())
    at.query_params.clear()
    at.query_params["source"] = "ar1-covariance"
    at.run()
    study = at.session_state["study"]
    assert (study.source, study.bound) == ("ar1-covariance", 1.0)


def test_missing_and_infinite_cells_are_counted_and_their_rows_left_out():
    at = public(b"age,stature\n30,170\n,180\n50,inf\n60,165\nNA,-inf\n")
    at.toggle(key=key(at, "missing")).set_value(True)
    type_in(at, LIMITS)
    use(at)
    np.testing.assert_array_equal(at.session_state["csv"].rows, [[30, 170], [60, 165]])
    assert any("3 of 5 rows" in t.value for t in at.text)
    at.toggle(key=key(at, "missing")).set_value(False)
    type_in(at, {0: {"low": 0, "high": 120, "typical": 45}, 1: {"low": 140, "high": 210, "typical": 170}})
    use(at)
    rows = [[30, 170], [45, 180], [50, 170], [60, 165], [45, 170]]
    np.testing.assert_array_equal(at.session_state["csv"].rows, rows)


# --- what is wrong gets one sentence ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "blank"),
        (b"  \n", "blank"),
        (b"a,b\n", "no rows"),
        (b'a,b\n"1,5",2.5\n', "comma"),
        (b"a,b\nx,y\n", "No column has numbers"),
        (b"a,b\n1\n", "cell"),
        (b"a,b\n1,2\x00\n", "zero byte"),
        (b'a,b\n"1,2\n', "quotation"),
        (b"1,2\n3,4\n", "numbers only"),
    ],
)
def test_a_bad_file_gets_one_sentence_and_the_next_one_is_read(raw, said):
    at = public(raw)
    if at.session_state["upload"].raw:  # its first line is good
        press(at, "Start with the file's own range")
    assert len(at.error) == 1
    assert said in plain(at.error[0].value)
    assert "csv" not in at.session_state
    assert at.title[0].value == "Estimate"
    if at.session_state["upload"].raw:
        answer(press(at, "Forget this file"), YES)
    give(at, GOOD)
    assert not at.error
    assert list(drawn(at)["column"]) == ["age", "stature"]


@pytest.mark.parametrize(
    ("raw", "decimal"),
    [
        (b"age;stature\n30;170,5\n41;182,25\n57;165\n", ","),
        (b"age;stature\n30;170.5\n41;182.25\n57;165\n", "."),
        ("age\tstature\tgröße\n30\t170,5\té\n41\t182,25\té\n57\t165\té\n".encode("utf-16"), ","),
        ("age|stature|größe\n30|170,5|é\n41|182,25|é\n57|165|é\n".encode("cp1252"), ","),
    ],
)
def test_a_public_file_of_another_dialect_is_guessed_and_may_be_read_otherwise(raw, decimal, monkeypatch, tmp_path):
    at = public(raw)
    assert not at.error
    assert "csv" not in at.session_state
    assert at.session_state["upload"].dialect.decimal == decimal
    assert f"decimal {'commas' if decimal == ',' else 'points'}" in everything(at)
    type_in(at, LIMITS | ({2: {"use": False}} if len(drawn(at)) == 3 else {}))
    use(at)
    data = at.session_state["csv"]
    np.testing.assert_array_equal(data.rows, [[30, 170.5], [41, 182.25], [57, 165]])
    read_by_script(at.session_state["upload"], data, raw, monkeypatch, tmp_path)


def read_by_script(upload, data, raw, monkeypatch, folder) -> None:
    """Run the script of the page beside the file: the rows are the page's, bit for bit."""
    (folder / upload.file_name).write_bytes(raw)
    scope: dict = {}
    with monkeypatch.context() as inner:
        inner.setattr(visitor_files, "upload", lambda: upload)
        inner.chdir(folder)
        exec("\n".join(script.rows(Study(source=CSV), data)), scope)
    assert scope["ds"].columns == data.columns
    np.testing.assert_array_equal(scope["ds"].to_working(), data.to_working())


@pytest.mark.parametrize(
    ("raw", "error"), [(b"a;b\n4.595;572\n1.326;400\n", ""), ("a;b\n1,5;M\x81he\n".encode("latin-1"), "cp1252")]
)
def test_what_cannot_be_guessed_is_asked(raw, error):
    """Points that may stand between thousands, and bytes of no likely encoding."""
    at = public(raw)
    assert at.session_state["upload"].dialect is None
    assert any("decimal comma" in b.label for b in at.button) or at.selectbox(key=key(at, "written") + "-encoding")
    assert error in "".join(e.value for e in at.error)
    if error:
        at.selectbox(key=key(at, "written") + "-encoding").set_value("latin-1").run()
        press(at, "1,5 (decimal comma)")
        assert at.session_state["upload"].header == ("a", "b")


def line_of_survey(k: int) -> str:
    mood, often = -9 if k % 7 == 0 else k % 5 + 1, 99 if k % 11 == 0 else k % 4
    return f"{k + 1};{20 + k % 60};{mood};{often};" + ("" if k % 5 == 0 else f"{60 + k % 30},5")


def test_a_survey_with_an_id_codes_and_gaps_becomes_matrices_by_one_press(monkeypatch, tmp_path):
    raw = "\n".join(["id;age;mood;often;weight", *map(line_of_survey, range(150))]).encode()
    at = public(raw, "survey.csv")
    press(at, "Start with the file's own range")
    data, upload = at.session_state["csv"], at.session_state["upload"]
    assert data.columns == ("age", "mood", "often", "weight")
    assert data.n == 150, "no row is left out"
    table = drawn(at)
    assert list(table["use"]) == [False, True, True, True, True], "the first numbers the rows"
    assert list(table["codes"]) == ["", "", "-9", "99", ""]
    assert list(table["typical"]) == ["", "22 to 75.55", "1 to 5", "0 to 3", "62.5 to 88.5"]
    np.testing.assert_array_equal(data.bounds, [[0, 130], [1, 5], [0, 3], [30, 120]])
    assert any("Not private" in w.value for w in at.warning)
    assert at.get("plotly_chart")
    read_by_script(upload, data, raw, monkeypatch, tmp_path)
    type_in(at, {2: {"codes": "", "low": -9}, 3: {"codes": "", "high": 99}})  # the guess was wrong
    use(at)
    data = at.session_state["csv"]
    np.testing.assert_array_equal(data.bounds, [[0, 130], [-9, 5], [0, 99], [30, 120]])
    assert ["The range of 2 of 4 columns" in w.value for w in at.warning if "Not private" in w.value] == [True]
    read_by_script(at.session_state["upload"], data, raw, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([1, 5, -9, 3], (-9,)),
        ([1, 5, -9, -8, 3], (-9, -8)),
        ([-3, 5, -9, 3], ()),  # other cells are negative too
        ([1, 4, 99, 3], (99,)),
        ([40, 70, 99, 30], ()),  # an age, as near to the others as they are to each other
        ([99, 99], ()),
        ([-9, -9], ()),
        ([1, np.nan, 999, 2], (999,)),
    ],
)
def test_codes_for_missing_cells(cells, codes):
    assert codes_of(np.array(cells, dtype=float)) == codes


@pytest.mark.parametrize(
    ("raw", "row"),
    [
        (b"Person,Person,Answers\nage,stature,score\n30,170.5,2\n41,182,3\n", 2),  # heads of groups above the names
        (b"Survey 2024\nage,stature,score\n30,170.5,2\n41,182,3\n", 2),
        (b"Umfrage 2024\n\nage;stature;score\n30;170.5;2\n41;182;3\n", 3),
    ],
)
@pytest.mark.parametrize("take", [public, confidential])
def test_a_line_above_the_names_is_asked_about(raw, row, take):
    at = take(raw)
    assert not at.error
    form = "upload" if take is public else "own"
    assert at.session_state[form].dialect is None
    at.number_input(key=next(n.key for n in at.number_input if n.key.endswith("-header-row"))).set_value(row).run()
    press(at, "1.5 (decimal point)")
    assert at.session_state[form].header == ("age", "stature", "score")
    assert not [w for w in at.warning if "choose their row" in w.value]


UNSURE = [
    b"a;b;c\n49;23.667,14;3,2\n",
    b'a,b,c\n49,"23,667.14",3.2\n',
    b'a,b\n49,"58,839"\n',
    b"a;b;c\n20;10 100,5;0,5\n",
    "a;b;c\n20;10\u2019100.5;0.5\n".encode(),
    b"a,b\n1,5,2\n",
    b"Survey, of 2020\na;b;c\n1;2;3\n",
]


@pytest.mark.parametrize("raw", UNSURE)
def test_marks_between_thousands_are_asked_about(raw):
    assert public(raw).session_state["upload"].dialect is None


def bodies(at) -> str:
    return " ".join(h.proto.body for h in at.main.get("html"))


def test_a_public_file_may_start_from_its_own_range_and_says_so():
    at = public(b"age,stature,site,gone\n30,170.5,1,\n41,inf,1,2\n57,165,1,5\n,160,1,3\n")
    type_in(at, {0: {"low": 0, "high": 120}})
    press(at, "Start with the file's own range")
    data = at.session_state["csv"]
    assert data.columns == ("age", "stature", "gone"), "one value throughout"
    np.testing.assert_array_equal(data.bounds, [[0, 120], [160, 170.5], [2, 5]])
    columns = at.session_state["upload"].declared.columns
    assert [c.reason for c in columns] == ["", "from the file's own range", "from the file's own range"]
    assert any(f"most of them in age ({percent(0.25)})" in t.value for t in at.text), "what is filled is said"
    assert at.get("plotly_chart")
    (warning,) = [w.value for w in at.warning if "Not private" in w.value]
    assert "2 of 3 columns" in warning, "a line with limits stays as it was typed"
    assert [m.value for m in at.markdown].count(f"**{own_range.IF_PUBLIC}**") == 2, "at the attacker, at the statement"
    assert "Attacker, if the bounds were public" in bodies(at)
    at.select_slider(key="w.bound").set_value(2.0).run()
    type_in(at, {1: {"low": 140, "high": 210}, 3: {"high": 9}})
    use(at)
    assert at.session_state["study"].bound == 1.0, "it belonged to the other limits"
    assert {c.reason for c in at.session_state["upload"].declared.columns} <= {"", "from where nine in ten people lie"}
    assert not [w for w in at.warning if "Not private" in w.value], "each line was changed"
    assert not [m for m in at.markdown if own_range.IF_PUBLIC in m.value]
    assert "Attacker, this release" in bodies(at)


def test_a_file_that_is_read_otherwise_has_no_picture_of_the_first_reading():
    at = public(b"a;b\n1.5;2\n2.25;4\n")
    press(at, "Start with the file's own range")
    assert at.get("plotly_chart")
    press(at, "1,5 (decimal comma)")
    assert "csv" not in at.session_state
    assert not at.get("plotly_chart")
    press(at, "Start with the file's own range")
    assert at.session_state["csv"].columns == ("b",), "the range of the first reading is gone"
    assert "Left out: a (no numbers)." in [t.value for t in at.text]


def test_a_preview_from_the_file_s_own_range_says_so_on_every_page_and_in_every_report(monkeypatch):
    made = {}
    monkeypatch.setattr(show, "download", lambda label, make, file_name, key, mime="": made.update({key: make}))
    draw = random.Random(3)
    raw = "age,stature\n" + "\n".join(f"{draw.gauss(40, 9):.2f},{draw.gauss(170, 8):.2f}" for _ in range(2_000))
    at = press(public(raw.encode()), "Start with the file's own range")
    for page in ("1_Estimate", "4_Spectra", "3_Graph_recovery"):
        made.clear()
        at.query_params["more"] = "take-home"
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception
        warning = " ".join(w.value for w in at.warning if "Not private" in w.value)
        assert "2 of 2 columns" in warning, (page, [e.value for e in at.error])
        assert "flatters" in warning, page
        if page == "1_Estimate":
            report = made["download-report"]()
            assert "Not private" in report, page
            assert "flatters" in report, page
            assert own_range.IF_PUBLIC in report, "beside its risk"
        assert any("; not private, bounds from this file" in h.proto.body for h in at.get("html"))
    at.query_params["more"] = "matrix"
    at.switch_page("pages/1_Estimate.py").run()
    assert made["download-matrix"]().startswith('"not private, bounds from this file",age,stature')
    assert made["download-correlations"]().startswith('"not private, bounds from this file",first,second')
    type_in(at, {0: {"low": 0, "high": 120}, 1: {"low": 100, "high": 230}})
    use(at)
    assert made["download-matrix"]().startswith(",age,stature")
    assert made["download-correlations"]().startswith("first,second")
    at.query_params["more"] = "take-home"
    at.switch_page("pages/4_Spectra.py").run()
    assert not [w for w in at.warning if "Not private" in w.value]


@pytest.mark.parametrize(("take", "where"), [(public, "upload"), (confidential, "own")])
def test_an_excel_workbook_is_taken_by_both_doors(take, where, monkeypatch, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: the extra files has it")
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["age", "stature"], [30, 170.5], [41, 182.25]):
        book.active.append(row)
    book.save(out)
    at = take(out.getvalue(), "t.xlsx")
    assert not at.error
    held = at.session_state[where]
    if where == "upload":
        press(at, "Start with the file's own range")
        np.testing.assert_array_equal(at.session_state["csv"].rows, [[30, 170.5], [41, 182.25]])
        read_by_script(held, at.session_state["csv"], out.getvalue(), monkeypatch, tmp_path)
    else:
        assert (held.header, held.raw) == (("age", "stature"), b"age,stature\n30,170.5\n41,182.25\n")
    book.active["A3"], out = "=A2", io.BytesIO()
    book.save(out)
    at = take(out.getvalue(), "t.xlsx")
    assert ["formulas" in plain(e.value) for e in at.error] == [True]


@pytest.mark.parametrize(("take", "where"), [(public, "upload"), (confidential, "own")])
def test_a_parquet_file_is_taken_by_both_doors(take, where, monkeypatch, tmp_path):
    out = io.BytesIO()
    pd.DataFrame({"age": [30, 41], "stature": [170.5, 182.25]}).to_parquet(out)
    at = take(out.getvalue(), "t.parquet")
    assert not at.error
    held = at.session_state[where]
    if where == "upload":
        press(at, "Start with the file's own range")
        np.testing.assert_array_equal(at.session_state["csv"].rows, [[30, 170.5], [41, 182.25]])
        read_by_script(held, at.session_state["csv"], out.getvalue(), monkeypatch, tmp_path)
    else:
        assert (held.header, held.raw) == (("age", "stature"), b'"age","stature"\n30,170.5\n41,182.25\n')


def test_where_other_people_reach_the_server_a_file_is_smaller_and_no_parquet(monkeypatch):
    monkeypatch.setenv("PRIVCOV_HOSTED", "1")
    out = io.BytesIO()
    pd.DataFrame({"age": [30, 41]}).to_parquet(out)
    at = public(out.getvalue(), "t.parquet")
    assert ["takes no Parquet" in plain(e.value) for e in at.error] == [True]
    assert not at.session_state["upload"].raw
    monkeypatch.setattr("pages.common.visitor_files.HOSTED_MEGABYTES", 1)
    at = public(b"a,b\n" + b"1,2\n" * 300_000, "t.csv")
    assert ["this server takes 1 MB" in plain(e.value) for e in at.error] == [True]


def test_a_visit_holds_files_up_to_its_quota_and_no_other_visit_loses_by_it(monkeypatch):
    """By the function to which the server gives every file that arrives, also one that no uploader asked for."""
    from starlette.exceptions import HTTPException
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    monkeypatch.setattr("pages.common.visitor_files.QUOTA", 1_000)
    held = MemoryUploadedFileManager("/upload")

    def send(visit: str, name: str) -> None:
        held.add_file(visit, UploadedFileRec(name, "t.csv", "text/csv", bytes(400)))

    send("one", "a"), send("one", "b")
    with pytest.raises(HTTPException, match="of files wait in this visit") as refused:
        send("one", "c")
    assert refused.value.status_code == 413
    assert len(held.get_files("one", ["a", "b", "c"])) == 2
    send("two", "a")
    held.remove_file("one", "a")
    send("one", "c")


def test_all_visits_together_hold_files_up_to_a_limit(monkeypatch):
    """240 MB a visit: the 13th ended the server."""
    from starlette.exceptions import HTTPException
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    monkeypatch.setattr("pages.common.visitor_files.TOGETHER", 1_000)
    held = MemoryUploadedFileManager("/upload")
    for visit in ("one", "two"):
        held.add_file(visit, UploadedFileRec("a", "t.csv", "text/csv", bytes(400)))
    with pytest.raises(HTTPException, match="in all visits") as refused:
        held.add_file("three", UploadedFileRec("a", "t.csv", "text/csv", bytes(400)))
    assert refused.value.status_code == 413
    held.remove_session_files("one")
    held.add_file("three", UploadedFileRec("a", "t.csv", "text/csv", bytes(400)))


def test_files_on_their_way_in_have_a_limit_together_and_give_it_back(monkeypatch):
    from starlette.datastructures import Headers
    from starlette.exceptions import HTTPException
    from starlette.formparsers import MultiPartParser

    monkeypatch.setattr("pages.common.visitor_files.ARRIVING", 1_000)
    start = b'--b\r\nContent-Disposition: form-data; name="f"; filename="t.csv"\r\n\r\n'

    async def sent(size: int, go: asyncio.Event):
        yield start + bytes(size)
        await go.wait()
        yield b"\r\n--b--\r\n"

    def parser(size: int, go: asyncio.Event) -> MultiPartParser:
        return MultiPartParser(Headers({"content-type": "multipart/form-data; boundary=b"}), sent(size, go))

    async def visits() -> None:
        go = asyncio.Event()
        first = asyncio.create_task(parser(600, go).parse())
        await asyncio.sleep(0.05)
        with pytest.raises(HTTPException, match="arrive at once"):
            await parser(600, go).parse()
        go.set()
        form = await first
        assert len(await form["f"].read()) == 600
        await form.close()
        await (await parser(600, go).parse()).close()

    with ThreadPoolExecutor(1) as alone:
        alone.submit(asyncio.run, visits()).result()


def test_tables_that_visits_keep_on_a_shared_server_have_a_limit_together(monkeypatch):
    monkeypatch.setenv("PRIVCOV_HOSTED", "1")
    monkeypatch.setattr("pages.common.visitor_files.KEPT", 2 * len(GOOD) - 1)
    monkeypatch.setattr("pages.common.visitor_files._uploads", weakref.WeakSet())
    first = public()
    assert not first.error
    second = public()
    assert any("tables of other visitors" in e.value for e in second.error)
    press(first, "Forget this file")
    assert not public().error


def test_what_visits_share_is_limited_by_its_bytes(monkeypatch):
    from pages.common.study import Study

    limit = 10_000_000
    monkeypatch.setattr(study_results, "SHARED", study_results.ByteLimitedCache(limit))
    studies = [Study(data=(("n", 500), ("d", 300)), method="gaussian-cov", seed=seed) for seed in range(9)]
    made = [study_results.release(study) for study in studies]
    assert study_results.release(studies[-1]) is made[-1], "the newest is kept"
    assert sum(map(study_results.bytes_of, made)) > 1.5 * limit
    held = study_results.bytes_of(study_results.SHARED._kept)
    assert limit / 2 < held < 1.1 * limit, f"{held:,}"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({}, "lowest and highest value of 'age', 'stature'"),
        ({0: {"low": 0, "high": 120}}, "lowest and highest value of 'stature'"),
        ({0: {"low": 0}, 1: LIMITS[1]}, "lowest and highest value of 'age'"),
        ({0: {"low": 120, "high": 0}, 1: LIMITS[1]}, "Swap or widen them"),
        ({0: {"low": 5, "high": 5}, 1: LIMITS[1]}, "Swap or widen them"),
        ({0: {"low": 0, "high": 120, "typical": 130}, 1: LIMITS[1]}, "typical must be inside"),
        ({0: {"use": False}, 1: {"use": False}}, "No column is chosen"),
        ({0: {"low": "1,500", "high": 120}, 1: LIMITS[1]}, "Lowest of 'age' is '1,500', which is not a finite number"),
        ({0: {"low": "nan", "high": 120}, 1: LIMITS[1]}, "is 'nan', which is not a finite number"),
        ({0: {"low": 0, "high": "1e999"}, 1: LIMITS[1]}, "Highest of 'age' is '1e999', which is not a finite number"),
        ({0: {"low": "1_0", "high": 120}, 1: LIMITS[1]}, "Lowest of 'age' is '1_0', which is not a finite number"),
    ],
)
def test_bad_bounds_get_one_sentence_and_what_was_typed_survives(cells, said):
    at = public()
    type_in(at, cells)
    use(at)
    assert len(at.error) == 1
    assert said in plain(at.error[0].value)
    assert "csv" not in at.session_state
    typed = at.session_state["upload"].column_table
    for row, values in cells.items():
        for name, value in values.items():
            assert typed.loc[row, name] == value
    assert len(drawn(at)) == 2


def test_an_error_leaves_the_table_that_is_in_use():
    at = declared()
    type_in(at, {0: {"low": 9, "high": 1}, 1: LIMITS[1]})
    use(at)
    assert len(at.error) == 1
    assert at.session_state["csv"].bounds[0, 1] == 120
    assert at.get("plotly_chart")


# --- names are text -----------------------------------------------------------------------------------------

NASTY = "<img src=x onerror=alert(1)> **b** $x$ :red[y] :smile: [l](http://e.x) `c`"


def test_column_names_are_never_markup():
    raw = f'"{NASTY}",b\n1,2\n3,5\n'.encode()
    header = confidential(raw)
    bodies = "".join(element.proto.body for element in header.get("html"))
    assert "<img" not in bodies
    at = public(raw)
    use(at)  # no bounds: the sentence quotes the name
    sentence = at.error[0].value
    assert "'<img src=x" in plain(sentence)
    for markup in ("<img", "**b", "$x", ":red[", ":smile:", "](", "`c"):
        assert not re.search(rf"(?<!\\){re.escape(markup)}", sentence)
    type_in(at, {0: {"low": 0, "high": 5}, 1: {"low": 0, "high": 3}})
    use(at)
    assert not at.exception
    assert "<img src=x" not in "".join(element.proto.body for element in at.get("html"))


@pytest.mark.parametrize("text", ["a: b", "12:30", "*a*", "a_b", "1. x", "# h", "~~x~~", "\\", "-> x", "$a$"])
def test_as_text_loses_nothing_but_the_markup(text):
    assert as_text(text).replace("\u2060", "").replace("\\\\", "\0").replace("\\", "").replace("\0", "\\") == text


# --- nothing leaves the session -----------------------------------------------------------------------------


def test_two_sessions_share_nothing():
    first, second = declared(), estimate()
    assert "csv" in first.session_state
    assert "csv" not in second.session_state
    assert "upload" not in second.session_state
    answer(second, YES)
    give(second, b"other\n1\n2\n")
    first.run()
    assert first.session_state["csv"].columns == ("age", "stature")
    assert "stature" not in everything(second)


def test_the_address_holds_nothing_of_the_file():
    at = declared()
    at.select_slider(key="w.bound").set_value(2.0).run()
    address = str(dict(at.query_params))
    for word in ("age", "stature", "kohort77", "170", "csv", "bound"):
        assert word not in address
    links = " ".join(link.proto.query_string for link in at.get("page_link"))
    for word in ("age=", "stature", "kohort77", "170", "csv"):
        assert word not in links


def test_no_shared_cache_holds_the_table(monkeypatch):
    from pages.common import study_results

    def refuse(*args, **kwargs):
        raise AssertionError("an upload reached a shared cache")

    at = public()
    type_in(at, LIMITS)
    monkeypatch.setattr(study_results, "_rows", refuse)
    monkeypatch.setattr(study_results.SHARED, "get", refuse)
    use(at)
    assert "csv" in at.session_state
    assert at.get("plotly_chart")


def test_an_upload_of_the_largest_size_stays_in_memory_on_its_way_in():
    import asyncio

    from starlette.datastructures import Headers
    from starlette.formparsers import MultiPartParser

    async def body():
        yield b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
        for _ in range(50):
            yield b"1" * 2**20
        yield b"\r\n--x--\r\n"

    async def rolled() -> tuple[bool, int]:
        form = await MultiPartParser(Headers({"content-type": "multipart/form-data; boundary=x"}), body()).parse()
        found = form["f"]
        result = found.file._rolled, found.size
        await found.close()
        return result

    assert asyncio.run(rolled()) == (False, 50 * 2**20)


def test_forget_clears_everything_and_asks_again():
    at = declared()
    at.select_slider(key="w.bound").set_value(2.0).run()
    press(at, "Forget this file")
    assert at.session_state["study"].bound == 1.0
    for name in ("csv", "upload"):
        assert name not in at.session_state
    assert at.radio(key="upload-public").value is None
    assert not at.file_uploader
    assert not at.get("plotly_chart")
    shown = everything(at)
    assert "stature" not in shown
    assert "kohort77" not in shown
    give(answer(at, YES), b"other\n1\n2\n")
    assert list(drawn(at)["column"]) == ["other"]
    assert (drawn(at)["low"] == "").all()


@pytest.mark.parametrize("page", ["1_Estimate", "3_Graph_recovery", "4_Spectra"])
def test_a_page_of_an_own_table_that_is_opened_again_says_that_the_table_is_gone(page):
    at = declared()
    at.switch_page(f"pages/{page}.py").run()
    assert not [w for w in at.warning if "is gone" in w.value]
    again = AppTest.from_file(APP, default_timeout=patient(30))
    again.switch_page(f"pages/{page}.py")
    for name, value in at.query_params.items():
        again.query_params[name] = value
    again.run()
    assert not again.exception
    assert [w.value for w in again.warning] == [study_form.GONE]
    assert again.session_state["study"].source == CSV
    assert not [chart for chart in again.get("plotly_chart") if "imulated" in chart.proto.alt]
    assert not [tag for tag in again.get("html") if "Simulated</span>" in tag.proto.body]
    again.run()
    assert again.session_state["study"].source == CSV
    assert not again.warning
