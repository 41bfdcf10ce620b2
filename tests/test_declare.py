"""A declaration begins with the header alone; its columns go through a spreadsheet and come back as they were."""

import contextlib
import datetime
import gzip
import json
import os
import re
import threading
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privcov
from privcov import Dialect
from privcov.bundle.archive import BundleError
from privcov.bundle.inputs import facts_of
from privcov.cli.entry import main
from privcov.tables.declaration.declaration import FORMAT, Column, Declaration, read_private
from privcov.tables.declaration.spreadsheet import HEADINGS, columns_of, text_of
from privcov.tables.declaration.template import header_of, template
from privcov.tables.readers import TableFileError
from tests.patience import patient

HEADER = "patient_id;age;income, yearly\n"


# --- the template -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [b"", b"1;2,5;3\n", b"\xff\xfe\0\0\0", b'"open;;;;\n', b"1;2\n" * 3 + b"\x81"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_template_is_that_of_the_header_whatever_the_rows_hold(tmp_path, rows, packed):
    path = tmp_path / ("visits.csv.gz" if packed else "visits.csv")
    raw = HEADER.encode() + rows
    path.write_bytes(gzip.compress(raw) if packed else raw)
    header = header_of(path)
    assert header.columns == ("patient_id", "age", "income, yearly")
    assert header.dialect == {"separator": ";", "decimal": None, "encoding": "utf-8"}
    assert header.name == "visits"


def test_no_byte_after_the_header_is_waited_for(tmp_path):
    """A pipe whose writer goes on holding it open after the first line: reading a row would wait for ever."""
    pipe, done = tmp_path / "visits.csv", threading.Event()
    os.mkfifo(pipe)

    def write() -> None:
        with open(pipe, "wb", buffering=0) as stream:
            stream.write(HEADER.encode())
            done.wait(patient(60))

    found: list = []
    writer = threading.Thread(target=write, daemon=True)
    reader = threading.Thread(target=lambda: found.append(header_of(pipe)), daemon=True)
    writer.start()
    reader.start()
    reader.join(patient(30))
    alive = reader.is_alive()
    done.set()
    assert not alive
    assert found[0].columns == ("patient_id", "age", "income, yearly")


def test_other_files_say_their_columns_in_their_metadata(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "ward": ["x"]}), tmp_path / "t.parquet")
    header = header_of(tmp_path / "t.parquet")
    assert (header.columns, header.dialect) == (("a", "ward"), None)
    assert "dialect" not in json.loads(template(header))
    with pytest.raises(ValueError, match="is no CSV file, so it has no separator"):
        header_of(tmp_path / "t.parquet", decimal=",")


def test_a_filled_template_is_a_declaration(tmp_path):
    (tmp_path / "visits.csv").write_text("age;weight\n40,5;70,25\n41;71\n", encoding="utf-8")
    fields = json.loads(template(header_of(tmp_path / "visits.csv")))
    gaps = []
    while True:  # every gap is named, and filling it in helps
        try:
            declaration = Declaration.from_json(json.dumps(fields))
            break
        except ValueError as problem:
            gaps.append(str(problem))
            assert len(gaps) < 9, gaps
        if "decimal mark" in gaps[-1]:
            fields["dialect"]["decimal"] = ","
        elif "row_stands_for" in gaps[-1]:
            fields["row_stands_for"] = "one patient"
        elif "rows_per_person, n_public and missing open. Who is a person?" in gaps[-1]:  # all at once
            fields |= {"rows_per_person": 1, "n_public": True, "missing": "typical"}
        else:
            column = next(c for c in fields["columns"] if repr(c["name"]) in gaps[-1])
            column |= {"low": 0, "high": 100}
    assert len(gaps) == 5
    table = declaration.dataset_from_files(tmp_path / "visits.csv")
    assert (table.facts.n, table.facts.columns) == (2, ("age", "weight"))
    found = read_private((tmp_path / "visits.csv").read_bytes(), declaration)
    np.testing.assert_array_equal(found._rows, [[40.5, 70.25], [41, 71]])


@pytest.mark.parametrize(
    ("content", "how", "words"),
    [
        (b"caf\xe9;b\n", {}, "declare its encoding"),
        ("a;b\n".encode("utf-16"), {}, "declare its encoding"),
        (b"1;2\n", {}, "numbers only"),
        (b"a;a\n", {}, "Columns 1 and 2 have the same name"),
        (b"\n1;2\n", {}, "is blank"),
        (b'"a;b\n1;2"\n', {}, "close its quotation marks"),
        (b"a" * 70_000, {}, "so it is no header"),
        (b"a;b\n", {"separator": ","}, "is separated by semicolons"),
        (b"a;b\n", {"separator": ",", "decimal": ","}, "is separated by semicolons"),
        (b"a;b\n", {"separator": ":"}, "separator must be one of"),
        (b"a;b\n", {"encoding": "ebcdic"}, "encoding must be one of"),
    ],
)
def test_a_header_that_cannot_be_read(tmp_path, content, how, words):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        header_of(tmp_path / "t.csv", **how)


def test_names_of_files(tmp_path):
    for name, words in (("t.xls", "is a spreadsheet"), ("t.txt", "unknown ending"), ("none.csv", "cannot be read")):
        with pytest.raises(TableFileError, match=words):
            header_of(tmp_path / name)


# --- the command --------------------------------------------------------------------------------------------


def test_the_command_from_a_file_to_a_declaration(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_bytes(HEADER.encode() + b"1;40,5;3\n2;41;4\n")
    assert main(["declare", "visits.csv"]) == 0
    out, said = capsys.readouterr()
    assert json.loads(out)["dialect"]["decimal"] is None
    assert "decimal mark is never guessed" in said
    assert main(["declare", "visits.csv", "--decimal", ",", "--out", "columns.tsv"]) == 0
    text = (tmp_path / "columns.tsv").read_text(encoding="utf-8")
    assert text.splitlines() == [
        "\t".join(HEADINGS),
        *(f"{name}\t\t\t\t\t" for name in ("patient_id", "age", "income, yearly")),
    ]
    (tmp_path / "columns.tsv").write_text("name\twhy\tlow\thigh\nage\tadults\t18,5\t90\n", encoding="utf-8")
    asked = ["--separator", "semicolon", "--decimal", ",", "--columns", "columns.tsv"]
    assert main(["declare", "visits.csv", *asked, "--out", "visits.json"]) == 0
    assert capsys.readouterr() == ("", "")
    fields = json.loads((tmp_path / "visits.json").read_text(encoding="utf-8"))
    fields |= {"row_stands_for": "one visit", "person": "patient_id", "n_public": True, "missing": "typical"}
    declaration = Declaration.from_json(json.dumps(fields))
    assert declaration.columns == (Column("age", 18.5, 90.0, None, "adults"),)
    assert declaration.dataset_from_files("visits.csv").facts.n == 2
    (tmp_path / "w.csv").write_bytes(b"age,ward,admission date\n")
    assert main(["declare", "w.csv"]) == 0
    assert "another kind than number: 'ward', 'admission date'." in capsys.readouterr().err


ODD = (None, 0, -1.5, 10**400, "", "x", "\ud800", True, [], [None], [["a"]], {}, {"a": 1})


def places_in(fields, path=()):
    for key, value in fields.items() if isinstance(fields, dict) else enumerate(fields):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places_in(value, (*path, key))


def test_a_damaged_declaration_is_refused_in_one_sentence_wherever_it_is_damaged():
    """Of a file and of a bundle: every value replaced by every odd one."""
    columns = (
        Column("a", 0, 120, None, "x", kind="integer", typical_range=(20, 70), missing_codes=("-9",)),
        Column("c", reason="y", kind="category", values=("p", "q"), other=True),
        Column("d", "2020-01-01", "2021-01-01", None, "z", kind="date"),
    )
    plain = json.loads(
        Declaration(
            "t", "a row", columns, missing="typical", label="g", classes=("u", "v"), dialect=Dialect(";", ",")
        ).to_json()
    )
    assert facts_of(plain, 5).n == 5
    tried = [(path, value) for path in places_in(plain) for value in ODD]
    assert len(tried) > 400
    for path, value in tried:
        damaged = json.loads(json.dumps(plain))
        place = damaged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with contextlib.suppress(ValueError, BundleError):
            Declaration.from_json(json.dumps(damaged))
        with contextlib.suppress(ValueError, BundleError):
            facts_of(damaged, 5)


@pytest.mark.parametrize("decimal", [",", "."])
def test_a_point_between_thousands_is_declared_in_the_shell_beside_a_decimal_comma(decimal, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.000,5;2\n")
    code = main(["declare", str(path), "--separator", ";", "--decimal", decimal, "--thousands", "."])
    out, err = capsys.readouterr()
    if decimal == ".":
        assert code == 2
        assert "thousands='.' is the decimal mark as well" in err
    else:
        assert Dialect(**json.loads(out)["dialect"]) == Dialect(";", ",", thousands=".")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("declare t.csv --out t.csv", "would replace a file"),
        ("declare t.csv --columns c.csv --out c.csv", "would replace a file"),
        ("declare t.csv --columns c.csv", "has no column 'weight'"),
        ("declare t.csv --columns bytes.csv", "is not text in UTF-8"),
        ("declare t.csv --out bytes.csv", "is there already and may be filled in"),
        ("declare none.csv", "cannot be read (No such file or directory)"),
        ("declare t.csv --separator :", "separator must be one of"),
    ],
)
def test_bad_input_of_the_command(tmp_path, capsys, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(b"age,b\n1,2\n")
    (tmp_path / "c.csv").write_bytes(b"name,low\nweight,1\n")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\n")
    assert main(words.split()) in (1, 2)
    out, said = capsys.readouterr()
    assert (out, said.count("\n")) == ("", 1)
    assert sentence in said


# --- the text -----------------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12).map(lambda s: " ".join(s.split()))
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
columns = st.lists(
    st.builds(Column, words.filter(bool), numbers, numbers, numbers, words),
    min_size=1,
    max_size=6,
    unique_by=lambda column: column.name,
)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(columns, st.sampled_from(["\t", ",", ";"]), st.sampled_from(".,"))
def test_columns_go_through_a_spreadsheet_and_back(given_, separator, decimal):
    """A number comes back as it was, to the last bit; a name with a separator or a quotation mark too."""
    assert columns_of(text_of(given_, separator, decimal), decimal) == tuple(given_)
    assert columns_of("\ufeff" + text_of(given_, separator, decimal).replace("\n", "\r\n"), decimal) == tuple(given_)


@pytest.mark.parametrize(
    "text",
    [
        "age,18,90,,number,adults\nb,0,1\n",
        "name;low;high;why\nage;18;90;adults\n\nb;0;1\n",
        "why\tname\thigh\tlow\nadults\tage\t90\t18\n\tb\t1\t0\n",
    ],
)
def test_headings_in_any_order_or_none(text):
    assert columns_of(text) == (Column("age", 18.0, 90.0, None, "adults"), Column("b", 0.0, 1.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds 0 columns"),
        ("name,low\n", "holds 0 columns"),
        ("age,18,ninety\n", "Line 1 of the columns has 'ninety' under high: write a number with a decimal point"),
        ("name,low\nage,1\n,2\n", "Line 3 of the columns has no name"),
        ("age,1,2\nage,1,2\n", "Lines 1 and 2 both name 'age'"),
        ("name,low,deepest\nage,1,2\n", "the first line has 'deepest' which is none of them"),
        ("name,low,low\nage,1,2\n", "the first line has 'low' twice"),
        ("item,type,min,max\nage,,1,2\n", "none of them is name"),
        ("name,kind,levels\nsex,yes-no,1=m; 2=f\n", "as in '1 | 2'"),
        ("name,low,high,codes\nage,0,90,99 = refused\n", "as in '99'"),
        ("age,1,2,1.5,,adults, mostly\n", "has 7 cells"),
        ("age,1,2,1.5,adults\n", "has 'adults' under kind"),
        ("age,1,2,1.5,number: A | B\n", "has 'number: A | B' under kind"),
        ("age,1,2,1.5,integer sqrt log\n", "has 'integer sqrt log' under kind"),
        ("age,1,2,1.5,number cube\n", "has 'number cube' under kind"),
        ("ward,,,,category log: A | B\n", "has 'category log: A | B' under kind"),
        ('age,"1\n', "quotation mark that is not closed"),
        ("age;1,5;2\n", "Line 1 of the columns has '1,5' under low"),
        ("\n".join(f"x{k}" for k in range(201)), "holds 201 columns"),
    ],
)
def test_text_that_is_no_list_of_columns(text, words):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        columns_of(text)
    assert str(caught.value).count("\n") == 0


def test_a_point_before_the_decimals_is_read_beside_a_comma():
    assert columns_of("age\t0.5\t1,5", ",")[0].high == 1.5
    assert columns_of("age\t0.5\t1,5", ",")[0].low == 0.5
    assert columns_of("age\t-0.125\t0.125", ",")[0].low == -0.125
    for number in ("1.234", "-1.234", "+12.345.678"):  # a thousand and more, perhaps
        with pytest.raises(ValueError, match=re.escape(repr(number))):
            columns_of(f"age\t{number}\t99999999", ",")


@pytest.mark.parametrize(
    ("form", "meant"), [("dd.mm.yyyy", "%d.%m.%Y"), ("DD/MM/YY", "%d/%m/%y"), ("%Y%m%d", "%Y%m%d")]
)
def test_the_form_of_a_date_may_be_written_as_people_do(form, meant):
    low, high = ("01.02.2024", "31.12.2024") if "." in form else ("2024-02-01", "2024-12-31")
    (column,) = columns_of(f"seen,{low},{high},,date: {form}")
    assert column.format == meant
    kind = column.of_kind()
    assert kind.number(kind.low) == 19754
    with pytest.raises(ValueError, match="format must name"):  # the name of a month is none of its forms
        columns_of("seen,2024-02-01,2024-12-31,,date: dd-mmm-yyyy")[0].of_kind()


def test_a_range_of_day_numbers_is_refused_as_a_range_of_dates():
    with pytest.raises(ValueError, match=r"most people lie between two dates, such as 2024-01-31.*got 19000 to 19700"):
        Column("seen", kind="date", typical_range=("19000", "19700"))


def test_kinds_go_through_a_spreadsheet_and_back():
    kinds = (
        Column("age", 0.0, 120.0, kind="integer"),
        Column("pay", 0.0, 1e6, 2e3, "a guess", transform="log1p"),
        Column("sex", kind="yes-no", values=("F", "M"), typical="F"),
        Column("agrees", kind="ordinal", values=("no", "so so", "yes")),
        Column("ward", kind="category", values=("A", "B; C", "D, E"), other=True),
        Column("seen", "2024-01-01", "2024-12-31", kind="date", format="%d.%m.%Y"),
        Column("born", "1900-01-01", "2024-12-31", kind="date"),
    )
    for separator, decimal in (("\t", ","), (",", "."), (";", ",")):
        text = text_of(kinds, separator, decimal)
        assert columns_of(text, decimal) == columns_of(text.split("\n", 1)[1], decimal) == kinds
        levels = Column("ward", kind="category", values=tuple("ABCDEFGH"))
        assert columns_of(text_of([levels], separator).split("\n", 1)[1]) == (levels,)
    assert text_of(kinds).splitlines()[5].split("\t")[4] == "category: A | B; C | D, E | ..."
    for column in (Column("a", 0, 1, weight=2.0), Column("a", kind="category", values=("x|y", "z"))):
        with pytest.raises(ValueError, match="keep the declaration as JSON"):
            text_of([column])


# --- the declaration ----------------------------------------------------------------------------------------


def declared(**more) -> Declaration:
    return Declaration("t", "one row", (Column("a", 0, 1), Column("b", 0, 1)), **more)


def test_a_usual_dialect_leaves_a_declaration_as_it_was():
    fields = json.loads(declared().to_json())
    assert fields["format"] == FORMAT
    assert "dialect" not in fields
    assert Declaration.from_json(json.dumps({**fields, "dialect": {}})) == declared()


def test_a_dialect_goes_through_json_and_a_bundle(tmp_path):
    declaration = declared(dialect=Dialect(";", ",", "latin-1"))
    fields = json.loads(declaration.to_json())
    assert fields["dialect"] == {"separator": ";", "decimal": ",", "encoding": "latin-1"}
    assert Declaration.from_json(declaration.to_json()) == declaration
    (tmp_path / "t.csv").write_bytes("a;b;größe\n0,5;0,25;é\n1;0;é\n".encode("latin-1"))
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(1.0))
    release = privcov.release_private(
        declaration.dataset_from_files(tmp_path / "t.csv"), privcov.ZCDP(1.0), "auto-cov", ledger=ledger
    )
    assert "latin" not in str(release.statement)
    others = ({**fields, "dialect": Dialect().to_dict()}, {**fields, "dialect": {"separator": ":"}})
    for given_, kept in ((fields, "dialect"), *((other, "facts") for other in others)):  # a wrong one is not taken
        release.save_bundle(tmp_path / "b.zip", given_)
        assert kept in json.loads(zipfile.ZipFile(tmp_path / "b.zip").read("declaration.json"))
        assert main(["verify", str(tmp_path / "b.zip")]) == 0
    raw = (tmp_path / "t.csv").read_bytes()
    np.testing.assert_array_equal(read_private(raw, declaration)._rows, [[0.5, 0.25], [1, 0]])


def test_the_owners_check_reads_the_dialect_too(tmp_path):
    from privcov.steward.check import advice, check_files, check_upload

    raw = b"a;b\n0,5;0.25\n1;0.5\n,5;1\n"
    (tmp_path / "t.csv").write_bytes(raw)
    declaration = declared(dialect=Dialect(";", ","))
    for result in (check_files(declaration, tmp_path / "t.csv"), check_upload(raw, declaration)):
        assert [(c.numbers, c.unreadable) for c in result.columns] == [(3, 0), (1, 2)]
        assert list(result.columns[1].looks) == ["numbers with a decimal point"]
        assert "declare the decimal mark of the file" in advice(result)[0]


@pytest.mark.parametrize("name", ["rows_per_person", "n_public", "missing"])
@pytest.mark.parametrize("left", ["null", "absent"])
def test_what_only_a_person_can_say_is_asked_for(name, left):
    fields = json.loads(Declaration("t", "one patient", (Column("a", 0.0, 1.0),)).to_json()) | {name: None}
    if left == "absent":
        del fields[name]
    with pytest.raises(ValueError, match=f"leaves {name} open"):
        Declaration.from_json(json.dumps(fields))


@pytest.mark.parametrize(
    "column",
    [
        Column("a", kind="category", values=(1, 2.0, 3)),
        Column("a", kind="yes-no", values=(True, False)),
        Column("a", kind="ordinal", values=["x", "y"], missing_codes=[-9.0]),
        Column("a", datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), kind="date", reason="r", format="%d.%m.%Y"),
        Column("a", np.int64(0), np.float32(2), reason="r"),
        Column("a", 0, 10, typical_range=[np.int64(2), 4], reason="r"),
        Column("a", np.longdouble(0), np.longdouble(1), reason="r"),
        Column("a", np.datetime64("2020-01-01", "ns"), np.datetime64("2021-01-01", "ns"), kind="date", reason="r"),
    ],
)
def test_what_is_written_in_python_is_read_back(column):
    dialect = Dialect(header_row=np.int64(2))
    declared = Declaration("t", "one person", iter([column]), classes=[], missing_codes=[-7.0], dialect=dialect)
    assert Declaration.from_json(declared.to_json()) == declared


@pytest.mark.parametrize("wrong", [{"label": 5}, {"person": 5}, {"columns": 5}, {"classes": "ab"}, {"columns": [5]}])
def test_what_a_declaration_cannot_hold_is_refused_at_once(wrong):
    given = {"name": "t", "row_stands_for": "one person", "columns": [Column("a", 0, 1, reason="r")]} | wrong
    with pytest.raises(TypeError, match=next(iter(wrong))):
        Declaration(**given)


@pytest.mark.parametrize("wrong", [{"name": 1}, {"typical": "0.5"}, {"missing_codes": ((1, 2),)}])
def test_what_cannot_be_saved_is_refused_at_once(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Column(**({"name": "a", "low": 0, "high": 1, "reason": "r"} | wrong))
