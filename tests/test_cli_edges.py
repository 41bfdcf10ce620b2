"""The shell at its edges: bad values, closed and full streams, interruptions. One sentence, a code, no litter."""

import io
import os
import shlex
import subprocess
import sys

import pytest

from privcov.cli import streams
from privcov.cli.entry import main
from tests.patience import patient
from tests.test_cli import ROOT, plan

DECLARED = (
    '{"format": "privcov-declaration-2", "name": "Zürich", "row_stands_for": "one patient", "rows_per_person": 1, '
    '"n_public": true, "missing": "typical", "columns": [{"name": "größe", "low": 0, "high": 100}]}'
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a plan, a table, declarations and a ledger."""
    (tmp_path / "plan.json").write_text(plan().to_json(), encoding="utf-8")
    (tmp_path / "t.csv").write_text("größe\n30\n40\n", encoding="utf-8")
    (tmp_path / "d.json").write_text(DECLARED, encoding="utf-8")
    for name, old, new in (
        ("no-text.json", '"größe"', "7"),
        ("no-list.json", '"columns"', '"classes": 5, "columns"'),
        ("no-label.json", '"columns"', '"label": 3, "columns"'),
        ("no-number.json", '"low": 0', '"low": 0, "typical": "x"'),
    ):
        (tmp_path / name).write_text(DECLARED.replace(old, new), encoding="utf-8")
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder").mkdir()
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("PRIVCOV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- bad values ---------------------------------------------------------------------------------------------

RELEASE = "release t.csv --declaration d.json"
BAD = [
    (2, f"{RELEASE} --rho 1e308", "--rho must lie in"),
    (2, f"{RELEASE} --rho nan", "--rho must be finite"),
    (2, f"{RELEASE} --rho 0", "--rho must lie in"),
    (2, f"{RELEASE} --rho x", "invalid float value"),
    (2, f"{RELEASE} --epsilon nan", "--epsilon must be finite"),
    (2, f"{RELEASE} --epsilon 1e-320", "--epsilon must lie in"),
    (2, f"{RELEASE} --epsilon 1e308 --delta 1e-6", "--epsilon must lie in"),
    (2, f"{RELEASE} --epsilon 1 --delta 2", "--delta must lie in"),
    (2, f"{RELEASE} --delta .1", "Give --rho, or --epsilon"),
    (2, f"{RELEASE} --rho 1 --method zzz", "There is no method 'zzz'"),
    (2, f"{RELEASE} --rho 1 --set x", "--set takes NAME=VALUE"),
    (2, f"{RELEASE} --rho 1 --set token=5", "'token' is none"),
    (2, f"{RELEASE} --rho 1 --out nowhere/r.json", "--out must name a file in a folder"),
    (2, f"{RELEASE} --rho 1 --out same --bundle same", "--bundle same would replace a file"),
    (2, f"{RELEASE} --rho 1 --out t.csv", "--out t.csv would replace a file that this command needs"),
    (2, f"{RELEASE} --rho 1 --bundle d.json", "--bundle d.json would replace a file"),
    (2, f"{RELEASE} --rho 1 --out ledger.sqlite", "would replace a file"),
    (2, f"{RELEASE} --rho 1 --out ledger.sqlite.key", "would replace a file"),
    (2, f"{RELEASE} --rho 1 --expected-rows 900", "the declaration says that it is public"),
    (2, "ledger limit a\ud800 --rho 1", "half a character"),
    (2, "ledger show a\ud800", "half a character"),
    (1, f"{RELEASE} --rho 1", "has no limit"),
    (1, f"{RELEASE} --rho 1 --ledger folder", "folder cannot be used"),
    (1, "release nothing.csv --declaration d.json --rho 1", "There is no file nothing.csv"),
    (1, "release cut.parquet --declaration d.json --rho 1", "cut.parquet is damaged"),
    (1, "release t.csv --declaration nothing.json --rho 1", "nothing.json cannot be used (No such file"),
    (1, "release t.csv --declaration folder --rho 1", "folder cannot be used (Is a directory)"),
    (2, "release t.csv --declaration bytes.json --rho 1", "it is not text in UTF-8"),
    (2, "release t.csv --declaration deep.json --rho 1", "too many levels of brackets"),
    (2, "release t.csv --declaration plan.json --rho 1", 'must hold the line "format"'),
    (2, "release t.csv --declaration no-text.json --rho 1", "must be text, got 7"),
    (2, "release t.csv --declaration no-list.json --rho 1", "classes as a list"),
    (2, "release t.csv --declaration no-label.json --rho 1", "label in a declaration must be text"),
    (2, "release t.csv --declaration no-number.json --rho 1", "must be a number"),
    (1, "check d.json nothing.csv", "There is no file nothing.csv"),
    (2, "check plan.json t.csv", 'must hold the line "format"'),
    (2, "check d.json", "required: data"),
    (2, "ledger limit", "needs the name of a table"),
    (2, "ledger limit x --rho 1e308", "--rho must lie in"),
    (2, "advice --n 1000 --d 5 --rho 1e308", "--rho must lie in"),
    (2, "advice --n 1000 --d 5 --epsilon 1e308", "--epsilon must lie in"),
    (2, "advice --n 1000 --d 5 --rho 1 --spread 1e308", "spread must lie in"),
    (2, "advice --d 5 --rho 1", "advice needs --n"),
    (2, "advice --d 5 --rho 1 --rows", "--rows needs --error"),
    (1, "verify nothing.zip", "There is no bundle at nothing.zip"),
    (2, "release nothing.csv --declaration nothing.json --rho 1 --method zzz", "There is no method 'zzz'"),
    (2, "study run plan.json --workers 0", "--workers must be in"),
    (2, "study run plan.json --out ./plan.json", "--out plan.json would replace a file"),
    (1, "study run folder", "folder cannot be used (Is a directory)"),
    (2, "nonsense", "invalid choice"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "words", "sentence"), BAD)
def test_bad_input_is_one_sentence_with_its_code_and_leaves_nothing(place, capsys, code, words, sentence):
    before = set(os.listdir(place))
    found = main(words.split())
    out, said = capsys.readouterr()
    assert found == code, said
    assert sentence in said.splitlines()[-1]
    assert out == ""
    assert "Traceback" not in said
    assert said.count("privcov: ") <= 1
    left = set(os.listdir(place)) - before - {"cache", "data"}
    assert {name for name in left if not name.startswith(("ledger.sqlite", "folder.key"))} == set()


def test_what_cannot_be_written_is_found_before_anything_is_computed(place, monkeypatch, capsys):
    from privcov.studies import plan

    def never(*_, **__):
        raise AssertionError("the study was computed")

    monkeypatch.setattr(plan, "run", never)
    for words in ("--out nowhere/t.csv", "--out folder"):
        assert main(["study", "run", "plan.json", *words.split()]) == 2
        assert "must name a file in a folder that exists" in capsys.readouterr().err


def test_a_folder_of_results_that_cannot_be_written_is_found_first(place, monkeypatch, capsys):
    from privcov.core import paths
    from replication.__main__ import main as replicate

    monkeypatch.setattr(paths, "results", lambda name: place / "t.csv" / name)
    assert replicate(["reproduce", "2-table-2"]) == 1
    assert "Nothing can be written into" in capsys.readouterr().err


def test_a_failure_while_writing_leaves_the_old_file_and_no_half_one(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    out = tmp_path / "table.csv"
    out.write_text("old", encoding="utf-8")

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        streams.answer("half", out)
    assert os.listdir(tmp_path) == ["table.csv"]
    assert out.read_text(encoding="utf-8") == "old"
    monkeypatch.undo()
    (tmp_path / "link").symlink_to(out)
    streams.answer("new", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert out.read_text(encoding="utf-8") == "new"
    assert sorted(os.listdir(tmp_path)) == ["link", "table.csv"]


@pytest.mark.parametrize(
    ("problem", "code", "words"),
    [
        (KeyError("secret cell"), 1, "a defect of PrivCov (KeyError in "),
        (MemoryError(), 1, "memory did not suffice"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (OSError(28, "No space left on device", "x.csv"), 1, "x.csv cannot be used (No space left on device)."),
        (RuntimeError("two\nlines"), 1, "privcov: two lines\n"),
    ],
)
def test_whatever_is_raised_becomes_a_sentence(capsys, problem, code, words):
    def act():
        raise problem

    assert streams.guarded(act) == code
    said = capsys.readouterr().err
    assert words in said
    assert "secret" not in said
    assert said.count("\n") == 1


# --- streams ------------------------------------------------------------------------------------------------


def piped(command: str, **env) -> subprocess.CompletedProcess:
    """A line of a shell, in which privcov is this tree's command; its code is that of the last command."""
    words = ["bash", "-c", f'privcov() {{ {shlex.quote(sys.executable)} -m privcov "$@"; }}; {command}']
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=patient(60), env={**os.environ, **env}, check=False
    )


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("privcov --help | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("privcov advice --n 500 --d 3 --rho 1 | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}", 0, ""),
        (
            "privcov advice --n 500 --d 3 --rho 1 >/dev/full",
            1,
            "privcov: The system refused (No space left on device).\n",
        ),
        ("privcov ledger limit 2>&-", 2, ""),
        ("privcov ledger limit 2>/dev/full", 2, ""),
        ("privcov declare data/sachs.csv >&-", 1, "privcov: Standard output is closed.\n"),
    ],
)
def test_streams_that_are_closed_or_full(place, command, code, said):
    done = piped(command)
    assert done.returncode == code, done.stderr
    assert done.stderr == said
    assert done.stdout == ""


def test_names_that_an_encoding_lacks_are_spelt_out_for_people(place):
    limit = piped("privcov ledger limit Zürich --rho 1", PYTHONIOENCODING="ascii")
    assert limit.returncode == 0, limit.stderr
    assert limit.stdout.startswith("Z\\xfcrich: ")


def test_data_are_refused_rather_than_changed(monkeypatch, capsys):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", errors="backslashreplace"))
    assert streams.guarded(lambda: streams.answer("größe\n", None)) == 1
    assert "ascii has no '\\xf6'" in capsys.readouterr().err
    assert raw.getvalue() == b""


@pytest.mark.parametrize("module", ["argparse", "pathlib", "numpy", "privcov.studies.plan"])
def test_an_interruption_while_python_imports(place, module):
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "import runpy\n"
        f"for name in ({module!r}, 'argparse', 'pathlib'): sys.modules.pop(name, None)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        f"sys.argv = ['privcov', 'study', 'run', {str(place / 'plan.json')!r}]\n"
        "runpy.run_module('privcov', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=patient(30))
    assert done.stderr == "privcov: Interrupted.\n"
    assert done.returncode == 130
